//! Python: statements, imports and which names belong to which function.

mod definitions;
mod expressions;
mod imports;

use super::super::ir::{Case, Catch, ExprId, Expression, Loop, Over, Pattern, Statement, Try};
use super::{Builder, Tree, argument, children, field};
use definitions::{class, function};
use expressions::expression;
use imports::{import, import_from, imported_names};

/// Reads a whole file.
pub(super) fn read(b: &mut Builder<'_>, root: Tree<'_>) {
    declare_bound_names(b, root);
    let body = block(b, root);
    b.finish(body);
}

fn block(b: &mut Builder<'_>, node: Tree<'_>) -> Vec<Statement> {
    let mut body = Vec::new();
    for child in children(node) {
        statement(b, child, &mut body);
    }
    body
}

/// A name that is bound anywhere in a function belongs to it, unless it says `global`.
fn declare_bound_names(b: &mut Builder<'_>, root: Tree<'_>) {
    let mut bound = Vec::new();
    let mut elsewhere = Vec::new();
    let mut pending = children(root);
    while let Some(node) = pending.pop() {
        match node.kind() {
            "global_statement" | "nonlocal_statement" => {
                elsewhere.extend(children(node).into_iter().map(|name| b.slice(name)));
                continue;
            }
            "function_definition" | "class_definition" => {
                bound.extend(field(node, "name"));
                continue;
            }
            "lambda"
            | "list_comprehension"
            | "set_comprehension"
            | "dictionary_comprehension"
            | "generator_expression" => continue,
            "assignment" | "augmented_assignment" | "for_statement" => {
                bound.extend(field(node, "left"));
            }
            "named_expression" => bound.extend(field(node, "name")),
            "as_pattern_target" => bound.extend(children(node)),
            "import_statement" | "import_from_statement" => bound.extend(imported_names(node)),
            _ => {}
        }
        pending.extend(children(node));
    }
    for target in bound {
        for name in target_names(target) {
            let text = b.slice(name);
            if !elsewhere.contains(&text) {
                let name = b.sym(text);
                b.declare(name);
            }
        }
    }
}

