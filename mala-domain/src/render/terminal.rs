//! The report for a terminal: findings by file with code frames, worst first, then coverage and
//! warnings, and the verdict on the last line.

mod finding;
mod footer;
mod frame;
#[cfg(test)]
mod tests;
mod tracking;
mod wrap;

use super::ReportView;
use super::ranking::{self, FileFindings, FindingLevel};
use super::visible::{one_line, visible};
use super::wording::{self, PriorityCounts};
use crate::finding::Finding;
use crate::verdict::{Outcome, Verdict};
use anstyle::{AnsiColor, Style};

/// The abilities of the terminal, and how much to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalOptions {
    /// Width in columns.
    pub width: usize,
    /// Whether to use colours.
    pub color: bool,
    /// Whether to draw frames with Unicode characters.
    pub unicode: bool,
    /// Whether to list items that are otherwise only counted.
    pub verbose: bool,
    /// Whether to list findings that do not count: late, waived, disputed.
    pub all: bool,
    /// Maximum number of findings to show.
    pub max_findings: usize,
}

impl Default for TerminalOptions {
    fn default() -> Self {
        Self {
            width: 80,
            color: false,
            unicode: true,
            verbose: false,
            all: false,
            max_findings: 50,
        }
    }
}

impl TerminalOptions {
    fn ellipsis(&self) -> &'static str {
        if self.unicode { "…" } else { "..." }
    }

    fn styles(&self) -> TextStyles {
        TextStyles::new(self)
    }
}

/// Renders the report as plain text with 80 columns.
pub fn plain(view: &ReportView<'_>) -> String {
    render(view, &TerminalOptions::default())
}

/// Renders the report for a terminal.
pub fn render(view: &ReportView<'_>, options: &TerminalOptions) -> String {
    let options = TerminalOptions { width: options.width.clamp(40, 400), ..*options };
    let mut out = TerminalPage::new(options);
    out.paragraph(&opening(view));
    findings(view, &mut out);
    footer::write(view.report, &mut out);
    verdict(view, &mut out);
    out.text
}

/// The summary, or the names of the reviewers.
fn opening(view: &ReportView<'_>) -> String {
    if !view.report.summary.trim().is_empty() {
        return view.report.summary.clone();
    }
    let names: Vec<&str> =
        view.report.reviewers.iter().map(|reviewer| reviewer.reviewer.as_str()).collect();
    match names.as_slice() {
        [] => "No reviewer was run.".to_owned(),
        names => format!("Reviewers: {}.", names.join(", ")),
    }
}

fn findings(view: &ReportView<'_>, out: &mut TerminalPage) {
    let ranked = ranking::worst_first(view.report);
    let n_shown = ranked.len().min(out.options.max_findings);
    let shown = ranked.get(..n_shown).unwrap_or_default();
    for (title, all) in tracking::groups(view.report, &ranked) {
        let is_shown = |it: &&&Finding| shown.iter().any(|other| std::ptr::eq(*other, **it));
        let listed: Vec<&Finding> = all.iter().filter(is_shown).copied().collect();
        if let Some(title) = title.filter(|_| !listed.is_empty()) {
            let line = format!("{title}: {}", wording::counted(all.len(), "finding"));
            let styles = out.options.styles();
            out.blank();
            out.wrapped(&line, 0, |line| styles.bold(line));
        }
        for group in ranking::by_file(&listed) {
            out.blank();
            file_line(&group, &all, out);
            for item in &group.findings {
                out.blank();
                finding::write(item, view.sources.get(&item.file).map(String::as_str), out);
            }
        }
    }
    let n_more = ranked.len() - n_shown;
    if n_more > 0 {
        let location = view.report.review_log_path.as_deref().map_or_else(
            || "use --format json to see all".to_owned(),
            |path| format!("see {} or use --format json for all", one_line(path)),
        );
        out.blank();
        let dots = out.options.ellipsis();
        out.paragraph(&format!("{dots} and {} more ({location})", wording::with_commas(n_more)));
    }
}

