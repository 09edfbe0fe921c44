//! Which review ends a session: the `code_review` block, the older top-level `reviewer_type`, or
//! none, in this order.

use super::schema::{CodeReview, Config, ReviewerType};

/// What a person is told who relies on the top-level `reviewer_type`.
pub const DEPRECATION: &str = "\
DEPRECATION: Top-level 'reviewer_type' is deprecated for per-issue reviews.
Add 'validation_triggers.session_end.code_review.enabled: true' to preserve current behavior.
Legacy implicit reviews will be removed in the next major version.";

/// The review at the end of a session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SessionReview<'c> {
    /// The one that `validation_triggers.session_end.code_review` describes, enabled or not.
    Configured(&'c CodeReview),
    /// The one that the top-level `reviewer_type` implies. Deprecated.
    Legacy(ReviewerType),
    /// None.
    Absent,
}

/// The review at the end of a session.
pub fn session_review(config: &Config) -> SessionReview<'_> {
    let configured =
        config.validation_triggers.session_end.as_ref().and_then(|end| end.code_review.as_ref());
    match (configured, config.reviewer_type) {
        (Some(block), _) => SessionReview::Configured(block),
        (None, Some(reviewer)) => SessionReview::Legacy(reviewer),
        (None, None) => SessionReview::Absent,
    }
}
