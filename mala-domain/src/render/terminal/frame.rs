//! The code frame of a finding: its lines with line numbers, a few lines around them, and a mark
//! under the evidence. Lines are escaped and cut to the width before they are drawn.

use super::TerminalOptions;
use super::wrap::{char_columns, columns, split_at_columns};
use crate::finding::Finding;
use crate::render::ranking::FindingLevel;
use crate::render::visible::{one_line, visible};
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level as SnippetLevel, Renderer, Snippet};

/// Number of lines before and after the finding.
const AROUND: usize = 2;
/// Maximum number of lines of the finding.
const MOST_LINES: usize = 10;
/// A common indentation wider than `DEEP` is cut to this.
const SHALLOW: usize = 4;
const DEEP: usize = 16;
/// The replacement of a tab.
const TAB: &str = "    ";

/// The location and the code frame of a finding; only the location if there are no lines to show.
pub(super) fn frame(
    finding: &Finding,
    source: Option<&str>,
    options: &TerminalOptions,
) -> Vec<String> {
    let Some(excerpt) = CodeExcerpt::of(finding, source) else {
        return vec![location(finding, 1, options)];
    };
    let mut lines = vec![location(finding, excerpt.number_columns(), options)];
    // With Unicode frames, the first line is the corner, which `location` already draws.
    let n_drawn_already = usize::from(options.unicode);
    let code = draw(&excerpt, finding, options);
    lines.extend(code.lines().skip(n_drawn_already).map(|line| line.trim_end().to_owned()));
    if excerpt.n_hidden > 0 {
        let gutter = " ".repeat(excerpt.number_columns() + 1);
        lines.push(format!("{gutter}{} {} more lines", options.ellipsis(), excerpt.n_hidden));
    }
    lines
}

/// The location of the finding; the start of a path that is too long is cut.
fn location(finding: &Finding, gutter: usize, options: &TerminalOptions) -> String {
    let arrow = if options.unicode { " ╭▸ " } else { "--> " };
    let location = one_line(&format!("{}:{}", finding.file, finding.span()));
    let symbol = finding.symbol.as_deref().map(|symbol| format!(" in {}", one_line(symbol)));
    let room = options.width.saturating_sub(gutter + columns(arrow));
    let mut text = location.clone();
    text.push_str(symbol.as_deref().unwrap_or_default());
    if columns(&text) > room {
        text = location;
    }
    if columns(&text) > room {
        let dots = options.ellipsis();
        text = format!("{dots}{}", last_columns(&text, room.saturating_sub(columns(dots))));
    }
    format!("{}{}", " ".repeat(gutter), options.styles().dim(&format!("{arrow}{text}")))
}

fn draw(excerpt: &CodeExcerpt<'_>, finding: &Finding, options: &TerminalOptions) -> String {
    let drawing = excerpt.drawing(options);
    let snippet = Snippet::source(drawing.text)
        .line_start(excerpt.first_line)
        .fold(false)
        .annotation(AnnotationKind::Primary.span(drawing.mark));
    let group = Group::with_level(snippet_level(finding)).element(snippet);
    renderer(options).render(&[group])
}

fn renderer(options: &TerminalOptions) -> Renderer {
    let renderer = if options.color { Renderer::styled() } else { Renderer::plain() };
    let decor = if options.unicode { DecorStyle::Unicode } else { DecorStyle::Ascii };
    // Lines are already cut around the mark, so the renderer must not cut them.
    renderer.decor_style(decor).term_width(options.width.saturating_mul(4))
}

fn snippet_level(finding: &Finding) -> SnippetLevel<'static> {
    match FindingLevel::of(finding) {
        FindingLevel::Error => SnippetLevel::ERROR,
        FindingLevel::Warning => SnippetLevel::WARNING,
        FindingLevel::Note => SnippetLevel::NOTE,
    }
}

/// The lines to show, as in the file.
struct CodeExcerpt<'s> {
    first_line: usize,
    lines: Vec<&'s str>,
    /// The indices of the first and last marked line.
    marked: (usize, usize),
    n_hidden: usize,
    evidence: &'s str,
}

/// The text to draw, and the byte range to mark.
struct CodeDrawing {
    text: String,
    mark: std::ops::Range<usize>,
}

impl<'s> CodeExcerpt<'s> {
    fn of(finding: &'s Finding, source: Option<&'s str>) -> Option<Self> {
        let span = finding.span();
        let start = usize::try_from(span.start()).ok()?;
        let n_lines = usize::try_from(span.n_lines()).ok()?;
        let from_source = source.and_then(|text| {
            let first = start.saturating_sub(AROUND).max(1);
            let n_before = start - first;
            let n_wanted = n_before + n_lines.min(MOST_LINES) + AROUND;
            let lines: Vec<&str> = text.lines().skip(first - 1).take(n_wanted).collect();
            (lines.len() > n_before).then_some((first, n_before, lines))
        });
        let (first_line, n_before, mut lines) = from_source.or_else(|| {
            let lines: Vec<&str> = finding.evidence_snippet.lines().take(MOST_LINES).collect();
            (!lines.is_empty()).then_some((start, 0, lines))
        })?;
        let n_hidden = n_lines.saturating_sub(MOST_LINES);
        if n_hidden > 0 {
            lines.truncate(n_before + MOST_LINES);
        }
        let last = (n_before + n_lines.min(MOST_LINES)).min(lines.len()) - 1;
        let evidence = finding.evidence_snippet.trim();
        Some(Self { first_line, lines, marked: (n_before, last), n_hidden, evidence })
    }

