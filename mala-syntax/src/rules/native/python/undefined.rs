//! Names that are not defined in the file: using them raises NameError.

use super::code::{ancestors, arguments, callee, plain_text};
use super::module::{Module, found};
use crate::rules::native::code::parts;
use crate::rules::native::{NativeCheck, NativeMatch};
use crate::source::Source;
use crate::symbols::{DeclarationKind, ScopeVariable};
use std::collections::HashSet;
use tree_sitter::Node;

pub(super) const UNDEFINED: NativeCheck =
    NativeCheck { name: "python-undefined-name", captures: &["NAME", "MORE"] };

pub(super) const EXPORT: NativeCheck =
    NativeCheck { name: "python-undefined-export", captures: &["NAME"] };

/// Names that the interpreter, or the tool that runs the file, defines.
const BUILTIN: &str = include_str!("builtin_names.txt");

/// Maximum number of reported names per file; the messages count the others.
const MAX_REPORTED: usize = 2;

/// Calls that bring in names which the file does not show: SCons and Bazel have `Import` and `load`. A
/// function of this name that the file itself defines or imports is another one.
const LOADERS: [&str; 4] = ["globals", "execfile", "Import", "load"];

/// Calls that do so for the function around them.
const LOCAL_LOADERS: [&str; 3] = ["locals", "vars", "exec"];

/// Places where a file may have names that its text does not show.
enum HiddenNames<'t> {
    /// Anywhere.
    InFile,
    /// Inside these functions.
    InFunctions(Vec<Node<'t>>),
}

impl<'t> HiddenNames<'t> {
    fn of(module: &Module<'t>) -> Self {
        let source = module.source;
        let is_open = source.tree().root_node().has_error()
            || !module.nodes(&["wildcard_import", "exec_statement", "print_statement"]).is_empty()
            || source.text().lines().any(excuses_file);
        if is_open {
            return Self::InFile;
        }
        let mut functions = Vec::new();
        let defined = defined_names(module);
        for call in module.nodes(&["call"]) {
            let name = callee(source, call);
            let is_local =
                LOCAL_LOADERS.contains(&name) && (name == "exec" || arguments(call).is_empty());
            let is_loader = LOADERS.contains(&name) && !defined.contains(name);
            if !is_local && !is_loader {
                continue;
            }
            let function = ancestors(call).find(|it| it.kind() == "function_definition");
            match function.filter(|_| is_local) {
                Some(function) => functions.push(function),
                None => return Self::InFile,
            }
        }
        Self::InFunctions(functions)
    }

    fn may_be_at(&self, place: Node<'_>) -> bool {
        match self {
            Self::InFile => true,
            Self::InFunctions(functions) => {
                functions.iter().any(|it| it.byte_range().contains(&place.start_byte()))
            }
        }
    }
}

pub(super) fn undefined_names(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let hidden = HiddenNames::of(module);
    if matches!(hidden, HiddenNames::InFile) {
        return Vec::new();
    }
    let builtin: HashSet<&str> = BUILTIN.split_whitespace().collect();
    let defined = defined_names(module);
    let mut unknown: Vec<(&str, Node<'_>)> = module
        .names()
        .scopes
        .variables()
        .iter()
        .filter(|it| it.declared == DeclarationKind::Undeclared)
        .filter(|it| !defined.contains(it.name) && !builtin.contains(it.name))
        .filter(|it| !it.name.starts_with("__") && !is_configured(it))
        .filter_map(|it| {
            let is_fault = |read: &&Node<'_>| {
                !is_guarded(source, **read)
                    && !hidden.may_be_at(**read)
                    && !is_excused(source, **read)
            };
            Some((it.name, *it.reads.iter().find(is_fault)?))
        })
        .collect();
    unknown.sort_by_key(|(_, node)| node.start_byte());
    let more = more_names(unknown.len().saturating_sub(MAX_REPORTED));
    let reported = unknown
        .into_iter()
        .take(MAX_REPORTED)
        .map(|(name, node)| found(node, vec![("NAME", name.to_owned()), ("MORE", more.clone())]));
    reported.collect()
}

fn more_names(n_more: usize) -> String {
    match n_more {
        0 => String::new(),
        1 => "; 1 more name of the file is undefined".to_owned(),
        n => format!("; {n} more names of the file are undefined"),
    }
}

