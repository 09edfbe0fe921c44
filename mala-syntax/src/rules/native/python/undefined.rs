//! Names that nothing in the file defines: using them raises NameError.

use super::code::{ancestors, plain_text};
use super::module::{Module, found};
use crate::rules::native::code::parts;
use crate::rules::native::{NativeCheck, NativeMatch};
use crate::rules::walk::{Step, descend, walk};
use crate::source::Source;
use std::collections::HashSet;
use tree_sitter::Node;

pub(super) const UNDEFINED: NativeCheck =
    NativeCheck { name: "python-undefined-name", captures: &["NAME"] };

pub(super) const EXPORT: NativeCheck =
    NativeCheck { name: "python-undefined-export", captures: &["NAME"] };

/// What the interpreter, or the tool that runs the file, defines.
const BUILTIN: &str = include_str!("builtin_names.txt");

/// More undefined names than this are no slip.
const MAX_UNDEFINED: usize = 2;

struct Defined<'t> {
    names: HashSet<&'t str>,
    /// Whether names may come in that the file does not show.
    is_open: bool,
}

impl<'t> Defined<'t> {
    fn of(source: &'t Source) -> Self {
        let mut defined = Self { names: HashSet::new(), is_open: false };
        walk(source.tree().root_node(), None, |node| defined.read(source, node));
        defined.is_open |= source.tree().root_node().has_error();
        defined
    }

    fn read(&mut self, source: &'t Source, node: Node<'t>) {
        let field = |name| node.child_by_field_name(name);
        match node.kind() {
            "assignment" | "augmented_assignment" | "for_statement" | "for_in_clause" => {
                self.extend(source, field("left"));
            }
            "function_definition" | "class_definition" | "named_expression" => {
                self.extend(source, field("name"));
            }
            "parameters"
            | "lambda_parameters"
            | "as_pattern_target"
            | "global_statement"
            | "nonlocal_statement"
            | "case_pattern"
            | "type_parameter"
            | "import_statement"
            | "import_from_statement"
            | "future_import_statement"
            | "delete_statement"
            | "type_alias_statement" => self.extend(source, Some(node)),
            "except_clause" => {
                // `except Error, e:` of Python 2.
                let further = parts(node).into_iter().skip(1);
                let names = further.filter(|it| it.kind() == "identifier");
                self.names.extend(names.map(|it| source.slice(it)));
            }
            "wildcard_import" | "exec_statement" | "print_statement" => self.is_open = true,
            "call" => {
                let name = field("function").map(|it| source.slice(it));
                self.is_open |= matches!(name, Some("exec" | "globals" | "vars" | "locals"));
            }
            _ => {}
        }
        // chai puts the assertions of its test cases among the names of the file.
        self.is_open |= node.kind() == "import_from_statement"
            && field("module_name").is_some_and(|it| source.slice(it) == "chai");
    }

    fn extend(&mut self, source: &'t Source, part: Option<Node<'t>>) {
        let Some(part) = part else { return };
        descend(part, |node, _| {
            if node.kind() == "identifier" {
                self.names.insert(source.slice(node));
            }
            match node.kind() {
                "type" if part.kind() == "type_parameter" => Step::Into,
                "attribute" | "subscript" | "call" | "type" => Step::Over,
                _ => Step::Into,
            }
        });
    }
}

pub(super) fn undefined_names(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let defined = Defined::of(source);
    if defined.is_open {
        return Vec::new();
    }
    let builtin: HashSet<&str> = BUILTIN.split_whitespace().collect();
    let mut matches = Vec::new();
    let mut seen = HashSet::new();
    let mut labels = HashSet::new();
    descend(source.tree().root_node(), |node, _| {
        labels.extend(label_in(node).map(|it| it.id()));
        let name = source.slice(node);
        let is_unknown = node.kind() == "identifier"
            && !labels.remove(&node.id())
            && !defined.names.contains(name)
            && !builtin.contains(name)
            && !seen.contains(name)
            && !is_guarded(source, node);
        if is_unknown && seen.len() <= MAX_UNDEFINED && seen.insert(name) {
            matches.push(found(node, vec![("NAME", name.to_owned())]));
        }
        if seen.len() > MAX_UNDEFINED || has_no_variables(node) { Step::Over } else { Step::Into }
    });
    // A file with many of them is a piece of another one.
    if seen.len() > MAX_UNDEFINED { Vec::new() } else { matches }
}

/// The identifier in a node that names something, and is no variable.
fn label_in(node: Node<'_>) -> Option<Node<'_>> {
    match node.kind() {
        "attribute" => node.child_by_field_name("attribute"),
        "keyword_argument" => node.child_by_field_name("name"),
        _ => None,
    }
}

/// Whether the identifiers in a node are read when the types are checked, or not at all.
fn has_no_variables(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "type"
            | "type_parameter"
            | "import_statement"
            | "import_from_statement"
            | "future_import_statement"
            | "case_pattern"
            | "ERROR"
    )
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
    if !source.text().contains("__all__") || source.text().contains("__getattr__") {
        return Vec::new();
    }
    let defined = Defined::of(source);
    if defined.is_open {
        return Vec::new();
    }
    let mut matches = Vec::new();
    for assignment in module.nodes(&["assignment"]) {
        let field = |name| assignment.child_by_field_name(name);
        let is_export = field("left").is_some_and(|it| source.slice(it) == "__all__");
        let list = field("right").filter(|it| is_export && matches!(it.kind(), "list" | "tuple"));
        for element in list.map(parts).unwrap_or_default() {
            let Some(name) = plain_text(source, element) else { continue };
            // Names in small letters may be modules of a package.
            let is_object = name.starts_with(char::is_uppercase);
            if !defined.names.contains(name) && is_object {
                matches.push(found(element, vec![("NAME", name.to_owned())]));
            }
        }
    }
    matches
}
