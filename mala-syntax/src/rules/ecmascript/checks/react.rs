//! React components: hooks, unbound methods, keys of lists.

use super::found;
use crate::rules::ecmascript::origin::{arguments, callee};
use crate::rules::ecmascript::program::is_function;
use crate::rules::ecmascript::{ScriptCheck, ScriptFile};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const CONDITIONAL_HOOK: ScriptCheck = ScriptCheck {
    name: "react-conditional-hook",
    captures: &["HOOK", "WHY"],
    run: conditional_hooks,
};

pub(in crate::rules::ecmascript) const UNBOUND_METHOD: ScriptCheck =
    ScriptCheck { name: "react-unbound-method", captures: &["METHOD"], run: unbound_methods };

fn conditional_hooks(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let Some(name) = callee(*call).map(|it| program.text(it)) else { continue };
        let hook = name.strip_prefix("React.").unwrap_or(name);
        let is_hook = hook
            .strip_prefix("use")
            .is_some_and(|rest| rest.chars().next().is_some_and(char::is_uppercase))
            && hook.chars().all(|c| c.is_alphanumeric() || c == '_');
        if !is_hook {
            continue;
        }
        if let Some(why) = why_not_always(program, *call) {
            matches.push(found(*call, vec![("HOOK", hook.to_owned()), ("WHY", why.to_owned())]));
        }
    }
    matches
}

/// Why a hook is not called at every rendering.
fn why_not_always<'t>(program: &ScriptFile<'t>, call: Node<'t>) -> Option<&'static str> {
    let function = program.function_around(call)?;
    if !renders(program, function) {
        return None;
    }
    let body = function.child_by_field_name("body")?;
    let mut inner = call;
    for around in program.ancestors(call).take_while(|around| around.id() != function.id()) {
        let is_condition = around
            .child_by_field_name("condition")
            .is_some_and(|condition| condition.id() == inner.id());
        match around.kind() {
            "if_statement" | "ternary_expression" if !is_condition => {
                return Some("only under a condition");
            }
            "switch_case" => return Some("only under a condition"),
            "binary_expression" if matches!(program.operator(around), "&&" | "||" | "??") => {
                let is_right = around
                    .child_by_field_name("right")
                    .is_some_and(|right| right.id() == inner.id());
                if is_right {
                    return Some("only under a condition");
                }
            }
            "for_statement" | "for_in_statement" | "while_statement" | "do_statement" => {
                return Some("in a loop");
            }
            _ => {}
        }
        inner = around;
    }
    let leaves_early = program.own(body).iter().any(|it| {
        it.kind() == "return_statement"
            && it.end_byte() < call.start_byte()
            && program
                .ancestors(*it)
                .take_while(|around| around.id() != function.id())
                .any(|around| around.kind() == "if_statement")
    });
    leaves_early.then_some("only when no earlier return is taken")
}

/// Whether a function is a component or a hook itself.
fn renders<'t>(program: &ScriptFile<'t>, function: Node<'t>) -> bool {
    let uses_react = program.of_kind("import_statement").iter().any(|import| {
        let source = import.child_by_field_name("source").map_or("", |it| program.text(it));
        source.contains("react") || source.contains("preact")
    });
    let Some(name) = program.function_name(function) else { return false };
    let is_hook = name
        .strip_prefix("use")
        .is_some_and(|rest| rest.chars().next().is_some_and(char::is_uppercase));
    let is_component = name.chars().next().is_some_and(char::is_uppercase)
        && program.inside(function).iter().any(|it| it.kind().starts_with("jsx_"));
    uses_react && (is_hook || is_component) && !program.is_async(function)
}

