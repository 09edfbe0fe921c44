//! The sums of one mode, as records come.

use super::calibration::{Confidences, Worth};
use super::scorer::ModeScores;
use super::{
    CleanScore, Counts, Judged, Rates, RejectedScore, RuleScore, SeverityAgreement, TrialSpread,
    judge,
};
use crate::bootstrap::intervals;
use crate::matching::{Mode, Rule, Spot, assign};
use crate::record::CaseRecord;
use crate::seeded::Seeded;
use mala_domain::finding::Category;
use std::collections::BTreeMap;

/// Sums by a name.
type Slices = BTreeMap<String, Counts>;

/// The sums of one mode.
pub(super) struct Tally {
    rule: Rule,
    all: Counts,
    floor: Counts,
    missed_unreviewed: u64,
    by_case: BTreeMap<(String, String), Counts>,
    by_trial: BTreeMap<u32, Counts>,
    by_category: Slices,
    by_severity: Slices,
    by_language: Slices,
    by_set: Slices,
    by_tag: Slices,
    by_rule: BTreeMap<String, RuleScore>,
    by_reviewer: BTreeMap<String, RuleScore>,
    confidences: Confidences,
    severity: SeverityAgreement,
    clean: CleanScore,
    rejected: RejectedScore,
    is_closest: bool,
}

impl Tally {
    pub(super) fn new(rule: Rule) -> Self {
        Self {
            rule,
            all: Counts::default(),
            floor: Counts::default(),
            missed_unreviewed: 0,
            by_case: BTreeMap::new(),
            by_trial: BTreeMap::new(),
            by_category: Slices::new(),
            by_severity: Slices::new(),
            by_language: Slices::new(),
            by_set: Slices::new(),
            by_tag: Slices::new(),
            by_rule: BTreeMap::new(),
            by_reviewer: BTreeMap::new(),
            confidences: Confidences::default(),
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

    fn add_truths(&mut self, judged: &Judged<'_>) {
        let truths = &judged.record.truths;
        for (truth, claim) in truths.iter().zip(judged.assignment.by_truth(truths.len())) {
            let one = Counts { truths: 1, found: u64::from(claim.is_some()), ..Counts::default() };
            *self.by_category.entry(truth.category.to_string()).or_default() += one;
            let severity = truth.severity.map_or("unknown", |severity| severity.name());
            *self.by_severity.entry(severity.to_owned()).or_default() += one;
            let claim = claim.and_then(|at| judged.predictions.get(at));
            if let (Some(known), Some(claim)) = (truth.severity, claim) {
                self.severity.add(known, claim.severity);
            }
        }
    }

    fn add_claims(&mut self, judged: &Judged<'_>) {
        for (at, claim) in judged.predictions.iter().enumerate() {
            let right = u64::from(judged.is_right(at));
            let one = Counts { findings: 1, right, ..Counts::default() };
            *self.by_category.entry(claim.category.to_string()).or_default() += one;
            *self.by_severity.entry(claim.severity.name().to_owned()).or_default() += one;
            let clean = u64::from(judged.record.is_clean());
            self.by_rule.entry(claim.origin().to_owned()).or_default().add(right, clean);
            self.by_reviewer.entry(claim.reviewer.clone()).or_default().add(right, clean);
            let worth = if right == 1 { Worth::Right } else { Worth::Wrong };
            self.confidences.add(claim.confidence, worth);
        }
    }

    pub(super) fn scores(self, samples: usize, seed: u64) -> ModeScores {
        let cases: Vec<Counts> = self.by_case.into_values().collect();
        let mut chance = Seeded::named(seed, self.rule.mode.name());
        let rates = |slices: Slices| {
            slices.into_iter().map(|(name, counts)| (name, Rates::from(counts))).collect()
        };
        let missed = Counts { truths: self.all.truths + self.missed_unreviewed, ..self.all };
        ModeScores {
            rates: self.all.into(),
            intervals: intervals(&cases, samples, &mut chance),
            floor: self.floor.into(),
            recall_if_unreviewed_missed: missed.recall(),
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
            trials: TrialSpread::over(self.by_trial.into_values().map(Rates::from).collect()),
            is_closest: self.is_closest,
        }
    }
}

/// What saying "bug" of every changed region would score; nothing by the word of a judge, who would have
/// no text to read.
fn floor(rule: &Rule, record: &CaseRecord) -> Counts {
    if rule.mode == Mode::Semantic {
        return Counts::default();
    }
    let spots = record.hunks.iter().map(|region| Spot {
        file: &region.file,
        span: region.span(),
        category: Category::Bug,
    });
    let findings: Vec<Spot<'_>> = spots.collect();
    let hits = assign(rule, &findings, &record.truth_spots()).pairs.len() as u64;
    Counts {
        findings: findings.len() as u64,
        right: hits,
        truths: record.truths.len() as u64,
        found: hits,
    }
}
