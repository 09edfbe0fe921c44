//! Messages about uses of removed definitions.

use super::{FindingText, candidate, is_compiled, when};
use crate::cross_file::checks::REMOVED_SYMBOL;
use crate::cross_file::contract::Symbol;
use crate::cross_file::resolve::Evidence;
use crate::cross_file::user::UserFile;
use crate::symbols::{Import, SymbolUse};
use mala_domain::finding::ReviewClaim;
use mala_domain::language::Language;

/// Something that is gone.
pub(crate) struct RemovedSymbol<'a> {
    /// The removed definition.
    pub(crate) symbol: &'a Symbol,
    /// The name that it has instead.
    pub(crate) successor: Option<&'a str>,
    /// The file that it is in instead.
    pub(crate) moved_to: Option<&'a str>,
}

/// A remaining use.
pub(crate) struct UseSite<'u> {
    /// The use to point at.
    pub(crate) found: &'u SymbolUse,
    /// The import that leads there.
    pub(crate) import_line: Option<u32>,
    /// The lines of all uses in the file.
    pub(crate) lines: Vec<u32>,
    /// The strength of the evidence.
    pub(crate) evidence: Evidence,
}

/// The name of a default export.
const DEFAULT: &str = "default";

const RULE: &str = REMOVED_SYMBOL.id;

/// A finding about a use of a removed definition.
pub(crate) fn still_used(
    gone: &RemovedSymbol<'_>,
    user: &UserFile,
    place: &UseSite<'_>,
) -> ReviewClaim {
    let symbol = gone.symbol;
    let called = place.found.call.is_some();
    let (verb, uses) = if called { ("called", "calls") } else { ("used", "uses") };
    let more: Vec<String> = place
        .lines
        .iter()
        .filter(|line| **line != place.found.line)
        .take(5)
        .map(u32::to_string)
        .collect();
    let more = match more.as_slice() {
        [] => String::new(),
        [one] => format!(" It is also used on line {one}."),
        many => format!(" It is also used on lines {}.", many.join(", ")),
    };
    let import = place
        .import_line
        .filter(|line| *line != place.found.line)
        .map(|line| format!(" (imported on line {line})"))
        .unwrap_or_default();
    let body = format!(
        "{}, {}: {}, and this line still {uses} it{import}.{more}",
        when_for(symbol, user, place),
        failure(symbol, user, place.import_line),
        what_happened(gone),
    );
    candidate(
        &user.file,
        place.found.line,
        place.evidence,
        FindingText { rule: RULE, title: title(gone, verb), body, suggestion: suggestion(gone) },
    )
}

/// A finding about an import of a removed definition.
pub(crate) fn still_imported(
    gone: &RemovedSymbol<'_>,
    user: &UserFile,
    import: &Import,
) -> ReviewClaim {
    let loaded = if is_compiled(user.outline.language) { "built" } else { "loaded" };
    let body = format!(
        "When `{}` is {loaded}, {}: {}, and this line still imports it from `{}`.",
        user.path,
        failure(gone.symbol, user, Some(import.line)),
        what_happened(gone),
        import.module,
    );
    candidate(
        &user.file,
        import.line,
        Evidence::Resolved,
        FindingText {
            rule: RULE,
            title: title(gone, "imported"),
            body,
            suggestion: suggestion(gone),
        },
    )
}

fn when_for(symbol: &Symbol, user: &UserFile, place: &UseSite<'_>) -> String {
    if is_compiled(user.outline.language) {
        return format!("When `{}` is built", user.path);
    }
    let import = imported_name(symbol, user, place.import_line);
    when(place.found.within.as_deref().filter(|_| import.is_none()), user)
}

/// The import of the definition by name, which fails when the file is loaded.
fn imported_name<'u>(symbol: &Symbol, user: &'u UserFile, line: Option<u32>) -> Option<&'u Import> {
    let on_line = |import: &&Import| Some(import.line) == line;
    let mut imports = user.outline.imports.iter().filter(on_line);
    imports.find(|import| import.name() == Some(symbol.name.as_str()))
}

fn title(gone: &RemovedSymbol<'_>, verb: &str) -> String {
    if gone.symbol.name == DEFAULT && gone.symbol.container.is_none() {
        let file = &gone.symbol.file;
        return format!("`{file}` no longer has a default export, but it is still {verb} here");
    }
    let name = gone.symbol.qualified();
    match (gone.successor, gone.moved_to) {
        (Some(successor), _) => format!("`{name}` is now `{successor}`, but is still {verb} here"),
        (None, Some(path)) => format!("`{name}` moved to `{path}`, but is still {verb} here"),
        (None, None) => format!("`{name}` no longer exists, but is still {verb} here"),
    }
}

fn what_happened(gone: &RemovedSymbol<'_>) -> String {
    let symbol = gone.symbol;
    let what = match symbol.name.as_str() {
        DEFAULT => "the default export".to_owned(),
        _ => format!("the {} `{}`", symbol.kind.name(), symbol.qualified()),
    };
    let place = format!("`{}` (line {} before)", symbol.file, symbol.line);
    match (gone.successor, gone.moved_to) {
        (Some(successor), _) => format!("this change renames {what} of {place} to `{successor}`"),
        (None, Some(path)) => format!("this change moves {what} from {place} to `{path}`"),
        (None, None) => format!("this change removes {what} from {place}"),
    }
}

fn suggestion(gone: &RemovedSymbol<'_>) -> String {
    let name = &gone.symbol.name;
    match (gone.successor, gone.moved_to) {
        (Some(successor), _) => {
            format!("Use `{successor}` here, or keep `{name}` as another name for it.")
        }
        (None, Some(path)) => {
            format!("Take `{name}` from `{path}` here, or pass it on from `{}`.", gone.symbol.file)
        }
        (None, None) => format!(
            "Change or remove this use, or keep `{name}` in `{}` until nothing uses it.",
            gone.symbol.file
        ),
    }
}

/// The failure that the use causes.
fn failure(symbol: &Symbol, user: &UserFile, import_line: Option<u32>) -> String {
    let name = &symbol.name;
    let language = user.outline.language;
    if is_compiled(language) {
        return format!("it does not compile, because `{}` is not defined", symbol.qualified());
    }
    let import = imported_name(symbol, user, import_line);
    match (language, &symbol.container, import) {
        (Language::Python, Some(class), _) => {
            format!("it fails with `AttributeError`: `{class}` has no attribute `{name}`")
        }
        (Language::Python, None, Some(import)) => format!(
            "it fails with `ImportError: cannot import name '{name}' from '{}'`",
            import.module
        ),
        (Language::Python, None, None) if import_line.is_some() => {
            format!("it fails with `AttributeError`: the module has no attribute `{name}`")
        }
        (Language::Python, None, None) => {
            format!("it fails with `NameError: name '{name}' is not defined`")
        }
        (Language::JavaScript, None, None) if import_line.is_none() => {
            format!("it fails with `ReferenceError: {name} is not defined`")
        }
        (Language::JavaScript, _, _) => {
            format!("`{name}` is `undefined`, and calling it fails with `TypeError`")
        }
        _ => format!("it fails, because `{name}` is not defined"),
    }
}
