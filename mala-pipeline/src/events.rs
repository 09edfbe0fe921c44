//! What happens, for whoever watches. Events flow out; nobody reads them back.

/// A step of a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// What changed is known.
    Scoped {
        /// Changed files.
        files: usize,
        /// Changed regions.
        hunks: usize,
    },
    /// A reviewer starts.
    ReviewerStarted {
        /// Its name.
        reviewer: String,
    },
    /// A reviewer has ended.
    ReviewerEnded {
        /// Its name.
        reviewer: String,
        /// What it claims, or `None` when it failed.
        claims: Option<usize>,
    },
    /// The report stands.
    Decided {
        /// What stands.
        findings: usize,
    },
}

/// Where events go.
pub type EventSink<'a> = &'a (dyn Fn(Event) + Send + Sync);
