//! What a person sees while an eval runs: how far it is, and what time and money are left. On a terminal
//! it is one line; elsewhere, now and then a line.

use crate::console;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mala_eval::run::RunProgress;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long it is quiet where there is no terminal.
const QUIET: Duration = Duration::from_secs(15);

/// Shows how far an eval is.
pub(super) struct EvalProgress {
    line: Option<ProgressBar>,
    told: Mutex<Instant>,
}

impl EvalProgress {
    /// Starts to show, with what is done already of all that there is to do.
    pub(super) fn start(done: u64, total: u64) -> Self {
        let line = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{spinner} {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner());
            let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
                .with_style(style)
                .with_message(format!("{done}/{total} reviewed"));
            line.enable_steady_tick(Duration::from_millis(120));
            line
        });
        Self { line, told: Mutex::new(Instant::now()) }
    }

    pub(super) fn show(&self, standing: &RunProgress) {
        match &self.line {
            Some(line) => line.set_message(in_words(standing)),
            None => {
                let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
                if told.elapsed() >= QUIET {
                    console::say(&in_words(standing));
                    *told = Instant::now();
                }
            }
        }
    }

    pub(super) fn end(&self) {
        if let Some(line) = &self.line {
            line.finish_and_clear();
        }
    }
}

fn in_words(standing: &RunProgress) -> String {
    let mut text = format!("{}/{} reviewed", standing.done, standing.total);
    if standing.could_not_review > 0 {
        text.push_str(&format!(" ({} could not be)", standing.could_not_review));
    }
    if let Some(left) = standing.time_left {
        text.push_str(&format!(", about {} left", duration(left)));
    }
    if standing.spent.as_f64() > 0.0 || standing.money_left.is_some() {
        text.push_str(&format!(", {} spent or taken", standing.spent));
    }
    if let Some(left) = standing.money_left {
        text.push_str(&format!(", {left} left"));
    }
    text
}

fn duration(left: Duration) -> String {
    match left.as_secs() {
        seconds @ 0..=99 => format!("{seconds} s"),
        seconds @ 100..=5_999 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}
