//! The parts of SARIF 2.1.0 that mala writes, with the names of the standard.

use crate::finding::{Category, FindingState, Severity, VerificationOutcome};
use crate::review::Coverage;
use crate::scope::Scope;
use crate::verdict::{Outcome, Threshold, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
pub(super) struct Log<'r> {
    #[serde(rename = "$schema")]
    pub(super) schema: &'static str,
    pub(super) version: &'static str,
    pub(super) runs: [Run<'r>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Run<'r> {
    pub(super) tool: Tool,
    pub(super) automation_details: AutomationDetails,
    pub(super) invocations: [Invocation; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) version_control_provenance: Vec<VersionControlDetails>,
    pub(super) original_uri_base_ids: BTreeMap<&'static str, BaseLocation>,
    pub(super) column_kind: &'static str,
    pub(super) results: Vec<SarifResult>,
    pub(super) properties: RunProperties<'r>,
}

#[derive(Serialize)]
pub(super) struct Tool {
    pub(super) driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Driver {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    pub(super) semantic_version: &'static str,
    pub(super) rules: Vec<Descriptor>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Descriptor {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) short_description: Message,
    pub(super) default_configuration: ReportingConfiguration,
    pub(super) properties: DescriptorProperties,
}

#[derive(Serialize)]
pub(super) struct ReportingConfiguration {
    pub(super) level: &'static str,
}

#[derive(Serialize)]
pub(super) struct DescriptorProperties {
    pub(super) tags: Vec<String>,
    pub(super) category: Category,
    pub(super) precision: &'static str,
    #[serde(rename = "security-severity", skip_serializing_if = "Option::is_none")]
    pub(super) security_severity: Option<&'static str>,
}

#[derive(Serialize)]
pub(super) struct AutomationDetails {
    pub(super) id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Invocation {
    pub(super) execution_successful: bool,
    pub(super) tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
pub(super) struct Notification {
    pub(super) level: &'static str,
    pub(super) message: Message,
    pub(super) descriptor: Reference,
}

#[derive(Serialize)]
pub(super) struct Reference {
    pub(super) id: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct VersionControlDetails {
    pub(super) repository_uri: String,
    pub(super) revision_id: String,
    pub(super) mapped_to: MappedTo,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MappedTo {
    pub(super) uri_base_id: &'static str,
}

#[derive(Serialize)]
pub(super) struct BaseLocation {
    pub(super) description: Message,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifResult {
    pub(super) rule_id: String,
    pub(super) rule_index: usize,
    pub(super) level: &'static str,
    pub(super) message: Message,
    pub(super) locations: [Location; 1],
    pub(super) partial_fingerprints: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) suppressions: Vec<Suppression>,
    pub(super) properties: ResultProperties,
}

#[derive(Serialize)]
pub(super) struct Suppression {
    pub(super) kind: &'static str,
    pub(super) status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) justification: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) location: Option<Location>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Location {
    pub(super) physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) logical_locations: Vec<LogicalLocation>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LogicalLocation {
    pub(super) fully_qualified_name: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PhysicalLocation {
    pub(super) artifact_location: ArtifactLocation,
    pub(super) region: Region,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactLocation {
    pub(super) uri: String,
    pub(super) uri_base_id: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Region {
    pub(super) start_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) snippet: Option<Content>,
}

#[derive(Serialize)]
pub(super) struct Content {
    pub(super) text: String,
}

#[derive(Serialize)]
pub(super) struct Message {
    pub(super) text: String,
}

impl Message {
    /// A message without links: `[text](target)` would be a link in SARIF.
    pub(super) fn plain(text: &str) -> Self {
        Self { text: text.replace("](", "] (") }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResultProperties {
    pub(super) priority: String,
    pub(super) severity: Severity,
    pub(super) category: Category,
    pub(super) confidence: f64,
    pub(super) reviewer: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) also_reported_by: Vec<String>,
    pub(super) verification: VerificationOutcome,
    pub(super) state: FindingState,
    pub(super) on_changed_lines: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunProperties<'r> {
    pub(super) review_id: &'r str,
    pub(super) outcome: Outcome,
    pub(super) passed: bool,
    pub(super) verdict: Option<Verdict>,
    pub(super) fail_on: Threshold,
    pub(super) summary: &'r str,
    pub(super) scope: &'r Scope,
    pub(super) coverage: &'r Coverage,
}
