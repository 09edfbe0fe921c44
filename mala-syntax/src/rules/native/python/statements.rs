//! Statements whose effect is not what they look like: changes of `locals()`, conditions that are
//! methods nobody calls, texts that lack their `f`.

use super::code::{
    arguments, callee, class_around, function_around, own_nodes, plain_text, text_prefix,
};
use super::module::{Module, found, found_because};
use crate::rules::native::code::{bare, line, parts};
use crate::rules::native::{NativeCheck, NativeMatch};
use crate::source::Source;
use tree_sitter::Node;

pub(super) const CHANGED_LOCALS: NativeCheck =
    NativeCheck { name: "python-changed-locals", captures: &["WHAT"] };

pub(super) const UNCALLED: NativeCheck =
    NativeCheck { name: "python-uncalled-condition", captures: &["NAME", "LINE"] };

pub(super) const MISSING_F: NativeCheck =
    NativeCheck { name: "python-missing-f", captures: &["NAME"] };

pub(super) const MISSING_COMMA: NativeCheck =
    NativeCheck { name: "python-missing-comma", captures: &["FIRST", "SECOND"] };

pub(super) const TUPLE_SIZES: NativeCheck =
    NativeCheck { name: "python-tuple-sizes", captures: &["NAME", "SIZE", "OTHER", "LINE"] };

pub(super) fn changed_locals(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    const CHANGES: [&str; 5] = ["update", "pop", "popitem", "clear", "setdefault"];
    if !source.text().contains("locals()") {
        return Vec::new();
    }
    let names = module.names();
    let is_locals = |node: Node<'_>| {
        function_around(node).is_some()
            && names.value_of(node).is_some_and(|it| {
                source.slice(it) == "locals()" && function_around(it) == function_around(node)
            })
    };
    let is_part = |node: Node<'_>| {
        node.kind() == "subscript" && node.child_by_field_name("value").is_some_and(is_locals)
    };
    let mut matches = Vec::new();
    for node in module.nodes(&["assignment", "augmented_assignment", "call", "delete_statement"]) {
        let field = |name| node.child_by_field_name(name);
        let changes = match node.kind() {
            "call" => field("function").is_some_and(|target| {
                let method = target.child_by_field_name("attribute").map(|it| source.slice(it));
                target.kind() == "attribute"
                    && method.is_some_and(|it| CHANGES.contains(&it))
                    && target.child_by_field_name("object").is_some_and(is_locals)
            }),
            "delete_statement" => parts(node).into_iter().any(is_part),
            _ => field("left").is_some_and(is_part),
        };
        if changes {
            matches.push(found(node, vec![("WHAT", source.slice(node).to_owned())]));
        }
    }
    matches
}

/// Conditions that name a function or method of the file without calling it.
pub(super) fn uncalled(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let mut matches = Vec::new();
    for condition in conditions(module) {
        let text = source.slice(condition);
        let Some(name) = text.strip_prefix("self.").filter(|_| condition.kind() == "attribute")
        else {
            continue;
        };
        let Some(function) = function_around(condition) else { continue };
        let Some(around) = class_around(function) else { continue };
        let classes = module.classes();
        let Some(class) = classes.at(around) else { continue };
        let Some(method) = class.method(name).filter(|it| it.decorators.is_empty()) else {
            continue;
        };
        // A value may take the place of the method.
        let assigned = module.assigned_attributes();
        let is_replaced =
            assigned.contains(name) || class.assigns(name) || has_wild_base(class.bases.as_slice());
        if !is_replaced {
            let captures = vec![("NAME", text.to_owned()), ("LINE", line(method.node))];
            matches.push(found_because(condition, method.node, captures));
        }
    }
    matches
}

fn has_wild_base(bases: &[&str]) -> bool {
    bases.iter().any(|it| it.contains("Mock"))
}

