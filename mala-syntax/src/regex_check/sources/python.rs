//! Python: the functions of `re` and the methods of compiled patterns.

use tree_sitter::Node;

use super::scan::Scan;
use super::{PatternUse, Role};
use crate::regex_check::{Anchoring, Flags, Flavour};

pub(super) fn visit<'t>(scan: &mut Scan<'t>, node: Node<'t>) {
    match node.kind() {
        "import_statement" | "import_from_statement" => import(scan, node),
        "call" => call(scan, node),
        _ => {}
    }
}

/// `import re as name` and `from re import compile as name`.
fn import<'t>(scan: &mut Scan<'t>, node: Node<'t>) {
    let module = node.child_by_field_name("module_name").map(|module| scan.text(module));
    if module.is_some_and(|module| module != "re") {
        return;
    }
    let mut cursor = node.walk();
    for name in node.children_by_field_name("name", &mut cursor) {
        let alias = name.child_by_field_name("alias").map(|alias| scan.text(alias));
        let original = name.child_by_field_name("name").map_or(scan.text(name), |n| scan.text(n));
        let meaning = if module.is_some() { original } else { "re" };
        if module.is_some() || original == "re" {
            scan.imports.insert(alias.unwrap_or(original), meaning);
        }
    }
}

/// What a function or method does, where a match lies, and which arguments hold the text and
/// the flags of the function.
fn shape(name: &str) -> Option<(Role, Anchoring, u32, u32)> {
    Some(match name {
        "search" => (Role::Match, Anchoring::Search, 1, 2),
        "findall" | "finditer" => (Role::Collect, Anchoring::Search, 1, 2),
        "match" => (Role::Match, Anchoring::Start, 1, 2),
        "fullmatch" => (Role::Match, Anchoring::Full, 1, 2),
        "split" => (Role::Split, Anchoring::Search, 1, 3),
        "sub" | "subn" => (Role::Replace, Anchoring::Search, 2, 4),
        _ => return None,
    })
}

fn call<'t>(scan: &mut Scan<'t>, node: Node<'t>) {
    let (Some(function), Some(arguments)) =
        (node.child_by_field_name("function"), node.child_by_field_name("arguments"))
    else {
        return;
    };
    let object = function.child_by_field_name("object");
    let name = match (object, function.child_by_field_name("attribute")) {
        (Some(object), Some(attribute)) => {
            let name = scan.text(attribute);
            let module = scan.text(object);
            let known = scan.imports.get(module) == Some(&"re") || module == "re";
            if !known {
                return method(scan, node, object, name);
            }
            name
        }
        _ if function.kind() == "identifier" => match scan.imports.get(scan.text(function)) {
            Some(&"re") | None => return,
            Some(name) => *name,
        },
        _ => return,
    };
    let Some(pattern) = argument(scan, arguments, 0, "pattern") else { return };
    if name == "compile" {
        let flags = argument(scan, arguments, 1, "flags");
        let flags = flags.map_or(Flags::default(), |flags| read_flags(scan.text(flags)));
        if let Some(constant) = scan.constant(pattern) {
            scan.pattern(constant, Flavour::Python, flags, node);
        }
        return;
    }
    let Some((role, anchoring, text, flags)) = shape(name) else { return };
    let flags = argument(scan, arguments, flags, "flags");
    let flags = flags.map_or(Flags::default(), |flags| read_flags(scan.text(flags)));
    let subject = argument(scan, arguments, text, "string");
    let mut use_ = PatternUse::new(node, role, anchoring, subject);
    if role == Role::Replace {
        use_.replacement = scan.replacement(argument(scan, arguments, 1, "repl"));
    }
    match scan.constant(pattern) {
        Some(constant) => {
            scan.used_here(node, use_);
            scan.pattern(constant, Flavour::Python, flags, node);
        }
        None => scan.used(pattern, use_),
    }
}

/// A method of a compiled pattern.
fn method<'t>(scan: &mut Scan<'t>, node: Node<'t>, object: Node<'t>, name: &str) {
    let Some(arguments) = node.child_by_field_name("arguments") else { return };
    if name == "replace" {
        let at = |position| argument(scan, arguments, position, "");
        if let (Some(from), Some(to)) = (at(0), at(1)) {
            scan.string_replaced(node, (from, to));
        }
        return;
    }
    let Some((role, anchoring, text, _)) = shape(name) else { return };
    let subject = argument(scan, arguments, text - 1, "string");
    let mut use_ = PatternUse::new(node, role, anchoring, subject);
    if role == Role::Replace {
        use_.replacement = scan.replacement(argument(scan, arguments, 0, "repl"));
    }
    scan.used(object, use_);
}

/// The argument at a position, or the one with the name.
fn argument<'t>(
    scan: &Scan<'t>,
    arguments: Node<'t>,
    position: u32,
    name: &str,
) -> Option<Node<'t>> {
    let mut cursor = arguments.walk();
    let all = arguments.named_children(&mut cursor).filter(|argument| argument.kind() != "comment");
    let (named, plain): (Vec<_>, Vec<_>) = all.partition(|a| a.kind() == "keyword_argument");
    let by_name = named.into_iter().find(|argument| {
        argument.child_by_field_name("name").is_some_and(|key| scan.text(key) == name)
    });
    let by_name = by_name.and_then(|argument| argument.child_by_field_name("value"));
    by_name.or_else(|| plain.get(position as usize).copied())
}

fn read_flags(text: &str) -> Flags {
    let mut flags = Flags::default();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()) {
        match word {
            "I" | "IGNORECASE" => flags.ignore_case = true,
            "M" | "MULTILINE" => flags.multi_line = true,
            "S" | "DOTALL" => flags.dot_all = true,
            "X" | "VERBOSE" => flags.verbose = true,
            _ => {}
        }
    }
    flags
}
