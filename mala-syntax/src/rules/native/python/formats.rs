//! Texts with places for values, `%s` and `%(name)s`, and the values that they get.

use super::code::{arguments, callee, last_name, plain_text, text_prefix};
use super::module::{Module, found};
use crate::rules::native::code::{bare, parts};
use crate::rules::native::{NativeCheck, NativeMatch};
use crate::source::Source;
use std::iter::Peekable;
use std::str::Chars;
use tree_sitter::Node;

pub(super) const PERCENT: NativeCheck =
    NativeCheck { name: "python-percent-format", captures: &["PROBLEM"] };

pub(super) const LOGGING: NativeCheck =
    NativeCheck { name: "python-log-arguments", captures: &["PROBLEM"] };

/// A text that may be written in several pieces.
fn whole_text(source: &Source, node: Node<'_>) -> Option<String> {
    let node = bare(node);
    match node.kind() {
        "string" => plain_text(source, node).map(str::to_owned),
        "concatenated_string" => parts(node).into_iter().map(|it| plain_text(source, it)).collect(),
        _ => None,
    }
}

pub(super) fn percent_formats(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let mut matches = Vec::new();
    for node in module.nodes(&["binary_operator"]) {
        let field = |name| node.child_by_field_name(name);
        let (Some(left), Some(operator), Some(right)) =
            (field("left"), field("operator"), field("right"))
        else {
            continue;
        };
        let Some(text) = whole_text(source, left).filter(|_| operator.kind() == "%") else {
            continue;
        };
        let names = module.names();
        let right = bare(right);
        // A dictionary with a name may get further entries.
        let value = names.value_of(right).map(bare).filter(|it| it.kind() == "tuple");
        let value = value.unwrap_or(right);
        let problem = match Percents::read(&text) {
            Err(problem) => Some(problem),
            Ok(percents) => percent_problem(source, &percents, value),
        };
        if let Some(problem) = problem {
            matches.push(found(node, vec![("PROBLEM", problem)]));
        }
    }
    matches
}

fn percent_problem(source: &Source, percents: &Percents, value: Node<'_>) -> Option<String> {
    match (percents, value.kind()) {
        (Percents::Named(names), "dictionary") => {
            let entries = parts(value);
            let keys: Option<Vec<_>> = entries
                .iter()
                .map(|it| plain_text(source, it.child_by_field_name("key")?))
                .collect();
            let missing =
                names.iter().find(|it| keys.as_ref().is_some_and(|k| !k.contains(&it.as_str())))?;
            Some(format!("the text asks for `{missing}`, which the dictionary does not have"))
        }
        (Percents::Named(_), "tuple" | "list" | "string" | "integer" | "float") => {
            Some("the text asks for values by name and gets no dictionary".to_owned())
        }
        (Percents::Placed(n_wanted), "tuple") => {
            let values = parts(value);
            let is_open = values.iter().any(|it| it.kind() == "list_splat");
            let n_given = values.len();
            (!is_open && n_given != *n_wanted)
                .then(|| format!("the text has {n_wanted} places and gets {n_given} values"))
        }
        (
            Percents::Placed(n_wanted),
            "string" | "integer" | "float" | "list" | "list_comprehension" | "true" | "false",
        ) => (*n_wanted != 1).then(|| format!("the text has {n_wanted} places and gets 1 value")),
        _ => None,
    }
}

pub(super) fn log_calls(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let mut matches = Vec::new();
    for call in module.nodes(&["call"]) {
        let Some(values) = log_values(source, call) else { continue };
        let [text, values @ ..] = values.as_slice() else { continue };
        let is_plain = matches!(text.kind(), "string" | "concatenated_string");
        let Some(text) = whole_text(source, *text).filter(|_| is_plain) else { continue };
        let problem = match Percents::read(&text) {
            // Without values, the text is written as it is.
            _ if values.is_empty() => continue,
            // Other libraries fill in braces.
            _ if text.contains('{') => continue,
            Err(problem) => problem,
            Ok(Percents::Placed(n_wanted)) if n_wanted != values.len() => {
                // A single dictionary is used by name.
                format!("the text has {n_wanted} places and gets {} values", values.len())
            }
            Ok(Percents::Named(_)) if values.len() > 1 => {
                format!("the text asks for values by name and gets {} by place", values.len())
            }
            Ok(_) => continue,
        };
        matches.push(found(call, vec![("PROBLEM", problem)]));
    }
    matches
}

