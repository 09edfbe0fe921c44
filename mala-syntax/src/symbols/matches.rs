//! Rust's matches: which cases they list, and whether they handle the rest.

use super::enclosing_scopes::EnclosingScopes;
use super::table::lookup;
use super::walk::{Descend, named_children, walk};
use crate::source::{Source, lines_of};
use mala_domain::language::Language;
use tree_sitter::Node;

/// A match without a wildcard arm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RustMatch {
    /// Its first line.
    pub line: u32,
    /// The paths of the listed variants, joined by dots; `None` for other patterns, such as a case
    /// with a guard.
    pub cases: Vec<Option<String>>,
    /// The function around it.
    pub within: Option<String>,
    /// The type around it.
    pub owner: Option<String>,
}

/// The matches of a Rust file that list their cases one by one.
pub fn rust_matches(source: &Source) -> Vec<RustMatch> {
    if source.language() != Language::Rust {
        return Vec::new();
    }
    let lookup = lookup(source.language());
    let mut scopes = EnclosingScopes::default();
    let mut found = Vec::new();
    walk(source.tree(), |trail, step| {
        scopes.leave(trail);
        if let Some(cases) = listed_cases(source, step.node) {
            found.push(RustMatch {
                line: lines_of(step.node).start(),
                cases,
                within: scopes.path(),
                owner: scopes.type_name().map(str::to_owned),
            });
        }
        scopes.enter(source, lookup, trail, step);
        Descend::Into
    });
    found
}

/// The cases of a match; `None` if an arm matches everything.
fn listed_cases(source: &Source, node: Node<'_>) -> Option<Vec<Option<String>>> {
    let body = node.child_by_field_name("body").filter(|_| node.kind() == "match_expression")?;
    let mut cases = Vec::new();
    for step in named_children(body).iter().filter(|step| step.node.kind() == "match_arm") {
        cases.extend(cases_of_arm(source, step.node)?);
    }
    Some(cases)
}

fn cases_of_arm(source: &Source, arm: Node<'_>) -> Option<Vec<Option<String>>> {
    let pattern = arm.child_by_field_name("pattern")?;
    let is_conditional = pattern.child_by_field_name("condition").is_some();
    let mut found = Vec::new();
    // `_` has no node of its own.
    let mut open: Vec<Node<'_>> = vec![named_children(pattern).first()?.node];
    while let Some(alternative) = open.pop() {
        match alternative.kind() {
            "or_pattern" => {
                open.extend(named_children(alternative).into_iter().map(|step| step.node));
            }
            "reference_pattern" | "ref_pattern" | "mut_pattern" | "captured_pattern" => {
                open.extend(named_children(alternative).into_iter().last().map(|step| step.node));
            }
            "identifier" if !source.slice(alternative).starts_with(char::is_uppercase) => {
                return is_conditional.then(|| vec![None]);
            }
            "tuple_struct_pattern" | "struct_pattern" => {
                found.push(alternative.child_by_field_name("type").map(|it| path(source, it)));
            }
            "identifier" | "scoped_identifier" => found.push(Some(path(source, alternative))),
            _ => found.push(None),
        }
    }
    Some(if is_conditional { vec![None] } else { found })
}

fn path(source: &Source, node: Node<'_>) -> String {
    let text: String = source.slice(node).split_whitespace().collect();
    text.replace("::", ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_matches_without_a_fallback_are_listed() {
        for (text, expected) in [
            ("match e { E::A | E::B(_) => 1, &E::C { x } => 2 }", "E.B E.A E.C"),
            ("match e { E::A => 1, _ => 2 }", "-"),
            ("match e { A => 1, other => 2 }", "-"),
            ("match e { E::A if x => 1, E::B => 2 }", "? E.B"),
            ("match e { 1 => 1, A => 2 }", "? A"),
        ] {
            let source = Source::parse(Language::Rust, &format!("fn f() {{ {text} }}"));
            let found = rust_matches(&source.expect("parses"));
            let shown = found.first().map_or("-".to_owned(), |found| {
                let cases = found.cases.iter().map(|case| case.as_deref().unwrap_or("?"));
                cases.collect::<Vec<_>>().join(" ")
            });
            assert_eq!(shown, expected, "{text}");
        }
    }
}
