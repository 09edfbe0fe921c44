//! Precision and recall by confidence threshold. Findings are matched again for each threshold, so that every
//! point is the score of a run with only these findings.

use super::matching::{MatchRule, ProblemLocation, assign};
use super::record::CaseRecord;
use super::scores::{MatchCounts, ScoreRates};
use std::collections::BTreeMap;

/// Into how many steps the scale from 0 to 1 is cut.
const STEPS: f64 = 100.0;

/// The numbers with one threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// The least confidence of a claim that counts.
    pub threshold: f64,
    /// The rates of the remaining findings.
    pub rates: ScoreRates,
}

/// The curve, updated record by record.
#[derive(Debug, Clone)]
pub struct Curve {
    rule: MatchRule,
    truths: u64,
    /// Claims and hits that are added at each step.
    steps: BTreeMap<u8, (u64, u64)>,
}

impl Curve {
    /// The curve over no records by this rule.
    pub fn new(rule: MatchRule) -> Self {
        Self { rule, truths: 0, steps: BTreeMap::new() }
    }

    /// Adds a record. A failed review is in no rate.
    pub fn add(&mut self, record: &CaseRecord) {
        if record.could_not_review.is_some() {
            return;
        }
        let truths = record.problem_locations();
        self.truths += truths.len() as u64;
        let mut by_step: BTreeMap<u8, Vec<ProblemLocation<'_>>> = BTreeMap::new();
        for claim in record.predictions.iter().filter(|claim| claim.counts()) {
            by_step.entry(step(claim.confidence)).or_default().push(claim.location());
        }
        let (mut locations, mut hits): (Vec<ProblemLocation<'_>>, u64) = (Vec::new(), 0);
        for (step, more) in by_step.into_iter().rev() {
            let n_more = more.len() as u64;
            locations.extend(more);
            // More claims never make fewer hits: they are as many as can be.
            let n_hits = assign(&self.rule, &locations, &truths).pairs.len() as u64;
            let (claims, right) = self.steps.entry(step).or_default();
            *claims += n_more;
            *right += n_hits.saturating_sub(hits);
            hits = n_hits;
        }
    }

    /// The points, from the highest threshold that keeps a claim to the one that keeps all.
    pub fn points(&self) -> Vec<CurvePoint> {
        let mut sum = MatchCounts { truths: self.truths, ..MatchCounts::default() };
        let points = self.steps.iter().rev().map(|(step, (claims, right))| {
            sum.findings += claims;
            sum.right += right;
            sum.found += right;
            CurvePoint { threshold: f64::from(*step) / STEPS, rates: sum.into() }
        });
        points.collect()
    }
}

/// The step of a confidence, tolerant of rounding errors.
fn step(confidence: f64) -> u8 {
    (confidence.clamp(0.0, 1.0) * STEPS + 1e-6) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::MatchMode;
    use crate::scores::tests::{claim, record, truth};
    use mala_domain::finding::{Category, Severity};

    fn curve(records: &[CaseRecord]) -> Vec<String> {
        let mut curve = Curve::new(MatchRule::of(MatchMode::Strict));
        records.iter().for_each(|record| curve.add(record));
        let shown = |point: &CurvePoint| {
            let ScoreRates { found, truths, right, findings, .. } = point.rates;
            format!("{:.2}: found {found}/{truths} right {right}/{findings}", point.threshold)
        };
        curve.points().iter().map(shown).collect()
    }

    fn bug(place: &str, confidence: f64) -> crate::Prediction {
        claim(place, Category::Bug, Severity::High, confidence)
    }

    #[test]
    fn each_point_is_what_a_run_with_its_threshold_scores() {
        let truths =
            || vec![truth("a.py:10", Category::Bug, None), truth("a.py:14", Category::Bug, None)];
        // The first claim could hit both problems, the second only one: pairs are sought anew.
        let one = record("1", "python", vec![bug("a.py:12", 0.9), bug("a.py:8", 0.29)], truths());
        let two = record("2", "python", vec![bug("b.py:1", 0.5), bug("b.py:2", 0.5)], vec![]);
        let mut failed = record("3", "python", vec![bug("a.py:10", 1.0)], truths());
        failed.could_not_review = Some("no".to_owned());
        assert_eq!(
            curve(&[one, two, failed]),
            ["0.90: found 1/2 right 1/1", "0.50: found 1/2 right 1/3", "0.29: found 2/2 right 2/4"]
        );
    }

    #[test]
    fn no_claims_make_no_points() {
        assert!(curve(&[record("1", "python", vec![], vec![])]).is_empty());
        assert!(curve(&[]).is_empty());
    }

    #[test]
    fn a_confidence_that_is_no_number_is_the_lowest() {
        let one = record("1", "python", vec![bug("a.py:1", f64::NAN), bug("a.py:2", 7.0)], vec![]);
        assert_eq!(curve(&[one]), ["1.00: found 0/0 right 0/1", "0.00: found 0/0 right 0/2"]);
    }
}
