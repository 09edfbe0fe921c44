//! Declarations that take the place of others.

use super::found;
use crate::rules::ecmascript::binding::{Declared, Variable};
use crate::rules::ecmascript::{Program, ProgramCheck};
use crate::rules::native::NativeMatch;
use std::collections::HashMap;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const REPLACED_FUNCTION: ProgramCheck = ProgramCheck {
    name: "function-declared-twice",
    captures: &["NAME", "LINE"],
    run: replaced_functions,
};

pub(in crate::rules::ecmascript) const REDECLARED: ProgramCheck =
    ProgramCheck { name: "variable-declared-twice", captures: &["NAME", "LINE"], run: redeclared };

pub(in crate::rules::ecmascript) const SAME_PARAMETER: ProgramCheck =
    ProgramCheck { name: "parameter-declared-twice", captures: &["NAME"], run: same_parameters };

fn line(node: Node<'_>) -> String {
    (node.start_position().row + 1).to_string()
}

fn again(variable: &Variable<'_>, node: Node<'_>, first: Node<'_>) -> NativeMatch {
    let mut reported = found(node, vec![("NAME", variable.name.to_owned()), ("LINE", line(first))]);
    reported.because = Some(first.byte_range());
    reported
}

fn replaced_functions(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for variable in program.variables() {
        let mut by_block: HashMap<usize, Node<'_>> = HashMap::new();
        for declaration in &variable.declarations {
            let Some(function) = program.parent(*declaration) else { continue };
            let is_plain = matches!(
                function.kind(),
                "function_declaration" | "generator_function_declaration"
            ) && function.child_by_field_name("body").is_some();
            let Some(mut block) = program.parent(function).filter(|_| is_plain) else { continue };
            if block.kind() == "export_statement" {
                block = program.parent(block).unwrap_or(block);
            }
            if let Some(first) = by_block.insert(block.id(), *declaration) {
                matches.push(again(variable, *declaration, first));
            }
        }
    }
    matches
}

fn redeclared(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for variable in program.variables() {
        let mut declarations = variable.declarations.iter();
        let Some(mut first) = declarations.next() else { continue };
        for next in declarations {
            let both_functions =
                is_function_name(program, *first) && is_function_name(program, *next);
            let is_var = variable.declared == Declared::Var || is_var(program, *next);
            if is_var
                && !both_functions
                && !is_loop_head(program, *next)
                && !is_type(program, *first)
            {
                matches.push(again(variable, *next, *first));
            }
            first = next;
        }
    }
    matches
}

fn is_function_name(program: &Program<'_>, name: Node<'_>) -> bool {
    program.parent(name).is_some_and(|it| it.kind() == "function_declaration")
}

fn is_var(program: &Program<'_>, name: Node<'_>) -> bool {
    program.parent(name).is_some_and(|it| it.kind() == "variable_declarator")
}

/// Whether TypeScript merges the declarations.
fn is_type(program: &Program<'_>, name: Node<'_>) -> bool {
    program.ancestors(name).any(|it| {
        matches!(it.kind(), "ambient_declaration" | "internal_module" | "function_signature")
    })
}

/// Loops one after the other use the same counter.
fn is_loop_head(program: &Program<'_>, name: Node<'_>) -> bool {
    program
        .ancestors(name)
        .take(4)
        .any(|it| matches!(it.kind(), "for_statement" | "for_in_statement"))
}

fn same_parameters(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for variable in program.variables().iter().filter(|it| it.declared == Declared::Parameter) {
        let mut in_lists: Vec<usize> = Vec::new();
        for declaration in &variable.declarations {
            let list = program.ancestors(*declaration).find(|it| it.kind() == "formal_parameters");
            let Some(list) = list else { continue };
            if in_lists.contains(&list.id()) && !variable.name.starts_with('_') {
                matches.push(found(*declaration, vec![("NAME", variable.name.to_owned())]));
            }
            in_lists.push(list.id());
        }
    }
    matches
}
