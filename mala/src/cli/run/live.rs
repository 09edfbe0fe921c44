//! The progress of a run: on a terminal, a line per piece of work with its stage, time, cost and the coder's last
//! line; elsewhere, a line of text per event.

use crate::console::{self, harmless};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use mala_pipeline::run::RunNotice;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often the elapsed time is drawn again.
const TICK: Duration = Duration::from_secs(1);

/// Shows the progress of a run on stderr.
pub(super) struct LiveView {
    /// The lines of the works that are in progress; `None` without a terminal.
    lines: Option<MultiProgress>,
    works: Mutex<BTreeMap<String, WorkLine>>,
    /// The last step of each piece of work in progress that was printed as a line of text.
    printed: Mutex<BTreeMap<String, String>>,
}

/// The line of a piece of work.
struct WorkLine {
    bar: ProgressBar,
    doing: String,
    cost_usd: f64,
    said: String,
}

impl WorkLine {
    fn message(&self, work: &str) -> String {
        let cost =
            if self.cost_usd > 0.0 { format!(" ${:.2}", self.cost_usd) } else { String::new() };
        let said = if self.said.is_empty() { String::new() } else { format!(" | {}", self.said) };
        format!("{work}: {}{cost}{said}", self.doing)
    }
}

impl LiveView {
    /// Starts the view.
    pub(super) fn start() -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        Self::on(is_terminal.then(ProgressDrawTarget::stderr))
    }

    fn on(target: Option<ProgressDrawTarget>) -> Self {
        let lines = target.map(MultiProgress::with_draw_target);
        Self { lines, works: Mutex::default(), printed: Mutex::default() }
    }

    /// Shows a notice.
    pub(super) fn show(&self, notice: RunNotice) {
        let Some(lines) = &self.lines else {
            if self.is_new(&notice) {
                console::say(&plain(&notice));
            }
            return;
        };
        let mut works = self.works.lock().unwrap_or_else(PoisonError::into_inner);
        match notice {
            RunNotice::Step { work, doing, cost_usd } => {
                let line = works.entry(work.clone()).or_insert_with(|| WorkLine::added_to(lines));
                (line.doing, line.cost_usd) = (doing, cost_usd);
                line.bar.set_message(line.message(&harmless(&work)));
            }
            RunNotice::Said { work, line: said } => {
                if let Some(line) = works.get_mut(&work) {
                    line.said = harmless(&said).replace('\n', " ");
                    line.bar.set_message(line.message(&harmless(&work)));
                }
            }
            RunNotice::Ended { ref work, .. } => {
                if let Some(line) = works.remove(work) {
                    line.bar.finish_and_clear();
                    lines.remove(&line.bar);
                }
                say_above(lines, &plain(&notice));
            }
            RunNotice::Warning(_) => say_above(lines, &plain(&notice)),
        }
    }

    /// Whether a notice says more than the last one of its work: two steps may have the same name.
    fn is_new(&self, notice: &RunNotice) -> bool {
        let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        match notice {
            RunNotice::Step { work, doing, .. } => {
                printed.insert(work.clone(), doing.clone()).as_ref() != Some(doing)
            }
            RunNotice::Ended { work, .. } => {
                printed.remove(work);
                true
            }
            _ => true,
        }
    }

    /// Removes all lines.
    pub(super) fn end(&self) {
        self.works.lock().unwrap_or_else(PoisonError::into_inner).clear();
        if let Some(lines) = &self.lines {
            // Errors of the progress lines are ignored.
            lines.clear().unwrap_or_default();
        }
    }
}

impl WorkLine {
    fn added_to(lines: &MultiProgress) -> Self {
        let style = ProgressStyle::with_template("{elapsed:>4} {wide_msg}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
        let bar = lines.add(ProgressBar::new_spinner().with_style(style));
        bar.enable_steady_tick(TICK);
        Self { bar, doing: String::new(), cost_usd: 0.0, said: String::new() }
    }
}

fn say_above(lines: &MultiProgress, text: &str) {
    lines.println(text).unwrap_or_default();
}

/// A notice as a line of text.
fn plain(notice: &RunNotice) -> String {
    harmless(&match notice {
        RunNotice::Step { work, doing, .. } => format!("{work}: {doing}"),
        RunNotice::Said { work, line } => format!("{work} | {line}"),
        RunNotice::Ended { work, outcome } => format!("{work}: {outcome}"),
        RunNotice::Warning(text) => format!("warning: {text}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::test_terminal::TestTerminal;

    #[test]
    fn a_line_shows_stage_cost_and_the_last_words_of_the_coder() {
        let terminal = TestTerminal::default();
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(terminal.clone()), 255);
        let view = LiveView::on(Some(target));
        let work = || "bd-1".to_owned();
        view.show(RunNotice::Step { work: work(), doing: "coding".to_owned(), cost_usd: 0.5 });
        view.show(RunNotice::Said { work: work(), line: "reading\u{1b}[31m a.rs".to_owned() });
        std::thread::sleep(Duration::from_millis(20));
        view.show(RunNotice::Step { work: work(), doing: "reviewing".to_owned(), cost_usd: 0.5 });
        let shown = terminal.text();
        assert!(shown.contains("bd-1: coding $0.50"), "{shown:?}");
        assert!(!shown.contains("\u{1b}[31m"), "{shown:?}");
        view.show(RunNotice::Ended { work: work(), outcome: "succeeded".to_owned() });
        assert!(terminal.text().contains("bd-1: succeeded"), "{:?}", terminal.text());
        view.end();
    }
}
