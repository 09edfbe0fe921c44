//! The arguments of a call.

use crate::source::{Source, lines_of};
use crate::symbols::table::LanguageTable;
use crate::symbols::walk::{AncestorTrail, WalkStep, named_children};
use mala_domain::change::LineSpan;
use mala_domain::language::Language;
use tree_sitter::Node;

/// The arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallShape {
    /// The number of positional arguments.
    pub n_positional: usize,
    /// The names of keyword arguments.
    pub keywords: Vec<String>,
    /// Whether the number of arguments is known.
    pub arguments: ArgumentCount,
    /// Whether it makes an object.
    pub makes: CallPurpose,
    /// Its lines, arguments included.
    pub lines: LineSpan,
}

/// Whether a call's arguments can be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentCount {
    /// They can.
    Counted,
    /// Some are spread, or cannot be read.
    Uncounted,
}

/// The purpose of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallPurpose {
    /// It calls a function.
    Nothing,
    /// It makes an object with `new`.
    Object,
}

impl CallShape {
    /// A call whose arguments cannot be read.
    pub(super) fn unread(node: Node<'_>) -> Self {
        Self {
            n_positional: 0,
            keywords: Vec::new(),
            arguments: ArgumentCount::Uncounted,
            makes: CallPurpose::Nothing,
            lines: lines_of(node),
        }
    }

    /// A call among the tokens of a macro, where only commas separate arguments.
    pub(super) fn in_tokens(source: &Source, name: Node<'_>, list: Node<'_>) -> Self {
        let mut cursor = list.walk();
        let tokens: Vec<Node<'_>> = list.children(&mut cursor).collect();
        let inner = tokens.get(1..tokens.len().saturating_sub(1)).unwrap_or_default();
        // `<A, B>` and `|a, b|` have commas of their own.
        let is_plain = inner.iter().all(|token| !source.slice(*token).contains(['<', '|', '$']));
        if !is_plain || list.has_error() {
            return Self::unread(name);
        }
        let is_comma = |token: &Node<'_>| source.slice(*token) == ",";
        let n_commas = inner.iter().filter(|token| is_comma(token)).count();
        let ends_in_comma = inner.last().is_some_and(is_comma);
        let n_positional =
            if inner.is_empty() { 0 } else { n_commas + usize::from(!ends_in_comma) };
        Self { n_positional, arguments: ArgumentCount::Counted, ..Self::unread(name) }
    }
}

/// The call of a name; `n_members` is how many member nodes are between the two.
pub(super) fn call_at(
    source: &Source,
    table: &LanguageTable,
    trail: &AncestorTrail<'_>,
    step: WalkStep<'_>,
    n_members: usize,
) -> Option<CallShape> {
    let mut child = step;
    let mut members_left = n_members;
    for ancestor in trail.up() {
        let kind = ancestor.node.kind();
        let call =
            table.calls.iter().find(|(node, called, _)| *node == kind && *called == child.field);
        if let Some((_, _, arguments)) = call {
            let list = ancestor.node.child_by_field_name(arguments);
            return Some(read(source, ancestor.node, list));
        }
        if kind == "object_creation_expression" && source.language() == Language::Php {
            let mut list = named_children(ancestor.node).into_iter().map(|s| s.node);
            return Some(read(
                source,
                ancestor.node,
                list.next_back().filter(|n| n.kind() == "arguments"),
            ));
        }
        if table.wrappers.contains(&kind) {
            child = ancestor;
        } else if members_left > 0 {
            members_left -= 1;
            child = ancestor;
        } else {
            return None;
        }
    }
    None
}

fn read(source: &Source, call: Node<'_>, list: Option<Node<'_>>) -> CallShape {
    let creates = matches!(call.kind(), "new_expression" | "object_creation_expression");
    let makes = if creates { CallPurpose::Object } else { CallPurpose::Nothing };
    let mut out = CallShape { makes, arguments: ArgumentCount::Counted, ..CallShape::unread(call) };
    let Some(list) = list else {
        // Ruby and `new` may leave the parentheses out.
        return out;
    };
    if list.kind() == "generator_expression" {
        return CallShape { n_positional: 1, ..out };
    }
    if list.has_error() || list.kind() == "template_string" {
        return CallShape { arguments: ArgumentCount::Uncounted, ..out };
    }
    let arguments = named_children(list);
    for argument in &arguments {
        count(source, argument.node, &mut out);
    }
    if source.language() == Language::Go && is_lone_call(&arguments) {
        out.arguments = ArgumentCount::Uncounted;
    }
    out
}

fn count(source: &Source, argument: Node<'_>, out: &mut CallShape) {
    match argument.kind() {
        "keyword_argument" => {
            out.keywords.extend(text_of(source, argument.child_by_field_name("name")));
        }
        "pair" if source.language() == Language::Ruby => {
            out.keywords.extend(text_of(source, argument.child_by_field_name("key")));
        }
        "argument" => match argument.child_by_field_name("name") {
            Some(name) => out.keywords.extend(text_of(source, Some(name))),
            None if named_children(argument)
                .iter()
                .any(|s| s.node.kind() == "variadic_unpacking") =>
            {
                out.arguments = ArgumentCount::Uncounted;
            }
            None => out.n_positional += 1,
        },
        "list_splat"
        | "dictionary_splat"
        | "spread_element"
        | "variadic_argument"
        | "splat_argument"
        | "hash_splat_argument"
        | "variadic_unpacking"
        | "variadic_placeholder"
        | "forward_argument"
        | "ERROR"
        | "parameter_pack_expansion" => {
            out.arguments = ArgumentCount::Uncounted;
        }
        "block_argument" | "attribute_item" => {}
        _ => out.n_positional += 1,
    }
}

fn text_of(source: &Source, node: Option<Node<'_>>) -> Option<String> {
    node.map(|node| source.slice(node).trim_matches([':', '"', '\'']).to_owned())
}

/// Go passes all results of one call as the arguments of another.
fn is_lone_call(arguments: &[WalkStep<'_>]) -> bool {
    matches!(arguments, [only] if only.node.kind() == "call_expression")
}
