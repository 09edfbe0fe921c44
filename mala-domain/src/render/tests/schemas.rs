//! Validates the output against the schemas of its consumers.

use super::hostile;
use super::sample::{self, Sample};
use crate::render::output;
use crate::verdict::NotReviewedReason;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::Value;

const SARIF: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schemas/sarif-2.1.0.json"));
const GITLAB: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schemas/gitlab-code-quality.json"));
const RDJSON: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schemas/rdjson.json"));

/// The official schema, with one pattern fixed as in the first errata, since it is not a valid
/// ECMAScript regular expression.
fn sarif() -> Value {
    let broken = "^[a-zA-Z]{2}|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$";
    assert!(SARIF.contains(broken));
    serde_json::from_str(&SARIF.replace(broken, "^[a-zA-Z]{2}(-[a-zA-Z]{2})?$")).unwrap()
}

fn samples() -> Vec<Sample> {
    let mut runner = TestRunner::deterministic();
    let hostile = (0..20).map(|_| hostile::sample().new_tree(&mut runner).unwrap().current());
    [
        sample::full(),
        sample::clean(),
        sample::empty(),
        sample::incomplete(NotReviewedReason::Incomplete, Some("invalid json: eof")),
        sample::incomplete(NotReviewedReason::NoReviewers, None),
    ]
    .into_iter()
    .chain(hostile)
    .collect()
}

fn check(format: &str, schema: &Value) {
    let validator = jsonschema::options().should_validate_formats(true).build(schema).unwrap();
    let render = output(format).unwrap();
    for sample in samples() {
        let text = render(&sample.view());
        let value: Value = serde_json::from_str(&text).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{format}: {errors:#?}");
    }
}

#[test]
fn sarif_fits_the_official_schema() {
    check("sarif", &sarif());
}

#[test]
fn gitlab_fits_the_documented_fields() {
    check("gitlab", &serde_json::from_str(GITLAB).unwrap());
}

#[test]
fn rdjson_fits_the_documented_fields() {
    check("rdjson", &serde_json::from_str(RDJSON).unwrap());
}

#[test]
fn json_fits_our_own_schema_and_reads_back() {
    check("json", crate::report::schema().as_value());
    for sample in samples() {
        let text = output("json").unwrap()(&sample.view());
        let report: crate::report::Report = serde_json::from_str(&text).unwrap();
        assert_eq!(report, sample.report);
    }
}

#[test]
fn schemas_reject_invalid_reports() {
    let validator = jsonschema::options().should_validate_formats(true).build(&sarif()).unwrap();
    let text = output("sarif").unwrap()(&sample::full().view());
    for broken in [
        text.replace("\"startLine\": 7", "\"startLine\": 0"),
        text.replace("\"ruleId\"", "\"rule\""),
    ] {
        assert_ne!(broken, text);
        assert!(!validator.is_valid(&serde_json::from_str(&broken).unwrap()));
    }
}
