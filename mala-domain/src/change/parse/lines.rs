//! An iterator over the lines of a diff, with line numbers.

pub(super) struct Lines<'a> {
    current: Option<&'a [u8]>,
    rest: &'a [u8],
    number: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(diff: &'a [u8]) -> Self {
        let mut lines = Self { current: None, rest: diff, number: 0 };
        lines.advance();
        lines
    }

    /// The current line without its line feed.
    pub(super) fn peek(&self) -> Option<&'a [u8]> {
        self.current
    }

    /// The next line.
    pub(super) fn peek_after(&self) -> Option<&'a [u8]> {
        (!self.rest.is_empty()).then(|| first_line(self.rest).0)
    }

    /// The 1-based number of the current line; at the end, one more than the last line.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// Advances to the next line.
    pub(super) fn advance(&mut self) {
        self.number += 1;
        self.current = (!self.rest.is_empty()).then(|| {
            let (line, rest) = first_line(self.rest);
            self.rest = rest;
            line
        });
    }
}

fn first_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, &[]),
    }
}

/// A line without the carriage return that mail programs and Windows tools add.
pub(super) fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
