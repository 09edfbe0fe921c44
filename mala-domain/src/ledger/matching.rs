//! Whether a reported finding is one that the ledger already has. One function decides, and says why.

use super::delta::{Delta, ReviewedLines};
use super::{FindingId, LedgerFinding};
use crate::change::{FilePath, LineSpan};
use crate::finding::{Category, ClaimWording, CodeLines, Finding, copy_number, places, squeezed};
use crate::review::FileTexts;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The result of looking a finding up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchDecision {
    /// The finding in the ledger, if it is known.
    pub id: Option<FindingId>,
    /// Why, in one sentence.
    pub why: String,
}

/// What a match is looked up in.
pub struct KnownFindings<'k> {
    /// The ledger's findings in the files of the review.
    pub findings: &'k [LedgerFinding],
    /// Paths that were renamed since, old to new.
    pub renames: &'k BTreeMap<FilePath, FilePath>,
    /// Where lines of the last review of this change are at head.
    pub delta: Option<&'k Delta>,
    /// The lines that the change adds.
    pub added: &'k ReviewedLines,
    /// The files at head.
    pub texts: &'k FileTexts,
}

/// Moved code of fewer characters than this is too common to recognise a finding by.
const MIN_MOVED_CODE: usize = 16;
/// The part of two quotes that must be the same when the code of a finding was edited.
const MIN_EDITED_OVERLAP: f64 = 0.6;
/// The part of the shorter quote that must be the same when both are about the same lines.
const MIN_SHARED_LINES: f64 = 0.5;

/// Looks up all findings of a review. Each known finding is used at most once, and the surest matches are
/// taken first.
pub fn match_all(findings: &[Finding], known: &KnownFindings<'_>) -> Vec<MatchDecision> {
    let mut at_head: HashMap<&FilePath, Vec<&LedgerFinding>> = HashMap::new();
    for it in known.findings {
        let file = known.renames.get(&it.finding.file).unwrap_or(&it.finding.file);
        at_head.entry(file).or_default().push(it);
    }
    let mut code = HashMap::new();
    let mut pairs = Vec::new();
    let mut refusals: Vec<Option<String>> = vec![None; findings.len()];
    for (index, finding) in findings.iter().enumerate() {
        let candidates = at_head.get(&finding.file).map(Vec::as_slice).unwrap_or_default();
        if candidates.is_empty() {
            continue;
        }
        let lines = code
            .entry(&finding.file)
            .or_insert_with(|| known.texts.at_head(&finding.file).map(CodeLines::of));
        for it in candidates {
            match compare(finding, it, known, lines.as_ref()) {
                Comparison::Same { certainty, why } => {
                    let is_reworded = !says_the_same(finding, &it.finding);
                    let distance = it.finding.line_start.abs_diff(finding.line_start);
                    pairs.push(((certainty, is_reworded, distance, index), *it, why));
                }
                Comparison::Different { why: Some(why) } => {
                    refusals[index].get_or_insert_with(|| format!("not {}: {why}", short(&it.id)));
                }
                Comparison::Different { why: None } => {}
            }
        }
    }
    pairs.sort_by(|(a, it, _), (b, other, _)| (a, &it.id).cmp(&(b, &other.id)));
    let mut decisions: Vec<Option<MatchDecision>> = vec![None; findings.len()];
    let mut used: BTreeSet<&FindingId> = BTreeSet::new();
    for ((.., index), it, why) in pairs {
        if decisions[index].is_none() && used.insert(&it.id) {
            decisions[index] = Some(MatchDecision { id: Some(it.id.clone()), why });
        }
    }
    let unknown = |why: Option<String>| MatchDecision {
        id: None,
        why: why.unwrap_or_else(|| "no known finding is like it".to_owned()),
    };
    decisions
        .into_iter()
        .zip(refusals)
        .map(|(it, why)| it.unwrap_or_else(|| unknown(why)))
        .collect()
}

fn short(id: &FindingId) -> &str {
    id.0.get(..8).unwrap_or(&id.0)
}

/// Whether two findings of one file are the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// They are.
    Same {
        /// How sure that is.
        certainty: Certainty,
        /// Why, in one sentence.
        why: String,
    },
    /// They are not.
    Different {
        /// Why, when they look alike.
        why: Option<String>,
    },
}

/// How sure a match is; the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// The code and the kind of problem are the same.
    Identity,
    /// The code is the same, and the wording is similar.
    SameCode,
    /// The lines overlap, and the wording is similar.
    SameLines,
    /// The code was moved or edited, and the wording is similar.
    ChangedCode,
}

