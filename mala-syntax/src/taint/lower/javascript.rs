//! JavaScript, TypeScript and their markup: statements, modules and what is declared before it runs.

mod expressions;
mod functions;
mod literals;
mod modules;

use super::super::ir::{Case, Catch, Expression, Key, Loop, Over, Pattern, Statement, Try};
use super::{Builder, Tree, children, field};
use expressions::expression;
use functions::{class, function, pattern};
use modules::{export, import, imported_names};

/// Reads a whole file.
pub(super) fn read(b: &mut Builder<'_>, root: Tree<'_>) {
    hoist_variables(b, root);
    let body = block(b, &children(root));
    b.finish(body);
}

/// Statements of one block, with its functions declared and defined first.
fn block(b: &mut Builder<'_>, nodes: &[Tree<'_>]) -> Vec<Statement> {
    for node in nodes {
        hoist_block_names(b, declared(*node));
    }
    let mut body = Vec::with_capacity(nodes.len());
    for node in nodes {
        if is_function(declared(*node)) {
            statement(b, *node, &mut body);
        }
    }
    for node in nodes {
        if !is_function(declared(*node)) {
            statement(b, *node, &mut body);
        }
    }
    body
}

/// The declaration in an `export`, or the statement itself.
fn declared(node: Tree<'_>) -> Tree<'_> {
    match node.kind() {
        "export_statement" | "ambient_declaration" => field(node, "declaration").unwrap_or(node),
        _ => node,
    }
}

fn is_function(node: Tree<'_>) -> bool {
    matches!(node.kind(), "function_declaration" | "generator_function_declaration")
}

/// `let`, `const`, classes and functions belong to their block.
fn hoist_block_names(b: &mut Builder<'_>, node: Tree<'_>) {
    match node.kind() {
        "function_declaration"
        | "generator_function_declaration"
        | "class_declaration"
        | "abstract_class_declaration" => {
            if let Some(name) = field(node, "name") {
                let name = b.sym_of(name);
                b.declare(name);
            }
        }
        "lexical_declaration" => {
            for declarator in children(node) {
                if let Some(name) = field(declarator, "name") {
                    declare_names(b, name, Builder::declare);
                }
            }
        }
        "import_statement" => {
            for name in imported_names(node) {
                let name = b.sym_of(name);
                b.declare(name);
            }
        }
        _ => {}
    }
}

/// `var` belongs to the whole function, wherever in it it stands.
fn hoist_variables(b: &mut Builder<'_>, root: Tree<'_>) {
    let mut pending = vec![root];
    while let Some(node) = pending.pop() {
        if node.kind() == "variable_declaration" {
            for declarator in children(node) {
                if let Some(name) = field(declarator, "name") {
                    declare_names(b, name, Builder::declare_in_function);
                }
            }
        } else if node.kind() == "for_in_statement"
            && field(node, "kind").is_some_and(|kind| b.slice(kind) == "var")
            && let Some(left) = field(node, "left")
        {
            declare_names(b, left, Builder::declare_in_function);
        }
        pending.extend(children(node).into_iter().filter(|child| may_hold_statements(*child)));
    }
}

fn may_hold_statements(node: Tree<'_>) -> bool {
    let kind = node.kind();
    kind.ends_with("statement") && kind != "expression_statement" && kind != "return_statement"
        || matches!(
            kind,
            "variable_declaration"
                | "statement_block"
                | "else_clause"
                | "catch_clause"
                | "finally_clause"
                | "switch_body"
                | "switch_case"
                | "switch_default"
        )
}

/// Declares every name that a pattern binds.
fn declare_names<'s, R>(
    b: &mut Builder<'s>,
    node: Tree<'_>,
    declare: fn(&mut Builder<'s>, super::Sym) -> R,
) {
    let mut pending = vec![node];
    while let Some(node) = pending.pop() {
        match node.kind() {
            "identifier" | "shorthand_property_identifier_pattern" => {
                let name = b.sym_of(node);
                declare(b, name);
            }
            "pair_pattern" => pending.extend(field(node, "value")),
            "assignment_pattern" | "object_assignment_pattern" => {
                pending.extend(field(node, "left"))
            }
            "object_pattern" | "array_pattern" | "rest_pattern" => pending.extend(children(node)),
            _ => {}
        }
    }
}

fn statement(b: &mut Builder<'_>, node: Tree<'_>, out: &mut Vec<Statement>) {
    b.deeper(|b| shallow_statement(b, node, out));
}

fn shallow_statement(b: &mut Builder<'_>, node: Tree<'_>, out: &mut Vec<Statement>) {
    match node.kind() {
        "expression_statement" => {
            for child in children(node) {
                let value = expression(b, child);
                out.push(Statement::Expression(value));
            }
        }
        "variable_declaration" | "lexical_declaration" => declarations(b, node, out),
        "function_declaration" | "generator_function_declaration" => {
            if let Some(name) = field(node, "name") {
                let name = b.sym_of(name);
                let target = Pattern::Variable(b.declare(name));
                let value = function(b, node, None);
                out.push(b.assign(target, value));
            }
        }
        "class_declaration" | "abstract_class_declaration" => {
            let value = class(b, node);
            if let Some(name) = field(node, "name") {
                let name = b.sym_of(name);
                let target = Pattern::Variable(b.declare(name));
                out.push(b.assign(target, value));
            }
        }
        "statement_block" | "class_static_block" => {
            out.push(Statement::Block(b.in_scope(|b| block(b, &children(node)))));
        }
        "import_statement" => import(b, node, out),
        "export_statement" => export(b, node, out),
        "internal_module" | "module" | "ambient_declaration" => {
            if let Some(body) = field(node, "body") {
                let inner = b.in_scope(|b| block(b, &children(body)));
                out.push(Statement::Block(inner));
            }
        }
        _ => control(b, node, out),
    }
}

fn control(b: &mut Builder<'_>, node: Tree<'_>, out: &mut Vec<Statement>) {
    match node.kind() {
        "if_statement" => {
            let condition = needed(b, node, "condition");
            let then = body_of(b, field(node, "consequence"));
            let otherwise = body_of(b, field(node, "alternative"));
            out.push(Statement::If(condition, then, otherwise));
        }
        "for_statement" | "for_in_statement" | "while_statement" | "do_statement" => {
            let inner = b.in_scope(|b| loop_statement(b, node));
            out.push(Statement::Block(inner));
        }
        "switch_statement" => out.push(switch(b, node)),
        "try_statement" => out.push(try_statement(b, node)),
        "return_statement" => {
            let value = children(node).first().map(|value| expression(b, *value));
            out.push(Statement::Return(value));
        }
        "throw_statement" => {
            let value = children(node).first().map(|value| expression(b, *value));
            out.push(Statement::Throw(value));
        }
        "break_statement" => out.push(Statement::Break),
        "continue_statement" => out.push(Statement::Continue),
        "labeled_statement" | "with_statement" => {
            if let Some(body) = field(node, "body") {
                statement(b, body, out);
            }
        }
        _ => {}
    }
}

fn needed(b: &mut Builder<'_>, node: Tree<'_>, name: &str) -> super::ExprId {
    match field(node, name) {
        Some(child) => expression(b, child),
        None => b.opaque(node),
    }
}

/// The statements of a branch or a loop body, whether or not it has braces.
fn body_of(b: &mut Builder<'_>, node: Option<Tree<'_>>) -> Vec<Statement> {
    let Some(node) = node else { return Vec::new() };
    b.in_scope(|b| match node.kind() {
        "statement_block" | "else_clause" => block(b, &children(node)),
        _ => block(b, &[node]),
    })
}

fn declarations(b: &mut Builder<'_>, node: Tree<'_>, out: &mut Vec<Statement>) {
    for declarator in children(node) {
        let (Some(name), Some(value)) = (field(declarator, "name"), field(declarator, "value"))
        else {
            continue;
        };
        let value = expression(b, value);
        let value = functions::named(b, name, value);
        let target = pattern(b, name);
        let place = super::place_of(declarator);
        let assign = b.add_at(Expression::Assign(Box::new(target), value), place);
        out.push(Statement::Expression(assign));
    }
}

fn loop_statement(b: &mut Builder<'_>, node: Tree<'_>) -> Vec<Statement> {
    let mut out = Vec::new();
    if node.kind() == "for_in_statement" {
        let over = for_in(b, node);
        let body = body_of(b, field(node, "body"));
        out.push(Statement::Loop(Box::new(Loop { over, condition: None, update: None, body })));
        return out;
    }
    if let Some(start) = field(node, "initializer") {
        hoist_block_names(b, start);
        if start.kind().ends_with("declaration") {
            statement(b, start, &mut out);
        } else if start.kind() != "empty_statement" {
            let inner = if start.kind() == "expression_statement" {
                children(start).first().copied()
            } else {
                Some(start)
            };
            if let Some(inner) = inner {
                let value = expression(b, inner);
                out.push(Statement::Expression(value));
            }
        }
    }
    let condition = field(node, "condition").and_then(|condition| match condition.kind() {
        "empty_statement" => None,
        "expression_statement" => children(condition).first().map(|inner| expression(b, *inner)),
        _ => Some(expression(b, condition)),
    });
    let update = field(node, "increment").map(|update| expression(b, update));
    let body = body_of(b, field(node, "body"));
    out.push(Statement::Loop(Box::new(Loop { over: None, condition, update, body })));
    out
}

fn for_in(b: &mut Builder<'_>, node: Tree<'_>) -> Option<(Pattern, super::ExprId, Over)> {
    let (left, right) = (field(node, "left")?, field(node, "right")?);
    let iterated = expression(b, right);
    if field(node, "kind").is_some_and(|kind| b.slice(kind) != "var") {
        declare_names(b, left, Builder::declare);
    }
    let target = pattern(b, left);
    let keys = field(node, "operator").is_some_and(|operator| b.slice(operator) == "in");
    Some((target, iterated, if keys { Over::Keys } else { Over::Elements }))
}

fn switch(b: &mut Builder<'_>, node: Tree<'_>) -> Statement {
    let subject = needed(b, node, "value");
    let mut cases = Vec::new();
    b.in_scope(|b| {
        for case in field(node, "body").map(children).unwrap_or_default() {
            let values = field(case, "value").map(|value| expression(b, value));
            let skip = usize::from(values.is_some());
            let inner: Vec<Tree<'_>> = children(case).into_iter().skip(skip).collect();
            cases.push(Case { values: values.into_iter().collect(), body: block(b, &inner) });
        }
    });
    Statement::Switch(subject, cases)
}

fn try_statement(b: &mut Builder<'_>, node: Tree<'_>) -> Statement {
    let body = body_of(b, field(node, "body"));
    let mut catches = Vec::new();
    if let Some(handler) = field(node, "handler") {
        b.in_scope(|b| {
            let parameter = field(handler, "parameter").map(|parameter| {
                declare_names(b, parameter, Builder::declare);
                pattern(b, parameter)
            });
            let place = super::place_of(field(handler, "parameter").unwrap_or(handler));
            let body = body_of(b, field(handler, "body"));
            catches.push(Catch { caught: parameter, place, body });
        });
    }
    let finally = body_of(b, field(node, "finalizer").and_then(|clause| field(clause, "body")));
    Statement::Try(Box::new(Try { body, catches, finally }))
}

/// Whether an object key is a plain name.
fn key(b: &mut Builder<'_>, node: Tree<'_>) -> Key {
    match node.kind() {
        "property_identifier"
        | "private_property_identifier"
        | "number"
        | "shorthand_property_identifier" => Key::Name(b.sym_of(node)),
        "string" => {
            let text = super::unescape(b.slice(node).trim_matches(['"', '\'']));
            Key::Name(b.sym(&text))
        }
        _ => match children(node).first() {
            Some(inner) => Key::Computed(expression(b, *inner)),
            None => Key::Name(b.sym_of(node)),
        },
    }
}
