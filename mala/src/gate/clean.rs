//! `review-gate clean`: removes old sessions. One that still runs stays.

use crate::cli::exit::Exit;
use crate::cli::interrupt::until_interrupted;
use crate::console;
use crate::surroundings::Surroundings;
use crate::wiring::gate::{self as world, Gate, GateFolder, SessionFolder};
use anyhow::Context;
use clap::Args;
use mala_pipeline::gate::WatchedSession as _;
use std::time::Duration;

/// Remove old sessions
#[derive(Debug, Args)]
pub(super) struct CleanArgs {
    /// Those that were started longer ago than this, such as 7d, 12h, 30m or 0s
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = duration)]
    older_than: Duration,
}

fn duration(text: &str) -> Result<Duration, String> {
    let span = text.parse::<jiff::Span>();
    span.and_then(|span| span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()))
        .and_then(Duration::try_from)
        .map_err(|_| format!("`{text}` is not a duration such as 7d, 12h, 30m or 45s"))
}

pub(super) fn run(args: &CleanArgs, here: &Surroundings) -> anyhow::Result<Exit> {
    until_interrupted(async {
        let gate = Gate::open(here).await?;
        let mut removed = 0;
        for sessions in gate.everywhere().await?.each() {
            removed += remove_older_than(args.older_than, sessions)?;
        }
        world::sweep_scratch(&gate);
        console::say(&format!("{} removed", console::counted(removed, "session")));
        Ok(Exit::Passed)
    })
}

/// Removes the sessions that are over and were started longer ago than this; says how many.
pub(super) fn remove_older_than(limit: Duration, sessions: &GateFolder) -> anyhow::Result<usize> {
    let now = jiff::Timestamp::now();
    let mut removed = 0;
    for (folder, session) in sessions.all() {
        let created: jiff::Timestamp = session.created.parse().unwrap_or_default();
        let age = Duration::try_from(now.duration_since(created)).unwrap_or_default();
        if age < limit {
            continue;
        }
        if is_over(&folder) {
            world::sweep(&folder, &session);
            let removing = || format!("removing {}", folder.path().display());
            folder.remove().with_context(removing)?;
            removed += 1;
        }
    }
    Ok(removed + remove_unreadable(limit, sessions)?)
}

/// A result that cannot be read is one all the same.
fn is_over(folder: &SessionFolder) -> bool {
    !matches!(folder.end(), Ok(None)) || world::Seen(folder).is_dead()
}

/// Removes what nobody can read and is over, by the date of the file; says how many.
fn remove_unreadable(limit: Duration, sessions: &GateFolder) -> anyhow::Result<usize> {
    let mut removed = 0;
    for (folder, _) in sessions.unreadable() {
        let age = folder.date().and_then(|date| date.elapsed().ok()).unwrap_or_default();
        if age >= limit && is_over(&folder) {
            let removing = || format!("removing {}", folder.path().display());
            folder.remove().with_context(removing)?;
            removed += 1;
        }
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        for (text, seconds) in [("7d", 604_800), ("12h", 43_200), ("30m", 1_800), ("0s", 0)] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)));
        }
        for text in ["", "7", "d", "-1d", "99999999999999999999d", "dd"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
