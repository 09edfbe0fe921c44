//! Posts a review on a pull request, and stores decisions that people made there in the ledger.
//! Each round reads the discussion, plans the missing writes and performs them, until nothing is
//! missing. A crash, a lost connection or a concurrent run only leaves more for the next round.

mod decisions;

pub use decisions::store_decisions;

use crate::review::ReviewOutput;
use mala_domain::change::Change;
use mala_domain::config::UnreviewedCheck;
use mala_domain::finding::Finding;
use mala_domain::forge::{
    CheckDraft, CommandAnswer, Discussion, DiscussionParts, ForgeWrite, InlineDraft, InlineReview,
    PullRequest, PullRequestRef, RefusedWrites, SummaryState, ThreadDecision, UnansweredCommand,
    check_run, finding_id, inline_findings, plan_check, plan_inline, plan_summary,
    recognise_posted, set_aside,
};
use mala_domain::ports::{Forge, ForgeError};
use mala_domain::render::markdown::{render_explanation, render_no_effect, render_summary};
use mala_domain::report::{Report, ReviewStatus};
use mala_domain::verdict::Outcome;
use std::collections::BTreeSet;

/// The most rounds of reading and writing.
const MAX_ROUNDS: usize = 20;

/// What to post, and where.
pub struct PostRequest<'a> {
    /// The pull request.
    pub at: &'a PullRequestRef,
    /// As it was when the review started.
    pub pull: &'a PullRequest,
    /// The review.
    pub reviewed: &'a ReviewOutput,
    /// The reviewed change.
    pub change: &'a Change,
    /// When the review started, in a form that sorts by time.
    pub started: &'a str,
    /// What to post.
    pub parts: DiscussionParts,
    /// How a check run ends when the pull request could not be reviewed.
    pub without_review: UnreviewedCheck,
    /// The discussion as it was before the review.
    pub before: &'a Discussion,
    /// Whether the review comes from a file of another job, which is not trusted: it resolves no threads.
    pub is_from_file: bool,
}

/// The result of posting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PostOutcome {
    /// The discussion shows the review.
    Posted {
        /// The number of writes.
        n_writes: usize,
        /// Why threads of findings that are gone stay open.
        unresolved: Option<ForgeError>,
        /// Why comments that mala wrote with another account stay as they are.
        unchanged: Option<ForgeError>,
    },
    /// The pull request has another head: posting stops.
    Superseded,
}

/// The requests that [`post`] would send, as text.
pub async fn preview(forge: &dyn Forge, request: &PostRequest<'_>) -> Result<String, ForgeError> {
    let mut shown = String::new();
    for write in Posting::new(request).missing(request.before) {
        match forge.preview(request.at, &write).await {
            Ok(requests) => shown.push_str(&requests),
            // A run does not write this either.
            Err(why) if is_refusal(&why) => {}
            Err(why) => return Err(why),
        }
    }
    Ok(shown)
}

/// Posts a review. Reads the discussion again unless it showed the review before.
pub async fn post(forge: &dyn Forge, request: &PostRequest<'_>) -> Result<PostOutcome, ForgeError> {
    let mut posting = Posting::new(request);
    if posting.missing(request.before).is_empty() {
        return Ok(posting.outcome());
    }
    let decisions = request.before.decisions();
    let mut parts = request.parts.clone();
    if !decisions.is_empty() {
        (parts.comments, parts.inline) = (true, true);
    }
    for _ in 0..MAX_ROUNDS {
        let discussion = forge.discussion(request.at, &parts).await?;
        still_decided(&decisions, &discussion)?;
        let writes = posting.missing(&discussion);
        if writes.is_empty() {
            return Ok(posting.outcome());
        }
        if forge.pull_request(request.at).await?.head != request.pull.head {
            return Ok(PostOutcome::Superseded);
        }
        posting.write(forge, &writes, &discussion).await?;
    }
    Err(ForgeError::Unavailable("the comments of the pull request keep changing".to_owned()))
}

/// The decisions that the review is based on must not have been taken back since: a later review without them may have
/// found its result already there, and so left no trace.
fn still_decided(decisions: &[ThreadDecision], discussion: &Discussion) -> Result<(), ForgeError> {
    match decisions.iter().any(|it| discussion.is_taken_back(&it.id, &it.reason)) {
        true => Err(ForgeError::Unavailable(
            "not posted: a decision on the pull request was taken back during the review".into(),
        )),
        false => Ok(()),
    }
}

