//! Finds quoted code in a file, white space aside.

use crate::change::LineSpan;
use std::collections::HashMap;

/// The lines of a file, ready for many searches. Blank lines and white space do not count.
#[derive(Debug, Clone, Default)]
pub struct CodeLines {
    lines: Vec<(String, u32)>,
    by_text: HashMap<String, Vec<usize>>,
}

impl CodeLines {
    /// The lines of a text.
    pub fn of(text: &str) -> Self {
        Self::of_lines(text.lines())
    }

    /// The same, of a text that is split into lines.
    pub fn of_lines<'t>(lines: impl Iterator<Item = &'t str>) -> Self {
        let lines: Vec<(String, u32)> =
            lines.map(squeezed).zip(1..).filter(|(line, _)| !line.is_empty()).collect();
        let mut by_text: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, (line, _)) in lines.iter().enumerate() {
            by_text.entry(line.clone()).or_default().push(index);
        }
        Self { lines, by_text }
    }

    /// The positions at which these lines occur consecutively, in the order of the file.
    pub fn positions<'q>(&self, quoted: impl Iterator<Item = &'q str>) -> Vec<LineSpan> {
        self.spans(&squeezed_lines(quoted)).collect()
    }

    /// The first lines of the copies of this code above a line, at most as many as the limit.
    pub fn copies_above<'q>(
        &self,
        quoted: impl Iterator<Item = &'q str>,
        line: u32,
        limit: usize,
    ) -> Vec<u32> {
        let quoted = squeezed_lines(quoted);
        let starts = self.spans(&quoted).map(LineSpan::start);
        starts.take_while(|start| *start < line).take(limit).collect()
    }

    fn spans(&self, quoted: &[String]) -> impl Iterator<Item = LineSpan> {
        let starts = quoted.first().and_then(|first| self.by_text.get(first));
        let span_at = move |start: &usize| {
            let found = self.lines.get(*start..start.checked_add(quoted.len())?)?;
            let is_equal = found.iter().map(|(line, _)| line).eq(quoted);
            let (first, last) = (found.first()?.1, found.last()?.1);
            is_equal.then(|| LineSpan::between(first, last))
        };
        starts.into_iter().flatten().filter_map(span_at)
    }
}

/// The places of a quote in a text: as whole lines; else with other line breaks, as after
/// formatting; else as parts of lines. The quote never matches within a word.
pub fn places(text: &str, quote: &str) -> Vec<LineSpan> {
    let (whole, parts) = whole_and_parts(text, quote);
    if whole.is_empty() { parts } else { whole }
}

/// The places of a quote in a text as whole lines, or with other line breaks.
pub(crate) fn whole_places(text: &str, quote: &str) -> Vec<LineSpan> {
    whole_and_parts(text, quote).0
}

fn whole_and_parts(text: &str, quote: &str) -> (Vec<LineSpan>, Vec<LineSpan>) {
    let positions = CodeLines::of(text).positions(quote.lines());
    if !positions.is_empty() {
        return (positions, Vec::new());
    }
    let (text, quote) = (code_characters(text), code_characters(quote));
    let (Some(first), Some(last)) = (quote.first(), quote.last()) else {
        return Default::default();
    };
    let mut whole = Vec::new();
    let mut parts = Vec::new();
    for (window, start) in text.windows(quote.len()).zip(0..) {
        if !window.iter().map(|it| it.value).eq(quote.iter().map(|it| it.value)) {
            continue;
        }
        let before = usize::checked_sub(start, 1).and_then(|at| text.get(at));
        let after = text.get(start + quote.len());
        let [Some(start), Some(end)] = [window.first(), window.last()] else { continue };
        let is_cut = is_one_word(before, first, start.is_after_space)
            || after.is_some_and(|after| is_one_word(Some(last), after, after.is_after_space));
        if is_cut {
            continue;
        }
        let span = LineSpan::between(start.line, end.line);
        let is_whole = before.is_none_or(|it| it.line != start.line)
            && after.is_none_or(|it| it.line != end.line);
        if is_whole { whole.push(span) } else { parts.push(span) }
    }
    (whole, parts)
}

/// A character that is not white space.
struct CodeCharacter {
    value: char,
    line: u32,
    is_after_space: bool,
}

/// The characters of a text without white space, and without commas that formatters add in front of closing
/// brackets.
fn code_characters(text: &str) -> Vec<CodeCharacter> {
    let mut all: Vec<CodeCharacter> = Vec::new();
    for (text, line) in text.lines().zip(1..) {
        let mut is_after_space = true;
        for value in text.chars() {
            if value.is_whitespace() {
                is_after_space = true;
                continue;
            }
            if ")]}".contains(value) && all.last().is_some_and(|it| it.value == ',') {
                all.pop();
            }
            all.push(CodeCharacter { value, line, is_after_space });
            is_after_space = false;
        }
    }
    all
}

fn is_one_word(before: Option<&CodeCharacter>, after: &CodeCharacter, is_apart: bool) -> bool {
    let is_part = |it: &CodeCharacter| it.value.is_alphanumeric() || it.value == '_';
    !is_apart && before.is_some_and(is_part) && is_part(after)
}

fn squeezed_lines<'q>(lines: impl Iterator<Item = &'q str>) -> Vec<String> {
    lines.map(squeezed).filter(|line| !line.is_empty()).collect()
}

/// A text without white space, so that reindenting does not change it.
pub(crate) fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_found_in_broken_lines_and_within_lines() {
        let text = "x = run(\n    a,\n    b,\n)\nif c and danger(y):\n    z = 10\nmaxz = 1\n";
        let rows: [(&str, &[(u32, u32)]); 6] = [
            ("x = run(a, b)", &[(1, 4)]),
            ("danger(y)", &[(5, 5)]),
            ("z = 10", &[(6, 6)]),
            ("z = 1", &[]),
            ("missing", &[]),
            ("", &[]),
        ];
        for (quote, expected) in rows {
            let expected: Vec<LineSpan> =
                expected.iter().map(|(start, end)| LineSpan::between(*start, *end)).collect();
            assert_eq!(places(text, quote), expected, "{quote:?}");
            let is_part = matches!(quote, "danger(y)");
            assert_eq!(whole_places(text, quote).is_empty(), expected.is_empty() || is_part);
        }
    }

    #[test]
    fn quotes_are_found_whatever_their_indentation() {
        let lines = CodeLines::of("if a:\n    b = 1\n\n    c = 2\nb=1\nb = 10\n");
        let rows: [(&str, &[(u32, u32)]); 5] = [
            ("b = 1", &[(2, 2), (5, 5)]),
            ("  b = 1\n  c = 2", &[(2, 4)]),
            ("b = 1\nb = 10", &[(5, 6)]),
            ("c = 3", &[]),
            ("\n", &[]),
        ];
        for (quoted, expected) in rows {
            let expected: Vec<LineSpan> =
                expected.iter().map(|(start, end)| LineSpan::between(*start, *end)).collect();
            assert_eq!(lines.positions(quoted.lines()), expected, "{quoted:?}");
        }
    }
}
