//! Regular expressions that are slow, match something else than they say, or match nothing.

use super::{CheckMatch, Family, NativeCheck, NativeMatch};
use crate::regex_check::sources::{self, Loss, Occurrence};
use crate::regex_check::{RegexProblem, RegexProblemKind};
use crate::source::Source;
use std::ops::Range;
use tree_sitter::Node;

pub(super) const FAMILY: Family = Family {
    checks: &[
        check("regex-exponential"),
        check("regex-polynomial"),
        check("regex-wide-range"),
        check("regex-overlapping-range"),
        check("regex-reversed-range"),
        check("regex-backspace"),
        check("regex-empty-class"),
        check("regex-unmatchable-anchor"),
        check("regex-backreference"),
        check("regex-hostname"),
        check("regex-missing-anchor"),
        check("regex-half-anchored"),
        check("regex-tag-filter"),
        check("regex-lost-escape"),
    ],
    kinds: &[
        "string",
        "template_string",
        "regex",
        "regex_pattern",
        "string_literal",
        "raw_string_literal",
        "interpreted_string_literal",
        "concatenated_string",
    ],
    run,
};

pub(super) const REPLACEMENTS: Family = Family {
    checks: &[IDENTITY_REPLACEMENT],
    kinds: &["call", "call_expression", "method_invocation"],
    run: identity_replacements,
};

const IDENTITY_REPLACEMENT: NativeCheck =
    NativeCheck { name: "identity-replacement", captures: &[] };

const CAPTURES: &[&str] = &["PART", "PATTERN", "WITNESS"];

const fn check(name: &'static str) -> NativeCheck {
    NativeCheck { name, captures: CAPTURES }
}

fn identity_replacements(source: &Source, _: &[Node<'_>]) -> Vec<CheckMatch> {
    let calls = sources::identity_replacements(source).into_iter();
    calls
        .map(|bytes| CheckMatch {
            check: IDENTITY_REPLACEMENT.name,
            found: NativeMatch { bytes, because: None, captures: Vec::new() },
        })
        .collect()
}

fn run(source: &Source, literals: &[Node<'_>]) -> Vec<CheckMatch> {
    let starts: Vec<usize> = literals.iter().map(Node::start_byte).collect();
    let asked_for = |bytes: &Range<usize>| {
        let first = starts.partition_point(|start| *start < bytes.start);
        starts.get(first).is_some_and(|start| *start < bytes.end)
    };
    sources::find(source)
        .iter()
        .filter(|occurrence| asked_for(&occurrence.bytes))
        .flat_map(|occurrence| matches_of(source, occurrence))
        .collect()
}

fn matches_of(source: &Source, occurrence: &Occurrence) -> Vec<CheckMatch> {
    let is_searched = searches_text(source, occurrence);
    let problems = occurrence.problems().into_iter();
    let mut matches: Vec<_> = problems
        .filter(|it| !(is_searched && it.kind == RegexProblemKind::IncompleteHostname))
        .map(|problem| problem_match(occurrence, &problem))
        .collect();
    // The first says it: the others are lost in the same way.
    if let Some(escape) = occurrence.lost_escapes.first() {
        let witness = match escape.loss {
            Loss::Backslash => "the character without its backslash",
            Loss::ControlCharacter => "a control character",
        };
        let part = source.text().get(escape.bytes.clone()).unwrap_or_default();
        let captures = captures(occurrence, part, witness);
        let found = NativeMatch { bytes: escape.bytes.clone(), because: None, captures };
        matches.push(CheckMatch { check: "regex-lost-escape", found });
    }
    matches
}

/// Whether a pattern of JavaScript finds all its matches in a text, and so decides nothing: `/…/g`.
fn searches_text(source: &Source, occurrence: &Occurrence) -> bool {
    let after = source.text().get(occurrence.bytes.end..).unwrap_or_default();
    let flags = after.strip_prefix('/').unwrap_or_default().chars();
    flags.take_while(char::is_ascii_alphabetic).any(|flag| flag == 'g')
}

fn problem_match(occurrence: &Occurrence, problem: &RegexProblem) -> CheckMatch {
    let part = occurrence.pattern.get(problem.start..problem.end).unwrap_or(&occurrence.pattern);
    let witness = problem.witness.as_deref().unwrap_or_default();
    let exact = occurrence.bytes_of(problem);
    let bytes = if exact.is_empty() { occurrence.bytes.clone() } else { exact };
    let captures = captures(occurrence, part, witness);
    CheckMatch {
        check: name_of(problem.kind),
        found: NativeMatch { bytes, because: None, captures },
    }
}

fn captures(occurrence: &Occurrence, part: &str, witness: &str) -> Vec<(&'static str, String)> {
    vec![
        ("PART", part.to_owned()),
        ("PATTERN", occurrence.pattern.clone()),
        ("WITNESS", shown(witness)),
    ]
}

/// Texts of nothing but blanks would not be seen.
fn shown(witness: &str) -> String {
    let escaped = witness.escape_debug().to_string();
    if escaped.trim().is_empty() { escaped.replace(' ', "\\x20") } else { escaped }
}

fn name_of(kind: RegexProblemKind) -> &'static str {
    use RegexProblemKind as Kind;
    match kind {
        Kind::ExponentialBacktracking => "regex-exponential",
        Kind::PolynomialBacktracking => "regex-polynomial",
        Kind::OverlyWideRange => "regex-wide-range",
        Kind::OverlappingRange => "regex-overlapping-range",
        Kind::ReversedRange => "regex-reversed-range",
        Kind::BackspaceInClass => "regex-backspace",
        Kind::EmptyClass => "regex-empty-class",
        Kind::UnmatchableCaret | Kind::UnmatchableDollar => "regex-unmatchable-anchor",
        Kind::BackreferenceBeforeGroup
        | Kind::BackreferenceToMissingGroup
        | Kind::BackreferenceIntoNegativeLookahead => "regex-backreference",
        Kind::IncompleteHostname => "regex-hostname",
        Kind::MissingAnchor => "regex-missing-anchor",
        Kind::SemiAnchoredAlternation => "regex-half-anchored",
        Kind::BadTagFilter => "regex-tag-filter",
    }
}
