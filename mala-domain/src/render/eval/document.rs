//! A document of headings, sentences, tables and code, and its two forms.

use crate::render::markdown::escape;
use crate::render::visible::{one_line, visible};
use unicode_width::UnicodeWidthStr;

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// A heading.
    Heading(String),
    /// A sentence or two.
    Line(String),
    /// Several sentences, each on its own.
    Items(Vec<String>),
    /// Numbers in columns.
    Table(Table),
    /// Text as it is.
    Code(String),
}

/// Numbers in columns. The first column is a name; the others are set to the right.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    pub fn new(columns: &[&str]) -> Self {
        let columns = columns.iter().map(|name| (*name).to_owned()).collect();
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| one_line(&cell)).collect());
    }

    fn text(&self) -> String {
        let all = || std::iter::once(&self.columns).chain(&self.rows);
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|at| all().filter_map(|row| row.get(at)).map(|cell| cell.width()).max())
            .map(Option::unwrap_or_default)
            .collect();
        let mut out = String::new();
        for row in all() {
            let mut line = String::new();
            for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let pad = " ".repeat(width.saturating_sub(cell.width()));
                match at {
                    0 => line.push_str(&format!("{cell}{pad}")),
                    _ => line.push_str(&format!("  {pad}{cell}")),
                }
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }

    fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| escape::inline(cell)).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule =
            self.columns.iter().enumerate().map(|(at, _)| if at == 0 { "---" } else { "--:" });
        let rule = format!("| {} |\n", rule.collect::<Vec<_>>().join(" | "));
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        line(&self.columns) + &rule + &rows
    }
}

/// Something to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// Its parts, in order.
    pub blocks: Vec<Block>,
}

impl Document {
    pub(super) fn heading(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Heading(text.into()));
    }

    pub(super) fn line(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Line(text.into()));
    }

    /// Nothing when there are none.
    pub(super) fn items(&mut self, items: Vec<String>) {
        self.blocks.extend((!items.is_empty()).then_some(Block::Items(items)));
    }

    /// Nothing when it has no rows.
    pub(super) fn table(&mut self, table: Table) {
        self.blocks.extend((!table.rows.is_empty()).then_some(Block::Table(table)));
    }

    pub(super) fn code(&mut self, text: &str) {
        self.blocks.extend((!text.is_empty()).then(|| Block::Code(text.to_owned())));
    }

    /// As plain text.
    pub fn text(&self) -> String {
        let parts: Vec<String> = self
            .blocks
            .iter()
            .map(|block| match block {
                Block::Heading(text) | Block::Line(text) => format!("{}\n", one_line(text)),
                Block::Items(items) => {
                    items.iter().map(|item| format!("- {}\n", one_line(item))).collect()
                }
                Block::Table(table) => table.text(),
                Block::Code(text) => {
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
                Block::Heading(text) => format!("## {}\n", escape::inline(text)),
                Block::Line(text) => format!("{}\n", escape::inline(text)),
                Block::Items(items) => {
                    items.iter().map(|item| format!("- {}\n", escape::inline(item))).collect()
                }
                Block::Table(table) => table.markdown(),
                Block::Code(text) => escape::fence(text, ""),
            })
            .collect();
        parts.join("\n")
    }
}
