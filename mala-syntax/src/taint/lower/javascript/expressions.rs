//! Expressions, literals and markup.

use super::super::super::ir::{Argument, CallKind, ExprId, Expression, Key, Operator, Pattern};
use super::super::{Builder, Tree, argument, children, field, summands};
use super::functions::{class, function, method, named, pattern};
use super::key;
use super::literals::{markup, number, regex, template, template_parts, text};

/// Any expression; what is nested too deep is opaque.
pub(super) fn expression(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    match b.deeper(|b| shallow(b, node)) {
        Some(id) => id,
        None => b.opaque(node),
    }
}

fn shallow(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    match node.kind() {
        "identifier" | "shorthand_property_identifier" | "undefined" => name(b, node),
        "this" => receiver(b, node),
        "string" => text(b, node),
        "template_string" => template(b, node),
        "number" => number(b, node),
        "true" | "false" => b.add(Expression::Bool(node.kind() == "true"), node),
        "null" => b.add(Expression::Null, node),
        "regex" => regex(b, node),
        "member_expression" => member(b, node),
        "subscript_expression" => subscript(b, node),
        "call_expression" => call(b, node),
        "new_expression" => creation(b, node),
        "function_expression" | "arrow_function" | "generator_function" | "function" => {
            function(b, node, None)
        }
        "class" => class(b, node),
        "object" => object(b, node),
        "array" => {
            let items = arguments(b, node);
            b.add(Expression::List(items), node)
        }
        "import" => {
            let name = b.sym("import");
            b.add(Expression::Global(name), node)
        }
        "jsx_element" | "jsx_self_closing_element" | "jsx_fragment" => markup(b, node),
        _ => compound(b, node),
    }
}

fn compound(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    match node.kind() {
        "parenthesized_expression"
        | "await_expression"
        | "as_expression"
        | "satisfies_expression"
        | "non_null_expression"
        | "jsx_expression"
        | "instantiation_expression"
        | "spread_element" => first(b, node),
        "type_assertion" => match children(node).last() {
            Some(inner) => expression(b, *inner),
            None => b.opaque(node),
        },
        "sequence_expression" => sequence(b, node),
        "binary_expression" => binary(b, node),
        "unary_expression" => unary(b, node),
        "ternary_expression" => {
            let condition = part(b, node, "condition");
            let then = part(b, node, "consequence");
            let otherwise = part(b, node, "alternative");
            b.add(Expression::Choice(condition, then, otherwise), node)
        }
        "assignment_expression" => assignment(b, node),
        "augmented_assignment_expression" => augmented(b, node),
        "yield_expression" => {
            let inner = first(b, node);
            b.add(Expression::Yield(inner), node)
        }
        _ => {
            let parts = children(node).into_iter().map(|child| expression(b, child)).collect();
            b.add(Expression::Opaque(parts), node)
        }
    }
}

fn part(b: &mut Builder<'_>, node: Tree<'_>, name: &str) -> ExprId {
    match field(node, name) {
        Some(child) => expression(b, child),
        None => b.opaque(node),
    }
}

pub(super) fn first(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    match children(node).first() {
        Some(inner) => expression(b, *inner),
        None => b.opaque(node),
    }
}

fn name(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    if b.slice(node) == "undefined" {
        return b.add(Expression::Null, node);
    }
    let name = b.sym_of(node);
    b.name_expression(name, node)
}

fn receiver(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    match b.receivers.last().copied().flatten() {
        Some(variable) => b.add(Expression::Variable(variable), node),
        None => {
            let name = b.sym("this");
            b.add(Expression::Global(name), node)
        }
    }
}

fn member(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let object = part(b, node, "object");
    match field(node, "property") {
        Some(property) => {
            let name = b.sym_of(property);
            b.add(Expression::Field(object, name), node)
        }
        None => b.add(Expression::Opaque(vec![object]), node),
    }
}

fn subscript(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let object = part(b, node, "object");
    let index = part(b, node, "index");
    b.add(Expression::Element(object, index), node)
}

/// Arguments of a call, or items of an array.
fn arguments(b: &mut Builder<'_>, node: Tree<'_>) -> Vec<Argument> {
    children(node)
        .into_iter()
        .map(|child| {
            let value = expression(b, child);
            Argument { value, name: None, spread: child.kind() == "spread_element" }
        })
        .collect()
}

fn call(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    // The grammar reads `await (x).y` as a call of something named `await`.
    if field(node, "function").is_some_and(|callee| b.slice(callee) == "await") {
        return first(b, field(node, "arguments").unwrap_or(node));
    }
    let callee = match field(node, "function") {
        Some(callee) => expression(b, compiled_callee(callee)),
        None => b.opaque(node),
    };
    let arguments = match field(node, "arguments") {
        Some(list) if list.kind() == "template_string" => tagged(b, list),
        Some(list) => arguments(b, list),
        None => Vec::new(),
    };
    b.add(Expression::Call { callee, arguments, kind: CallKind::Plain }, node)
}

