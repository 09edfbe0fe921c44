//! The parameters of a function.

use super::definition::{FunctionParameter, ParameterPassing, ParameterPresence};
use super::names::fields;
use super::walk::{WalkStep, named_children};
use crate::source::Source;
use mala_domain::language::Language;
use tree_sitter::Node;

/// The parameters in a list node.
pub(crate) fn parameters(source: &Source, list: Node<'_>) -> Vec<FunctionParameter> {
    if list.kind() == "identifier" {
        return vec![parameter(source, list, ParameterPassing::Positional)];
    }
    let mut found = Vec::new();
    let mut n_separated = 0;
    for step in named_children(list) {
        match step.node.kind() {
            "positional_separator" => {
                found.iter_mut().skip(n_separated).for_each(by_position_only);
                n_separated = found.len();
            }
            "keyword_separator" => found.push(separator()),
            _ => found.extend(one(source, step)),
        }
    }
    only_by_name_after_variadic(source.language(), found)
}

/// The parameters of one child of the list; mostly one.
fn one(source: &Source, step: WalkStep<'_>) -> Vec<FunctionParameter> {
    let node = step.node;
    match node.kind() {
        "self_parameter" | "receiver_parameter" => {
            vec![parameter(source, node, ParameterPassing::Receiver)]
        }
        "attribute_item" | "block_parameter" | "array_type" | "attribute_list" => Vec::new(),
        "list_splat_pattern"
        | "rest_pattern"
        | "splat_parameter"
        | "spread_parameter"
        | "variadic_parameter"
        | "variadic_parameter_declaration"
        | "forward_parameter" => variadic(source, node),
        "dictionary_splat_pattern" | "hash_splat_parameter" => {
            vec![parameter(source, node, ParameterPassing::Keywords)]
        }
        "keyword_parameter" => vec![parameter(source, node, ParameterPassing::KeywordOnly)],
        "parameter_declaration" => declared(source, node),
        "typed_parameter" | "required_parameter" => wrapped(source, node),
        "identifier" if step.field == "name" => {
            vec![parameter(source, node, ParameterPassing::Variadic)]
        }
        _ => vec![parameter(source, node, ParameterPassing::Positional)],
    }
}

/// A parameter with a pattern: `*args: int`, `...rest: string[]`, `this: Window`.
fn wrapped(source: &Source, node: Node<'_>) -> Vec<FunctionParameter> {
    let pattern = node.child_by_field_name("pattern").or_else(|| node.named_child(0));
    let kind = match pattern.map(|pattern| pattern.kind()) {
        Some("this") => return Vec::new(),
        Some("list_splat_pattern" | "rest_pattern") => ParameterPassing::Variadic,
        Some("dictionary_splat_pattern") => ParameterPassing::Keywords,
        _ => ParameterPassing::Positional,
    };
    vec![parameter(source, node, kind)]
}

/// Go's `a, b int`, its unnamed `int`, and C's `void`.
fn declared(source: &Source, node: Node<'_>) -> Vec<FunctionParameter> {
    let names = fields(node, "name");
    if names.len() > 1 {
        return names
            .into_iter()
            .map(|n| parameter(source, n, ParameterPassing::Positional))
            .collect();
    }
    if source.slice(node).trim() == "void" {
        return Vec::new();
    }
    vec![parameter(source, node, ParameterPassing::Positional)]
}

fn variadic(source: &Source, node: Node<'_>) -> Vec<FunctionParameter> {
    let all = parameter(source, node, ParameterPassing::Variadic);
    if node.kind() == "forward_parameter" {
        let names = FunctionParameter { kind: ParameterPassing::Keywords, ..all.clone() };
        return vec![all, names];
    }
    vec![all]
}

fn parameter(source: &Source, node: Node<'_>, kind: ParameterPassing) -> FunctionParameter {
    let taken = matches!(kind, ParameterPassing::Variadic | ParameterPassing::Keywords);
    let presence = if taken || may_be_left_out(source, node) {
        ParameterPresence::Optional
    } else {
        ParameterPresence::Required
    };
    FunctionParameter { name: name_of(source, node), kind, presence }
}

fn may_be_left_out(source: &Source, node: Node<'_>) -> bool {
    match node.kind() {
        "default_parameter"
        | "typed_default_parameter"
        | "assignment_pattern"
        | "optional_parameter"
        | "optional_parameter_declaration" => true,
        "parameter" if source.language() == Language::CSharp => {
            named_children(node).last().is_some_and(|last| last.field.is_empty())
        }
        _ => {
            node.child_by_field_name("value").is_some()
                || node.child_by_field_name("default_value").is_some()
        }
    }
}

/// The name that a call can use; patterns have none.
fn name_of(source: &Source, node: Node<'_>) -> String {
    let mut node = node;
    for _ in 0..8 {
        if node.named_child_count() == 0 {
            let text = source.slice(node);
            let named = text.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$');
            return if named { text.trim_start_matches('$').to_owned() } else { String::new() };
        }
        let inner = ["name", "pattern", "declarator", "left"]
            .iter()
            .find_map(|field| node.child_by_field_name(field))
            .or_else(|| first_name(node));
        match inner {
            Some(inner) => node = inner,
            None => return String::new(),
        }
    }
    String::new()
}

/// The first child of a wrapper that is the name and not a type.
fn first_name(node: Node<'_>) -> Option<Node<'_>> {
    let wraps = matches!(
        node.kind(),
        "typed_parameter"
            | "list_splat_pattern"
            | "dictionary_splat_pattern"
            | "rest_pattern"
            | "variable_name"
            | "mut_pattern"
            | "spread_parameter"
    );
    let children = wraps.then(|| named_children(node))?;
    let is_name = |step: &&WalkStep<'_>| {
        matches!(
            step.node.kind(),
            "identifier"
                | "name"
                | "list_splat_pattern"
                | "dictionary_splat_pattern"
                | "variable_declarator"
        )
    };
    children.iter().find(is_name).map(|step| step.node)
}

/// Python's `*`: the following parameters are keyword-only, and more positional arguments are
/// rejected.
fn separator() -> FunctionParameter {
    FunctionParameter {
        name: "*".to_owned(),
        kind: ParameterPassing::Variadic,
        presence: ParameterPresence::Required,
    }
}

fn by_position_only(parameter: &mut FunctionParameter) {
    if parameter.kind == ParameterPassing::Positional {
        parameter.kind = ParameterPassing::PositionalOnly;
    }
}

fn only_by_name_after_variadic(
    language: Language,
    found: Vec<FunctionParameter>,
) -> Vec<FunctionParameter> {
    if language != Language::Python {
        return found;
    }
    let mut after = false;
    let mut out = Vec::with_capacity(found.len());
    for mut parameter in found {
        let is_variadic = parameter.kind == ParameterPassing::Variadic;
        if after && parameter.kind == ParameterPassing::Positional {
            parameter.kind = ParameterPassing::KeywordOnly;
        }
        after |= is_variadic;
        if !(is_variadic && parameter.presence == ParameterPresence::Required) {
            out.push(parameter);
        }
    }
    out
}
