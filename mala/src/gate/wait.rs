//! `review-gate wait`: waits for a session and prints its result. Its exit code is the verdict.

use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::interrupt::until_interrupted;
use crate::wiring::gate::{self as world, Gate, SessionFolder};
use clap::Args;
use mala_domain::config::Seconds;
use mala_domain::finding::Finding;
use mala_domain::gate::session::{Session, SessionProgress, SessionState};
use mala_domain::render::gate::{GateResultJson, SessionFacts, check_words};
use mala_domain::render::one_line;
use mala_domain::report::TrackingReport;
use mala_domain::scope::HeadState;
use mala_pipeline::gate::wait_showing;
use std::fmt::Write;
use std::io::{IsTerminal, Write as _};
use std::time::{Duration, Instant};

/// Wait for the reviewers and print the verdict
#[derive(Debug, Args)]
pub(super) struct WaitArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,

    /// How long to wait, in seconds [default: until all reviewers are over]
    #[arg(long, value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(0..=u64::from(Seconds::MAX)))]
    timeout: Option<u64>,

    /// Session [default: the most recent one of this work tree, then of the repository]
    #[arg(long, value_name = "KEY")]
    session_key: Option<String>,
}

pub(super) fn run(args: &WaitArgs, here: &Environment) -> anyhow::Result<Exit> {
    until_interrupted(async {
        let (state, facts) = match wait_for_session(args, here).await {
            Ok(found) => found,
            Err(error) if args.json => {
                (SessionState::NotFound(format!("{error:#}")), SessionFacts::default())
            }
            Err(error) => return Err(error),
        };
        let result = GateResultJson::of(&state, &facts);
        let created = facts.session.as_ref().map(|session| session.created.as_str());
        let text = match args.json {
            true => format!("{}\n", serde_json::to_string_pretty(&result)?),
            false => shown(&result, created),
        };
        console::data(&text)?;
        Ok(Exit::from(result.outcome()))
    })
}

/// The state of a session when the wait ends, and further facts about it.
async fn wait_for_session(
    args: &WaitArgs,
    here: &Environment,
) -> anyhow::Result<(SessionState, SessionFacts)> {
    let key = args.session_key.as_deref();
    let folder = match world::session_here(here, key)? {
        Some(folder) => folder,
        None => Gate::open(here).await?.session(key).await?,
    };
    let session = folder.session().ok();
    if let (None, Some(session)) = (&args.session_key, &session) {
        console::say(&console::harmless(&chosen(session, &folder, here)));
    }
    let time = args.timeout.map_or_else(|| limit(session.as_ref()), Duration::from_secs);
    let mut lines = LiveLines::new(args.json, session.as_ref());
    let mut show = || lines.show(&folder.progress().unwrap_or_default());
    let state = wait_showing(&world::SessionProbe(&folder), time, &mut show).await;
    lines.clear();
    if let (SessionState::Dead, Some(session)) = (&state, &session) {
        world::sweep(&folder, session);
    }
    let book = world::book_of(&folder);
    let members = session.iter().flat_map(|session| &session.members);
    let measured = members.filter_map(|member| {
        let name = &member.lane.name;
        Some((name.clone(), book.measured(name)?))
    });
    let facts = SessionFacts {
        measured: measured.collect(),
        progress: folder.progress().unwrap_or_default(),
        folder: Some(folder.path().display().to_string()),
        session,
    };
    Ok((state, facts))
}

/// The default time limit: longer than the lanes of a session and the checks of their findings may take.
fn limit(session: Option<&Session>) -> Duration {
    let lanes = session.map_or(u64::from(Seconds::MAX), |session| session.timeout_seconds);
    // Reviews, checks by other lanes, and checks by the agent.
    let n_steps = if session.is_some_and(|it| it.checker.is_some()) { 3 } else { 2 };
    Duration::from_secs(lanes.saturating_mul(n_steps).saturating_add(60))
}

/// A line with the chosen session and its age.
fn chosen(session: &Session, folder: &SessionFolder, here: &Environment) -> String {
    let created: jiff::Timestamp = session.created.parse().unwrap_or_default();
    let age = Duration::try_from(jiff::Timestamp::now().duration_since(created));
    let age = age.unwrap_or_default().as_secs();
    let age = match age {
        0..120 => format!("{age} s"),
        120..7200 => format!("{} min", age / 60),
        7200..172_800 => format!("{} h", age / 3600),
        _ => format!("{} days", age / 86_400),
    };
    let place = match Some(folder.work_tree()) == here.work_tree() {
        true => String::new(),
        false => format!(" in {}", folder.work_tree().display()),
    };
    format!("session {}{place}, started {age} ago: {}", session.key, session.scope.target)
}

/// A line per lane on a terminal, drawn again while the session runs.
struct LiveLines {
    names: Vec<String>,
    n_drawn: usize,
    drawn_at: Option<Instant>,
}

/// How often the lines are drawn.
const REDRAW: Duration = Duration::from_millis(200);

