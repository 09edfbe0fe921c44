//! `mala pr`: reviews a pull request and posts the result on it.

use super::exit::Exit;
use super::interrupt::until_interrupted;
use super::review::{
    self, FinishedReview, ReviewJob, ReviewOptions, all_tasks, run_job, show_report, start_time,
};
use crate::console;
use crate::environment::Environment;
use crate::progress::ReviewProgress;
use crate::settings::UserSettings;
use crate::wiring::forges::{PullRequestSource, forge_failure};
use crate::wiring::state_folder;
use clap::Args;
use mala_domain::forge::DiscussionParts;
use mala_domain::render::{self, ReportView};
use mala_domain::scope::ReviewTarget;
use mala_pipeline::pull_request::{PostOutcome, PostRequest, post, preview};
use std::sync::Arc;

/// Review a pull request on GitHub
///
/// Reviews the changes since the merge base. The configuration and the rules come from the base. The token
/// comes from GITHUB_TOKEN, GH_TOKEN or `gh auth token`, and needs the permissions to read pull requests
/// and contents; posting a comment needs "Issues: write", posting a review also "Pull requests: write", and posting a check
/// "Checks: write".
#[derive(Debug, Args)]
pub struct PrArgs {
    /// Pull request: OWNER/REPO#N or its URL [default: that of the current branch]
    #[arg(value_name = "OWNER/REPO#N|URL")]
    pull_request: Option<String>,

    /// Where to post the result; repeatable [default: comment in GitHub Actions, else none]
    #[arg(long, value_name = "WHERE", value_delimiter = ',')]
    post: Vec<PostTarget>,

    /// Review, and print the requests that would be sent to GitHub instead of sending them
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    options: ReviewOptions,
}

/// Where to post the result of a review
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum PostTarget {
    /// One summary comment
    Comment,
    /// The summary comment, and comments on lines of the diff
    Review,
    /// A check run with annotations, which can block the merge
    Check,
    /// Workflow commands on stdout, which GitHub Actions shows as annotations
    Annotations,
    /// Nowhere
    None,
}

pub(super) fn run(args: &PrArgs, here: &Environment) -> anyhow::Result<Exit> {
    until_interrupted(review_pull_request(args, here))
}

async fn review_pull_request(args: &PrArgs, here: &Environment) -> anyhow::Result<Exit> {
    let sinks = review::sinks(&args.options)?;
    let started = start_time();
    let progress = Arc::new(ReviewProgress::start());
    let source = PullRequestSource::open(here).await?;
    let at = source.find(args.pull_request.as_deref()).await?;
    let pull = source.pull_request(&at).await?;
    let scoped = source.scope(&pull).await?;
    let change = Arc::clone(&scoped.change);
    let texts = [&pull.title, &pull.body];
    let texts = texts.map(|text| Some(text.clone()).filter(|text| !text.trim().is_empty()));
    let job = ReviewJob {
        options: &args.options,
        is_dry_run: false,
        user: UserSettings::load(here)?,
        target: ReviewTarget::Range { base: pull.merge_base.clone(), head: pull.head.clone() },
        scoped,
        tasks: all_tasks(&args.options, here, texts)?,
        subject: Some(pull.number.to_string()),
        store: Some(state_folder(here.root())),
        tracked_in: None,
        paths: Vec::new(),
        trusted: mala_domain::ports::Side::Base,
        started,
        progress,
    };
    // Only a dry run has no review.
    let Some(done) = run_job(job, here).await? else { return Ok(Exit::Passed) };
    let targets = targets(args, here);
    let request = PostRequest {
        at: &at,
        pull: &pull,
        reviewed: &done.reviewed,
        change: &change,
        started: &done.started.stamp,
        parts: parts(&targets, &pull.head),
    };
    if args.dry_run {
        let shown = preview(source.forge(), &request).await.map_err(forge_failure)?;
        console::data(&console::harmless(&shown))?;
        return Ok(Exit::from(done.reviewed.report.outcome));
    }
    show_report(&done.reviewed, &sinks, &done.policy, &args.options, here)?;
    publish(&targets, &source, &request, &done).await?;
    Ok(Exit::from(done.reviewed.report.outcome))
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
    if request.parts == DiscussionParts::default() {
        return Ok(());
    }
    match post(source.forge(), request).await.map_err(forge_failure)? {
        PostOutcome::Posted(0) => console::say("note: the comments are up to date"),
        PostOutcome::Posted(writes) => {
            console::say(&format!("note: posted with {}", console::counted(writes, "write")));
        }
        PostOutcome::Superseded => {
            console::say("warning: not posted: the pull request has a newer head");
        }
    }
    Ok(())
}

/// What to post, as parts of the discussion.
fn parts(targets: &[PostTarget], head: &str) -> DiscussionParts {
    let inline = targets.contains(&PostTarget::Review);
    DiscussionParts {
        comments: inline || targets.contains(&PostTarget::Comment),
        inline,
        checks_of: targets.contains(&PostTarget::Check).then(|| head.to_owned()),
    }
}

/// Where to post. A dry run shows everything unless it is told otherwise.
fn targets(args: &PrArgs, here: &Environment) -> Vec<PostTarget> {
    match args.post.is_empty() {
        false => args.post.clone(),
        true if args.dry_run => vec![PostTarget::Review],
        true if here.text("GITHUB_ACTIONS") == Some("true") => vec![PostTarget::Comment],
        true => vec![PostTarget::None],
    }
}
