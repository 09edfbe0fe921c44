//! What handlers of requests take for granted about them.

use super::{found, short};
use crate::rules::ecmascript::origin::{arguments, callee, unquoted};
use crate::rules::ecmascript::program::is_function;
use crate::rules::ecmascript::{Program, ProgramCheck};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const LIST_FOR_TEXT: ProgramCheck = ProgramCheck {
    name: "query-may-be-list",
    captures: &["VALUE", "METHOD"],
    run: lists_for_texts,
};

pub(in crate::rules::ecmascript) const PASSWORD_IN_URL: ProgramCheck =
    ProgramCheck { name: "password-in-url", captures: &["NAME"], run: passwords_in_urls };

pub(in crate::rules::ecmascript) const CASE_SENSITIVE_PATH: ProgramCheck = ProgramCheck {
    name: "case-sensitive-guard",
    captures: &["PATTERN"],
    run: case_sensitive_guards,
};

/// Members that lists and texts both have, with other results.
const SHARED: [&str; 6] = ["indexOf", "lastIndexOf", "includes", "concat", "slice", "length"];

fn lists_for_texts(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for member in program.of_kind("member_expression") {
        let (Some(object), Some(property)) =
            (member.child_by_field_name("object"), member.child_by_field_name("property"))
        else {
            continue;
        };
        let name = program.text(property);
        if !SHARED.contains(&name)
            || !is_query_value(program, object)
            || is_harmless(program, *member, name)
            || is_checked(program, object)
        {
            continue;
        }
        matches.push(found(
            *member,
            vec![("VALUE", short(program.text(object))), ("METHOD", name.to_owned())],
        ));
    }
    matches
}

/// `req.query.name`, or a variable that holds it.
fn is_query_value<'t>(program: &Program<'t>, node: Node<'t>) -> bool {
    let Some(value) = program.value_of(node) else { return false };
    if value.kind() != "member_expression" {
        return false;
    }
    let object = value.child_by_field_name("object").and_then(|it| program.value_of(it));
    object.is_some_and(|query| {
        matches!(
            program.text(query),
            "req.query" | "request.query" | "ctx.query" | "ctx.request.query"
        ) && program.function_around(query).is_some()
    })
}

/// Uses that mean the same for a list: whether there is anything, and how it begins or ends.
fn is_harmless<'t>(program: &Program<'t>, member: Node<'t>, name: &str) -> bool {
    let Some(parent) = program.parent(member) else { return true };
    if name == "length" {
        return match parent.kind() {
            "binary_expression" => {
                let other = ["left", "right"]
                    .into_iter()
                    .filter_map(|side| parent.child_by_field_name(side))
                    .find(|side| side.id() != member.id());
                other.is_some_and(|it| matches!(program.text(it), "0" | "1"))
            }
            "expression_statement" => false,
            _ => true,
        };
    }
    if parent.kind() != "call_expression" {
        return true;
    }
    let compared = program.parent(parent).filter(|it| it.kind() == "binary_expression");
    let other = compared.and_then(|it| it.child_by_field_name("right"));
    let is_prefix = name == "indexOf" && other.is_some_and(|it| program.text(it) == "0");
    let first = arguments(parent).first().map_or("", |it| program.text(*it));
    is_prefix || (name == "slice" && first.starts_with('-'))
}

/// Whether the value was asked what it is before it is used: in a condition around the use, or in
/// one that leaves the function.
fn is_checked<'t>(program: &Program<'t>, value: Node<'t>) -> bool {
    let Some(function) = outermost_function(program, value) else { return true };
    let text = program.text(value);
    program
        .inside(function)
        .iter()
        .filter(|it| asks_for_type(program, **it, text))
        .any(|question| guards(program, *question, value))
}

fn asks_for_type<'t>(program: &Program<'t>, node: Node<'t>, text: &str) -> bool {
    match node.kind() {
        "unary_expression" => {
            program.operator(node) == "typeof"
                && node.child_by_field_name("argument").is_some_and(|it| program.text(it) == text)
                && !program
                    .parent(node)
                    .is_some_and(|around| program.text(around).contains("undefined"))
        }
        "binary_expression" => {
            program.operator(node) == "instanceof"
                && node.child_by_field_name("left").is_some_and(|it| program.text(it) == text)
        }
        "call_expression" => {
            let name = callee(node).map_or("", |it| program.text(it));
            let asks = name.ends_with("isArray") || name.ends_with("isString") || name == "String";
            asks && arguments(node).first().is_some_and(|it| program.text(*it) == text)
        }
        _ => false,
    }
}

fn guards<'t>(program: &Program<'t>, question: Node<'t>, value: Node<'t>) -> bool {
    program.ancestors(question).any(|around| match around.kind() {
        "if_statement" => {
            let leaves = around.child_by_field_name("consequence").is_some_and(|then| {
                program.inside(then).iter().chain([&then]).any(|it| {
                    matches!(
                        it.kind(),
                        "return_statement" | "throw_statement" | "continue_statement"
                    )
                })
            });
            let comes_first = around.end_byte() <= value.start_byte();
            let same_block = program.parent(around).is_some_and(|it| program.contains(it, value));
            program.contains(around, value) || (leaves && comes_first && same_block)
        }
        "ternary_expression" | "binary_expression" | "while_statement" => {
            program.contains(around, value)
        }
        _ => false,
    })
}

