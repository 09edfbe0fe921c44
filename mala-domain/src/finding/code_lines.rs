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

    /// Where these lines stand one after the other, in the order of the file.
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
