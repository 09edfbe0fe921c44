//! Lists of words, written as one text so that they read like one.

/// Words with white space between them.
pub(super) struct WordList(pub(super) &'static str);

impl WordList {
    /// The words, in order.
    pub(super) fn words(&self) -> impl Iterator<Item = &'static str> {
        self.0.split_ascii_whitespace()
    }

    /// Whether `word` is one of them.
    pub(super) fn has(&self, word: &str) -> bool {
        self.words().any(|listed| listed == word)
    }
}