impl LiveLines {
    fn new(is_json: bool, session: Option<&Session>) -> Self {
        let is_shown = !is_json && std::io::stderr().is_terminal();
        let members = session.into_iter().filter(|_| is_shown).flat_map(|session| &session.members);
        let members = members.filter(|member| member.absent.is_none());
        let names = members.map(|member| member.lane.name.clone()).collect();
        Self { names, n_drawn: 0, drawn_at: None }
    }

    fn show(&mut self, progress: &SessionProgress) {
        let is_early = self.drawn_at.is_some_and(|at| at.elapsed() < REDRAW);
        if self.names.is_empty() || is_early {
            return;
        }
        self.drawn_at = Some(Instant::now());
        let lines: String = self.names.iter().map(|name| lane_line(name, progress)).collect();
        let text = format!("{}{lines}", self.erased());
        self.n_drawn = self.names.len();
        draw(&text);
    }

    /// Removes the lines: the result follows.
    fn clear(&mut self) {
        if self.n_drawn > 0 {
            draw(&self.erased());
            self.n_drawn = 0;
        }
    }

    fn erased(&self) -> String {
        "\u{1b}[1A\u{1b}[2K".repeat(self.n_drawn)
    }
}

fn draw(text: &str) {
    let mut stderr = std::io::stderr().lock();
    // The terminal may be gone.
    stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush()).unwrap_or_default();
}

fn lane_line(name: &str, progress: &SessionProgress) -> String {
    let now = u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default();
    let seconds = |start: &u64| now.saturating_sub(*start) / 1000;
    let elapsed = progress.started_at.get(name).map(seconds);
    let state = match (progress.opinions.get(name), elapsed) {
        (Some(opinion), _) => {
            let findings = console::counted(opinion.findings.len(), "finding");
            match (&opinion.verdict, &opinion.error) {
                (Some(verdict), _) => format!("{}, {findings}", verdict.name()),
                (None, error) => one_line(error.as_deref().unwrap_or("no answer")),
            }
        }
        (None, Some(elapsed)) => format!("running, {elapsed} s"),
        (None, None) => "waiting".to_owned(),
    };
    let line: String = format!("{}: {state}", one_line(name)).chars().take(100).collect();
    format!("{line}\n")
}

/// The result for people. Every field is on a line of its own.
fn shown(result: &GateResultJson, created: Option<&str>) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    write(&mut text, result, created).unwrap_or_default();
    text
}

fn write(text: &mut String, result: &GateResultJson, created: Option<&str>) -> std::fmt::Result {
    let report = &result.report;
    if report.session_key.is_none() {
        return writeln!(text, "no verdict: {}", one_line(&result.parse_errors.join("; ")));
    }
    writeln!(text, "{}", result.headline())?;
    if let Some(scope) = &report.scope {
        let head = match &scope.head {
            HeadState::Commit(sha) => format!(" at {}", one_line(sha.get(..12).unwrap_or(sha))),
            _ => String::new(),
        };
        // The fraction of a second is for sorting.
        let created = created.and_then(|it| it.split('.').next());
        let created = created.map(|it| format!(", started {}Z", one_line(it))).unwrap_or_default();
        writeln!(text, "  {}{head}{created}", one_line(&scope.target))?;
    }
    for name in result.reviewers.keys() {
        let measured = report.reviewers.get(name).and_then(|it| it.measured.as_ref());
        let measured = measured.map(|it| format!(" ({})", one_line(&it.shown())));
        let says = one_line(&result.says(name));
        writeln!(text, "  {}: {says}{}", one_line(name), measured.unwrap_or_default())?;
    }
    for error in result.problems() {
        writeln!(text, "  {}", one_line(error))?;
    }
    for issue in result.issues.iter().chain(result.refuted()) {
        finding(text, issue, result)?;
    }
    for line in report.tracking.iter().flat_map(TrackingReport::lines) {
        writeln!(text, "  {}", one_line(&line))?;
    }
    for warning in &report.warnings {
        writeln!(text, "warning: {}", one_line(warning))?;
    }
    match &report.session_dir {
        Some(folder) => writeln!(text, "{}", console::harmless(folder).replace('\n', "\\n")),
        None => Ok(()),
    }
}

/// A finding: its location and title, its body, and who found and checked it.
fn finding(text: &mut String, issue: &Finding, result: &GateResultJson) -> std::fmt::Result {
    let (file, line) = (one_line(&issue.file.to_string()), issue.line_start);
    writeln!(text, "{file}:{line}: {}", one_line(&issue.title))?;
    for line in issue.body.lines().filter(|line| !line.trim().is_empty()) {
        writeln!(text, "    {}", one_line(line))?;
    }
    let key = issue.dedupe_key.to_string();
    let check = result.report.checks.iter().find(|check| check.finding == key);
    match check {
        Some(check) => writeln!(text, "    {}", one_line(&check_words(check))),
        None => writeln!(text, "    found by {}", one_line(&issue.reviewer)),
    }
}
