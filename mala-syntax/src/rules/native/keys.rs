//! Keys and cases that are there twice, so that one of them does nothing.

use super::code::{because, canonical, found, is_literal, line, parts};
use super::purity::is_pure;
use super::{CheckMatch, Family, NativeCheck};
use crate::source::Source;
use std::collections::HashMap;
use tree_sitter::Node;

pub(super) const LITERALS: Family = Family {
    checks: &[DUPLICATE_KEY],
    kinds: &["dictionary", "object", "array_creation_expression"],
    run: duplicate_keys,
};

pub(super) const CASES: Family = Family {
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

pub(super) const MAP_CALLS: Family =
    Family { checks: &[DUPLICATE_MAP_KEY], kinds: &["method_invocation"], run: duplicate_map_keys };

pub(super) const METHODS: Family = Family {
    checks: &[DUPLICATE_METHOD],
    kinds: &["class_definition", "class_body"],
    run: duplicate_methods,
};

const DUPLICATE_KEY: NativeCheck =
    NativeCheck { name: "duplicate-key", captures: &["KEY", "LINE"] };
const DUPLICATE_CASE: NativeCheck =
    NativeCheck { name: "duplicate-case", captures: &["CASE", "LINE"] };
const DUPLICATE_MAP_KEY: NativeCheck =
    NativeCheck { name: "duplicate-map-key", captures: &["KEY", "LINE"] };
const DUPLICATE_METHOD: NativeCheck =
    NativeCheck { name: "duplicate-method", captures: &["NAME", "LINE"] };

/// Things seen by what they say, and the ones that come again.
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
                // What is spread in may hold any key, and is there to be overridden.
                "spread_element" | "dictionary_splat" => repeats.forget(),
                _ => {}
            }
        }
        matches.extend(repeats.matches);
    }
    matches
}

/// `Map.of` and `Set.of` in Java, which throw when a key is there twice.
fn duplicate_map_keys(source: &Source, nodes: &[Node<'_>]) -> Vec<CheckMatch> {
    let mut matches = Vec::new();
    for call in nodes {
        let field = |name| call.child_by_field_name(name);
        let (Some(object), Some(name), Some(arguments)) =
            (field("object"), field("name"), field("arguments"))
        else {
            continue;
        };
        let step = match (source.slice(object), source.slice(name)) {
            ("Map" | "ImmutableMap", "of") => 2,
            ("Set", "of") => 1,
            _ => continue,
        };
        let mut repeats = Repeats::new(&DUPLICATE_MAP_KEY);
        for key in parts(arguments).into_iter().step_by(step) {
            if is_literal(key) || key.kind() == "field_access" {
                repeats.see(source, source.slice(key).to_owned(), key);
            }
        }
        matches.extend(repeats.matches);
    }
    matches
}

/// What a key comes down to, however it is quoted; `None` when only running the code tells.
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

/// The values or patterns of a case that nothing else guards.
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

fn duplicate_methods(source: &Source, nodes: &[Node<'_>]) -> Vec<CheckMatch> {
    let mut matches = Vec::new();
    for class in nodes.iter().copied() {
        let body = class.child_by_field_name("body").unwrap_or(class);
        let mut repeats = Repeats::new(&DUPLICATE_METHOD);
        for member in parts(body) {
            if let Some(name) = assigned_name(source, member) {
                repeats.seen.remove(name);
            }
            let Some(name) = member.child_by_field_name("name") else {
                continue;
            };
            let text = source.slice(name);
            match member.kind() {
                "function_definition" if text != "_" => {
                    repeats.see(source, text.to_owned(), name);
                }
                "method_definition" if member.child_by_field_name("body").is_some() => {
                    repeats.see(source, method_key(source, member, name), name);
                }
                _ => {}
            }
        }
        matches.extend(repeats.matches);
    }
    matches
}

/// `f = wrap(f)` uses a method before another one takes its name.
fn assigned_name<'t>(source: &'t Source, member: Node<'_>) -> Option<&'t str> {
    let assignment = parts(member).first().copied().filter(|it| it.kind() == "assignment")?;
    Some(source.slice(assignment.child_by_field_name("left")?))
}

/// A getter and a setter, and a static and a plain method, may share a name.
fn method_key(source: &Source, member: Node<'_>, name: Node<'_>) -> String {
    let before = source.text().get(member.start_byte()..name.start_byte()).unwrap_or_default();
    let words: Vec<_> = before
        .split_whitespace()
        .filter(|word| matches!(*word, "get" | "set" | "static"))
        .collect();
    format!("{} {}", words.join(" "), key_or_text(source, name))
}

fn key_or_text(source: &Source, name: Node<'_>) -> String {
    if is_literal(name) {
        return unquoted(source.slice(name)).unwrap_or(source.slice(name)).to_owned();
    }
    source.slice(name).to_owned()
}
