//! Switches and matches: which cases they list, and whether they handle the rest.

mod chains;
mod rest;

use super::imports::text_of_string;
use super::scopes::Scopes;
use super::table::lookup;
use super::walk::{Descend, child_of_kind, named_children, walk};
use crate::source::{Source, lines_of};
use mala_domain::language::Language;
use tree_sitter::Node;

/// A switch or match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    /// Where it starts.
    pub line: u32,
    /// The cases that it lists, without those that have a further condition.
    pub cases: Vec<Case>,
    /// Whether it handles what it does not list.
    pub fallback: Fallback,
    /// The function around it.
    pub within: Option<String>,
    /// The class or type around it.
    pub owner: Option<String>,
}

/// One case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Case {
    /// A name, with dots between its parts.
    Name(String),
    /// A string.
    Text(String),
    /// Something else.
    Other,
}

/// Whether a switch handles what it does not list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallback {
    /// It does.
    Present,
    /// It does not.
    Absent,
}

/// The switches of a file.
pub fn switches(source: &Source) -> Vec<Switch> {
    let lookup = lookup(source.language());
    let mut scopes = Scopes::default();
    let mut found = Vec::new();
    walk(source.tree(), |trail, step| {
        scopes.leave(trail);
        if let Some((cases, fallback)) = read(source, step.node) {
            found.push(Switch {
                line: lines_of(step.node).start(),
                cases,
                fallback,
                within: scopes.path(),
                owner: scopes.type_name().map(str::to_owned),
            });
        }
        scopes.enter(source, lookup, trail, step);
        Descend::Into
    });
    found
}

/// The cases of one arm; `None` for a default.
type Arm = Option<Vec<Case>>;

fn read(source: &Source, node: Node<'_>) -> Option<(Vec<Case>, Fallback)> {
    let (cases, fallback) = match (source.language(), node.kind()) {
        (Language::Python, "match_statement") => chains::python_match(source, node)?,
        (Language::Python, "if_statement") => chains::python_if(source, node)?,
        (Language::Python, _) => return None,
        _ => switch(source, node)?,
    };
    let fallback = if rest::handles(source, node) { Fallback::Present } else { fallback };
    Some((cases, fallback))
}

fn switch(source: &Source, node: Node<'_>) -> Option<(Vec<Case>, Fallback)> {
    let body = match node.kind() {
        "switch_statement" | "switch_expression" | "match_expression" => {
            node.child_by_field_name("body").unwrap_or(node)
        }
        "expression_switch_statement" => node,
        _ => return None,
    };
    let mut cases = Vec::new();
    let mut fallback = Fallback::Absent;
    for step in named_children(body) {
        match arm(source, step.node) {
            Some(Some(found)) => cases.extend(found),
            Some(None) => fallback = Fallback::Present,
            None => {}
        }
    }
    Some((cases, fallback))
}

/// What one child of a switch handles; `None` when it is no arm.
fn arm(source: &Source, node: Node<'_>) -> Option<Arm> {
    let value = node.child_by_field_name("value");
    Some(match node.kind() {
        "switch_default" | "default_case" | "match_default_expression" | "default_statement" => {
            None
        }
        "switch_case" => Some(vec![case(source, value?)]),
        "case_statement" => value.map(|value| vec![case(source, value)]),
        "expression_case" => {
            Some(named_children(value?).iter().map(|step| case(source, step.node)).collect())
        }
        "match_conditional_expression" => {
            let list = node.child_by_field_name("conditional_expressions")?;
            Some(named_children(list).iter().map(|step| case(source, step.node)).collect())
        }
        "switch_block_statement_group" | "switch_rule" => java_labels(source, node),
        "switch_section" | "switch_expression_arm" => csharp_arm(source, node),
        "match_arm" => rust_arm(source, node),
        _ => return Option::None,
    })
}

fn java_labels(source: &Source, node: Node<'_>) -> Arm {
    let mut found = Vec::new();
    for step in named_children(node).iter().filter(|step| step.node.kind() == "switch_label") {
        let values = named_children(step.node);
        if values.is_empty() {
            return None;
        }
        found.extend(values.iter().map(|value| case(source, value.node)));
    }
    Some(found)
}

