//! Numbers computed by hand, and what must hold for the reviewers that only pretend.

use super::*;
use crate::case::{EvalCase, KnownProblem};
use crate::dummy::DummyReviewer;
use crate::matching::MatchMode;
use crate::random::SeededRandom;
use crate::record::{BaseOrigin, CaseRecord, CaseUsage, ChangedRegion, Prediction};
use mala_domain::change::{Change, LineCounts, parse};
use mala_domain::finding::{Category, Severity, VerificationOutcome};

pub(crate) fn truth(place: &str, category: Category, severity: Option<Severity>) -> KnownProblem {
    let (file, line_start, line_end) = lines(place);
    KnownProblem {
        file: file.as_str().into(),
        line_start,
        line_end: Some(line_end),
        category,
        severity,
        title: None,
        description: String::new(),
        source_type: None,
        evidence: None,
    }
}

pub(crate) fn claim(
    place: &str,
    category: Category,
    severity: Severity,
    confidence: f64,
) -> Prediction {
    let (file, line_start, line_end) = lines(place);
    Prediction {
        file: file.as_str().into(),
        line_start,
        line_end,
        category,
        severity,
        confidence,
        title: String::new(),
        body: String::new(),
        reviewer: "tester".to_owned(),
        rule: None,
        verification: VerificationOutcome::Unverified,
    }
}

/// `a.py:3-5` or `a.py:3`.
fn lines(place: &str) -> (String, u32, u32) {
    let (file, lines) = place.split_once(':').unwrap();
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    (file.to_owned(), first.parse().unwrap(), last.parse().unwrap())
}

pub(crate) fn record(
    case: &str,
    language: &str,
    predictions: Vec<Prediction>,
    truths: Vec<KnownProblem>,
) -> CaseRecord {
    CaseRecord {
        schema_version: 1,
        set: "s".to_owned(),
        case: case.to_owned(),
        trial: 1,
        language: language.to_owned(),
        tags: Vec::new(),
        title: String::new(),
        diff: String::new(),
        could_not_review: None,
        predictions,
        minor_predictions: Vec::new(),
        truths,
        rejected: Vec::new(),
        hunks: Vec::new(),
        changed_lines: LineCounts::default(),
        base: BaseOrigin::Given,
        notes: Vec::new(),
        spent: CaseUsage::default(),
        judgement: None,
    }
}

fn regions(places: &[&str]) -> Vec<ChangedRegion> {
    let region = |place: &&str| {
        let (file, line_start, line_end) = lines(place);
        ChangedRegion { file: file.as_str().into(), line_start, line_end }
    };
    places.iter().map(region).collect()
}

/// Four cases whose numbers are worked out below.
fn by_hand() -> Vec<CaseRecord> {
    use Category::{Bug, Logic, Performance, Security, Style};
    use Severity::{Critical, High, Low, Medium};
    let mut refuted = claim("a.py:10", Bug, High, 1.0);
    refuted.verification = VerificationOutcome::Refuted;
    let mut mixed = record(
        "mixed",
        "python",
        vec![
            claim("a.py:12", Bug, High, 0.9),
            claim("a.py:33", Security, Medium, 0.6),
            claim("b.py:5", Bug, Low, 0.3),
            claim("a.py:100", Style, Low, 0.2),
            refuted,
        ],
        vec![
            truth("a.py:10", Bug, Some(High)),
            truth("a.py:30-32", Security, Some(Critical)),
            truth("b.py:5", Logic, Some(Medium)),
        ],
    );
    mixed.hunks = regions(&["a.py:8-14", "b.py:1-30"]);
    mixed.spent = CaseUsage { cost_usd: Some(0.1), tokens_used: Some(10), seconds: 1.0, ..spent() };
    let mut clean =
        record("clean", "javascript", vec![claim("c.js:1", Style, Low, 0.5)], Vec::new());
    clean.rejected = vec![truth("c.js:2", Style, None)];
    clean.hunks = regions(&["c.js:1-40"]);
    clean.changed_lines = LineCounts { added: 30, removed: 10 };
    clean.spent = CaseUsage { cost_usd: Some(0.2), tokens_used: Some(5), seconds: 3.0, ..spent() };
    let mut missed =
        record("missed", "javascript", Vec::new(), vec![truth("d.js:7", Performance, None)]);
    missed.hunks = regions(&["d.js:1-50"]);
    missed.spent = CaseUsage { cost_usd: None, seconds: 5.0, ..spent() };
    let both = vec![truth("e.py:1", Bug, None), truth("e.py:9", Bug, None)];
    let mut failed = record("failed", "python", vec![claim("e.py:1", Bug, High, 1.0)], both);
    failed.could_not_review = Some("timeout".to_owned());
    failed.hunks = regions(&["e.py:1-9"]);
    vec![mixed, clean, missed, failed]
}

