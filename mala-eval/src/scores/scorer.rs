//! Scores a run, record by record, in all modes at once.

use super::tally::ScoreTally;
use super::{
    Calibration, CleanScore, JudgeScore, RejectedScore, RuleScore, ScoreRates, SeverityAgreement,
    TrialSpread,
};
use crate::bootstrap::{self, RateIntervals, percentile};
use crate::matching::{MAX_SPAN, MatchMode, MatchRule};
use crate::record::CaseRecord;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// The options of scoring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScorerOptions {
    /// How many lines of a finding count.
    pub max_span: u32,
    /// The random seed.
    pub seed: u64,
    /// The number of bootstrap samples for intervals.
    pub samples: usize,
    /// Whether the run has a judge.
    pub is_judged: bool,
}

impl Default for ScorerOptions {
    fn default() -> Self {
        let samples = bootstrap::SAMPLES;
        Self { max_span: MAX_SPAN, seed: 0, samples, is_judged: false }
    }
}

/// The scores of one mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModeScores {
    /// Over all reviewed cases.
    pub rates: ScoreRates,
    /// 95 % confidence intervals over cases.
    pub intervals: RateIntervals,
    /// The score of one bug finding per changed region.
    pub floor: ScoreRates,
    /// Recall when the problems of failed reviews count as missed.
    pub recall_if_unreviewed_missed: Option<f64>,
    /// Recall when notes count like findings; null when no review has notes, and in the semantic mode.
    #[serde(default)]
    pub recall_with_notes: Option<f64>,
    /// By category: recall by the problem's, precision by the claim's.
    pub by_category: BTreeMap<String, ScoreRates>,
    /// By severity: recall by the problem's, precision by the claim's.
    pub by_severity: BTreeMap<String, ScoreRates>,
    /// By language of the case.
    pub by_language: BTreeMap<String, ScoreRates>,
    /// By set.
    pub by_set: BTreeMap<String, ScoreRates>,
    /// By tag of the case.
    pub by_tag: BTreeMap<String, ScoreRates>,
    /// By rule, or by reviewer where there is no rule.
    pub by_rule: BTreeMap<String, RuleScore>,
    /// By reviewer: a lane of a panel, or the reviewer itself.
    #[serde(default)]
    pub by_reviewer: BTreeMap<String, RuleScore>,
    /// Confidence against correctness.
    pub calibration: Calibration,
    /// Whether hits have the right severity.
    pub severity: SeverityAgreement,
    /// False alarms on clean cases.
    pub clean: CleanScore,
    /// Repeated claims that people judged to be wrong.
    pub rejected: RejectedScore,
    /// The differences between trials.
    pub trials: TrialSpread,
    /// Whether all hits are the closest there are; their number always is the largest.
    pub is_closest: bool,
}

/// The scores of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scores {
    /// Same file, same category, lines within three: the rule.
    pub strict: ModeScores,
    /// The same with bug, logic and error_handling as one category.
    pub grouped: ModeScores,
    /// The same without the category.
    pub location: ModeScores,
    /// In the semantic mode; null without a judge.
    #[serde(default)]
    pub semantic: Option<ModeScores>,
    /// The answers of the judge.
    #[serde(default)]
    pub judge: Option<JudgeScore>,
    /// The number of cases and of failed reviews.
    pub cases: CaseCounts,
    /// The usage of the run.
    pub spent: RunUsage,
    /// The failed reviews, with the reason.
    pub unreviewed: Vec<Unreviewed>,
}

impl Scores {
    /// The scores of a mode. Those of a judge that is not there have no number.
    pub fn of(&self, mode: MatchMode) -> &ModeScores {
        match mode {
            MatchMode::Strict => &self.strict,
            MatchMode::Grouped => &self.grouped,
            MatchMode::Location => &self.location,
            MatchMode::Semantic => self.semantic.as_ref().unwrap_or(&NOT_JUDGED),
        }
    }
}

static NOT_JUDGED: LazyLock<ModeScores> =
    LazyLock::new(|| ScoreTally::new(MatchRule::of(MatchMode::Semantic)).scores(0, 0));

/// How many cases there are. Each trial of a case counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaseCounts {
    /// Different cases.
    pub cases: u64,
    /// Successful reviews.
    pub reviewed: u64,
    /// Failed reviews. They are in no rate.
    pub could_not_review: u64,
    /// Reviewed cases without known problems.
    pub clean: u64,
}

