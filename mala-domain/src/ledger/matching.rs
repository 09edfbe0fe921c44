//! Whether a reported finding is one that the ledger already has. One function decides, and says why.

use super::delta::Delta;
use super::{FindingId, LedgerFinding};
use crate::change::FilePath;
use crate::finding::{Category, ClaimWording, Finding};
use std::collections::{BTreeMap, BTreeSet};

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
}

/// Evidence of fewer characters than this is too common to recognise a finding by.
const MIN_DISTINCT_EVIDENCE: usize = 16;
/// The part of two quotes that must be the same before wording or a rule can connect them.
const MIN_EVIDENCE_OVERLAP: f64 = 0.6;

/// Looks up all findings of a review. Each known finding is used at most once, and the surest matches are
/// taken first.
pub fn match_all(findings: &[Finding], known: &KnownFindings<'_>) -> Vec<MatchDecision> {
    let mut decisions: Vec<Option<MatchDecision>> = vec![None; findings.len()];
    let mut used: BTreeSet<&FindingId> = BTreeSet::new();
    for certainty in Certainty::ALL {
        for (finding, decision) in findings.iter().zip(decisions.iter_mut()) {
            if decision.is_some() {
                continue;
            }
            let candidates = known.findings.iter().filter(|it| !used.contains(&it.id));
            let matched = candidates
                .filter_map(|it| Some((it, compare(finding, &it.finding, known)?)))
                .filter(|(_, (level, _))| *level == certainty)
                .min_by_key(|(it, _)| it.finding.line_start.abs_diff(finding.line_start));
            if let Some((it, (_, why))) = matched {
                used.insert(&it.id);
                *decision = Some(MatchDecision { id: Some(it.id.clone()), why });
            }
        }
    }
    let unknown = || MatchDecision { id: None, why: "no known finding is like it".to_owned() };
    decisions.into_iter().map(|decision| decision.unwrap_or_else(unknown)).collect()
}

/// How sure a match is; the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Certainty {
    Identity,
    SameCode,
    SameLines,
    Similar,
}

impl Certainty {
    const ALL: [Self; 4] = [Self::Identity, Self::SameCode, Self::SameLines, Self::Similar];
}

/// Whether two findings are the same, how sure that is, and why.
fn compare(new: &Finding, old: &Finding, known: &KnownFindings<'_>) -> Option<(Certainty, String)> {
    let renamed = known.renames.get(&old.file);
    if renamed.unwrap_or(&old.file) != &new.file {
        return None;
    }
    let moved = if renamed.is_some() { ", in a renamed file" } else { "" };
    if new.dedupe_key == old.dedupe_key {
        return Some((Certainty::Identity, "same file, symbol, evidence and category".to_owned()));
    }
    if !is_same_kind(new, old) {
        return None;
    }
    let overlap = evidence_overlap(&new.evidence_snippet, &old.evidence_snippet);
    let is_same_code = normalised(&new.evidence_snippet) == normalised(&old.evidence_snippet);
    let is_same_symbol = new.symbol == old.symbol;
    let is_same_problem = is_same_rule(new, old) || says_the_same(new, old);
    if is_same_code && is_same_problem {
        if is_same_symbol {
            return Some((Certainty::SameCode, format!("same symbol and evidence{moved}")));
        }
        if normalised(&old.evidence_snippet).len() >= MIN_DISTINCT_EVIDENCE {
            return Some((Certainty::Similar, format!("same evidence in another symbol{moved}")));
        }
    }
    let located = known.delta.and_then(|delta| delta.locate(&new.file, old.span()));
    let is_at_lines = located.is_some_and(|lines| lines.overlaps(new.span()));
    if is_at_lines && is_same_problem && overlap > 0.0 {
        return Some((Certainty::SameLines, format!("same lines and the same problem{moved}")));
    }
    if is_same_symbol && is_same_problem && overlap >= MIN_EVIDENCE_OVERLAP {
        let percent = percent(overlap);
        let why = format!("same symbol, the same problem, {percent} % of the evidence{moved}");
        return Some((Certainty::Similar, why));
    }
    None
}

/// Two rules find different problems; a category may differ between reviewers only within a group.
fn is_same_kind(new: &Finding, old: &Finding) -> bool {
    let is_other_rule = matches!((&new.rule, &old.rule), (Some(a), Some(b)) if a != b);
    !is_other_rule && (new.category == old.category || group(new.category) == group(old.category))
}

/// Categories that reviewers confuse with each other.
fn group(category: Category) -> u8 {
    match category {
        Category::Bug | Category::Logic | Category::ErrorHandling => 0,
        Category::Security => 1,
        Category::Performance => 2,
        Category::Style => 3,
    }
}

fn is_same_rule(new: &Finding, old: &Finding) -> bool {
    new.rule.is_some() && new.rule == old.rule
}

fn says_the_same(new: &Finding, old: &Finding) -> bool {
    let evidence = &new.evidence_snippet;
    let new = ClaimWording { title: &new.title, body: &new.body, evidence };
    let old = ClaimWording { title: &old.title, body: &old.body, evidence: &old.evidence_snippet };
    new.means_the_same(old)
}

/// The evidence without white space.
fn normalised(evidence: &str) -> String {
    evidence.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The share of tokens that two quotes have in common: 0 to 1.
fn evidence_overlap(one: &str, other: &str) -> f64 {
    let (one, other) = (tokens(one), tokens(other));
    let mut rest = other.clone();
    let mut shared = 0;
    for token in &one {
        if let Some(at) = rest.iter().position(|it| it == token) {
            rest.swap_remove(at);
            shared += 1;
        }
    }
    let all = one.len().max(other.len());
    if all == 0 { 0.0 } else { count(shared) / count(all) }
}

fn tokens(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|it| !it.is_empty()).collect()
}

fn count(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::MAX, f64::from)
}

fn percent(share: f64) -> String {
    format!("{:.0}", share * 100.0)
}
