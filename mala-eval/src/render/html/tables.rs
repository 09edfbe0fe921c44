//! Tables of a page. What is not there is a dash with words, never a zero.

use super::markup::{Markup, tag};
use crate::bootstrap::Interval;
use mala_domain::render::short_line;

/// The most characters of a name in a table.
const MAX_LABEL: usize = 120;

/// A name from outside, short enough for a table.
pub(super) fn label(text: &str) -> String {
    short_line(text, MAX_LABEL)
}

/// What stands in one field of a table.
pub(super) struct Cell {
    content: Markup,
    class: &'static str,
}

impl Cell {
    /// Something of our own.
    pub(super) fn of(content: impl Into<Markup>) -> Self {
        Self { content: content.into(), class: "" }
    }

    /// A number or a few words, set to the right.
    pub(super) fn text(text: impl std::fmt::Display) -> Self {
        Self { content: Markup::text(text), class: "n" }
    }

    /// A name of our own.
    pub(super) fn name(text: impl std::fmt::Display) -> Self {
        Self { content: Markup::text(text), class: "" }
    }

    /// A name from outside.
    pub(super) fn label(text: &str) -> Self {
        Self::of(tag("bdi").text(label(text)))
    }

    pub(super) fn number(number: u64) -> Self {
        Self::text(number)
    }

    /// `0.444`, or a dash.
    pub(super) fn rate(value: Option<f64>) -> Self {
        Self { content: rate(value), class: "n" }
    }

    /// `0.444` with where it may lie, or a dash.
    pub(super) fn interval(value: Option<f64>, interval: Option<Interval>) -> Self {
        let mut content = rate(value);
        if let (Some(_), Some(Interval { low, high })) = (value, interval) {
            let text = format!("{low:.2} to {high:.2}");
            content.push(tag("span").class("range").text(text));
        }
        Self { content, class: "n" }
    }

    /// A value that may not be there, with why.
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

/// `0.444`, or a dash with words.
pub(super) fn rate(value: Option<f64>) -> Markup {
    value.map_or_else(|| absent("undefined"), |value| Markup::text(format!("{value:.3}")))
}

/// A dash, and for those who point at it or hear it, why.
pub(super) fn absent(why: &'static str) -> Markup {
    let words = tag("span").class("hidden").text(why);
    tag("span").class("absent").attr("title", why).text("—").child(words).into()
}

/// A table.
pub(super) struct Grid {
    caption: String,
    columns: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

impl Grid {
    pub(super) fn new(caption: impl Into<String>, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        Self { caption: caption.into(), columns, rows: Vec::new() }
    }

    /// Adds a row; its first cell is its name.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table, in a box of its own that scrolls when the page is narrow.
    pub(super) fn markup(self) -> Markup {
        let first = self.rows.first();
        let class = |at: usize| first.and_then(|row| row.get(at)).map_or("", |cell| cell.class);
        let head = self.columns.iter().enumerate().map(|(at, name)| {
            let kind = if name.is_empty() { "td" } else { "th" };
            let cell = tag(kind).class(class(at)).text(name);
            if name.is_empty() { cell } else { cell.attr("scope", "col") }
        });
        let head = tag("thead").child(tag("tr").children(head));
        let body = self.rows.into_iter().map(|cells| {
            let cells = cells.into_iter().enumerate().map(|(at, cell)| match at {
                0 => tag("th").attr("scope", "row").class(cell.class).child(cell.content),
                _ => tag("td").class(cell.class).child(cell.content),
            });
            tag("tr").children(cells)
        });
        let body = tag("tbody").children(body);
        let table = tag("table").child(tag("caption").text(&self.caption)).child(head).child(body);
        tag("div")
            .class("scroll")
            .attr("tabindex", "0")
            .attr("role", "region")
            .attr("aria-label", &self.caption)
            .child(table)
            .into()
    }
}

/// The numbers behind a plot, to open.
pub(super) fn numbers(grid: Grid) -> Markup {
    let summary = tag("summary").text("The numbers");
    tag("details").class("numbers").child(summary).child(grid.markup()).into()
}