    fn number_columns(&self) -> usize {
        (self.first_line + self.lines.len() - 1).to_string().len()
    }

    fn drawing(&self, options: &TerminalOptions) -> CodeDrawing {
        let gutter = self.number_columns() + 3;
        let is_block = self.marked.0 != self.marked.1;
        let width = options.width.saturating_sub(gutter + if is_block { 3 } else { 1 }).max(16);
        let shift = self.shared_indentation();
        let mut drawing = CodeDrawing { text: String::new(), mark: 0..0 };
        for (index, line) in self.lines.iter().enumerate() {
            let (_, line) = split_indentation(line, shift);
            let marked_line = MarkedLine::of(line, self.mark_in(index, line)).cut(width, options);
            let start = drawing.text.len();
            if index == self.marked.0 {
                drawing.mark.start = start + marked_line.before.len();
            }
            if index == self.marked.1 {
                drawing.mark.end = start + marked_line.before.len() + marked_line.marked.len();
            }
            for part in [&marked_line.before, &marked_line.marked, &marked_line.after] {
                drawing.text.push_str(part);
            }
            drawing.text.push('\n');
        }
        drawing
    }

    /// The byte range to mark in a line: the evidence if the line contains it, else the line
    /// without surrounding white space.
    fn mark_in(&self, index: usize, line: &str) -> std::ops::Range<usize> {
        let is_single = self.marked.0 == self.marked.1 && index == self.marked.0;
        if is_single
            && !self.evidence.is_empty()
            && let Some(start) = line.find(self.evidence)
        {
            return start..start + self.evidence.len();
        }
        let start = line.len() - line.trim_start().len();
        start..line.trim_end().len().max(start)
    }

    /// The number of leading characters to remove from every line.
    fn shared_indentation(&self) -> usize {
        let widths = self.lines.iter().filter(|line| !line.trim().is_empty());
        let shared =
            widths.map(|line| line.len() - line.trim_start_matches([' ', '\t']).len()).min();
        let shared = shared.unwrap_or_default();
        let is_deep = shared > DEEP || self.lines.iter().any(|line| line.starts_with("\t\t\t\t"));
        if is_deep { shared.saturating_sub(SHALLOW) } else { 0 }
    }
}

/// A line in three parts; the middle one is marked.
struct MarkedLine {
    before: String,
    marked: String,
    after: String,
}

impl MarkedLine {
    fn of(line: &str, mark: std::ops::Range<usize>) -> Self {
        let part = |range| clean(line.get::<std::ops::Range<usize>>(range).unwrap_or_default());
        Self {
            before: part(0..mark.start),
            marked: part(mark.clone()),
            after: part(mark.end..line.len()),
        }
    }

    /// Cuts the line to the width: first at its end, then before the mark.
    fn cut(mut self, width: usize, options: &TerminalOptions) -> Self {
        let dots = options.ellipsis();
        if columns(&self.before) + columns(&self.marked) + columns(&self.after) <= width {
            return self;
        }
        let width = width.saturating_sub(columns(dots));
        if columns(&self.before) + columns(&self.marked) > width {
            let room = width.saturating_sub(columns(&self.marked)) * 2 / 3;
            let room = room.max(width / 4);
            if columns(&self.before) > room {
                self.before = format!("{dots}{}", last_columns(&self.before, room - columns(dots)));
            }
        }
        let room = width.saturating_sub(columns(&self.before));
        if columns(&self.marked) > room {
            self.marked = format!("{}{dots}", split_at_columns(&self.marked, room).0);
            self.after.clear();
            return self;
        }
        let room = room - columns(&self.marked);
        if columns(&self.after) > room {
            self.after = format!("{}{dots}", split_at_columns(&self.after, room).0);
        }
        self
    }
}

/// Escapes a part of a line. Only the ends of a very long part are kept, since the middle is never
/// visible.
fn clean(piece: &str) -> String {
    const ENOUGH: usize = 4096;
    let piece = if piece.len() > 2 * ENOUGH {
        let head = piece.get(..piece.floor_char_boundary(ENOUGH)).unwrap_or_default();
        let tail = piece.get(piece.ceil_char_boundary(piece.len() - ENOUGH)..).unwrap_or_default();
        format!("{}{}", visible(head), visible(tail))
    } else {
        visible(piece).into_owned()
    };
    piece.replace('\t', TAB)
}

fn split_indentation(line: &str, n: usize) -> (&str, &str) {
    let most = line.len() - line.trim_start_matches([' ', '\t']).len();
    line.split_at(n.min(most))
}

fn last_columns(text: &str, width: usize) -> &str {
    let mut used = 0;
    for (index, c) in text.char_indices().rev() {
        used += char_columns(c);
        if used > width {
            return text.get(index + c.len_utf8()..).unwrap_or_default();
        }
    }
    text
}
