//! Problems in the source text of regular expressions: matching that takes exponential or
//! polynomial time, and spellings that do not mean what they seem to.
//!
//! [`check`] looks at one pattern, [`sources::find`] finds the patterns of a file and what they
//! are applied to. How far a problem goes alone depends on its kind: see [`RegexProblemKind`].
//! CPython merges alternatives of single characters such as `(?:\w|\d)` into one class; this is
//! not modelled, because other engines for the same syntax do not.

mod alphabet;
mod alternation;
mod ast;
mod automaton;
mod charset;
mod class_spelling;
mod exponential;
mod fixed;
mod hostname;
mod matcher;
mod parse;
mod polynomial;
mod program;
mod pump;
pub mod sources;
mod structure;
mod tag_filter;
mod threads;

pub use pump::Attack;

/// The engine that a pattern is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flavour {
    /// The `re` module.
    Python,
    /// JavaScript and TypeScript.
    JavaScript,
    /// `java.util.regex`.
    Java,
    /// The `regexp` package.
    Go,
    /// The `regex` crate.
    Rust,
}

impl Flavour {
    /// Whether the engine backtracks: the others take linear time on any pattern.
    pub fn backtracks(self) -> bool {
        matches!(self, Self::Python | Self::JavaScript | Self::Java)
    }

    /// What ends a line for `.`, `^` and `$`.
    fn breaks(self) -> charset::Breaks {
        match self {
            Self::JavaScript | Self::Java => charset::Breaks::Wide,
            Self::Python | Self::Go | Self::Rust => charset::Breaks::Feed,
        }
    }
}

/// Where a match must lie in the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Anchoring {
    /// Anywhere.
    #[default]
    Search,
    /// From the start of the text: Python's `re.match`, JavaScript's `y` flag.
    Start,
    /// The whole text: `re.fullmatch`, Java's `String.matches`.
    Full,
}

/// The flags that a pattern is compiled with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags {
    /// Letters match both cases.
    pub ignore_case: bool,
    /// `^` and `$` match at lines.
    pub multi_line: bool,
    /// `.` matches line ends too.
    pub dot_all: bool,
    /// White space and comments in the pattern are ignored.
    pub verbose: bool,
    /// JavaScript's `v`: classes nest.
    pub unicode_sets: bool,
    /// Where a match must lie.
    pub anchoring: Anchoring,
}

/// What is wrong with a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RegexProblemKind {
    /// Matching can take time exponential in the length of the input: thirty characters are
    /// enough to stop a program. Worth reporting wherever input is not a constant.
    ExponentialBacktracking,
    /// Matching can take time polynomial in the length of the input: tens of thousands of
    /// characters are needed. One pattern in ten has it, so it matters only where someone else
    /// controls the text and its length.
    PolynomialBacktracking,
    /// A range such as `[A-z]` or `[+-<]` takes in characters that its bounds do not suggest.
    OverlyWideRange,
    /// A range shares characters with another range of its class: one of them is misspelled, or
    /// one is not needed.
    OverlappingRange,
    /// A range runs backwards, so that it is an error or matches nothing.
    ReversedRange,
    /// `\b` in a class is a backspace, not a word boundary.
    BackspaceInClass,
    /// `[]` matches nothing in JavaScript.
    EmptyClass,
    /// `^` after something that consumes text can never match.
    UnmatchableCaret,
    /// `$` before something that consumes text can never match.
    UnmatchableDollar,
    /// A back-reference is reached before its group can have matched.
    BackreferenceBeforeGroup,
    /// A back-reference names a group that does not exist.
    BackreferenceToMissingGroup,
    /// A back-reference names a group inside a negative lookaround, which never keeps a match.
    BackreferenceIntoNegativeLookahead,
    /// An unescaped dot or a wildcard in front of a domain lets other hosts match.
    IncompleteHostname,
    /// A pattern for a URL or a host is not tied to the start of the text. Matters where it
    /// decides whether to trust an address.
    MissingAnchor,
    /// An anchor binds to one branch of an alternation only: `^a|b` also finds `b` anywhere.
    SemiAnchoredAlternation,
    /// A pattern for scripts or comments misses some that browsers accept; the witness is one.
    /// Matters where it removes them, less where it only looks for them.
    BadTagFilter,
}

/// A problem at a place of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegexProblem {
    /// What is wrong.
    pub kind: RegexProblemKind,
    /// First byte in the pattern.
    pub start: usize,
    /// First byte after it.
    pub end: usize,
    /// The text to repeat for the backtracking kinds, an example of input for others.
    pub witness: Option<String>,
    /// The whole attack, for the backtracking kinds.
    pub attack: Option<Attack>,
    /// The degree of the polynomial that the attack shows, for polynomial backtracking. Other
    /// inputs can cost more.
    pub degree: Option<u32>,
}

/// The problems of `pattern`, backtracking first. A pattern that the engine would reject, or that
/// is too large to be analysed in bounded time, has none.
pub fn check(pattern: &str, flavour: Flavour, flags: Flags) -> Vec<RegexProblem> {
    if !has_syntax(pattern) {
        return Vec::new();
    }
    let Some(ast) = parse::parse(pattern, flavour, flags) else { return Vec::new() };
    let mut problems = slowness(&ast, flavour);
    problems.extend(class_spelling::find(&ast, pattern, flavour));
    problems.extend(structure::find(&ast, pattern, flavour));
    problems.extend(hostname::find(&ast, pattern, flags));
    problems.extend(alternation::find(&ast, flags));
    problems.extend(tag_filter::find(&ast, pattern, flavour));
    problems
}

/// Whether anything in the pattern is more than a literal.
fn has_syntax(pattern: &str) -> bool {
    pattern.bytes().any(|byte| b"\\[](){}*+?.^$|".contains(&byte))
}

fn slowness(ast: &ast::Ast, flavour: Flavour) -> Vec<RegexProblem> {
    // Few rounds cost little, however they are divided.
    let loops = |node: &ast::Node| match node.kind {
        ast::NodeKind::Repeat { max, .. } => max.is_none_or(|max| max >= 16),
        _ => false,
    };
    if !flavour.backtracks() || !ast.nodes.iter().any(loops) {
        return Vec::new();
    }
    let Some(alphabet) = alphabet::Alphabet::of(ast, flavour) else { return Vec::new() };
    let exponential = exponential::find(ast, &alphabet, flavour);
    if !exponential.is_empty() {
        let problems = exponential.into_iter().map(|slow| RegexProblem::slow(slow, None));
        return problems.collect();
    }
    let polynomial = polynomial::find(ast, &alphabet, flavour);
    polynomial.map(|(slow, degree)| RegexProblem::slow(slow, Some(degree))).into_iter().collect()
}

impl RegexProblem {
    fn at(kind: RegexProblemKind, start: usize, end: usize) -> Self {
        Self { kind, start, end, witness: None, attack: None, degree: None }
    }

    fn slow(slow: exponential::SlowLoop, degree: Option<u32>) -> Self {
        let kind = match degree {
            None => RegexProblemKind::ExponentialBacktracking,
            Some(_) => RegexProblemKind::PolynomialBacktracking,
        };
        Self {
            witness: Some(slow.attack.pump.clone()),
            attack: Some(slow.attack),
            degree,
            ..Self::at(kind, slow.start, slow.end)
        }
    }
}

#[cfg(test)]
mod tests;
