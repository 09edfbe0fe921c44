//! Matches one record under one rule: right findings, found problems, and findings that repeat a rejected
//! claim.

use crate::judging::PairOutcome;
use crate::matching::{
    Assignment, MatchLink, MatchMode, MatchRule, MatchedPair, ProblemLocation, assign,
    assign_links, distance,
};
use crate::record::{CaseRecord, Prediction};
use crate::scores::MatchCounts;

/// A record with its hits.
#[derive(Debug, Clone)]
pub struct MatchedRecord<'a> {
    /// The record.
    pub record: &'a CaseRecord,
    /// The claims that count.
    pub predictions: Vec<&'a Prediction>,
    /// The findings and the known problems that they hit.
    pub assignment: Assignment,
    /// The other findings that repeat a rejected claim.
    pub repeated: Vec<MatchedPair>,
}

/// Scores a record. A case that could not be reviewed has no findings and no misses: it is counted
/// separately.
pub fn judge<'a>(rule: &MatchRule, record: &'a CaseRecord) -> MatchedRecord<'a> {
    let reviewed = record.could_not_review.is_none();
    let claims = record.predictions.iter().enumerate();
    let (places, predictions): (Vec<usize>, Vec<&Prediction>) =
        claims.filter(|(_, claim)| reviewed && claim.counts()).unzip();
    let findings: Vec<ProblemLocation<'_>> =
        predictions.iter().map(|claim| claim.location()).collect();
    let assignment = match rule.mode {
        MatchMode::Semantic => by_judge(record, &places, &findings),
        _ => assign(rule, &findings, &record.problem_locations()),
    };
    let repeated = repeated(rule, &findings, &assignment, record);
    MatchedRecord { record, predictions, assignment, repeated }
}

/// The best pairing of findings and problems that the judge considers the same. Of several, the
/// closest is used.
fn by_judge(record: &CaseRecord, places: &[usize], findings: &[ProblemLocation<'_>]) -> Assignment {
    let truths = record.problem_locations();
    let pairs = record.judgement.iter().flat_map(|judged| &judged.pairs);
    let same = pairs.filter(|pair| pair.outcome == PairOutcome::Same);
    let links = same.filter_map(|pair| {
        let finding = places.binary_search(&pair.claim).ok()?;
        let cost = distance(findings.get(finding)?, truths.get(pair.truth)?);
        Some(MatchLink { finding, truth: pair.truth, cost })
    });
    assign_links(findings.len(), truths.len(), links.collect())
}

/// The findings without a partner, paired with rejected claims.
fn repeated(
    rule: &MatchRule,
    findings: &[ProblemLocation<'_>],
    assignment: &Assignment,
    record: &CaseRecord,
) -> Vec<MatchedPair> {
    let left: Vec<usize> =
        (0..findings.len()).filter(|at| assignment.truth_of(*at).is_none()).collect();
    let locations: Vec<ProblemLocation<'_>> =
        left.iter().filter_map(|at| findings.get(*at).copied()).collect();
    let found = assign(rule, &locations, &record.rejected_spots());
    let named = found.pairs.iter().filter_map(|pair| {
        Some(MatchedPair { finding: *left.get(pair.finding)?, truth: pair.truth })
    });
    named.collect()
}

impl MatchedRecord<'_> {
    /// Whether a claim hits a known problem.
    pub fn is_right(&self, claim: usize) -> bool {
        self.assignment.truth_of(claim).is_some()
    }

    /// The counts of this record; all zero if it could not be reviewed.
    pub fn counts(&self) -> MatchCounts {
        if self.record.could_not_review.is_some() {
            return MatchCounts::default();
        }
        let hits = self.assignment.pairs.len() as u64;
        MatchCounts {
            findings: self.predictions.len() as u64,
            right: hits,
            truths: self.record.truths.len() as u64,
            found: hits,
        }
    }
}

impl CaseRecord {
    /// The locations of the known problems.
    pub fn problem_locations(&self) -> Vec<ProblemLocation<'_>> {
        self.truths.iter().map(|truth| truth.location()).collect()
    }

    /// The locations of the rejected claims.
    pub fn rejected_spots(&self) -> Vec<ProblemLocation<'_>> {
        self.rejected.iter().map(|truth| truth.location()).collect()
    }
}