fn outermost_function<'t>(program: &Program<'t>, node: Node<'t>) -> Option<Node<'t>> {
    program.ancestors(node).filter(|it| is_function(*it)).last()
}

fn passwords_in_urls(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for node in program.of_kinds(&["member_expression", "call_expression"]) {
        let Some(key) = query_key(program, node) else { continue };
        let target = program
            .parent(node)
            .filter(|it| it.kind() == "variable_declarator")
            .and_then(|it| it.child_by_field_name("name"))
            .map_or("", |it| program.text(it));
        let name = [key, target].into_iter().find(|name| is_password(name));
        if let Some(name) = name.filter(|_| answers_get(program, node)) {
            matches.push(found(node, vec![("NAME", name.to_owned())]));
        }
    }
    matches
}

fn is_password(name: &str) -> bool {
    let lower = name.to_lowercase();
    ["password", "passwd", "passphrase"].iter().any(|word| lower.contains(word))
        && !["reset", "forgot", "has", "is", "need"].iter().any(|word| lower.starts_with(word))
}

/// The name that is asked for in `req.query.name` and `req.param("name")`.
fn query_key<'t>(program: &Program<'t>, node: Node<'t>) -> Option<&'t str> {
    if node.kind() == "call_expression" {
        let callee = program.text(callee(node)?);
        let first = *arguments(node).first()?;
        let is_param = matches!(callee, "req.param" | "request.param");
        return (is_param && first.kind() == "string").then(|| unquoted(program.text(first)));
    }
    let object = program.text(node.child_by_field_name("object")?);
    let property = node.child_by_field_name("property")?;
    matches!(object, "req.query" | "request.query" | "query").then(|| program.text(property))
}

/// Whether a function answers GET requests: `app.get("/path", handler)`.
fn answers_get<'t>(program: &Program<'t>, node: Node<'t>) -> bool {
    program.ancestors(node).filter(|it| is_function(*it)).any(|function| {
        let call = program.parent(function).and_then(|it| program.parent(it));
        let Some(call) = call.filter(|it| it.kind() == "call_expression") else { return false };
        let method = callee(call).and_then(|it| it.child_by_field_name("property"));
        method.is_some_and(|it| program.text(it) == "get")
            && arguments(call).first().is_some_and(|it| it.kind() == "string")
    })
}

fn case_sensitive_guards(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let Some(path) = program.callee_origin(*call) else { continue };
        let method = ["use", "all", "get", "post", "put", "delete", "patch"].iter().any(|it| {
            path == format!("express:().{it}") || path == format!("express:Router().{it}")
        });
        let given = arguments(*call);
        let [pattern, .., last] = given.as_slice() else { continue };
        if method
            && goes_on(program, *last)
            && let Some(source) = lower_case_pattern(program, *pattern)
        {
            matches.push(found(*pattern, vec![("PATTERN", source)]));
        }
    }
    matches
}

/// Whether a handler lets the request through to others.
fn goes_on<'t>(program: &Program<'t>, handler: Node<'t>) -> bool {
    let Some(value) = program.value_of(handler) else { return false };
    if !is_function(value) {
        let is_static = program.callee_origin(value).is_some_and(|path| path == "express:static")
            || program.text(value).starts_with("express.static");
        return matches!(value.kind(), "call_expression" | "identifier" | "member_expression")
            && !is_static;
    }
    let next = program.parameters(value).get(2).copied();
    next.and_then(|it| program.parameter_variable(it)).is_some_and(|it| !it.reads.is_empty())
}

/// The source of a regular expression that tells large and small letters apart.
fn lower_case_pattern<'t>(program: &Program<'t>, node: Node<'t>) -> Option<String> {
    let value = program.value_of(node)?;
    let (source, flags) = match value.kind() {
        "regex" => {
            let flags = value.child_by_field_name("flags").map_or("", |it| program.text(it));
            (program.text(value.child_by_field_name("pattern")?).to_owned(), flags.to_owned())
        }
        "new_expression" => {
            let is_regexp = program.callee_origin(value).is_some_and(|path| path == "RegExp");
            let given = arguments(value);
            let source = program.constant_text(*given.first().filter(|_| is_regexp)?)?;
            let flags = match given.get(1) {
                Some(flags) => program.constant_text(*flags)?.into_owned(),
                None => String::new(),
            };
            (source.into_owned(), flags)
        }
        _ => return None,
    };
    (!flags.contains('i') && has_fixed_letter(&source)).then_some(source)
}

/// Whether a letter stands for itself only, outside of `[Aa]`.
fn has_fixed_letter(source: &str) -> bool {
    let mut in_class = false;
    let mut class = String::new();
    let mut characters = source.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => {
                characters.next();
            }
            '[' => {
                in_class = true;
                class.clear();
            }
            ']' => {
                in_class = false;
                let has_both = |c: char| {
                    class.contains(c.to_ascii_lowercase()) && class.contains(c.to_ascii_uppercase())
                };
                let letters: Vec<char> = class.chars().filter(char::is_ascii_alphabetic).collect();
                if !class.contains('-') && letters.iter().any(|c| !has_both(*c)) {
                    return true;
                }
            }
            _ if in_class => class.push(c),
            _ if c.is_ascii_alphabetic() => return true,
            _ => {}
        }
    }
    false
}
