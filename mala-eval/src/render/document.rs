//! A document of headings, lines, tables and code, rendered as text or Markdown.

use mala_domain::render::markdown::escape;
use mala_domain::render::{one_line, visible};
use std::borrow::Cow;
use std::ops::Range;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentBlock {
    /// A heading.
    Heading(String),
    /// A sentence or two.
    Line(String),
    /// Several sentences, each on its own.
    Items(Vec<String>),
    /// Numbers in columns.
    TextTable(TextTable),
    /// Text as it is.
    Code(String),
}

/// A table of numbers. The first columns are names; the others are aligned to the right.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextTable {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// How many columns are names.
    pub n_names: usize,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl TextTable {
    /// A table with these columns, the first of which is a name.
    pub fn new(columns: &[&str]) -> Self {
        let columns = columns.iter().map(|name| (*name).to_owned()).collect();
        Self { columns, n_names: 1, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| one_line(&cell)).collect());
    }

    /// The rows as aligned columns. Columns that do not fit in the width continue below, after the
    /// first column again.
    fn text(&self, width: usize) -> String {
        let all = || std::iter::once(&self.columns).chain(&self.rows);
        let mut widths: Vec<usize> = (0..self.columns.len())
            .map(|at| all().filter_map(|row| row.get(at)).map(|cell| cell.width()).max())
            .map(Option::unwrap_or_default)
            .collect();
        if let Some(first) = widths.first_mut() {
            *first = (*first).min(width / 2);
        }
        let parts: Vec<String> = folded(&widths, width)
            .into_iter()
            .map(|columns| {
                let is_first = columns.start <= 1;
                let rows = all().filter(|row| is_first || row.get(columns.start).is_some());
                rows.map(|row| self.line(row, &widths, columns.clone())).collect()
            })
            .collect();
        parts.join("\n")
    }

    /// The first cell and those of these columns.
    fn line(&self, row: &[String], widths: &[usize], columns: Range<usize>) -> String {
        let width = |at: usize| widths.get(at).copied().unwrap_or_default();
        let pad = |at: usize, cell: &str| " ".repeat(width(at).saturating_sub(cell.width()));
        let first = fitted(row.first().map_or("", String::as_str), width(0));
        let mut out = format!("{first}{}", pad(0, &first));
        for at in columns {
            let Some(cell) = row.get(at) else { break };
            let pad = pad(at, cell);
            out.push_str("  ");
            let (before, after) = if at < self.n_names { (cell, &pad) } else { (&pad, cell) };
            out.push_str(before);
            out.push_str(after);
        }
        format!("{}\n", out.trim_end())
    }

    fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| in_cell(cell)).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule =
            (0..self.columns.len()).map(|at| if at < self.n_names.max(1) { "---" } else { "--:" });
        let rule = format!("| {} |\n", rule.collect::<Vec<_>>().join(" | "));
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        line(&self.columns) + &rule + &rows
    }
}

/// A cell in Markdown. A number stays as it is: in a table it starts no list.
fn in_cell(text: &str) -> String {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    match text.split_at_checked(end) {
        Some((number, "")) => number.to_owned(),
        Some((number, rest)) if !number.is_empty() => {
            let space = if rest.starts_with(' ') { " " } else { "" };
            format!("{number}{space}{}", escape::inline(rest))
        }
        _ => escape::inline(text),
    }
}

/// Splits the columns, except the first one, into groups that fit side by side.
fn folded(widths: &[usize], width: usize) -> Vec<Range<usize>> {
    let first = widths.first().copied().unwrap_or_default();
    let mut parts = Vec::new();
    let (mut start, mut used) = (1, first);
    for (at, own) in widths.iter().enumerate().skip(1) {
        if at > start && used + 2 + own > width {
            parts.push(start..at);
            (start, used) = (at, first);
        }
        used += 2 + own;
    }
    parts.push(start..widths.len().max(1));
    parts
}

/// A name, cut with `…` to fit.
fn fitted(text: &str, width: usize) -> Cow<'_, str> {
    if text.width() <= width {
        return Cow::Borrowed(text);
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += c.width().unwrap_or_default();
        used <= width
    };
    Cow::Owned(text.chars().take_while(fits).chain(['…']).collect())
}

/// Something to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// Its parts, in order.
    pub blocks: Vec<DocumentBlock>,
}

impl Document {
    pub(super) fn heading(&mut self, text: impl Into<String>) {
        self.blocks.push(DocumentBlock::Heading(text.into()));
    }

    pub(super) fn line(&mut self, text: impl Into<String>) {
        self.blocks.push(DocumentBlock::Line(text.into()));
    }

    /// Adds a list, unless it is empty.
    pub(super) fn items(&mut self, items: Vec<String>) {
        self.blocks.extend((!items.is_empty()).then_some(DocumentBlock::Items(items)));
    }

    /// Nothing when it has no rows.
    pub(super) fn table(&mut self, table: TextTable) {
        self.blocks.extend((!table.rows.is_empty()).then_some(DocumentBlock::TextTable(table)));
    }

    pub(super) fn code(&mut self, text: &str) {
        self.blocks.extend((!text.is_empty()).then(|| DocumentBlock::Code(text.to_owned())));
    }

    /// As plain text, with tables of at most this many columns of characters where that can be.
    pub fn text(&self, width: usize) -> String {
        let parts: Vec<String> = self
            .blocks
            .iter()
            .map(|block| match block {
                DocumentBlock::Heading(text) | DocumentBlock::Line(text) => {
                    format!("{}\n", one_line(text))
                }
                DocumentBlock::Items(items) => {
                    items.iter().map(|item| format!("- {}\n", one_line(item))).collect()
                }
                DocumentBlock::TextTable(table) => table.text(width),
                DocumentBlock::Code(text) => {
                    visible(text).lines().map(|line| format!("    {line}\n")).collect()
                }
            })
            .collect();
        parts.join("\n")
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let parts: Vec<String> = self
            .blocks
            .iter()
            .map(|block| match block {
                DocumentBlock::Heading(text) => format!("## {}\n", escape::inline(text)),
                DocumentBlock::Line(text) => format!("{}\n", escape::inline(text)),
                DocumentBlock::Items(items) => {
                    items.iter().map(|item| format!("- {}\n", escape::inline(item))).collect()
                }
                DocumentBlock::TextTable(table) => table.markdown(),
                DocumentBlock::Code(text) => escape::fence(text, ""),
            })
            .collect();
        parts.join("\n")
    }
}
