//! What a person sees while a review works: one line on stderr, gone when it ends. Nothing when
//! stderr is not a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mala_pipeline::events::Event;
use std::time::Duration;

/// A line that shows what is going on.
pub struct Progress {
    line: ProgressBar,
}

impl Progress {
    /// Starts to show.
    pub fn start() -> Self {
        let shown = Self::on(ProgressDrawTarget::stderr());
        shown.line.enable_steady_tick(Duration::from_millis(120));
        shown
    }

    /// Nobody knows how much there is to do: a sign of life and words, and no bar.
    fn on(target: ProgressDrawTarget) -> Self {
        let line = ProgressBar::with_draw_target(None, target)
            .with_style(ProgressStyle::default_spinner())
            .with_message("reading the change");
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

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::TermLike;
    use std::io;
    use std::sync::{Arc, Mutex};

    /// A terminal that keeps what is written to it.
    #[derive(Debug, Clone, Default)]
    struct Paper {
        written: Arc<Mutex<String>>,
    }

    impl Paper {
        fn write(&self, text: &str) -> io::Result<()> {
            self.written.lock().unwrap().push_str(text);
            Ok(())
        }
    }

    impl TermLike for Paper {
        fn width(&self) -> u16 {
            80
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write(text)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.write(text)
        }
        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_line_says_what_goes_on_and_counts_nothing_that_nobody_knows() {
        let paper = Paper::default();
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(paper.clone()), 255);
        let progress = Progress::on(target);
        progress.line.tick();
        progress.show(&Event::ReviewerStarted { reviewer: "builtin".to_owned() });
        std::thread::sleep(Duration::from_millis(50));
        progress.line.tick();
        let written = paper.written.lock().unwrap().clone();
        assert!(written.contains("reading the change"), "{written:?}");
        assert!(written.contains("builtin reviews"), "{written:?}");
        assert!(!written.contains("0/0"), "{written:?}");
    }
}
