//! What a person sees while a review works: one line on stderr, gone when it ends. Nothing when
//! stderr is not a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget};
use mala_pipeline::events::Event;
use std::time::Duration;

/// A line that shows what is going on.
pub struct Progress {
    line: ProgressBar,
}

impl Progress {
    /// Starts to show.
    pub fn start() -> Self {
        let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        line.enable_steady_tick(Duration::from_millis(120));
        Self { line }
    }

    /// Shows an event.
    pub fn show(&self, event: &Event) {
        match event {
            Event::Scoped { files, hunks } => {
                self.line.set_message(format!("{hunks} hunks in {files} files"));
            }
            Event::ReviewerStarted { reviewer } => {
                self.line.set_message(format!("{reviewer} reviews"));
            }
            Event::PassStarted { pass } => self.line.set_message(format!("pass: {pass}")),
            Event::ToolCalled { tool } => self.line.set_message(format!("tool: {tool}")),
            Event::Spent { llm_calls, tool_calls, tokens, cost_usd, seconds_left } => {
                self.line.set_message(format!(
                    "{llm_calls} model calls, {tool_calls} tool calls, {tokens} tokens, \
                     ${cost_usd:.4}, {seconds_left} s left"
                ));
            }
            Event::ReviewWarning { warning, .. } => self.line.set_message(warning.clone()),
            Event::ReviewerEnded { reviewer, claims } => self.line.set_message(match claims {
                Some(claims) => format!("{reviewer} claims {claims} findings"),
                None => format!("{reviewer} could not review"),
            }),
            Event::Decided { findings } => self.line.set_message(format!("{findings} findings")),
        }
    }

    /// Takes the line away.
    pub fn end(&self) {
        self.line.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}