struct Posting<'a> {
    request: &'a PostRequest<'a>,
    inline: InlineReview,
    refused: RefusedWrites,
    n_writes: usize,
    /// Why threads cannot be resolved.
    unresolved: Option<ForgeError>,
    /// Why comments of other accounts cannot be changed.
    unchanged: Option<ForgeError>,
}

/// What to do after a write.
#[derive(PartialEq, Eq)]
enum AfterWrite {
    /// The next write.
    Continue,
    /// Read the discussion again.
    ReadAgain,
}

impl<'a> Posting<'a> {
    fn new(request: &'a PostRequest<'a>) -> Self {
        let ReviewOutput { report, sources, .. } = request.reviewed;
        let mut findings = inline_findings(report, request.change, sources);
        if !request.parts.inline {
            findings.iter_mut().for_each(|finding| finding.draft = None);
        }
        let could_review = !matches!(report.outcome, Outcome::CouldNotReview(_));
        let inline = InlineReview {
            head: request.pull.head.clone(),
            findings,
            set_aside: set_aside(report),
            is_complete: could_review && report.status == ReviewStatus::Ok && !request.is_from_file,
        };
        let refused = RefusedWrites::default();
        Self { request, inline, refused, n_writes: 0, unresolved: None, unchanged: None }
    }

    fn outcome(self) -> PostOutcome {
        let Self { n_writes, unresolved, unchanged, .. } = self;
        PostOutcome::Posted { n_writes, unresolved, unchanged }
    }

    /// The comments on lines, with the ids of comments that other runs posted during the review.
    fn inline(&self, discussion: &Discussion) -> InlineReview {
        let PostRequest { reviewed, change, before, .. } = self.request;
        let ReviewOutput { report, sources } = reviewed;
        // With a ledger, the review has decided about those that were there before.
        let earlier = before.threads().filter(|_| report.tracking.is_some());
        let earlier: BTreeSet<&str> = earlier.map(|(_, id)| id).collect();
        let mut inline = self.inline.clone();
        let comments = (&earlier, discussion);
        recognise_posted(&mut inline.findings, &report.issues, comments, (change, sources));
        inline
    }

    /// The missing writes.
    fn missing(&self, discussion: &Discussion) -> Vec<ForgeWrite> {
        let without_lines;
        let discussion = match self.request.parts.inline {
            true => discussion,
            false => {
                without_lines = Discussion { inline: Vec::new(), ..discussion.clone() };
                &without_lines
            }
        };
        let PostRequest { pull, reviewed, started, parts, is_from_file, .. } = self.request;
        let report = &reviewed.report;
        let before = SummaryState::newest(discussion);
        // A command that was given during the review is for the next one. A report of another job
        // does not answer any command.
        let asked = if *is_from_file { 0 } else { self.request.before.last_review_command() };
        let answered = asked.max(before.answered);
        let inline = plan_inline(&self.inline(discussion), discussion, &before, &self.refused);
        let state = SummaryState {
            head: pull.head.clone(),
            started: (*started).to_owned(),
            rejected: inline.rejected,
            resolved: inline.resolved,
            answered,
            ..SummaryState::default()
        };
        let draft = render_summary(report, pull, state, &inline.in_summary);
        let mut writes = Vec::new();
        if parts.comments {
            writes.extend(inline.writes);
            writes.extend(plan_summary(discussion, &draft, &self.refused));
            writes.extend(self.answers(discussion));
        }
        if parts.checks_of.is_some() {
            writes.extend(plan_check(discussion, &self.check(&draft.body)));
        }
        writes
    }

    fn check(&self, summary: &str) -> CheckDraft {
        let PostRequest { pull, reviewed, started, without_review, .. } = self.request;
        check_run(&reviewed.report, (&pull.head, started), summary, *without_review)
    }

