//! Reads the answers of an external gate: the contract's shape, our own with more fields, and two older
//! ones. Exit code and JSON must agree; an answer that fits no shape is no review.

mod beside;
mod contract;
mod first;
mod issues;
mod opinion;
mod second;
#[cfg(test)]
mod tests;
mod votes;

pub use opinion::{opinion, reviewed_this};
pub use second::{GateRound, GateState, ReviewerFile, panel};

use crate::agent::answer::fields::{cut, list, optional_text};
use crate::agent::answer::{JsonObject, ParseProblem, parse_unique};
use crate::finding::ReviewClaim;
use crate::ports::ReviewerFailure;
use crate::review::{FileCoverage, GateMember};
use crate::scope::ScopeSummary;
use crate::verdict::Verdict;
use serde_json::Value;

/// How a command of a gate ended.
#[derive(Debug, Clone, Copy)]
pub struct CommandEnd<'e> {
    /// Its exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: &'e str,
    /// What it complained of.
    pub stderr: &'e str,
}

/// A session that a gate started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StartedSession {
    /// Its key; gates that print words instead of JSON name none.
    pub key: Option<String>,
    /// The reviewers that it says were started.
    pub reviewers: Vec<String>,
}

/// What a gate answered.
#[derive(Debug, Clone, PartialEq)]
pub enum GateAnswer {
    /// All that there is to know.
    Panel(Box<PanelWord>),
    /// Only how it stands: what its reviewers said is in files.
    State(GateState),
}

/// What a panel says.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelWord {
    /// Its verdict.
    pub verdict: Verdict,
    /// What its reviewers claim.
    pub claims: Vec<GateClaim>,
    /// Its reviewers.
    pub members: Vec<GateMember>,
    /// What they account for.
    pub account: GateAccount,
    /// What it says that it reviewed.
    pub scope: Option<ScopeSummary>,
    /// Where the session's files are.
    pub log: Option<String>,
    /// What a person is to decide.
    pub decision: Option<String>,
    /// What else there is to know.
    pub warnings: Vec<String>,
}

impl PanelWord {
    /// A verdict on the change as it was given, with nothing else said.
    fn whole(verdict: Verdict) -> Self {
        Self {
            verdict,
            claims: Vec::new(),
            members: Vec::new(),
            account: GateAccount::Whole,
            scope: None,
            log: None,
            decision: None,
            warnings: Vec::new(),
        }
    }
}

/// A claim as a gate passes it on.
#[derive(Debug, Clone, PartialEq)]
pub struct GateClaim {
    /// The claim.
    pub candidate: ReviewClaim,
    /// Whether it names lines.
    pub has_lines: bool,
}

/// What a panel accounts for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateAccount {
    /// These files, as far as it says.
    Files(Vec<FileCoverage>),
    /// The change that it was given: it says nothing of parts.
    Whole,
    /// Nothing, for this reason: a needed reviewer gave no verdict.
    Nothing(String),
}

impl GateAccount {
    /// Nothing, for the first reason that there is.
    fn or_nothing(self, why: String) -> Self {
        match self {
            Self::Nothing(first) => Self::Nothing(first),
            Self::Files(_) | Self::Whole => Self::Nothing(why),
        }
    }
}

/// How much of a complaint is repeated.
const MAX_WHY: usize = 400;

/// Reads what `spawn-code-review` printed.
pub fn started(ended: &CommandEnd<'_>) -> Result<StartedSession, ReviewerFailure> {
    if ended.code != Some(0) {
        let why = match complaint(ended) {
            why if why.is_empty() => exit(ended.code),
            why => why,
        };
        return Err(ReviewerFailure::Crashed(format!("spawn failed: {why}")));
    }
    let text = ended.stdout.trim();
    if !text.starts_with('{') {
        // Older and newer gates print words; they know their session by the environment.
        return Ok(StartedSession::default());
    }
    let object = json(text)?;
    let Some(key) = optional_text(&object, "session_key").map_err(unreadable)? else {
        return Err(unreadable(ParseProblem::MissingField("session_key".to_owned())));
    };
    if key.is_empty() || key.len() > 200 || key.starts_with('-') || key.contains(char::is_control) {
        return Err(unreadable(ParseProblem::InvalidFormat));
    }
    let spawned = list(&object, "reviewers_spawned").map_err(unreadable)?;
    let names = spawned.iter().map(|name| name.as_str().map(str::to_owned));
    let reviewers: Option<Vec<String>> = names.collect();
    let reviewers = reviewers.ok_or_else(|| unreadable(ParseProblem::InvalidFormat))?;
    Ok(StartedSession { key: Some(key.to_owned()), reviewers })
}