fn file_line(group: &FileFindings<'_>, all: &[&Finding], out: &mut TerminalPage) {
    let all: Vec<&Finding> = all.iter().copied().filter(|it| &it.file == group.file).collect();
    let mut words = wording::counted(all.len(), "finding");
    let priority_counts = PriorityCounts::of(all);
    if priority_counts.total() > 0 {
        words.push_str(&format!(" ({priority_counts})"));
    }
    let styles = out.options.styles();
    let path = one_line(&group.file.to_string());
    if wrap::columns(&path) + 2 + wrap::columns(&words) <= out.options.width {
        out.line(&format!("{}  {}", styles.bold(&path), styles.dim(&words)));
    } else {
        out.wrapped(&path, 0, |line| styles.bold(line));
        out.wrapped(&words, 2, |line| styles.dim(line));
    }
}

fn verdict(view: &ReportView<'_>, out: &mut TerminalPage) {
    let headline = wording::headline(view.report);
    let styles = out.options.styles();
    let is_clean = view.report.verdict == Some(Verdict::Pass);
    let word = match view.report.outcome {
        Outcome::Passed if is_clean => styles.success(headline.word),
        Outcome::Passed => styles.level(FindingLevel::Warning, headline.word),
        Outcome::Blocked | Outcome::CouldNotReview(_) => {
            styles.level(FindingLevel::Error, headline.word)
        }
    };
    out.blank();
    out.labelled(&word, headline.word, &headline.reason);
}

/// The output. All text is escaped and wrapped to the width.
struct TerminalPage {
    options: TerminalOptions,
    text: String,
}

impl TerminalPage {
    fn new(options: TerminalOptions) -> Self {
        Self { options, text: String::new() }
    }

    /// Adds a blank line, unless one precedes or the output is empty.
    fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Adds a line that is already escaped and short enough.
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Adds wrapped text.
    fn paragraph(&mut self, text: &str) {
        self.wrapped(text, 0, str::to_owned);
    }

    /// Adds wrapped and indented text, each line styled.
    fn wrapped(&mut self, text: &str, indent: usize, style: impl Fn(&str) -> String) {
        let width = self.options.width.saturating_sub(indent);
        for line in wrap::wrap(&visible(text), width) {
            if line.is_empty() {
                self.text.push('\n');
            } else {
                let line = format!("{}{}", " ".repeat(indent), style(&line));
                self.line(&line);
            }
        }
    }

    /// Adds a label with wrapped text next to it; `bare` is the label without colours.
    fn labelled(&mut self, label: &str, bare: &str, text: &str) {
        let indent = wrap::columns(bare) + 2;
        let width = self.options.width.saturating_sub(indent);
        let text = visible(text);
        let lines = wrap::wrap(&text, width);
        let mut lines = lines.iter();
        let first = lines.next().map(String::as_str).unwrap_or_default();
        self.line(format!("{label}  {first}").trim_end());
        for line in lines {
            self.line(format!("{}{line}", " ".repeat(indent)).trim_end());
        }
    }
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// Applies styles to text; does nothing if colours are off.
#[derive(Debug, Clone, Copy)]
struct TextStyles {
    on: bool,
}

impl TextStyles {
    fn new(options: &TerminalOptions) -> Self {
        Self { on: options.color }
    }

    fn bold(self, text: &str) -> String {
        self.styled(BOLD, text)
    }

    fn dim(self, text: &str) -> String {
        self.styled(DIM, text)
    }

    fn level(self, level: FindingLevel, text: &str) -> String {
        let color = match level {
            FindingLevel::Error => AnsiColor::Red,
            FindingLevel::Warning => AnsiColor::Yellow,
            FindingLevel::Note => AnsiColor::Cyan,
        };
        self.styled(color.on_default().bold(), text)
    }

    fn success(self, text: &str) -> String {
        self.styled(AnsiColor::Green.on_default().bold(), text)
    }

    fn styled(self, style: Style, text: &str) -> String {
        if !self.on {
            return text.to_owned();
        }
        format!("{}{text}{}", style.render(), style.render_reset())
    }
}