/// The usage of a run. A value that a review did not report is unknown, not zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunUsage {
    /// Dollars in all; null when a review did not report it.
    pub cost_usd: Option<f64>,
    /// Dollars that are known of.
    pub known_cost_usd: f64,
    /// Tokens in all; null when a review did not report it.
    pub tokens_used: Option<u64>,
    /// Calls to models.
    pub llm_calls: u64,
    /// Calls to tools.
    pub tool_calls: u64,
    /// Mean seconds per review; null if there is none.
    pub seconds_mean: Option<f64>,
    /// The median.
    pub seconds_p50: Option<f64>,
    /// The 95th percentile.
    pub seconds_p95: Option<f64>,
}

/// A failed review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unreviewed {
    /// Its set.
    pub set: String,
    /// The case.
    pub case: String,
    /// The trial.
    pub trial: u32,
    /// Why.
    pub why: String,
}

/// Scores records as they come. For the same result to the last digit, they come in the same order.
pub struct Scorer {
    options: ScorerOptions,
    tallies: [ScoreTally; 3],
    semantic: Option<(ScoreTally, JudgeScore)>,
    ids: BTreeSet<(String, String)>,
    cases: CaseCounts,
    spent: RunUsage,
    seconds: Vec<f64>,
    unreviewed: Vec<Unreviewed>,
}

impl Scorer {
    /// A scorer without records.
    pub fn new(options: ScorerOptions) -> Self {
        let rule = |mode| MatchRule { max_span: options.max_span, ..MatchRule::of(mode) };
        Self {
            options,
            tallies: MatchMode::ALL.map(|mode| ScoreTally::new(rule(mode))),
            semantic: options
                .is_judged
                .then(|| (ScoreTally::new(rule(MatchMode::Semantic)), JudgeScore::nothing())),
            ids: BTreeSet::new(),
            cases: CaseCounts::default(),
            spent: RunUsage { cost_usd: Some(0.0), tokens_used: Some(0), ..RunUsage::default() },
            seconds: Vec::new(),
            unreviewed: Vec::new(),
        }
    }

    /// Adds a record.
    pub fn add(&mut self, record: &CaseRecord) {
        self.ids.insert((record.set.clone(), record.case.clone()));
        self.add_spent(record);
        for tally in &mut self.tallies {
            tally.add(record);
        }
        if let Some((tally, judge)) = &mut self.semantic {
            tally.add(record);
            record.judgement.iter().for_each(|judgement| judge.add(judgement));
        }
        match &record.could_not_review {
            None => {
                self.cases.reviewed += 1;
                self.cases.clean += u64::from(record.is_clean());
            }
            Some(why) => {
                self.cases.could_not_review += 1;
                let (set, case) = (record.set.clone(), record.case.clone());
                self.unreviewed.push(Unreviewed {
                    set,
                    case,
                    trial: record.trial,
                    why: why.clone(),
                });
            }
        }
    }

    fn add_spent(&mut self, record: &CaseRecord) {
        let (all, one) = (&mut self.spent, &record.spent);
        all.cost_usd = all.cost_usd.zip(one.cost_usd).map(|(all, one)| all + one);
        all.known_cost_usd += one.cost_usd.unwrap_or_default();
        all.tokens_used = all.tokens_used.zip(one.tokens_used).map(|(a, b)| a.saturating_add(b));
        all.llm_calls += one.llm_calls;
        all.tool_calls += one.tool_calls;
        self.seconds.push(one.seconds);
    }

    /// The scores over all records.
    pub fn finish(mut self) -> Scores {
        self.seconds.sort_by(f64::total_cmp);
        let n = self.seconds.len() as f64;
        let (samples, seed) = (self.options.samples, self.options.seed);
        let [strict, grouped, location] = self.tallies.map(|tally| tally.scores(samples, seed));
        let (semantic, judge) = self.semantic.unzip();
        Scores {
            strict,
            grouped,
            location,
            semantic: semantic.map(|tally| tally.scores(samples, seed)),
            judge,
            cases: CaseCounts { cases: self.ids.len() as u64, ..self.cases },
            spent: RunUsage {
                seconds_mean: (n > 0.0).then(|| self.seconds.iter().sum::<f64>() / n),
                seconds_p50: percentile(&self.seconds, 0.5),
                seconds_p95: percentile(&self.seconds, 0.95),
                ..self.spent
            },
            unreviewed: self.unreviewed,
        }
    }
}
