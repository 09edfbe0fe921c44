//! Word lists, written as text.

/// Words separated by white space.
pub(super) struct WordList(pub(super) &'static str);

impl WordList {
    /// The words, in order.
    pub(super) fn words(&self) -> impl Iterator<Item = &'static str> {
        self.0.split_ascii_whitespace()
    }

    /// Whether the list contains `word`.
    pub(super) fn has(&self, word: &str) -> bool {
        self.words().any(|listed| listed == word)
    }
}