fn spent() -> CaseUsage {
    CaseUsage { cost_usd: Some(0.0), tokens_used: Some(0), ..CaseUsage::default() }
}

pub(crate) fn scored(records: &[CaseRecord]) -> Scores {
    let mut scorer = Scorer::new(ScorerOptions::default());
    records.iter().for_each(|record| scorer.add(record));
    scorer.finish()
}

#[track_caller]
fn near(found: Option<f64>, expected: f64) {
    assert!(found.is_some_and(|found| (found - expected).abs() < 1e-9), "{found:?} {expected}");
}

#[track_caller]
fn rates(found: &ScoreRates, recall: Option<f64>, precision: Option<f64>, f1: Option<f64>) {
    for (found, expected) in [(found.recall, recall), (found.precision, precision), (found.f1, f1)]
    {
        match expected {
            Some(expected) => near(found, expected),
            None => assert_eq!(found, None),
        }
    }
}

#[test]
fn the_rates_are_those_computed_by_hand() {
    let scores = scored(&by_hand());
    // Two of four known problems, two of five findings; the third is right but for its category.
    rates(&scores.strict.rates, Some(0.5), Some(0.4), Some(4.0 / 9.0));
    rates(&scores.grouped.rates, Some(0.75), Some(0.6), Some(2.0 / 3.0));
    rates(&scores.location.rates, Some(0.75), Some(0.6), Some(2.0 / 3.0));
    // One finding per region: `a.py` hits its bug, `b.py` its logic error, `d.js` only a place.
    rates(&scores.strict.floor, Some(0.25), Some(0.25), Some(0.25));
    rates(&scores.grouped.floor, Some(0.5), Some(0.5), Some(0.5));
    rates(&scores.location.floor, Some(0.75), Some(0.75), Some(0.75));
    near(scores.strict.recall_if_unreviewed_missed, 2.0 / 6.0);
}

#[test]
fn notes_count_for_the_recall_with_notes_and_for_nothing_else() {
    let without = scored(&by_hand());
    assert_eq!(without.strict.recall_with_notes, None, "no review has notes");
    let mut records = by_hand();
    // The logic error under its own category, and a false alarm.
    let logic = claim("b.py:6", Category::Logic, Severity::Low, 0.3);
    let wrong = claim("b.py:90", Category::Bug, Severity::Low, 0.3);
    records[0].minor_predictions = vec![logic, wrong];
    // What could not be reviewed counts for nothing.
    records[3].minor_predictions = vec![claim("e.py:9", Category::Bug, Severity::Low, 0.3)];
    let with = scored(&records);
    near(with.strict.recall_with_notes, 0.75);
    near(with.grouped.recall_with_notes, 0.75);
    near(with.location.recall_with_notes, 0.75);
    assert_eq!(with.strict.rates, without.strict.rates);
    assert_eq!(with.strict.clean, without.strict.clean);
}

