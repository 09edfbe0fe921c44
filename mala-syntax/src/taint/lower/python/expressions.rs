//! Expressions and literals.

use super::super::super::ir::{
    CallKind, Comprehension, ExprId, Expression, Key, Operator, Pattern,
};
use super::super::{Builder, Tree, argument, children, field, summands, unescape};
use super::definitions::lambda;
use super::{arguments, pattern, target_names};
use std::rc::Rc;

/// Any expression; what is nested too deep is opaque.
pub(super) fn expression(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    match b.deeper(|b| shallow(b, node)) {
        Some(id) => id,
        None => b.opaque(node),
    }
}

fn shallow(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    match node.kind() {
        "identifier" => {
            let name = b.sym_of(node);
            b.name_expression(name, node)
        }
        "string" => string(b, node),
        "concatenated_string" => {
            let parts = children(node).into_iter().map(|part| string(b, part)).collect();
            b.add(Expression::Join(parts), node)
        }
        "integer" | "float" => number(b, node),
        "true" | "false" => b.add(Expression::Bool(node.kind() == "true"), node),
        "none" => b.add(Expression::Null, node),
        "attribute" => {
            let object = part(b, node, "object");
            match field(node, "attribute") {
                Some(name) => {
                    let name = b.sym_of(name);
                    b.add(Expression::Field(object, name), node)
                }
                None => object,
            }
        }
        "subscript" => subscript(b, node),
        "call" => call(b, node),
        "lambda" => lambda(b, node),
        "list" | "tuple" | "set" | "expression_list" => {
            let items = arguments(b, node);
            b.add(Expression::List(items), node)
        }
        "dictionary" => dictionary(b, node),
        "list_comprehension"
        | "set_comprehension"
        | "generator_expression"
        | "dictionary_comprehension" => comprehension(b, node),
        _ => compound(b, node),
    }
}

