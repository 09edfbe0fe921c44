//! `mala serve`: reviews pull requests when GitHub or GitLab reports a change.

use super::pr::PostTarget;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::interrupt::StopSignals;
use crate::wiring::webhooks::{self, GITHUB_SECRET, GITLAB_SECRET, WebhookService};
use anyhow::Context;
use clap::{Args, ValueEnum};
use std::net::SocketAddr;

/// Review pull requests when GitHub or GitLab reports a change
///
/// Takes webhooks at /webhooks, signed with the secret in GITHUB_WEBHOOK_SECRET or GITLAB_WEBHOOK_SECRET, stores them, and
/// runs `mala pr` for each pull request. Put a proxy in front of it for TLS. On SIGTERM or Ctrl-C, it takes no more webhooks and finishes the
/// reviews that are running; a second signal ends them, and they start again next time.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Take webhooks of GitHub and GitLab
    #[arg(long, required = true)]
    webhooks: bool,

    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8787")]
    listen: SocketAddr,

    /// Reviews at a time
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..))]
    jobs: u8,

    /// Where to post the results; repeatable
    #[arg(long, value_name = "WHERE", value_delimiter = ',', default_value = "review")]
    post: Vec<PostTarget>,
}

pub(super) fn run(args: &ServeArgs, here: &Environment) -> anyhow::Result<Exit> {
    let (github_secret, gitlab_secret) = (here.text(GITHUB_SECRET), here.text(GITLAB_SECRET));
    if github_secret.is_none() && gitlab_secret.is_none() {
        let what = format!("neither {GITHUB_SECRET} nor {GITLAB_SECRET} is set");
        return Err(Failure::new(FailureKind::Configuration, what)
            .hint("set it to the secret of the webhook, so that only the forge can start reviews")
            .into());
    }
    let names = args.post.iter().filter_map(PostTarget::to_possible_value);
    let names: Vec<String> = names.map(|name| name.get_name().to_owned()).collect();
    let service = WebhookService {
        github_secret,
        gitlab_secret,
        address: args.listen,
        n_jobs: usize::from(args.jobs),
        post: names.join(","),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("starting the runtime")?;
    let served = runtime.block_on(async {
        let mut stop = StopSignals::listen()?;
        webhooks::serve(&service, here, async || stop.next().await).await
    });
    runtime.shutdown_background();
    served.map(|()| Exit::Passed)
}
