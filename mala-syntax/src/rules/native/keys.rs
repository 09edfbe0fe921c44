//! Duplicate keys and cases, of which one has no effect.

use super::code::{because, canonical, found, is_literal, line, parts};
use super::purity::is_pure;
use super::{CheckFamily, CheckMatch, NativeCheck};
use crate::source::Source;
use std::collections::HashMap;
use tree_sitter::Node;

pub(super) const LITERALS: CheckFamily = CheckFamily {
    checks: &[DUPLICATE_KEY],
    kinds: &["dictionary", "object", "array_creation_expression"],
    run: duplicate_keys,
};

pub(super) const CASES: CheckFamily = CheckFamily {
    checks: &[DUPLICATE_CASE],
    kinds: &[
        "switch_body",
        "switch_block",
        "match_block",
        "match_statement",
        "expression_switch_statement",
    ],
    run: duplicate_cases,
};

const DUPLICATE_KEY: NativeCheck =
    NativeCheck { name: "duplicate-key", captures: &["KEY", "LINE"] };
const DUPLICATE_CASE: NativeCheck =
    NativeCheck { name: "duplicate-case", captures: &["CASE", "LINE"] };

/// The keys seen so far, and the matches of repeated ones.
struct Repeats<'t> {
    check: &'static NativeCheck,
    seen: HashMap<String, Node<'t>>,
    matches: Vec<CheckMatch>,
}

impl<'t> Repeats<'t> {
    fn new(check: &'static NativeCheck) -> Self {
        Self { check, seen: HashMap::new(), matches: Vec::new() }
    }

    fn see(&mut self, source: &Source, key: String, node: Node<'t>) {
        let Some(first) = self.seen.insert(key, node) else { return };
        let name = self.check.captures.first().copied().unwrap_or_default();
        let captures = vec![(name, source.slice(node).to_owned()), ("LINE", line(first))];
        self.matches.push(because(found(self.check, node, captures), first));
    }

    fn forget(&mut self) {
        self.seen.clear();
    }
}

fn duplicate_keys(source: &Source, nodes: &[Node<'_>]) -> Vec<CheckMatch> {
    let mut matches = Vec::new();
    for literal in nodes.iter().copied().filter(|it| !it.has_error()) {
        let mut repeats = Repeats::new(&DUPLICATE_KEY);
        for entry in parts(literal) {
            match entry.kind() {
                "pair" => {
                    if let Some(key) = entry.child_by_field_name("key")
                        && let Some(name) = key_name(source, key)
                    {
                        repeats.see(source, name, key);
                    }
                }
                "shorthand_property_identifier" => {
                    repeats.see(source, source.slice(entry).to_owned(), entry);
                }
                "array_element_initializer" => match parts(entry).as_slice() {
                    [key, _] if is_literal(*key) => {
                        let text = source.slice(*key);
                        repeats.see(source, unquoted(text).unwrap_or(text).to_owned(), *key);
                    }
                    [only] if only.kind() == "variadic_unpacking" => repeats.forget(),
                    _ => {}
                },
                // A spread may contain any key, and is intended to be overridden.
                "spread_element" | "dictionary_splat" => repeats.forget(),
                _ => {}
            }
        }
        matches.extend(repeats.matches);
    }
    matches
}

/// The normalized key, independent of quotes; `None` if it is unknown without running the code.
fn key_name(source: &Source, key: Node<'_>) -> Option<String> {
    let text = source.slice(key);
    match key.kind() {
        "property_identifier" if text == "__proto__" => None,
        "property_identifier" | "private_property_identifier" => Some(text.to_owned()),
        "string" => unquoted(text).map(str::to_owned).or_else(|| Some(text.to_owned())),
        "number" => Some(text.to_owned()),
        "integer" | "float" | "identifier" | "attribute" | "true" | "false" | "none" | "tuple" => {
            is_pure(source, key)
                .then(|| canonical(source, key))
                .flatten()
                .map(|code| format!("={code}"))
        }
        _ => None,
    }
}

/// The inside of a plain quoted text without escapes.
fn unquoted(text: &str) -> Option<&str> {
    let inner = text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .or_else(|| text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')))?;
    (!inner.contains(['\\', '"', '\''])).then_some(inner)
}

fn duplicate_cases(source: &Source, nodes: &[Node<'_>]) -> Vec<CheckMatch> {
    let mut matches = Vec::new();
    for switch in nodes.iter().copied() {
        let mut repeats = Repeats::new(&DUPLICATE_CASE);
        for case in cases(switch) {
            for value in case_values(case) {
                if is_pure(source, value)
                    && let Some(code) = canonical(source, value)
                {
                    repeats.see(source, code, value);
                }
            }
        }
        matches.extend(repeats.matches);
    }
    matches
}

fn cases(switch: Node<'_>) -> Vec<Node<'_>> {
    let body =
        if switch.kind() == "match_statement" { switch.child_by_field_name("body") } else { None };
    parts(body.unwrap_or(switch))
}

/// The values or patterns of a case without a guard.
fn case_values(case: Node<'_>) -> Vec<Node<'_>> {
    match case.kind() {
        "switch_case" => case.child_by_field_name("value").into_iter().collect(),
        "case_statement" => case.child_by_field_name("value").into_iter().collect(),
        "match_conditional_expression" => {
            case.child_by_field_name("conditional_expressions").map(parts).unwrap_or_default()
        }
        "expression_case" => case.child_by_field_name("value").map(parts).unwrap_or_default(),
        "case_clause" if case.child_by_field_name("guard").is_none() => {
            parts(case).into_iter().filter(|part| part.kind() == "case_pattern").collect()
        }
        "match_arm" if !parts(case).iter().any(|part| part.kind() == "attribute_item") => case
            .child_by_field_name("pattern")
            .filter(|pattern| pattern.child_by_field_name("condition").is_none())
            .into_iter()
            .collect(),
        _ => Vec::new(),
    }
}
