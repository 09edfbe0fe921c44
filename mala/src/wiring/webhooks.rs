//! The service behind `mala serve --webhooks`: deliveries are stored, and a process per pull request reviews it.

use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::wiring::read_report;
use anyhow::Context;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use mala_adapters::process::{ProcessEnvironment, ProcessLimits, ProcessSpec, run};
use mala_adapters::webhooks::{
    AttemptEnd, QueuedReview, WebhookQueue, WebhookReceiver, WebhookSecret, WebhookSecrets,
};
use mala_domain::forge::{AttemptFailure, retry_wait};
use mala_domain::verdict::Outcome;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// The time limit of one review.
const REVIEW_TIME: Duration = Duration::from_secs(60 * 60);

/// Maximum number of lines of a failed review's output to show.
const MAX_LINES: usize = 10;

/// The interval of checking the queue without a delivery.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// The variables with the secrets of webhooks, which no review gets.
pub const GITHUB_SECRET: &str = "GITHUB_WEBHOOK_SECRET";
/// The same for GitLab.
pub const GITLAB_SECRET: &str = "GITLAB_WEBHOOK_SECRET";

/// The settings of the service.
pub struct WebhookService<'s> {
    /// The secret of the webhooks on GitHub.
    pub github_secret: Option<&'s str>,
    /// The secret of the webhooks on GitLab.
    pub gitlab_secret: Option<&'s str>,
    /// The address to listen on.
    pub address: SocketAddr,
    /// How many reviews run at a time.
    pub n_jobs: usize,
    /// Where to post results, as in `--post`.
    pub post: String,
}

/// Serves until `stopped` returns; then no more deliveries are taken, and the running reviews finish. When it returns
/// again, they are left to the next start.
pub async fn serve(
    service: &WebhookService<'_>,
    here: &Environment,
    mut stopped: impl AsyncFnMut(),
) -> anyhow::Result<()> {
    let path = here.root().join(".mala/webhooks.db");
    let queue = Arc::new(WebhookQueue::open(&path, now()).context("opening .mala/webhooks.db")?);
    let listener = TcpListener::bind(service.address).await;
    let listener = listener.with_context(|| format!("listening on {}", service.address))?;
    let stored = Arc::new(Notify::new());
    let receiver = WebhookReceiver {
        queue: Arc::clone(&queue),
        secrets: WebhookSecrets {
            github: service.github_secret.map(WebhookSecret::new),
            gitlab: service.gitlab_secret.map(WebhookSecret::new),
        },
        stored: Arc::clone(&stored),
    };
    console::say(&format!("listening on http://{}/webhooks", listener.local_addr()?));
    let program = std::env::current_exe().context("finding mala itself")?;
    let mut running = FuturesUnordered::new();
    {
        let serving = receiver.serve(&listener);
        tokio::pin!(serving);
        loop {
            while running.len() < service.n_jobs
                && let Some(due) = queue.take(now()).await?
            {
                running.push(review(&program, service, here, due));
            }
            tokio::select! {
                () = &mut serving => {}
                () = stored.notified() => {}
                // A review that failed may be due again.
                () = tokio::time::sleep(CHECK_INTERVAL) => {}
                Some((ended, end)) = running.next() => queue.end(ended, end, now()).await?,
                () = stopped() => break,
            }
        }
    }
    drop(listener);
    if !running.is_empty() {
        console::say(&format!("stopping after {}", console::counted(running.len(), "review")));
    }
    loop {
        tokio::select! {
            ended = running.next() => match ended {
                Some((ended, end)) => queue.end(ended, end, now()).await?,
                None => return Ok(()),
            },
            () = stopped() => return Ok(()),
        }
    }
}

fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

/// Runs `mala pr` for a pull request, and returns how it ended.
async fn review(
    program: &PathBuf,
    service: &WebhookService<'_>,
    here: &Environment,
    due: QueuedReview,
) -> (QueuedReview, AttemptEnd) {
    let at = due.at.to_string();
    let (failure, why) = match attempt(program, service, here, &due).await {
        Ok((code, outcome, printed)) => {
            let shown = code.map_or("no exit code".to_owned(), |code| format!("exit code {code}"));
            console::say(&format!("{at}: {shown}"));
            (failure_of(code, outcome), printed)
        }
        Err(error) => (Some(AttemptFailure::Incomplete), format!("{error:#}")),
    };
    let Some(failure) = failure else { return (due, AttemptEnd::Done) };
    for line in last_lines(&why) {
        console::say(&format!("{at}: {}", console::harmless(line)));
    }
    match retry_wait(failure, due.n_attempts) {
        Some(wait) => {
            console::say(&format!("{at}: trying again in {} min", wait.as_secs() / 60));
            (due, AttemptEnd::Again(wait))
        }
        None => {
            console::say(&format!("{at}: not trying again; deliver the webhook again to do so"));
            (due, AttemptEnd::Failed)
        }
    }
}

/// Runs `mala pr` once. Returns its exit code, the outcome of its review if there is one, and its
/// stderr.
async fn attempt(
    program: &PathBuf,
    service: &WebhookService<'_>,
    here: &Environment,
    due: &QueuedReview,
) -> anyhow::Result<(Option<i32>, Option<Outcome>, String)> {
    let variables = here.variables.iter().map(|(name, value)| (name.clone(), value.clone()));
    // A program of our own: it needs the tokens and keys. The secrets of the webhooks stay here.
    let environment = ProcessEnvironment::unfiltered(variables);
    let environment = environment.without(GITHUB_SECRET).without(GITLAB_SECRET);
    let folder = tempfile::tempdir().context("creating a temporary folder")?;
    let report = folder.path().join("review.json");
    let mut args = vec!["pr".to_owned(), due.at.to_string()];
    args.extend(["--post".to_owned(), service.post.clone()]);
    args.extend(["--output".to_owned(), format!("json={}", report.display())]);
    args.extend(due.asked_by.iter().map(|login| format!("--asked-by={login}")));
    let spec = ProcessSpec::new(program, &here.folder, environment).args(args);
    let finished = run(spec, ProcessLimits::within(REVIEW_TIME)).await?;
    let outcome = read_report(&report).ok().map(|report| report.outcome);
    let printed = String::from_utf8_lossy(&finished.output.stderr).into_owned();
    Ok((finished.code(), outcome, printed))
}

/// Why there is no result; `None` if there is one, or if the review was requested by an account
/// without permission.
fn failure_of(code: Option<i32>, outcome: Option<Outcome>) -> Option<AttemptFailure> {
    match code.and_then(Exit::of) {
        Some(Exit::Passed | Exit::Blocked | Exit::Usage) => None,
        Some(Exit::Configuration | Exit::Internal) => Some(AttemptFailure::Permanent),
        _ if matches!(outcome, Some(Outcome::CouldNotReview(_))) => {
            Some(AttemptFailure::Incomplete)
        }
        _ => Some(AttemptFailure::NotPosted),
    }
}

/// The last lines of an output.
fn last_lines(printed: &str) -> impl Iterator<Item = &str> {
    let lines: Vec<&str> = printed.lines().collect();
    let first = lines.len().saturating_sub(MAX_LINES);
    lines.into_iter().skip(first)
}
