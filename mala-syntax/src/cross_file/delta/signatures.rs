//! Definitions whose parameters changed.

use super::{FileDelta, OutlineSide};
use crate::cross_file::contract::{Broken, Called, Contract, SignatureChange, Symbol};
use crate::source::Source;
use crate::symbols::{Definition, DefinitionKind, FunctionParameter, Visibility};
use mala_domain::language::Language;
use std::collections::HashSet;

/// Decorators that do not change the parameters of a Python function.
const TRANSPARENT: &[&str] = &[
    "staticmethod",
    "classmethod",
    "abstractmethod",
    "abc.abstractmethod",
    "override",
    "typing.override",
    "contextmanager",
    "contextlib.contextmanager",
    "asynccontextmanager",
    "contextlib.asynccontextmanager",
    "lru_cache",
    "functools.lru_cache",
    "cache",
    "functools.cache",
    "functools.wraps",
    "wraps",
    "deprecated",
    "typing.no_type_check",
    "torch.no_grad",
    "final",
    "typing.final",
];

/// The definitions that base and head both have, with other parameters.
pub(super) fn contracts(
    delta: &FileDelta,
    base: &OutlineSide<'_>,
    head: &OutlineSide<'_>,
    (head_path, head_source): (&str, Option<&Source>),
) -> Vec<Contract> {
    if base.outline.language != head.outline.language {
        return Vec::new();
    }
    let mut seen = HashSet::new();
    let scripts = head_source.filter(|source| is_script(source.language()));
    let lines: Vec<&str> = scripts.map(|it| it.text().lines().collect()).unwrap_or_default();
    base.outline
        .definitions
        .iter()
        .filter(|definition| definition.parameters.is_some())
        .filter(|definition| definition.visibility != Visibility::Local)
        .filter(|definition| seen.insert(definition.qualified()))
        .filter_map(|definition| {
            let signature = signature(definition, base, head, head_path)?;
            let typed_elsewhere = |it: &Definition| {
                head.outline.language != Language::JavaScript && is_untyped(it, &lines)
            };
            let after = head.all(&definition.qualified());
            if after.iter().any(|it| sorts_out(it, &lines) || typed_elsewhere(it)) {
                return None;
            }
            let symbol = called(delta, base, definition, signature.called)?;
            Some(Contract { symbol, broken: Broken::SignatureChange(signature) })
        })
        .collect()
}

fn is_script(language: Language) -> bool {
    matches!(language, Language::JavaScript | Language::TypeScript | Language::Tsx)
}

/// Whether a function of a typed script has parameters without types: their types come from the
/// interface that it implements, which may make some of them optional.
fn is_untyped(definition: &Definition, lines: &[&str]) -> bool {
    let line = lines.get((definition.name_line as usize).saturating_sub(1)).copied();
    let list = line
        .and_then(|line| line.split_once(&definition.name))
        .and_then(|(_, rest)| rest.trim_start().strip_prefix('(')?.split_once(')'));
    list.is_some_and(|(list, _)| !list.trim().is_empty() && !list.contains(':'))
}

/// Whether a script's function inspects its arguments itself.
fn sorts_out(definition: &Definition, lines: &[&str]) -> bool {
    let (start, end) = (definition.span.start() as usize, definition.span.end() as usize);
    let body = lines.get(start.saturating_sub(1)..end.min(lines.len())).unwrap_or_default();
    let parameters = definition.parameters.as_deref().unwrap_or_default();
    let looks: Vec<String> = parameters.iter().map(|it| format!("typeof {}", it.name)).collect();
    body.iter().any(|line| {
        line.contains("arguments.length") || looks.iter().any(|look| line.contains(look))
    })
}

fn signature(
    definition: &Definition,
    base: &OutlineSide<'_>,
    head: &OutlineSide<'_>,
    head_path: &str,
) -> Option<SignatureChange> {
    let qualified = definition.qualified();
    let language = base.outline.language;
    let (before, after) = (base.all(&qualified), head.all(&qualified));
    let line = after.first()?.name_line;
    let plain = |all: &[&Definition]| {
        all.iter().all(|one| one.kind.is_callable() && takes_what_it_says(one, language))
    };
    if !plain(before) || !plain(after) {
        return None;
    }
    let lists = |all: &[&Definition]| -> Option<Vec<Vec<FunctionParameter>>> {
        all.iter().map(|one| one.parameters.clone()).collect()
    };
    let (before, after) = (lists(before)?, lists(after)?);
    let called =
        if is_constructor(definition, language) { Called::Class } else { Called::Function };
    (before != after).then(|| SignatureChange {
        before,
        after,
        line,
        file: head_path.to_owned(),
        called,
    })
}

/// Whether no decorator or modifier changes the parameters of a function.
fn takes_what_it_says(definition: &Definition, language: Language) -> bool {
    let on = &definition.decorators;
    match language {
        Language::Python => on.iter().all(|name| TRANSPARENT.contains(&name.as_str())),
        Language::Rust => {
            let known = [
                "cfg",
                "inline",
                "must_use",
                "doc",
                "allow",
                "expect",
                "deprecated",
                "track_caller",
            ];
            on.iter().all(|name| known.iter().any(|prefix| name.starts_with(prefix)))
        }
        Language::TypeScript | Language::Tsx | Language::JavaScript => on.is_empty(),
        _ => true,
    }
}

fn is_constructor(definition: &Definition, language: Language) -> bool {
    let name = definition.name.as_str();
    let container = definition.container.as_deref().unwrap_or_default();
    match language {
        Language::Python => name == "__init__",
        Language::JavaScript | Language::TypeScript | Language::Tsx => name == "constructor",
        Language::Java => container.rsplit('.').next() == Some(name),
        _ => false,
    }
}

/// The name in a call: the function, or the class of a constructor.
fn called(
    delta: &FileDelta,
    base: &OutlineSide<'_>,
    definition: &Definition,
    called: Called,
) -> Option<Symbol> {
    let own = delta.symbol(base.outline, Some(definition));
    if called == Called::Function {
        return Some(own);
    }
    let class = definition.container.clone()?;
    let (container, name) = match class.rsplit_once('.') {
        Some((outer, name)) => (Some(outer.to_owned()), name.to_owned()),
        None => (None, class),
    };
    Some(Symbol { name, container, kind: DefinitionKind::Class, ..own })
}