/// The plain names in a target.
fn target_names(node: Tree<'_>) -> Vec<Tree<'_>> {
    let mut found = Vec::new();
    let mut pending = vec![node];
    while let Some(node) = pending.pop() {
        match node.kind() {
            "identifier" => found.push(node),
            "pattern_list"
            | "tuple_pattern"
            | "list_pattern"
            | "list_splat_pattern"
            | "tuple"
            | "list"
            | "as_pattern_target"
            | "parenthesized_expression" => {
                pending.extend(children(node));
            }
            _ => {}
        }
    }
    found
}

/// What an assignment binds.
fn pattern(b: &mut Builder<'_>, node: Tree<'_>) -> Pattern {
    match node.kind() {
        "identifier" => {
            let name = b.sym_of(node);
            b.name_target(name)
        }
        "pattern_list" | "tuple_pattern" | "list_pattern" | "tuple" | "list" => b
            .deeper(|b| {
                Pattern::Elements(
                    children(node).into_iter().map(|child| pattern(b, child)).collect(),
                )
            })
            .unwrap_or(Pattern::Ignore),
        "list_splat_pattern" | "as_pattern_target" | "parenthesized_expression" => {
            let rest = node.kind() == "list_splat_pattern";
            match children(node).first() {
                Some(inner) if rest => Pattern::Rest(Box::new(pattern(b, *inner))),
                Some(inner) => pattern(b, *inner),
                None => Pattern::Ignore,
            }
        }
        "attribute" | "subscript" => Pattern::Target(expression(b, node)),
        _ => Pattern::Ignore,
    }
}

fn statement(b: &mut Builder<'_>, node: Tree<'_>, out: &mut Vec<Statement>) {
    b.deeper(|b| shallow_statement(b, node, out));
}

fn shallow_statement(b: &mut Builder<'_>, node: Tree<'_>, out: &mut Vec<Statement>) {
    match node.kind() {
        "expression_statement" | "print_statement" => {
            for child in children(node) {
                let value = expression(b, child);
                out.push(Statement::Expression(value));
            }
        }
        "function_definition" | "class_definition" => definition(b, node, &[], out),
        "decorated_definition" => {
            let mut decorators = Vec::new();
            for child in children(node).into_iter().filter(|child| child.kind() == "decorator") {
                decorators.extend(children(child).first().map(|inner| expression(b, *inner)));
            }
            if let Some(inner) = field(node, "definition") {
                definition(b, inner, &decorators, out);
            }
        }
        "import_statement" => import(b, node, out),
        "import_from_statement" => import_from(b, node, out),
        "delete_statement" => {
            for child in children(node) {
                let value = expression(b, child);
                out.push(Statement::Expression(b.add(Expression::Remove(value), child)));
            }
        }
        "block" => out.extend(block(b, node)),
        _ => control(b, node, out),
    }
}

fn definition(
    b: &mut Builder<'_>,
    node: Tree<'_>,
    decorators: &[ExprId],
    out: &mut Vec<Statement>,
) {
    let Some(name) = field(node, "name") else { return };
    let value = match node.kind() {
        "class_definition" => class(b, node),
        _ => function(b, node, decorators),
    };
    let name = b.sym_of(name);
    let target = b.name_target(name);
    out.push(b.assign(target, value));
}

fn control(b: &mut Builder<'_>, node: Tree<'_>, out: &mut Vec<Statement>) {
    match node.kind() {
        "if_statement" => {
            let branch = if_statement(b, node);
            out.push(branch);
        }
        "for_statement" => {
            let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else {
                return;
            };
            let iterated = expression(b, right);
            let target = pattern(b, left);
            let body = body_of(b, node);
            let over = Some((target, iterated, Over::Elements));
            out.push(Statement::Loop(Box::new(Loop { over, condition: None, update: None, body })));
        }
        "while_statement" => {
            let condition = field(node, "condition").map(|condition| expression(b, condition));
            let body = body_of(b, node);
            out.push(Statement::Loop(Box::new(Loop { over: None, condition, update: None, body })));
        }
        "try_statement" => out.push(try_statement(b, node)),
        "with_statement" => with_statement(b, node, out),
        "match_statement" => out.push(match_statement(b, node)),
        "return_statement" => {
            let value = children(node).first().map(|value| expression(b, *value));
            out.push(Statement::Return(value));
        }
        "raise_statement" => {
            let value = children(node).first().map(|value| expression(b, *value));
            out.push(Statement::Throw(value));
        }
        "assert_statement" => {
            if let Some(condition) = children(node).first() {
                let condition = expression(b, *condition);
                out.push(Statement::Assert(condition));
            }
        }
        "break_statement" => out.push(Statement::Break),
        "continue_statement" => out.push(Statement::Continue),
        _ => {}
    }
}

fn body_of(b: &mut Builder<'_>, node: Tree<'_>) -> Vec<Statement> {
    field(node, "body").map(|body| block(b, body)).unwrap_or_default()
}

/// `if`, with each `elif` inside of the `else` before it.
fn if_statement(b: &mut Builder<'_>, node: Tree<'_>) -> Statement {
    let condition = match field(node, "condition") {
        Some(condition) => expression(b, condition),
        None => b.opaque(node),
    };
    let then = field(node, "consequence").map(|body| block(b, body)).unwrap_or_default();
    let mut cursor = node.walk();
    let others: Vec<Tree<'_>> = node.children_by_field_name("alternative", &mut cursor).collect();
    let mut lowered = Vec::new();
    for other in &others {
        let condition = field(*other, "condition").map(|condition| expression(b, condition));
        let body = field(*other, "consequence").or_else(|| field(*other, "body"));
        lowered.push((condition, body.map(|body| block(b, body)).unwrap_or_default()));
    }
    let mut otherwise = Vec::new();
    for (condition, body) in lowered.into_iter().rev() {
        otherwise = match condition {
            Some(condition) => vec![Statement::If(condition, body, otherwise)],
            None => body,
        };
    }
    Statement::If(condition, then, otherwise)
}

fn try_statement(b: &mut Builder<'_>, node: Tree<'_>) -> Statement {
    let mut body = body_of(b, node);
    let mut catches = Vec::new();
    let mut finally = Vec::new();
    for child in children(node) {
        match child.kind() {
            "except_clause" | "except_group_clause" => {
                let alias = field(child, "value").and_then(|value| field(value, "alias"));
                let caught = alias.map(|alias| pattern(b, alias));
                let inner = children(child).into_iter().find(|part| part.kind() == "block");
                let place = super::place_of(alias.unwrap_or(child));
                let body = inner.map(|inner| block(b, inner)).unwrap_or_default();
                catches.push(Catch { caught, place, body });
            }
            "else_clause" => body.extend(body_of(b, child)),
            "finally_clause" => {
                let inner = children(child).into_iter().find(|part| part.kind() == "block");
                finally = inner.map(|inner| block(b, inner)).unwrap_or_default();
            }
            _ => {}
        }
    }
    Statement::Try(Box::new(Try { body, catches, finally }))
}

fn with_statement(b: &mut Builder<'_>, node: Tree<'_>, out: &mut Vec<Statement>) {
    let clauses = children(node).into_iter().filter(|child| child.kind() == "with_clause");
    for item in clauses.flat_map(children) {
        let Some(value) = field(item, "value") else { continue };
        let (inner, alias) = match value.kind() {
            "as_pattern" => (children(value).first().copied(), field(value, "alias")),
            _ => (Some(value), None),
        };
        let Some(inner) = inner else { continue };
        let value = expression(b, inner);
        match alias {
            Some(alias) => {
                let target = pattern(b, alias);
                out.push(b.assign(target, value));
            }
            None => out.push(Statement::Expression(value)),
        }
    }
    out.extend(body_of(b, node));
}

fn match_statement(b: &mut Builder<'_>, node: Tree<'_>) -> Statement {
    let subject = match field(node, "subject") {
        Some(subject) => expression(b, subject),
        None => b.opaque(node),
    };
    let mut cases = Vec::new();
    for case in field(node, "body").map(children).unwrap_or_default() {
        let mut values = Vec::new();
        for pattern in children(case).into_iter().filter(|part| part.kind() == "case_pattern") {
            literals_in(b, pattern, &mut values);
        }
        let body = field(case, "consequence").map(|body| block(b, body)).unwrap_or_default();
        cases.push(Case { values, body });
    }
    Statement::Switch(subject, cases)
}

fn literals_in(b: &mut Builder<'_>, node: Tree<'_>, out: &mut Vec<ExprId>) {
    for child in children(node) {
        match child.kind() {
            "string" | "integer" => out.push(expression(b, child)),
            "union_pattern" => literals_in(b, child, out),
            _ => {}
        }
    }
}

/// Arguments of a call or items of a list.
fn arguments(b: &mut Builder<'_>, node: Tree<'_>) -> Vec<super::super::ir::Argument> {
    let mut out = Vec::new();
    for child in children(node) {
        let made = match child.kind() {
            "keyword_argument" => {
                let (Some(name), Some(value)) = (field(child, "name"), field(child, "value"))
                else {
                    continue;
                };
                let value = expression(b, value);
                super::super::ir::Argument { value, name: Some(b.sym_of(name)), spread: false }
            }
            "list_splat" | "dictionary_splat" => {
                let Some(inner) = children(child).first().copied() else { continue };
                let value = expression(b, inner);
                super::super::ir::Argument { value, name: None, spread: true }
            }
            _ => argument(expression(b, child)),
        };
        out.push(made);
    }
    out
}