#[test]
fn the_slices_are_those_computed_by_hand() {
    let strict = scored(&by_hand()).strict;
    for (category, recall, precision, f1) in [
        ("bug", Some(1.0), Some(0.5), Some(2.0 / 3.0)),
        ("security", Some(1.0), Some(1.0), Some(1.0)),
        ("logic", Some(0.0), None, Some(0.0)),
        ("performance", Some(0.0), None, Some(0.0)),
        ("style", None, Some(0.0), Some(0.0)),
    ] {
        rates(&strict.by_category[category], recall, precision, f1);
    }
    assert_eq!(strict.by_category.len(), 5);
    // By severity, recall goes by the problem's and precision by the claim's.
    rates(&strict.by_severity["high"], Some(1.0), Some(1.0), Some(1.0));
    rates(&strict.by_severity["critical"], Some(1.0), None, None);
    rates(&strict.by_severity["medium"], Some(0.0), Some(1.0), Some(0.0));
    rates(&strict.by_severity["unknown"], Some(0.0), None, Some(0.0));
    rates(&strict.by_language["python"], Some(2.0 / 3.0), Some(0.5), Some(4.0 / 7.0));
    rates(&strict.by_language["javascript"], Some(0.0), Some(0.0), Some(0.0));
    let rule = strict.by_rule["tester"];
    assert_eq!((rule.findings, rule.right, rule.in_clean_cases), (5, 2, 1));
    near(rule.precision, 0.4);
}

/// 002-113
#[test]
fn the_severity_of_a_hit_counts_for_the_agreement_and_for_no_rate() {
    let [low, high] = [Severity::Low, Severity::High].map(|severity| {
        let claims = vec![claim("a.py:10", Category::Bug, severity, 0.9)];
        let truths = vec![truth("a.py:10", Category::Bug, Some(Severity::High))];
        scored(&[record("one", "python", claims, truths)]).strict
    });
    assert_eq!(low.rates, high.rates);
    assert_eq!((low.severity.equal, high.severity.equal), (0, 1));
    assert_ne!(low.severity.matrix, high.severity.matrix);
}

#[test]
fn calibration_and_severity_are_those_computed_by_hand() {
    let strict = scored(&by_hand()).strict;
    let calibration = &strict.calibration;
    near(calibration.avg_confidence_calibration, 0.7);
    near(calibration.ece, 0.3);
    near(calibration.brier, 0.11);
    let bins: Vec<(f64, u64, f64)> =
        calibration.bins.iter().map(|bin| (bin.from, bin.findings, bin.precision)).collect();
    assert_eq!(bins.len(), 5);
    assert_eq!((bins[0].1, bins[0].2), (1, 0.0));
    assert_eq!((bins[4].1, bins[4].2), (1, 1.0));
    let severity = &strict.severity;
    assert_eq!((severity.pairs, severity.equal, severity.within_one), (2, 1, 1));
    near(severity.agreement, 0.5);
    near(severity.mean_shift, -1.0);
    assert_eq!((severity.matrix[1][1], severity.matrix[0][2]), (1, 1));
}

#[test]
fn clean_rejected_unreviewed_and_spent_are_counted_apart() {
    let scores = scored(&by_hand());
    let clean = &scores.strict.clean;
    assert_eq!((clean.cases, clean.changed_lines, clean.false_alarms), (1, 40, 1));
    near(clean.per_1000_lines, 25.0);
    let rejected = &scores.strict.rejected;
    assert_eq!((rejected.given, rejected.repeated, rejected.rate), (1, 1, Some(1.0)));
    let cases = &scores.cases;
    let counted = (cases.cases, cases.reviewed, cases.could_not_review, cases.clean);
    assert_eq!(counted, (4, 3, 1, 1));
    assert_eq!(scores.unreviewed[0].why, "timeout");
    let spent = &scores.spent;
    assert_eq!(spent.cost_usd, None, "one review did not say");
    near(Some(spent.known_cost_usd), 0.3);
    near(spent.seconds_mean, 9.0 / 4.0);
    near(spent.seconds_p50, 2.0);
}

