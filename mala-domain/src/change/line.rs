//! Lines, spans and hunks.

/// A non-empty range of 1-based lines that cannot end before it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineSpan {
    start: u32,
    end: u32,
}

impl LineSpan {
    /// The span from `start` to `end`, both included; `None` when they name no line.
    pub fn new(start: u32, end: u32) -> Option<Self> {
        (start >= 1 && end >= start).then_some(Self { start, end })
    }

    /// One line; line 0 counts as the first.
    pub fn line(line: u32) -> Self {
        let line = line.max(1);
        Self { start: line, end: line }
    }

    /// The span between two lines, whichever comes first.
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

    /// How many lines it has.
    pub fn n_lines(self) -> u32 {
        self.end - self.start + 1
    }

    /// Whether the line is inside.
    pub fn contains(self, line: u32) -> bool {
        self.start <= line && line <= self.end
    }

    /// Whether the two share a line.
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

/// A changed region of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// First line at base (0 when the base side is empty).
    pub old_start: u32,
    /// Lines at base.
    pub old_lines: u32,
    /// First line at head (0 when the head side is empty).
    pub new_start: u32,
    /// Lines at head.
    pub new_lines: u32,
    /// What the diff prints after the second `@@`: mostly the enclosing function.
    pub section: String,
    /// Its lines, in order.
    pub lines: Vec<DiffLine>,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// On which side it is.
    pub kind: LineKind,
    /// Its text without the line feed; bytes that are no UTF-8 are replaced.
    pub text: String,
}

/// On which side of the diff a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// On both sides.
    Context,
    /// Only at head.
    Added,
    /// Only at base.
    Removed,
}

impl Hunk {
    /// The added lines with their numbers at head.
    pub fn added_lines(&self) -> impl Iterator<Item = (u32, &str)> {
        self.numbered(self.new_start, LineKind::Removed)
            .filter(|(_, line)| line.kind == LineKind::Added)
            .map(|(number, line)| (number, line.text.as_str()))
    }

    /// The removed lines with their numbers at base.
    pub fn removed_lines(&self) -> impl Iterator<Item = (u32, &str)> {
        self.numbered(self.old_start, LineKind::Added)
            .filter(|(_, line)| line.kind == LineKind::Removed)
            .map(|(number, line)| (number, line.text.as_str()))
    }

    /// Every line it shows at head, with its number.
    pub fn head_lines(&self) -> impl Iterator<Item = (u32, &str)> {
        self.numbered(self.new_start, LineKind::Removed)
            .map(|(number, line)| (number, line.text.as_str()))
    }

    /// The lines at head this hunk shows; `None` when it only removes whole files.
    pub fn head_span(&self) -> Option<LineSpan> {
        let end = self.new_start.checked_add(self.new_lines)?.checked_sub(1)?;
        LineSpan::new(self.new_start, end)
    }

    /// Whether it shows this line at head.
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
