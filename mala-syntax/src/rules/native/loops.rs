//! Loops over the wrong variable: one that is tested but never changes, and one that an inner loop
//! takes away from the outer.

use super::code::{bare, because, found, line, parts};
use super::{CheckMatch, Family, NativeCheck};
use crate::rules::walk::{Step, descend, walk};
use crate::source::Source;
use mala_domain::language::Language;
use std::collections::BTreeSet;
use tree_sitter::Node;

pub(super) const FAMILY: Family = Family {
    checks: &[WRONG_LOOP_VARIABLE, REUSED_LOOP_VARIABLE],
    kinds: &["for_statement", "for_in_statement"],
    run,
};

const WRONG_LOOP_VARIABLE: NativeCheck =
    NativeCheck { name: "wrong-loop-variable", captures: &["TESTED", "CHANGED", "CONDITION"] };

const REUSED_LOOP_VARIABLE: NativeCheck =
    NativeCheck { name: "reused-loop-variable", captures: &["NAME", "LINE"] };

fn run(source: &Source, loops: &[Node<'_>]) -> Vec<CheckMatch> {
    let wrong =
        loops.iter().filter_map(|it| counting(*it)).filter_map(|it| wrong_variable(source, &it));
    let reused = loops.iter().filter_map(|it| reused_inside(source, *it));
    wrong.chain(reused).collect()
}

/// The three parts of a counting loop, with its body.
struct Counting<'t> {
    whole: Node<'t>,
    start: Option<Node<'t>>,
    condition: Node<'t>,
    update: Node<'t>,
    body: Node<'t>,
}

