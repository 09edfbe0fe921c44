//! `mala task import` and `mala task export`: Markdown plans and JSON Lines.

use super::{MAX_FILE, TaskFormat};
use crate::console::{self, counted, harmless};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::wiring::read_following_links;
use crate::wiring::task::TaskRepository;
use mala_domain::task::json::{parse_lines, print_lines};
use mala_domain::task::plan::{parse_plan, print_plan};
use serde_json::json;
use std::path::Path;

pub(super) async fn import(
    tasks: &TaskRepository,
    file: &Path,
    format: TaskFormat,
) -> anyhow::Result<Exit> {
    let unreadable = |error| Failure::usage(format!("cannot read {}: {error}", file.display()));
    let bytes = read_following_links(file, MAX_FILE).map_err(unreadable)?;
    let text = String::from_utf8_lossy(&bytes);
    let is_lines = file.extension().is_some_and(|it| it == "jsonl" || it == "ndjson");
    let imported = if is_lines { parse_lines(&text) } else { parse_plan(&text) };
    for warning in &imported.warnings {
        console::say(&harmless(&format!("warning: {warning}")));
    }
    if imported.tasks.is_empty() {
        let hint = "a plan has a task per line: `- [ ] Title`";
        return Err(Failure::usage(format!("{} has no tasks", file.display())).hint(hint).into());
    }
    let count = tasks.store().import(&imported.tasks).await?;
    console::data(&match format {
        TaskFormat::Text => {
            let total = counted(imported.tasks.len(), "task");
            format!("{total} read: {} added, {} updated\n", count.added, count.updated)
        }
        TaskFormat::Json => {
            let ids: Vec<&str> = imported.tasks.iter().map(|task| task.id.as_str()).collect();
            let result = json!({
                "schema_version": 1,
                "added": count.added,
                "updated": count.updated,
                "ids": ids,
                "warnings": imported.warnings,
            });
            format!("{result:#}\n")
        }
    })?;
    Ok(Exit::Passed)
}

pub(super) async fn export(tasks: &TaskRepository, format: TaskFormat) -> anyhow::Result<Exit> {
    let tasks = tasks.store().tasks().await?;
    console::data(&match format {
        TaskFormat::Text => print_plan(&tasks),
        TaskFormat::Json => print_lines(&tasks),
    })?;
    Ok(Exit::Passed)
}