/// The text and the values of a call of a logger from the standard library.
fn log_values<'t>(source: &Source, call: Node<'t>) -> Option<Vec<Node<'t>>> {
    const METHODS: [&str; 8] =
        ["debug", "info", "warning", "warn", "error", "critical", "exception", "fatal"];
    const LOGGERS: [&str; 5] = ["logger", "log", "logging", "_logger", "_log"];
    let (logger, method) = callee(source, call).rsplit_once('.')?;
    let logger = last_name(logger).to_lowercase();
    if !LOGGERS.contains(&logger.as_str()) || !METHODS.contains(&method) {
        return None;
    }
    let given = arguments(call);
    let is_known = |it: &Node<'_>| match it.kind() {
        "keyword_argument" => it.child_by_field_name("name").is_some_and(|name| {
            matches!(source.slice(name), "exc_info" | "extra" | "stack_info" | "stacklevel")
        }),
        kind => kind != "list_splat" && kind != "dictionary_splat",
    };
    let is_text =
        given.first().is_some_and(|it| text_prefix(source, *it).find(['f', 'b']).is_none());
    (is_text && given.iter().all(is_known))
        .then(|| given.into_iter().filter(|it| it.kind() != "keyword_argument").collect())
}

/// The placeholders of a text with `%`.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Percents {
    /// This number of values, by position.
    Placed(usize),
    /// Values by name.
    Named(Vec<String>),
}

impl Percents {
    /// Parses a text; the error is the reason why the interpreter rejects it.
    fn read(text: &str) -> Result<Self, String> {
        let mut rest = text.chars().peekable();
        let (mut names, mut n_placed) = (Vec::new(), 0);
        while let Some(c) = rest.next() {
            if c != '%' {
                continue;
            }
            let name = read_name(&mut rest);
            skip(&mut rest, "#0- +");
            n_placed += read_number(&mut rest);
            if rest.next_if_eq(&'.').is_some() {
                n_placed += read_number(&mut rest);
            }
            skip(&mut rest, "hlL");
            match (rest.next(), name) {
                (Some('%'), _) => {}
                (Some(c), name) if "diouxXeEfFgGcrsab".contains(c) => match name {
                    Some(name) => names.push(name),
                    None => n_placed += 1,
                },
                (Some('\\') | None, _) => return Err("a `%` at its end has no letter".to_owned()),
                (Some(c), _) => return Err(format!("`%{c}` is no conversion")),
            }
        }
        match (names.is_empty(), n_placed) {
            (true, n_placed) => Ok(Self::Placed(n_placed)),
            (false, 0) => Ok(Self::Named(names)),
            (false, _) => Err("it asks for values both by name and by place".to_owned()),
        }
    }
}

fn read_name(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    rest.next_if_eq(&'(')?;
    let mut name = String::new();
    let mut depth = 1;
    for c in rest.by_ref() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        name.push(c);
    }
    Some(name)
}

fn skip(rest: &mut Peekable<Chars<'_>>, any: &str) {
    while rest.next_if(|c| any.contains(*c)).is_some() {}
}

/// A width or precision; `*` consumes a value.
fn read_number(rest: &mut Peekable<Chars<'_>>) -> usize {
    if rest.next_if_eq(&'*').is_some() {
        return 1;
    }
    while rest.next_if(char::is_ascii_digit).is_some() {}
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percents_are_counted() {
        for (text, expected) in [
            ("%s and %d%%", Ok(Percents::Placed(2))),
            ("%-*.*f", Ok(Percents::Placed(3))),
            ("%(a)s %(b).2f", Ok(Percents::Named(vec!["a".into(), "b".into()]))),
            ("100% sure", Ok(Percents::Placed(1))),
            ("%hd %ld", Ok(Percents::Placed(2))),
            ("%Z", Err("`%Z` is no conversion".to_owned())),
            ("50%", Err("a `%` at its end has no letter".to_owned())),
            ("%(a)s %s", Err("it asks for values both by name and by place".to_owned())),
        ] {
            assert_eq!(Percents::read(text), expected, "{text}");
        }
    }
}
