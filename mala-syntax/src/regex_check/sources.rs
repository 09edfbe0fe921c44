//! Regular expressions in parsed source code: literals, compiled patterns and patterns given to
//! string functions, with their flags and the places where they are used.
//!
//! ```ignore
//! for occurrence in sources::find(&source) {
//!     for problem in occurrence.problems() {
//!         let bytes = occurrence.bytes_of(&problem); // in the source file
//!     }
//! }
//! ```

mod constant;
mod decode;
mod go;
mod java;
mod javascript;
mod python;
mod rust;
mod scan;
mod tree;

use std::ops::Range;

use mala_domain::language::Language;
use tree_sitter::Node;

use super::{Anchoring, Flags, Flavour, RegexProblem, RegexProblemKind};
use crate::source::Source;
use constant::Constant;

/// A regular expression in a source file.
#[derive(Clone, Debug)]
pub struct Occurrence {
    /// The pattern with the escapes of its string literal resolved.
    pub pattern: String,
    /// The engine it is written for.
    pub flavour: Flavour,
    /// Its flags. The anchoring is that of its uses, if they agree.
    pub flags: Flags,
    /// The bytes of the literal, or of the expression that puts it together.
    pub bytes: Range<usize>,
    /// Where it is used, as far as this file shows. Empty if it is passed on or kept.
    pub uses: Vec<PatternUse>,
    /// Escapes that the string literal swallows, so that the pattern does not see them.
    pub lost_escapes: Vec<LostEscape>,
    constant: Constant,
}

/// One place where a pattern is applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternUse {
    /// What for.
    pub role: Role,
    /// Where in the subject a match must lie.
    pub anchoring: Anchoring,
    /// The bytes of the call.
    pub call: Range<usize>,
    /// The bytes of the text expression that it is applied to: for polynomial backtracking,
    /// that is the value that must be under an attacker's control.
    pub subject: Option<Range<usize>>,
    /// What is put in place of a match, where that is known.
    pub replacement: Option<String>,
}

impl PatternUse {
    fn new(call: Node<'_>, role: Role, anchoring: Anchoring, subject: Option<Node<'_>>) -> Self {
        let subject = subject.map(|subject| subject.byte_range());
        Self { role, anchoring, call: call.byte_range(), subject, replacement: None }
    }
}

/// What a pattern is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Tests a text or takes it apart.
    Match,
    /// Collects all that it finds in a text.
    Collect,
    /// Replaces what it finds.
    Replace,
    /// Splits a text.
    Split,
}

/// An escape in an ordinary string literal that does not reach the pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostEscape {
    /// The bytes of the escape in the source.
    pub bytes: Range<usize>,
    /// How it is lost.
    pub loss: Loss,
}

/// How an escape is lost in a string literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Loss {
    /// The literal drops the backslash: `"\d"` is `d`.
    Backslash,
    /// The literal makes a control character of it: `"\b"` is a backspace.
    ControlCharacter,
}

impl Occurrence {
    /// What is wrong with the pattern, without what its uses rule out.
    pub fn problems(&self) -> Vec<RegexProblem> {
        let mut problems = super::check(&self.pattern, self.flavour, self.flags);
        problems.retain(|problem| self.concerns(problem.kind));
        problems
    }

    /// Anchors matter where a text is tested, and not where parts of it are replaced. Where a
    /// Python pattern is used decides whether it needs one.
    fn concerns(&self, kind: RegexProblemKind) -> bool {
        use RegexProblemKind::{IncompleteHostname, MissingAnchor, SemiAnchoredAlternation};
        let unknown = self.uses.is_empty();
        let tests = unknown || self.uses.iter().any(|use_| use_.role == Role::Match);
        match kind {
            MissingAnchor | SemiAnchoredAlternation => {
                tests && !(unknown && self.flavour == Flavour::Python)
            }
            IncompleteHostname => tests,
            _ => true,
        }
    }

    /// The bytes of a problem in the source file. They are empty if the pattern is put together
    /// from pieces that stand in another order there.
    pub fn bytes_of(&self, problem: &RegexProblem) -> Range<usize> {
        let start = self.constant.source_of(problem.start);
        let last = problem.end.saturating_sub(1).max(problem.start);
        let end = self.constant.source_of(last) + 1;
        start..end.max(start)
    }
}

/// All regular expressions of a file, in the order of their literals. Languages without support
/// have none.
pub fn find(source: &Source) -> Vec<Occurrence> {
    scan(source).occurrences
}

/// Calls that replace a text by itself, as in `.replace(/"/g, '\"')`: the escape that was meant is
/// missing.
pub fn identity_replacements(source: &Source) -> Vec<Range<usize>> {
    let scanned = scan(source);
    let mut calls = scanned.identities;
    for occurrence in &scanned.occurrences {
        let uses = || occurrence.uses.iter().filter(|use_| use_.replacement.is_some());
        if uses().next().is_none() {
            continue;
        }
        let fixed = super::fixed::text(&occurrence.pattern, occurrence.flavour, occurrence.flags);
        let same = uses().filter(|use_| use_.replacement == fixed);
        calls.extend(same.map(|use_| use_.call.clone()));
    }
    calls.sort_by_key(|call| call.start);
    calls
}

/// What a walk over a file finds.
#[derive(Debug, Default)]
struct Scanned {
    occurrences: Vec<Occurrence>,
    /// Calls that replace a plain string by itself.
    identities: Vec<Range<usize>>,
}

fn scan(source: &Source) -> Scanned {
    use Language::{Go, Java, JavaScript, Python, Rust, Tsx, TypeScript};
    // A file without any of the words has no pattern; most files are told apart by that alone.
    let (visit, words): (scan::Visit, &[&str]) = match source.language() {
        JavaScript | TypeScript | Tsx => (javascript::visit, &["/", "RegExp", "attern", "replace"]),
        Python => (python::visit, &["import re", "from re", ", re", ".replace("]),
        Java => (java::visit, &["Pattern", ".matches(", ".replace", ".split("]),
        Go => (go::visit, &["regexp"]),
        Rust => (rust::visit, &["Regex"]),
        Language::C | Language::Cpp | Language::Ruby | Language::CSharp | Language::Php => {
            return Scanned::default();
        }
    };
    if !words.iter().any(|word| source.text().contains(word)) {
        return Scanned::default();
    }
    scan::Scan::of(source, visit)
}

#[cfg(test)]
mod tests;
