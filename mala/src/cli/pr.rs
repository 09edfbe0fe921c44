//! `mala pr`: reviews a pull request and posts the result on it.

use super::review::{
    self, FinishedReview, ReviewJob, ReviewOptions, all_tasks, run_job, show_report,
};
use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind, describe};
use crate::interrupt::until_interrupted;
use crate::progress::ReviewProgress;
use crate::settings::UserSettings;
use crate::wiring::forges::{PullRequestSource, forge_failure};
use crate::wiring::{read_report, start_time, state_folder, trusted_settings};
use clap::Args;
use mala_domain::change::Change;
use mala_domain::forge::{
    Discussion, DiscussionParts, PullRequestBranch, PullRequestRef, SummaryState, apply_decisions,
    invalid_id,
};
use mala_domain::ports::Side;
use mala_domain::render::{self, ReportView};
use mala_domain::review::Coverage;
use mala_domain::scope::ReviewTarget;
use mala_pipeline::pull_request::{PostOutcome, PostRequest, post, preview};
use mala_pipeline::review::ReviewOutput;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most skipped files that warnings name.
const MAX_NAMED: usize = 50;

/// Review a pull request on GitHub, or a merge request on GitLab
///
/// Reviews the changes since the merge base. The configuration and the rules come from the base. The token
/// comes from GITHUB_TOKEN, GH_TOKEN or `gh auth token`, and needs the permissions to read pull requests
/// and contents; posting a comment needs "Issues: write", posting a review also "Pull requests: write", and posting a check
/// "Checks: write". On GitLab, the token comes from GITLAB_TOKEN and needs the scope "api".
#[derive(Debug, Args)]
pub struct PrArgs {
    /// Pull request: OWNER/REPO#N, GROUP/PROJECT!N on GitLab, or its URL [default: that of the current branch]
    #[arg(value_name = "OWNER/REPO#N|URL")]
    pull_request: Option<String>,

    /// Where to post the result; repeatable [default: comment in GitHub Actions and GitLab CI, else none]
    #[arg(long, value_name = "WHERE", value_delimiter = ',')]
    post: Vec<PostTarget>,

    /// Review, and print the requests that would be sent instead of sending them
    #[arg(long)]
    dry_run: bool,

    /// Post this review, written by `--output json=FILE`, instead of reviewing; it must be about the same commits
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,

    /// Review only if this account may write to the repository; repeatable, one is enough
    #[arg(long, value_name = "LOGIN")]
    asked_by: Vec<String>,

    #[command(flatten)]
    options: ReviewOptions,
}

impl PrArgs {
    /// The arguments for a pull request.
    pub(super) fn of(
        pull_request: String,
        post: Vec<PostTarget>,
        from: Option<PathBuf>,
        options: ReviewOptions,
    ) -> Self {
        let (pull_request, asked_by) = (Some(pull_request), Vec::new());
        Self { pull_request, post, dry_run: false, from, asked_by, options }
    }

    /// The same, for a review that an account requested.
    pub(super) fn asked_by(self, login: Option<String>) -> Self {
        Self { asked_by: login.into_iter().collect(), ..self }
    }
}

/// Where to post the result of a review
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum PostTarget {
    /// One summary comment
    Comment,
    /// The summary comment, and comments on lines of the diff
    Review,
    /// A check run with annotations, which can block the merge; on GitLab, a commit status
    Check,
    /// Workflow commands on stdout, which GitHub Actions shows as annotations
    Annotations,
    /// Nowhere
    None,
}

pub(super) fn run(args: &PrArgs, here: &Environment) -> anyhow::Result<Exit> {
    until_interrupted(async { review_pull_request(args, UserSettings::load(here)?, here).await })
}

/// Posts a stored review on the pull request of a branch.
pub(super) fn run_from_branch(
    branch: &PullRequestBranch,
    mut args: PrArgs,
    here: &Environment,
) -> anyhow::Result<Exit> {
    until_interrupted(async {
        let user = UserSettings::load(here)?;
        let found = PullRequestSource::find_branch(here, &user, branch).await?;
        args.pull_request = Some(found.to_string());
        review_pull_request(&args, user, here).await
    })
}