fn compound(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    match node.kind() {
        "parenthesized_expression" | "await" | "as_pattern" | "list_splat" | "type" => {
            first(b, node)
        }
        "binary_operator" => binary(b, node),
        "boolean_operator" => {
            let operator = field(node, "operator").map_or("", |operator| b.slice(operator));
            let operator = if operator == "and" { Operator::And } else { Operator::Or };
            let sides = (part(b, node, "left"), part(b, node, "right"));
            b.binary(operator, sides, node)
        }
        "not_operator" => {
            let inner = part(b, node, "argument");
            b.add(Expression::Not(inner), node)
        }
        "comparison_operator" => comparison(b, node),
        "conditional_expression" => {
            let parts: Vec<ExprId> =
                children(node).into_iter().map(|part| expression(b, part)).collect();
            match parts.as_slice() {
                [then, condition, otherwise] => {
                    b.add(Expression::Choice(*condition, *then, *otherwise), node)
                }
                _ => b.add(Expression::Opaque(parts), node),
            }
        }
        "assignment" => assignment(b, node),
        "augmented_assignment" => augmented(b, node),
        "named_expression" => {
            let value = part(b, node, "value");
            let target = field(node, "name").map_or(Pattern::Ignore, |name| pattern(b, name));
            b.add(Expression::Assign(Box::new(target), value), node)
        }
        "yield" => {
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

fn first(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    match children(node).first() {
        Some(inner) => expression(b, *inner),
        None => b.opaque(node),
    }
}

/// A text; what is in braces is a part of its own.
fn string(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let start = children(node).first().map_or("", |start| b.slice(*start)).to_lowercase();
    let raw = start.contains('r');
    let mut parts = Vec::new();
    for child in children(node) {
        match child.kind() {
            "string_content" => {
                let text = b.slice(child);
                let value = if raw { text.to_owned() } else { unescape(text) };
                let added = b.text_at(&value, node);
                parts.push(added);
            }
            "interpolation" => parts.push(first(b, child)),
            _ => {}
        }
    }
    match parts.as_slice() {
        [] => b.text_at("", node),
        [only] if matches!(b.program.expression(*only), Expression::Text(_)) => *only,
        _ => b.add(Expression::Join(parts), node),
    }
}

fn number(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let raw: String = b.slice(node).chars().filter(|c| *c != '_').collect();
    let radix = |prefix: &str, radix| {
        raw.strip_prefix(prefix).and_then(|digits| u64::from_str_radix(digits, radix).ok())
    };
    let value = radix("0x", 16).or_else(|| radix("0o", 8)).map(|value| value as f64);
    let value = value.or_else(|| raw.parse().ok()).unwrap_or(f64::NAN);
    b.add(Expression::Number(value), node)
}

fn subscript(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let object = part(b, node, "value");
    let mut cursor = node.walk();
    let indexes: Vec<Tree<'_>> = node.children_by_field_name("subscript", &mut cursor).collect();
    match indexes.as_slice() {
        [only] if only.kind() != "slice" => {
            let index = expression(b, *only);
            b.add(Expression::Element(object, index), node)
        }
        // A slice holds what the whole holds.
        _ => object,
    }
}

fn call(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let Some(callee) = field(node, "function") else { return b.opaque(node) };
    let list = field(node, "arguments");
    let given = match list {
        Some(list) if list.kind() == "argument_list" => arguments(b, list),
        Some(single) => vec![argument(expression(b, single))],
        None => Vec::new(),
    };
    let formats = field(callee, "attribute").is_some_and(|name| b.slice(name) == "format");
    if let (true, Some(object)) = (formats, field(callee, "object"))
        && matches!(object.kind(), "string" | "concatenated_string" | "identifier")
    {
        let format = expression(b, object);
        return b.add(Expression::Format(format, given), node);
    }
    let callee = expression(b, callee);
    b.add(Expression::Call { callee, arguments: given, kind: CallKind::Plain }, node)
}

fn dictionary(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let mut entries = Vec::new();
    for child in children(node) {
        match child.kind() {
            "pair" => {
                let value = part(b, child, "value");
                let key = part(b, child, "key");
                let key = match b.program.expression(key) {
                    Expression::Text(text) => {
                        let text = Rc::clone(text);
                        Key::Name(b.sym(&text))
                    }
                    _ => Key::Computed(key),
                };
                entries.push((key, value));
            }
            "dictionary_splat" => entries.push((Key::Spread, first(b, child))),
            _ => {}
        }
    }
    b.add(Expression::Object(entries), node)
}

fn comprehension(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let made = b.in_scope(|b| {
        let mut made =
            Comprehension { loops: Vec::new(), conditions: Vec::new(), elements: Vec::new() };
        for clause in children(node) {
            match clause.kind() {
                "for_in_clause" => {
                    let (Some(left), Some(right)) = (field(clause, "left"), field(clause, "right"))
                    else {
                        continue;
                    };
                    let iterated = expression(b, right);
                    for name in target_names(left) {
                        let name = b.sym_of(name);
                        b.declare(name);
                    }
                    made.loops.push((pattern(b, left), iterated));
                }
                "if_clause" => {
                    let condition = first(b, clause);
                    made.conditions.push(condition);
                }
                _ => {}
            }
        }
        if let Some(body) = field(node, "body") {
            let elements = if body.kind() == "pair" { children(body) } else { vec![body] };
            made.elements = elements.into_iter().map(|element| expression(b, element)).collect();
        }
        made
    });
    b.add(Expression::Comprehension(Box::new(made)), node)
}

/// Long sums lean to the left; they are read in a loop, not by recursion.
fn binary(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let operator = field(node, "operator").map_or("", |operator| b.slice(operator));
    match operator {
        "+" => sum(b, node),
        "%" => {
            let left = part(b, node, "left");
            let Some(right) = field(node, "right") else { return left };
            let number = matches!(b.program.expression(left), Expression::Number(_));
            let given = match right.kind() {
                "tuple" => arguments(b, right),
                _ => vec![argument(expression(b, right))],
            };
            if number {
                return b
                    .add(Expression::Opaque(given.iter().map(|item| item.value).collect()), node);
            }
            b.add(Expression::Format(left, given), node)
        }
        _ => {
            let sides = (part(b, node, "left"), part(b, node, "right"));
            let operator = if operator == "/" { Operator::Divide } else { Operator::Arithmetic };
            b.binary(operator, sides, node)
        }
    }
}

fn sum(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let parts = summands(b, node, "binary_operator");
    let parts = parts.into_iter().map(|part| expression(b, part)).collect();
    b.add(Expression::Join(parts), node)
}

fn comparison(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let parts: Vec<ExprId> = children(node).into_iter().map(|part| expression(b, part)).collect();
    let mut cursor = node.walk();
    let words: Vec<&str> =
        node.children_by_field_name("operators", &mut cursor).map(|word| b.slice(word)).collect();
    let [left, right] = parts.as_slice() else { return b.add(Expression::Opaque(parts), node) };
    let operator = match words.join(" ").as_str() {
        "==" | "is" => Operator::Equal,
        "!=" | "<>" | "is not" => Operator::NotEqual,
        "<" | "<=" => Operator::Less,
        ">" | ">=" => Operator::Greater,
        "in" => Operator::In,
        "not in" => Operator::NotIn,
        _ => Operator::Arithmetic,
    };
    b.binary(operator, (*left, *right), node)
}

fn assignment(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else {
        return b.opaque(node);
    };
    let value = expression(b, right);
    let target = pattern(b, left);
    b.add(Expression::Assign(Box::new(target), value), node)
}

fn augmented(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else {
        return b.opaque(node);
    };
    let operator = field(node, "operator").map_or("", |operator| b.slice(operator));
    let before = expression(b, left);
    let after = expression(b, right);
    let target = Box::new(pattern(b, left));
    match operator {
        "+=" => b.add(Expression::Append(target, before, after), node),
        "/=" => {
            let value = b.binary(Operator::Divide, (before, after), node);
            b.add(Expression::Assign(target, value), node)
        }
        _ => {
            let value = b.binary(Operator::Arithmetic, (before, after), node);
            b.add(Expression::Assign(target, value), node)
        }
    }
}
