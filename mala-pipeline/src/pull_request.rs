//! Posts a review on a pull request, and stores what people decided there in the ledger. Each round reads the discussion, plans what is missing and writes it,
//! until nothing is missing. A crash, a lost connection or another run at the same time only leaves more
//! for the next round.

mod decisions;

pub use decisions::store_decisions;

use crate::review::ReviewOutput;
use mala_domain::change::Change;
use mala_domain::config::UnreviewedCheck;
use mala_domain::finding::Finding;
use mala_domain::forge::{
    CheckDraft, Discussion, DiscussionParts, ForgeWrite, InlineReview, PullRequest, PullRequestRef,
    SummaryState, check_run, finding_id, inline_findings, plan_check, plan_inline, plan_summary,
    set_aside,
};
use mala_domain::ports::{Forge, ForgeError};
use mala_domain::render::markdown::{render_explanation, render_summary};
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
}

/// What posting did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PostOutcome {
    /// The discussion shows the review after this number of writes.
    Posted(usize),
    /// The pull request has another head: nothing more is posted.
    Superseded,
}

/// The writes that are missing, as they would be sent.
pub fn preview(forge: &dyn Forge, request: &PostRequest<'_>) -> String {
    let writes = Posting::new(request).missing(request.before);
    writes.iter().map(|write| forge.preview(request.at, write)).collect()
}

/// Posts a review. Reads the discussion again unless it showed the review before.
pub async fn post(forge: &dyn Forge, request: &PostRequest<'_>) -> Result<PostOutcome, ForgeError> {
    let mut posting = Posting::new(request);
    if posting.missing(request.before).is_empty() {
        return Ok(PostOutcome::Posted(0));
    }
    for _ in 0..MAX_ROUNDS {
        let discussion = forge.discussion(request.at, &request.parts).await?;
        let writes = posting.missing(&discussion);
        if writes.is_empty() {
            return Ok(PostOutcome::Posted(posting.n_writes));
        }
        if forge.pull_request(request.at).await?.head != request.pull.head {
            return Ok(PostOutcome::Superseded);
        }
        posting.write(forge, &writes).await?;
    }
    Err(ForgeError::Unavailable("the comments of the pull request keep changing".to_owned()))
}

struct Posting<'a> {
    request: &'a PostRequest<'a>,
    inline: InlineReview,
    /// The findings whose lines the forge refused.
    rejected: BTreeSet<String>,
    n_writes: usize,
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
            is_complete: could_review && report.status == ReviewStatus::Ok,
        };
        Self { request, inline, rejected: BTreeSet::new(), n_writes: 0 }
    }

    /// What the discussion lacks.
    fn missing(&self, discussion: &Discussion) -> Vec<ForgeWrite> {
        let without_lines;
        let discussion = match self.request.parts.inline {
            true => discussion,
            false => {
                without_lines = Discussion { inline: Vec::new(), ..discussion.clone() };
                &without_lines
            }
        };
        let PostRequest { pull, reviewed, started, parts, .. } = self.request;
        let report = &reviewed.report;
        let before = SummaryState::newest(discussion);
        let inline = plan_inline(&self.inline, discussion, &before, &self.rejected);
        let state = SummaryState {
            head: pull.head.clone(),
            started: (*started).to_owned(),
            rejected: inline.rejected,
            resolved: inline.resolved,
            answered: discussion.last_review_command().max(before.answered),
            ..SummaryState::default()
        };
        let draft = render_summary(report, pull, state, &inline.in_summary);
        let mut writes = Vec::new();
        if parts.comments {
            writes.extend(inline.writes);
            writes.extend(plan_summary(discussion, &draft));
            writes.extend(self.answers(discussion));
        }
        if parts.checks_of.is_some() {
            writes.extend(plan_check(discussion, &self.check(&draft.body)));
        }
        writes
    }

    fn check(&self, summary: &str) -> CheckDraft {
        let PostRequest { pull, reviewed, without_review, .. } = self.request;
        check_run(&reviewed.report, &pull.head, summary, *without_review)
    }

    /// The answers to `/mala explain` that are missing.
    fn answers(&self, discussion: &Discussion) -> Vec<ForgeWrite> {
        let report = &self.request.reviewed.report;
        let questions = discussion.unanswered_questions().into_iter();
        let answers = questions.map(|(to, command, id)| ForgeWrite::ReplyToThread {
            to,
            body: render_explanation(report, reported(report, id), command),
        });
        answers.collect()
    }

    /// Writes until a write is refused or its fate is unknown; the next round sees what is missing then.
    async fn write(&mut self, forge: &dyn Forge, writes: &[ForgeWrite]) -> Result<(), ForgeError> {
        for write in writes {
            match forge.write(self.request.at, write).await {
                Ok(()) => self.n_writes += 1,
                Err(ForgeError::Rejected(why)) => {
                    let ForgeWrite::CreateReview { commit, comments } = write else {
                        return Err(ForgeError::Rejected(why));
                    };
                    for comment in comments {
                        let single = ForgeWrite::CreateInlineComment {
                            commit: commit.clone(),
                            comment: comment.clone(),
                        };
                        match forge.write(self.request.at, &single).await {
                            Ok(()) => self.n_writes += 1,
                            Err(ForgeError::Rejected(why)) => {
                                tracing::debug!(why, "the forge refuses the lines of a comment");
                                self.rejected.extend(finding_id(&comment.body).map(str::to_owned));
                            }
                            Err(ForgeError::Uncertain(_)) => return Ok(()),
                            Err(error) => return Err(error),
                        }
                    }
                    return Ok(());
                }
                Err(ForgeError::Uncertain(why)) => {
                    tracing::debug!(why, "the fate of a write is unknown");
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
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
