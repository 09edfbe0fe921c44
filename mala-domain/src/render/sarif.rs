//! SARIF 2.1.0, for code scanning and editors. Suppressed findings are results with a suppression; an incomplete
//! review is an unsuccessful invocation.

mod model;
mod rules;
mod uri;

use super::View;
use super::json;
use super::level::Level;
use super::wording;
use crate::finding::{Finding, FindingState};
use crate::report::{Report, Suppressed};
use crate::scope::Head;
use model::*;
use rules::Rules;
use std::collections::{BTreeMap, HashMap};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
const ROOT: &str = "%SRCROOT%";

/// Renders the report as a SARIF log with one run.
pub(super) fn render(view: &View<'_>) -> String {
    json::pretty(&Log { schema: SCHEMA, version: "2.1.0", runs: [run(view.report)] })
}

fn run(report: &Report) -> Run<'_> {
    let rules = Rules::of(report);
    let mut seen = HashMap::new();
    let mut results: Vec<SarifResult> =
        report.issues.iter().map(|finding| result(finding, &rules, &mut seen)).collect();
    results.extend(report.suppressed.iter().map(|item| set_aside(item, &rules, &mut seen)));
    let version = env!("CARGO_PKG_VERSION");
    Run {
        tool: Tool {
            driver: Driver {
                name: "mala",
                version,
                semantic_version: version,
                rules: rules.into_descriptors(),
            },
        },
        automation_details: AutomationDetails { id: format!("mala/{}", report.review_id) },
        invocations: [invocation(report)],
        version_control_provenance: provenance(report),
        original_uri_base_ids: BTreeMap::from([(
            ROOT,
            BaseLocation { description: Message::plain("The root of the reviewed tree.") },
        )]),
        column_kind: "utf16CodeUnits",
        results,
        properties: run_properties(report),
    }
}

fn result<'f>(
    finding: &'f Finding,
    rules: &Rules,
    seen: &mut HashMap<&'f str, usize>,
) -> SarifResult {
    let rule_id = wording::rule_id(finding);
    let key = finding.dedupe_key.as_str();
    let nth = seen.entry(key).or_default();
    *nth += 1;
    SarifResult {
        rule_index: rules.index(&rule_id),
        rule_id,
        level: level(Level::of(finding)),
        message: message(finding),
        locations: [location(finding)],
        partial_fingerprints: BTreeMap::from([
            ("mala/v1", key.to_owned()),
            ("primaryLocationLineHash", format!("{key}:{nth}")),
        ]),
        suppressions: waiver(finding).into_iter().collect(),
        properties: ResultProperties {
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

fn set_aside<'f>(
    item: &'f Suppressed,
    rules: &Rules,
    seen: &mut HashMap<&'f str, usize>,
) -> SarifResult {
    let mut result = result(&item.finding, rules, seen);
    result.suppressions = vec![Suppression {
        kind: "inSource",
        status: "accepted",
        justification: Some(item.reason.clone()),
        location: Some(Location {
            physical_location: PhysicalLocation {
                artifact_location: artifact(&item.finding),
                region: Region { start_line: item.line.max(1), end_line: None, snippet: None },
            },
            logical_locations: Vec::new(),
        }),
    }];
    result
}

fn waiver(finding: &Finding) -> Option<Suppression> {
    let is_waived = finding.state == FindingState::Waived;
    is_waived.then_some(Suppression {
        kind: "external",
        status: "accepted",
        justification: None,
        location: None,
    })
}

fn message(finding: &Finding) -> Message {
    let mut text = format!("{}\n\n{}", wording::title(finding), finding.body);
    if let Some(suggestion) = &finding.suggestion {
        text.push_str(&format!("\n\nFix: {suggestion}"));
    }
    Message::plain(&text)
}

fn location(finding: &Finding) -> Location {
    let span = finding.span();
    let evidence = &finding.evidence_snippet;
    let snippet = (!evidence.is_empty()).then(|| Content { text: evidence.clone() });
    let symbol =
        finding.symbol.iter().map(|name| LogicalLocation { fully_qualified_name: name.clone() });
    Location {
        physical_location: PhysicalLocation {
            artifact_location: artifact(finding),
            region: Region { start_line: span.start(), end_line: Some(span.end()), snippet },
        },
        logical_locations: symbol.collect(),
    }
}

fn artifact(finding: &Finding) -> ArtifactLocation {
    ArtifactLocation { uri: uri::of_path(&finding.file), uri_base_id: ROOT }
}

fn invocation(report: &Report) -> Invocation {
    let obstacle = wording::obstacle(report);
    let execution_successful = obstacle.is_none();
    let failure = obstacle.map(|why| Notification {
        level: "error",
        message: Message::plain(&format!("mala could not review the change: {why}")),
        descriptor: Reference { id: "mala/could-not-review" },
    });
    let warnings = report.warnings.iter().map(|warning| Notification {
        level: "warning",
        message: Message::plain(warning),
        descriptor: Reference { id: "mala/warning" },
    });
    Invocation {
        execution_successful,
        tool_execution_notifications: failure.into_iter().chain(warnings).collect(),
    }
}

/// The revision, if a commit was reviewed and the repository URL is known.
fn provenance(report: &Report) -> Vec<VersionControlDetails> {
    let repository = report.scope.repository.as_deref().filter(|url| uri::is_absolute(url));
    match (repository, &report.scope.head) {
        (Some(repository), Head::Commit(revision)) => vec![VersionControlDetails {
            repository_uri: repository.to_owned(),
            revision_id: revision.clone(),
            mapped_to: MappedTo { uri_base_id: ROOT },
        }],
        _ => Vec::new(),
    }
}

fn run_properties(report: &Report) -> RunProperties<'_> {
    RunProperties {
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

fn level(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    }
}
