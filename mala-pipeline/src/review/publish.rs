//! Writes a review's files: the report for people, for machines, and what it took.

use super::Reviewed;
use mala_domain::ports::{RunStore, StoreError};
use mala_domain::render::{self, View};
use mala_domain::report::Telemetry;

/// When a review started.
pub struct Started {
    /// For the folder's name: sorts by time, and is a file name everywhere.
    pub stamp: String,
    /// For people and machines.
    pub at: String,
}

/// Writes `review.md`, `review.json`, `telemetry.json` and more files, by name and text, into a folder
/// of their own, all or none, and notes the folder in the report.
pub fn publish(
    reviewed: &mut Reviewed,
    started: &Started,
    store: &dyn RunStore,
    more: &[(String, String)],
) -> Result<(), StoreError> {
    let name = format!("{}_{}", started.stamp, reviewed.report.review_id);
    let elsewhere = reviewed.report.review_log_path.replace(store.locate(&name));
    let view = View { report: &reviewed.report, sources: &reviewed.sources };
    let shown = |format: &str| render::output(format).map(|show| show(&view)).unwrap_or_default();
    let telemetry = Telemetry::of(&reviewed.report, &started.at);
    let mut files = vec![
        ("review.md", shown("markdown")),
        ("review.json", shown("json")),
        ("telemetry.json", pretty(&telemetry)),
    ];
    files.extend(more.iter().map(|(name, text)| (name.as_str(), text.clone())));
    let saved = store.save(&name, &files);
    if saved.is_err() {
        reviewed.report.review_log_path = elsewhere;
    }
    saved
}

fn pretty(telemetry: &Telemetry) -> String {
    // A plain struct of strings and numbers always serialises.
    serde_json::to_string_pretty(telemetry).unwrap_or_default() + "\n"
}