/// Whether a reported finding is this known one of the same file, renames followed. `lines` are those of the
/// file at head, if it can be read. In this order:
/// 1. Two rules look for different problems. Code that the change adds is not a finding that another change
///    had on a copy that is still there.
/// 2. The same code in the same symbol, or on the same lines, and the same kind of category: the same finding,
///    unless the wordings have nothing in common. Of another category: if the wording is similar.
/// 3. Everything else needs similar wording, and one of these: the code of one finding is part of the code
///    of the other; the code was moved away from its old place; the code of the same symbol was edited.
pub fn compare(
    new: &Finding,
    it: &LedgerFinding,
    known: &KnownFindings<'_>,
    lines: Option<&CodeLines>,
) -> Comparison {
    use Certainty::{ChangedCode, Identity, SameCode, SameLines};
    let old = &it.finding;
    if matches!((&new.rule, &old.rule), (Some(a), Some(b)) if a != b) {
        return Comparison::Different { why: None };
    }
    let moved = if old.file == new.file { "" } else { ", in a renamed file" };
    let same = |certainty, why: &str| Comparison::Same { certainty, why: format!("{why}{moved}") };
    let different = |why: &str| Comparison::Different { why: Some(why.to_owned()) };
    let place = PlaceAtHead::of(new, old, known, lines);
    if place.is_same_code {
        let is_same_lines = place.lines == LinesSinceReview::Same;
        let is_added = it.standing.is_none() && is_added_copy(new, known.added, known.texts);
        if place.lines == LinesSinceReview::Other || is_added {
            return different("the same code, and that finding is on another copy of it");
        }
        if is_same_lines || (place.is_same_symbol && is_same_copy(new, old)) {
            return match (is_same_kind(new.category, old.category), is_like(new, old)) {
                (true, _) if is_unlike(new, old) => {
                    different("the same code, and the wording has nothing in common")
                }
                (true, _) if place.is_same_symbol => {
                    same(Identity, "same symbol, evidence and kind of category")
                }
                (true, _) => same(Identity, "same lines, evidence and kind of category"),
                (false, true) => same(SameCode, "same evidence and similar wording"),
                (false, false) => different("the same code, and another kind of problem"),
            };
        }
    }
    let tokens = shared_tokens(&new.evidence_snippet, &old.evidence_snippet);
    let is_overlapping = place.is_overlapping(new, old, &tokens);
    let is_moved = place.is_same_code && squeezed(&old.evidence_snippet).len() >= MIN_MOVED_CODE;
    let is_edited = place.is_same_symbol && tokens.of_longer() >= MIN_EDITED_OVERLAP;
    if !(is_overlapping || is_moved || is_edited) || !says_the_same(new, old) {
        return Comparison::Different { why: None };
    }
    if is_overlapping {
        return same(SameLines, "overlapping lines and similar wording");
    }
    let is_new_code =
        known.delta.map_or(new.on_changed_lines, |it| it.touches(&new.file, new.span()));
    if !is_new_code {
        return different("similar wording, on lines that did not change");
    }
    if place.is_still_there() {
        return different("similar wording, and the code of that finding is somewhere else");
    }
    if is_moved {
        return same(ChangedCode, "moved code and similar wording");
    }
    let percent = tokens.of_longer() * 100.0;
    same(ChangedCode, &format!("same symbol, {percent:.0} % of the code, similar wording"))
}

/// Where the code of a known finding is at head, seen from a reported one.
struct PlaceAtHead {
    is_same_code: bool,
    is_same_symbol: bool,
    /// Whether both are on the same lines of the last review.
    lines: LinesSinceReview,
    /// Whether a line of the known finding is one of the reported one, as far as a diff can tell.
    is_located: bool,
    /// Whether the code of the known finding stands once, on lines of the reported one.
    is_only_copy: bool,
    /// Where the code of the known finding stands; `None` when the file cannot be read.
    copies: Option<Vec<LineSpan>>,
    /// The lines of the reported finding.
    span: LineSpan,
}

/// What the last review of the change says about the lines of two findings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LinesSinceReview {
    /// The known finding was on the lines that the reported one is on.
    Same,
    /// It was or is on other lines.
    Other,
    /// It was not on lines of that review, or too much changed around it.
    Unknown,
}

impl LinesSinceReview {
    /// Code that was and is there only once is the same. Equal code is told apart by the lines around it.
    fn of(new: &Finding, old: &Finding, delta: &Delta, has_same_copy: bool) -> Self {
        let (file, code) = (&new.file, &old.evidence_snippet);
        if !delta.had(file, old.span(), code) {
            return Self::Unknown;
        }
        if has_same_copy && delta.n_earlier_copies(file, code) == 1 {
            return Self::Same;
        }
        let located = delta.locate_unchanged(file, old.span());
        let origin = delta.origin_of_unchanged(file, new.span());
        let is_same = located
            .map(|located| located.overlaps(new.span()))
            .or(origin.map(|origin| origin.overlaps(old.span())));
        match is_same {
            Some(true) => Self::Same,
            Some(false) => Self::Other,
            None => Self::Unknown,
        }
    }
}

