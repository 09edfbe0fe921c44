//! Tests of parsing and checking configuration files.

mod broken;
mod run;
mod tasks;
mod trigger_rows;
mod triggers;

use super::*;
use proptest::prelude::*;

/// What a user sees: `ok` and the warnings, or the error with its frame and hint.
fn show(text: &str) -> String {
    match Config::parse("mala.yaml", text) {
        Ok((_, warnings)) => {
            let lines: Vec<String> = warnings.iter().map(|w| format!("\nwarning: {w}")).collect();
            format!("ok{}", lines.concat())
        }
        Err(error) => {
            let hint = error.hint.as_ref().map(|hint| format!("\nhint: {hint}"));
            format!("error: {error}\n{}{}", error.frame, hint.unwrap_or_default())
        }
    }
}

fn parse(text: &str) -> Config {
    Config::parse("mala.yaml", text).unwrap().0
}

#[test]
fn empty_files_have_the_defaults() {
    for text in ["", "\n", "# a comment\n", "review:\n", "review:\n  # fail_on: P0\n", "null", "{}"]
    {
        assert_eq!(parse(text), Config::default(), "{text:?}");
    }
}

#[test]
fn every_key_of_a_review_is_read() {
    let config = parse(
        "reviewer_type: agent-sdk\n\
         agent_sdk_review_timeout: 42\n\
         agent_sdk_reviewer_model: opus\n\
         review:\n\
         \x20 fail_on: P2\n\
         \x20 timeout: 9\n\
         \x20 base: develop\n\
         \x20 max_findings: 7\n\
         \x20 ignore: [docs]\n\
         \x20 generated: ['*.pb.go']\n\
         \x20 linters: {enabled: off, timeout: 5, off: [golangci-lint, tsc]}\n",
    );
    assert_eq!(config.reviewer_type, Some(ReviewerType::AgentSdk));
    assert_eq!(config.agent_sdk_review_timeout, Seconds::new(42));
    assert_eq!(config.agent_sdk_reviewer_model.as_deref(), Some("opus"));
    let review = config.review;
    assert_eq!(review.fail_on, Some(crate::verdict::Threshold::P2));
    assert_eq!(review.timeout, Seconds::new(9));
    assert_eq!(review.base.as_deref(), Some("develop"));
    assert_eq!(review.max_findings, Some(7));
    assert_eq!(review.ignore, Some(vec!["docs".to_owned()]));
    assert_eq!(review.generated, Some(vec!["*.pb.go".to_owned()]));
    assert_eq!(review.linters.enabled, Some(LinterMode::Off));
    assert_eq!(review.linters.timeout, Seconds::new(5));
    assert_eq!(review.linters.off, Some(vec![LinterName::GolangciLint, LinterName::Tsc]));
}

#[test]
fn rules_are_a_map_or_a_list_and_keep_their_order() {
    let expected: Vec<String> =
        ["b off []", "a P3 []", "c on [\"x\"]", "d on []"].map(str::to_owned).into();
    for text in [
        "review: {rules: {b: off, a: P3, c: {use: on, paths: [x]}, d: true}}",
        "review: {rules: [{rule: b, use: off}, {rule: a, use: P3}, {rule: c, use: on, paths: [x]}, {rule: d, use: true}]}",
    ] {
        let rules = parse(text).review.rules;
        let shown: Vec<String> =
            rules.iter().map(|r| format!("{} {} {:?}", r.rule, r.usage, r.paths)).collect();
        assert_eq!(shown, expected, "{text}");
    }
}

#[test]
fn the_extended_set_is_every_rule_turned_on() {
    assert_eq!(parse("review: {rules: extended}"), parse("review: {rules: {'*': on}}"));
}

#[test]
fn serialized_configs_parse_back() {
    let text = "reviewer_type: builtin\n\
        review: {fail_on: none, rules: {a: off, b: P1}, linters: {off: [ruff]}}\n\
        commands: {test: cargo test, lint: {command: x, timeout: 3}}\n\
        validation_triggers: {run_end: {code_review: {enabled: true, baseline: since_last_review}}}\n";
    let config = parse(text);
    let json = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<Config>(&json).unwrap(), config);
}

#[test]
fn the_schema_accepts_what_the_reader_accepts() {
    let schema = Config::schema().to_value();
    let properties = schema["properties"].as_object().unwrap();
    assert_eq!(properties.len(), 12);
    assert_eq!(schema["additionalProperties"], false);
}

/// Parts that often combine to valid YAML.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(&[
            "review:", "reviewer_type:", "rules:", "validation_triggers:", "session_end:",
            "code_review:", "enabled:", "linters:", "off:", "fail_on:", "ignore:", "commands:",
            " builtin", " P1", " [", "]", " {", "}", ", ", "\n", "\n  ", "\n    ", "- ", " *a",
            " &a ", "<<:", " -1", " 1e999", "\"", "'", " |", " >", "\t", "#", "\r\n", "\u{feff}",
            "\0", "é", "!!binary x", " a: b", "...", "---\n", "?", ": ", "99999999999999999999",
        ][..]).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(pieces in prop::collection::vec(piece(), 0..30)) {
        show(&pieces.concat());
    }
}

#[test]
fn no_bytes_make_it_panic() {
    bolero::check!().for_each(|bytes: &[u8]| {
        show(&String::from_utf8_lossy(bytes));
        drop(Config::parse_bytes("mala.yaml", bytes));
    });
}

#[test]
fn huge_and_deep_files_are_rejected() {
    for (text, expected) in [
        ("#".repeat(2_000_000), "the file is too large: 2000000 bytes, maximum 1048576"),
        ("[".repeat(100_000), ""),
        (format!("review: {}", "{a: ".repeat(50_000)), ""),
        (format!("review: {{ignore: [{}]}}", "a,".repeat(2000)), "at most 1000 patterns"),
    ] {
        let shown = show(&text);
        assert!(shown.starts_with("error: ") && shown.contains(expected), "{shown}");
    }
}

#[test]
fn aliases_do_not_explode() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let above = format!("*a{}, ", level - 1).repeat(10);
        text.push_str(&format!("a{level}: &a{level} [{above}]\n"));
    }
    assert!(show(&text).starts_with("error: "));
}
