//! Functions, classes and the patterns that parameters and declarations bind.

use super::super::super::ir::{
    ExprId, Expression, FieldPattern, Function, Key, Member, Parameter, Pattern, Statement, Sym,
    VarId,
};
use super::super::{Builder, Tree, children, field, place_of};
use super::{block, declare_names, expression, hoist_variables, key};

/// A function of any form as an expression.
pub(super) fn function(b: &mut Builder<'_>, node: Tree<'_>, receiver: Option<VarId>) -> ExprId {
    let name = field(node, "name").map(|name| b.sym_of(name));
    let arrow = node.kind() == "arrow_function";
    let receiver = match (receiver, name) {
        (Some(receiver), _) => Some(receiver),
        (None, _) if arrow => b.receivers.last().copied().flatten(),
        (None, Some(name)) => Some(b.instance_of(name)),
        (None, None) => None,
    };
    let id = b.function(node, receiver, |b, made| {
        made.name = name;
        if !arrow {
            let arguments = b.sym("arguments");
            made.all_arguments = Some(b.declare(arguments));
        }
        if let (Some(name), "function_expression") = (name, node.kind()) {
            // Inside, its own name is itself; calls by that name are recursion and add nothing.
            b.declare(name);
        }
        parameters(b, node, made);
        body(b, node, made);
    });
    b.add(Expression::Function(id), node)
}

fn parameters(b: &mut Builder<'_>, node: Tree<'_>, made: &mut Function) {
    if let Some(single) = field(node, "parameter") {
        declare_names(b, single, Builder::redeclare);
        let made_parameter = plain_parameter(b, single);
        made.parameters.push(made_parameter);
        return;
    }
    let list = field(node, "parameters").map(children).unwrap_or_default();
    for parameter in list {
        let inner = field(parameter, "pattern").unwrap_or(parameter);
        if inner.kind() == "this" {
            continue;
        }
        declare_names(b, inner, Builder::redeclare);
        let mut made_parameter = plain_parameter(b, inner);
        made_parameter.declared =
            field(parameter, "type").and_then(|declared| type_path(b, declared));
        if let Some(default) = field(parameter, "value") {
            made_parameter.default = Some(expression(b, default));
        }
        made.parameters.push(made_parameter);
    }
}

fn plain_parameter(b: &mut Builder<'_>, node: Tree<'_>) -> Parameter {
    let (inner, default) = match node.kind() {
        "assignment_pattern" => (
            field(node, "left").unwrap_or(node),
            field(node, "right").map(|value| expression(b, value)),
        ),
        _ => (node, None),
    };
    let rest = inner.kind() == "rest_pattern";
    let inner = if rest { children(inner).first().copied().unwrap_or(inner) } else { inner };
    let name = (inner.kind() == "identifier").then(|| b.sym_of(inner));
    let bound = pattern(b, inner);
    let place = place_of(node);
    Parameter {
        place,
        pattern: bound,
        name,
        default,
        declared: None,
        annotations: Vec::new(),
        rest,
    }
}

/// The first named type in an annotation, as a name or a path.
pub(super) fn type_path(b: &mut Builder<'_>, node: Tree<'_>) -> Option<ExprId> {
    let mut pending = vec![node];
    while let Some(node) = pending.pop() {
        match node.kind() {
            "type_identifier" | "identifier" | "predefined_type" => {
                let name = b.sym_of(node);
                return Some(b.name_expression(name, node));
            }
            "nested_type_identifier" | "nested_identifier" => {
                let module = field(node, "module").or_else(|| field(node, "object"))?;
                let module = type_path(b, module)?;
                let name = field(node, "name").or_else(|| field(node, "property"))?;
                let name = b.sym_of(name);
                return Some(b.add(Expression::Field(module, name), node));
            }
            "type_annotation" | "generic_type" | "readonly_type" | "parenthesized_type" => {
                pending.extend(children(node).first());
            }
            "union_type" => pending.extend(children(node)),
            _ => {}
        }
    }
    None
}

fn body(b: &mut Builder<'_>, node: Tree<'_>, made: &mut Function) {
    let Some(inner) = field(node, "body") else { return };
    if inner.kind() == "statement_block" {
        hoist_variables(b, inner);
        made.body = block(b, &children(inner));
    } else {
        let value = expression(b, inner);
        made.body = vec![Statement::Return(Some(value))];
    }
}

/// What a declaration, an assignment or a parameter binds; its names are declared already.
pub(super) fn pattern(b: &mut Builder<'_>, node: Tree<'_>) -> Pattern {
    b.deeper(|b| shallow_pattern(b, node)).unwrap_or(Pattern::Ignore)
}

