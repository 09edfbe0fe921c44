//! Shows the progress of a review as one line on stderr, if stderr is a terminal.

use crate::console;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use mala_pipeline::events::ReviewEvent;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The progress line of a review.
pub struct ReviewProgress {
    line: ProgressBar,
    usage: UsageText,
}

/// The usage so far, and the deadline.
type UsageText = Arc<Mutex<Option<(String, Instant)>>>;

impl ReviewProgress {
    /// Starts the line.
    pub fn start() -> Self {
        let shown = Self::on(ProgressDrawTarget::stderr());
        shown.line.enable_steady_tick(Duration::from_millis(120));
        shown
    }

    /// The total work is unknown, so there is a spinner and no bar.
    fn on(target: ProgressDrawTarget) -> Self {
        let usage = UsageText::default();
        let shown = usage.clone();
        let style = ProgressStyle::with_template("{spinner} {msg}{usage}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner())
            .with_key("usage", move |_: &ProgressState, out: &mut dyn Write| {
                if let Some((words, end)) = &*shown.lock().unwrap_or_else(PoisonError::into_inner) {
                    let left = end.saturating_duration_since(Instant::now()).as_secs();
                    // Errors of the progress line are ignored.
                    write!(out, " · {words}, {left} s left").unwrap_or_default();
                }
            });
        let line = ProgressBar::with_draw_target(None, target)
            .with_style(style)
            .with_message("reading the change");
        Self { line, usage }
    }

    /// Shows an event.
    pub fn show(&self, event: &ReviewEvent) {
        match event {
            ReviewEvent::Scoped { files, hunks } => {
                self.line.set_message(format!("{hunks} hunks in {files} files"));
            }
            ReviewEvent::ReviewerStarted { reviewer } => {
                self.line.set_message(format!("{reviewer} is reviewing"));
            }
            ReviewEvent::PassStarted { pass } => self.line.set_message(format!("pass: {pass}")),
            ReviewEvent::ToolCalled { tool } => {
                self.line.set_message(format!("tool: {}", console::harmless(tool)));
            }
            ReviewEvent::Spent { llm_calls, tool_calls, tokens, cost_usd, seconds_left } => {
                let words = format!(
                    "{llm_calls} model calls, {tool_calls} tool calls, {tokens} tokens, \
                     ${cost_usd:.4}"
                );
                let end = Instant::now() + Duration::from_secs(*seconds_left);
                *self.usage.lock().unwrap_or_else(PoisonError::into_inner) = Some((words, end));
                self.line.tick();
            }
            ReviewEvent::ReviewWarning { warning, .. } => {
                self.line.set_message(console::harmless(warning).replace('\n', " "));
            }
            ReviewEvent::ReviewerEnded { reviewer, claims } => {
                self.line.set_message(match claims {
                    Some(claims) => format!("{reviewer}: {claims} findings"),
                    None => format!("{reviewer} could not review"),
                })
            }
            ReviewEvent::Verifying { findings } => {
                self.line.set_message(format!("checking {findings} findings"));
            }
            ReviewEvent::Decided { findings } => {
                self.line.set_message(format!("{findings} findings"))
            }
        }
    }

    /// Removes the line.
    pub fn end(&self) {
        self.line.finish_and_clear();
    }
}

impl Drop for ReviewProgress {
    fn drop(&mut self) {
        self.end();
    }
}

/// A terminal for tests.
#[cfg(test)]
pub(crate) mod test_terminal {
    use indicatif::TermLike;
    use std::io;
    use std::sync::{Arc, Mutex};

    /// A terminal that stores its output.
    #[derive(Debug, Clone, Default)]
    pub(crate) struct TestTerminal {
        written: Arc<Mutex<String>>,
    }

    impl TestTerminal {
        /// All of its output.
        pub(crate) fn text(&self) -> String {
            self.written.lock().unwrap().clone()
        }

        fn write(&self, text: &str) -> io::Result<()> {
            self.written.lock().unwrap().push_str(text);
            Ok(())
        }
    }

    impl TermLike for TestTerminal {
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
}

#[cfg(test)]
mod tests {
    use super::test_terminal::TestTerminal;
    use super::*;

    #[test]
    fn the_line_shows_events_and_no_total() {
        let terminal = TestTerminal::default();
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(terminal.clone()), 255);
        let progress = ReviewProgress::on(target);
        progress.line.tick();
        progress.show(&ReviewEvent::ReviewerStarted { reviewer: "builtin".to_owned() });
        std::thread::sleep(Duration::from_millis(50));
        progress.line.tick();
        let written = terminal.text();
        assert!(written.contains("reading the change"), "{written:?}");
        assert!(written.contains("builtin is reviewing"), "{written:?}");
        assert!(!written.contains("0/0"), "{written:?}");
    }

    #[test]
    fn usage_stays_visible_and_names_are_escaped() {
        let terminal = TestTerminal::default();
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(terminal.clone()), 255);
        let progress = ReviewProgress::on(target);
        progress.show(&ReviewEvent::Spent {
            llm_calls: 1,
            tool_calls: 2,
            tokens: 300,
            cost_usd: 0.25,
            seconds_left: 40,
        });
        progress.show(&ReviewEvent::ToolCalled { tool: "read\u{1b}]0;owned\u{7}_file".to_owned() });
        std::thread::sleep(Duration::from_millis(50));
        progress.line.tick();
        let written = terminal.text();
        let last = written.rsplit("tool: ").next().unwrap_or_default();
        assert!(last.contains("300 tokens, $0.2500, "), "{written:?}");
        assert!(last.contains(" s left"), "{written:?}");
        assert!(!written.contains("\u{1b}]0;") && !written.contains('\u{7}'), "{written:?}");
    }
}
