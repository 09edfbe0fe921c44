//! Selects the review at the end of a session: the `code_review` block or, if it is missing, the deprecated
//! top-level `reviewer_type`.

use super::schema::{CodeReview, Config, ReviewerType};

/// The warning for users of the top-level `reviewer_type`.
pub const DEPRECATION: &str = "\
DEPRECATION: Top-level 'reviewer_type' is deprecated for per-issue reviews.
Add 'validation_triggers.session_end.code_review.enabled: true' to preserve current behavior.
Legacy implicit reviews will be removed in the next major version.";

/// The review at the end of a session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SessionReview<'c> {
    /// Configured by `validation_triggers.session_end.code_review`, enabled or not.
    Configured(&'c CodeReview),
    /// Implied by the deprecated top-level `reviewer_type`.
    Legacy(ReviewerType),
    /// No review.
    Absent,
}

/// Selects the review at the end of a session.
pub fn session_review(config: &Config) -> SessionReview<'_> {
    let configured =
        config.validation_triggers.session_end.as_ref().and_then(|end| end.code_review.as_ref());
    match (configured, config.reviewer_type) {
        (Some(block), _) => SessionReview::Configured(block),
        (None, Some(reviewer)) => SessionReview::Legacy(reviewer),
        (None, None) => SessionReview::Absent,
    }
}