/// All names that the file declares, in any scope.
fn defined_names<'t>(module: &Module<'t>) -> HashSet<&'t str> {
    let variables = module.names().scopes.variables().iter();
    variables.filter(|it| it.declared != DeclarationKind::Undeclared).map(|it| it.name).collect()
}

/// Whether the file sets attributes of the name at its top level, as in `c.Server.port = 80`: a
/// configuration file, whose loader provides the object.
fn is_configured(variable: &ScopeVariable<'_>) -> bool {
    variable.reads.iter().any(|read| {
        let target = ancestors(*read)
            .take_while(|it| it.kind() == "attribute" || it.kind() == "subscript")
            .last();
        let assignment = target.and_then(|it| it.parent()).filter(|it| it.kind() == "assignment");
        assignment.is_some_and(|it| {
            it.child_by_field_name("left") == target
                && !ancestors(it).any(|outer| outer.kind() == "function_definition")
        })
    })
}

/// Whether a comment on the line of a name suppresses the check of a linter.
fn is_excused(source: &Source, name: Node<'_>) -> bool {
    let line = source.text().lines().nth(name.start_position().row);
    line.and_then(|it| it.split_once('#')).is_some_and(|(_, comment)| excuses(comment))
}

/// Whether a comment disables the check for undefined names of a linter or type checker. A comment
/// without a list of codes disables all checks.
fn excuses(comment: &str) -> bool {
    let is_blanket = [("noqa", ':'), ("type: ignore", '['), ("pyright: ignore", '[')]
        .iter()
        .filter_map(|(mark, opens)| Some((comment.split_once(mark)?.1, opens)))
        .any(|(rest, opens)| !rest.trim_start().starts_with(*opens));
    is_blanket || names_check(comment)
}

/// Whether a line is a comment that switches off the check for the whole file.
fn excuses_file(line: &str) -> bool {
    let Some(comment) = line.trim_start().strip_prefix('#') else { return false };
    let is_blanket = ["flake8: noqa", "ruff: noqa"].iter().any(|mark| {
        let rest = comment.trim_start().strip_prefix(mark);
        rest.is_some_and(|rest| !rest.trim_start().starts_with(':'))
    });
    is_blanket || comment.trim_start().starts_with("mypy: ignore-errors") || names_check(comment)
}

/// Whether a comment names the check for undefined names of a linter or type checker.
fn names_check(comment: &str) -> bool {
    let codes = ["F821", "E0602", "name-defined", "reportUndefinedVariable", "undefined-variable"];
    let marks = ["noqa", "type: ignore", "pyright:", "pylint: disable", "mypy: disable"];
    let holds = |word: &&str| comment.contains(*word);
    codes.iter().any(holds) && marks.iter().any(holds)
}

/// Whether the file expects that the name may be missing.
fn is_guarded(source: &Source, node: Node<'_>) -> bool {
    ancestors(node).any(|outer| match outer.kind() {
        "try_statement" => parts(outer).iter().any(|it| {
            let text = source.slice(*it);
            it.kind() == "except_clause"
                && (!text.starts_with("except ")
                    || ["NameError", "Exception"].iter().any(|w| text.contains(w)))
        }),
        "if_statement" | "conditional_expression" => {
            let text = source.slice(outer);
            text.contains("PY2") || text.contains("PY3") || text.contains("version_info")
        }
        _ => false,
    })
}

/// Names in `__all__` that the file does not define.
pub(super) fn undefined_exports(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let is_open = !source.text().contains("__all__") || source.text().contains("__getattr__");
    if is_open || matches!(HiddenNames::of(module), HiddenNames::InFile) {
        return Vec::new();
    }
    let defined = defined_names(module);
    let mut matches = Vec::new();
    for assignment in module.nodes(&["assignment"]) {
        let field = |name| assignment.child_by_field_name(name);
        let is_export = field("left").is_some_and(|it| source.slice(it) == "__all__");
        let list = field("right").filter(|it| is_export && matches!(it.kind(), "list" | "tuple"));
        for element in list.map(parts).unwrap_or_default() {
            let Some(name) = plain_text(source, element) else { continue };
            // Names in small letters may be modules of a package.
            if !defined.contains(name) && name.starts_with(char::is_uppercase) {
                matches.push(found(element, vec![("NAME", name.to_owned())]));
            }
        }
    }
    matches
}
