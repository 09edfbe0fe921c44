//! `mala ci`: reviews the change of the current CI job, and shows the result where the service shows it.

use super::pr::{self, PostTarget, PrArgs};
use super::review::{self, ReviewArgs, ReviewOptions};
use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::interrupt::until_interrupted;
use crate::wiring::changes::Changes;
use anyhow::Context;
use clap::Args;
use mala_domain::forge::{CiError, CiJob, CiService, JobCommits, ci_job, ci_service};
use mala_domain::scope::ReviewTarget;
use serde_json::Value;
use std::path::PathBuf;

/// The report that GitLab shows.
const CODE_QUALITY: &str = "gl-code-quality-report.json";
/// The size limit of an event file.
const MAX_EVENT_BYTES: u64 = 32 << 20;

/// Review the change of the current CI job
///
/// Detects GitHub Actions and GitLab CI. A pull request is reviewed as by `mala pr`, and so is a merge request if
/// GITLAB_TOKEN is set; a push is reviewed as by `mala review`. On GitHub, the report is also in the summary of the job; on GitLab, it is in
/// gl-code-quality-report.json.
#[derive(Debug, Clone, Args)]
pub struct CiArgs {
    /// Where to post the result on a pull request; repeatable [default: review, or annotations for a fork]
    #[arg(long, value_name = "WHERE", value_delimiter = ',')]
    post: Vec<PostTarget>,

    /// Post this review, written by an earlier job with `--output json=FILE`, instead of reviewing
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,

    #[command(flatten)]
    options: ReviewOptions,
}

pub(super) fn run(args: &CiArgs, here: &Environment) -> anyhow::Result<Exit> {
    let variable = |name: &str| here.text(name).map(str::to_owned);
    let service = ci_service(&variable).map_err(failure)?;
    let event = match (service, here.variable("GITHUB_EVENT_PATH")) {
        (CiService::GitHubActions, Some(path)) => Some(event(&here.folder.join(path))?),
        _ => None,
    };
    let job = ci_job(&variable, event.as_ref()).map_err(failure)?;
    let CiArgs { post, from, mut options } = args.clone();
    if let (CiService::GitHubActions, Some(path)) = (service, here.text("GITHUB_STEP_SUMMARY")) {
        options.also_write("markdown", path);
    }
    match job {
        CiJob::PullRequest { repository, number, may_write, asked_by } => {
            let default = if may_write { PostTarget::Review } else { PostTarget::Annotations };
            let post = if post.is_empty() { vec![default] } else { post };
            let args = PrArgs::of(format!("{repository}#{number}"), post, from, options);
            match pr::run(&args.asked_by(asked_by), here) {
                Err(error) if Failure::kind_of(&error) == FailureKind::NotAllowed => {
                    console::say(&format!("note: {error}"));
                    Ok(Exit::Passed)
                }
                exit => exit,
            }
        }
        CiJob::MergeRequest { repository, number } => {
            options.also_write("gitlab", CODE_QUALITY);
            let post = if post.is_empty() { vec![PostTarget::Review] } else { post };
            pr::run(&PrArgs::of(format!("{repository}!{number}"), post, from, options), here)
        }
        CiJob::FinishedWorkflow(branch) => {
            let from = from.ok_or_else(|| {
                Failure::usage("after another workflow, only its review can be posted")
                    .hint("run `mala ci --from review.json`")
            })?;
            let post = if post.is_empty() { vec![PostTarget::Review] } else { post };
            pr::run_from_branch(&branch, PrArgs::of(String::new(), post, Some(from), options), here)
        }
        CiJob::Comment => {
            console::say("note: the comment asks for no review");
            Ok(Exit::Passed)
        }
        CiJob::Commits(commits) => {
            match commits.service {
                CiService::GitLab => {
                    if here.text("CI_MERGE_REQUEST_IID").is_some() {
                        console::say(
                            "note: nothing is posted: GITLAB_TOKEN is not set, and CI_JOB_TOKEN cannot write discussions",
                        );
                    }
                    options.also_write("gitlab", CODE_QUALITY);
                }
                CiService::GitHubActions => options.default_format("github"),
            }
            review_commits(&commits, options, here)
        }
    }
}

/// Reviews the commits of a job, which must be in the clone around the current folder.
fn review_commits(
    commits: &JobCommits,
    options: ReviewOptions,
    here: &Environment,
) -> anyhow::Result<Exit> {
    let hint = match commits.service {
        CiService::GitHubActions => "add actions/checkout with `fetch-depth: 0` before this step",
        CiService::GitLab => "set the variable GIT_DEPTH of the job to 0",
    };
    let mut range = None;
    let exit = until_interrupted(async {
        let found = Changes::open(here).await.first_range(&targets(commits)).await;
        range = Some(found.map_err(|failure| failure.hint(hint))?);
        Ok(Exit::Passed)
    })?;
    match range {
        Some(range) => {
            review::run(&ReviewArgs::of_range(&range, commits.is_from_fork, options), here)
        }
        None => Ok(exit),
    }
}

/// The targets to try, in order of preference.
fn targets(commits: &JobCommits) -> Vec<ReviewTarget> {
    let head = || commits.head.clone();
    let base = commits.base.clone().map(|base| ReviewTarget::Range { base, head: head() });
    let branch = commits
        .default_branch
        .as_ref()
        .map(|name| ReviewTarget::SinceMergeBase { base: format!("origin/{name}"), head: head() });
    base.into_iter().chain(branch).collect()
}

fn event(path: &std::path::Path) -> anyhow::Result<Value> {
    let bytes = crate::wiring::read_following_links(path, MAX_EVENT_BYTES);
    let bytes = bytes.with_context(|| format!("reading {}", path.display()))?;
    serde_json::from_slice(&bytes).with_context(|| format!("reading {}", path.display()))
}

fn failure(error: CiError) -> Failure {
    let (kind, hint) = match error {
        CiError::Unknown => {
            (FailureKind::Configuration, "run `mala review` or `mala pr` outside of CI")
        }
        CiError::Missing(_) => (
            FailureKind::Configuration,
            "the CI service sets it; run `mala pr` to review without it",
        ),
        CiError::NoBase => {
            (FailureKind::CouldNotReview, "run `mala review A..B` to review certain commits")
        }
    };
    Failure::new(kind, error.to_string()).hint(hint)
}
