//! `review-gate wait`: waits for a session and prints what the panel says. Its exit code is the verdict.

use crate::cli::exit::Exit;
use crate::cli::interrupt::until_interrupted;
use crate::console;
use crate::surroundings::Surroundings;
use crate::wiring::gate::{self as world, Gate, SessionFolder};
use clap::Args;
use mala_domain::config::Seconds;
use mala_domain::finding::Finding;
use mala_domain::gate::output::Waited;
use mala_domain::render::one_line;
use mala_domain::scope::Head;
use mala_domain::verdict::Obstacle;
use mala_pipeline::gate::{Waiting, wait};
use std::fmt::Write;
use std::time::Duration;

/// Wait for the reviewers and print what they say
#[derive(Debug, Args)]
pub(super) struct WaitArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,

    /// How long to wait, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300,
          value_parser = clap::value_parser!(u64).range(0..=u64::from(Seconds::MAX)))]
    timeout: u64,

    /// Which session; the most recent one if not given
    #[arg(long, value_name = "KEY")]
    session_key: Option<String>,
}

pub(super) fn run(args: &WaitArgs, here: &Surroundings) -> anyhow::Result<Exit> {
    until_interrupted(async {
        let (waited, created) = waited(args, here).await.unwrap_or_else(|error| {
            (Waited::undecided(Obstacle::Internal, format!("{error:#}")), None)
        });
        let text = match args.json {
            true => format!("{}\n", serde_json::to_string_pretty(&waited)?),
            false => shown(&waited, created.as_deref()),
        };
        console::data(&text)?;
        Ok(Exit::from(waited.outcome()))
    })
}

/// What came of a session, and when it was started.
async fn waited(args: &WaitArgs, here: &Surroundings) -> anyhow::Result<(Waited, Option<String>)> {
    let gate = Gate::open(here).await?;
    world::sweep_dead(gate.sessions.all());
    let time = Duration::from_secs(args.timeout);
    let folder = match args.session_key.as_deref() {
        Some(key) => gate.session(Some(key)).await?,
        None => next(&gate, time.min(MAX_START)).await?,
    };
    let ended = wait(&world::Seen(&folder), time).await;
    if ended == Waiting::Died
        && let Ok(session) = folder.session()
    {
        world::sweep(&folder, &session);
    }
    let is_over = matches!(ended, Waiting::Over(_));
    let waited = ended.waited(time);
    let created = folder.session().ok().map(|session| session.created);
    let known = if is_over { located(waited, &folder) } else { unresolved(waited, &folder) };
    Ok((known, created))
}

/// A session takes seconds to start in a large repository. One whose start was killed never does.
const MAX_START: Duration = Duration::from_secs(10);

/// The most recent session, once the one is there that somebody is about to start.
async fn next(gate: &Gate, time: Duration) -> anyhow::Result<SessionFolder> {
    gate.refuse_lane()?;
    let end = tokio::time::Instant::now() + time;
    let sessions = gate.everywhere().await?;
    while sessions.is_starting() && tokio::time::Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    gate.most_recent(&sessions)
}

fn located(waited: Waited, folder: &SessionFolder) -> Waited {
    Waited { session_dir: Some(folder.path().display().to_string()), ..waited }
}

/// With what is known of a session that has no result.
fn unresolved(waited: Waited, folder: &SessionFolder) -> Waited {
    let mut waited = located(waited, folder);
    let Ok(session) = folder.session() else { return waited };
    let ended = folder.progress().unwrap_or_default().ended;
    let running = session.seats.iter().filter(|seat| !ended.contains(&seat.lane.name));
    waited.parse_errors.extend(running.map(|seat| format!("{}: no answer yet", seat.lane.name)));
    waited.consensus.rule = session.rule;
    waited.session_key = Some(session.key);
    waited.scope = Some(session.scope);
    waited
}

/// For people. Every field is one line, and none can pose as another.
fn shown(waited: &Waited, created: Option<&str>) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    write(&mut text, waited, created).unwrap_or_default();
    text
}

fn write(text: &mut String, waited: &Waited, created: Option<&str>) -> std::fmt::Result {
    let consensus = &waited.consensus;
    let (verdict, rule) = (consensus.verdict.name(), consensus.rule);
    let (passes, needed) = (consensus.passes, consensus.needed);
    writeln!(text, "{verdict} ({rule}: {passes} of {needed} needed passes)")?;
    if let Some(scope) = &waited.scope {
        let head = match &scope.head {
            Head::Commit(sha) => format!(" at {}", one_line(sha.get(..12).unwrap_or(sha))),
            _ => String::new(),
        };
        let created = created.map(|it| format!(", started {}", one_line(it))).unwrap_or_default();
        writeln!(text, "  {}{head}{created}", one_line(&scope.target))?;
    }
    for (name, lane) in &waited.reviewers {
        let said = match (&lane.verdict, &lane.error) {
            (Some(verdict), _) => verdict.name().to_owned(),
            (None, Some(error)) => format!("no vote: {}", one_line(error)),
            (None, None) => "no vote".to_owned(),
        };
        let measured = lane.measured.as_ref().map(|it| format!(" ({})", one_line(&it.shown())));
        writeln!(text, "  {}: {said}{}", one_line(name), measured.unwrap_or_default())?;
    }
    for error in waited.parse_errors.iter().filter(|_| waited.reviewers.is_empty()) {
        writeln!(text, "  {}", one_line(error))?;
    }
    for issue in &waited.issues {
        writeln!(text, "{}", claim(issue))?;
    }
    for issue in &waited.findings.refuted {
        let why = one_line(issue.verification.how.as_deref().unwrap_or_default());
        writeln!(text, "refuted: {}: {why}", claim(issue))?;
    }
    for warning in &waited.warnings {
        writeln!(text, "warning: {}", one_line(warning))?;
    }
    match &waited.session_dir {
        Some(folder) => writeln!(text, "{}", console::harmless(folder).replace('\n', "\\n")),
        None => Ok(()),
    }
}

/// Where something is wrong, what, and who says so.
fn claim(issue: &Finding) -> String {
    let (file, line) = (one_line(&issue.file.to_string()), issue.line_start);
    format!("{file}:{line}: {} ({})", one_line(&issue.title), one_line(&issue.reviewer))
}
