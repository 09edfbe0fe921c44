//! Code that reads differently from what it does: by its indentation, or by a missing semicolon.

use super::{found, short};
use crate::rules::ecmascript::{Program, ProgramCheck};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const INDENTATION: ProgramCheck = ProgramCheck {
    name: "misleading-indentation",
    captures: &["KEYWORD"],
    run: misleading_indentation,
};

pub(in crate::rules::ecmascript) const JOINED_LINES: ProgramCheck = ProgramCheck {
    name: "lines-joined-without-semicolon",
    captures: &["BEFORE"],
    run: joined_lines,
};

fn misleading_indentation(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for node in
        program.of_kinds(&["if_statement", "for_statement", "for_in_statement", "while_statement"])
    {
        let Some(controlled) = controlled(node) else { continue };
        let Some(next) = next_statement(node) else { continue };
        let indents = (indent(program, node), indent(program, controlled), indent(program, next));
        let (Some(outer), Some(inner), Some(following)) = indents else { continue };
        let own_line = controlled.start_position().row > node.start_position().row;
        if own_line && inner == following && inner.len() > outer.len() {
            let keyword = node.kind().split('_').next().unwrap_or_default().to_owned();
            matches.push(found(next, vec![("KEYWORD", keyword)]));
        }
    }
    matches
}

/// The single statement without braces that a head controls.
fn controlled(node: Node<'_>) -> Option<Node<'_>> {
    let body = match node.child_by_field_name("alternative") {
        Some(clause) => clause.named_child(0)?,
        None => {
            node.child_by_field_name("consequence").or_else(|| node.child_by_field_name("body"))?
        }
    };
    (!matches!(body.kind(), "statement_block" | "if_statement" | "empty_statement")).then_some(body)
}

fn next_statement(node: Node<'_>) -> Option<Node<'_>> {
    let next = node.next_named_sibling()?;
    let is_statement = next.kind().ends_with("_statement") || next.kind().ends_with("_declaration");
    (is_statement && next.start_position().row > node.end_position().row).then_some(next)
}

/// The white space before a node that starts its line.
fn indent<'t>(program: &Program<'t>, node: Node<'_>) -> Option<&'t str> {
    let start = node.start_byte();
    let line = start.checked_sub(node.start_position().column)?;
    let before = program.source().text().get(line..start)?;
    before.chars().all(|c| c == ' ' || c == '\t').then_some(before)
}

fn joined_lines(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for node in program.of_kinds(&["call_expression", "subscript_expression"]) {
        let before =
            node.child_by_field_name("function").or_else(|| node.child_by_field_name("object"));
        let Some(before) = before else { continue };
        let opening = match node.child_by_field_name("arguments") {
            Some(arguments) if arguments.kind() == "arguments" => Some(arguments.start_byte()),
            Some(_) => None,
            None => bracket(node).filter(|_| {
                // Only a list has commas; `object\n[name]()` is meant.
                node.child_by_field_name("index")
                    .is_some_and(|it| it.kind() == "sequence_expression")
            }),
        };
        let Some(opening) = opening else { continue };
        let between = program.source().text().get(before.end_byte()..opening).unwrap_or_default();
        let is_odd = between.contains('\n')
            && !between.contains("?.")
            && !between.contains("//")
            && !between.contains('>')
            && matches!(
                before.kind(),
                "identifier"
                    | "call_expression"
                    | "member_expression"
                    | "subscript_expression"
                    | "number"
                    | "string"
                    | "array"
                    | "object"
            );
        if is_odd && starts_statement(program, node, opening) {
            matches.push(found(node, vec![("BEFORE", short(program.text(before)))]));
        }
    }
    matches
}

fn bracket(node: Node<'_>) -> Option<usize> {
    let mut cursor = node.walk();
    node.children(&mut cursor).find(|it| it.kind() == "[").map(|it| it.start_byte())
}

/// Whether the second line is indented like the statement that the first one belongs to.
fn starts_statement<'t>(program: &Program<'t>, node: Node<'t>, opening: usize) -> bool {
    let statement = program
        .ancestors(node)
        .find(|it| it.kind() == "expression_statement" || it.kind().ends_with("_declaration"));
    let Some(statement) = statement else { return false };
    let text = program.source().text();
    let line = text.get(..opening).and_then(|it| it.rfind('\n')).map_or(0, |at| at + 1);
    let own = text.get(line..opening);
    indent(program, statement).is_some_and(|indent| own == Some(indent))
}
