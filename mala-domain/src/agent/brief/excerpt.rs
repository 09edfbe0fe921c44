//! The changed lines of one file with the lines around them: numbered as at head, marked, redacted.
//! A group of hunks is shown in full or not at all.

use super::{BriefMaterial, BriefWidth, HunkSymbol};
use crate::agent::line_format;
use crate::agent::redacted_file::{RedactedFile, first_head, index};
use crate::change::{ChangedFile, FileStatus, Hunk, LineKind, LineSpan};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Hunks that are shown together, and their text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HunkGroup {
    pub(super) hunks: Vec<usize>,
    /// With its surroundings.
    pub(super) wide: String,
    /// Only the hunks themselves.
    pub(super) narrow: String,
}

/// Longer unchanged lines are cut. Changed lines never are.
const MAX_LINE: usize = 2_000;

/// The mark between the number of an unchanged line and its text.
const UNCHANGED: char = ' ';

/// The groups of hunks of a file, in order.
pub(super) fn pieces(
    file: &ChangedFile,
    clean: &RedactedFile,
    material: &BriefMaterial<'_>,
    width: BriefWidth,
) -> Vec<HunkGroup> {
    let unknown = Vec::new();
    let enclosing = material.enclosing.get(&file.path).unwrap_or(&unknown);
    let windows = windows(file, clean, enclosing, width);
    windows.into_iter().map(|window| piece(window, file, clean)).collect()
}

fn cut(line: &str) -> Cow<'_, str> {
    match line.char_indices().nth(MAX_LINE) {
        None => line.into(),
        Some((at, _)) => {
            format!("{} {}a long line]", line.get(..at).unwrap_or_default(), line_format::CUT_MARK)
                .into()
        }
    }
}

/// Lines at head that are shown, and the hunks among them.
struct ExcerptWindow {
    span: Option<LineSpan>,
    symbol: Option<String>,
    hunks: Vec<usize>,
}

fn windows(
    file: &ChangedFile,
    clean: &RedactedFile,
    enclosing: &[Option<HunkSymbol>],
    width: BriefWidth,
) -> Vec<ExcerptWindow> {
    let n_lines = u32::try_from(clean.head.len()).unwrap_or(u32::MAX);
    let mut windows: Vec<ExcerptWindow> = Vec::new();
    for (index, hunk) in file.hunks.iter().enumerate() {
        let around = enclosing.get(index).and_then(Option::as_ref);
        let span = (n_lines > 0).then(|| widened(hunk, n_lines, around, width));
        let symbol = around.map(|around| around.symbol.clone());
        let touches = |last: &ExcerptWindow| match (last.span, span) {
            (Some(last), Some(span)) => span.start() <= last.end().saturating_add(1),
            _ => false,
        };
        match windows.last_mut().filter(|last| touches(last)) {
            Some(last) => {
                last.span = last.span.zip(span).map(|(a, b)| {
                    LineSpan::between(a.start().min(b.start()), a.end().max(b.end()))
                });
                last.hunks.push(index);
            }
            None => windows.push(ExcerptWindow { span, symbol, hunks: vec![index] }),
        }
    }
    windows
}

/// The lines around a hunk's changes: some each way, not beyond the function around them, and all of
/// a short function.
fn widened(hunk: &Hunk, n_lines: u32, around: Option<&HunkSymbol>, width: BriefWidth) -> LineSpan {
    let changed = changed_lines(hunk, n_lines);
    let start = changed.start().saturating_sub(width.around).max(1);
    let end = changed.end().saturating_add(width.around).min(n_lines);
    let inside = |around: &&HunkSymbol| {
        around.span.contains(changed.start()) && around.span.contains(changed.end())
    };
    let Some(around) = around.filter(inside) else { return LineSpan::between(start, end) };
    let (first, last) = (around.span.start(), around.span.end().min(n_lines));
    if around.span.n_lines() <= width.whole_function {
        return LineSpan::between(first, last);
    }
    LineSpan::between(start.max(first), end.min(last))
}

