//! The running sums of one match mode.

use super::calibration::{ConfidenceRates, ConfidenceTally};
use super::scorer::ModeScores;
use super::{
    CleanScore, MatchCounts, MatchedRecord, RejectedScore, RuleScore, ScoreRates,
    SeverityAgreement, TrialSpread, judge,
};
use crate::bootstrap::intervals;
use crate::matching::{MatchMode, MatchRule, ProblemLocation, assign};
use crate::random::SeededRandom;
use crate::record::{CaseRecord, Prediction};
use mala_domain::finding::Category;
use std::collections::BTreeMap;

/// Sums by a name.
type ScoreSlices = BTreeMap<String, MatchCounts>;

/// The sums of one mode.
pub(super) struct ScoreTally {
    rule: MatchRule,
    all: MatchCounts,
    floor: MatchCounts,
    missed_unreviewed: u64,
    found_with_notes: u64,
    has_notes: bool,
    by_case: BTreeMap<(String, String), MatchCounts>,
    by_trial: BTreeMap<u32, MatchCounts>,
    by_category: ScoreSlices,
    by_severity: ScoreSlices,
    by_language: ScoreSlices,
    by_set: ScoreSlices,
    by_tag: ScoreSlices,
    by_rule: BTreeMap<String, RuleScore>,
    by_reviewer: BTreeMap<String, RuleScore>,
    confidences: ConfidenceTally,
    severity: SeverityAgreement,
    clean: CleanScore,
    rejected: RejectedScore,
    is_closest: bool,
}

impl ScoreTally {
    pub(super) fn new(rule: MatchRule) -> Self {
        Self {
            rule,
            all: MatchCounts::default(),
            floor: MatchCounts::default(),
            missed_unreviewed: 0,
            found_with_notes: 0,
            has_notes: false,
            by_case: BTreeMap::new(),
            by_trial: BTreeMap::new(),
            by_category: ScoreSlices::new(),
            by_severity: ScoreSlices::new(),
            by_language: ScoreSlices::new(),
            by_set: ScoreSlices::new(),
            by_tag: ScoreSlices::new(),
            by_rule: BTreeMap::new(),
            by_reviewer: BTreeMap::new(),
            confidences: ConfidenceTally::default(),
            severity: SeverityAgreement::default(),
            clean: CleanScore::default(),
            rejected: RejectedScore::default(),
            is_closest: true,
        }
    }

    pub(super) fn add(&mut self, record: &CaseRecord) {
        if record.could_not_review.is_some() {
            self.missed_unreviewed += record.truths.len() as u64;
            return;
        }
        let judged = judge(&self.rule, record);
        let counts = judged.counts();
        self.is_closest &= judged.assignment.is_closest;
        self.all += counts;
        self.floor += floor(&self.rule, record);
        self.found_with_notes += found_with_notes(&self.rule, &judged);
        self.has_notes |= !record.minor_predictions.is_empty();
        let case = (record.set.clone(), record.case.clone());
        *self.by_case.entry(case).or_default() += counts;
        *self.by_trial.entry(record.trial).or_default() += counts;
        *self.by_language.entry(record.language.clone()).or_default() += counts;
        *self.by_set.entry(record.set.clone()).or_default() += counts;
        for tag in &record.tags {
            *self.by_tag.entry(tag.clone()).or_default() += counts;
        }
        if record.is_clean() {
            let lines = record.changed_lines.added + record.changed_lines.removed;
            self.clean.add(lines as u64, counts.findings);
        }
        self.rejected.add(record.rejected.len() as u64, judged.repeated.len() as u64);
        self.add_truths(&judged);
        self.add_claims(&judged);
    }

