//! One row per promise: what is an answer, what is a problem, and which.

use super::*;
use crate::conversation::AnswerFormat;
use crate::finding::Priority;
use proptest::prelude::*;
use serde_json::Value;

fn nonce() -> Nonce {
    Nonce::over(&[b"a change"])
}

fn read(text: &str) -> Result<ReviewAnswer, ParseProblem> {
    read_review(&RawAnswer { text, form_enforced: false, nonce: &nonce() })
}

/// `method: title, title` or the problem.
fn shown(text: &str) -> String {
    match read(text) {
        Ok(answer) => {
            let titles: Vec<&str> =
                answer.claims.iter().map(|claim| claim.candidate.title.as_str()).collect();
            format!("{:?}: {}", answer.method, titles.join(", "))
        }
        Err(problem) => problem.to_string(),
    }
}

const PLAIN: &str = r#"{"verdict": "FAIL", "findings": [{"file_path": "src/main.py", "line_start": 42, "line_end": 42, "priority": 1, "title": "[P1] Issue", "body": "Details"}]}"#;
const PASS: &str = r#"{"verdict": "PASS", "findings": []}"#;

#[test]
fn control_characters_in_strings_are_escaped_and_nothing_else() {
    for (text, expected) in [
        (PASS, PASS),
        ("{\"a\": \"x\ty\"}", "{\"a\": \"x\\u0009y\"}"),
        ("{\n\"a\":\t\"x\ny\"}\n", "{\n\"a\":\t\"x\\u000ay\"}"),
        (r#"{"a": "q\"	"}"#, r#"{"a": "q\"\u0009"}"#),
        (r#"{"a": "b\\"}"#, r#"{"a": "b\\"}"#),
        ("{\"a\": \"x\ty\"", "{\"a\": \"x\ty\""),
        ("so:\t{\"a\": \"x\ty\"}", "so:\t{\"a\": \"x\ty\"}"),
    ] {
        assert_eq!(with_escaped_controls(text), expected);
    }
}

#[test]
fn the_plain_form_is_an_answer() {
    let answer = read(PLAIN).unwrap();
    let candidate = &answer.claims[0].candidate;
    assert_eq!(candidate.file.to_string(), "src/main.py");
    assert_eq!((candidate.span.start(), candidate.span.end()), (42, 42));
    assert_eq!(candidate.priority, Some(Priority::P1));
    assert_eq!((candidate.title.as_str(), candidate.body.as_str()), ("[P1] Issue", "Details"));
    assert_eq!(candidate.reviewer, "agent-sdk");
    assert_eq!(candidate.evidence, None);
    assert_eq!(answer.method, ParseMethod::Strict);
}

/// 000-131, 002-020
#[test]
fn what_is_missing_is_named() {
    for field in ["file_path", "line_start", "line_end", "priority", "title", "body"] {
        let mut value: serde_json::Value = serde_json::from_str(PLAIN).unwrap();
        value["findings"][0].as_object_mut().unwrap().remove(field);
        assert_eq!(shown(&value.to_string()), format!("missing field: {field}"));
    }
    assert_eq!(shown(r#"{"findings": []}"#), "missing field: verdict");
    assert_eq!(shown(r#"{"verdict": "PASS"}"#), "missing field: findings");
    assert_eq!(shown("{}"), "missing field: verdict");
    assert_eq!(shown("[]"), "missing field: verdict");
    assert_eq!(shown(r#"{"verdict": null, "findings": []}"#), "missing field: verdict");
}

#[test]
fn every_other_fault_is_a_problem_and_never_an_empty_list() {
    let finding = |fields: &str| format!(r#"{{"verdict": "FAIL", "findings": [{{{fields}}}]}}"#);
    let all = r#""file_path": "a", "line_start": 1, "line_end": 1, "priority": 1, "title": "t", "body": "b""#;
    let rows: &[(&str, &str)] = &[
        (r#"{"verdict": "APPROVED", "findings": []}"#, "invalid verdict: APPROVED"),
        (r#"{"verdict": "pass", "findings": []}"#, "invalid verdict: pass"),
        (r#"{"verdict": "PASS | FAIL", "findings": []}"#, "invalid verdict: PASS | FAIL"),
        (r#"{"verdict": "FAIL", "findings": []}"#, "invalid verdict: FAIL without findings"),
        (
            r#"{"verdict": "NEEDS_WORK", "findings": []}"#,
            "invalid verdict: NEEDS_WORK without findings",
        ),
        (&PLAIN.replace("FAIL", "PASS"), "invalid verdict: PASS with findings"),
        ("", "invalid json: EOF while parsing a value at line 1 column 0"),
        ("LGTM, approved. PASS", "invalid json: expected value at line 1 column 1"),
        ("{\"verdict\": \"PASS\", ", "invalid json: EOF while parsing a value at line 1 column 19"),
        (r#"{"verdict": 1, "findings": []}"#, "invalid format"),
        (r#"{"verdict": "PASS", "findings": {}}"#, "invalid format"),
        (r#"{"verdict": "FAIL", "findings": ["a"]}"#, "invalid format"),
        (&finding(&all.replace("\"line_end\": 1", "\"line_end\": 0")), "invalid format"),
        (&finding(&all.replace("\"line_start\": 1", "\"line_start\": 9")), "invalid format"),
        (&finding(&all.replace("\"line_start\": 1", "\"line_start\": -1")), "invalid format"),
        (&finding(&all.replace("\"line_start\": 1", "\"line_start\": \"1\"")), "invalid format"),
        (&finding(&all.replace("\"priority\": 1", "\"priority\": 4")), "invalid format"),
        (
            &finding(&all.replace("\"priority\": 1", "\"priority\": null")),
            "missing field: priority",
        ),
        (&finding(&format!(r#"{all}, "confidence": 1.5"#)), "invalid format"),
        (&finding(&format!(r#"{all}, "category": "taste""#)), "invalid format"),
        (&finding(&all.replace("\"a\"", "\"relative/path/to/file.py\"")), "invalid format"),
        (
            &finding(&all.replace("\"t\"", "\"[P0-3] PromptBrief issue description\"")),
            "invalid format",
        ),
        (crate::agent::prompts::SYSTEM, "invalid json: expected value at line 1 column 1"),
    ];
    for (text, expected) in rows {
        assert_eq!(shown(text), *expected, "{text}");
    }
}

/// 000-080
#[test]
fn known_envelopes_are_opened() {
    let quoted = serde_json::to_string(PLAIN).unwrap();
    for text in [
        format!(r#"{{"output": {PLAIN}}}"#),
        format!(r#"{{"output": {quoted}}}"#),
        format!(r#"{{"result": {PLAIN}, "is_error": false}}"#),
        format!(r#"{{"response": {quoted}}}"#),
        quoted.clone(),
        format!("```json\n{PLAIN}\n```"),
        format!("```\n{PLAIN}\n```"),
    ] {
        assert_eq!(shown(&text), "Envelope: [P1] Issue", "{text}");
    }
    for text in [
        format!(r#"{{"a": {PLAIN}, "b": {PASS}}}"#),
        format!(r#"{{"example_of_a_wrong_answer": {PASS}}}"#),
        format!(r#"{{"example": {quoted}}}"#),
    ] {
        assert_eq!(shown(&text), "missing field: verdict", "{text}");
    }
    for text in [
        r#"{"verdict": "FAIL", "findings": [], "verdict": "PASS"}"#.to_owned(),
        r#"{"output": {"verdict": "PASS", "findings": [{"a": 1}], "findings": []}}"#.to_owned(),
    ] {
        assert!(shown(&text).starts_with("invalid json: a key is there twice"), "{text}");
    }
}

/// 002-123
#[test]
fn json_inside_other_text_counts_only_with_the_nonce() {
    let nonce = nonce();
    let bound =
        |object: &str| object.replacen('{', &format!(r#"{{"nonce": "{}", "#, nonce.as_str()), 1);
    for (text, expected) in [
        (format!("Here is it:\n{}\nDone.", bound(PLAIN)), "Envelope: [P1] Issue"),
        (format!("{PASS} {}", bound(PLAIN)), "Envelope: [P1] Issue"),
        (format!("{} {PASS}", bound(PLAIN)), "invalid json: text around JSON that lacks the nonce"),
        (format!("Sure! {PASS}"), "invalid json: text around JSON that lacks the nonce"),
        (
            format!("```json\n{PASS}\n```\nLooks good."),
            "invalid json: text around JSON that lacks the nonce",
        ),
        (PASS.replacen('{', r#"{"nonce": "another", "#, 1), "invalid format"),
        (PASS.replacen('{', r#"{"nonce": 7, "#, 1), "invalid format"),
        (PASS.replacen('{', r#"{"nonce": "", "#, 1), "Strict: "),
        (bound(PASS), "Strict: "),
        (format!("a {{ b {{\"x\": 1}} }} {}", bound(PASS)), "Envelope: "),
    ] {
        assert_eq!(shown(&text), expected, "{text}");
    }
}

#[test]
fn a_schema_that_the_provider_enforced_is_the_surest_rung() {
    let words = RawAnswer { text: PLAIN, form_enforced: true, nonce: &nonce() };
    assert_eq!(read_review(&words).unwrap().method, ParseMethod::Schema);
}

#[test]
fn the_full_form_needs_evidence() {
    let full = |when: &str, then: &str, evidence: &str| {
        PLAIN.replace(
            "\"body\": \"Details\"",
            &format!(
                r#""body": "Details", "when": "{when}", "then": "{then}", "evidence": "{evidence}", "confidence": 0.4, "category": "logic", "suggestion": "x""#
            ),
        )
    };
    let answer = read(&full("n is 0", "it divides by zero", "1 / n")).unwrap();
    let candidate = &answer.claims[0].candidate;
    assert_eq!(candidate.body, "Details\n\nWhen: n is 0\nThen: it divides by zero");
    assert_eq!(candidate.evidence.as_deref(), Some("1 / n"));
    assert_eq!((candidate.confidence, candidate.category.name()), (0.4, "logic"));
    for (when, then, body) in
        [("a", " ", "Details\n\nWhen: a"), ("", "b", "Details\nThen: b"), ("", "", "Details")]
    {
        assert_eq!(read(&full(when, then, "c")).unwrap().claims[0].candidate.body, body);
    }
    let text = full("a", "b", "");
    // An objection of which nothing is left is no approval.
    assert_eq!(read(&text), Err(ParseProblem::MissingField("evidence".to_owned())));
    let mut both: Value = serde_json::from_str(&text).unwrap();
    let sound: Value = serde_json::from_str(&full("a", "b", "c")).unwrap();
    both["findings"].as_array_mut().unwrap().push(sound["findings"][0].clone());
    let answer = read(&both.to_string()).unwrap();
    assert_eq!(answer.claims.len(), 1);
    assert_eq!(answer.dropped, ["src/main.py:42: a finding without `evidence`"]);
}

/// 000-132
#[test]
fn titles_carry_the_more_urgent_priority() {
    for (title, number, expected) in [
        ("Issue", 1, "[P1] Issue"),
        ("[P1] Issue", 1, "[P1] Issue"),
        ("[P2] Issue", 1, "[P1] Issue"),
        ("[P0] Issue", 3, "[P0] Issue"),
        ("[P3]Issue", 0, "[P0] Issue"),
    ] {
        let text = PLAIN
            .replace("[P1] Issue", title)
            .replace("\"priority\": 1", &format!("\"priority\": {number}"));
        assert_eq!(shown(&text), format!("Strict: {expected}"));
    }
}

#[test]
fn restructuring_never_decides() {
    let original = "src/main.py line 42: P1, division by zero, because n may be 0.";
    let problem = ParseProblem::InvalidJson("x".to_owned());
    let finding = |file: &str, line: u32, title: &str, body: &str| {
        format!(
            r#"{{"verdict": "FAIL", "findings": [{{"file_path": "{file}", "line_start": {line}, "line_end": {line}, "priority": 1, "title": "[P1] {title}", "body": "{body}"}}]}}"#
        )
    };
    for (text, holds) in [
        (finding("src/main.py", 42, "Division by zero", "because n may be 0"), true),
        (finding("src/main.py", 42, "Division by zero", "critical"), false),
        (
            finding("src/main.py", 42, "Division by zero", "n")
                .replace("\"priority\": 1", "\"priority\": 3")
                .replace("[P1]", "[P3]"),
            false,
        ),
        (finding("src/main.py", 7, "Division by zero", "n"), false),
        (finding("src/other.py", 42, "Division by zero", "n"), false),
        (PASS.to_owned(), false),
        ("no JSON".to_owned(), false),
    ] {
        let words = RawAnswer { text: &text, form_enforced: false, nonce: &nonce() };
        let read = read_restructured(original, &words, &problem);
        assert_eq!(read.is_ok(), holds, "{text}");
        if let Err(stands) = read {
            assert_eq!(stands, problem);
        }
    }
}

#[test]
fn of_several_answers_none_may_contradict_another() {
    let bound = |verdict: &str, findings: &str| {
        let nonce = nonce();
        let nonce = nonce.as_str();
        format!(r#"{{"nonce": "{nonce}", "verdict": "{verdict}", "findings": [{findings}]}}"#)
    };
    let (pass, fail) = (bound("PASS", ""), bound("FAIL", ""));
    let contradiction = "invalid json: answers that contradict each other";
    let unbound = "invalid json: text around JSON that lacks the nonce";
    for (text, expected) in [
        (format!("so: {pass}"), Ok(())),
        (format!("so: {pass} or {pass}"), Ok(())),
        (format!("draft: {PLAIN} then {pass}"), Ok(())),
        (format!("so: {fail} or {pass}"), Err(contradiction)),
        (format!("so: {pass} or {fail}"), Err(contradiction)),
        (format!("so: {fail} {pass} {pass}"), Err(contradiction)),
        (format!("so: {pass} or {PASS}"), Err(unbound)),
    ] {
        let read = read(&text).map(|_| ()).map_err(|problem| problem.to_string());
        assert_eq!(read, expected.map_err(str::to_owned), "{text}");
    }
}

/// 000-082, 002-048
#[test]
fn an_objection_is_seen_though_it_cannot_be_read() {
    let sees = |text: &str| objection(&RawAnswer { text, form_enforced: false, nonce: &nonce() });
    let (none, fail, needs_work) = (None, Some(Verdict::Fail), Some(Verdict::NeedsWork));
    for (text, expected) in [
        (PLAIN, fail),
        (PASS, none),
        (r#"{"verdict": "PASS", "findings": [1]}"#, needs_work),
        (r#"{"verdict": "NEEDS_WORK", "findings": [{"priority": 1}]}"#, fail),
        (r#"{"verdict": "NEEDS_WORK", "findings": [{"priority": "P0"}]}"#, fail),
        (r#"{"verdict": "fail"}"#, fail),
        (r#"{"verdict": "BLOCK"}"#, fail),
        (r#"{"verdict": "APPROVED"}"#, none),
        (r#"{"verdict": "NEEDS_WORK", "findings": []}"#, needs_work),
        (r#"{"findings": []}"#, none),
        (r#"I say {"verdict": "FAIL"} and {"a": 1}"#, fail),
        (r#"{"output": "{\"verdict\": \"FAIL\"}"}"#, fail),
        (r#"{"verdict": "FAIL", "findings": [{"title": "x",}]}"#, fail),
        ("{'verdict': 'FAIL', 'findings': []}", fail),
        ("a.py:2 divides by zero. Verdict: **FAIL**", fail),
        ("This is a FAIL: a.py:2 divides by zero.", fail),
        ("My verdict is that this needs work", needs_work),
        ("[P0] a.py:2 divides by zero", fail),
        ("[P2] a.py:2 divides by zero", needs_work),
        ("LGTM, verdict: PASS", none),
        ("LGTM", none),
        ("", none),
    ] {
        assert_eq!(sees(text), expected, "{text}");
    }
}

#[test]
fn an_answer_is_milder_if_it_drops_what_blocks() {
    let read = |text: &str| {
        read_review(&RawAnswer { text, form_enforced: false, nonce: &nonce() }).unwrap()
    };
    let minor = PLAIN
        .replace("FAIL", "NEEDS_WORK")
        .replace("\"priority\": 1", "\"priority\": 3")
        .replace("[P1]", "[P3]");
    for (text, objection, expected) in [
        (PASS, Verdict::Fail, true),
        (PASS, Verdict::NeedsWork, true),
        (minor.as_str(), Verdict::Fail, true),
        (minor.as_str(), Verdict::NeedsWork, false),
        (PLAIN, Verdict::Fail, false),
    ] {
        assert_eq!(is_milder(&read(text), objection), expected, "{text} {objection:?}");
    }
}

#[test]
fn checks_are_read_by_the_same_ladder() {
    let read = |text: &str| read_checks(&RawAnswer { text, form_enforced: false, nonce: &nonce() });
    let (checks, method) = read(
        r#"{"checks": [{"id": "c1", "outcome": "refuted", "why": "n is checked"},
            {"id": "c2", "outcome": "refuted", "why": " "}, {"id": "c3", "outcome": "holds"}]}"#,
    )
    .unwrap();
    let outcomes: Vec<CheckOutcome> = checks.iter().map(|check| check.outcome).collect();
    assert_eq!(outcomes, [CheckOutcome::Refuted, CheckOutcome::Unsure, CheckOutcome::Holds]);
    assert_eq!(method, ParseMethod::Strict);
    for (text, problem) in [
        ("refuted", "invalid json: expected value at line 1 column 1"),
        ("{}", "missing field: checks"),
        (r#"{"checks": [{"outcome": "holds"}]}"#, "missing field: id"),
        (r#"{"checks": [{"id": "c1", "outcome": "maybe"}]}"#, "invalid format"),
        (r#"Sure: {"checks": []}"#, "invalid json: text around JSON that lacks the nonce"),
    ] {
        assert_eq!(read(text).unwrap_err().to_string(), problem, "{text}");
    }
}

#[test]
fn what_a_finding_is_worth_is_a_percentage_or_a_fraction() {
    for (worth, expected) in [
        ("40", Some(40)),
        ("1", Some(1)),
        ("1.0", Some(100)),
        ("0.25", Some(25)),
        ("62.6", Some(63)),
        ("-5", Some(0)),
        ("900", Some(100)),
        (r#""high""#, None),
        ("null", None),
    ] {
        let text = format!(
            r#"{{"findings": [{{"id": "c1", "title": "t", "body": "b", "worth": {worth}}}]}}"#
        );
        let raw = RawAnswer { text: &text, form_enforced: false, nonce: &nonce() };
        assert_eq!(read_edit(&raw).unwrap().0[0].worth, expected, "{worth}");
    }
}

#[test]
fn the_forms_accept_what_the_reader_reads() {
    let AnswerFormat::Json { schema, .. } = review_format(1) else { panic!("a form") };
    let text = r#"{"nonce": "", "verdict": "PASS", "findings": [], "hints": []}"#;
    assert!(jsonschema::is_valid(&schema, &serde_json::from_str(text).unwrap()));
    assert_eq!(shown(text), "Strict: ");
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"", "\"verdict\"", "\"findings\"", "\"PASS\"", "\"FAIL\"",
            "\"output\"", "\"nonce\"", "```", "```json\n", "\n", "null", "1", "\\", "é", "\u{0}",
            PLAIN, PASS,
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(pieces in prop::collection::vec(piece(), 0..30)) {
        shown(&pieces.concat());
    }

    #[test]
    fn text_around_a_pass_is_no_pass(before in "[^{}`\"\\[\\]]{1,40}", after in "[^{}]{0,40}") {
        prop_assume!(!before.trim().is_empty());
        let text = format!("{before}{PASS}{after}");
        prop_assert!(read(&text).is_err());
    }
}

#[test]
fn no_bytes_make_it_panic() {
    bolero::check!().for_each(|bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        drop(read(&text));
        drop(read_checks(&RawAnswer { text: &text, form_enforced: true, nonce: &nonce() }));
    });
}

#[test]
fn huge_and_deep_answers_end_soon() {
    for text in [
        "{".repeat(1_000_000),
        "{\"a\":".repeat(200_000),
        "{\"a\":[1,1,1,1,".repeat(60_000),
        "x{}".repeat(300_000),
        "[".repeat(1_000_000),
        format!("{PASS}{}", " ".repeat(2_000_000)) + "x",
    ] {
        assert!(read(&text).is_err());
    }
}
