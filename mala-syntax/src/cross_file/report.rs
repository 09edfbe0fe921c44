//! The texts of findings: the consequence, when it happens, and the fix.

mod removed;
mod signature;

pub(crate) use removed::{RemovedSymbol, UseSite, still_imported, still_used};
pub(crate) use signature::{ChangedCall, does_not_fit};

use super::checks::{UNHANDLED_MEMBER, UNRESOLVED_IMPORT};
use super::contract::{Broken, Contract, Symbol};
use super::plan::{ImportCheck, ModuleLocation, NameCheck};
use super::resolve::Evidence;
use super::user::UserFile;
use crate::symbols::{Import, ImportedItem, RustMatch};
use mala_domain::change::{FilePath, LineSpan};
use mala_domain::finding::{Category, Priority, ReviewClaim, Verification};
use mala_domain::language::Language;

/// The reviewer that the findings belong to.
const REVIEWER: &str = "builtin";

/// The text of a finding.
struct FindingText {
    rule: &'static str,
    title: String,
    body: String,
    suggestion: String,
}

/// A finding at a line, as sure as its evidence.
fn candidate(file: &FilePath, line: u32, evidence: Evidence, said: FindingText) -> ReviewClaim {
    let (confidence, verification) = match evidence {
        Evidence::Resolved => (0.95, Verification::verified("name resolution at head")),
        Evidence::OnlyOne => (0.7, Verification::default()),
    };
    ReviewClaim {
        file: file.clone(),
        span: LineSpan::line(line),
        priority: Some(Priority::P2),
        category: Category::Bug,
        title: said.title,
        body: said.body,
        suggestion: Some(said.suggestion),
        evidence: None,
        confidence,
        reviewer: REVIEWER.to_owned(),
        rule: Some(said.rule.to_owned()),
        verification,
    }
}

/// When the problem occurs: `` `name` runs`` for the function around a use, else when the file is
/// loaded.
fn when(within: Option<&str>, user: &UserFile) -> String {
    match within {
        Some(name) => format!("When `{name}` runs"),
        None => format!("When `{}` is loaded", user.path),
    }
}

/// Whether a mistake in names stops the build instead of the program.
fn is_compiled(language: Language) -> bool {
    matches!(
        language,
        Language::TypeScript | Language::Tsx | Language::Rust | Language::Go | Language::Java
    )
}

/// An import of a module that is gone.
pub(crate) fn lost_module(
    symbol: &Symbol,
    successor: Option<&str>,
    user: &UserFile,
    import: &Import,
) -> ReviewClaim {
    let module = written_module(import);
    let language = user.outline.language;
    let fails = match language {
        Language::Python => format!("it fails with `ModuleNotFoundError`: `{module}` has no file"),
        Language::JavaScript => format!("it fails with `Cannot find module '{module}'`"),
        _ => format!("it does not compile: `{module}` has no file"),
    };
    let (what, suggestion) = match successor {
        Some(path) => (
            format!("this change moves `{}` to `{path}`", symbol.file),
            format!(
                "Import it from `{path}`, or keep a file at `{}` that passes its names on.",
                symbol.file
            ),
        ),
        None => (
            format!("this change deletes `{}`", symbol.file),
            format!("Remove the import and what uses it, or keep `{}`.", symbol.file),
        ),
    };
    let verb = if is_compiled(language) { "built" } else { "loaded" };
    candidate(
        &user.file,
        import.statement_line,
        Evidence::Resolved,
        FindingText {
            rule: UNRESOLVED_IMPORT.id,
            title: format!("`{module}` is imported here, but `{}` is gone", symbol.file),
            body: format!("When `{}` is {verb}, {fails}, because {what}.", user.path),
            suggestion,
        },
    )
}

fn written_module(import: &Import) -> String {
    match &import.imported {
        ImportedItem::Submodule(name) => format!("mod {name}"),
        ImportedItem::Name(name) if import.module.ends_with('.') => {
            format!("{}{name}", import.module)
        }
        _ => import.module.clone(),
    }
}

