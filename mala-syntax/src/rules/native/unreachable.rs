//! Statements that no execution reaches, because the one before always leaves.

use super::code::{bare, because, found, line, parts};
use super::{CheckFamily, CheckMatch, NativeCheck};
use crate::rules::walk::walk;
use crate::source::Source;
use tree_sitter::Node;

pub(super) const FAMILY: CheckFamily =
    CheckFamily { checks: &[UNREACHABLE], kinds: &BLOCKS, run: unreachable };

const UNREACHABLE: NativeCheck = NativeCheck { name: "unreachable", captures: &["EXIT", "LINE"] };

const BLOCKS: [&str; 12] = [
    "case_statement",
    "default_statement",
    "switch_section",
    "block",
    "statement_block",
    "module",
    "program",
    "statement_list",
    "switch_case",
    "switch_default",
    "constructor_body",
    "compound_statement",
];

const IFS: [&str; 2] = ["if_statement", "if_expression"];

const LEAVING: [&str; 14] = [
    "throw_expression",
    "exit_statement",
    "return_statement",
    "raise_statement",
    "throw_statement",
    "break_statement",
    "continue_statement",
    "return_expression",
    "break_expression",
    "continue_expression",
    "goto_statement",
    "jump_statement",
    "co_return_statement",
    "fallthrough_statement",
];

/// Declarations that have an effect anywhere, and statements without an effect.
const HARMLESS: [&str; 29] = [
    "pass_statement",
    "local_function_statement",
    "foreign_mod_item",
    "function_declaration",
    "generator_function_declaration",
    "interface_declaration",
    "type_alias_declaration",
    "class_declaration",
    "import_statement",
    "export_statement",
    "empty_statement",
    "function_item",
    "struct_item",
    "enum_item",
    "impl_item",
    "trait_item",
    "const_item",
    "static_item",
    "use_declaration",
    "mod_item",
    "type_item",
    "macro_definition",
    "attribute_item",
    "inner_attribute_item",
    "labeled_statement",
    "case_statement",
    "type_declaration",
    "function_signature",
    "ambient_declaration",
];

fn unreachable(source: &Source, nodes: &[Node<'_>]) -> Vec<CheckMatch> {
    nodes.iter().filter_map(|block| after_exit(source, *block)).collect()
}

fn after_exit(source: &Source, block: Node<'_>) -> Option<CheckMatch> {
    let statements = statements(block);
    let exit = statements.iter().position(|statement| leaves(source, *statement))?;
    let is_conditional = exit.checked_sub(1).is_some_and(|before| {
        statements.get(before).is_some_and(|before| before.kind() == "attribute_item")
    });
    let rest = statements.get(exit + 1..).unwrap_or_default();
    let exit = statements.get(exit)?;
    let dead =
        rest.iter().find(|it| !HARMLESS.contains(&it.kind()) && source.slice(**it) != ";")?;
    // A file that raises at the top level is not meant to be loaded.
    let may_be_meant = is_conditional
        || block.kind() == "module"
        || rest.iter().any(|it| may_be_entered(*it) || holds_yield(*it))
        || ends_formally(source, *exit, *dead);
    if may_be_meant {
        return None;
    }
    let word = source.slice(*exit).split_whitespace().next().unwrap_or_default();
    let word = word.split(['(', ';']).next().unwrap_or(word).to_owned();
    let captures = vec![("EXIT", word), ("LINE", line(*exit))];
    Some(because(found(&UNREACHABLE, *dead, captures), *exit))
}

/// The statements of a block; of a case, without its label.
fn statements(block: Node<'_>) -> Vec<Node<'_>> {
    let value = block.child_by_field_name("value").map(|value| value.id());
    parts(block).into_iter().filter(|part| Some(part.id()) != value).collect()
}

/// Whether control never gets past a statement.
fn leaves(source: &Source, statement: Node<'_>) -> bool {
    let statement = unwrapped(statement);
    let kind = statement.kind();
    if LEAVING.contains(&kind) || panics(source, statement) {
        return true;
    }
    if !IFS.contains(&kind) {
        return false;
    }
    let mut cursor = statement.walk();
    let others: Vec<_> = statement.children_by_field_name("alternative", &mut cursor).collect();
    let ends_in_else =
        others.last().is_some_and(|last| last.child_by_field_name("condition").is_none());
    let field = |name| statement.child_by_field_name(name);
    let consequence = field("consequence").or_else(|| field("body"));
    ends_in_else
        && consequence.is_some_and(|body| body_leaves(source, body))
        && others.iter().all(|other| body_leaves(source, branch_body(*other)))
}

/// Whether the last statement of a body leaves it. Nested ifs are not followed, so that deep
/// nesting stays cheap.
fn body_leaves(source: &Source, body: Node<'_>) -> bool {
    let last = match body.kind() {
        "block" | "statement_block" | "compound_statement" => {
            let inner = parts(body);
            match inner.last() {
                Some(list) if list.kind() == "statement_list" => parts(*list).last().copied(),
                last => last.copied(),
            }
        }
        _ => Some(body),
    };
    last.is_some_and(|last| {
        let last = unwrapped(last);
        LEAVING.contains(&last.kind()) || panics(source, last)
    })
}

fn branch_body(alternative: Node<'_>) -> Node<'_> {
    let field = |name| alternative.child_by_field_name(name);
    if alternative.kind() == "else_clause" {
        let inner = field("body").or_else(|| parts(alternative).first().copied());
        return inner.unwrap_or(alternative);
    }
    field("consequence").or_else(|| field("body")).unwrap_or(alternative)
}

fn unwrapped(statement: Node<'_>) -> Node<'_> {
    match parts(statement).as_slice() {
        [only] if statement.kind() == "expression_statement" => bare(*only),
        _ => statement,
    }
}

/// `panic!(…)` in Rust, `panic(…)` in Go.
fn panics(source: &Source, statement: Node<'_>) -> bool {
    match statement.kind() {
        "macro_invocation" => statement
            .child_by_field_name("macro")
            .is_some_and(|name| matches!(source.slice(name), "panic" | "unreachable" | "bail")),
        "call_expression" => statement.child_by_field_name("function").is_some_and(|name| {
            source.slice(name) == "panic"
                && source.language() == mala_domain::language::Language::Go
        }),
        _ => false,
    }
}

/// Whether a statement can be entered from elsewhere, or may not be compiled at all.
fn may_be_entered(statement: Node<'_>) -> bool {
    matches!(statement.kind(), "labeled_statement" | "named_label_statement")
        || statement.kind().starts_with("preproc_")
}

/// A `yield` that is never reached still makes a function a generator.
fn holds_yield(statement: Node<'_>) -> bool {
    let mut found = false;
    walk(statement, None, |node| found |= matches!(node.kind(), "yield" | "yield_expression"));
    found
}

/// Whether unreachable code is intended for readers and compilers: `return x; break;` in a case,
/// and a return after a panic or after branches that all leave.
fn ends_formally(source: &Source, exit: Node<'_>, dead: Node<'_>) -> bool {
    let dead = unwrapped(dead);
    let exit = unwrapped(exit);
    dead.kind() == "break_statement"
        || source.slice(dead).to_ascii_lowercase().contains("unreachable")
        || (LEAVING.contains(&dead.kind()) && (panics(source, exit) || IFS.contains(&exit.kind())))
        || (dead.kind() == "return_statement"
            && exit.kind() == "throw_statement"
            && parts(dead).is_empty())
}
