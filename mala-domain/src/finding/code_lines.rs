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
        let quoted: Vec<String> = quoted.map(squeezed).filter(|line| !line.is_empty()).collect();
        let Some(first) = quoted.first() else { return Vec::new() };
        let starts = self.by_text.get(first).map(Vec::as_slice).unwrap_or_default();
        let span_at = |start: &usize| {
            let found = self.lines.get(*start..start.checked_add(quoted.len())?)?;
            let is_equal = found.iter().map(|(line, _)| line).eq(&quoted);
            let (first, last) = (found.first()?.1, found.last()?.1);
            is_equal.then(|| LineSpan::between(first, last))
        };
        starts.iter().filter_map(span_at).collect()
    }
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
