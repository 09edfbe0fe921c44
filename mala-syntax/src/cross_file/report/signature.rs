//! Messages about calls that no longer fit.

use super::{FindingText, candidate, is_compiled, when};
use crate::cross_file::checks::CHANGED_SIGNATURE;
use crate::cross_file::contract::{Called, SignatureChange, Symbol};
use crate::cross_file::fit::Misfit;
use crate::cross_file::resolve::Evidence;
use crate::cross_file::user::UserFile;
use crate::symbols::{
    CallShape, FunctionParameter, ParameterPassing, ParameterPresence, SymbolUse,
};
use mala_domain::finding::ReviewClaim;
use mala_domain::language::Language;

/// A definition with changed parameters.
pub(crate) struct ChangedCall<'a> {
    /// The definition.
    pub(crate) symbol: &'a Symbol,
    /// The parameters before and after the change.
    pub(crate) signature: &'a SignatureChange,
    /// Why the call does not fit.
    pub(crate) misfit: &'a Misfit,
}

/// A call that no longer fits.
pub(crate) fn does_not_fit(
    refitted: &ChangedCall<'_>,
    user: &UserFile,
    (found, call): (&SymbolUse, &CallShape),
    evidence: Evidence,
) -> ReviewClaim {
    let symbol = refitted.symbol;
    let signature = refitted.signature;
    let name = symbol.qualified();
    let compiled = is_compiled(user.outline.language) && is_compiled(symbol.language);
    let shifted = matches!(refitted.misfit, Misfit::Shifted { .. });
    let start = if compiled && !shifted {
        format!("When `{}` is built, this call does not compile", user.path)
    } else {
        format!(
            "{}, {}",
            when(found.within.as_deref(), user),
            failure(refitted, user.outline.language)
        )
    };
    let (old, new) = (shown(&signature.before), shown(&signature.after));
    let body = format!(
        "{start}: it passes {}, and this change turns `{name}{old}` into `{name}{new}` (`{}` line {}).",
        passed(call),
        signature.file,
        signature.line
    );
    candidate(
        &user.file,
        found.line,
        evidence,
        FindingText {
            rule: CHANGED_SIGNATURE.id,
            title: title(refitted),
            body,
            suggestion: suggestion(refitted, &new),
        },
    )
}

fn title(refitted: &ChangedCall<'_>) -> String {
    let name = refitted.symbol.qualified();
    match refitted.misfit {
        Misfit::Missing(names) => match names.iter().find(|name| !name.is_empty()) {
            Some(first) => {
                format!("This call of `{name}` does not pass `{first}`, which it now needs")
            }
            None => format!("This call of `{name}` passes fewer arguments than it now needs"),
        },
        Misfit::TooMany { takes, given } => {
            format!("This call passes {given} arguments, but `{name}` now takes {takes}")
        }
        Misfit::Unknown(keyword) => {
            format!("This call passes `{keyword}`, but `{name}` no longer takes it")
        }
        Misfit::Twice(keyword) => {
            format!("This call passes `{keyword}` of `{name}` twice: by position and by name")
        }
        Misfit::Shifted { meant, reaches } => {
            format!("This call passes `{name}` its `{meant}` as `{reaches}`")
        }
    }
}

fn failure(refitted: &ChangedCall<'_>, language: Language) -> String {
    match (refitted.misfit, language) {
        (Misfit::Shifted { meant, reaches }, _) => {
            format!("the argument meant for `{meant}` reaches `{reaches}`")
        }
        (_, Language::Python) => "it fails with `TypeError`".to_owned(),
        (_, Language::JavaScript) => "the parameter is `undefined`".to_owned(),
        _ => "it fails".to_owned(),
    }
}

fn passed(call: &CallShape) -> String {
    let positions = match call.n_positional {
        0 => "no positional argument".to_owned(),
        1 => "one positional argument".to_owned(),
        n => format!("{n} positional arguments"),
    };
    if call.keywords.is_empty() {
        return positions;
    }
    let names: Vec<String> = call.keywords.iter().map(|name| format!("`{name}`")).collect();
    format!("{positions} and {} by name", names.join(", "))
}

/// A parameter list as shown in messages.
fn shown(lists: &[Vec<FunctionParameter>]) -> String {
    let Some(first) = lists.first() else { return "()".to_owned() };
    let parts: Vec<String> = first
        .iter()
        .filter(|parameter| parameter.kind != ParameterPassing::Receiver)
        .map(|parameter| {
            let name = if parameter.name.is_empty() { "_" } else { &parameter.name };
            let mark = match parameter.kind {
                ParameterPassing::Variadic => "*",
                ParameterPassing::Keywords => "**",
                _ => "",
            };
            let plain = mark.is_empty() && parameter.presence == ParameterPresence::Optional;
            let optional = if plain { "?" } else { "" };
            format!("{mark}{name}{optional}")
        })
        .collect();
    format!("({})", parts.join(", "))
}

fn suggestion(refitted: &ChangedCall<'_>, new: &str) -> String {
    let name = &refitted.symbol.name;
    match refitted.misfit {
        Misfit::Missing(_) if refitted.signature.called == Called::Class => {
            format!("Pass what `{name}{new}` needs, or give the added parameter a default.")
        }
        Misfit::Missing(_) => {
            format!("Pass what `{name}{new}` needs, or give the added parameter a default.")
        }
        Misfit::TooMany { .. } | Misfit::Unknown(_) | Misfit::Twice(_) => {
            format!("Drop the argument here, or let `{name}` go on taking it.")
        }
        Misfit::Shifted { .. } => {
            format!("Pass the arguments in the order of `{name}{new}`, or by name.")
        }
    }
}
