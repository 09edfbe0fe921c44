//! A reviewed case with the outcome and the reason of every finding and known problem.

use super::matching::{MatchMode, MatchRule, MissReason, ProblemLocation, miss};
use super::record::CaseRecord;
use super::scores::{MatchedRecord, judge};
use crate::judging::{JudgedPair, PairOutcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reviewed case in one match mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "EvalCaseView")]
pub struct CaseView {
    /// The match mode.
    pub mode: MatchMode,
    /// The outcome of each known problem, in the order of the case.
    pub truths: Vec<ProblemView>,
    /// The outcome of each finding, in the order of the reviewer.
    pub claims: Vec<ClaimView>,
    /// The record itself.
    pub record: CaseRecord,
}

/// The outcome of a known problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProblemView {
    /// The claim that hits it, by its index in `record.predictions`; null when it is missed.
    pub found_by: Option<usize>,
    /// Why.
    pub why: String,
}

/// The outcome of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimView {
    /// The known problem that it hits, by its index in `record.truths`; null when it is wrong.
    pub hits: Option<usize>,
    /// The claim it repeats that people judged to be wrong, by its index in `record.rejected`.
    pub repeats: Option<usize>,
    /// Whether it counts. A refuted finding and a finding of a failed review do not.
    pub counts: bool,
    /// Why.
    pub why: String,
}

impl CaseView {
    /// A record under a rule.
    pub fn of(rule: &MatchRule, record: &CaseRecord) -> Self {
        let judged = judge(rule, record);
        let counted = counted(record);
        let locations: Vec<ProblemLocation<'_>> = judged
            .predictions
            .iter()
            .map(|claim| ProblemLocation { span: rule.capped(claim.span()), ..claim.location() })
            .collect();
        let look = CaseExplainer { rule, judged: &judged, counted: &counted, locations };
        Self {
            mode: rule.mode,
            truths: look.truths(),
            claims: look.claims(),
            record: record.clone(),
        }
    }
}

/// The places of the claims that count.
fn counted(record: &CaseRecord) -> Vec<usize> {
    let is_reviewed = record.could_not_review.is_none();
    let claims = record.predictions.iter().enumerate();
    claims.filter(|(_, claim)| is_reviewed && claim.counts()).map(|(at, _)| at).collect()
}

struct CaseExplainer<'a> {
    rule: &'a MatchRule,
    judged: &'a MatchedRecord<'a>,
    counted: &'a [usize],
    locations: Vec<ProblemLocation<'a>>,
}

impl CaseExplainer<'_> {
    fn truths(&self) -> Vec<ProblemView> {
        let record = self.judged.record;
        let found = self.judged.assignment.by_truth(record.truths.len());
        let truths = record.truths.iter().enumerate().zip(found).map(|((place, truth), claim)| {
            let found_by = claim.and_then(|at| self.counted.get(at).copied());
            let why = match (claim.and_then(|at| self.locations.get(at)), &record.could_not_review)
            {
                (None, Some(_)) => "the case could not be reviewed".to_owned(),
                _ if self.is_judged() => match found_by {
                    Some(claim) => judged_hit(record, claim, place),
                    None => judged_miss(record, |pair| pair.truth == place),
                },
                (Some(claim), _) => apart(claim, &truth.location()),
                (None, None) => self.miss(&truth.location(), &self.locations, "finding"),
            };
            ProblemView { found_by, why }
        });
        truths.collect()
    }

    fn is_judged(&self) -> bool {
        self.rule.mode == MatchMode::Semantic
    }

    fn claims(&self) -> Vec<ClaimView> {
        let record = self.judged.record;
        let truths = record.problem_locations();
        let view = |place: usize| {
            let Ok(at) = self.counted.binary_search(&place) else {
                let why = match record.could_not_review {
                    Some(_) => "the review failed; not counted",
                    None => "verification refuted it; not counted",
                };
                return ClaimView { hits: None, repeats: None, counts: false, why: why.to_owned() };
            };
            let hits = self.judged.assignment.truth_of(at);
            let repeated = self.judged.repeated.iter().find(|pair| pair.finding == at);
            let why = match (hits.and_then(|hit| truths.get(hit)), self.locations.get(at)) {
                _ if self.is_judged() => match hits {
                    Some(truth) => judged_hit(record, place, truth),
                    None => judged_miss(record, |pair| pair.claim == place),
                },
                (Some(truth), Some(claim)) => apart(claim, truth),
                (None, Some(claim)) => self.miss(claim, &truths, "known problem"),
                _ => String::new(),
            };
            ClaimView { hits, repeats: repeated.map(|pair| pair.truth), counts: true, why }
        };
        (0..record.predictions.len()).map(view).collect()
    }

    fn miss(
        &self,
        one: &ProblemLocation<'_>,
        others: &[ProblemLocation<'_>],
        noun: &str,
    ) -> String {
        let mode = self.rule.mode;
        match miss(self.rule, one, others) {
            MissReason::OtherFile => format!("no {noun} is in this file"),
            MissReason::TooFar { lines, .. } => {
                format!("the nearest {noun} is {} away", counted_lines(lines))
            }
            MissReason::OtherCategory { category, .. } => {
                format!("the {noun} here is {category}, which differs in {mode} mode")
            }
            MissReason::Taken { .. } => format!("the {noun} here matches a closer one"),
        }
    }
}

