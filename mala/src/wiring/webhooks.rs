//! The service behind `mala serve --webhooks`: deliveries are stored, and a process per pull request reviews it.

use crate::console;
use crate::environment::Environment;
use anyhow::Context;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use mala_adapters::process::{ProcessEnvironment, ProcessLimits, ProcessSpec, run};
use mala_adapters::webhooks::{QueuedReview, WebhookQueue, WebhookReceiver, WebhookSecret};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// The time limit of one review.
const REVIEW_TIME: Duration = Duration::from_secs(60 * 60);

/// What the service does.
pub struct WebhookService<'s> {
    /// The secret of the webhook.
    pub secret: &'s str,
    /// Where it listens.
    pub address: SocketAddr,
    /// How many reviews run at a time.
    pub n_jobs: usize,
    /// Where results are posted, as `--post` takes it.
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
    let queue = Arc::new(WebhookQueue::open(&path).context("opening .mala/webhooks.db")?);
    let listener = TcpListener::bind(service.address).await;
    let listener = listener.with_context(|| format!("listening on {}", service.address))?;
    let stored = Arc::new(Notify::new());
    let receiver = WebhookReceiver {
        queue: Arc::clone(&queue),
        secret: WebhookSecret::new(service.secret),
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
                && let Some(due) = queue.take().await?
            {
                running.push(review(&program, service, here, due));
            }
            tokio::select! {
                () = &mut serving => {}
                () = stored.notified() => {}
                Some((ended, is_done)) = running.next() => queue.end(ended, is_done).await?,
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
                Some((ended, is_done)) => queue.end(ended, is_done).await?,
                None => return Ok(()),
            },
            () = stopped() => return Ok(()),
        }
    }
}

/// Runs `mala pr` for a pull request. It is done when there is a result.
async fn review(
    program: &PathBuf,
    service: &WebhookService<'_>,
    here: &Environment,
    due: QueuedReview,
) -> (QueuedReview, bool) {
    let variables = here.variables.iter().map(|(name, value)| (name.clone(), value.clone()));
    // A program of our own: it needs the tokens and keys. The secret of the webhook stays here.
    let environment = ProcessEnvironment::unfiltered(variables).without("GITHUB_WEBHOOK_SECRET");
    let at = due.at.to_string();
    let spec = ProcessSpec::new(program, &here.folder, environment).args([
        "pr",
        at.as_str(),
        "--post",
        service.post.as_str(),
    ]);
    let code = match run(spec, ProcessLimits::within(REVIEW_TIME)).await {
        Ok(finished) => finished.code(),
        Err(error) => {
            console::say(&format!("warning: {at}: {error}"));
            None
        }
    };
    let is_done = matches!(code, Some(0 | 1));
    let shown = code.map_or("no exit code".to_owned(), |code| format!("exit code {code}"));
    console::say(&format!("{at}: {shown}"));
    (due, is_done)
}