    /// The answers to commands that are missing.
    fn answers(&self, discussion: &Discussion) -> Vec<ForgeWrite> {
        let report = &self.request.reviewed.report;
        let commands = discussion.unanswered_commands().into_iter();
        let answers = commands.map(|UnansweredCommand { id, thread, answer }| {
            let body = match answer {
                CommandAnswer::Explanation(of) => {
                    render_explanation(report, reported(report, of), id)
                }
                CommandAnswer::NoEffect(why) => render_no_effect(why, id),
            };
            match thread {
                Some(to) => ForgeWrite::ReplyToThread { to, body },
                None => ForgeWrite::CreateComment { body },
            }
        });
        answers.collect()
    }

    /// Performs writes until one is refused or its result is unknown; the next round plans the
    /// missing ones again.
    async fn write(
        &mut self,
        forge: &dyn Forge,
        writes: &[ForgeWrite],
        discussion: &Discussion,
    ) -> Result<(), ForgeError> {
        for write in writes {
            let next = match (forge.write(self.request.at, write).await, write) {
                (Err(ForgeError::Rejected(_)), ForgeWrite::CreateReview { commit, comments }) => {
                    self.write_one_by_one(forge, commit, comments).await?;
                    AfterWrite::ReadAgain
                }
                (Err(why), ForgeWrite::ResolveThread { id }) if is_refusal(&why) => {
                    self.refused.threads.insert(*id);
                    self.unresolved = Some(why);
                    AfterWrite::Continue
                }
                (Err(why), write)
                    if is_refusal(&why)
                        && changed_comment(write).is_some_and(|id| discussion.is_by_other(id)) =>
                {
                    self.refused.comments.extend(changed_comment(write));
                    self.unchanged = Some(why);
                    // Without this comment, another one may be the summary.
                    AfterWrite::ReadAgain
                }
                (written, _) => self.after(written)?,
            };
            if next == AfterWrite::ReadAgain {
                break;
            }
        }
        Ok(())
    }

    /// Posts each comment of a refused review separately, so that only those with refused lines are
    /// missing.
    async fn write_one_by_one(
        &mut self,
        forge: &dyn Forge,
        commit: &str,
        comments: &[InlineDraft],
    ) -> Result<(), ForgeError> {
        for comment in comments {
            let single = ForgeWrite::CreateInlineComment {
                commit: commit.to_owned(),
                comment: comment.clone(),
            };
            match forge.write(self.request.at, &single).await {
                Err(ForgeError::Rejected(why)) => {
                    tracing::debug!(why, "the forge refuses the lines of a comment");
                    self.refused.findings.extend(finding_id(&comment.body).map(str::to_owned));
                }
                written => match self.after(written)? {
                    AfterWrite::Continue => {}
                    AfterWrite::ReadAgain => break,
                },
            }
        }
        Ok(())
    }

    fn after(&mut self, written: Result<(), ForgeError>) -> Result<AfterWrite, ForgeError> {
        match written {
            Ok(()) => {
                self.n_writes += 1;
                Ok(AfterWrite::Continue)
            }
            Err(ForgeError::Uncertain(why)) => {
                tracing::debug!(why, "the discussion is read again after a write");
                Ok(AfterWrite::ReadAgain)
            }
            Err(error) => Err(error),
        }
    }
}

/// The comment that a write changes or deletes.
fn changed_comment(write: &ForgeWrite) -> Option<u64> {
    match write {
        ForgeWrite::UpdateComment { id, .. }
        | ForgeWrite::DeleteComment { id }
        | ForgeWrite::DeleteInlineComment { id } => Some(*id),
        _ => None,
    }
}

/// Whether the token lacks the permission.
fn is_refusal(error: &ForgeError) -> bool {
    matches!(error, ForgeError::Forbidden { .. } | ForgeError::NotFound { .. })
}

/// The finding of a report with this id in the ledger.
fn reported<'r>(report: &'r Report, id: &str) -> Option<&'r Finding> {
    let tracking = report.tracking.as_ref();
    let key = tracking.and_then(|it| it.issues.iter().find(|it| it.id.0 == id));
    let key = key.map_or(id, |it| it.dedupe_key.as_str());
    let issue = report.issues.iter().find(|finding| finding.dedupe_key.as_str() == key);
    let aside = tracking.and_then(|it| it.set_aside.iter().find(|it| it.id.0 == id));
    issue.or(aside.map(|it| &it.finding))
}
