//! Line spans, hunks and diff lines.

use super::ChangedFile;

/// A non-empty, inclusive range of 1-based line numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineSpan {
    start: u32,
    end: u32,
}

impl LineSpan {
    /// The span from `start` to `end`, inclusive; `None` if it would be empty or start at 0.
    pub fn new(start: u32, end: u32) -> Option<Self> {
        (start >= 1 && end >= start).then_some(Self { start, end })
    }

    /// A span of one line; line 0 becomes line 1.
    pub fn line(line: u32) -> Self {
        let line = line.max(1);
        Self { start: line, end: line }
    }

    /// The span between two lines, in either order.
    pub fn between(a: u32, b: u32) -> Self {
        Self { start: a.min(b).max(1), end: a.max(b).max(1) }
    }

    /// The first line.
    pub fn start(self) -> u32 {
        self.start
    }

    /// The last line.
    pub fn end(self) -> u32 {
        self.end
    }

    /// The number of lines.
    pub fn n_lines(self) -> u32 {
        self.end - self.start + 1
    }

    /// Whether the span contains the line.
    pub fn contains(self, line: u32) -> bool {
        self.start <= line && line <= self.end
    }

    /// Whether the spans share a line.
    pub fn overlaps(self, other: Self) -> bool {
        self.start <= other.end && other.start <= self.end
    }
}

impl std::fmt::Display for LineSpan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.start == self.end {
            write!(f, "{}", self.start)
        } else {
            write!(f, "{}-{}", self.start, self.end)
        }
    }
}

/// A hunk of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The first line at base; 0 if the hunk has no base lines.
    pub old_start: u32,
    /// The number of base lines.
    pub old_lines: u32,
    /// The first line at head; 0 if the hunk has no head lines.
    pub new_start: u32,
    /// The number of head lines.
    pub new_lines: u32,
    /// The text after the second `@@`, usually the enclosing function.
    pub section: String,
    /// The lines, in order.
    pub lines: Vec<DiffLine>,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// Which side the line belongs to.
    pub kind: LineKind,
    /// The text without its line feed; invalid UTF-8 is replaced.
    pub text: String,
}

/// Which side of the diff a line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// Both sides.
    Context,
    /// Head only.
    Added,
    /// Base only.
    Removed,
}

impl Hunk {
    /// The added lines with their line numbers at head.
    pub fn added_lines(&self) -> impl Iterator<Item = (u32, &str)> {
        self.numbered(self.new_start, LineKind::Removed)
            .filter(|(_, line)| line.kind == LineKind::Added)
            .map(|(number, line)| (number, line.text.as_str()))
    }

    /// The removed lines with their line numbers at base.
    pub fn removed_lines(&self) -> impl Iterator<Item = (u32, &str)> {
        self.numbered(self.old_start, LineKind::Added)
            .filter(|(_, line)| line.kind == LineKind::Removed)
            .map(|(number, line)| (number, line.text.as_str()))
    }

    /// All lines of the head side, with their line numbers.
    pub fn head_lines(&self) -> impl Iterator<Item = (u32, &str)> {
        self.numbered(self.new_start, LineKind::Removed)
            .map(|(number, line)| (number, line.text.as_str()))
    }

    /// Whether it only adds lines, and all of them are within these spans.
    pub fn is_added_within(&self, spans: &[LineSpan]) -> bool {
        let mut added = self.added_lines().map(|(line, _)| line).peekable();
        added.peek().is_some()
            && self.removed_lines().next().is_none()
            && added.all(|line| spans.iter().any(|span| span.contains(line)))
    }

    /// The head lines of this hunk; `None` if it has none.
    pub fn head_span(&self) -> Option<LineSpan> {
        let end = self.new_start.checked_add(self.new_lines)?.checked_sub(1)?;
        LineSpan::new(self.new_start, end)
    }

    /// Whether this line at head is in the hunk.
    pub fn covers_head(&self, line: u32) -> bool {
        self.head_span().is_some_and(|span| span.contains(line))
    }

    fn numbered(&self, first: u32, other_side: LineKind) -> impl Iterator<Item = (u32, &DiffLine)> {
        self.lines
            .iter()
            .filter(move |line| line.kind != other_side)
            .zip(first..)
            .map(|(l, n)| (n, l))
    }
}

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
        self.overlaps(LineSpan::line(line))
    }

    /// Whether the change added any line of the span.
    pub fn overlaps(&self, span: LineSpan) -> bool {
        let next = self.runs.partition_point(|run| run.end() < span.start());
        self.runs.get(next).is_some_and(|run| run.overlaps(span))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_up_lines_and_spans() {
        let added = AddedLines { runs: vec![LineSpan::between(3, 5), LineSpan::line(9)] };
        for (line, expected) in
            [(2, false), (3, true), (5, true), (6, false), (9, true), (10, false)]
        {
            assert_eq!(added.contains(line), expected, "{line}");
        }
        assert!(added.overlaps(LineSpan::between(6, 9)));
        assert!(!added.overlaps(LineSpan::between(6, 8)));
    }
}
