//! Parses Python: functions with their parameters, the content of a scope, and plain texts.

use crate::rules::native::code::parts;
use crate::rules::walk::{TreeStep, descend};
use crate::source::Source;
use tree_sitter::Node;

/// A function or a method.
pub(super) struct Function<'t> {
    pub(super) node: Node<'t>,
    pub(super) name: &'t str,
    pub(super) parameters: Vec<Parameter<'t>>,
    pub(super) body: Node<'t>,
    pub(super) decorators: Vec<&'t str>,
    pub(super) is_async: bool,
    /// The class whose body contains it.
    pub(super) class: Option<Node<'t>>,
    /// Whether it is at the top level, outside of conditions.
    pub(super) is_at_top: bool,
}

/// One parameter.
#[derive(Clone, Copy)]
pub(super) struct Parameter<'t> {
    pub(super) node: Node<'t>,
    pub(super) name: &'t str,
    pub(super) default: Option<Node<'t>>,
    pub(super) kind: ParameterKind,
}

/// How arguments are passed to a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParameterKind {
    /// By place only.
    Placed,
    /// By place or by name.
    Plain,
    /// By name only.
    Named,
    /// `*args`.
    Rest,
    /// `**kwargs`.
    Keywords,
}

impl<'t> Function<'t> {
    /// Reads a `function_definition`.
    pub(super) fn of(source: &'t Source, node: Node<'t>) -> Option<Self> {
        if node.kind() != "function_definition" {
            return None;
        }
        Some(Self {
            node,
            name: source.slice(node.child_by_field_name("name")?),
            parameters: parameters(source, node.child_by_field_name("parameters")?),
            body: node.child_by_field_name("body")?,
            decorators: decorators(source, node),
            is_async: node.child(0).is_some_and(|it| it.kind() == "async"),
            class: class_around(node),
            is_at_top: node.parent().is_some_and(|it| it.kind() == "module"),
        })
    }

    /// Whether it has a `yield` of its own.
    pub(super) fn is_generator(&self) -> bool {
        let mut yields = false;
        own_nodes(self.body, |node| yields |= node.kind() == "yield");
        yields
    }

    /// The statements of its body without the docstring.
    pub(super) fn statements(&self) -> Vec<Node<'t>> {
        statements(self.body)
    }
}

/// The statements of a block without its docstring.
pub(super) fn statements(block: Node<'_>) -> Vec<Node<'_>> {
    let mut found = parts(block);
    if found.first().is_some_and(|it| is_docstring(*it)) {
        found.remove(0);
    }
    found
}

fn is_docstring(statement: Node<'_>) -> bool {
    statement.kind() == "expression_statement"
        && statement.named_child_count() == 1
        && statement
            .named_child(0)
            .is_some_and(|it| matches!(it.kind(), "string" | "concatenated_string"))
}

/// The class whose body directly contains a definition.
pub(super) fn class_around(node: Node<'_>) -> Option<Node<'_>> {
    let mut outer = node.parent()?;
    if outer.kind() == "decorated_definition" {
        outer = outer.parent()?;
    }
    let class = outer.parent().filter(|_| outer.kind() == "block")?;
    (class.kind() == "class_definition").then_some(class)
}

/// The texts of the decorators of a definition, without `@` and arguments.
pub(super) fn decorators<'t>(source: &'t Source, definition: Node<'t>) -> Vec<&'t str> {
    let Some(outer) = definition.parent().filter(|it| it.kind() == "decorated_definition") else {
        return Vec::new();
    };
    let texts = parts(outer).into_iter().filter(|it| it.kind() == "decorator").map(|it| {
        let text = source.slice(it).trim_start_matches('@').trim();
        text.split_once('(').map_or(text, |(name, _)| name).trim()
    });
    texts.collect()
}

fn parameters<'t>(source: &'t Source, list: Node<'t>) -> Vec<Parameter<'t>> {
    let mut found: Vec<Parameter<'t>> = Vec::new();
    let mut kind = ParameterKind::Plain;
    for node in parts(list) {
        match node.kind() {
            "positional_separator" => {
                found.iter_mut().for_each(|it| it.kind = ParameterKind::Placed);
            }
            "keyword_separator" => kind = ParameterKind::Named,
            _ => {
                let Some(parameter) = parameter(source, node, kind) else { continue };
                if parameter.kind == ParameterKind::Rest {
                    kind = ParameterKind::Named;
                }
                found.push(parameter);
            }
        }
    }
    found
}

fn parameter<'t>(source: &'t Source, node: Node<'t>, kind: ParameterKind) -> Option<Parameter<'t>> {
    let inner = match node.kind() {
        "typed_parameter" => node.named_child(0)?,
        "default_parameter" | "typed_default_parameter" => node.child_by_field_name("name")?,
        _ => node,
    };
    let (name, kind) = match inner.kind() {
        "list_splat_pattern" => (inner.named_child(0)?, ParameterKind::Rest),
        "dictionary_splat_pattern" => (inner.named_child(0)?, ParameterKind::Keywords),
        _ => (inner, kind),
    };
    Some(Parameter {
        node,
        name: source.slice(name),
        default: node.child_by_field_name("value"),
        kind,
    })
}

/// Visits a scope without the functions and classes defined in it.
pub(super) fn own_nodes<'t>(scope: Node<'t>, mut visit: impl FnMut(Node<'t>)) {
    descend(scope, |node, _| {
        let is_inner_scope = node.id() != scope.id() && is_scope(node);
        visit(node);
        if is_inner_scope { TreeStep::Over } else { TreeStep::Into }
    });
}

/// Visits every node with the scopes around it, outermost first. Asking a node for its parent costs
/// as much as the tree is deep and wide, so the walk keeps them.
pub(super) fn walk_scopes<'t>(root: Node<'t>, mut visit: impl FnMut(Node<'t>, &[Node<'t>])) {
    let (mut scopes, mut depths) = (Vec::new(), Vec::new());
    descend(root, |node, depth| {
        while depths.last().is_some_and(|it| *it >= depth) {
            depths.pop();
            scopes.pop();
        }
        visit(node, &scopes);
        if is_scope(node) {
            depths.push(depth);
            scopes.push(node);
        }
        TreeStep::Into
    });
}