fn unbound_methods(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for attribute in program.of_kind("jsx_attribute") {
        let Some((name, value)) = handler(program, *attribute) else { continue };
        let Some(class) = program.class_around(*attribute) else { continue };
        let method = program.class_members(class).into_iter().find(|member| {
            member.kind() == "method_definition" && program.member_name(*member) == Some(name)
        });
        let Some(method) = method else { continue };
        let mut cursor = method.walk();
        let is_special = method
            .children(&mut cursor)
            .any(|it| matches!(it.kind(), "decorator" | "get" | "static"));
        let body = method.child_by_field_name("body");
        let uses_this = body.is_some_and(|body| {
            program.own(body).iter().any(|it| it.kind() == "this")
                || program.inside(body).iter().any(|it| {
                    it.kind() == "this"
                        && program
                            .function_around(*it)
                            .is_some_and(|f| f.kind() == "arrow_function")
                })
        });
        if uses_this && !is_special && !is_bound(program, class, name) {
            matches.push(found(value, vec![("METHOD", name.to_owned())]));
        }
    }
    matches
}

/// The method in `onClick={this.method}`.
fn handler<'t>(program: &ScriptFile<'t>, attribute: Node<'t>) -> Option<(&'t str, Node<'t>)> {
    let name = program.text(attribute.named_child(0)?);
    let after_on = name.strip_prefix("on")?;
    after_on.chars().next().filter(|c| c.is_uppercase())?;
    let value = attribute.named_child(1).filter(|it| it.kind() == "jsx_expression")?;
    let member = value.named_child(0).filter(|it| it.kind() == "member_expression")?;
    let object = member.child_by_field_name("object").filter(|it| it.kind() == "this")?;
    let property = member.child_by_field_name("property")?;
    (object.kind() == "this").then(|| (program.text(property), member))
}

/// Whether a class binds the method: `this.m = this.m.bind(this)`.
fn is_bound<'t>(program: &ScriptFile<'t>, class: Node<'t>, name: &str) -> bool {
    let text = program.text(class);
    let assigned = format!("this.{name} =");
    let mut cursor = class.walk();
    let is_decorated = class.children(&mut cursor).any(|it| it.kind() == "decorator");
    text.contains(&assigned)
        || text.contains(&format!("this.{name}="))
        || text.contains("autoBind")
        || text.contains("autobind")
        || text.contains("bindAll")
        || text.contains("bindMethods")
        || is_decorated
}

pub(in crate::rules::ecmascript) const MISSING_KEY: ScriptCheck =
    ScriptCheck { name: "missing-key-in-list", captures: &[], run: missing_keys };

fn missing_keys(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let method = callee(*call).and_then(|it| it.child_by_field_name("property"));
        let is_map = method.is_some_and(|it| program.text(it) == "map");
        let shown = program.parent(*call).is_some_and(|it| it.kind() == "jsx_expression")
            && program
                .parent(*call)
                .and_then(|it| program.parent(it))
                .is_some_and(|it| matches!(it.kind(), "jsx_element" | "jsx_fragment"));
        let Some(callback) = arguments(*call).first().copied().filter(|_| is_map && shown) else {
            continue;
        };
        if !is_function(callback) {
            continue;
        }
        for element in given_elements(program, callback) {
            if !has_key(program, element) {
                matches.push(found(element, Vec::new()));
            }
        }
    }
    matches
}

/// The JSX elements that a callback returns.
fn given_elements<'t>(program: &ScriptFile<'t>, callback: Node<'t>) -> Vec<Node<'t>> {
    let Some(body) = callback.child_by_field_name("body") else { return Vec::new() };
    let values = if body.kind() == "statement_block" {
        program.returns(callback).into_iter().filter_map(|it| it.named_child(0)).collect()
    } else {
        vec![body]
    };
    values
        .into_iter()
        .map(|value| match value.kind() {
            "parenthesized_expression" => value.named_child(0).unwrap_or(value),
            _ => value,
        })
        .filter(|it| matches!(it.kind(), "jsx_element" | "jsx_self_closing_element"))
        // `<></>` is empty.
        .filter(|it| program.text(*it) != "<></>")
        .collect()
}

/// Whether an element has a key, or may get one from a spread.
fn has_key<'t>(program: &ScriptFile<'t>, element: Node<'t>) -> bool {
    let opening = element.child_by_field_name("open_tag").unwrap_or(element);
    let mut cursor = opening.walk();
    opening.named_children(&mut cursor).any(|it| match it.kind() {
        "jsx_attribute" => it.named_child(0).is_some_and(|name| program.text(name) == "key"),
        "jsx_expression" => true,
        _ => false,
    })
}
