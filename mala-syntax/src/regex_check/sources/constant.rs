//! Strings that are known from the source alone, with the place of each of their bytes.

use std::ops::Range;

use super::LostEscape;

/// A string known from the source.
#[derive(Clone, Debug, Default)]
pub(super) struct Constant {
    pub(super) text: String,
    pieces: Vec<Piece>,
    /// The source bytes of the whole expression.
    pub(super) bytes: Range<usize>,
    pub(super) lost: Vec<LostEscape>,
}

/// From here on in the text, the source goes on there.
#[derive(Clone, Copy, Debug)]
struct Piece {
    text: usize,
    source: usize,
    /// Whether text and source advance together.
    verbatim: bool,
}

impl Constant {
    pub(super) fn new(bytes: Range<usize>) -> Self {
        Self { bytes, ..Self::default() }
    }

    /// Text that stands in the source as it is.
    pub(super) fn verbatim(text: &str, source: usize) -> Self {
        let mut constant = Self::new(source..source + text.len());
        constant.push_verbatim(text, source);
        constant
    }

    pub(super) fn push_verbatim(&mut self, text: &str, source: usize) {
        let joins = self.pieces.last().is_some_and(|piece| {
            piece.verbatim && piece.source + (self.text.len() - piece.text) == source
        });
        if !joins {
            self.pieces.push(Piece { text: self.text.len(), source, verbatim: true });
        }
        self.text.push_str(text);
    }

    /// A character that an escape at `source` stands for.
    pub(super) fn push_escape(&mut self, decoded: char, source: usize) {
        self.pieces.push(Piece { text: self.text.len(), source, verbatim: false });
        self.text.push(decoded);
    }

    /// Whether the next character of the text is escaped by the text before it.
    pub(super) fn ends_in_escape(&self) -> bool {
        self.text.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
    }

    /// Whether the text ends inside a class, where few characters need an escape.
    pub(super) fn ends_in_class(&self) -> bool {
        let open = self.text.rfind('[');
        open.is_some_and(|open| !self.text.get(open..).unwrap_or_default().contains(']'))
    }

    pub(super) fn append(&mut self, other: Self) {
        let shift = self.text.len();
        self.pieces.extend(other.pieces.into_iter().map(|p| Piece { text: p.text + shift, ..p }));
        self.text.push_str(&other.text);
        self.lost.extend(other.lost);
    }

    /// The source byte of the text byte `offset`.
    pub(super) fn source_of(&self, offset: usize) -> usize {
        let after = self.pieces.partition_point(|piece| piece.text <= offset);
        match after.checked_sub(1).and_then(|index| self.pieces.get(index)) {
            Some(piece) if piece.verbatim => piece.source + (offset - piece.text),
            Some(piece) => piece.source,
            None => self.bytes.start,
        }
    }
}
