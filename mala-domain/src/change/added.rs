//! An index of the lines that a change added, with lookups in logarithmic time.

use super::{ChangedFile, LineSpan};

/// The added lines of one file at head.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddedLines {
    runs: Vec<LineSpan>,
}

impl AddedLines {
    /// Indexes the added lines of a file.
    pub fn of(file: &ChangedFile) -> Self {
        let mut runs: Vec<LineSpan> = Vec::new();
        for (line, _) in file.added_lines() {
            match runs.last_mut() {
                Some(last) if last.end() + 1 == line => {
                    *last = LineSpan::between(last.start(), line);
                }
                _ => runs.push(LineSpan::line(line)),
            }
        }
        runs.sort();
        Self { runs }
    }

    /// Runs of consecutive added lines, in order.
    pub fn runs(&self) -> &[LineSpan] {
        &self.runs
    }

    /// Whether the change added this line.
    pub fn contains(&self, line: u32) -> bool {
        self.touch(LineSpan::line(line))
    }

    /// Whether the change added any line of the span.
    pub fn touch(&self, span: LineSpan) -> bool {
        let next = self.runs.partition_point(|run| run.end() < span.start());
        self.runs.get(next).is_some_and(|run| run.overlaps(span))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_by_run() {
        let added = AddedLines { runs: vec![LineSpan::between(3, 5), LineSpan::line(9)] };
        for (line, expected) in
            [(2, false), (3, true), (5, true), (6, false), (9, true), (10, false)]
        {
            assert_eq!(added.contains(line), expected, "{line}");
        }
        assert!(added.touch(LineSpan::between(6, 9)));
        assert!(!added.touch(LineSpan::between(6, 8)));
    }
}