fn counting(whole: Node<'_>) -> Option<Counting<'_>> {
    let clause = parts(whole).into_iter().find(|part| part.kind() == "for_clause");
    let head = clause.unwrap_or(whole);
    let field = |name| head.child_by_field_name(name);
    Some(Counting {
        whole,
        start: field("initializer").or_else(|| field("init")),
        condition: bare(field("condition")?),
        update: field("increment").or_else(|| field("update"))?,
        body: whole.child_by_field_name("body")?,
    })
}

/// A comparison of names of which none changes, while the loop counts another one.
fn wrong_variable(source: &Source, counting: &Counting<'_>) -> Option<CheckMatch> {
    let condition = unwrapped(counting.condition);
    let operator = condition.child_by_field_name("operator")?;
    if !matches!(source.slice(operator), "<" | "<=" | ">" | ">=") {
        return None;
    }
    let tested = names_in(source, condition)?;
    let counted = changed_in(source, counting.update);
    let left = bare(condition.child_by_field_name("left")?);
    let [changed] = counted.iter().collect::<Vec<_>>()[..] else { return None };
    let changes_elsewhere = changed_in(source, counting.body);
    let started = counting.start.map(|start| changed_in(source, start)).unwrap_or_default();
    let is_fault = left.kind() == "identifier"
        && started.len() == 1
        && !tested.contains(changed)
        && tested.is_disjoint(&changes_elsewhere)
        // One of the two is the loop's own variable; else the loop counts something besides.
        && (started.contains(changed) || started.contains(source.slice(left)))
        && !hands_out(source, counting.body, &tested);
    is_fault.then(|| {
        let condition = source.slice(counting.condition);
        let condition = condition.trim_end_matches(';').to_owned();
        found(
            &WRONG_LOOP_VARIABLE,
            counting.whole,
            vec![
                ("TESTED", source.slice(left).to_owned()),
                ("CHANGED", changed.clone()),
                ("CONDITION", condition),
            ],
        )
    })
}

/// JavaScript keeps the semicolon with the condition.
fn unwrapped(condition: Node<'_>) -> Node<'_> {
    match parts(condition).as_slice() {
        [only] if condition.kind() == "expression_statement" => bare(*only),
        _ => condition,
    }
}

/// The plain names of an expression; `None` when it also calls something.
fn names_in(source: &Source, expression: Node<'_>) -> Option<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    let mut calls = false;
    walk(expression, None, |part| match part.kind() {
        "identifier" => {
            names.insert(source.slice(part).to_owned());
        }
        "call_expression" | "method_invocation" => calls |= !is_length(source, part),
        _ => {}
    });
    (!calls).then_some(names)
}

fn is_length(source: &Source, call: Node<'_>) -> bool {
    let text = source.slice(call);
    text.starts_with("len(") || text.ends_with(".length()") || text.ends_with(".size()")
}

/// The plain names that a piece of code declares, assigns or counts.
fn changed_in(source: &Source, code: Node<'_>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut add = |target: Option<Node<'_>>| {
        let Some(target) = target else { return };
        walk(target, None, |part| {
            if part.kind() == "identifier" {
                names.insert(source.slice(part).to_owned());
            }
        });
    };
    walk(code, None, |part| match part.kind() {
        "assignment_expression"
        | "augmented_assignment_expression"
        | "assignment_statement"
        | "short_var_declaration"
        | "for_in_statement"
        | "range_clause" => {
            add(part.child_by_field_name("left"));
        }
        "variable_declarator" => add(part.child_by_field_name("name")),
        "init_declarator" => add(part.child_by_field_name("declarator")),
        "update_expression" | "inc_statement" | "dec_statement" => {
            add(parts(part).first().copied())
        }
        _ => {}
    });
    names
}

/// `&i` hands the variable to someone who may change it, and in C and C++ so may `f(i)`: a macro, or
/// a parameter that is a reference.
fn hands_out(source: &Source, body: Node<'_>, names: &BTreeSet<String>) -> bool {
    let by_name = matches!(source.language(), Language::C | Language::Cpp);
    let mut handed = false;
    walk(body, None, |part| match part.kind() {
        "unary_expression" | "pointer_expression" => {
            let text = source.slice(part);
            handed |= text.strip_prefix('&').is_some_and(|name| names.contains(name));
        }
        "argument_list" if by_name => {
            handed |= parts(part).iter().any(|argument| names.contains(source.slice(*argument)));
        }
        _ => {}
    });
    handed
}

/// An inner loop that takes the variable of the outer one, which is used again after it.
fn reused_inside(source: &Source, outer: Node<'_>) -> Option<CheckMatch> {
    let name = loop_variable(source, outer)?;
    let body = outer.child_by_field_name("body")?;
    let mut inner: Option<Node<'_>> = None;
    let mut used_after = false;
    descend(body, |part, _| {
        if is_function(part) {
            return Step::Over;
        }
        if part.id() != body.id() && loop_variable(source, part) == Some(name) {
            inner = inner.or(Some(part));
            return Step::Over;
        }
        used_after |= inner.is_some() && part.kind() == "identifier" && source.slice(part) == name;
        Step::Into
    });
    let inner = inner?;
    let counts = is_counting(outer);
    (counts || used_after).then(|| {
        let captures = vec![("NAME", name.to_owned()), ("LINE", line(outer))];
        let head = inner.child_by_field_name("body").map_or(inner.end_byte(), |it| it.start_byte());
        let mut found = because(found(&REUSED_LOOP_VARIABLE, inner, captures), outer);
        found.found.bytes = inner.start_byte()..head.max(inner.start_byte() + 1);
        found
    })
}

/// The variable of a loop, when the loop does not declare one that only its own body sees.
fn loop_variable<'t>(source: &'t Source, node: Node<'t>) -> Option<&'t str> {
    let name = match node.kind() {
        "for_statement" if source.language() == Language::Python => {
            node.child_by_field_name("left")?
        }
        "for_in_statement" => {
            let scoped =
                node.child_by_field_name("kind").is_some_and(|it| source.slice(it) != "var");
            node.child_by_field_name("left").filter(|_| !scoped)?
        }
        "for_statement" => counted_variable(node)?,
        _ => return None,
    };
    let text = source.slice(name);
    (name.kind() == "identifier" && text != "_").then_some(text)
}

fn counted_variable(node: Node<'_>) -> Option<Node<'_>> {
    let start =
        node.child_by_field_name("initializer").or_else(|| node.child_by_field_name("init"))?;
    match start.kind() {
        "variable_declaration" => match parts(start).as_slice() {
            [only] => only.child_by_field_name("name"),
            _ => None,
        },
        "assignment_expression" => start.child_by_field_name("left"),
        "expression_statement" => parts(start).first()?.child_by_field_name("left"),
        _ => None,
    }
}

fn is_counting(node: Node<'_>) -> bool {
    node.child_by_field_name("condition").is_some()
}

fn is_function(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "function_definition"
            | "lambda"
            | "function_declaration"
            | "function_expression"
            | "arrow_function"
            | "method_definition"
            | "class_definition"
            | "class_declaration"
            | "lambda_expression"
            | "list_comprehension"
            | "set_comprehension"
            | "dictionary_comprehension"
            | "generator_expression"
    )
}
