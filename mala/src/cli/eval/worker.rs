//! The process that the user starts: it has a worker do the run, and shows the progress of a run. When this
//! process is killed, the worker stores the answers to the model calls in progress and exits.

use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::interrupt::StopSignals;
use crate::wiring::eval::start_worker;
use anyhow::Context;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mala_eval::run::RunProgress;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time between two progress lines without a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(15);

/// Does the run in a worker process, which gets this flag.
pub(super) fn run_in_worker(here: &Environment, flag: &str) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("starting the runtime")?;
    let exit = runtime.block_on(attend(here, flag));
    runtime.shutdown_background();
    exit
}

async fn attend(here: &Environment, flag: &str) -> anyhow::Result<Exit> {
    let mut interrupts = StopSignals::listen()?;
    let mut worker = start_worker(here, flag)?;
    let mut n_interrupts = 0;
    let status = loop {
        tokio::select! {
            ended = worker.wait() => break ended?,
            () = interrupts.next() => n_interrupts += 1,
        }
        match n_interrupts {
            1 => {
                console::say(
                    "interrupted: waiting for the model calls in progress to store their answers; \
                     press Ctrl-C again to stop now",
                );
                worker.ask_to_exit().await;
            }
            2 => worker.terminate(),
            _ => worker.kill(),
        }
    };
    status.code().and_then(Exit::of).ok_or_else(|| {
        Failure::new(FailureKind::CouldNotReview, format!("the worker process ended: {status}"))
            .hint("run `mala eval run --resume latest` to continue")
            .into()
    })
}

/// Shows the progress of a run.
pub(super) struct EvalProgress {
    line: Option<ProgressBar>,
    last_line: Mutex<Instant>,
}

impl EvalProgress {
    /// Starts with the number of reviews that are done and the total.
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
        Self { line, last_line: Mutex::new(Instant::now()) }
    }

    pub(super) fn show(&self, progress: &RunProgress) {
        match &self.line {
            Some(line) => line.set_message(progress_line(progress)),
            None => {
                let mut last_line = self.last_line.lock().unwrap_or_else(PoisonError::into_inner);
                if last_line.elapsed() >= LINE_INTERVAL {
                    console::say(&progress_line(progress));
                    *last_line = Instant::now();
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

fn progress_line(progress: &RunProgress) -> String {
    let mut text = format!("{}/{} reviewed", progress.done, progress.total);
    if progress.could_not_review > 0 {
        text.push_str(&format!(" ({} failed)", progress.could_not_review));
    }
    if let Some(left) = progress.time_left {
        text.push_str(&format!(", about {} left", duration(left)));
    }
    if progress.spent.as_f64() > 0.0 || progress.money_left.is_some() {
        text.push_str(&format!(", {} spent or reserved", progress.spent));
    }
    if let Some(left) = progress.money_left {
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
