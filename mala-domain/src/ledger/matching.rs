//! Decides whether a reported finding is already in the ledger, and why.

mod sides;

use super::delta::{Delta, ReviewedLines};
use super::{FindingId, LedgerFinding};
use crate::change::{FilePath, LineSpan};
use crate::finding::{Category, ClaimWording, CodeLines, Finding};
use crate::review::FileTexts;
use sides::{KnownSide, ReportedSide};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The result of looking a finding up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchDecision {
    /// The finding in the ledger, if it is known.
    pub id: Option<FindingId>,
    /// Why, in one sentence.
    pub why: String,
}

/// The known findings, and the context to compare them in.
pub struct KnownFindings<'k> {
    /// The ledger's findings in the files of the review.
    pub findings: &'k [LedgerFinding],
    /// Paths that were renamed since, old to new.
    pub renames: &'k BTreeMap<FilePath, FilePath>,
    /// The lines that moved since the last review of this change.
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
    let at_head = by_file_at_head(known);
    let mut prepared: HashMap<&FilePath, Vec<KnownSide<'_>>> = HashMap::new();
    let mut pairs = Vec::new();
    let mut refusals: Vec<Option<String>> = vec![None; findings.len()];
    for (index, finding) in findings.iter().enumerate() {
        let Some(candidates) = at_head.get(&finding.file) else { continue };
        let file = &finding.file;
        let sides =
            prepared.entry(file).or_insert_with(|| KnownSide::of_file(candidates, file, known));
        let reported = ReportedSide::of(finding, known);
        for side in sides.iter() {
            let it = side.it;
            match compare(&reported, side, known) {
                Comparison::Same { certainty, why } => {
                    let own = known.renames.get(&it.finding.file).unwrap_or(&it.finding.file);
                    let is_reworded = !says_the_same(finding, &it.finding);
                    let distance = it.finding.line_start.abs_diff(finding.line_start);
                    let order = (certainty, own != file, is_reworded, distance, index);
                    pairs.push((order, it, why));
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

/// The known findings by the files at head in which they may be.
fn by_file_at_head<'k>(known: &KnownFindings<'k>) -> HashMap<&'k FilePath, Vec<&'k LedgerFinding>> {
    let mut at_head: HashMap<&FilePath, Vec<&LedgerFinding>> = HashMap::new();
    for it in known.findings {
        for file in it.files() {
            let found = at_head.entry(known.renames.get(file).unwrap_or(file)).or_default();
            if found.last().is_none_or(|last| last.id != it.id) {
                found.push(it);
            }
        }
    }
    at_head
}

fn short(id: &FindingId) -> &str {
    id.0.get(..8).unwrap_or(&id.0)
}

/// Whether two findings of one file are the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// They are.
    Same {
        /// The certainty of the match.
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

/// The certainty of a match; the highest first.
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

/// Compares a reported finding with a known one of the same file, following renames. In this order:
/// 1. Findings of two different rules are different. A finding on code that the change adds is not
///    the same as one of another change on a copy that still exists.
/// 2. The same code in the same symbol, or on the same lines, and the same kind of category: the
///    same finding, unless the wordings have nothing in common. With another category: the same if the
///    wording is similar.
/// 3. Other findings need similar wording, and one of these: the code of one finding is part of the
///    code of the other; the code was moved from its old place; the code of the same symbol was
///    edited.
fn compare(
    reported: &ReportedSide<'_>,
    side: &KnownSide<'_>,
    known: &KnownFindings<'_>,
) -> Comparison {
    use Certainty::{ChangedCode, Identity, SameCode, SameLines};
    let (new, it, old) = (reported.finding, side.it, &side.it.finding);
    if matches!((&new.rule, &old.rule), (Some(a), Some(b)) if a != b) {
        return Comparison::Different { why: None };
    }
    let moved = if old.file == new.file { "" } else { ", in a renamed file" };
    let same = |certainty, why: &str| Comparison::Same { certainty, why: format!("{why}{moved}") };
    let different = |why: &str| Comparison::Different { why: Some(why.to_owned()) };
    let is_same_code = reported.code == side.code;
    let is_same_symbol = new.symbol == old.symbol;
    let lines = LinesSinceReview::of(reported, side, is_same_code);
    if is_same_code {
        let is_same_lines = lines == LinesSinceReview::Same;
        let is_added = it.standing.is_none() && reported.is_added_copy(known);
        if lines == LinesSinceReview::Other || is_added {
            return different("the same code, and that finding is on another copy of it");
        }
        if is_same_lines || (is_same_symbol && is_same_copy(reported, side)) {
            return match (is_same_kind(new.category, old.category), is_like(new, old)) {
                (true, _) if is_unlike(new, old) => {
                    different("the same code, and the wording has nothing in common")
                }
                (true, _) if is_same_symbol => {
                    same(Identity, "same symbol, evidence and kind of category")
                }
                (true, _) => same(Identity, "same lines, evidence and kind of category"),
                (false, true) => same(SameCode, "same evidence and similar wording"),
                (false, false) => different("the same code, and another kind of problem"),
            };
        }
    }
    let is_overlapping = !is_same_code && lines.is_overlapping(reported, side);
    let is_moved = is_same_code && side.code.len() >= MIN_MOVED_CODE;
    let is_edited = is_same_symbol
        && shared_tokens(&reported.tokens, &side.tokens).of_longer() >= MIN_EDITED_OVERLAP;
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
    if lines == LinesSinceReview::Other || side.may_be_outside(new.span()) {
        return different("similar wording, and the code of that finding is somewhere else");
    }
    if is_moved {
        return same(ChangedCode, "moved code and similar wording");
    }
    let percent = shared_tokens(&reported.tokens, &side.tokens).of_longer() * 100.0;
    same(ChangedCode, &format!("same symbol, {percent:.0} % of the code, similar wording"))
}

/// Whether two findings are on the same lines, according to the last review of the change.
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
    /// Code with only one copy, then and now, is the same. Several copies are distinguished by the
    /// lines around them.
    fn of(new: &ReportedSide<'_>, old: &KnownSide<'_>, is_same_code: bool) -> Self {
        if !old.was_there {
            return Self::Unknown;
        }
        let is_only_copy = || {
            old.is_only_at(new.finding.span())
                && (old.stands_as_lines() || says_the_same(new.finding, &old.it.finding))
        };
        if is_same_code && is_only_copy() && old.was_only_copy() {
            return Self::Same;
        }
        let is_same = old
            .unchanged
            .map(|unchanged| unchanged.overlaps(new.finding.span()))
            .or(new.origin.map(|origin| origin.overlaps(old.it.finding.span())));
        match is_same {
            Some(true) => Self::Same,
            Some(false) => Self::Other,
            None => Self::Unknown,
        }
    }

    /// Whether two findings that quote different code are about the same lines, of which one quotes more.
    fn is_overlapping(self, new: &ReportedSide<'_>, old: &KnownSide<'_>) -> bool {
        let span = new.finding.span();
        let is_at_lines =
            self == Self::Same || old.located.is_some_and(|located| located.overlaps(span));
        let shares_lines =
            || shared_tokens(&new.tokens, &old.tokens).of_shorter() >= MIN_SHARED_LINES;
        let is_enclosing = || is_enclosing(new.finding.symbol.as_deref(), &old.it.finding);
        self != Self::Other
            && ((is_at_lines && shares_lines()) || (is_enclosing() && old.is_only_at(span)))
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
fn is_same_copy(new: &ReportedSide<'_>, old: &KnownSide<'_>) -> bool {
    new.finding.dedupe_key == old.it.finding.dedupe_key || new.copy() == old.copy()
}

/// Whether the change adds the code of a finding while another copy exists on lines that it does
/// not add. A decision about that copy does not apply to this one.
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

/// The tokens that two sorted lists have in common.
fn shared_tokens(one: &[&str], other: &[&str]) -> SharedTokens {
    let (mut rest, mut shared) = (other, 0);
    for token in one {
        let n_smaller = rest.iter().take_while(|it| *it < token).count();
        rest = rest.get(n_smaller..).unwrap_or_default();
        if rest.first() == Some(token) {
            rest = rest.get(1..).unwrap_or_default();
            shared += 1;
        }
    }
    SharedTokens { shared, lengths: (one.len(), other.len()) }
}

fn share(part: usize, all: usize) -> f64 {
    let number = |it: usize| u32::try_from(it).map_or(f64::MAX, f64::from);
    if all == 0 { 0.0 } else { number(part) / number(all) }
}

#[cfg(test)]
mod tests;
