//! The frame of a plot: its axes, its grid, and where a value lies in it. Values are given as parts of
//! an axis, from 0 to 1.

use super::markup::{Markup, Tag, tag};

/// The size of a plot in its own units; on the page it takes the width that there is.
const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 290.0;
const LEFT: f64 = 42.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 42.0;
/// How far apart labels beside each other are at least.
const LABEL_GAP: f64 = 14.0;

/// A place in a plot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// The place at these parts of both axes. What is no number lies at the start.
pub(super) fn at(x: f64, y: f64) -> Place {
    let part = |value: f64| if value.is_finite() { value.clamp(0.0, 1.0) } else { 0.0 };
    Place {
        x: LEFT + part(x) * (WIDTH - LEFT - RIGHT),
        y: HEIGHT - BOTTOM - part(y) * (HEIGHT - TOP - BOTTOM),
    }
}

/// An axis: its name, and labels at parts of it.
pub(super) struct Axis {
    pub(super) name: &'static str,
    pub(super) ticks: Vec<(f64, String)>,
}

impl Axis {
    /// An axis from 0 to 1.
    pub(super) fn rate(name: &'static str) -> Self {
        let ticks = (0..=5).map(|fifth| f64::from(fifth) / 5.0);
        Self { name, ticks: ticks.map(|value| (value, format!("{value:.1}"))).collect() }
    }
}

/// A plot with its words.
pub(super) struct Plot {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    /// What it shows, for those who do not see it.
    pub(super) description: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) marks: Markup,
    /// What stands under it.
    pub(super) below: Markup,
}

impl Plot {
    /// The figure with its plot.
    pub(super) fn figure(self) -> Markup {
        let (title_id, text_id) = (format!("{}-title", self.id), format!("{}-text", self.id));
        let svg = tag("svg")
            .attr("viewBox", format!("0 0 {WIDTH} {HEIGHT}"))
            .attr("role", "img")
            .attr("aria-labelledby", format!("{title_id} {text_id}"))
            .child(tag("title").attr("id", title_id).text(self.title))
            .child(tag("desc").attr("id", text_id).text(&self.description))
            .child(grid(&self.x, &self.y))
            .child(self.marks);
        figure(self.id, self.title, tag("div").class("canvas").child(svg).into(), self.below)
    }
}

/// A figure with its title, its content, and what stands under it.
pub(super) fn figure(id: &'static str, title: &str, content: Markup, below: Markup) -> Markup {
    let caption = tag("figcaption").child(tag("h3").text(title));
    tag("figure").attr("id", id).child(caption).child(content).child(below).into()
}

/// A figure that has nothing to show, and says why.
pub(super) fn nothing(id: &'static str, title: &str, why: &str) -> Markup {
    figure(id, title, tag("p").class("nothing").text(why).into(), Markup::default())
}

fn grid(x: &Axis, y: &Axis) -> Markup {
    let (start, end) = (at(0.0, 0.0), at(1.0, 1.0));
    let mut out = Markup::default();
    for (part, label) in &x.ticks {
        let place = at(*part, 0.0);
        out.push(line(place, Place { y: end.y, ..place }).class("grid"));
        out.push(words(Place { y: start.y + 16.0, ..place }, label).class("tick middle"));
    }
    for (part, label) in &y.ticks {
        let place = at(0.0, *part);
        out.push(line(place, Place { x: end.x, ..place }).class("grid"));
        let beside = Place { x: start.x - 7.0, y: place.y + 4.0 };
        out.push(words(beside, label).class("tick end"));
    }
    let under = Place { x: (start.x + end.x) / 2.0, y: HEIGHT - 6.0 };
    out.push(words(under, x.name).class("axis middle"));
    let beside = Place { x: 11.0, y: (start.y + end.y) / 2.0 };
    let turned = format!("rotate(-90 {} {})", unit(beside.x), unit(beside.y));
    out.push(words(beside, y.name).class("axis middle").attr("transform", turned));
    out
}

/// A number of units, short.
pub(super) fn unit(value: f64) -> String {
    let value = if value.is_finite() { value } else { 0.0 };
    format!("{value:.1}").trim_end_matches(".0").to_owned()
}

pub(super) fn line(from: Place, to: Place) -> Tag {
    let ends = [("x1", from.x), ("y1", from.y), ("x2", to.x), ("y2", to.y)];
    ends.into_iter().fold(tag("line"), |line, (name, value)| line.attr(name, unit(value)))
}

pub(super) fn path(places: &[Place]) -> Tag {
    let steps = places.iter().enumerate().map(|(at, place)| {
        let verb = if at == 0 { 'M' } else { 'L' };
        format!("{verb}{} {}", unit(place.x), unit(place.y))
    });
    tag("path").attr("d", steps.collect::<String>())
}

pub(super) fn circle(place: Place, radius: f64) -> Tag {
    let sizes = [("cx", place.x), ("cy", place.y), ("r", radius)];
    sizes.into_iter().fold(tag("circle"), |circle, (name, value)| circle.attr(name, unit(value)))
}

/// A square on its corner.
pub(super) fn diamond(place: Place, radius: f64) -> Tag {
    let Place { x, y } = place;
    let corners = [(x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)];
    let corners = corners.map(|(x, y)| format!("{},{}", unit(x), unit(y)));
    tag("polygon").attr("points", corners.join(" "))
}

pub(super) fn words(place: Place, text: impl std::fmt::Display) -> Tag {
    tag("text").attr("x", unit(place.x)).attr("y", unit(place.y)).text(text)
}

/// The floor of what the height stands for, across the plot.
pub(super) fn floor(height: Option<f64>) -> Markup {
    let mark = |height: f64| {
        told(line(at(0.0, height), at(1.0, height)), "even", format!("floor {height:.3}"))
    };
    height.map(|height| mark(height).into()).into()
}

/// Something with the words that appear when it is pointed at.
pub(super) fn told(mark: Tag, class: &str, title: impl std::fmt::Display) -> Tag {
    tag("g").class(class).child(tag("title").text(title)).child(mark)
}

/// A legend: a class for the sign, and what it stands for.
pub(super) fn legend<'a>(rows: impl IntoIterator<Item = (&'a str, String)>) -> Markup {
    let sign = |class: &str| {
        let svg = tag("svg").attr("viewBox", "0 0 18 10").attr("aria-hidden", "true");
        let middle = Place { x: 9.0, y: 5.0 };
        let mark = match class {
            "floor" | "mode" => diamond(middle, 4.5),
            "front" | "even" | "isof1" => {
                line(Place { x: 1.0, ..middle }, Place { x: 17.0, ..middle })
            }
            _ => circle(middle, 4.0),
        };
        svg.child(mark.class(class))
    };
    let rows = rows.into_iter().map(|(class, text)| tag("li").child(sign(class)).text(text));
    tag("ul").class("legend").children(rows).into()
}

/// Heights of labels, moved apart so that none covers another. In the order given.
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
