//! Functions, lambdas and classes.

use super::super::super::ir::{
    ExprId, Expression, Function, Member, Parameter, Pattern, Statement, Sym, VarId,
};
use super::super::{Builder, Tree, children, field, place_of};
use super::expressions::expression;
use super::{block, declare_bound_names};

/// A function as an expression.
pub(super) fn function(b: &mut Builder<'_>, node: Tree<'_>, decorators: &[ExprId]) -> ExprId {
    method(b, node, decorators, None)
}

fn method(
    b: &mut Builder<'_>,
    node: Tree<'_>,
    decorators: &[ExprId],
    instance: Option<VarId>,
) -> ExprId {
    let name = field(node, "name").map(|name| b.sym_of(name));
    let id = b.function(node, instance, |b, made| {
        made.name = name;
        made.decorators = decorators.to_vec();
        parameters(b, node, made, instance);
        if let Some(body) = field(node, "body") {
            declare_bound_names(b, body);
            made.body = block(b, body);
        }
    });
    b.add(Expression::Function(id), node)
}

/// `lambda x: y`.
pub(super) fn lambda(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let id = b.function(node, None, |b, made| {
        parameters(b, node, made, None);
        if let Some(body) = field(node, "body") {
            let value = expression(b, body);
            made.body = vec![Statement::Return(Some(value))];
        }
    });
    b.add(Expression::Function(id), node)
}

fn parameters(b: &mut Builder<'_>, node: Tree<'_>, made: &mut Function, instance: Option<VarId>) {
    let mut receiver = instance;
    for parameter in field(node, "parameters").map(children).unwrap_or_default() {
        let (named, rest) = match parameter.kind() {
            "identifier" => (Some(parameter), false),
            "default_parameter" | "typed_default_parameter" => (field(parameter, "name"), false),
            "typed_parameter" => {
                let inner = children(parameter).first().copied();
                let rest = inner.is_some_and(|inner| inner.kind().ends_with("splat_pattern"));
                (
                    inner.map(|inner| {
                        if rest { children(inner).first().copied().unwrap_or(inner) } else { inner }
                    }),
                    rest,
                )
            }
            "list_splat_pattern" | "dictionary_splat_pattern" => {
                (children(parameter).first().copied(), true)
            }
            _ => continue,
        };
        let Some(named) = named else { continue };
        let name = b.sym_of(named);
        if let Some(instance) = receiver.take() {
            // The first parameter of a method is the instance that all methods share.
            if let Some(scope) = b.scopes.last_mut() {
                scope.names.insert(name, instance);
            }
            continue;
        }
        let default = field(parameter, "value").map(|value| expression(b, value));
        let declared = field(parameter, "type").and_then(|declared| type_path(b, declared));
        let variable = b.redeclare(name);
        made.parameters.push(Parameter {
            place: place_of(parameter),
            pattern: Pattern::Variable(variable),
            name: Some(name),
            default,
            declared,
            annotations: Vec::new(),
            rest,
        });
    }
}

/// The name or path in a type annotation; of a union or a container, that of a text if there is one.
fn type_path(b: &mut Builder<'_>, node: Tree<'_>) -> Option<ExprId> {
    let inner = children(node).first().copied()?;
    let mut pending = vec![inner];
    let mut named = Vec::new();
    while let Some(node) = pending.pop() {
        match node.kind() {
            "identifier" if b.slice(node) == "str" => return Some(expression(b, node)),
            "identifier" if matches!(b.slice(node), "Optional" | "Union" | "Annotated") => {}
            "identifier" | "attribute" => named.push(node),
            _ => pending.extend(children(node)),
        }
    }
    let made_of = matches!(inner.kind(), "generic_type" | "subscript" | "binary_operator");
    if let (Some(first), true) = (named.last(), made_of) {
        return Some(expression(b, *first));
    }
    match inner.kind() {
        "identifier" | "attribute" => Some(expression(b, inner)),
        "generic_type" | "subscript" => children(inner).first().map(|base| expression(b, *base)),
        _ => None,
    }
}

/// A class; its methods share one instance.
pub(super) fn class(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let name = field(node, "name").map(|name| b.sym_of(name));
    let label = name.unwrap_or_else(|| b.sym("class"));
    let owner = b.current_function();
    let instance = b.fresh(label, owner);
    let mut bases = Vec::new();
    for base in field(node, "superclasses").map(children).unwrap_or_default() {
        if base.kind() != "keyword_argument" {
            bases.push(expression(b, base));
        }
    }
    let mut members = Vec::new();
    let inner = field(node, "body").map(children).unwrap_or_default();
    for child in inner {
        member(b, child, instance, &mut members);
    }
    b.add(Expression::Class { instance, bases, members }, node)
}

fn member(b: &mut Builder<'_>, node: Tree<'_>, instance: VarId, out: &mut Vec<Member>) {
    match node.kind() {
        "function_definition" => add_method(b, node, &[], instance, out),
        "decorated_definition" => {
            let mut decorators = Vec::new();
            let mut fixed = false;
            for child in children(node).into_iter().filter(|child| child.kind() == "decorator") {
                fixed |= b.slice(child).contains("staticmethod");
                decorators.extend(children(child).first().map(|inner| expression(b, *inner)));
            }
            let Some(inner) = field(node, "definition") else { return };
            if inner.kind() == "function_definition" {
                add_decorated(b, inner, &decorators, (!fixed).then_some(instance), out);
            }
        }
        "expression_statement" => {
            for assignment in children(node) {
                let (Some(left), Some(right)) =
                    (field(assignment, "left"), field(assignment, "right"))
                else {
                    continue;
                };
                if assignment.kind() == "assignment" && left.kind() == "identifier" {
                    let name: Sym = b.sym_of(left);
                    let value = expression(b, right);
                    out.push(Member { name, value, constructor: false });
                }
            }
        }
        _ => {}
    }
}

fn add_method(
    b: &mut Builder<'_>,
    node: Tree<'_>,
    decorators: &[ExprId],
    instance: VarId,
    out: &mut Vec<Member>,
) {
    add_decorated(b, node, decorators, Some(instance), out);
}

fn add_decorated(
    b: &mut Builder<'_>,
    node: Tree<'_>,
    decorators: &[ExprId],
    instance: Option<VarId>,
    out: &mut Vec<Member>,
) {
    let Some(name) = field(node, "name") else { return };
    let name = b.sym_of(name);
    let value = method(b, node, decorators, instance);
    let constructor = b.program.names.text(name) == "__init__";
    out.push(Member { name, value, constructor });
}
