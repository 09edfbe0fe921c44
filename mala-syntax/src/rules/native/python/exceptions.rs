//! Exceptions that are caught in the wrong order, or made and never raised.

use super::class::Classes;
use super::code::{callee, last_name};
use super::module::{Module, found, found_because};
use crate::rules::native::code::{bare, line, parts};
use crate::rules::native::{NativeCheck, NativeMatch};
use crate::source::Source;
use tree_sitter::Node;

pub(super) const ORDER: NativeCheck =
    NativeCheck { name: "python-except-order", captures: &["NAME", "EARLIER", "LINE"] };

pub(super) const NOT_RAISED: NativeCheck =
    NativeCheck { name: "python-exception-not-raised", captures: &["NAME"] };

/// Exceptions of the interpreter and what they derive from.
const PARENTS: [(&str, &str); 54] = [
    ("Exception", "BaseException"),
    ("KeyboardInterrupt", "BaseException"),
    ("SystemExit", "BaseException"),
    ("GeneratorExit", "BaseException"),
    ("ArithmeticError", "Exception"),
    ("FloatingPointError", "ArithmeticError"),
    ("OverflowError", "ArithmeticError"),
    ("ZeroDivisionError", "ArithmeticError"),
    ("AssertionError", "Exception"),
    ("AttributeError", "Exception"),
    ("BufferError", "Exception"),
    ("EOFError", "Exception"),
    ("ImportError", "Exception"),
    ("ModuleNotFoundError", "ImportError"),
    ("LookupError", "Exception"),
    ("IndexError", "LookupError"),
    ("KeyError", "LookupError"),
    ("MemoryError", "Exception"),
    ("NameError", "Exception"),
    ("UnboundLocalError", "NameError"),
    ("OSError", "Exception"),
    ("IOError", "OSError"),
    ("EnvironmentError", "OSError"),
    ("BlockingIOError", "OSError"),
    ("ChildProcessError", "OSError"),
    ("ConnectionError", "OSError"),
    ("BrokenPipeError", "ConnectionError"),
    ("ConnectionAbortedError", "ConnectionError"),
    ("ConnectionRefusedError", "ConnectionError"),
    ("ConnectionResetError", "ConnectionError"),
    ("FileExistsError", "OSError"),
    ("FileNotFoundError", "OSError"),
    ("InterruptedError", "OSError"),
    ("IsADirectoryError", "OSError"),
    ("NotADirectoryError", "OSError"),
    ("PermissionError", "OSError"),
    ("ProcessLookupError", "OSError"),
    ("TimeoutError", "OSError"),
    ("ReferenceError", "Exception"),
    ("RuntimeError", "Exception"),
    ("NotImplementedError", "RuntimeError"),
    ("RecursionError", "RuntimeError"),
    ("StopAsyncIteration", "Exception"),
    ("StopIteration", "Exception"),
    ("SyntaxError", "Exception"),
    ("IndentationError", "SyntaxError"),
    ("TabError", "IndentationError"),
    ("SystemError", "Exception"),
    ("TypeError", "Exception"),
    ("ValueError", "Exception"),
    ("UnicodeError", "ValueError"),
    ("UnicodeDecodeError", "UnicodeError"),
    ("UnicodeEncodeError", "UnicodeError"),
    ("UnicodeTranslateError", "UnicodeError"),
];

/// What an exception derives from, nearest first, with itself.
fn line_of_descent<'a>(classes: &'a Classes<'_>, name: &'a str) -> Vec<&'a str> {
    let mut found = vec![name];
    let mut name = name;
    while found.len() < 20 {
        let own = classes.named(name).and_then(|it| it.bases.first().copied());
        let Some(parent) = own.or_else(|| parent_of(name)) else { break };
        found.push(parent);
        name = parent;
    }
    found
}

fn parent_of(name: &str) -> Option<&'static str> {
    PARENTS.iter().find(|(child, _)| *child == name).map(|(_, parent)| *parent)
}

pub(super) fn orders(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let mut matches = Vec::new();
    for outer in module.nodes(&["try_statement"]) {
        let clauses: Vec<_> =
            parts(outer).into_iter().filter(|it| it.kind() == "except_clause").collect();
        if clauses.len() < 2 {
            continue;
        }
        let classes = module.classes();
        let mut earlier: Vec<(&str, Node<'_>)> = Vec::new();
        for clause in clauses {
            let caught = caught(source, clause);
            let covered: Vec<_> = caught
                .iter()
                .map(|name| {
                    let descent = line_of_descent(classes, name);
                    earlier.iter().find(|(it, _)| descent.contains(it)).copied()
                })
                .collect();
            if let [Some((name, place)), ..] = covered.as_slice()
                && covered.iter().all(Option::is_some)
            {
                let captures = vec![
                    ("NAME", caught.join("`, `")),
                    ("EARLIER", (*name).to_owned()),
                    ("LINE", line(*place)),
                ];
                let mut it = found_because(clause, *place, captures);
                let end = clause.child_by_field_name("value").map_or(0, |it| it.end_byte());
                it.bytes = clause.start_byte()..end.max(clause.start_byte() + 1);
                matches.push(it);
            }
            earlier.extend(caught.into_iter().map(|it| (it, clause)));
        }
    }
    matches
}

/// The exceptions that a clause names.
fn caught<'t>(source: &'t Source, clause: Node<'t>) -> Vec<&'t str> {
    let Some(value) = clause.child_by_field_name("value") else { return Vec::new() };
    let value = match value.kind() {
        "as_pattern" => value.named_child(0).unwrap_or(value),
        _ => value,
    };
    match bare(value).kind() {
        "tuple" => parts(value).iter().map(|it| source.slice(*it)).collect(),
        "identifier" | "attribute" => vec![source.slice(value)],
        _ => Vec::new(),
    }
}

pub(super) fn not_raised(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let mut matches = Vec::new();
    for statement in module.nodes(&["expression_statement"]) {
        let [call] = parts(statement)[..] else { continue };
        if call.kind() != "call" {
            continue;
        }
        let name = callee(source, call);
        let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if !is_name || !name.starts_with(char::is_uppercase) {
            continue;
        }
        let classes = module.classes();
        let descent = line_of_descent(classes, last_name(name));
        let is_exception = descent.last() == Some(&"BaseException");
        let in_failing_test = super::calls::expects_failure(source, statement);
        if is_exception && !in_failing_test {
            matches.push(found(call, vec![("NAME", name.to_owned())]));
        }
    }
    matches
}
