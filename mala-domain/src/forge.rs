//! Pull requests: how one is named, what its discussion contains, and what a review writes there. Every
//! write follows from the discussion as it is, so that a second run, or a run after a crash, completes
//! the same set of comments.

mod check;
mod ci;
mod discussion;
mod inline;
mod marker;
mod reference;
mod replies;
mod summary;
#[cfg(test)]
mod tests;
mod webhook;

pub use check::{
    CHECK_NAME, CheckAnnotation, CheckConclusion, CheckDraft, ForgeCheck, check_run, plan_check,
};
pub use ci::{CiError, CiJob, CiService, ci_job, ci_service};
pub use discussion::{
    ComparedCommits, Discussion, DiscussionParts, ForgeAuthor, ForgeComment, ForgeWrite,
    InlineComment, InlineDraft, PullRequest, ResolvedThread,
};
pub use inline::{
    InlineFinding, InlinePlan, InlineReview, inline_findings, place, plan_inline, set_aside,
    suggested_lines,
};
pub use marker::{
    CommentedFinding, SummaryState, answer_marker, answered_command, commented_finding, finding_id,
    finding_marker, read_summary, summary_marker,
};
pub use reference::{
    ForgeService, PullRequestBranch, PullRequestRef, ReferenceError, RepositoryName,
    remote_repository, web_host,
};
pub use replies::{PostedFinding, ReplyCommand, ThreadDecision, parse_command};
pub use summary::{SummaryDraft, plan_summary};
pub use webhook::{WebhookAction, webhook_action};
