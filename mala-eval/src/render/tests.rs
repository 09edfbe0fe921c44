//! What people see of an eval is harmless, whatever its cases are called.

use super::*;
use crate::compare::{ComparedRun, compare};
use crate::matching::{MatchMode, MatchRule};
use crate::random::SeededRandom;
use crate::record::{ReviewerUsed, RunHeader, Selection, SetUsed};
use crate::scores::tests::{claim, record, scored, truth};
use crate::view::CaseView;
use crate::{CaseRecord, EvalResult};
use mala_domain::finding::{Category, Severity};

pub(super) const HOSTILE: &str =
    "x\u{1b}[31m | <script>alert(1)</script> [a](http://b) @all\n# top\u{202e}";

pub(super) fn hostile() -> CaseRecord {
    let mut claims = vec![claim("a.py:3", Category::Bug, Severity::High, 0.5)];
    claims[0].title = HOSTILE.to_owned();
    claims[0].body = HOSTILE.to_owned();
    claims[0].rule = Some(HOSTILE.to_owned());
    let mut one = record(HOSTILE, HOSTILE, claims, vec![truth("a.py:90", Category::Bug, None)]);
    one.truths[0].description = HOSTILE.to_owned();
    one.title = HOSTILE.to_owned();
    one.diff = format!("```\n{HOSTILE}");
    one.notes = vec![HOSTILE.to_owned()];
    one
}

pub(super) fn header() -> RunHeader {
    RunHeader {
        schema_version: 1,
        run_id: "run".to_owned(),
        started_at: String::new(),
        mala_version: String::new(),
        reviewer: ReviewerUsed {
            name: "agent_sdk".to_owned(),
            model: Some(HOSTILE.to_owned()),
            profile: None,
            version: None,
        },
        sets: vec![SetUsed {
            name: HOSTILE.to_owned(),
            source: String::new(),
            sha256: String::new(),
            cases: 1,
        }],
        selection: Selection::default(),
        trials: 1,
        seed: 0,
        max_span: 10,
        max_cost_usd: None,
        judge: None,
    }
}

fn documents() -> Vec<Document> {
    let mut failed = hostile();
    failed.case = "failed".to_owned();
    failed.could_not_review = Some(HOSTILE.to_owned());
    let result = EvalResult::of(header(), scored(&[hostile(), failed]));
    let rule = MatchRule::of(MatchMode::Strict);
    let side = |records: &[CaseRecord]| {
        let mut side = ComparedRun::new(HOSTILE, rule);
        records.iter().for_each(|record| side.add(record));
        side
    };
    let mut other = hostile();
    other.predictions.clear();
    let compared = compare(side(&[hostile()]), side(&[other]), &mut SeededRandom::new(0));
    vec![
        super::result(&result),
        comparison(&compared),
        board(vec![result.into()], MatchMode::Strict),
        case(&CaseView::of(&rule, &hostile())),
    ]
}

#[test]
fn no_name_does_anything_to_a_terminal_or_a_page() {
    for document in documents() {
        let text = document.text(80);
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
        let markdown = document.markdown();
        assert!(!markdown.contains('\u{1b}'), "{markdown}");
        for line in markdown.lines().filter(|line| line.starts_with('|') || line.starts_with('#')) {
            assert!(!line.contains("<script>"), "{line}");
            assert!(!line.contains("://"), "{line}");
        }
        // All rows of a table have as many cells as its head.
        let mut cells = None;
        for line in markdown.lines() {
            if !line.starts_with('|') {
                cells = None;
                continue;
            }
            let n = line.replace("\\|", "").matches('|').count();
            assert!(n <= *cells.get_or_insert(n), "{markdown}");
        }
    }
}

/// Runs as they are in life: long names, several reviewers, one that could not review all.
fn life() -> Vec<EvalResult> {
    let run = |id: &str, name: &str, model: Option<&str>, found: bool| {
        let mut claims =
            vec![claim("src/billing/invoice.py:40", Category::Bug, Severity::High, 0.8)];
        claims[0].rule = Some("python/comparison-of-different-types".to_owned());
        if found {
            claims.push(claim(
                "src/billing/invoice.py:10",
                Category::Security,
                Severity::High,
                0.9,
            ));
        }
        let truths =
            vec![truth("src/billing/invoice.py:10", Category::Security, Some(Severity::High))];
        let one = record("invoice-rounding", "typescript", claims, truths);
        let mut clean = record("move-a-function", "python", vec![], vec![]);
        clean.changed_lines.added = 120;
        let mut failed = record("failed", "python", vec![], vec![]);
        failed.could_not_review = Some("the model did not answer within 300 s".to_owned());
        let mut header = header();
        header.run_id = id.to_owned();
        header.reviewer.name = name.to_owned();
        header.reviewer.model = model.map(str::to_owned);
        header.sets[0].name = "starter".to_owned();
        header.sets[0].cases = 3;
        EvalResult::of(header, scored(&[one, clean, failed]))
    };
    vec![
        run(
            "20261115T191034.637Z-agent_sdk",
            "agent_sdk",
            Some("anthropic/claude-sonnet-4-5"),
            true,
        ),
        run("20261115T191028.928Z-builtin", "builtin", None, false),
    ]
}

#[test]
fn a_result_fits_a_terminal() {
    let shown = super::result(&life()[0]).text(80);
    assert!(shown.lines().filter(|line| !line.starts_with("- ")).all(|line| line.len() <= 80));
    insta::assert_snapshot!(shown);
}

#[test]
fn the_recall_with_notes_is_beside_the_rates_if_a_review_has_notes() {
    let mut one = record("noted", "python", vec![], vec![truth("a.py:10", Category::Logic, None)]);
    one.minor_predictions = vec![claim("a.py:10", Category::Bug, Severity::Low, 0.4)];
    let shown = super::result(&EvalResult::of(header(), scored(&[one]))).text(80);
    let rates: Vec<&str> = shown.split("\n\n").filter(|part| part.contains(" floor F1")).collect();
    insta::assert_snapshot!(rates.join("\n\n"), @"
              found  right  floor recall  floor precision  floor F1  recall + notes
    strict      0/1    0/0         0.000                -     0.000           0.000
    grouped     0/1    0/0         0.000                -     0.000           1.000
    location    0/1    0/0         0.000                -     0.000           1.000
    ");
}

#[test]
fn a_board_fits_a_terminal() {
    let rows = || life().into_iter().map(LeaderboardRow::from).collect();
    let shown = board(rows(), MatchMode::Strict).text(80);
    assert!(shown.lines().all(|line| line.len() <= 80), "{shown}");
    insta::assert_snapshot!(shown);
    insta::assert_snapshot!(board(rows(), MatchMode::Strict).markdown());
}

#[test]
fn a_wide_table_goes_on_below() {
    let mut table = TextTable::new(&["name", "first", "second", "third"]);
    table.row(["a name that is much too long to be shown", "1", "2", "3"].map(str::to_owned));
    table.row(["and 7 more".to_owned()]);
    let document = Document { blocks: vec![DocumentBlock::TextTable(table)] };
    insta::assert_snapshot!(document.text(30), @r"
    name             first  second
    a name that is…      1       2
    and 7 more

    name             third
    a name that is…      3
    ");
}