fn shallow_pattern(b: &mut Builder<'_>, node: Tree<'_>) -> Pattern {
    match node.kind() {
        "identifier" | "shorthand_property_identifier_pattern" => {
            let name = b.sym_of(node);
            b.name_target(name)
        }
        "object_pattern" => Pattern::Fields(
            children(node).into_iter().map(|child| field_pattern(b, child)).collect(),
        ),
        "array_pattern" => array_pattern(b, node),
        "assignment_pattern" | "object_assignment_pattern" => {
            let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else {
                return Pattern::Ignore;
            };
            let default = expression(b, right);
            Pattern::Default(Box::new(pattern(b, left)), default)
        }
        "rest_pattern" => match children(node).first() {
            Some(inner) => Pattern::Rest(Box::new(pattern(b, *inner))),
            None => Pattern::Ignore,
        },
        "member_expression" | "subscript_expression" => Pattern::Target(expression(b, node)),
        "parenthesized_expression" | "non_null_expression" | "as_expression" => {
            match children(node).first() {
                Some(inner) => pattern(b, *inner),
                None => Pattern::Ignore,
            }
        }
        _ => Pattern::Ignore,
    }
}

/// Items of an array pattern; a hole counts as one.
fn array_pattern(b: &mut Builder<'_>, node: Tree<'_>) -> Pattern {
    let mut items = Vec::new();
    let mut cursor = node.walk();
    let mut open = true;
    for child in node.children(&mut cursor) {
        match child.kind() {
            "," => {
                if open {
                    items.push(Pattern::Ignore);
                }
                open = true;
            }
            "[" | "]" => {}
            _ if child.is_extra() => {}
            _ => {
                items.push(pattern(b, child));
                open = false;
            }
        }
    }
    Pattern::Elements(items)
}

fn field_pattern(b: &mut Builder<'_>, node: Tree<'_>) -> FieldPattern {
    match node.kind() {
        "pair_pattern" => {
            let name = match field(node, "key").map(|name| key(b, name)) {
                Some(Key::Name(name)) => Some(name),
                _ => None,
            };
            let bound = field(node, "value").map_or(Pattern::Ignore, |value| pattern(b, value));
            FieldPattern { name, pattern: bound }
        }
        "object_assignment_pattern" => {
            let name = field(node, "left").map(|left| b.sym_of(left));
            FieldPattern { name, pattern: pattern(b, node) }
        }
        "shorthand_property_identifier_pattern" => {
            let name = Some(b.sym_of(node));
            FieldPattern { name, pattern: pattern(b, node) }
        }
        _ => FieldPattern { name: None, pattern: pattern(b, node) },
    }
}

/// A class; its methods share one instance.
pub(super) fn class(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let name = field(node, "name").map(|name| b.sym_of(name));
    let label = name.unwrap_or_else(|| b.sym("class"));
    let owner = b.current_function();
    let instance = b.fresh(label, owner);
    if let Some(name) = name {
        b.instances.insert(name, instance);
    }
    let mut bases = Vec::new();
    let heritage = children(node).into_iter().filter(|child| child.kind() == "class_heritage");
    for clause in heritage.flat_map(children) {
        match clause.kind() {
            "extends_clause" => {
                if let Some(value) = field(clause, "value") {
                    bases.push(expression(b, value));
                }
            }
            "implements_clause" => {}
            _ => bases.push(expression(b, clause)),
        }
    }
    let mut members = Vec::new();
    for child in field(node, "body").map(children).unwrap_or_default() {
        member(b, child, instance, &mut members);
    }
    b.add(Expression::Class { instance, bases, members }, node)
}

fn member(b: &mut Builder<'_>, node: Tree<'_>, instance: VarId, out: &mut Vec<Member>) {
    match node.kind() {
        "method_definition" => {
            let Some(name) = field(node, "name") else { return };
            let Key::Name(name) = key(b, name) else { return };
            let value = method(b, node, instance);
            let constructor = b.program.names.text(name) == "constructor";
            out.push(Member { name, value, constructor });
        }
        "field_definition" | "public_field_definition" => {
            let name = field(node, "property").or_else(|| field(node, "name"));
            let (Some(name), Some(value)) = (name, field(node, "value")) else { return };
            let Key::Name(name) = key(b, name) else { return };
            b.receivers.push(Some(instance));
            let value = expression(b, value);
            b.receivers.pop();
            out.push(Member { name, value, constructor: false });
        }
        _ => {}
    }
}

/// A method of a class or an object.
pub(super) fn method(b: &mut Builder<'_>, node: Tree<'_>, instance: VarId) -> ExprId {
    let name = field(node, "name").map(|name| b.sym_of(name));
    let id = b.function(node, Some(instance), |b, made| {
        made.name = name;
        let arguments = b.sym("arguments");
        made.all_arguments = Some(b.declare(arguments));
        parameters(b, node, made);
        body(b, node, made);
    });
    b.add(Expression::Function(id), node)
}

/// Gives a nameless function the name of what it is assigned to.
pub(super) fn named(b: &mut Builder<'_>, target: Tree<'_>, value: ExprId) -> ExprId {
    if let Expression::Function(id) = b.program.expression(value) {
        let id = *id;
        let name: Option<Sym> = match target.kind() {
            "identifier" => Some(b.sym_of(target)),
            "member_expression" => field(target, "property").map(|name| b.sym_of(name)),
            _ => None,
        };
        if let Some(function) = b.program.functions.get_mut(id.0 as usize) {
            function.name = function.name.or(name);
        }
    }
    value
}
