//! Logs, on stderr and for those who ask: `MALA_LOG=info` shows who reviews what, `MALA_LOG=debug`
//! much more. Without it, only errors are logged.

use crate::surroundings::Surroundings;
use tracing_subscriber::EnvFilter;

/// Starts to log as the environment says; a filter that makes no sense logs errors.
pub fn start(here: &Surroundings) {
    let filter = here.text("MALA_LOG").and_then(|text| EnvFilter::try_new(text).ok());
    let filter = filter.unwrap_or_else(|| EnvFilter::new("error"));
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(false)
        .without_time()
        .with_ansi(false)
        .try_init();
    // Whoever embeds this may log already.
    drop(logs);
}
