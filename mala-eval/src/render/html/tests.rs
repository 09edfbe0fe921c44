//! A page stays in its frame, whatever its run says, and never says 0 of what is not there.

use super::*;
use crate::record::Prediction;
use crate::render::tests::{HOSTILE, header, hostile};
use crate::scores::tests::{claim, record, scored, truth};
use crate::scores::{Scorer, ScorerOptions};
use mala_domain::finding::{Category, Severity};
use std::collections::BTreeSet;

/// The elements of a page. Check what an element can do before adding it.
const KNOWN: &str = "html head meta link title style body header main section div p span strong a nav h1 h2 h3 \
    ul ol li dl dt dd table caption thead tbody tr th td figure figcaption details summary fieldset legend label \
    input bdi code pre svg g desc line path circle polygon rect text";
const VOID: [&str; 3] = ["meta", "link", "input"];

fn made(header: RunHeader, records: &[CaseRecord]) -> String {
    let mut gathered = PageCases::new(&header);
    records.iter().for_each(|record| gathered.add(record));
    let result = EvalResult::of(header, scored(records));
    let kept = [result.clone().into()];
    page(&result, gathered, &kept)
}

/// The visible text, line by line, after checking that the page is well formed and asks for nothing.
fn checked(page: &str) -> Vec<String> {
    let known: BTreeSet<&str> = KNOWN.split_whitespace().collect();
    let body = page.strip_prefix("<!DOCTYPE html>").unwrap();
    let (before, rest) = body.split_once("<style>").unwrap();
    let (style, after) = rest.split_once("</style>").unwrap();
    assert!(!style.contains("url(") && !style.contains("@import") && !style.contains('<'));
    let html = format!("{before}{after}");
    let mut open: Vec<&str> = Vec::new();
    let mut lines = Vec::new();
    let mut rest = html.as_str();
    while let Some((text, more)) = rest.split_once('<') {
        assert!(!text.contains('>'), "a stray > in {text:?}");
        lines.extend((!text.trim().is_empty()).then(|| text.trim().to_owned()));
        let (inside, more) = more.split_once('>').unwrap();
        assert!(!inside.contains('<'), "{inside}");
        rest = more;
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closing {name} after {lines:?}");
            continue;
        }
        let name = inside.split_once(' ').map_or(inside, |(name, _)| name);
        assert!(known.contains(name), "{name} is not an element of ours");
        attributes(inside);
        if !VOID.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} stay open");
    lines
}

fn attributes(inside: &str) {
    for piece in inside.split(' ').filter(|piece| piece.contains('=')) {
        let name = piece.split_once('=').unwrap().0;
        assert!(!name.starts_with("on") && name != "src" && name != "style", "{inside}");
        if name == "href" {
            assert!(piece.starts_with("href=\"#") || piece == "href=\"data:,\"", "{inside}");
        }
    }
}

fn bug(place: &str, confidence: f64) -> Prediction {
    let mut bug = claim(place, Category::Bug, Severity::High, confidence);
    bug.title = "An index is off by one".to_owned();
    bug
}

fn small() -> Vec<CaseRecord> {
    let mut one = record(
        "off-by-one",
        "python",
        vec![bug("a.py:10", 0.9), bug("a.py:90", 0.4)],
        vec![
            truth("a.py:11", Category::Bug, Some(Severity::High)),
            truth("a.py:50", Category::Security, None),
        ],
    );
    one.truths[0].description = "The last item is left out.".to_owned();
    one.diff = "@@ -1 +1 @@\n-old\n+new\n".to_owned();
    let two = record("nothing-wrong", "python", vec![], vec![]);
    let mut failed = record("failed", "python", vec![bug("a.py:1", 1.0)], vec![]);
    failed.could_not_review = Some("the model did not answer".to_owned());
    vec![one, two, failed]
}

fn plain_header() -> RunHeader {
    let mut header = header();
    header.reviewer.model = None;
    header.sets[0].name = "starter".to_owned();
    header.sets[0].cases = 3;
    header.started_at = "2026-11-15T18:53:40.123Z".to_owned();
    header
}