async fn review_pull_request(
    args: &PrArgs,
    user: UserSettings,
    here: &Environment,
) -> anyhow::Result<Exit> {
    let sinks = review::sinks(&args.options)?;
    let started = start_time();
    let progress = Arc::new(ReviewProgress::start());
    let source = PullRequestSource::open(here, &user, args.pull_request.as_deref()).await?;
    let named = source.find(args.pull_request.as_deref()).await?;
    let pull = source.pull_request(&named).await?;
    // A renamed repository answers under its old name only to reads.
    let at = PullRequestRef { repository: pull.repository.clone(), ..named.clone() };
    let targets = targets(args, here);
    let parts = parts(&targets, &pull.head, args);
    let discussion = source.discussion(&at, &parts).await?;
    check_access(&args.asked_by, &discussion)?;
    let scoped = source.scope(&pull).await?;
    let change = Arc::clone(&scoped.change);
    let texts = [&pull.title, &pull.body];
    let texts = texts.map(|text| Some(text.clone()).filter(|text| !text.trim().is_empty()));
    // A dry run stores nothing that a later review would use.
    let options = args.options.clone().unsaved_if(args.dry_run);
    let job = ReviewJob {
        options: &options,
        is_dry_run: false,
        user,
        target: ReviewTarget::Range { base: pull.merge_base.clone(), head: pull.head.clone() },
        scoped,
        tasks: all_tasks(&args.options, here, texts)?,
        subject: Some(pull.number.to_string()),
        store: Some(state_folder(here.root())),
        tracked_in: Some(source.ledger(&pull, &named.repository, discussion.clone())),
        // Only a summary records that a requested review was done.
        full_requested: parts.comments && is_review_requested(&discussion),
        warnings: skipped_files(&change),
        is_from_fork: pull.is_fork,
        paths: Vec::new(),
        trusted: Side::Base,
        started,
        progress,
    };
    let done = match &args.from {
        Some(file) => Some(stored_review(job, &here.folder.join(file), &discussion).await?),
        None => run_job(job, here).await?,
    };
    // Only a dry run has no review.
    let Some(done) = done else { return Ok(Exit::Passed) };
    let request = PostRequest {
        at: &at,
        pull: &pull,
        reviewed: &done.reviewed,
        change: &change,
        started: &done.started.stamp,
        parts,
        without_review: done.policy.unreviewed_check.value,
        before: &discussion,
        is_from_file: args.from.is_some(),
    };
    if args.dry_run {
        show_requests(&source, &request).await?;
    } else {
        show_report(&done.reviewed, &sinks, &done.policy, &args.options, here)?;
        publish(&targets, &source, &request, &done).await?;
    }
    Ok(Exit::from(done.reviewed.report.outcome))
}

/// A review of an earlier job, with later decisions of people applied. The file is not trusted: it
/// must be about exactly this change, and its texts are escaped like those of a model.
async fn stored_review(
    job: ReviewJob<'_>,
    file: &Path,
    discussion: &Discussion,
) -> anyhow::Result<FinishedReview> {
    let mut report = read_report(file).map_err(|error| {
        Failure::new(FailureKind::CouldNotReview, format!("{}: {error}", file.display()))
    })?;
    if let Some(id) = invalid_id(&report) {
        let what = format!("{}: `{id}` is no id of a review or of a finding", file.display());
        return Err(Failure::new(FailureKind::CouldNotReview, what).into());
    }
    let scope = &job.scoped.scope;
    let is_same = report.scope.base == scope.base
        && report.scope.head == scope.head
        && report.scope.diff_hash == scope.diff_hash;
    if !is_same {
        let what = format!("{} is a review of another change", file.display());
        return Err(Failure::new(FailureKind::CouldNotReview, what)
            .hint("the pull request may have a newer head")
            .into());
    }
    let flags = review::flags(job.options);
    let settings = trusted_settings::of_change(&job.user, &job.scoped, flags).await?;
    apply_decisions(&mut report, discussion);
    let reviewed = ReviewOutput { report, sources: BTreeMap::new() };
    job.progress.end();
    Ok(FinishedReview { reviewed, policy: settings.policy, started: job.started })
}

