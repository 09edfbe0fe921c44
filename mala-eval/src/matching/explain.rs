//! Why a finding or a known problem has no match.

use super::{MatchRule, ProblemLocation};
use mala_domain::finding::Category;

/// Why a finding hits no known problem, or a known problem is not hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissReason {
    /// The other side has nothing in this file.
    OtherFile,
    /// The nearest one in this file is too many lines away.
    TooFar {
        /// Its index in the list.
        nearest: usize,
        /// How many lines lie between the two.
        lines: u32,
    },
    /// One is near enough, and is of another kind.
    OtherCategory {
        /// Its index in the list.
        nearest: usize,
        /// Its kind.
        category: Category,
    },
    /// One would do, and has a partner already.
    Taken {
        /// Its index in the list.
        nearest: usize,
    },
}

/// Why `one` has no partner among `others`. Findings on both sides are already capped.
pub fn miss(
    rule: &MatchRule,
    one: &ProblemLocation<'_>,
    others: &[ProblemLocation<'_>],
) -> MissReason {
    let same_file = others.iter().enumerate().filter(|(_, other)| other.file == one.file);
    let by_distance =
        |(at, other): (usize, &ProblemLocation<'_>)| (gap(one, other), at, other.category);
    let mut near: Vec<(u32, usize, Category)> = same_file.map(by_distance).collect();
    near.sort_by_key(|(lines, at, _)| (*lines, *at));
    let fits = |category: Category| rule.mode.is_same_class(one.category, category);
    let Some(&(lines, nearest, category)) = near.first() else { return MissReason::OtherFile };
    let within = near.iter().take_while(|(lines, _, _)| *lines <= rule.tolerance);
    match within.into_iter().find(|(_, _, category)| fits(*category)) {
        Some((_, nearest, _)) => MissReason::Taken { nearest: *nearest },
        None if lines > rule.tolerance => MissReason::TooFar { nearest, lines },
        None => MissReason::OtherCategory { nearest, category },
    }
}

/// How many lines one has to move to share a line with the other.
fn gap(one: &ProblemLocation<'_>, other: &ProblemLocation<'_>) -> u32 {
    let (a, b) = (one.span, other.span);
    b.start().saturating_sub(a.end()).max(a.start().saturating_sub(b.end()))
}
