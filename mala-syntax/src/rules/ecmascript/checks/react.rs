//! React components that change their state behind React's back, or hooks out of order.

use super::{found, short};
use crate::rules::ecmascript::origin::{arguments, callee};
use crate::rules::ecmascript::{Program, ProgramCheck};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const STATE_MUTATION: ProgramCheck =
    ProgramCheck { name: "react-state-mutation", captures: &["TARGET"], run: state_mutations };

pub(in crate::rules::ecmascript) const UPDATE_IN_LIFECYCLE: ProgramCheck = ProgramCheck {
    name: "react-update-in-lifecycle",
    captures: &["CALL", "METHOD", "EFFECT"],
    run: updates_in_lifecycle,
};

pub(in crate::rules::ecmascript) const CONDITIONAL_HOOK: ProgramCheck = ProgramCheck {
    name: "react-conditional-hook",
    captures: &["HOOK", "WHY"],
    run: conditional_hooks,
};

pub(in crate::rules::ecmascript) const UNBOUND_METHOD: ProgramCheck =
    ProgramCheck { name: "react-unbound-method", captures: &["METHOD"], run: unbound_methods };

pub(in crate::rules::ecmascript) const STALE_STATE: ProgramCheck =
    ProgramCheck { name: "react-stale-state-update", captures: &["READ"], run: stale_updates };

const CHANGING: [&str; 9] =
    ["push", "pop", "shift", "unshift", "splice", "sort", "reverse", "fill", "copyWithin"];

fn state_mutations(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    let targets = program
        .of_kinds(&["assignment_expression", "augmented_assignment_expression"])
        .filter_map(|node| node.child_by_field_name("left"))
        .chain(
            program
                .of_kind("update_expression")
                .iter()
                .filter_map(|node| node.child_by_field_name("argument")),
        );
    for target in targets {
        if state_depth(program, target).is_some_and(|depth| depth > 0)
            && !in_constructor(program, target)
            && program.component_around(target).is_some()
        {
            matches.push(found(target, vec![("TARGET", short(program.text(target)))]));
        }
    }
    for call in program.of_kind("call_expression") {
        let Some(callee) = callee(*call).filter(|it| it.kind() == "member_expression") else {
            continue;
        };
        let method = callee.child_by_field_name("property").map_or("", |it| program.text(it));
        let Some(object) = callee.child_by_field_name("object") else { continue };
        if CHANGING.contains(&method)
            && state_depth(program, object).is_some_and(|depth| depth > 0)
            && !in_constructor(program, *call)
            && program.component_around(*call).is_some()
        {
            matches.push(found(*call, vec![("TARGET", short(program.text(object)))]));
        }
    }
    matches
}

/// How deep in `this.state` a member lies.
fn state_depth<'t>(program: &Program<'t>, node: Node<'t>) -> Option<usize> {
    let mut depth = 0;
    let mut node = node;
    loop {
        let object = match node.kind() {
            "member_expression" | "subscript_expression" => node.child_by_field_name("object")?,
            _ => return None,
        };
        let property = node.child_by_field_name("property").map_or("", |it| program.text(it));
        if property == "state" && program.is_this(object) {
            return Some(depth);
        }
        depth += 1;
        node = object;
    }
}

/// Whether code runs in the constructor itself, where the state is made.
fn in_constructor<'t>(program: &Program<'t>, node: Node<'t>) -> bool {
    program
        .function_around(node)
        .is_some_and(|function| program.member_name(function) == Some("constructor"))
}

const AGAIN: &str = "the component renders again and again";
const NOT_MOUNTED: &str = "there is no mounted component to update yet";

/// Methods in which updates are wrong, and what comes of it.
const LIFECYCLE: [(&str, &str); 8] = [
    ("render", AGAIN),
    ("componentDidUpdate", AGAIN),
    ("componentWillUpdate", AGAIN),
    ("shouldComponentUpdate", AGAIN),
    ("constructor", NOT_MOUNTED),
    ("getInitialState", NOT_MOUNTED),
    ("getDefaultProps", NOT_MOUNTED),
    ("componentDidUnmount", "the component is gone"),
];

fn updates_in_lifecycle(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for component in program.components() {
        let members = program.component_members(component);
        for (name, effect) in LIFECYCLE {
            let method = members.iter().find(|(member, _)| *member == name);
            let Some(body) = method.and_then(|(_, it)| it.child_by_field_name("body")) else {
                continue;
            };
            // A pure component does not render again for the same state.
            if name == "componentDidUpdate" && is_pure(program, component) {
                continue;
            }
            for call in certain_calls(program, body) {
                if updates(program, call, &members, 4) {
                    matches.push(found(
                        call,
                        vec![
                            ("CALL", short(program.text(callee(call).unwrap_or(call)))),
                            ("METHOD", name.to_owned()),
                            ("EFFECT", effect.to_owned()),
                        ],
                    ));
                }
            }
        }
    }
    matches
}

