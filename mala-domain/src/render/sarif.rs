//! SARIF 2.1.0, for code scanning and editors. Suppressed findings are results with a suppression;
//! an incomplete review is an unsuccessful invocation.

mod model;
mod rules;

use super::ReportView;
use super::ranking::FindingLevel;
use super::wording;
use crate::change::FilePath;
use crate::finding::Finding;
use crate::ledger::Standing;
use crate::report::{Report, SetAsideFinding};
use crate::review::suppress::SuppressedFinding;
use crate::scope::HeadState;
use model::*;
use rules::SarifRules;
use std::collections::{BTreeMap, HashMap};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
const ROOT: &str = "%SRCROOT%";

/// Renders the report as a SARIF log with one run.
pub(super) fn render(view: &ReportView<'_>) -> String {
    super::pretty_json(&SarifLog { schema: SCHEMA, version: "2.1.0", runs: [run(view.report)] })
}

fn run(report: &Report) -> SarifRun<'_> {
    let rules = SarifRules::of(report);
    let mut seen = HashMap::new();
    let mut results: Vec<SarifResult> =
        report.issues.iter().map(|finding| result(finding, &rules, &mut seen)).collect();
    if let Some(tracking) = &report.tracking {
        for (result, finding) in results.iter_mut().zip(&report.issues) {
            let standing = tracking.of_issue(finding).map(|it| it.standing);
            result.baseline_state = standing.map(baseline_state);
        }
        results.extend(tracking.set_aside.iter().map(|it| set_aside(it, &rules, &mut seen)));
        results.extend(tracking.fixed.iter().map(|it| SarifResult {
            baseline_state: Some("absent"),
            ..result(&it.finding, &rules, &mut seen)
        }));
    }
    results.extend(report.notes.iter().map(|finding| result(finding, &rules, &mut seen)));
    results.extend(report.suppressed.iter().map(|item| suppressed_result(item, &rules, &mut seen)));
    let version = env!("CARGO_PKG_VERSION");
    SarifRun {
        tool: SarifTool {
            driver: SarifDriver {
                name: "mala",
                version,
                semantic_version: version,
                rules: rules.into_descriptors(),
            },
        },
        automation_details: SarifAutomationDetails { id: format!("mala/{}", report.review_id) },
        invocations: [invocation(report)],
        version_control_provenance: provenance(report),
        original_uri_base_ids: BTreeMap::from([(
            ROOT,
            SarifBaseLocation {
                description: SarifMessage::plain("The root of the reviewed tree."),
            },
        )]),
        column_kind: "utf16CodeUnits",
        results,
        properties: run_properties(report),
    }
}

fn result<'f>(
    finding: &'f Finding,
    rules: &SarifRules,
    seen: &mut HashMap<&'f str, usize>,
) -> SarifResult {
    let rule_id = wording::rule_id(finding);
    let key = finding.dedupe_key.as_str();
    let nth = seen.entry(key).or_default();
    *nth += 1;
    SarifResult {
        rule_index: rules.index(&rule_id),
        rule_id,
        level: level(FindingLevel::of(finding)),
        message: message(finding),
        locations: [location(finding)],
        partial_fingerprints: BTreeMap::from([
            ("mala/v1", key.to_owned()),
            ("primaryLocationLineHash", format!("{key}:{nth}")),
        ]),
        baseline_state: None,
        suppressions: Vec::new(),
        properties: SarifResultProperties {
            priority: finding.effective_priority().to_string(),
            severity: finding.severity,
            category: finding.category,
            confidence: finding.confidence,
            reviewer: finding.reviewer.clone(),
            also_reported_by: finding.also_reported_by.clone(),
            verification: finding.verification.outcome,
            state: finding.state,
            on_changed_lines: finding.on_changed_lines,
        },
    }
}

fn suppressed_result<'f>(
    item: &'f SuppressedFinding,
    rules: &SarifRules,
    seen: &mut HashMap<&'f str, usize>,
) -> SarifResult {
    let mut result = result(&item.finding, rules, seen);
    result.suppressions = vec![SarifSuppression {
        kind: "inSource",
        status: "accepted",
        justification: Some(item.reason.clone()),
        location: Some(SarifLocation {
            physical_location: SarifPhysicalLocation {
                artifact_location: artifact(&item.finding),
                region: SarifRegion { start_line: item.line.max(1), end_line: None, snippet: None },
            },
            logical_locations: Vec::new(),
        }),
    }];
    result
}

/// A finding that does not count. Waived findings are suppressed as accepted, others as under
/// review.
fn set_aside<'f>(
    item: &'f SetAsideFinding,
    rules: &SarifRules,
    seen: &mut HashMap<&'f str, usize>,
) -> SarifResult {
    let is_waived = item.standing == Standing::Waived;
    let why = match item.standing {
        Standing::Late => Some("on lines that an earlier round reviewed"),
        Standing::BelowBar => Some("less urgent than this round asks for"),
        Standing::Disputed => Some("rejected by a person"),
        _ => item.reason.as_deref(),
    };
    SarifResult {
        baseline_state: Some(baseline_state(item.standing)),
        suppressions: vec![SarifSuppression {
            kind: "external",
            status: if is_waived { "accepted" } else { "underReview" },
            justification: why.map(str::to_owned),
            location: None,
        }],
        ..result(&item.finding, rules, seen)
    }
}

