//! Variables that are assigned without a declaration, or used before it.

use super::found;
use crate::rules::ecmascript::program::is_function;
use crate::rules::ecmascript::{ScriptCheck, ScriptFile};
use crate::rules::native::NativeMatch;
use crate::symbols::{DeclarationKind, ScopeVariable};
use std::collections::HashSet;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const UNDECLARED_VARIABLE: ScriptCheck =
    ScriptCheck { name: "undeclared-variable", captures: &["NAME"], run: undeclared_variables };

pub(in crate::rules::ecmascript) const USE_BEFORE_DECLARATION: ScriptCheck = ScriptCheck {
    name: "use-before-declaration",
    captures: &["NAME"],
    run: uses_before_declaration,
};

/// Global variables that browsers, engines and module loaders let a script set.
const SETTABLE_GLOBALS: &[&str] = &[
    "console",
    "document",
    "event",
    "exports",
    "global",
    "globalThis",
    "history",
    "i18n",
    "length",
    "location",
    "module",
    "name",
    "navigator",
    "opener",
    "origin",
    "parent",
    "process",
    "require",
    "screen",
    "self",
    "status",
    "top",
    "window",
];

/// Names that the file uses and does not declare.
fn outside_names<'p, 't>(
    program: &'p ScriptFile<'t>,
    globals: &HashSet<&'t str>,
) -> Vec<&'p ScopeVariable<'t>> {
    program
        .variables()
        .iter()
        .filter(|it| it.declared == DeclarationKind::Undeclared)
        .filter(|it| !SETTABLE_GLOBALS.contains(&it.name) && !globals.contains(it.name))
        .collect()
}

/// The names in `/* global a, b:true */`.
fn declared_globals<'t>(program: &ScriptFile<'t>) -> HashSet<&'t str> {
    let mut names = HashSet::new();
    for part in program.source().text().split("/*").skip(1) {
        let comment = part.split("*/").next().unwrap_or_default().trim_start();
        let list = ["globals ", "global ", "globals:", "global:", "exported "]
            .iter()
            .find_map(|word| comment.strip_prefix(word));
        let entries = list.map(|list| list.split([',', ' ', '\n', '\t'])).into_iter().flatten();
        names.extend(entries.map(|entry| entry.split(':').next().unwrap_or_default().trim()));
    }
    names
}

fn undeclared_variables(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let globals = declared_globals(program);
    let mut matches = Vec::new();
    for variable in outside_names(program, &globals) {
        let is_event = variable.name.starts_with("on");
        if is_event || variable.name.chars().next().is_some_and(char::is_uppercase) {
            continue;
        }
        let mut told = HashSet::new();
        for write in &variable.writes {
            let Some(function) = program.function_around(write.target) else { continue };
            if !function.has_error()
                && told.insert(function.id())
                && is_used_as_local(program, variable, function)
            {
                matches.push(found(write.target, vec![("NAME", variable.name.to_owned())]));
            }
        }
    }
    matches
}

/// Whether a function sets a variable before it reads it, as only a local one needs to be.
fn is_used_as_local<'t>(
    program: &ScriptFile<'t>,
    variable: &ScopeVariable<'t>,
    function: Node<'t>,
) -> bool {
    let here = |node: &Node<'t>| {
        program.function_around(*node).is_some_and(|around| around.id() == function.id())
    };
    let writes = variable.writes.iter().map(|write| write.target).filter(here);
    let reads = variable.reads.iter().copied().filter(here);
    let first_write = writes.map(|it| it.start_byte()).min();
    let first_read = reads.map(|it| it.start_byte()).min();
    let (Some(first_write), Some(first_read)) = (first_write, first_read) else { return false };
    // `a = a
    //
    // 1` reads first, although the write comes first in the text.
    first_write < first_read
        && !program.ancestors_at(first_read).any(|around| {
            around.kind() == "assignment_expression" && around.start_byte() == first_write
        })
}

fn uses_before_declaration(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for variable in program.variables() {
        let dies = matches!(
            variable.declared,
            DeclarationKind::Let | DeclarationKind::Const | DeclarationKind::Class
        );
        let [declaration] = variable.declarations.as_slice() else { continue };
        let is_elsewhere =
            program.ancestors(*declaration).any(|it| it.kind() == "ambient_declaration");
        if !dies || is_elsewhere {
            continue;
        }
        let names =
            variable.reads.iter().copied().chain(variable.writes.iter().map(|write| write.target));
        for name in names {
            if name.start_byte() < declaration.start_byte()
                && runs_at_once(program, name, *declaration)
            {
                matches.push(found(name, vec![("NAME", variable.name.to_owned())]));
            }
        }
    }
    matches
}

/// Whether code runs before a later declaration in the same function: no function and no loop is
/// between the two.
fn runs_at_once<'t>(program: &ScriptFile<'t>, name: Node<'t>, declaration: Node<'t>) -> bool {
    let scope =
        |node| program.ancestors(node).find(|it| is_function(*it) || it.kind() == "program");
    let same_function = match (scope(name), scope(declaration)) {
        (Some(a), Some(b)) => a.id() == b.id(),
        _ => false,
    };
    let is_type = program.ancestors(name).any(|it| {
        matches!(
            it.kind(),
            "type_query"
                | "type_annotation"
                | "class_body"
                | "ambient_declaration"
                | "export_specifier"
                | "export_statement"
                | "decorator"
                | "switch_case"
                | "switch_default"
                | "type_alias_declaration"
                | "interface_declaration"
        )
    });
    same_function && !is_type
}

impl<'t> ScriptFile<'t> {
    /// The nodes around the name that starts at a byte.
    fn ancestors_at(&self, byte: usize) -> impl Iterator<Item = Node<'t>> + '_ {
        let root = self.source().tree().root_node();
        let leaf = root.named_descendant_for_byte_range(byte, byte);
        leaf.into_iter().flat_map(|leaf| self.ancestors(leaf))
    }
}
