//! Loops that trip over themselves: functions made in them that all see the last value, containers
//! changed while they are walked, an `else` that always runs.

use super::code::{ancestors, arguments, callee, last_name, own_nodes};
use super::module::{Module, found, found_because};
use crate::rules::native::code::{line, parts, same};
use crate::rules::native::{NativeCheck, NativeMatch};
use crate::rules::walk::{Step, descend, walk};
use crate::source::Source;
use tree_sitter::Node;

pub(super) const CLOSURE: NativeCheck =
    NativeCheck { name: "python-loop-closure", captures: &["NAME", "LINE"] };

pub(super) const CHANGED_CONTAINER: NativeCheck =
    NativeCheck { name: "python-changed-while-walked", captures: &["CONTAINER", "LINE"] };

pub(super) const ELSE_WITHOUT_BREAK: NativeCheck =
    NativeCheck { name: "python-loop-else", captures: &["LOOP"] };

pub(super) const NEXT_ELEMENT: NativeCheck =
    NativeCheck { name: "python-next-element", captures: &["LIST", "INDEX", "NEXT"] };

/// Functions made in a loop that use its variable and are kept for later.
pub(super) fn loop_closures(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let mut matches = Vec::new();
    for outer in module.nodes(&["for_statement", "list_comprehension", "dictionary_comprehension"])
    {
        let Some(body) = outer.child_by_field_name("body") else { continue };
        let variables = loop_variables(source, outer);
        for function in kept_functions(source, body) {
            let Some(name) = variables.iter().find(|it| uses_freely(source, function, it)) else {
                continue;
            };
            let captures = vec![("NAME", (*name).to_owned()), ("LINE", line(outer))];
            matches.push(found_because(function, outer, captures));
        }
    }
    matches
}

/// The functions made in the body of a loop or comprehension that outlive a turn of it.
fn kept_functions<'t>(source: &Source, body: Node<'t>) -> Vec<Node<'t>> {
    let is_comprehension = body.kind() != "block";
    let mut found = Vec::new();
    if is_comprehension {
        let value = body.child_by_field_name("value").filter(|_| body.kind() == "pair");
        found.extend(Some(value.unwrap_or(body)).filter(|it| it.kind() == "lambda"));
        return found;
    }
    own_nodes(body, |node| {
        let is_made = |it: &Node<'_>| it.kind() == "lambda";
        match node.kind() {
            "assignment" | "call" | "keyword_argument" => {
                found.extend(kept_values(source, node).into_iter().filter(is_made));
            }
            "block" => {
                let made = parts(node).into_iter().filter(|it| it.kind() == "function_definition");
                found.extend(made.filter(|it| is_kept_by_name(source, *it, node)));
            }
            _ => {}
        }
    });
    found
}