#[test]
fn a_page_says_what_the_run_says() {
    let lines = checked(&made(plain_header(), &small()));
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn no_text_breaks_out_of_a_page() {
    let worse = format!(
        "{HOSTILE}</style></details><img src=x onerror=alert(1)>\"'`&lt;{}",
        "w".repeat(9_000)
    );
    let mut one = hostile();
    one.title = worse.clone();
    one.set = worse.clone();
    one.tags = vec![worse.clone()];
    one.predictions[0].body = worse.clone();
    one.predictions[0].reviewer = worse.clone();
    one.predictions[0].file = worse.as_str().into();
    one.rejected = one.truths.clone();
    one.diff = format!("@@\n+{worse}\n-{worse}\n");
    let mut failed = one.clone();
    failed.case = worse.clone();
    failed.could_not_review = Some(worse.clone());
    let mut header = header();
    header.run_id = worse.clone();
    header.started_at = worse.clone();
    header.reviewer.profile = Some(worse.clone());
    header.selection.tags = vec![worse];
    let page = made(header, &[one, failed]);
    checked(&page);
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(!page.contains(['\u{1b}', '\u{202e}', '\0']));
    assert!(!page.contains("<img") && !page.contains("<script"));
}

#[test]
fn what_is_not_there_is_a_dash_and_words() {
    let silent = vec![record("a", "python", vec![], vec![truth("a.py:3", Category::Bug, None)])];
    let lines = checked(&made(plain_header(), &silent)).join("\n");
    for words in [
        "Precision\n—\nundefined: there is nothing to count",
        "False alarms\n—\nthere are no clean cases",
        "Calibration error\n—\nthere are no findings",
        "The reviewer found nothing, so there is no precision and no curve.",
        "There are no findings, so there is no confidence to check.",
    ] {
        assert!(lines.contains(words), "{words}: {lines}");
    }
    let nothing = checked(&made(plain_header(), &[])).join("\n");
    for words in ["Recall\n—\n", "No case was run.", "Nothing was reviewed, so there is no curve."]
    {
        assert!(nothing.contains(words), "{words}: {nothing}");
    }
}

#[test]
fn a_huge_run_makes_a_page_of_bounded_size_that_says_what_it_leaves_out() {
    let text = "<\u{202e}&>".repeat(2_000);
    let mut records = Vec::new();
    for number in 0..10_000 {
        let mut one =
            record(&format!("case-{number}"), &format!("language-{number}"), vec![], vec![]);
        if number % 2 == 0 {
            let mut wrong = bug("a.py:1", 0.5);
            wrong.rule = Some(format!("rule-{number}"));
            wrong.body = text.clone();
            one.predictions = vec![wrong];
            one.diff = text.clone();
        }
        records.push(one);
    }
    let mut header = plain_header();
    header.sets[0].cases = records.len();
    // Few draws: the intervals are not what is looked at.
    let mut scorer = Scorer::new(ScorerOptions { samples: 2, ..ScorerOptions::default() });
    let mut gathered = PageCases::new(&header);
    for record in &records {
        scorer.add(record);
        gathered.add(record);
    }
    let page = page(&EvalResult::of(header, scorer.finish()), gathered, &[]);
    assert!(page.len() < 12 << 20, "{} bytes", page.len());
    let lines = checked(&page).join("\n");
    let shown = page.matches("<details class=\"case").count();
    let hidden: usize = lines
        .lines()
        .filter_map(|line| line.split_once(" reviews with")?.0.parse::<usize>().ok())
        .sum();
    assert_eq!(shown + hidden, 10_000, "{shown} shown, {hidden} not");
    assert!(shown > 500, "{shown}");
    assert!(lines.contains("rules with fewer findings are not shown."));
}

#[test]
fn hidden_characters_are_spelled_out() {
    let rows = [
        ("<p>plain, café 🦀\n\tend</p>", "<p>plain, café 🦀\n\tend</p>"),
        ("a\0b\u{1b}[0m", "a&lt;U+0000&gt;b&lt;U+001B&gt;[0m"),
        ("\u{202e}evil\u{2066}", "&lt;U+202E&gt;evil&lt;U+2066&gt;"),
        ("two\r\nlines\rover", "two\nlines&lt;U+000D&gt;over"),
    ];
    for (text, expected) in rows {
        assert_eq!(spell_hidden(text.to_owned()), expected);
    }
}