/// A finding about the added imports of a file that lead to no file, at the first of them.
pub(crate) fn unresolved(checks: &[&ImportCheck]) -> Option<ReviewClaim> {
    let (first, others) = checks.split_first()?;
    let shown: Vec<String> =
        first.candidates.iter().take(2).map(|path| format!("`{path}`")).collect();
    let fails = match first.language {
        Language::Python => "it fails with `ModuleNotFoundError`",
        Language::JavaScript => "it fails with `Cannot find module`",
        _ => "it does not compile",
    };
    let verb = if is_compiled(first.language) { "built" } else { "loaded" };
    let others: Vec<String> =
        others.iter().map(|other| format!("`{}` on line {}", other.module, other.line)).collect();
    let others = match others.as_slice() {
        [] => String::new(),
        some => format!(" The same goes for {}.", some.join(", ")),
    };
    let body = format!(
        "When `{}` is {verb}, {fails}: there is no file for `{}` at head, such as {}.{others}",
        first.file,
        first.module,
        shown.join(" or "),
    );
    Some(candidate(
        &FilePath::from(first.file.as_str()),
        first.line,
        Evidence::Resolved,
        FindingText {
            rule: UNRESOLVED_IMPORT.id,
            title: format!("`{}` leads to no file", first.module),
            body,
            suggestion: "Correct the path, or add the missing file to the change.".to_owned(),
        },
    ))
}

/// An added import of a module that the project's own package does not have.
pub(crate) fn leads_nowhere(check: &NameCheck, place: &ModuleLocation) -> ReviewClaim {
    let shown: Vec<String> = place.files.iter().take(2).map(|path| format!("`{path}`")).collect();
    candidate(
        &FilePath::from(check.file.as_str()),
        check.line,
        Evidence::Resolved,
        FindingText {
            rule: UNRESOLVED_IMPORT.id,
            title: format!("`{}` leads to no file", check.module),
            body: format!(
                "When `{}` is loaded, it fails with `ModuleNotFoundError`: the package is in this repository (`{}`), and there is no file for `{}` in it, such as {}.",
                check.file,
                place.package.as_deref().unwrap_or_default(),
                check.module,
                shown.join(" or "),
            ),
            suggestion: "Correct the path, or add the missing file to the change.".to_owned(),
        },
    )
}

/// An added import of a name that its module does not have.
pub(crate) fn lacks_name(check: &NameCheck, file: &str) -> ReviewClaim {
    let name = &check.name;
    let happens = match check.language {
        Language::Python => format!(
            "loaded, it fails with `ImportError: cannot import name '{name}' from '{}'`",
            check.module
        ),
        Language::JavaScript => {
            format!("loaded, `{name}` is missing: the import fails, or gives `undefined`")
        }
        _ => format!("built, it does not compile: the module has no export `{name}`"),
    };
    let lacks = match check.language {
        Language::Python => "neither defines nor imports it",
        _ => "does not export it",
    };
    candidate(
        &FilePath::from(check.file.as_str()),
        check.line,
        Evidence::Resolved,
        FindingText {
            rule: UNRESOLVED_IMPORT.id,
            title: format!("`{name}` is imported here, but `{file}` has no such name"),
            body: format!("When `{}` is {happens}, because `{file}` {lacks}.", check.file),
            suggestion: format!("Correct the name, or add `{name}` to `{file}`."),
        },
    )
}

/// A match that was complete.
pub(crate) fn unhandled(
    contract: &Contract,
    user: &UserFile,
    one: &RustMatch,
    added: &[String],
) -> ReviewClaim {
    let symbol = &contract.symbol;
    let line = match &contract.broken {
        Broken::Members { line, .. } => *line,
        _ => symbol.line,
    };
    let shown: Vec<String> = added.iter().take(3).map(|name| format!("`{name}`")).collect();
    let shown = shown.join(", ");
    candidate(
        &user.file,
        one.line,
        Evidence::Resolved,
        FindingText {
            rule: UNHANDLED_MEMBER.id,
            title: format!("{shown} of `{}` is not handled here", symbol.name),
            body: format!(
                "This match does not compile: this change adds {shown} to `{}` (`{}` line {line}), and the match lists every other variant and has no other arm.",
                symbol.qualified(),
                symbol.file
            ),
            suggestion: format!("Add an arm for {shown}."),
        },
    )
}