impl PlaceAtHead {
    fn of(
        new: &Finding,
        old: &Finding,
        known: &KnownFindings<'_>,
        lines: Option<&CodeLines>,
    ) -> Self {
        let is_same_code = squeezed(&new.evidence_snippet) == squeezed(&old.evidence_snippet);
        let text = || known.texts.at_head(&new.file).filter(|_| says_the_same(new, old));
        let copies = lines.map(|lines| {
            let copies = lines.positions(old.evidence_snippet.lines());
            match text().filter(|_| copies.is_empty()) {
                Some(text) => places(text, &old.evidence_snippet),
                None => copies,
            }
        });
        let is_only_copy = matches!(copies.as_deref(), Some([only]) if only.overlaps(new.span()));
        let located = known.delta.and_then(|delta| delta.locate(&new.file, old.span()));
        let compared = |delta| LinesSinceReview::of(new, old, delta, is_same_code && is_only_copy);
        Self {
            is_same_code,
            is_same_symbol: new.symbol == old.symbol,
            lines: known.delta.map_or(LinesSinceReview::Unknown, compared),
            is_located: located.is_some_and(|located| located.overlaps(new.span())),
            is_only_copy,
            copies,
            span: new.span(),
        }
    }

    /// Whether both are about the same lines, of which one quotes more.
    fn is_overlapping(&self, new: &Finding, old: &Finding, tokens: &SharedTokens) -> bool {
        if self.is_same_code || self.lines == LinesSinceReview::Other {
            return false;
        }
        let is_at_lines = self.lines == LinesSinceReview::Same || self.is_located;
        (is_at_lines && tokens.of_shorter() >= MIN_SHARED_LINES)
            || (self.is_only_copy && is_enclosing(new.symbol.as_deref(), old))
    }

    /// Whether the code of the known finding stands on other lines, or may do so.
    fn is_still_there(&self) -> bool {
        let is_other = |copy: &LineSpan| !copy.overlaps(self.span);
        self.lines == LinesSinceReview::Other
            || self.copies.as_ref().is_none_or(|copies| copies.iter().any(is_other))
    }
}

/// Whether a symbol is that of a finding, or encloses it.
fn is_enclosing(symbol: Option<&str>, finding: &Finding) -> bool {
    match (symbol, finding.symbol.as_deref()) {
        (None, _) => true,
        (Some(outer), Some(inner)) => {
            let rest = inner.strip_prefix(outer);
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        }
        (Some(_), None) => false,
    }
}

/// Whether both are about the same copy of equal code in their symbol.
fn is_same_copy(new: &Finding, old: &Finding) -> bool {
    let copy = |finding| copy_number(finding).map(|(copy, _)| copy);
    new.dedupe_key == old.dedupe_key || copy(new) == copy(old)
}

/// Whether the change adds the code of a finding while another copy stands on lines that it does not add: what
/// was decided about that copy says nothing about this one.
pub(super) fn is_added_copy(new: &Finding, added: &ReviewedLines, texts: &FileTexts) -> bool {
    let Some(text) = texts.at_head(&new.file) else { return false };
    let is_old = |copy: &LineSpan| !added.has_added(&new.file, *copy);
    added.has_added(&new.file, new.span())
        && CodeLines::of(text).positions(new.evidence_snippet.lines()).iter().any(is_old)
}

/// Categories that reviewers confuse with each other are of one kind.
fn is_same_kind(one: Category, other: Category) -> bool {
    use Category::{Bug, ErrorHandling, Logic};
    let is_wrong_behaviour = |it| matches!(it, Bug | Logic | ErrorHandling);
    one == other || (is_wrong_behaviour(one) && is_wrong_behaviour(other))
}

fn is_same_rule(new: &Finding, old: &Finding) -> bool {
    new.rule.is_some() && new.rule == old.rule
}

fn says_the_same(new: &Finding, old: &Finding) -> bool {
    is_same_rule(new, old) || wording(new).describes_the_same(wording(old))
}

fn is_like(new: &Finding, old: &Finding) -> bool {
    says_the_same(new, old) || wording(new).is_like(wording(old))
}

fn is_unlike(new: &Finding, old: &Finding) -> bool {
    !is_same_rule(new, old) && wording(new).is_unlike(wording(old))
}

fn wording(finding: &Finding) -> ClaimWording<'_> {
    ClaimWording { title: &finding.title, body: &finding.body, evidence: &finding.evidence_snippet }
}

/// How many tokens two quotes have in common.
struct SharedTokens {
    shared: usize,
    lengths: (usize, usize),
}

impl SharedTokens {
    fn of_longer(&self) -> f64 {
        share(self.shared, self.lengths.0.max(self.lengths.1))
    }

    fn of_shorter(&self) -> f64 {
        share(self.shared, self.lengths.0.min(self.lengths.1))
    }
}

fn shared_tokens(one: &str, other: &str) -> SharedTokens {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let (mut shared, mut lengths) = (0, (0, 0));
    for token in tokens(one) {
        *counts.entry(token).or_default() += 1;
        lengths.0 += 1;
    }
    for token in tokens(other) {
        lengths.1 += 1;
        if let Some(left) = counts.get_mut(token).filter(|left| **left > 0) {
            *left -= 1;
            shared += 1;
        }
    }
    SharedTokens { shared, lengths }
}

fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|it| !it.is_empty())
}

fn share(part: usize, all: usize) -> f64 {
    let number = |it: usize| u32::try_from(it).map_or(f64::MAX, f64::from);
    if all == 0 { 0.0 } else { number(part) / number(all) }
}

#[cfg(test)]
mod tests;
