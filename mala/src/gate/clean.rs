//! `review-gate clean`: removes old sessions. One that still runs stays.

use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::interrupt::until_interrupted;
use crate::wiring::gate::{self as world, Gate};
use clap::Args;
use std::time::Duration;

/// Remove old sessions
#[derive(Debug, Args)]
pub(super) struct CleanArgs {
    /// Only sessions started longer ago than this, such as 7d, 12h, 30m or 0s
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = duration)]
    older_than: Duration,
}

fn duration(text: &str) -> Result<Duration, String> {
    let span = text.parse::<jiff::Span>();
    span.and_then(|span| span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()))
        .and_then(Duration::try_from)
        .map_err(|_| format!("`{text}` is not a duration such as 7d, 12h, 30m or 45s"))
}

pub(super) fn run(args: &CleanArgs, here: &Environment) -> anyhow::Result<Exit> {
    until_interrupted(async {
        let gate = Gate::open(here).await?;
        let mut removed = 0;
        for sessions in gate.everywhere().await?.each() {
            removed += world::remove_older_than(args.older_than, sessions)?;
        }
        world::sweep_scratch(&gate);
        console::say(&format!("{} removed", console::counted(removed, "session")));
        Ok(Exit::Passed)
    })
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
