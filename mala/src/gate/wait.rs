//! `review-gate wait`: waits for a session and prints what the panel says. Its exit code is the verdict.

use crate::cli::exit::Exit;
use crate::cli::interrupt::until_interrupted;
use crate::console;
use crate::environment::Environment;
use crate::wiring::gate::{self as world, Gate, SessionFolder};
use clap::Args;
use mala_domain::config::Seconds;
use mala_domain::finding::Finding;
use mala_domain::gate::session::SessionState;
use mala_domain::render::gate::{GateResultJson, SessionFacts};
use mala_domain::render::one_line;
use mala_domain::scope::HeadState;
use mala_pipeline::gate::wait;
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

pub(super) fn run(args: &WaitArgs, here: &Environment) -> anyhow::Result<Exit> {
    until_interrupted(async {
        let (state, facts) = waited(args, here).await.unwrap_or_else(|error| {
            (SessionState::NotFound(format!("{error:#}")), SessionFacts::default())
        });
        let result = GateResultJson::of(&state, &facts);
        let created = facts.session.as_ref().map(|session| session.created.as_str());
        let text = match args.json {
            true => format!("{}\n", serde_json::to_string_pretty(&result)?),
            false => shown(&result, created),
        };
        console::data(&text)?;
        Ok(Exit::from(state.outcome()))
    })
}

/// What came of a session, and what is known of it.
async fn waited(
    args: &WaitArgs,
    here: &Environment,
) -> anyhow::Result<(SessionState, SessionFacts)> {
    let gate = Gate::open(here).await?;
    world::sweep_dead(gate.sessions.all());
    let time = Duration::from_secs(args.timeout);
    let folder = match args.session_key.as_deref() {
        Some(key) => gate.session(Some(key)).await?,
        None => next(&gate, time.min(MAX_START)).await?,
    };
    let state = wait(&world::Seen(&folder), time).await;
    let session = folder.session().ok();
    if let (SessionState::Dead, Some(session)) = (&state, &session) {
        world::sweep(&folder, session);
    }
    let book = world::book_of(&folder);
    let seats = session.iter().flat_map(|session| &session.seats);
    let measured = seats.filter_map(|seat| {
        let name = &seat.lane.name;
        Some((name.clone(), book.measured(name)?))
    });
    let facts = SessionFacts {
        measured: measured.collect(),
        ended: folder.progress().unwrap_or_default().ended,
        folder: Some(folder.path().display().to_string()),
        session,
    };
    Ok((state, facts))
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

/// For people. Every field is one line, and none can pose as another.
fn shown(result: &GateResultJson, created: Option<&str>) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    write(&mut text, result, created).unwrap_or_default();
    text
}

fn write(text: &mut String, result: &GateResultJson, created: Option<&str>) -> std::fmt::Result {
    let consensus = &result.consensus;
    let (verdict, rule) = (consensus.verdict.name(), consensus.rule);
    let (passes, needed) = (consensus.passes, consensus.needed);
    writeln!(text, "{verdict} ({rule}: {passes} of {needed} needed passes)")?;
    if let Some(scope) = &result.scope {
        let head = match &scope.head {
            HeadState::Commit(sha) => format!(" at {}", one_line(sha.get(..12).unwrap_or(sha))),
            _ => String::new(),
        };
        let created = created.map(|it| format!(", started {}", one_line(it))).unwrap_or_default();
        writeln!(text, "  {}{head}{created}", one_line(&scope.target))?;
    }
    for (name, lane) in &result.reviewers {
        let said = match (&lane.verdict, &lane.error) {
            (Some(verdict), _) => verdict.name().to_owned(),
            (None, Some(error)) => format!("no vote: {}", one_line(error)),
            (None, None) => "no vote".to_owned(),
        };
        let measured = lane.measured.as_ref().map(|it| format!(" ({})", one_line(&it.shown())));
        writeln!(text, "  {}: {said}{}", one_line(name), measured.unwrap_or_default())?;
    }
    for error in result.parse_errors.iter().filter(|_| result.reviewers.is_empty()) {
        writeln!(text, "  {}", one_line(error))?;
    }
    for issue in &result.issues {
        writeln!(text, "{}", claim(issue))?;
    }
    for issue in &result.findings.refuted {
        let why = one_line(issue.verification.how.as_deref().unwrap_or_default());
        writeln!(text, "refuted: {}: {why}", claim(issue))?;
    }
    for warning in &result.warnings {
        writeln!(text, "warning: {}", one_line(warning))?;
    }
    match &result.session_dir {
        Some(folder) => writeln!(text, "{}", console::harmless(folder).replace('\n', "\\n")),
        None => Ok(()),
    }
}

/// Where something is wrong, what, and who says so.
fn claim(issue: &Finding) -> String {
    let (file, line) = (one_line(&issue.file.to_string()), issue.line_start);
    format!("{file}:{line}: {} ({})", one_line(&issue.title), one_line(&issue.reviewer))
}