/// Whether names assigned in a node stay in it.
pub(super) fn is_scope(node: Node<'_>) -> bool {
    matches!(node.kind(), "function_definition" | "class_definition" | "lambda" | "module")
}

/// The nearest function, lambda, class or module around a node.
pub(super) fn scope_of(node: Node<'_>) -> Option<Node<'_>> {
    ancestors(node).find(|it| is_scope(*it))
}

/// The nodes around a node, innermost first.
pub(super) fn ancestors(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    std::iter::successors(node.parent(), |it| it.parent())
}

/// Whether a node lies in another one.
pub(super) fn is_inside(node: Node<'_>, outer: Node<'_>) -> bool {
    outer.start_byte() <= node.start_byte() && node.end_byte() <= outer.end_byte()
}

/// Whether two places are in different branches of the same `if`.
pub(super) fn are_alternatives(a: Node<'_>, b: Node<'_>) -> bool {
    let Some(outer) = ancestors(a).find(|it| is_inside(b, *it)) else { return false };
    let branch_of = |place: Node<'_>| {
        parts(outer).into_iter().find(|it| is_inside(place, *it)).map(|it| (it.id(), it.kind()))
    };
    let is_branch = |branch: Option<(usize, &str)>| {
        branch.is_some_and(|(_, kind)| matches!(kind, "block" | "elif_clause" | "else_clause"))
    };
    let (of_a, of_b) = (branch_of(a), branch_of(b));
    outer.kind() == "if_statement" && is_branch(of_a) && is_branch(of_b) && of_a != of_b
}

/// The last part of a dotted name.
pub(super) fn last_name(dotted: &str) -> &str {
    dotted.rsplit('.').next().unwrap_or(dotted)
}

/// The callee of a call, such as `os.path.join`.
pub(super) fn callee<'t>(source: &'t Source, call: Node<'_>) -> &'t str {
    call.child_by_field_name("function").map_or("", |it| source.slice(it))
}

/// The arguments of a call; empty for `f(x for x in y)`.
pub(super) fn arguments(call: Node<'_>) -> Vec<Node<'_>> {
    let list = call.child_by_field_name("arguments").filter(|it| it.kind() == "argument_list");
    list.map(parts).unwrap_or_default()
}

/// The arguments given by place, up to the first `*`.
pub(super) fn placed_arguments(call: Node<'_>) -> Vec<Node<'_>> {
    let is_placed = |it: &Node<'_>| {
        !matches!(it.kind(), "keyword_argument" | "list_splat" | "dictionary_splat")
    };
    arguments(call).into_iter().take_while(is_placed).collect()
}

/// The argument given by this name.
pub(super) fn named_argument<'t>(source: &Source, call: Node<'t>, name: &str) -> Option<Node<'t>> {
    arguments(call)
        .into_iter()
        .filter(|it| it.kind() == "keyword_argument")
        .find(|it| it.child_by_field_name("name").is_some_and(|key| source.slice(key) == name))
        .and_then(|it| it.child_by_field_name("value"))
}

/// Whether a call spreads arguments that are unknown without running the code.
pub(super) fn spreads_arguments(call: Node<'_>) -> bool {
    arguments(call).iter().any(|it| matches!(it.kind(), "list_splat" | "dictionary_splat"))
}

/// The content of a text without interpolation, with its escapes unchanged.
pub(super) fn plain_text<'t>(source: &'t Source, node: Node<'t>) -> Option<&'t str> {
    if node.kind() != "string" {
        return None;
    }
    let inner = parts(node);
    let has_values = inner.iter().any(|it| it.kind() == "interpolation");
    let (start, end) = (inner.first()?, inner.last()?);
    if has_values || start.kind() != "string_start" || end.kind() != "string_end" {
        return None;
    }
    source.text().get(start.end_byte()..end.start_byte())
}

/// The letters before the quote of a text, in small.
pub(super) fn text_prefix(source: &Source, node: Node<'_>) -> String {
    let text = source.slice(node);
    let end = text.find(['"', '\'']).unwrap_or(0);
    text.get(..end).unwrap_or_default().to_lowercase()
}