fn csharp_arm(source: &Source, node: Node<'_>) -> Arm {
    let first = named_children(node).first().map(|step| step.node)?;
    match first.kind() {
        "discard" | "var_pattern" => None,
        "constant_pattern" => {
            let value = named_children(first).first().map(|step| step.node);
            Some(vec![value.map_or(Case::Other, |value| case(source, value))])
        }
        kind if kind.ends_with("pattern") => Some(vec![Case::Other]),
        _ => None,
    }
}

fn rust_arm(source: &Source, node: Node<'_>) -> Arm {
    let pattern = node.child_by_field_name("pattern")?;
    let is_conditional = pattern.child_by_field_name("condition").is_some();
    let mut found = Vec::new();
    let mut open: Vec<Node<'_>> = match named_children(pattern).first() {
        Some(first) => vec![first.node],
        // `_` has no node of its own.
        None => return None,
    };
    while let Some(alternative) = open.pop() {
        match alternative.kind() {
            "or_pattern" => {
                open.extend(named_children(alternative).into_iter().map(|step| step.node));
            }
            "reference_pattern" | "ref_pattern" | "mut_pattern" | "captured_pattern" => {
                open.extend(named_children(alternative).into_iter().last().map(|step| step.node));
            }
            "identifier" if !source.slice(alternative).starts_with(char::is_uppercase) => {
                return if is_conditional { Some(vec![Case::Other]) } else { None };
            }
            "tuple_struct_pattern" | "struct_pattern" => {
                let name = alternative.child_by_field_name("type");
                found.push(name.map_or(Case::Other, |name| case(source, name)));
            }
            _ => found.push(case(source, alternative)),
        }
    }
    Some(if is_conditional { vec![Case::Other] } else { found })
}

