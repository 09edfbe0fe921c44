//! When a finding hits a known problem: the same file, the same category, and lines that overlap within
//! three, one to one. Of all assignments, those with the most pairs count, and of these the one with the
//! closest lines.

mod closest;
mod explain;
mod neighbours;
mod sweep;
#[cfg(test)]
mod tests;

pub use closest::{MatchLink, assign_links};
pub use explain::{MissReason, miss};

use mala_domain::change::{FilePath, LineSpan};
use mala_domain::finding::Category;
use neighbours::LineInterval;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The maximum distance of lines.
pub const TOLERANCE: u32 = 3;
/// How many lines of a finding count: wide ranges must not hit by width.
pub const MAX_SPAN: u32 = 10;
/// Larger distances count as this one.
const FAR: u32 = 64;
/// With more possible pairs in one file than this, the number of pairs is still maximal, but their
/// distance is not minimal. This needs thousands of problems on the same lines.
const MAX_LINKS: usize = 1_000_000;

/// The conditions for a hit, besides file and lines.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum MatchMode {
    /// The category.
    Strict,
    /// The category, with bug, logic and error_handling as one.
    Grouped,
    /// Nothing more.
    Location,
    /// The problem itself, according to a judge. Lines and category do not matter.
    Semantic,
}

impl MatchMode {
    /// The modes without a judge, the strictest first.
    pub const ALL: [Self; 3] = [Self::Strict, Self::Grouped, Self::Location];

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Grouped => "grouped",
            Self::Location => "location",
            Self::Semantic => "semantic",
        }
    }

    /// The class of a category in this mode; categories of one class match.
    fn class(self, category: Category) -> Option<Category> {
        match (self, category) {
            (Self::Location | Self::Semantic, _) => None,
            (Self::Grouped, Category::Logic | Category::ErrorHandling) => Some(Category::Bug),
            (Self::Strict | Self::Grouped, own) => Some(own),
        }
    }

    /// Whether two categories match in this mode.
    pub fn is_same_class(self, a: Category, b: Category) -> bool {
        self.class(a) == self.class(b)
    }
}

impl std::fmt::Display for MatchMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The rule for hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MatchRule {
    /// The conditions for a hit.
    pub mode: MatchMode,
    /// How many lines may lie between the two.
    pub tolerance: u32,
    /// How many lines of a finding count, from its first.
    pub max_span: u32,
}

impl MatchRule {
    /// The default rule in this mode.
    pub fn of(mode: MatchMode) -> Self {
        Self { mode, tolerance: TOLERANCE, max_span: MAX_SPAN }
    }

    /// The lines of a finding that count.
    pub fn capped(&self, span: LineSpan) -> LineSpan {
        let last = span.start().saturating_add(self.max_span.max(1) - 1);
        LineSpan::between(span.start(), span.end().min(last))
    }

    /// Whether the finding could hit the problem. The finding's lines are already capped.
    pub fn allows(&self, finding: &ProblemLocation<'_>, truth: &ProblemLocation<'_>) -> bool {
        finding.file == truth.file
            && self.mode.is_same_class(finding.category, truth.category)
            && self.widened(finding.span).overlaps(LineInterval::of(truth.span))
    }

    fn widened(&self, span: LineSpan) -> LineInterval {
        LineInterval::of(span).widened(self.tolerance)
    }
}

/// The location and the category of a finding or a known problem.
#[derive(Debug, Clone, Copy)]
pub struct ProblemLocation<'a> {
    /// The file.
    pub file: &'a FilePath,
    /// The lines.
    pub span: LineSpan,
    /// The kind.
    pub category: Category,
}

/// A hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MatchedPair {
    /// The finding, by its index in the list.
    pub finding: usize,
    /// The known problem, by its index in the list.
    pub truth: usize,
}

/// The findings and the known problems that they hit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assignment {
    /// The hits, by finding.
    pub pairs: Vec<MatchedPair>,
    /// Whether there are no closer pairs; false only where thousands of problems share lines.
    pub is_closest: bool,
}

impl Assignment {
    /// The known problem that a finding hits.
    pub fn truth_of(&self, finding: usize) -> Option<usize> {
        let at = self.pairs.binary_search_by_key(&finding, |pair| pair.finding).ok()?;
        self.pairs.get(at).map(|pair| pair.truth)
    }

    /// The finding that hits each of `n_truths` known problems.
    pub fn by_truth(&self, n_truths: usize) -> Vec<Option<usize>> {
        let mut found = vec![None; n_truths];
        for pair in &self.pairs {
            if let Some(slot) = found.get_mut(pair.truth) {
                *slot = Some(pair.finding);
            }
        }
        found
    }
}

/// Pairs findings with known problems. The lines of findings are capped first.
pub fn assign(
    rule: &MatchRule,
    findings: &[ProblemLocation<'_>],
    truths: &[ProblemLocation<'_>],
) -> Assignment {
    let mut groups: BTreeMap<_, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for (index, location) in findings.iter().enumerate() {
        groups
            .entry((location.file, rule.mode.class(location.category)))
            .or_default()
            .0
            .push(index);
    }
    for (index, location) in truths.iter().enumerate() {
        if let Some(group) = groups.get_mut(&(location.file, rule.mode.class(location.category))) {
            group.1.push(index);
        }
    }
    let mut all = Assignment { pairs: Vec::new(), is_closest: true };
    for (ours, theirs) in groups.into_values().filter(|(_, theirs)| !theirs.is_empty()) {
        let mut findings = chosen(findings, &ours);
        findings.iter_mut().for_each(|location| location.span = rule.capped(location.span));
        let truths = chosen(truths, &theirs);
        let group = assign_group(rule, &findings, &truths);
        all.is_closest &= group.is_closest;
        let named = group.pairs.iter().filter_map(|pair| {
            Some(MatchedPair { finding: *ours.get(pair.finding)?, truth: *theirs.get(pair.truth)? })
        });
        all.pairs.extend(named);
    }
    all.pairs.sort_unstable();
    all
}

fn chosen<'a>(locations: &[ProblemLocation<'a>], places: &[usize]) -> Vec<ProblemLocation<'a>> {
    places.iter().filter_map(|at| locations.get(*at).copied()).collect()
}

/// Pairs findings and problems of one file and one kind.
fn assign_group(
    rule: &MatchRule,
    findings: &[ProblemLocation<'_>],
    truths: &[ProblemLocation<'_>],
) -> Assignment {
    let ours: Vec<LineInterval> =
        findings.iter().map(|location| rule.widened(location.span)).collect();
    let theirs: Vec<LineInterval> =
        truths.iter().map(|location| LineInterval::of(location.span)).collect();
    let Some(overlaps) = neighbours::overlaps(&ours, &theirs, MAX_LINKS) else {
        return Assignment { pairs: sweep::most_pairs(&ours, &theirs), is_closest: false };
    };
    let links = overlaps.into_iter().filter_map(|(finding, truth)| {
        let cost = distance(findings.get(finding)?, truths.get(truth)?);
        Some(MatchLink { finding, truth, cost })
    });
    assign_links(findings.len(), truths.len(), links.collect())
}

/// The distance of two locations: the lines between their starts and between their ends, plus one
/// for a different category.
pub(super) fn distance(finding: &ProblemLocation<'_>, truth: &ProblemLocation<'_>) -> u32 {
    let starts = finding.span.start().abs_diff(truth.span.start());
    let ends = finding.span.end().abs_diff(truth.span.end());
    let kind = u32::from(finding.category != truth.category);
    starts.saturating_add(ends).min(FAR) + kind
}
