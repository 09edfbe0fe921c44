//! Containers that change while a loop walks over them, and lists that lack a comma.

use super::code::{ancestors, arguments, own_nodes, plain_text};
use super::module::{Module, found, found_because};
use crate::rules::native::code::{line, parts, same};
use crate::rules::native::{NativeCheck, NativeMatch};
use crate::source::Source;
use tree_sitter::Node;

pub(super) const CHANGED_CONTAINER: NativeCheck =
    NativeCheck { name: "python-changed-while-walked", captures: &["CONTAINER", "LINE"] };

pub(super) fn changed_containers(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let mut matches = Vec::new();
    let mut makes_lists = None;
    for outer in module.nodes(&["for_statement"]) {
        let field = |name| outer.child_by_field_name(name);
        let (Some(right), Some(body)) = (field("right"), field("body")) else { continue };
        let is_call = right.kind() == "call" && !source.slice(right).starts_with("enumerate(");
        if is_call && *makes_lists.get_or_insert_with(|| is_for_python_2(source.text())) {
            continue;
        }
        let Some(container) = walked_container(source, right) else { continue };
        let mut change = None;
        own_nodes(body, |node| {
            if change.is_none()
                && changes_length(source, node, container)
                && !leaves_after(node, outer)
            {
                change = Some(node);
            }
        });
        if let Some(change) = change.filter(|_| !is_replaced(source, body, container)) {
            let text = source.slice(container).to_owned();
            matches.push(found_because(
                change,
                outer,
                vec![("CONTAINER", text), ("LINE", line(outer))],
            ));
        }
    }
    matches
}

/// Words of a file that only Python 2 reads, where `d.items()` is a list of its own.
fn is_for_python_2(text: &str) -> bool {
    const WORDS: [&str; 9] = [
        "xrange(",
        ".iteritems(",
        ".itervalues(",
        ".iterkeys(",
        ".has_key(",
        "basestring",
        "import urllib2",
        "reload(sys)",
        "raw_input(",
    ];
    let prints = |line: &str| {
        line.trim_start().starts_with("print \"") || line.trim_start().starts_with("print '")
    };
    let reloads =
        || text.contains(" reload(") && !text.contains("reload\n") && !text.contains("importlib");
    WORDS.iter().any(|word| text.contains(word)) || reloads() || text.lines().any(prints)
}

/// The container that a loop iterates without a copy: `xs`, `self.xs`, `d.items()`,
/// `enumerate(xs)`.
fn walked_container<'t>(source: &Source, right: Node<'t>) -> Option<Node<'t>> {
    match right.kind() {
        "identifier" if source.slice(right) == "self" => None,
        "identifier" | "attribute" => Some(right),
        "call" => {
            let target = right.child_by_field_name("function")?;
            match (source.slice(target), arguments(right).as_slice()) {
                ("enumerate", [only, ..]) => walked_container(source, *only),
                (_, []) if target.kind() == "attribute" => {
                    let method = source.slice(target.child_by_field_name("attribute")?);
                    let object = target.child_by_field_name("object")?;
                    let is_view = matches!(method, "items" | "keys" | "values");
                    walked_container(source, object).filter(|_| is_view && object.kind() != "call")
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a statement removes something from a container, or adds something to a list.
fn changes_length(source: &Source, node: Node<'_>, container: Node<'_>) -> bool {
    let is_it = |it: Option<Node<'_>>| it.is_some_and(|it| same(source, it, container));
    match node.kind() {
        "call" => {
            let Some(target) = node.child_by_field_name("function") else { return false };
            let method = target.child_by_field_name("attribute").map(|it| source.slice(it));
            target.kind() == "attribute"
                && is_it(target.child_by_field_name("object"))
                && matches!(method, Some("remove" | "pop" | "popitem" | "insert" | "discard"))
        }
        "delete_statement" => parts(node)
            .iter()
            .any(|it| it.kind() == "subscript" && is_it(it.child_by_field_name("value"))),
        _ => false,
    }
}

/// Whether the loop ends right after a change: a `break` or `return` follows in the same block, or
/// in one around it within the loop.
fn leaves_after(change: Node<'_>, outer: Node<'_>) -> bool {
    let mut inner = change;
    for block in ancestors(change).take_while(|it| it.id() != outer.id()) {
        if matches!(block.kind(), "for_statement" | "while_statement") {
            return true;
        }
        if block.kind() == "block" {
            let after = parts(block).into_iter().filter(|it| it.start_byte() >= inner.start_byte());
            let mut after = after.peekable();
            if after.any(|it| {
                matches!(it.kind(), "break_statement" | "return_statement" | "raise_statement")
            }) {
                return true;
            }
        }
        inner = block;
    }
    false
}

/// Whether the loop walks another object than the one changed, after `xs = list(xs)` in its body.
fn is_replaced(source: &Source, body: Node<'_>, container: Node<'_>) -> bool {
    let mut replaced = false;
    own_nodes(body, |node| {
        replaced |= node.kind() == "assignment"
            && node.child_by_field_name("left").is_some_and(|it| same(source, it, container));
    });
    replaced
}

pub(super) const MISSING_COMMA: NativeCheck =
    NativeCheck { name: "python-missing-comma", captures: &["FIRST", "SECOND"] };

/// `["a", "b" "c", "d"]` over several lines: two elements became one.
pub(super) fn missing_commas(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let mut matches = Vec::new();
    for list in module.nodes(&["list", "set", "tuple"]) {
        let elements = parts(list);
        let is_joined = |it: &&Node<'_>| it.kind() == "concatenated_string";
        let joined: Vec<_> = elements.iter().filter(is_joined).collect();
        let [only] = joined.as_slice() else { continue };
        let others = elements.iter().filter(|it| it.kind() == "string");
        let is_word = |it: Node<'_>| {
            plain_text(source, it).is_some_and(|text| {
                !text.is_empty() && !text.contains(char::is_whitespace) && text.len() < 60
            })
        };
        let others: Vec<_> = others.copied().collect();
        let is_list_of_words = others.len() >= 2
            && others.len() + 1 == elements.len()
            && others.iter().all(|it| is_word(*it));
        let pieces = parts(**only);
        let on_own_lines = |it: &[Node<'_>]| match it {
            [a, b] => a.end_position().row < b.start_position().row,
            _ => false,
        };
        if let [first, second] = pieces[..]
            && is_list_of_words
            && is_word(first)
            && is_word(second)
            && (on_own_lines(&pieces) || on_one_line(list))
        {
            let text = |it| source.slice(it).to_owned();
            matches.push(found(**only, vec![("FIRST", text(first)), ("SECOND", text(second))]));
        }
    }
    matches
}

fn on_one_line(node: Node<'_>) -> bool {
    node.start_position().row == node.end_position().row
}
