//! Writes the files of a review: the report for people and for machines, and telemetry. The report
//! does not change; the result of publishing is a separate value.

use super::ReviewOutput;
use mala_domain::ports::{RunStore, StoreError};
use mala_domain::render::{self, ReportView};
use mala_domain::report::Telemetry;

/// When a review started.
pub struct StartTime {
    /// For the folder's name: sorts by time, and is a file name everywhere.
    pub stamp: String,
    /// For people and machines.
    pub at: String,
}

/// The result of publishing.
#[derive(Debug)]
pub enum Published {
    /// The files are in this folder.
    Kept(String),
    /// No files were requested, or they could not be written, as the report says.
    Nothing,
    /// The files could not be written.
    Failed(StoreError),
}

/// The folder for the files of a review, or a warning that it cannot be written.
pub(super) fn prepare(
    store: Option<(&dyn RunStore, &StartTime)>,
    review_id: &str,
) -> (Option<String>, Option<String>) {
    let Some((store, started)) = store else { return (None, None) };
    match store.prepare(&name(started, review_id)) {
        Ok(folder) => (Some(folder), None),
        Err(error) => (None, Some(format!("the files of this review are not kept: {error}"))),
    }
}

/// Writes `review.md`, `review.json`, `telemetry.json` and additional files into the folder that
/// the report names, all or none.
pub fn publish(
    reviewed: &ReviewOutput,
    started: &StartTime,
    store: &dyn RunStore,
    more: &[(String, String)],
) -> Published {
    let report = &reviewed.report;
    let Some(folder) = &report.review_log_path else { return Published::Nothing };
    let view = ReportView { report, sources: &reviewed.sources };
    let shown = |format: &str| render::output(format).map(|show| show(&view)).unwrap_or_default();
    let telemetry = Telemetry::of(report, &started.at);
    let mut files = vec![
        ("review.md", shown("markdown")),
        ("review.json", shown("json")),
        ("telemetry.json", pretty(&telemetry)),
    ];
    files.extend(more.iter().map(|(name, text)| (name.as_str(), text.clone())));
    match store.save(&name(started, &report.review_id), &files) {
        Ok(()) => Published::Kept(folder.clone()),
        Err(error) => Published::Failed(error),
    }
}

fn name(started: &StartTime, review_id: &str) -> String {
    format!("{}_{review_id}", started.stamp)
}

fn pretty(telemetry: &Telemetry) -> String {
    // A plain struct of strings and numbers always serialises.
    serde_json::to_string_pretty(telemetry).unwrap_or_default() + "\n"
}
