//! Snapshots of the same reports in each format. No format shows an incomplete review as a pass.

use super::sample::{self, Sample};
use crate::ledger::convergence::{EscalationReason, NextStep};
use crate::ledger::rounds::RoundCoverage;
use crate::render::{OUTPUTS, output};
use crate::report::TrackingReport;
use crate::verdict::NotReviewedReason;
use insta::assert_snapshot;
use serde_json::Value;

fn show(format: &str, sample: &Sample) -> String {
    output(format).unwrap()(&sample.view())
}

fn json(format: &str, sample: &Sample) -> Value {
    serde_json::from_str(&show(format, sample)).unwrap()
}

#[test]
fn every_format_name_has_a_renderer() {
    let names: Vec<&str> = OUTPUTS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["text", "markdown", "json", "sarif", "rdjson", "gitlab", "junit", "github"]);
    assert!(output("yaml").is_none());
}

#[test]
fn what_the_ledger_says_is_one_line_of_markdown_junit_and_github() {
    let mut sample = sample::full();
    sample.report.tracking = Some(TrackingReport {
        change: "topic against main".to_owned(),
        round: 3,
        reviewed: RoundCoverage::Delta,
        next_step: NextStep::Escalate(EscalationReason::Plateau),
        issues: Vec::new(),
        set_aside: Vec::new(),
        fixed: Vec::new(),
        unknown: Vec::new(),
        is_stored: true,
    });
    for (format, label) in
        [("markdown", "**Ledger:**"), ("junit", "ledger:"), ("github", "Ledger:")]
    {
        let words = "round 3; a person decides: the number of blocking findings does not go down";
        let shown = show(format, &sample);
        assert!(shown.contains(&format!("{label} {words}")), "{format}: {shown}");
    }
}

#[test]
fn full_report_as_sarif() {
    let version = format!("\"{}\"", env!("CARGO_PKG_VERSION"));
    assert_snapshot!(show("sarif", &sample::full()).replace(&version, "\"VERSION\""));
}

#[test]
fn full_report_as_rdjson() {
    assert_snapshot!(show("rdjson", &sample::full()));
}

#[test]
fn full_report_for_gitlab() {
    assert_snapshot!(show("gitlab", &sample::full()));
}

#[test]
fn full_report_as_junit() {
    assert_snapshot!(show("junit", &sample::full()));
}

#[test]
fn full_report_for_github() {
    assert_snapshot!(show("github", &sample::full()));
}

#[test]
fn full_report_as_json() {
    assert_snapshot!(show("json", &sample::full()));
}

#[test]
fn could_not_review_looks_like_a_failure_in_every_format() {
    let obstacles = [
        (NotReviewedReason::Incomplete, Some("invalid json: eof")),
        (NotReviewedReason::TimedOut, Some("timeout")),
        (NotReviewedReason::NoReviewers, None),
        (NotReviewedReason::Internal, None),
    ];
    for (incomplete_reason, error) in obstacles {
        let sample = sample::incomplete(incomplete_reason, error);
        for (name, render) in OUTPUTS {
            let text = render(&sample.view());
            assert!(!text.contains("PASS"), "{name}: {text}");
        }
        assert!(show("text", &sample).contains("\nCOULD NOT REVIEW  "));
        assert!(show("markdown", &sample).starts_with("## mala: COULD NOT REVIEW\n"));
        assert!(show("github", &sample).starts_with("::error title=mala could not review::"));
        assert!(show("junit", &sample).contains("errors=\"1\""));

        let report = json("json", &sample);
        assert_eq!((&report["passed"], &report["verdict"]), (&Value::Bool(false), &Value::Null));

        let invocation = &json("sarif", &sample)["runs"][0]["invocations"][0];
        assert_eq!(invocation["executionSuccessful"], false);
        assert_eq!(invocation["toolExecutionNotifications"][0]["level"], "error");

        let issues = json("gitlab", &sample);
        assert_eq!(issues.as_array().unwrap().len(), 1);
        assert_eq!(issues[0]["severity"], "blocker");

        let diagnostics = &json("rdjson", &sample)["diagnostics"];
        assert_eq!(diagnostics.as_array().unwrap().len(), 1);
        assert_eq!(diagnostics[0]["severity"], "ERROR");
    }
}

#[test]
fn a_clean_review_passes_in_every_format() {
    let sample = sample::clean();
    assert!(show("text", &sample).ends_with("\nPASS  no findings\n"));
    assert!(show("markdown", &sample).starts_with("## mala: PASS\n\n**no findings**\n"));
    assert!(show("github", &sample).starts_with("::notice title=mala::PASS: no findings. "));
    let junit = show("junit", &sample);
    assert!(junit.contains("tests=\"1\" skipped=\"0\" failures=\"0\" errors=\"0\""), "{junit}");
    assert_eq!(json("gitlab", &sample), serde_json::json!([]));
    assert_eq!(json("rdjson", &sample)["diagnostics"], serde_json::json!([]));
    let run = &json("sarif", &sample)["runs"][0];
    assert_eq!(run["results"], serde_json::json!([]));
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
}

#[test]
fn the_same_key_twice_gives_two_fingerprints() {
    let mut sample = sample::full();
    let twin = sample.report.issues[0].clone();
    sample.report.issues.push(twin);
    let fingerprints: std::collections::BTreeSet<String> = json("gitlab", &sample)
        .as_array()
        .unwrap()
        .iter()
        .map(|issue| issue["fingerprint"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(fingerprints.len(), sample.report.issues.len());
}