/// Compilers write `(0, x.y)(...)` for `y(...)`.
fn compiled_callee(callee: Tree<'_>) -> Tree<'_> {
    let wrapped = callee.kind() == "parenthesized_expression";
    let inner = children(callee).first().copied().filter(|_| wrapped);
    match inner.filter(|inner| inner.kind() == "sequence_expression").map(children).as_deref() {
        Some([first, last]) if first.kind() == "number" => *last,
        _ => callee,
    }
}

/// A tagged template is a call with its first piece of text and all that is put in.
fn tagged(b: &mut Builder<'_>, node: Tree<'_>) -> Vec<Argument> {
    let mut parts = template_parts(b, node);
    let starts_with_text = parts
        .first()
        .is_some_and(|part| matches!(b.program.expression(*part), Expression::Text(_)));
    if !starts_with_text {
        let empty = b.text_at("", node);
        parts.insert(0, empty);
    }
    parts.into_iter().map(argument).collect()
}

fn creation(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let callee = part(b, node, "constructor");
    let arguments = field(node, "arguments").map(|list| arguments(b, list)).unwrap_or_default();
    b.add(Expression::Call { callee, arguments, kind: CallKind::Creation }, node)
}

fn object(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let label = b.sym("this");
    let owner = b.current_function();
    let instance = b.fresh(label, owner);
    let mut entries = Vec::new();
    for child in children(node) {
        let entry = match child.kind() {
            "pair" => {
                let Some(name) = field(child, "key") else { continue };
                let name_key = key(b, name);
                let value = field(child, "value").map(|value| match value.kind() {
                    "function_expression" => function(b, value, Some(instance)),
                    _ => expression(b, value),
                });
                value.map(|value| (name_key, value))
            }
            "shorthand_property_identifier" => {
                let value = expression(b, child);
                Some((Key::Name(b.sym_of(child)), value))
            }
            "method_definition" => {
                let Some(name) = field(child, "name") else { continue };
                let name = key(b, name);
                Some((name, method(b, child, instance)))
            }
            "spread_element" => Some((Key::Spread, first(b, child))),
            _ => None,
        };
        entries.extend(entry);
    }
    b.add(Expression::Object(entries), node)
}

fn sequence(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let parts: Vec<ExprId> = children(node).into_iter().map(|child| expression(b, child)).collect();
    let Some((last, before)) = parts.split_last() else { return b.opaque(node) };
    let condition = b.add(Expression::Opaque(before.to_vec()), node);
    b.add(Expression::Choice(condition, *last, *last), node)
}

/// Long sums lean to the left; they are read in a loop, not by recursion.
fn binary(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let operator = field(node, "operator").map_or("", |operator| b.slice(operator));
    if operator == "+" {
        return sum(b, node);
    }
    let left = part(b, node, "left");
    let right = part(b, node, "right");
    let operator = match operator {
        "==" | "===" => Operator::Equal,
        "!=" | "!==" => Operator::NotEqual,
        "<" | "<=" => Operator::Less,
        ">" | ">=" => Operator::Greater,
        "in" => Operator::In,
        "instanceof" => Operator::InstanceOf,
        "&&" => Operator::And,
        "||" => Operator::Or,
        "??" => Operator::Coalesce,
        "%" => Operator::Remainder,
        "/" => Operator::Divide,
        _ => Operator::Arithmetic,
    };
    b.binary(operator, (left, right), node)
}

fn sum(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let parts = summands(b, node, "binary_expression");
    let parts = parts.into_iter().map(|part| expression(b, part)).collect();
    b.add(Expression::Join(parts), node)
}

fn unary(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let inner = part(b, node, "argument");
    match field(node, "operator").map_or("", |operator| b.slice(operator)) {
        "!" => b.add(Expression::Not(inner), node),
        "typeof" => b.add(Expression::TypeOf(inner), node),
        "delete" => b.add(Expression::Remove(inner), node),
        "-" => match b.program.expression(inner) {
            Expression::Number(value) => {
                let value = -value;
                b.add(Expression::Number(value), node)
            }
            _ => b.add(Expression::Opaque(vec![inner]), node),
        },
        _ => b.add(Expression::Opaque(vec![inner]), node),
    }
}

fn assignment(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else {
        return b.opaque(node);
    };
    let value = match prototype_of(b, left) {
        Some(class) if right.kind() == "function_expression" => {
            let instance = b.instance_of(class);
            function(b, right, Some(instance))
        }
        _ => expression(b, right),
    };
    let value = named(b, left, value);
    let target = pattern(b, left);
    b.add(Expression::Assign(Box::new(target), value), node)
}

/// `X` in `X.prototype.y`.
fn prototype_of(b: &mut Builder<'_>, target: Tree<'_>) -> Option<super::super::Sym> {
    let object = field(target, "object").filter(|_| target.kind() == "member_expression")?;
    let is_prototype =
        field(object, "property").is_some_and(|property| b.slice(property) == "prototype");
    let class =
        field(object, "object").filter(|class| is_prototype && class.kind() == "identifier")?;
    Some(b.sym_of(class))
}

fn augmented(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else {
        return b.opaque(node);
    };
    let operator = field(node, "operator").map_or("", |operator| b.slice(operator));
    let before = expression(b, left);
    let after = expression(b, right);
    let target: Box<Pattern> = Box::new(pattern(b, left));
    let logic = match operator {
        "||=" => Some(Operator::Or),
        "&&=" => Some(Operator::And),
        "??=" => Some(Operator::Coalesce),
        _ => None,
    };
    match (operator, logic) {
        ("+=", _) => b.add(Expression::Append(target, before, after), node),
        (_, Some(logic)) => {
            let value = b.binary(logic, (before, after), node);
            b.add(Expression::Assign(target, value), node)
        }
        _ => {
            let value = b.binary(Operator::Arithmetic, (before, after), node);
            b.add(Expression::Assign(target, value), node)
        }
    }
}