fn case(source: &Source, node: Node<'_>) -> Case {
    match node.kind() {
        "string" | "interpreted_string_literal" | "string_literal" => {
            Case::Text(text_of_string(source, node))
        }
        "identifier"
        | "member_expression"
        | "scoped_identifier"
        | "scoped_type_identifier"
        | "selector_expression"
        | "field_access"
        | "qualified_identifier"
        | "member_access_expression"
        | "class_constant_access_expression"
        | "type_identifier" => {
            let text: String = source.slice(node).split_whitespace().collect();
            Case::Name(text.replace("::", "."))
        }
        "expression_list" | "parenthesized_expression" => match named_children(node).as_slice() {
            [only] if only.node.kind() != node.kind() => case(source, only.node),
            _ => Case::Other,
        },
        _ => child_of_kind(node, &["string"]).map_or(Case::Other, |_| Case::Other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(language: Language, text: &str) -> String {
        let source = Source::parse(language, text).expect("parses");
        let lines: Vec<String> = switches(&source)
            .iter()
            .map(|switch| {
                let cases: Vec<String> = switch
                    .cases
                    .iter()
                    .map(|case| match case {
                        Case::Name(name) => name.clone(),
                        Case::Text(text) => format!("'{text}'"),
                        Case::Other => "?".to_owned(),
                    })
                    .collect();
                let rest = if switch.fallback == Fallback::Present { " and the rest" } else { "" };
                format!("{}: {}{rest}", switch.line, cases.join(" "))
            })
            .collect();
        lines.join("\n")
    }

    #[test]
    fn cases_and_fallbacks() {
        for (language, text, expected) in [
            (Language::TypeScript, "switch (k) { case 'a': case E.B: break; }", "1: 'a' E.B"),
            (Language::TypeScript, "switch (k) { case 1: default: }", "1: ? and the rest"),
            (
                Language::Rust,
                "fn f() { match e { E::A | E::B(_) => 1, &E::C { x } => 2 } }",
                "1: E.B E.A E.C",
            ),
            (Language::Rust, "fn f() { match e { E::A => 1, _ => 2 } }", "1: E.A and the rest"),
            (Language::Rust, "fn f() { match e { A => 1, other => 2 } }", "1: A and the rest"),
            (Language::Rust, "fn f() { match e { E::A if x => 1, E::B => 2 } }", "1: ? E.B"),
            (Language::Go, "package p\nfunc f() { switch e { case X, p.Y: } }", "2: X p.Y"),
            (
                Language::Go,
                "package p\nfunc f() { switch e { case X:\ndefault: } }",
                "2: X and the rest",
            ),
            (
                Language::Java,
                "class A { void f() { switch (e) { case P: case Q: break; } } }",
                "1: P Q",
            ),
            (
                Language::Java,
                "class A { int f() { return switch (e) { case P, Q -> 1; default -> 2; }; } }",
                "1: P Q and the rest",
            ),
            (
                Language::C,
                "void f() { switch (e) { case A: break; case B: break; default: break; } }",
                "1: A B and the rest",
            ),
            (
                Language::CSharp,
                "class A { void f() { switch (e) { case E.X: break; } var r = e switch { E.X => 1, _ => 2 }; } }",
                "1: E.X\n1: E.X and the rest",
            ),
            (Language::Php, "<?php $r = match($e) { En::A, En::B => 1 };", "1: En.A En.B"),
        ] {
            assert_eq!(shown(language, text), expected, "{text}");
        }
    }

    #[test]
    fn chains_of_python() {
        for (text, expected) in [
            ("match c:\n  case E.A | E.B: f()\n  case m.E.C: g()", "1: E.A E.B m.E.C"),
            ("match c:\n  case E.A: f()\n  case _: g()", "1: E.A and the rest"),
            ("match c:\n  case E.A: f()\n  case x: g()", "1: E.A and the rest"),
            ("match c:\n  case E.A if y: f()\n  case E.B: g()", "1: ? E.B"),
            ("match c:\n  case P(x=1): f()\n  case [a, b]: g()", "1: ? ?"),
            (
                "if c == E.A: f()\nelif c is E.B: g()\nelif c in (E.C, E.D): h()",
                "1: E.A E.B E.C E.D",
            ),
            ("if c == E.A: f()\nelif E.B == c or c == E.C: g()", "1: E.A E.B E.C"),
            ("if c == E.A: f()\nelif c == E.B: g()\nelse: h()", "1: E.A E.B and the rest"),
            ("if c == E.A: f()\nelif d == E.B: g()", "1: E.A ?"),
            ("if c == E.A: f()", ""),
        ] {
            assert_eq!(shown(Language::Python, text), expected, "{text}");
        }
    }

    #[test]
    fn what_stands_around_handles_the_rest() {
        for (language, text, expected) in [
            (
                Language::Python,
                "def f(c):\n  if c == E.A: return 1\n  elif c == E.B: return 2\n  raise X()",
                "2: E.A E.B and the rest",
            ),
            (
                Language::Python,
                "def f(c):\n  x = 0\n  if c == E.A: x = 1\n  elif c == E.B: x = 2\n  return x",
                "3: E.A E.B and the rest",
            ),
            (
                Language::Python,
                "def f(c):\n  if c == E.A: x = 1\n  elif c == E.B: x = 2\n  return x",
                "2: E.A E.B",
            ),
            (
                Language::TypeScript,
                "function f() { switch (k) { case E.A: return 1; case E.B: { return 2; } } throw new X(); }",
                "1: E.A E.B and the rest",
            ),
            (
                Language::TypeScript,
                "function f() { switch (k) { case E.A: return 1; case E.B: g(); } h(); }",
                "1: E.A E.B",
            ),
            (
                Language::Go,
                "package p\nfunc f() int { switch e { case X: return 1\ncase Y: return 2 }\nreturn 0 }",
                "2: X Y and the rest",
            ),
            (
                Language::Java,
                "class A { int f() { switch (e) { case P: return 1; case Q: return 2; } throw new X(); } }",
                "1: P Q and the rest",
            ),
        ] {
            assert_eq!(shown(language, text), expected, "{text}");
        }
    }
}
