//! Reviews of many ranges side by side, with what one process needs once made once.

use anyhow::Context;
use mala::environment::Environment;
use mala::settings::{self, UserModels, UserSettings};
use mala::wiring::changes::Changes;
use mala::wiring::reviewers::{self, ReviewerOptions};
use mala::wiring::{models, rules};
use mala_domain::config::{Config, ReviewerType};
use mala_domain::report::Report;
use mala_domain::scope::ReviewTarget;
use mala_pipeline::review::review;
use tokio::task::JoinSet;

/// Reviews all ranges at once, and tells of each when it is done.
pub(crate) async fn all(
    here: &Environment,
    ranges: &[String],
    mut tell: impl FnMut(&str, &str),
) -> anyhow::Result<()> {
    let connections = models::connections(here)?;
    let mut running = JoinSet::new();
    for range in ranges {
        let (here, range, connections) = (here.clone(), range.clone(), connections.clone());
        running.spawn(async move {
            let told = match one(&here, &range, options(connections)).await {
                Ok(report) => in_words(&report),
                Err(error) => format!("error: {error:#}"),
            };
            (range, told)
        });
    }
    while let Some(done) = running.join_next().await {
        match done {
            Ok((range, told)) => tell(&range, &told),
            Err(error) => tell("?", &format!("error: {error}")),
        }
    }
    Ok(())
}

fn options(connections: models::Connections) -> ReviewerOptions {
    ReviewerOptions {
        connections: Some(connections),
        ..ReviewerOptions::new(UserModels::default())
    }
}

/// The outcome, and the titles of what was found.
fn in_words(report: &Report) -> String {
    let titles: Vec<&str> = report.issues.iter().map(|finding| finding.title.as_str()).collect();
    let problem = report.parse_error.as_deref().unwrap_or_default();
    format!("{:?} {}{problem}", report.outcome, titles.join("; "))
}

async fn one(here: &Environment, range: &str, options: ReviewerOptions) -> anyhow::Result<Report> {
    let (base, head) = range.split_once("..").context("a range is BASE..HEAD")?;
    let target = ReviewTarget::Range { base: base.to_owned(), head: head.to_owned() };
    let scoped = Changes::open(here).await.scope(&target, &[]).await?;
    let flags = Config { reviewer_type: Some(ReviewerType::AgentSdk), ..Config::default() };
    let settings = UserSettings::load(here)?.with_file(settings::choose(None, None), flags)?;
    let mut warnings = Vec::new();
    let rules = rules::project_rules(&scoped, &target, &mut warnings).await?;
    let policy = &settings.policy;
    let chosen = reviewers::choose(policy, here, rules, options).await?;
    let plan = chosen.plan(policy, Vec::new(), warnings)?;
    let reviewed = review(&plan, scoped, &chosen.ports(), &|_| {}).await;
    Ok(reviewed.map_err(mala::wiring::changes::failure)?.report)
}
