//! The frame of a plot: its axes, its grid, and the position of a value in it. Values are given as
//! fractions of an axis, from 0 to 1.

use maud::{Markup, html};
use std::fmt::Display;

/// The size of a plot in its own units; on the page it is as wide as the column.
const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 290.0;
const LEFT: f64 = 42.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 42.0;
/// The least distance between labels beside each other.
const LABEL_GAP: f64 = 14.0;

/// A position in a plot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PlotPoint {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// The point at these fractions of both axes. A value that is not a number is at the start.
pub(super) fn at(x: f64, y: f64) -> PlotPoint {
    let part = |value: f64| if value.is_finite() { value.clamp(0.0, 1.0) } else { 0.0 };
    PlotPoint {
        x: LEFT + part(x) * (WIDTH - LEFT - RIGHT),
        y: HEIGHT - BOTTOM - part(y) * (HEIGHT - TOP - BOTTOM),
    }
}

/// An axis: its name, and labels at fractions of it.
pub(super) struct PlotAxis {
    pub(super) name: &'static str,
    pub(super) ticks: Vec<(f64, String)>,
}

impl PlotAxis {
    /// An axis from 0 to 1.
    pub(super) fn rate(name: &'static str) -> Self {
        let ticks = (0..=5).map(|fifth| f64::from(fifth) / 5.0);
        Self { name, ticks: ticks.map(|value| (value, format!("{value:.1}"))).collect() }
    }
}

/// A plot with its texts.
pub(super) struct Plot {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    /// The text alternative.
    pub(super) description: String,
    pub(super) x: PlotAxis,
    pub(super) y: PlotAxis,
    pub(super) marks: Markup,
    /// The content below the plot.
    pub(super) below: Markup,
}

impl Plot {
    /// The figure with its plot.
    pub(super) fn figure(self) -> Markup {
        let (title_id, text_id) = (format!("{}-title", self.id), format!("{}-text", self.id));
        let canvas = html! {
            div class="canvas" {
                svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img"
                    aria-labelledby={ (title_id) " " (text_id) } {
                    title id=(title_id) { (self.title) }
                    desc id=(text_id) { (self.description) }
                    (grid(&self.x, &self.y))
                    (self.marks)
                }
            }
        };
        figure(self.id, self.title, canvas, self.below)
    }
}

/// A figure with its title, its content, and the content below it.
pub(super) fn figure(id: &'static str, title: &str, content: Markup, below: Markup) -> Markup {
    html! {
        figure id=(id) {
            figcaption { h3 { (title) } }
            (content)
            (below)
        }
    }
}

/// A figure without data, with the reason.
pub(super) fn nothing(id: &'static str, title: &str, why: &str) -> Markup {
    figure(id, title, html! { p class="nothing" { (why) } }, Markup::default())
}

fn grid(x: &PlotAxis, y: &PlotAxis) -> Markup {
    let (start, end) = (at(0.0, 0.0), at(1.0, 1.0));
    let under = PlotPoint { x: (start.x + end.x) / 2.0, y: HEIGHT - 6.0 };
    let beside = PlotPoint { x: 11.0, y: (start.y + end.y) / 2.0 };
    html! {
        @for (part, label) in &x.ticks {
            @let point = at(*part, 0.0);
            (line("grid", point, PlotPoint { y: end.y, ..point }))
            (text("tick middle", PlotPoint { y: start.y + 16.0, ..point }, label))
        }
        @for (part, label) in &y.ticks {
            @let point = at(0.0, *part);
            (line("grid", point, PlotPoint { x: end.x, ..point }))
            (text("tick end", PlotPoint { x: start.x - 7.0, y: point.y + 4.0 }, label))
        }
        (text("axis middle", under, x.name))
        text class="axis middle" x=(unit(beside.x)) y=(unit(beside.y))
            transform={ "rotate(-90 " (unit(beside.x)) " " (unit(beside.y)) ")" } { (y.name) }
    }
}

/// A number of units, short.
pub(super) fn unit(value: f64) -> String {
    let value = if value.is_finite() { value } else { 0.0 };
    format!("{value:.1}").trim_end_matches(".0").to_owned()
}

pub(super) fn line(class: &str, from: PlotPoint, to: PlotPoint) -> Markup {
    html! {
        line class=(class) x1=(unit(from.x)) y1=(unit(from.y)) x2=(unit(to.x)) y2=(unit(to.y)) {}
    }
}