/// The values that a node stores: `callbacks.append(…)`, `table[key] = …`, `command=…`.
fn kept_values<'t>(source: &Source, node: Node<'t>) -> Vec<Node<'t>> {
    let field = |name| node.child_by_field_name(name);
    match node.kind() {
        "assignment" if field("left").is_some_and(|it| it.kind() == "subscript") => {
            field("right").into_iter().collect()
        }
        "call" => match last_name(callee(source, node)) {
            "append" | "connect" | "add_done_callback" => arguments(node),
            _ => Vec::new(),
        },
        "keyword_argument" => {
            let name = field("name").map(|it| source.slice(it));
            let is_kept = matches!(name, Some("command" | "callback" | "on_click"));
            field("value").filter(|_| is_kept).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// A `def` in a loop whose name is then stored.
fn is_kept_by_name(source: &Source, definition: Node<'_>, block: Node<'_>) -> bool {
    let Some(name) = definition.child_by_field_name("name") else { return false };
    let mut kept = false;
    own_nodes(block, |node| {
        let values = kept_values(source, node);
        kept |= values
            .iter()
            .any(|it| it.kind() == "identifier" && source.slice(*it) == source.slice(name));
    });
    kept
}

fn loop_variables<'t>(source: &'t Source, outer: Node<'t>) -> Vec<&'t str> {
    let clauses = match outer.kind() {
        "for_statement" => vec![outer],
        _ => parts(outer).into_iter().filter(|it| it.kind() == "for_in_clause").collect(),
    };
    let mut found = Vec::new();
    for left in clauses.into_iter().filter_map(|it| it.child_by_field_name("left")) {
        walk(left, None, |node| {
            if node.kind() == "identifier" {
                found.push(source.slice(node));
            }
        });
    }
    found
}

/// Whether a function uses a name that is neither its parameter nor assigned in it.
fn uses_freely(source: &Source, function: Node<'_>, name: &str) -> bool {
    let Some(body) = function.child_by_field_name("body") else { return false };
    let mut is_own = false;
    if let Some(list) = function.child_by_field_name("parameters") {
        let own = parts(list).into_iter().map(|it| it.child_by_field_name("name").unwrap_or(it));
        is_own = own.into_iter().any(|it| source.slice(it).trim_start_matches('*') == name);
    }
    let mut uses = false;
    descend(body, |node, _| {
        let target = match node.kind() {
            "assignment" | "for_statement" | "for_in_clause" => node.child_by_field_name("left"),
            _ => None,
        };
        is_own |= target.is_some_and(|it| source.slice(it).split(',').any(|t| t.trim() == name));
        let is_name = node.kind() == "identifier" && source.slice(node) == name;
        uses |= is_name && !is_label(node);
        Step::Into
    });
    uses && !is_own
}

/// `x.name` and `f(name=…)` use no variable.
fn is_label(node: Node<'_>) -> bool {
    node.parent().is_some_and(|outer| {
        let field = match outer.kind() {
            "attribute" => "attribute",
            "keyword_argument" => "name",
            _ => return false,
        };
        outer.child_by_field_name(field).is_some_and(|it| it.id() == node.id())
    })
}

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

/// What a loop walks without a copy: `xs`, `self.xs`, `d.items()`, `enumerate(xs)`.
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

/// Whether a statement takes something out of a container, or puts something into a list.
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

pub(super) fn elses(module: &Module<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for outer in module.nodes(&["for_statement", "while_statement"]) {
        let field = |name| outer.child_by_field_name(name);
        let (Some(body), Some(other)) = (field("body"), field("alternative")) else { continue };
        if !has_break(body) && !returns(body) && !outer.has_error() {
            let word = if outer.kind() == "for_statement" { "for" } else { "while" };
            let mut it = found_because(outer, other, vec![("LOOP", word.to_owned())]);
            it.bytes = outer.start_byte()..body.start_byte().max(outer.start_byte() + 1);
            matches.push(it);
        }
    }
    matches
}

/// Whether a `return` leaves the loop: the `else` then sets apart what follows a search.
fn returns(body: Node<'_>) -> bool {
    let mut returns = false;
    own_nodes(body, |node| returns |= node.kind() == "return_statement");
    returns
}

/// Whether a `break` leaves the loop with this body.
fn has_break(body: Node<'_>) -> bool {
    let mut breaks = false;
    descend(body, |node, _| {
        breaks |= node.kind() == "break_statement";
        match node.kind() {
            "function_definition" | "class_definition" | "lambda" => Step::Over,
            "for_statement" | "while_statement" => {
                // A `break` in the `else` of an inner loop leaves the outer one.
                let other = node.child_by_field_name("alternative");
                breaks |= other.is_some_and(has_break);
                Step::Over
            }
            _ => Step::Into,
        }
    });
    breaks
}

/// `for i in range(len(xs))` with `xs[i + 1]` in it.
pub(super) fn next_elements(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let mut matches = Vec::new();
    for outer in module.nodes(&["for_statement"]) {
        let field = |name| outer.child_by_field_name(name);
        let (Some(index), Some(right), Some(body)) = (field("left"), field("right"), field("body"))
        else {
            continue;
        };
        let range: String = source.slice(right).split_whitespace().collect();
        let Some(list) = range.strip_prefix("range(len(").and_then(|it| it.strip_suffix("))"))
        else {
            continue;
        };
        let next = format!("{list}[{}+1]", source.slice(index));
        let mut place = None;
        let mut is_guarded = false;
        own_nodes(body, |node| {
            let text = source.slice(node);
            match node.kind() {
                "subscript" if place.is_none() && without_spaces(text) == next => {
                    place = Some(node);
                }
                "comparison_operator" => {
                    is_guarded |= text.contains("len(") || text.contains(source.slice(index));
                }
                "except_clause" | "break_statement" => is_guarded = true,
                _ => {}
            }
        });
        let is_written = |it: Node<'_>| it.parent().is_some_and(|p| p.kind() == "delete_statement");
        if let Some(place) = place.filter(|it| !is_guarded && !is_written(*it)) {
            let captures = vec![
                ("LIST", list.to_owned()),
                ("INDEX", source.slice(index).to_owned()),
                ("NEXT", source.slice(place).to_owned()),
            ];
            matches.push(found(place, captures));
        }
    }
    matches
}

fn without_spaces(text: &str) -> String {
    text.split_whitespace().collect()
}
