//! Turns what a linter says into claims on lines that the change added.

use super::grade;
use super::output::Hit;
use super::place::Place;
use super::table::Linter;
use crate::reviewers::builtin;
use mala_domain::change::LineSpan;
use mala_domain::finding::{Candidate, Verification};

/// The longest title.
const MAX_TITLE: usize = 120;

/// The longest message.
const MAX_MESSAGE: usize = 1000;

/// The hits on added lines, as claims.
pub(super) fn on_added_lines(linter: &Linter, hits: &[Hit], place: &Place) -> Vec<Candidate> {
    hits.iter().filter_map(|hit| claim(linter, hit, place)).collect()
}

fn claim(linter: &Linter, hit: &Hit, place: &Place) -> Option<Candidate> {
    let target = place.target(&hit.file)?;
    let line = *hit.lines.iter().find(|line| target.added.contains(**line))?;
    let run = target.added.runs().iter().find(|run| run.contains(line))?;
    let end = if hit.lines.first() == Some(&line) { hit.end_line } else { line };
    let name = linter.name.name();
    let (category, priority) = grade::of(linter.name, hit);
    let message = cut(hit.message.trim(), MAX_MESSAGE);
    let title = cut(message.lines().next().unwrap_or(&hit.code).trim(), MAX_TITLE);
    Some(Candidate {
        file: target.path.clone(),
        span: LineSpan::between(line, end.clamp(line, run.end())),
        priority: Some(priority),
        category,
        title,
        body: body(linter, hit, &message),
        suggestion: Some(suggestion(name, hit)),
        evidence: None,
        confidence: 0.9,
        reviewer: builtin::NAME.to_owned(),
        rule: Some(format!("{name}/{}", hit.code)),
        verification: Verification::verified(format!("{name} {}", hit.code)),
    })
}

fn body(linter: &Linter, hit: &Hit, message: &str) -> String {
    let name = linter.name.name();
    match grade::consequence(linter.name, &hit.code) {
        Some(consequence) => format!("{consequence} {name} reports: {message}"),
        None => format!("When this line runs or is checked, {name} reports: {message}"),
    }
}

fn suggestion(name: &str, hit: &Hit) -> String {
    let fix = hit.fix.as_deref().map(|fix| cut(fix.trim(), MAX_MESSAGE));
    match (fix.filter(|fix| !fix.is_empty()), &hit.url) {
        (Some(fix), _) => fix,
        (None, Some(url)) => format!("See {url}"),
        (None, None) => format!("See {name} {}.", hit.code),
    }
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}
