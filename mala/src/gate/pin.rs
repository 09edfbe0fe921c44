//! Determines the change that `spawn-code-review` reviews, and its settings.

use super::spawn::SpawnArgs;
use crate::failure::{Failure, FailureKind};
use crate::target::range;
use crate::wiring::gate as world;
use anyhow::Context;
use mala_domain::config::{Config, GateSettings};
use mala_domain::scope::ReviewTarget;
use mala_domain::secrets;
use std::path::Path;

/// The maximum length of a text about the task, in bytes.
const MAX_CONTEXT: u64 = 4 << 20;

/// The target that the command line names.
pub(super) fn target(args: &SpawnArgs) -> Result<ReviewTarget, Failure> {
    if args.uncommitted {
        return Ok(ReviewTarget::WorkingTree);
    }
    if !args.commit.is_empty() {
        return Ok(ReviewTarget::Commits(args.commit.clone()));
    }
    if let Some(base) = &args.base {
        return Ok(ReviewTarget::SinceMergeBase { base: base.clone(), head: "HEAD".to_owned() });
    }
    let diff = args.diff.as_deref().unwrap_or_default();
    if diff.starts_with("..") {
        // A script with an empty variable writes this.
        return Err(Failure::new(FailureKind::SpawnFailed, format!("`{diff}` has no baseline"))
            .hint("write it as BASELINE..HEAD"));
    }
    range(diff).ok_or_else(|| {
        Failure::new(FailureKind::SpawnFailed, format!("`{diff}` is not a range"))
            .hint("write it as BASELINE..HEAD")
    })
}

/// A description of the target.
pub(super) fn words(args: &SpawnArgs) -> String {
    match (&args.diff, &args.base, args.commit.as_slice()) {
        (Some(diff), _, _) => diff.clone(),
        (None, Some(base), _) => format!("{base}...HEAD"),
        (None, None, []) => "the working tree against HEAD".to_owned(),
        (None, None, commits) => format!("commits {}", commits.join(", ")),
    }
}

/// The options of the command line as configuration keys.
pub(super) fn flags(args: &SpawnArgs) -> Config {
    let gate = GateSettings {
        consensus: args.consensus,
        timeout: args.timeout,
        ..GateSettings::default()
    };
    Config { gate, ..Config::default() }
}

/// The text about the task.
pub(super) fn tasks(file: Option<&Path>) -> anyhow::Result<Vec<(String, String)>> {
    let Some(file) = file else { return Ok(Vec::new()) };
    let bytes = world::read_limited(file, MAX_CONTEXT)
        .with_context(|| format!("reading the context file {}", file.display()))?;
    let text = secrets::redact(&String::from_utf8_lossy(&bytes)).into_owned();
    Ok(vec![("issue".to_owned(), text)])
}