/// Prints the requests that would be sent.
async fn show_requests(
    source: &PullRequestSource,
    request: &PostRequest<'_>,
) -> anyhow::Result<()> {
    let shown = preview(source.forge(), request).await.map_err(forge_failure)?;
    if shown.is_empty() {
        console::say("note: no request would be sent");
    }
    Ok(console::data(&console::harmless(&shown))?)
}

async fn publish(
    targets: &[PostTarget],
    source: &PullRequestSource,
    request: &PostRequest<'_>,
    done: &FinishedReview,
) -> anyhow::Result<()> {
    if targets.contains(&PostTarget::Annotations) {
        let view = ReportView { report: &done.reviewed.report, sources: &done.reviewed.sources };
        let annotations = render::output("github").map(|show| show(&view)).unwrap_or_default();
        console::bytes(annotations.as_bytes())?;
    }
    if !request.parts.comments && request.parts.checks_of.is_none() {
        return Ok(());
    }
    match post(source.forge(), request).await.map_err(forge_failure)? {
        PostOutcome::Posted { n_writes, unresolved, unchanged } => {
            console::say(&match n_writes {
                0 => "note: the comments are up to date".to_owned(),
                n_writes => format!("note: posted with {}", console::counted(n_writes, "write")),
            });
            let left = [
                (unresolved, "threads of fixed findings stay open"),
                (unchanged, "comments that mala wrote with another account stay as they are"),
            ];
            for (why, what) in left.into_iter().filter_map(|(why, what)| Some((why?, what))) {
                let why = describe(&forge_failure(why).into());
                let why = why.strip_prefix("error: ").unwrap_or(&why);
                console::say(&format!("warning: {what}: {why}"));
            }
        }
        PostOutcome::Superseded => {
            console::say("warning: not posted: the pull request has a newer head");
        }
    }
    Ok(())
}

/// Names the files that are skipped, and those that are deleted: of these, only the removed lines are reviewed.
fn skipped_files(change: &Change) -> Vec<String> {
    let skipped = Coverage::over(change, &[]).skipped;
    let skipped = skipped.iter().map(|it| format!("{} is skipped: {}", it.file, it.reason.name()));
    let deleted = change.files.iter().filter(|file| !file.exists_at_head());
    let deleted = deleted.map(|file| format!("{} is deleted: only removed lines", file.path));
    let mut all: Vec<String> = skipped.chain(deleted).collect();
    if let Some(more) = all.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
        all.truncate(MAX_NAMED);
        all.push(format!("{} skipped or deleted", console::counted(more, "more file")));
    }
    all
}

/// Whether a person requested a review with `/mala review` since the last one.
fn is_review_requested(discussion: &Discussion) -> bool {
    discussion.last_review_command() > SummaryState::newest(discussion).answered
}

/// Checks that one of the accounts that requested the review has write access to the repository.
fn check_access(asked_by: &[String], discussion: &Discussion) -> Result<(), Failure> {
    match asked_by.is_empty() || asked_by.iter().any(|login| discussion.writers.contains(login)) {
        true => Ok(()),
        false => {
            let names = asked_by.join(", ");
            let what =
                format!("no command by an account that may write to the repository: {names}");
            Err(Failure::new(FailureKind::NotAllowed, what))
        }
    }
}

/// The parts of the discussion to post.
fn parts(targets: &[PostTarget], head: &str, args: &PrArgs) -> DiscussionParts {
    let inline = targets.contains(&PostTarget::Review);
    DiscussionParts {
        comments: inline || targets.contains(&PostTarget::Comment),
        inline,
        checks_of: targets.contains(&PostTarget::Check).then(|| head.to_owned()),
        // They may have resolved a thread.
        all_threads: !args.asked_by.is_empty(),
    }
}

/// The targets of posting. A dry run shows all of them by default.
fn targets(args: &PrArgs, here: &Environment) -> Vec<PostTarget> {
    let is_true = |name: &str| here.text(name) == Some("true");
    match args.post.is_empty() {
        false => args.post.clone(),
        true if args.dry_run => vec![PostTarget::Review],
        true if is_true("GITHUB_ACTIONS") || is_true("GITLAB_CI") => vec![PostTarget::Comment],
        true => vec![PostTarget::None],
    }
}