/// What is asked for its truth alone.
fn conditions<'t>(module: &Module<'t>) -> Vec<Node<'t>> {
    let mut found = Vec::new();
    let mut rest: Vec<Node<'_>> = Vec::new();
    for outer in
        module.nodes(&["if_statement", "elif_clause", "while_statement", "assert_statement"])
    {
        let asked = match outer.kind() {
            "assert_statement" => parts(outer).first().copied(),
            _ => outer.child_by_field_name("condition"),
        };
        rest.extend(asked);
    }
    while let Some(node) = rest.pop().map(bare) {
        match node.kind() {
            "not_operator" => rest.extend(node.child_by_field_name("argument")),
            "boolean_operator" => {
                rest.extend(node.child_by_field_name("left"));
                rest.extend(node.child_by_field_name("right"));
            }
            _ => found.push(node),
        }
    }
    found.sort_by_key(Node::start_byte);
    found
}

/// `raise Error("no {name}")` where `name` is a variable.
pub(super) fn missing_f(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let mut matches = Vec::new();
    for text in module.nodes(&["string"]) {
        let is_plain = !text_prefix(source, text).contains(['f', 'b', 'r', 't']);
        let Some(content) = plain_text(source, text).filter(|_| is_plain) else { continue };
        if !content.contains('{') || !is_shown(source, text) {
            continue;
        }
        let Some(fields) = super::placeholders::Fields::read(content) else { continue };
        let Some(function) = function_around(text) else { continue };
        let names = module.names();
        let is_known = |name: &String| !names.bindings_of(function, name).is_empty();
        let all_known = fields.places.is_empty() && fields.names.iter().all(is_known);
        if let Some(name) = fields.names.first().filter(|_| all_known) {
            matches.push(found(text, vec![("NAME", name.clone())]));
        }
    }
    matches
}

/// Whether a text is shown to people as it is: raised, printed or logged, alone.
fn is_shown(source: &Source, text: Node<'_>) -> bool {
    let Some(list) = text.parent().filter(|it| it.kind() == "argument_list") else { return false };
    let Some(call) = list.parent() else { return false };
    if arguments(call).len() != 1 {
        return false;
    }
    let raised = call.parent().is_some_and(|it| it.kind() == "raise_statement");
    let name = callee(source, call);
    let logged = name.rsplit_once('.').is_some_and(|(logger, method)| {
        logger.to_lowercase().ends_with("log")
            || logger.to_lowercase().ends_with("logger")
            || logger == "logging" && !method.is_empty()
    });
    raised || name == "print" || logged
}

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

/// Functions that give tuples of different sizes.
pub(super) fn tuple_sizes(module: &Module<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for function in module.functions() {
        let annotated = function.node.child_by_field_name("return_type").is_some();
        // A parameter that switches may choose what is returned.
        let is_switched = function.parameters.iter().any(|it| it.default.is_some());
        let is_protocol = function.name.contains("reduce") || function.name.starts_with("__");
        if annotated || is_switched || is_protocol || function.is_generator() {
            continue;
        }
        let mut sizes: Vec<(usize, Node<'_>)> = Vec::new();
        own_nodes(function.body, |node| {
            let Some(value) = super::methods::returned(node) else { return };
            let is_tuple = matches!(value.kind(), "tuple" | "expression_list");
            let elements = parts(value);
            let is_open = elements.iter().any(|it| it.kind() == "list_splat");
            if is_tuple && !is_open && !elements.is_empty() {
                sizes.push((elements.len(), node));
            }
        });
        let Some((size, _)) = sizes.first() else { continue };
        if let Some((other, place)) = sizes.iter().find(|(it, _)| it != size) {
            let captures = vec![
                ("NAME", function.name.to_owned()),
                ("SIZE", size.to_string()),
                ("OTHER", other.to_string()),
                ("LINE", line(*place)),
            ];
            let because = Some(place.byte_range());
            matches.push(NativeMatch { bytes: function.head(), because, captures });
        }
    }
    matches
}