fn counted_lines(lines: u32) -> String {
    mala_domain::report::counted(lines as usize, "line")
}

/// Describes the distance of a hit.
fn apart(claim: &ProblemLocation<'_>, truth: &ProblemLocation<'_>) -> String {
    let category = if claim.category == truth.category {
        "same category".to_owned()
    } else {
        format!("{} for {}", claim.category, truth.category)
    };
    let lines = if claim.span.overlaps(truth.span) {
        "on the same lines".to_owned()
    } else {
        let (a, b) = (claim.span, truth.span);
        let gap = b.start().saturating_sub(a.end()).max(a.start().saturating_sub(b.end()));
        format!("{} apart", counted_lines(gap))
    };
    format!("{lines}, {category}")
}

/// Why this claim hits this problem.
fn judged_hit(record: &CaseRecord, claim: usize, truth: usize) -> String {
    let is_meant = |pair: &&JudgedPair| pair.claim == claim && pair.truth == truth;
    match pairs(record).find(is_meant) {
        Some(pair) => format!("the judge: {}", pair.why),
        None => String::new(),
    }
}

/// Why something has no partner, from the judged pairs with it. Pairs that the judge accepts come
/// first, then undecided ones, then the nearest.
fn judged_miss(record: &CaseRecord, is_part: impl Fn(&JudgedPair) -> bool) -> String {
    let rank = |pair: &&JudgedPair| {
        let lines = |pair: &JudgedPair| {
            let claim = record.predictions.get(pair.claim)?;
            Some(claim.line_start.abs_diff(record.truths.get(pair.truth)?.line_start))
        };
        (order(pair.outcome), lines(pair).unwrap_or(u32::MAX))
    };
    let Some(pair) = pairs(record).filter(|pair| is_part(pair)).min_by_key(rank) else {
        return match &record.judgement {
            None => "the case was not judged".to_owned(),
            Some(_) => "the judge saw no candidate for it".to_owned(),
        };
    };
    let why = &pair.why;
    match pair.outcome {
        PairOutcome::Same => format!("its match has a closer partner: {why}"),
        PairOutcome::Undecided => format!("undecided, so not a hit: {why}"),
        PairOutcome::Different => format!("the judge about the nearest candidate: {why}"),
    }
}

fn pairs(record: &CaseRecord) -> impl Iterator<Item = &JudgedPair> {
    record.judgement.iter().flat_map(|judged| &judged.pairs)
}

fn order(outcome: PairOutcome) -> u8 {
    match outcome {
        PairOutcome::Same => 0,
        PairOutcome::Undecided => 1,
        PairOutcome::Different => 2,
    }
}

/// The JSON Schema of a view.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(CaseView)
}