fn is_pure<'t>(program: &Program<'t>, component: Node<'t>) -> bool {
    let mut cursor = component.walk();
    component
        .children(&mut cursor)
        .any(|it| it.kind() == "class_heritage" && program.text(it).contains("Pure"))
}

/// The calls that a function makes whenever it is called.
fn certain_calls<'t>(program: &Program<'t>, body: Node<'t>) -> Vec<Node<'t>> {
    let mut calls: Vec<_> =
        program.own(body).into_iter().filter(|it| it.kind() == "call_expression").collect();
    if body.kind() == "call_expression" {
        calls.push(body);
    }
    calls.retain(|call| {
        let mut around = program.ancestors(*call).take_while(|around| around.id() != body.id());
        !around.any(|it| is_choice(program, it)) && !comes_after_exit(program, *call, body)
    });
    calls
}

/// Whether what is inside a node may not run, or more than once.
fn is_choice<'t>(program: &Program<'t>, node: Node<'t>) -> bool {
    match node.kind() {
        "if_statement" | "ternary_expression" | "switch_statement" | "for_statement"
        | "for_in_statement" | "while_statement" | "do_statement" | "try_statement" => true,
        "binary_expression" => matches!(program.operator(node), "&&" | "||" | "??"),
        _ => false,
    }
}

/// Whether a return stands before a call in the text.
fn comes_after_exit<'t>(program: &Program<'t>, call: Node<'t>, body: Node<'t>) -> bool {
    program
        .own(body)
        .iter()
        .any(|it| it.kind() == "return_statement" && it.end_byte() < call.start_byte())
}

/// Whether a call updates the state for certain, itself or through functions of the component.
fn updates<'t>(
    program: &Program<'t>,
    call: Node<'t>,
    members: &[(&'t str, Node<'t>)],
    depth: usize,
) -> bool {
    if depth == 0 {
        return false;
    }
    let function = match program.method_of_this(call) {
        Some("setState" | "replaceState" | "forceUpdate") => return true,
        Some(name) => members.iter().find(|(member, _)| *member == name).map(|(_, it)| *it),
        None => program.called(call).filter(|it| it.kind() == "arrow_function"),
    };
    let Some(function) = function.filter(|it| !program.is_async(*it)) else { return false };
    let Some(body) = function.child_by_field_name("body") else { return false };
    certain_calls(program, body)
        .into_iter()
        .any(|inner| updates(program, inner, members, depth - 1))
}

fn conditional_hooks(program: &Program<'_>) -> Vec<NativeMatch> {
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
fn why_not_always<'t>(program: &Program<'t>, call: Node<'t>) -> Option<&'static str> {
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
fn renders<'t>(program: &Program<'t>, function: Node<'t>) -> bool {
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

fn unbound_methods(program: &Program<'_>) -> Vec<NativeMatch> {
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
fn handler<'t>(program: &Program<'t>, attribute: Node<'t>) -> Option<(&'t str, Node<'t>)> {
    let name = program.text(attribute.named_child(0)?);
    let after_on = name.strip_prefix("on")?;
    after_on.chars().next().filter(|c| c.is_uppercase())?;
    let value = attribute.named_child(1).filter(|it| it.kind() == "jsx_expression")?;
    let member = value.named_child(0).filter(|it| it.kind() == "member_expression")?;
    let object = member.child_by_field_name("object").filter(|it| it.kind() == "this")?;
    let property = member.child_by_field_name("property")?;
    (object.kind() == "this").then(|| (program.text(property), member))
}

/// Whether anything in a class gives the method another form: `this.m = this.m.bind(this)`.
fn is_bound<'t>(program: &Program<'t>, class: Node<'t>, name: &str) -> bool {
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

fn stale_updates(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        if program.method_of_this(*call) != Some("setState")
            || program.component_around(*call).is_none()
        {
            continue;
        }
        let argument = arguments(*call).first().copied();
        let Some(object) = argument.filter(|it| it.kind() == "object") else { continue };
        let read = program.inside(object).iter().find(|it| {
            state_depth(program, **it) == Some(1)
                && program.function_around(**it).map(|it| it.id())
                    == program.function_around(*call).map(|it| it.id())
        });
        if let Some(read) = read {
            matches.push(found(*call, vec![("READ", short(program.text(*read)))]));
        }
    }
    matches
}