/// Reads what `wait --json` printed, by the table of exit codes.
pub fn waited(
    ended: &CommandEnd<'_>,
    started: &StartedSession,
    run_key: &str,
) -> Result<GateAnswer, ReviewerFailure> {
    let Some(code @ 0..=1) = ended.code else { return Err(failure(ended)) };
    let object = json(ended.stdout)?;
    let report = object.get("report").and_then(Value::as_object).unwrap_or(&object);
    let session = optional_text(report, "session_key").map_err(unreadable)?;
    if session.is_some_and(|it| it != started.key.as_deref().unwrap_or(run_key)) {
        let other = "the gate answers for another session".to_owned();
        return Err(ReviewerFailure::Unreadable(other));
    }
    if object.contains_key("consensus") {
        if started.key.is_none() {
            // Without a key, its `wait` takes the most recent session, which may be another one.
            let unknown = "the gate named no session: the result may be of another one";
            return Err(ReviewerFailure::Unreadable(unknown.to_owned()));
        }
        return contract::read(&object, code, started)
            .map(|word| GateAnswer::Panel(Box::new(word)));
    }
    if first::is_it(&object) {
        return first::read(&object, code, started).map(|word| GateAnswer::Panel(Box::new(word)));
    }
    if second::is_it(&object) {
        return second::state(&object, code, run_key).map(GateAnswer::State);
    }
    Err(unreadable(ParseProblem::MissingField("consensus".to_owned())))
}

/// What an exit code of 2 and more means, with what the JSON says to it, if there is any.
fn failure(ended: &CommandEnd<'_>) -> ReviewerFailure {
    let object = json(ended.stdout).ok();
    let told = object.as_ref().and_then(|it| issues::parse_errors(it).ok());
    let told = told.unwrap_or_default().join("; ");
    let why = |otherwise: &str| match (told.is_empty(), complaint(ended)) {
        (false, _) => cut(&told, MAX_WHY),
        (true, words) if !words.is_empty() => words,
        _ => otherwise.to_owned(),
    };
    match ended.code {
        Some(2) if object.as_ref().is_some_and(first::is_it) => {
            ReviewerFailure::Broken(why("the gate failed"))
        }
        Some(2) => ReviewerFailure::Unreadable(why("the gate could not read its reviewers")),
        Some(3) => ReviewerFailure::timeout(),
        Some(4) => ReviewerFailure::Unavailable(why("no reviewers")),
        Some(5) => ReviewerFailure::Broken(why("the gate failed")),
        other => {
            ReviewerFailure::Crashed(format!("{}: {}", exit(other), why("the gate says nothing")))
        }
    }
}

fn exit(code: Option<i32>) -> String {
    code.map_or_else(|| "killed".to_owned(), |code| format!("exit {code}"))
}

/// The last line of what it complained of.
fn complaint(ended: &CommandEnd<'_>) -> String {
    let last = ended.stderr.lines().rev().find(|line| !line.trim().is_empty());
    let words = last.unwrap_or_default().trim().chars().filter(|c| !c.is_control());
    words.take(MAX_WHY).collect()
}

/// The whole of what was printed, as one object in which no key is there twice.
fn json(text: &str) -> Result<JsonObject, ReviewerFailure> {
    match parse_unique(text.trim()) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(unreadable(ParseProblem::InvalidJson("it is no object".to_owned()))),
        Err(error) => Err(unreadable(ParseProblem::InvalidJson(error.to_string()))),
    }
}

fn unreadable(problem: ParseProblem) -> ReviewerFailure {
    ReviewerFailure::Unreadable(problem.to_string())
}