/// The lines at head from the first change to the last; where lines are only removed, the place.
fn changed_lines(hunk: &Hunk, n_lines: u32) -> LineSpan {
    let mut at = first_head(hunk);
    let mut changed: Option<LineSpan> = None;
    for line in &hunk.lines {
        if line.kind != LineKind::Context {
            let here = at.clamp(1, n_lines);
            let first = changed.map_or(here, LineSpan::start);
            changed = Some(LineSpan::between(first, here));
        }
        at = at.saturating_add(u32::from(line.kind != LineKind::Removed));
    }
    changed.unwrap_or(LineSpan::line(at.clamp(1, n_lines)))
}

fn piece(window: ExcerptWindow, file: &ChangedFile, clean: &RedactedFile) -> HunkGroup {
    let narrow = narrow(&window, file, clean);
    let wide = match window.span {
        Some(span) => wide(&window, span, file, clean),
        None => narrow.clone(),
    };
    HunkGroup { hunks: window.hunks, wide, narrow }
}

/// The added lines at head, and the removed lines before each line at head.
#[derive(Default)]
struct LineMarks<'c> {
    added: Vec<u32>,
    removed_before: BTreeMap<u32, Vec<&'c str>>,
}

fn marks<'c>(window: &ExcerptWindow, file: &ChangedFile, clean: &'c RedactedFile) -> LineMarks<'c> {
    let mut marks = LineMarks::default();
    for (hunk, lines) in shown_hunks(window, file, clean) {
        let mut at = first_head(hunk);
        for (line, text) in hunk.lines.iter().zip(lines) {
            match line.kind {
                LineKind::Removed => marks.removed_before.entry(at).or_default().push(text),
                LineKind::Added => marks.added.push(at),
                LineKind::Context => {}
            }
            at = at.saturating_add(u32::from(line.kind != LineKind::Removed));
        }
    }
    marks
}

fn wide(
    window: &ExcerptWindow,
    span: LineSpan,
    file: &ChangedFile,
    clean: &RedactedFile,
) -> String {
    let marks = marks(window, file, clean);
    let mut text = heading(window);
    let mut removed = marks.removed_before.into_iter().peekable();
    for line in span.start()..=span.end() {
        while let Some((_, lines)) = removed.next_if(|(at, _)| *at <= line) {
            lines.iter().for_each(|line| removed_line(&mut text, line));
        }
        let Some(own) = clean.head.get(index(line)) else { break };
        match marks.added.binary_search(&line) {
            Ok(_) => numbered_line(&mut text, line, added_mark(file), own),
            Err(_) => numbered_line(&mut text, line, UNCHANGED, &cut(own)),
        }
    }
    removed.flat_map(|(_, lines)| lines).for_each(|line| removed_line(&mut text, line));
    text
}

fn narrow(window: &ExcerptWindow, file: &ChangedFile, clean: &RedactedFile) -> String {
    let mut text = heading(window);
    for (hunk, lines) in shown_hunks(window, file, clean) {
        let mut at = first_head(hunk);
        for (line, own) in hunk.lines.iter().zip(lines) {
            match line.kind {
                LineKind::Removed => removed_line(&mut text, own),
                LineKind::Added => numbered_line(&mut text, at, added_mark(file), own),
                LineKind::Context => numbered_line(&mut text, at, UNCHANGED, &cut(own)),
            }
            at = at.saturating_add(u32::from(line.kind != LineKind::Removed));
        }
    }
    text
}

fn shown_hunks<'f, 'c: 'f>(
    window: &'f ExcerptWindow,
    file: &'f ChangedFile,
    clean: &'c RedactedFile,
) -> impl Iterator<Item = (&'f Hunk, &'c Vec<String>)> {
    window.hunks.iter().filter_map(|index| file.hunks.get(*index).zip(clean.hunks.get(*index)))
}

fn heading(window: &ExcerptWindow) -> String {
    match &window.symbol {
        Some(symbol) => format!("@@ in {symbol}\n"),
        None => "@@\n".to_owned(),
    }
}

/// Lines of an added file have no mark.
fn added_mark(file: &ChangedFile) -> char {
    if file.status == FileStatus::Added { UNCHANGED } else { '+' }
}

// Writing to a string cannot fail.
fn numbered_line(text: &mut String, line: u32, mark: char, own: &str) {
    writeln!(text, "{}", line_format::brief_line(line, mark, own)).unwrap_or_default();
}

fn removed_line(text: &mut String, own: &str) {
    writeln!(text, "{}", line_format::removed_line(own)).unwrap_or_default();
}
