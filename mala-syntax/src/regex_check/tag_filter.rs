//! Patterns meant to find HTML scripts and comments that miss some that browsers accept.
//! Decided by matching: a pattern that finds the plain form must find its variants too.

use super::ast::Ast;
use super::matcher::Outcome;
use super::program::Program;
use super::{Flavour, RegexProblem, RegexProblemKind};

/// Steps per trial; the texts are short.
const STEPS: u64 = 20_000;

const SCRIPT: &str = "<script>foo</script>";

/// What browsers run as well.
const SCRIPT_VARIANTS: &[&str] = &[
    "<script>foo</script >",
    "<script>foo</script\t\n bar>",
    "<SCRIPT>foo</SCRIPT>",
    "<ScRiPt>foo</ScRiPt>",
    "<script>\nfoo\n</script>",
    "<script src=\"foo\">foo</script>",
    "<script src='foo'>foo</script>",
    "<script\tsrc='foo'>foo</script>",
    "<script\nsrc='foo'>foo</script>",
];

const COMMENT: &str = "<!-- foo -->";
const COMMENT_LINES: &str = "<!-- foo\n -->";
/// Browsers end a comment here as well.
const COMMENT_BANG: &str = "<!-- foo --!>";
const COMMENT_BANG_LINES: &str = "<!-- foo\n --!>";

/// A script or comment that the pattern misses although it finds the plain form.
pub(super) fn find(ast: &Ast, pattern: &str, flavour: Flavour) -> Option<RegexProblem> {
    let lower = without_group_names(&pattern.to_ascii_lowercase());
    let about_scripts = lower.contains("script");
    if !lower.contains('<') || !(about_scripts || lower.contains("!--")) {
        return None;
    }
    let program = Program::compile(ast, ast.root, flavour)?;
    let filter = Filter { program };
    let missed = match () {
        () if about_scripts && filter.covers(SCRIPT) => filter.missed_script(),
        () if filter.covers(COMMENT) => filter.missed_comment(),
        () => None,
    }?;
    let root = ast.node(ast.root);
    let mut problem = RegexProblem::at(RegexProblemKind::BadTagFilter, root.start, root.end);
    problem.witness = Some(missed.to_owned());
    Some(problem)
}

/// The pattern without the names of its groups: `(?<descriptor>` is no tag.
fn without_group_names(pattern: &str) -> String {
    let mut parts = pattern.split("(?<");
    let mut rest = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        rest.push_str(part.split_once('>').map_or(part, |(_, after)| after));
    }
    rest
}

struct Filter {
    program: Program,
}

impl Filter {
    /// Whether the pattern finds the whole of `text`.
    fn covers(&self, text: &str) -> bool {
        let points: Vec<u32> = text.chars().map(u32::from).collect();
        let run = self.program.attempt(&points, 0, STEPS);
        run.outcome == Outcome::Match(points.len())
    }

    fn missed_script(&self) -> Option<&'static str> {
        // A pattern that wants an end tag must find every end tag.
        SCRIPT_VARIANTS.iter().copied().find(|variant| !self.covers(variant))
    }

    /// Comments over several lines are missed, or the ends of comments are told apart.
    fn missed_comment(&self) -> Option<&'static str> {
        if !self.covers(COMMENT_LINES) {
            return Some(COMMENT_LINES);
        }
        if self.covers(COMMENT_BANG) && !self.covers(COMMENT_BANG_LINES) {
            return Some(COMMENT_BANG_LINES);
        }
        let parses = self.program.n_slots > 2 && self.covers("<foo>");
        let apart = parses && self.groups(COMMENT) != self.groups(COMMENT_BANG);
        apart.then_some(COMMENT_BANG)
    }

    /// The groups that take part in the match.
    fn groups(&self, text: &str) -> Vec<bool> {
        let points: Vec<u32> = text.chars().map(u32::from).collect();
        self.program.groups(&points, STEPS)
    }
}
