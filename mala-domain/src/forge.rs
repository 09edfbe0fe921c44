//! Pull requests: how one is named, what its discussion contains, and what a review writes there. Every
//! write follows from the discussion as it is, so that a second run, or a run after a crash, completes
//! the same set of comments.

mod check;
mod discussion;
mod inline;
mod marker;
mod reference;
mod summary;
#[cfg(test)]
mod tests;

pub use check::{
    CHECK_NAME, CheckAnnotation, CheckConclusion, CheckDraft, ForgeCheck, check_run, plan_check,
};
pub use discussion::{
    Discussion, DiscussionParts, ForgeAuthor, ForgeComment, ForgeWrite, InlineComment, InlineDraft,
    PullRequest, ReplyCommand, parse_command,
};
pub use inline::{InlineFinding, InlinePlan, inline_findings, place, plan_inline, suggested_lines};
pub use marker::{SummaryState, finding_id, finding_marker, read_summary, summary_marker};
pub use reference::{PullRequestRef, ReferenceError, RepositoryName, remote_repository, web_host};
pub use summary::{SummaryDraft, plan_summary};
