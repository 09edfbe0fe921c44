//! Progress events of a review, for display only.

/// A step of a review.
#[derive(Debug, Clone, PartialEq)]
pub enum ReviewEvent {
    /// The change was determined.
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
    /// An agent starts one of its passes.
    PassStarted {
        /// Its name.
        pass: String,
    },
    /// An agent calls a tool.
    ToolCalled {
        /// Its name.
        tool: String,
    },
    /// The total spending of an agent so far.
    Spent {
        /// Calls to models.
        llm_calls: u32,
        /// Calls to tools.
        tool_calls: u32,
        /// Tokens, at most.
        tokens: u64,
        /// Dollars, at most.
        cost_usd: f64,
        /// Seconds until it has to end.
        seconds_left: u64,
    },
    /// Something went wrong without stopping a reviewer.
    ReviewWarning {
        /// The reviewer.
        reviewer: String,
        /// The warning.
        warning: String,
    },
    /// A reviewer has ended.
    ReviewerEnded {
        /// Its name.
        reviewer: String,
        /// The number of claims; `None` if it failed.
        claims: Option<usize>,
    },
    /// The claims are admitted and are checked.
    Verifying {
        /// The number of admitted findings.
        findings: usize,
    },
    /// The report is complete.
    Decided {
        /// The number of findings.
        findings: usize,
    },
}

/// Receives events.
pub type EventSink<'a> = &'a (dyn Fn(ReviewEvent) + Send + Sync);
