//! Pull requests: references, discussions, and what a review posts. Every write follows from the
//! current discussion, so that a second run, or a run after a crash, completes the same set of
//! comments.

mod check;
mod ci;
mod decided;
mod discussion;
mod inline;
mod marker;
mod recognise;
mod reference;
mod replies;
mod summary;
#[cfg(test)]
mod tests;
mod webhook;

pub use check::{
    CHECK_NAME, CheckAnnotation, CheckConclusion, CheckDraft, ForgeCheck, check_run, plan_check,
};
pub use ci::{CiError, CiJob, CiService, JobCommits, ci_job, ci_service};
pub use decided::apply_decisions;
pub use discussion::{
    CommentLine, ComparedCommits, Discussion, DiscussionParts, ForgeAuthor, ForgeComment,
    ForgeWrite, InlineComment, InlineDraft, PullRequest, ResolvedThread,
};
pub use inline::{
    InlineFinding, InlinePlan, InlineReview, RefusedWrites, inline_findings, place, plan_inline,
    set_aside, suggested_lines,
};
pub use marker::{
    CommentedFinding, SummaryState, answer_marker, answered_command, commented_finding, finding_id,
    finding_marker, invalid_id, read_summary, summary_marker,
};
pub use recognise::recognise_posted;
pub use reference::{
    ForgeService, PullRequestBranch, PullRequestRef, ReferenceError, RepositoryName,
    remote_repository, web_host,
};
pub use replies::{
    CommandAnswer, PostedFinding, ReplyCommand, ThreadDecision, UnansweredCommand, parse_command,
};
pub use summary::{SummaryDraft, plan_summary};
pub use webhook::{
    AttemptFailure, WebhookAction, github_webhook, gitlab_webhook, is_gitlab_program, retry_wait,
};
