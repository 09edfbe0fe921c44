//! A widened exception: more errors are swallowed than intended.

use super::Mutation;
use super::guards::guard;
use super::site::{
    MutationContext, MutationDraft, has_word, next_statement, previous_statement, statements,
};
use crate::plant::DefectKind;
use mala_domain::language::Language;
use mala_syntax::symbols::{Descend, child_of_kind, named_children, walk_from};
use tree_sitter::Node;

/// Exceptions that are wide already, or that are commonly caught to continue.
const WIDE: [&str; 12] = [
    "Exception",
    "BaseException",
    "Throwable",
    "RuntimeException",
    "ImportError",
    "ModuleNotFoundError",
    "KeyboardInterrupt",
    "SystemExit",
    "CancelledError",
    "InterruptedException",
    "StopIteration",
    "GeneratorExit",
];

/// Methods that every exception has.
const METHODS_OF_ALL_OBJECTS: [&str; 5] =
    ["getMessage()", "printStackTrace()", "getCause()", "toString()", "getLocalizedMessage()"];

fn draft() -> MutationDraft {
    MutationDraft {
        kind: DefectKind::WidenedException,
        title: "Errors are swallowed that were not meant",
    }
}

pub(super) fn widened(site: &MutationContext<'_>, node: Node<'_>) -> Option<Mutation> {
    match (site.language(), node.kind()) {
        (Language::Python, "except_clause") => python(site, node),
        (Language::Java, "catch_clause") => java(site, node),
        (Language::Go, "if_statement") => go(site, node),
        (Language::Rust, "match_arm") => rust(site, node),
        (_, "if_statement") if site.is_ecmascript() => ecmascript(site, node),
        _ => None,
    }
}

fn is_wide(text: &str) -> bool {
    WIDE.iter().any(|word| has_word(text, word))
}

fn python(site: &MutationContext<'_>, clause: Node<'_>) -> Option<Mutation> {
    let value = clause.child_by_field_name("value")?;
    let class = match value.kind() {
        "as_pattern" => named_children(value).first()?.node,
        _ => value,
    };
    let body = child_of_kind(clause, &["block"])?;
    let raises = holds(body, &["raise_statement"]);
    if is_wide(site.text(class)) || raises {
        return None;
    }
    Some(draft().replace(site, class.byte_range(), "Exception".to_owned()))
}

fn holds(body: Node<'_>, kinds: &[&str]) -> bool {
    let mut found = false;
    walk_from(body, |_, step| {
        found |= kinds.contains(&step.node.kind());
        if found { Descend::Past } else { Descend::Into }
    });
    found
}

/// Only the last clause: the compiler rejects unreachable clauses after a wider one.
fn java(site: &MutationContext<'_>, clause: Node<'_>) -> Option<Mutation> {
    let is_last = next_statement(clause).is_none_or(|next| next.kind() != "catch_clause");
    let parameter = child_of_kind(clause, &["catch_formal_parameter"])?;
    let class = child_of_kind(parameter, &["catch_type"])?;
    let name = site.text(parameter.child_by_field_name("name")?);
    let body = site.text(clause.child_by_field_name("body")?);
    let throws = has_word(body, "throw");
    let is_plain = body.match_indices(name).all(|(at, _)| {
        let before = body.get(..at).and_then(|it| it.chars().next_back()).unwrap_or(' ');
        let after = body.get(at + name.len()..).unwrap_or_default();
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let is_name = !is_part(before) && !after.starts_with(is_part);
        let asks = after
            .strip_prefix('.')
            .map(|asked| METHODS_OF_ALL_OBJECTS.iter().any(|method| asked.starts_with(method)));
        !is_name || asks == Some(true)
    });
    if !is_last || throws || !is_plain || is_wide(site.text(class)) {
        return None;
    }
    Some(draft().replace(site, class.byte_range(), "Exception".to_owned()))
}

/// `if (!(e instanceof NotFound)) throw e;` in a `catch`, taken away.
fn ecmascript(site: &MutationContext<'_>, node: Node<'_>) -> Option<Mutation> {
    let clause = site.around(node, &["catch_clause"])?;
    let error = site.text(clause.child_by_field_name("parameter")?);
    let guard = guard(site, node)?;
    let thrown = site.text(guard.exit).trim_end_matches(';');
    let is_own = thrown.strip_prefix("throw").map(str::trim) == Some(error);
    let follows = next_statement(guard.statement).or(previous_statement(guard.statement))?;
    // Without the check, a type checker would not know the type of the error.
    let is_checked = site.dialect.is_typed && site.text(guard.condition).contains("instanceof");
    let body = clause.child_by_field_name("body")?;
    let uses_it = statements(body)
        .iter()
        .filter(|it| **it != guard.statement)
        .any(|it| has_word(site.text(*it), error));
    if !is_own || (is_checked && uses_it) {
        return None;
    }
    let edit = site.whole_lines(guard.statement)?;
    Some(draft().remove(site, edit, follows))
}

/// `if errors.Is(err, io.EOF)` becomes `if err != nil`.
fn go(site: &MutationContext<'_>, node: Node<'_>) -> Option<Mutation> {
    let condition = node.child_by_field_name("condition")?;
    let called = condition.child_by_field_name("function").map(|it| site.text(it))?;
    if !matches!(called, "errors.Is" | "os.IsNotExist" | "os.IsExist") {
        return None;
    }
    let arguments = named_children(condition.child_by_field_name("arguments")?);
    let error = arguments.first()?.node;
    let body = site.text(node.child_by_field_name("consequence")?);
    let lost = error.end_byte()..condition.end_byte();
    let callee = condition.start_byte()..error.start_byte();
    let stays = site.can_lose(&lost, node) && site.can_lose(&callee, node);
    if error.kind() != "identifier" || has_word(body, site.text(error)) || !stays {
        return None;
    }
    let text = format!("{} != nil", site.text(error));
    Some(draft().replace(site, condition.byte_range(), text))
}

/// `Err(e) if e.kind() == NotFound` loses its condition, `Err(Error::NotFound)` its meaning.
fn rust(site: &MutationContext<'_>, arm: Node<'_>) -> Option<Mutation> {
    let pattern = arm.child_by_field_name("pattern")?;
    let what = named_children(pattern).first()?.node;
    let value = site.text(arm.child_by_field_name("value")?);
    let gives_up = value.contains("Err(") || value.contains("panic!") || value.contains("bail!");
    if !site.text(what).starts_with("Err(") || gives_up {
        return None;
    }
    if let Some(condition) = pattern.child_by_field_name("condition") {
        let edit = what.start_byte()..condition.end_byte();
        return Some(draft().replace(site, edit, site.text(what).to_owned()));
    }
    let inner = named_children(what).last()?.node;
    let is_plain = match inner.kind() {
        "scoped_identifier" => true,
        "tuple_struct_pattern" => {
            let text = site.text(inner);
            text.ends_with("(_)") || text.ends_with("(..)")
        }
        _ => false,
    };
    // The last arm already matches everything that is left.
    let later = next_statement(arm).and_then(|next| next.child_by_field_name("pattern"));
    let is_last = later.is_none_or(|it| site.text(it).starts_with("Ok("));
    let fits = is_plain && !is_last;
    fits.then(|| draft().replace(site, inner.byte_range(), "_".to_owned()))
}
