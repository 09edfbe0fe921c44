//! Many reviews at once in one process, against a model server on loopback that answers late:
//! `cargo run --release -p mala --example many_reviews -- 200 2`. It prints how long they took, the
//! most memory that the process had, and whether a result was lost or doubled.

#![expect(clippy::print_stdout, reason = "it prints what it measured")]

use anyhow::{Context, ensure};
use futures_util::future::try_join_all;
use mala::settings;
use mala::surroundings::Surroundings;
use mala::wiring::changes::Changes;
use mala::wiring::probe::Probe;
use mala::wiring::reviewers::{self, Wishes};
use mala::wiring::rules::ProjectRules;
use mala_domain::config::{PathGlobs, ReviewerType};
use mala_domain::scope::Target;
use mala_domain::verdict::Threshold;
use mala_pipeline::review::{Ask, review};
use mala_testkit::World;
use mala_testkit::model_server::{Answer, ModelServer, Step};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() -> anyhow::Result<()> {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u64>());
    let n_reviews = numbers.next().unwrap_or(Ok(200))?;
    let seconds = numbers.next().unwrap_or(Ok(2))?;
    // Each answer names the review that it belongs to.
    let server = ModelServer::new(move |request| {
        let said = request.user_text();
        let own = said.split("review number ").nth(1).unwrap_or_default();
        let number: String = own.chars().take_while(char::is_ascii_digit).collect();
        let finding = format!(
            r#"{{"verdict": "NEEDS_WORK", "findings": [{{"file_path": "app.py", "line_start": 1, "line_end": 1, "priority": 2, "title": "[P2] {number}", "body": "b"}}]}}"#
        );
        Step::from(Answer::text(finding)).after(Duration::from_secs(seconds))
    });
    let world = World::new("mala");
    world.git(&["init", "-q", "-b", "main", "."]).write("app.py", "x = 1\n");
    world.git(&["add", "-A"]).git(&["commit", "-q", "-m", "start"]).write("app.py", "x = 2\n");
    let mut here = Surroundings::of_process()?;
    here.folder = world.folder().to_owned();
    here.environment.insert("ANTHROPIC_API_KEY".into(), "test-key".into());
    here.environment.insert("ANTHROPIC_BASE_URL".into(), server.url().into());
    here.environment.insert("MALA_LINTERS".into(), "off".into());
    let mut policy = settings::of_working_tree(&here, &Probe::new(&here, &here.folder)?)?.policy;
    policy.reviewer.value = Some(ReviewerType::AgentSdk);
    let started = Instant::now();
    // As many blocking threads as a machine has cores: more only hold memory.
    let cores = std::thread::available_parallelism()?.get();
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().max_blocking_threads(cores).build()?;
    let titles = runtime.block_on(async {
        let all = (0..n_reviews).map(|number| one(&here, &policy, number));
        try_join_all(all).await
    })?;
    let seen: BTreeSet<&String> = titles.iter().collect();
    let right = (0..n_reviews).all(|number| seen.contains(&format!("[P2] {number}")));
    println!("{n_reviews} reviews in {:.1} s", started.elapsed().as_secs_f64());
    println!(
        "{} requests, {} results, {} different",
        server.requests().len(),
        titles.len(),
        seen.len()
    );
    println!("most memory: {} MB", most_memory()? / 1024);
    ensure!(right && seen.len() == titles.len(), "a result was lost or doubled");
    Ok(())
}

async fn one(
    here: &Surroundings,
    policy: &mala_domain::config::ReviewPolicy,
    number: u64,
) -> anyhow::Result<String> {
    let wishes = Wishes {
        tasks: vec![("task".to_owned(), format!("review number {number} of many"))],
        transcript: None,
        record: None,
        replay: None,
        events: Arc::new(|_| {}),
    };
    let scoped = Changes::open(here).await.scope(&Target::WorkingTree, &[]).await?;
    let chosen = reviewers::choose(policy, here, ProjectRules::default(), wishes).await?;
    let ask = Ask {
        ignore: PathGlobs::new(&policy.ignore.value)?,
        generated: PathGlobs::new(&policy.ignore.value)?,
        fail_on: Threshold::P1,
        suppressions: policy.suppressions.value,
        timeout: policy.timeout_for(chosen.kind),
        prompt_version: chosen.version,
        model: chosen.model,
        budget_profile: chosen.budget_profile,
        preface: None,
        warnings: Vec::new(),
    };
    let reviewed = review(&ask, scoped, &chosen.reviewers, &|_| {}).await?;
    let issue = reviewed.report.issues.first();
    issue
        .map(|issue| issue.title.clone())
        .with_context(|| format!("no finding: {:?}", reviewed.report.parse_error))
}

/// The most kilobytes that this process ever had.
fn most_memory() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).context("VmHWM")?;
    let number = line.split_whitespace().nth(1).context("a number")?;
    Ok(number.parse()?)
}
