//! What people see of an eval is harmless, whatever its cases are called.

use super::*;
use crate::eval::compare::{Side, compare};
use crate::eval::matching::{Mode, Rule};
use crate::eval::record::{ReviewerUsed, RunHeader, Selection, SetUsed};
use crate::eval::scores::tests::{claim, record, scored, truth};
use crate::eval::seeded::Seeded;
use crate::eval::view::CaseView;
use crate::eval::{CaseRecord, EvalResult};
use crate::finding::{Category, Severity};

const HOSTILE: &str = "x\u{1b}[31m | <script>alert(1)</script> [a](http://b) @all\n# top\u{202e}";

fn hostile() -> CaseRecord {
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

fn header() -> RunHeader {
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
    let rule = Rule::of(Mode::Strict);
    let side = |records: &[CaseRecord]| {
        let mut side = Side::new(HOSTILE, rule);
        records.iter().for_each(|record| side.add(record));
        side
    };
    let mut other = hostile();
    other.predictions.clear();
    let compared = compare(side(&[hostile()]), side(&[other]), &mut Seeded::new(0));
    vec![
        super::result(&result),
        comparison(&compared),
        board(vec![result.into()], Mode::Strict),
        case(&CaseView::of(&rule, &hostile())),
    ]
}

#[test]
fn no_name_does_anything_to_a_terminal_or_a_page() {
    for document in documents() {
        let text = document.text();
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
