//! JavaScript and TypeScript: literals, `RegExp`, string methods, JSON schemas.

use tree_sitter::Node;

use super::constant::Constant;
use super::scan::Scan;
use super::{PatternUse, Role};
use crate::regex_check::{Anchoring, Flags, Flavour};

pub(super) fn visit<'t>(scan: &mut Scan<'t>, node: Node<'t>) {
    match node.kind() {
        "regex" => literal(scan, node),
        "new_expression" | "call_expression" => call(scan, node),
        "pair" => schema(scan, node),
        _ => {}
    }
}

fn literal<'t>(scan: &mut Scan<'t>, node: Node<'t>) {
    let Some(pattern) = node.child_by_field_name("pattern") else { return };
    if is_template(scan, node) {
        return;
    }
    let letters = node.child_by_field_name("flags").map(|flags| scan.text(flags));
    let constant = Constant::verbatim(scan.text(pattern), pattern.start_byte());
    scan.pattern(constant, Flavour::JavaScript, flags(letters.unwrap_or_default()), node);
}

/// `/…/.source` is a part of some other pattern.
fn is_template<'t>(scan: &Scan<'t>, node: Node<'t>) -> bool {
    let member = node.parent().filter(|parent| parent.kind() == "member_expression");
    let property = member.and_then(|member| member.child_by_field_name("property"));
    property.is_some_and(|property| scan.text(property) == "source")
}

fn flags(letters: &str) -> Flags {
    Flags {
        ignore_case: letters.contains('i'),
        multi_line: letters.contains('m'),
        dot_all: letters.contains('s'),
        verbose: false,
        unicode_sets: letters.contains('v'),
        anchoring: if letters.contains('y') { Anchoring::Start } else { Anchoring::Search },
    }
}

fn call<'t>(scan: &mut Scan<'t>, node: Node<'t>) {
    let callee = node.child_by_field_name("function");
    let Some(callee) = callee.or(node.child_by_field_name("constructor")) else { return };
    let Some(arguments) = node.child_by_field_name("arguments") else { return };
    let argument = |index: u32| arguments.named_child(index);
    if matches!(scan.text(callee), "RegExp" | "window.RegExp" | "globalThis.RegExp") {
        let letters = argument(1).and_then(|flags| scan.constant(flags));
        let flags = flags(letters.as_ref().map_or("", |letters| &letters.text));
        if let Some(constant) = argument(0).and_then(|pattern| scan.constant(pattern)) {
            scan.pattern(constant, Flavour::JavaScript, flags, node);
        }
        return;
    }
    if callee.kind() != "member_expression" {
        return;
    }
    let (Some(object), Some(property)) =
        (callee.child_by_field_name("object"), callee.child_by_field_name("property"))
    else {
        return;
    };
    let method = scan.text(property);
    let (role, expression, subject) = match method {
        "test" | "exec" => (Role::Match, Some(object), argument(0)),
        "match" | "matchAll" | "search" => (Role::Match, argument(0), Some(object)),
        "replace" | "replaceAll" => (Role::Replace, argument(0), Some(object)),
        "split" => (Role::Split, argument(0), Some(object)),
        _ => return,
    };
    let Some(expression) = expression else { return };
    let mut use_ = PatternUse::new(node, role, Anchoring::Search, subject);
    if role == Role::Replace {
        use_.replacement = scan.replacement(argument(1));
        if let Some(by) = argument(1) {
            scan.string_replaced(node, (expression, by));
        }
    }
    scan.used(expression, use_.clone());
    // These three make a pattern of a string; the others take it as it is.
    if matches!(method, "match" | "matchAll" | "search")
        && let Some(constant) = scan.constant(expression)
    {
        scan.used_here(expression, use_);
        scan.pattern(constant, Flavour::JavaScript, Flags::default(), expression);
    }
}

/// `{type: "string", pattern: "…"}` and `{patternProperties: {"…": …}}`.
fn schema<'t>(scan: &mut Scan<'t>, node: Node<'t>) {
    let (Some(key), Some(value)) =
        (node.child_by_field_name("key"), node.child_by_field_name("value"))
    else {
        return;
    };
    let mut patterns = Vec::new();
    match (scan.text(key).trim_matches(['"', '\'']), value.kind()) {
        ("pattern", "string") if is_string_schema(scan, node) => patterns.push(value),
        ("patternProperties", "object") => {
            let mut cursor = value.walk();
            let keys =
                value.named_children(&mut cursor).filter_map(|p| p.child_by_field_name("key"));
            patterns.extend(keys.filter(|key| key.kind() == "string"));
        }
        _ => {}
    }
    for pattern in patterns {
        if let Some(constant) = scan.constant(pattern) {
            scan.pattern(constant, Flavour::JavaScript, Flags::default(), pattern);
        }
    }
}

/// Whether the object around a pair has `type: "string"`.
fn is_string_schema<'t>(scan: &Scan<'t>, pair: Node<'t>) -> bool {
    let Some(object) = pair.parent() else { return false };
    let mut cursor = object.walk();
    object.named_children(&mut cursor).any(|pair| {
        let field = |name: &str| {
            let child = pair.child_by_field_name(name);
            child.map_or("", |child| scan.text(child).trim_matches(['"', '\'']))
        };
        field("key") == "type" && field("value") == "string"
    })
}
