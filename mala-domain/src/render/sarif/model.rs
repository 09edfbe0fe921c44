//! The parts of SARIF 2.1.0 that mala writes, with the names of the standard.

use crate::finding::{Category, FindingState, Severity, VerificationOutcome};
use crate::review::Coverage;
use crate::scope::ScopeSummary;
use crate::verdict::{Outcome, Threshold, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
pub(super) struct SarifLog<'r> {
    #[serde(rename = "$schema")]
    pub(super) schema: &'static str,
    pub(super) version: &'static str,
    pub(super) runs: [SarifRun<'r>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifRun<'r> {
    pub(super) tool: SarifTool,
    pub(super) automation_details: SarifAutomationDetails,
    pub(super) invocations: [SarifInvocation; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) version_control_provenance: Vec<SarifVersionControlDetails>,
    pub(super) original_uri_base_ids: BTreeMap<&'static str, SarifBaseLocation>,
    pub(super) column_kind: &'static str,
    pub(super) results: Vec<SarifResult>,
    pub(super) properties: SarifRunProperties<'r>,
}

#[derive(Serialize)]
pub(super) struct SarifTool {
    pub(super) driver: SarifDriver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifDriver {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    pub(super) semantic_version: &'static str,
    pub(super) rules: Vec<SarifRuleDescriptor>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifRuleDescriptor {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) short_description: SarifMessage,
    pub(super) default_configuration: SarifRuleConfiguration,
    pub(super) properties: SarifRuleProperties,
}

#[derive(Serialize)]
pub(super) struct SarifRuleConfiguration {
    pub(super) level: &'static str,
}

#[derive(Serialize)]
pub(super) struct SarifRuleProperties {
    pub(super) tags: Vec<String>,
    pub(super) category: Category,
    pub(super) precision: &'static str,
    #[serde(rename = "security-severity", skip_serializing_if = "Option::is_none")]
    pub(super) security_severity: Option<&'static str>,
}

#[derive(Serialize)]
pub(super) struct SarifAutomationDetails {
    pub(super) id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifInvocation {
    pub(super) execution_successful: bool,
    pub(super) tool_execution_notifications: Vec<SarifNotification>,
}

#[derive(Serialize)]
pub(super) struct SarifNotification {
    pub(super) level: &'static str,
    pub(super) message: SarifMessage,
    pub(super) descriptor: SarifReference,
}

#[derive(Serialize)]
pub(super) struct SarifReference {
    pub(super) id: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifVersionControlDetails {
    pub(super) repository_uri: String,
    pub(super) revision_id: String,
    pub(super) mapped_to: SarifMappedTo,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifMappedTo {
    pub(super) uri_base_id: &'static str,
}

#[derive(Serialize)]
pub(super) struct SarifBaseLocation {
    pub(super) description: SarifMessage,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifResult {
    pub(super) rule_id: String,
    pub(super) rule_index: usize,
    pub(super) level: &'static str,
    pub(super) message: SarifMessage,
    pub(super) locations: [SarifLocation; 1],
    pub(super) partial_fingerprints: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) baseline_state: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) suppressions: Vec<SarifSuppression>,
    pub(super) properties: SarifResultProperties,
}

#[derive(Serialize)]
pub(super) struct SarifSuppression {
    pub(super) kind: &'static str,
    pub(super) status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) justification: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) location: Option<SarifLocation>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifLocation {
    pub(super) physical_location: SarifPhysicalLocation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) logical_locations: Vec<SarifLogicalLocation>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifLogicalLocation {
    pub(super) fully_qualified_name: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifPhysicalLocation {
    pub(super) artifact_location: SarifArtifactLocation,
    pub(super) region: SarifRegion,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifArtifactLocation {
    pub(super) uri: String,
    pub(super) uri_base_id: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifRegion {
    pub(super) start_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) snippet: Option<SarifContent>,
}

#[derive(Serialize)]
pub(super) struct SarifContent {
    pub(super) text: String,
}

#[derive(Serialize)]
pub(super) struct SarifMessage {
    pub(super) text: String,
}

impl SarifMessage {
    /// A message without links: `[text](target)` would be a link in SARIF.
    pub(super) fn plain(text: &str) -> Self {
        Self { text: text.replace("](", "] (") }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifResultProperties {
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
pub(super) struct SarifRunProperties<'r> {
    pub(super) review_id: &'r str,
    pub(super) outcome: Outcome,
    pub(super) passed: bool,
    pub(super) verdict: Option<Verdict>,
    pub(super) fail_on: Threshold,
    pub(super) summary: &'r str,
    pub(super) scope: &'r ScopeSummary,
    pub(super) coverage: &'r Coverage,
}
