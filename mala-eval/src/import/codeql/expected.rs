//! The results in an `.expected` file: tables of cells between bars.

use mala_domain::change::LineSpan;

/// A result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ExpectedRow {
    /// The 1-based line in the `.expected` file.
    pub(super) line: usize,
    /// The file, below the folder of the test.
    pub(super) file: String,
    /// Its lines.
    pub(super) span: LineSpan,
    /// The message of the query.
    pub(super) message: String,
}

/// The results of a query. Other tables, such as the steps of a path, have a heading.
pub(super) fn rows(text: &str) -> Vec<ExpectedRow> {
    let mut are_results = true;
    let mut rows = Vec::new();
    for (at, line) in text.lines().enumerate() {
        match line.trim().strip_prefix('|') {
            Some(cells) if are_results => rows.extend(row(at + 1, cells)),
            Some(_) => {}
            None => are_results = matches!(line.trim(), "#select" | "select" | "problems" | ""),
        }
    }
    rows
}

fn row(line: usize, cells: &str) -> Option<ExpectedRow> {
    let mut cells = cells.split(" | ").map(|cell| cell.trim().trim_end_matches('|').trim());
    let (file, span) = location(cells.next()?)?;
    cells.next()?;
    // A path has two more places with their texts before the message.
    let mut message = cells.next()?;
    while location(message).is_some() {
        cells.next()?;
        message = cells.next()?;
    }
    // For each gap in the message: a location, the text there, and its name.
    let mut texts = cells.skip(2).step_by(3);
    let mut parts = message.split("$@");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shown.push_str(texts.next().unwrap_or("it"));
        shown.push_str(part);
    }
    Some(ExpectedRow { line, file: file.to_owned(), span, message: shown })
}

/// `path:line:column:line:column`.
fn location(cell: &str) -> Option<(&str, LineSpan)> {
    let mut parts = cell.rsplitn(5, ':');
    let mut number = || parts.next()?.parse::<u32>().ok();
    let (_, end, _, start) = (number()?, number()?, number()?, number()?);
    Some((parts.next()?, LineSpan::new(start, end).unwrap_or(LineSpan::line(start))))
}
