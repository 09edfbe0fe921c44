//! A reviewer that is not there, and says why.

use mala_domain::ports::{BoxFuture, Reviewer, ReviewerFailure};
use mala_domain::review::{Hearing, ReviewRequest};

/// A reviewer that is not there.
pub(super) struct Absent {
    pub(super) name: String,
    pub(super) why: String,
}

impl Reviewer for Absent {
    fn name(&self) -> &str {
        &self.name
    }

    fn review<'a>(
        &'a self,
        _: &'a ReviewRequest,
    ) -> BoxFuture<'a, Result<Hearing, ReviewerFailure>> {
        Box::pin(async { Err(ReviewerFailure::Unavailable(self.why.clone())) })
    }
}