    fn add_truths(&mut self, judged: &MatchedRecord<'_>) {
        let truths = &judged.record.truths;
        for (truth, claim) in truths.iter().zip(judged.assignment.by_truth(truths.len())) {
            let one = MatchCounts {
                truths: 1,
                found: u64::from(claim.is_some()),
                ..MatchCounts::default()
            };
            *self.by_category.entry(truth.category.to_string()).or_default() += one;
            let severity = truth.severity.map_or("unknown", |severity| severity.name());
            *self.by_severity.entry(severity.to_owned()).or_default() += one;
            let claim = claim.and_then(|at| judged.predictions.get(at));
            if let (Some(known), Some(claim)) = (truth.severity, claim) {
                self.severity.add(known, claim.severity);
            }
        }
    }

    fn add_claims(&mut self, judged: &MatchedRecord<'_>) {
        for (at, claim) in judged.predictions.iter().enumerate() {
            let right = u64::from(judged.is_right(at));
            let one = MatchCounts { findings: 1, right, ..MatchCounts::default() };
            *self.by_category.entry(claim.category.to_string()).or_default() += one;
            *self.by_severity.entry(claim.severity.name().to_owned()).or_default() += one;
            let clean = u64::from(judged.record.is_clean());
            self.by_rule.entry(claim.origin().to_owned()).or_default().add(right, clean);
            self.by_reviewer.entry(claim.reviewer.clone()).or_default().add(right, clean);
            let worth = if right == 1 { ConfidenceRates::Right } else { ConfidenceRates::Wrong };
            self.confidences.add(claim.confidence, worth);
        }
    }

    pub(super) fn scores(self, samples: usize, seed: u64) -> ModeScores {
        let cases: Vec<MatchCounts> = self.by_case.into_values().collect();
        let mut random = SeededRandom::named(seed, self.rule.mode.name());
        let rates = |slices: ScoreSlices| {
            slices.into_iter().map(|(name, counts)| (name, ScoreRates::from(counts))).collect()
        };
        let with_notes = MatchCounts { found: self.found_with_notes, ..self.all };
        let counts_notes = self.has_notes && self.rule.mode != MatchMode::Semantic;
        let missed = MatchCounts { truths: self.all.truths + self.missed_unreviewed, ..self.all };
        ModeScores {
            rates: self.all.into(),
            intervals: intervals(&cases, samples, &mut random),
            floor: self.floor.into(),
            recall_if_unreviewed_missed: missed.recall(),
            recall_with_notes: with_notes.recall().filter(|_| counts_notes),
            by_category: rates(self.by_category),
            by_severity: rates(self.by_severity),
            by_language: rates(self.by_language),
            by_set: rates(self.by_set),
            by_tag: rates(self.by_tag),
            by_rule: self.by_rule,
            by_reviewer: self.by_reviewer,
            calibration: self.confidences.calibration(),
            severity: self.severity,
            clean: self.clean,
            rejected: self.rejected,
            trials: TrialSpread::over(self.by_trial.into_values().map(ScoreRates::from).collect()),
            is_closest: self.is_closest,
        }
    }
}

/// The known problems that the findings and the notes of a review hit. A judge sees no notes.
fn found_with_notes(rule: &MatchRule, judged: &MatchedRecord<'_>) -> u64 {
    let notes = &judged.record.minor_predictions;
    if notes.is_empty() || rule.mode == MatchMode::Semantic {
        return judged.counts().found;
    }
    let claims = judged.predictions.iter().copied().chain(notes);
    let locations: Vec<ProblemLocation<'_>> = claims.map(Prediction::location).collect();
    assign(rule, &locations, &judged.record.problem_locations()).pairs.len() as u64
}

/// The score of one bug finding per changed region; none in the semantic mode, which needs texts.
fn floor(rule: &MatchRule, record: &CaseRecord) -> MatchCounts {
    if rule.mode == MatchMode::Semantic {
        return MatchCounts::default();
    }
    let locations = record.hunks.iter().map(|region| ProblemLocation {
        file: &region.file,
        span: region.span(),
        category: Category::Bug,
    });
    let findings: Vec<ProblemLocation<'_>> = locations.collect();
    let hits = assign(rule, &findings, &record.problem_locations()).pairs.len() as u64;
    MatchCounts {
        findings: findings.len() as u64,
        right: hits,
        truths: record.truths.len() as u64,
        found: hits,
    }
}