#[test]
fn trials_are_pooled_and_compared() {
    let hit = || claim("a.py:1", Category::Bug, Severity::High, 1.0);
    let known = || vec![truth("a.py:1", Category::Bug, None)];
    let mut first = record("a", "python", vec![hit()], known());
    let mut second = record("a", "python", Vec::new(), known());
    (first.trial, second.trial) = (1, 2);
    let scores = scored(&[first, second]);
    near(scores.strict.rates.recall, 0.5);
    assert_eq!((scores.cases.cases, scores.cases.reviewed), (1, 2));
    let recall = scores.strict.trials.recall.unwrap();
    assert_eq!((recall.mean, recall.min, recall.max), (0.5, 0.0, 1.0));
    near(recall.deviation, 0.5_f64.sqrt());
}

#[test]
fn nothing_to_count_gives_no_number() {
    let scores = scored(&[]);
    rates(&scores.strict.rates, None, None, None);
    assert_eq!(scores.strict.calibration.ece, None);
    assert_eq!(scores.strict.clean.per_1000_lines, None);
    assert_eq!(scores.spent.seconds_mean, None);
}

/// A case of one new file with this many lines and a problem on every hundredth.
fn large(n_lines: u32) -> (EvalCase, Change) {
    let body: String = (0..n_lines).map(|line| format!("+line {line}\n")).collect();
    let diff = format!("--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,{n_lines} @@\n{body}");
    let categories = Category::ALL.into_iter().cycle();
    let truths = (1..=n_lines)
        .filter(|line| line % 100 == 50)
        .zip(categories)
        .map(|(line, category)| truth(&format!("a.py:{line}"), category, Some(Severity::High)));
    let mut case: EvalCase =
        serde_json::from_str(r#"{"id": "large", "language": "python", "diff": "x"}"#).unwrap();
    case.ground_truth = truths.collect();
    let change = Change { files: parse(diff.as_bytes()).unwrap() };
    (case, change)
}

fn of_dummy(dummy: DummyReviewer) -> Scores {
    let (case, change) = large(20_000);
    let claims = dummy.review(&case, &change, &mut SeededRandom::new(1));
    let mut one = record("large", "python", claims, case.ground_truth);
    one.hunks = ChangedRegion::all(&change);
    scored(&[one])
}

#[test]
fn the_perfect_reviewer_is_perfect_in_every_mode_and_slice() {
    let scores = of_dummy(DummyReviewer::Perfect);
    for mode in MatchMode::ALL {
        let of = scores.of(mode);
        let slices = [&of.by_category, &of.by_severity, &of.by_language, &of.by_set];
        let all = slices.into_iter().flat_map(|slices| slices.values());
        for found in all.chain([&of.rates]) {
            rates(found, Some(1.0), Some(1.0), Some(1.0));
        }
        assert_eq!(of.calibration.ece, Some(0.0));
        assert_eq!(of.calibration.avg_confidence_calibration, Some(1.0));
        assert_eq!(of.severity.agreement, Some(1.0));
    }
}

#[test]
fn the_silent_reviewer_finds_nothing_and_has_no_precision() {
    for mode in MatchMode::ALL {
        rates(&of_dummy(DummyReviewer::Silent).of(mode).rates, Some(0.0), None, Some(0.0));
    }
}

#[test]
fn guesses_are_right_as_often_as_chance_has_it() {
    // 800 guesses over 20,000 lines; a problem takes 7 lines of 100 and one of 6 categories, and
    // some guesses share a problem.
    let scores = of_dummy(DummyReviewer::Random);
    let location = scores.location.rates.precision.unwrap();
    assert!((0.04..0.08).contains(&location), "{location}");
    let strict = scores.strict.rates.precision.unwrap();
    assert!((0.004..0.022).contains(&strict), "{strict}");
    let shuffled = of_dummy(DummyReviewer::Shuffled).location.rates;
    assert_eq!(shuffled.findings, shuffled.truths);
    let recall = shuffled.recall.unwrap();
    assert!((0.02..0.12).contains(&recall), "{recall}");
}

#[test]
fn the_floor_is_one_finding_per_region() {
    let scores = of_dummy(DummyReviewer::Hunks);
    assert_eq!(scores.location.rates, scores.location.floor);
    assert_eq!(scores.location.rates.findings, 1);
}
