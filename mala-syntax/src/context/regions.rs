//! The lines around a hunk: twenty each way, grown to the function around it.

use crate::symbols::{DefinitionKind, EnclosingSymbol, FileOutline};
use mala_domain::change::{ChangedFile, Hunk, LineSpan};

/// Lines shown before and after a hunk.
const AROUND: u32 = 20;

/// A function longer than this is not shown whole.
const MAX_FUNCTION: u32 = 400;

/// A class longer than this is not shown whole.
const MAX_CLASS: u32 = 120;

/// Lines around one or several hunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextRegion {
    /// The lines at head.
    pub span: LineSpan,
    /// The function or class around the first hunk.
    pub symbol: Option<String>,
    /// The hunks inside, as indices into the file's hunks.
    pub hunks: Vec<usize>,
    /// The text of the lines.
    pub text: String,
}

/// The regions around a file's hunks; those that touch are one.
pub(super) fn around(
    file: &ChangedFile,
    text: &str,
    outline: Option<&FileOutline>,
) -> Vec<ContextRegion> {
    let lines: Vec<&str> = text.lines().collect();
    let n_lines = u32::try_from(lines.len()).unwrap_or(u32::MAX).max(1);
    let mut regions: Vec<ContextRegion> = Vec::new();
    for (index, hunk) in file.hunks.iter().enumerate() {
        let (span, symbol) = around_hunk(hunk, n_lines, outline);
        match regions.last_mut() {
            Some(last) if span.start() <= last.span.end().saturating_add(1) => {
                last.span = LineSpan::between(
                    last.span.start().min(span.start()),
                    last.span.end().max(span.end()),
                );
                last.hunks.push(index);
            }
            _ => regions.push(ContextRegion {
                span,
                symbol,
                hunks: vec![index],
                text: String::new(),
            }),
        }
    }
    for region in &mut regions {
        region.text = slice(&lines, region.span);
    }
    regions
}

fn around_hunk(
    hunk: &Hunk,
    n_lines: u32,
    outline: Option<&FileOutline>,
) -> (LineSpan, Option<String>) {
    let first = hunk.new_start.clamp(1, n_lines);
    let changed = changed_lines(hunk).unwrap_or(LineSpan::line(first));
    let start = changed.start().min(n_lines).saturating_sub(AROUND).max(1);
    let end = changed.end().saturating_add(AROUND).min(n_lines);
    let plain = LineSpan::between(start, end);
    let enclosing = outline.and_then(|outline| outline.enclosing(changed.start().min(n_lines)));
    let Some(enclosing) = enclosing else { return (plain, None) };
    let span = if is_shown_whole(&enclosing) {
        LineSpan::between(
            plain.start().min(enclosing.span.start()),
            plain.end().max(enclosing.span.end()).min(n_lines),
        )
    } else {
        plain
    };
    (span, Some(enclosing.symbol))
}

/// The lines at head between the first and the last that the hunk adds.
fn changed_lines(hunk: &Hunk) -> Option<LineSpan> {
    let mut lines = hunk.added_lines().map(|(line, _)| line);
    let first = lines.next()?;
    Some(LineSpan::between(first, lines.last().unwrap_or(first)))
}

fn is_shown_whole(enclosing: &EnclosingSymbol) -> bool {
    let limit = match enclosing.kind {
        DefinitionKind::Function | DefinitionKind::Method | DefinitionKind::Macro => MAX_FUNCTION,
        _ => MAX_CLASS,
    };
    enclosing.span.n_lines() <= limit
}

fn slice(lines: &[&str], span: LineSpan) -> String {
    let index = |line: u32| usize::try_from(line).unwrap_or(usize::MAX);
    let first = index(span.start()).saturating_sub(1);
    let last = index(span.end()).min(lines.len());
    lines.get(first..last).unwrap_or_default().join("\n")
}