pub(super) fn path(class: &str, points: &[PlotPoint]) -> Markup {
    let steps = points.iter().enumerate().map(|(at, point)| {
        let verb = if at == 0 { 'M' } else { 'L' };
        format!("{verb}{} {}", unit(point.x), unit(point.y))
    });
    html! { path class=(class) d=(steps.collect::<String>()) {} }
}

pub(super) fn circle(class: &str, center: PlotPoint, radius: f64) -> Markup {
    html! { circle class=(class) cx=(unit(center.x)) cy=(unit(center.y)) r=(unit(radius)) {} }
}

/// A square on its corner.
pub(super) fn diamond(class: &str, center: PlotPoint, radius: f64) -> Markup {
    let PlotPoint { x, y } = center;
    let corners = [(x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)];
    let corners = corners.map(|(x, y)| format!("{},{}", unit(x), unit(y)));
    html! { polygon class=(class) points=(corners.join(" ")) {} }
}

/// A rectangle with its upper left corner at a point.
pub(super) fn rect(class: &str, corner: PlotPoint, width: f64, height: f64) -> Markup {
    html! {
        rect class=(class) x=(unit(corner.x)) y=(unit(corner.y)) width=(unit(width))
            height=(unit(height)) {}
    }
}

pub(super) fn text(class: &str, point: PlotPoint, text: impl Display) -> Markup {
    html! { text class=(class) x=(unit(point.x)) y=(unit(point.y)) { (text.to_string()) } }
}

/// The floor of a rate, across the plot.
pub(super) fn floor(height: Option<f64>) -> Markup {
    html! {
        @if let Some(height) = height {
            @let mark = line("", at(0.0, height), at(1.0, height));
            (titled("even", &format!("floor {height:.3}"), mark))
        }
    }
}

/// A mark with a tooltip.
pub(super) fn titled(class: &str, title: &str, mark: Markup) -> Markup {
    html! { g class=(class) { title { (title) } (mark) } }
}

/// A legend: the class of a sign, and its meaning.
pub(super) fn legend<'a>(rows: impl IntoIterator<Item = (&'a str, String)>) -> Markup {
    let middle = PlotPoint { x: 9.0, y: 5.0 };
    let sign = |class: &str| match class {
        "floor" | "mode" => diamond(class, middle, 4.5),
        "front" | "even" | "isof1" => {
            line(class, PlotPoint { x: 1.0, ..middle }, PlotPoint { x: 17.0, ..middle })
        }
        _ => circle(class, middle, 4.0),
    };
    html! {
        ul class="legend" {
            @for (class, text) in rows {
                li {
                    svg viewBox="0 0 18 10" aria-hidden="true" { (sign(class)) }
                    (text)
                }
            }
        }
    }
}

/// Heights of labels, moved so that they do not overlap, in the given order.
pub(super) fn moved_apart(heights: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..heights.len()).collect();
    let height = |at: usize| heights.get(at).copied().unwrap_or_default();
    order.sort_by(|a, b| height(*a).total_cmp(&height(*b)).then(a.cmp(b)));
    let lowest = HEIGHT - BOTTOM;
    let room = (lowest - TOP) / LABEL_GAP;
    let mut moved = heights.to_vec();
    let mut least = f64::NEG_INFINITY;
    for (rank, place) in order.iter().enumerate() {
        // No lower than leaves room for those that follow.
        let following = (order.len() - 1 - rank) as f64;
        let most = if following < room { lowest - following * LABEL_GAP } else { lowest };
        let found = height(*place).min(most).max(least);
        if let Some(slot) = moved.get_mut(*place) {
            *slot = found;
        }
        least = found + LABEL_GAP;
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_the_frame() {
        for value in [f64::NAN, f64::INFINITY, -3.0, 0.0, 0.5, 1.0, 7.0] {
            let place = at(value, value);
            assert!((LEFT..=WIDTH - RIGHT).contains(&place.x), "{value}: {place:?}");
            assert!((TOP..=HEIGHT - BOTTOM).contains(&place.y), "{value}: {place:?}");
        }
    }

    #[test]
    fn labels_do_not_cover_each_other() {
        assert_eq!(moved_apart(&[100.0, 20.0, 101.0]), [100.0, 20.0, 114.0]);
        assert_eq!(moved_apart(&[248.0, 248.0]), [234.0, 248.0]);
        assert_eq!(moved_apart(&[]), [0.0; 0]);
    }
}
