//! Tables of a page. A missing value is a dash with a reason, never a zero.

use crate::bootstrap::ConfidenceInterval;
use mala_domain::render::short_line;
use maud::{Markup, html};
use std::fmt::Display;

/// The most characters of a name in a table.
const MAX_LABEL: usize = 120;

/// A name from outside, short enough for a table.
pub(super) fn label(text: &str) -> String {
    short_line(text, MAX_LABEL)
}

/// One cell of a table.
pub(super) struct GridCell {
    content: Markup,
    class: &'static str,
}

impl GridCell {
    pub(super) fn of(content: Markup) -> Self {
        Self { content, class: "" }
    }

    /// A number or a few words, aligned to the right.
    pub(super) fn text(text: impl Display) -> Self {
        Self { content: html! { (text.to_string()) }, class: "n" }
    }

    /// A name from outside.
    pub(super) fn label(text: &str) -> Self {
        Self::of(html! { bdi { (label(text)) } })
    }

    /// `0.444`, or a dash.
    pub(super) fn rate(value: Option<f64>) -> Self {
        Self { content: rate(value), class: "n" }
    }

    /// `0.444` with its interval, or a dash.
    pub(super) fn interval(value: Option<f64>, interval: Option<ConfidenceInterval>) -> Self {
        let content = html! {
            (rate(value))
            @if let (Some(_), Some(ConfidenceInterval { low, high })) = (value, interval) {
                span class="range" { (format!("{low:.2} to {high:.2}")) }
            }
        };
        Self { content, class: "n" }
    }

    /// A value that may be missing, with the reason.
    pub(super) fn known(value: Option<String>, otherwise: &'static str) -> Self {
        match value {
            Some(text) => Self::text(text),
            None => Self { content: absent(otherwise), class: "n" },
        }
    }

    pub(super) fn with_class(self, class: &'static str) -> Self {
        Self { class, ..self }
    }
}

/// `0.444`, or a dash with a reason.
fn rate(value: Option<f64>) -> Markup {
    value.map_or_else(|| absent("undefined"), |value| html! { (format!("{value:.3}")) })
}

/// A dash, with the reason as a tooltip and for screen readers.
fn absent(why: &'static str) -> Markup {
    html! { span class="absent" title=(why) { "—" span class="hidden" { (why) } } }
}

/// A table.
pub(super) struct HtmlGrid {
    caption: String,
    columns: Vec<String>,
    rows: Vec<Vec<GridCell>>,
}

impl HtmlGrid {
    pub(super) fn new(caption: impl Into<String>, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        Self { caption: caption.into(), columns, rows: Vec::new() }
    }

    /// Adds a row; its first cell is its name.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = GridCell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table, in a box that scrolls when the page is narrow.
    pub(super) fn markup(self) -> Markup {
        let first = self.rows.first();
        let class = |at: usize| first.and_then(|row| row.get(at)).map_or("", |cell| cell.class);
        html! {
            div class="scroll" tabindex="0" role="region" aria-label=(self.caption) {
                table {
                    caption { (self.caption) }
                    thead {
                        tr {
                            @for (at, name) in self.columns.iter().enumerate() {
                                @if name.is_empty() {
                                    td class=(class(at)) {}
                                } @else {
                                    th class=(class(at)) scope="col" { (name) }
                                }
                            }
                        }
                    }
                    tbody {
                        @for cells in &self.rows {
                            tr {
                                @for (at, cell) in cells.iter().enumerate() {
                                    @if at == 0 {
                                        th scope="row" class=(cell.class) { (cell.content) }
                                    } @else {
                                        td class=(cell.class) { (cell.content) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The numbers behind a plot, collapsed.
pub(super) fn numbers(grid: HtmlGrid) -> Markup {
    html! { details class="numbers" { summary { "The numbers" } (grid.markup()) } }
}