fn baseline_state(standing: Standing) -> &'static str {
    match standing {
        Standing::New | Standing::Regressed | Standing::Late | Standing::BelowBar => "new",
        Standing::StillOpen | Standing::Waived | Standing::Disputed => "unchanged",
        Standing::Fixed => "absent",
    }
}

fn message(finding: &Finding) -> SarifMessage {
    let mut text = format!("{}\n\n{}", wording::title(finding), finding.body);
    if let Some(suggestion) = &finding.suggestion {
        text.push_str(&format!("\n\nFix: {suggestion}"));
    }
    SarifMessage::plain(&text)
}

fn location(finding: &Finding) -> SarifLocation {
    let span = finding.span();
    let evidence = &finding.evidence_snippet;
    let snippet = (!evidence.is_empty()).then(|| SarifContent { text: evidence.clone() });
    let symbol = finding
        .symbol
        .iter()
        .map(|name| SarifLogicalLocation { fully_qualified_name: name.clone() });
    SarifLocation {
        physical_location: SarifPhysicalLocation {
            artifact_location: artifact(finding),
            region: SarifRegion { start_line: span.start(), end_line: Some(span.end()), snippet },
        },
        logical_locations: symbol.collect(),
    }
}

fn artifact(finding: &Finding) -> SarifArtifactLocation {
    SarifArtifactLocation { uri: path_uri(&finding.file), uri_base_id: ROOT }
}

fn invocation(report: &Report) -> SarifInvocation {
    let incomplete_reason = wording::incomplete_reason(report);
    let execution_successful = incomplete_reason.is_none();
    let failure = incomplete_reason.map(|why| SarifNotification {
        level: "error",
        message: SarifMessage::plain(&format!("mala could not review the change: {why}")),
        descriptor: SarifReference { id: "mala/could-not-review" },
    });
    let warnings = report.warnings.iter().map(|warning| SarifNotification {
        level: "warning",
        message: SarifMessage::plain(warning),
        descriptor: SarifReference { id: "mala/warning" },
    });
    SarifInvocation {
        execution_successful,
        tool_execution_notifications: failure.into_iter().chain(warnings).collect(),
    }
}

/// The revision, if a commit was reviewed and the repository URL is known.
fn provenance(report: &Report) -> Vec<SarifVersionControlDetails> {
    let repository = report.scope.repository.as_deref().filter(|url| is_absolute_url(url));
    match (repository, &report.scope.head) {
        (Some(repository), HeadState::Commit(revision)) => vec![SarifVersionControlDetails {
            repository_uri: repository.to_owned(),
            revision_id: revision.clone(),
            mapped_to: SarifMappedTo { uri_base_id: ROOT },
        }],
        _ => Vec::new(),
    }
}

fn run_properties(report: &Report) -> SarifRunProperties<'_> {
    SarifRunProperties {
        review_id: &report.review_id,
        outcome: report.outcome,
        passed: report.passed,
        verdict: report.verdict,
        fail_on: report.fail_on,
        summary: &report.summary,
        scope: &report.scope,
        coverage: &report.coverage,
    }
}

fn level(level: FindingLevel) -> &'static str {
    match level {
        FindingLevel::Error => "error",
        FindingLevel::Warning => "warning",
        FindingLevel::Note => "note",
    }
}

/// The URI of a path, relative to the root of the repository.
fn path_uri(path: &FilePath) -> String {
    let mut out = String::new();
    for byte in path.as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(*byte));
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Whether the text is an absolute URL with only valid characters.
fn is_absolute_url(text: &str) -> bool {
    let has_scheme = ["https://", "http://", "ssh://", "git://", "file://"]
        .iter()
        .any(|scheme| text.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()));
    has_scheme
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~:/@+%=".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_path_survives() {
        let rows: &[(&[u8], &str)] = &[
            (b"src/main.rs", "src/main.rs"),
            (b"a b/100%/x#y?z", "a%20b/100%25/x%23y%3Fz"),
            (b"c:/x", "c%3A/x"),
            (b"\xff\n.txt", "%FF%0A.txt"),
            ("\u{e9}".as_bytes(), "%C3%A9"),
        ];
        for (path, expected) in rows {
            assert_eq!(path_uri(&FilePath::from_bytes(*path)), *expected);
        }
    }

    #[test]
    fn only_urls_are_repositories() {
        for good in ["https://example.com/o/r.git", "ssh://git@example.com/o/r"] {
            assert!(is_absolute_url(good), "{good}");
        }
        for bad in ["git@example.com:o/r", "/srv/r", "https://", "https://a b", "javascript:x"] {
            assert!(!is_absolute_url(bad), "{bad}");
        }
    }
}
