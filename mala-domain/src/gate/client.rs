//! Reads the answers of an external gate, in four formats: the contract, the one of mala with more fields, and
//! two of other gates. Exit code and JSON must agree; an answer in no known format is an error.

mod aggregated;
mod contract;
mod issues;
mod opinion;
mod remarks;
mod reviewer_files;
#[cfg(test)]
mod tests;
mod votes;

pub use opinion::{opinion, reviewed_this};
pub use reviewer_files::{GateRound, GateState, ReviewerFile, panel};

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
    /// Its stdout.
    pub stdout: &'e str,
    /// Its error output.
    pub stderr: &'e str,
}

/// A session that a gate started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StartedSession {
    /// Its key; `None` for gates that print text instead of JSON.
    pub key: Option<String>,
    /// The names of the started reviewers.
    pub reviewers: Vec<String>,
}

/// The answer of a gate.
#[derive(Debug, Clone, PartialEq)]
pub enum GateAnswer {
    /// The complete answer.
    Panel(Box<PanelAnswer>),
    /// The state of the gate; the answers of its reviewers are in files.
    State(GateState),
}

/// The complete answer of a panel.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelAnswer {
    /// Its verdict.
    pub verdict: Verdict,
    /// The claims of its reviewers.
    pub claims: Vec<GateClaim>,
    /// Its reviewers.
    pub members: Vec<GateMember>,
    /// The parts of the change that they reviewed.
    pub account: GateAccount,
    /// The change that it reviewed, if the answer has it.
    pub scope: Option<ScopeSummary>,
    /// The folder of the session.
    pub log: Option<String>,
    /// Why a person has to decide; `None` if the panel decided.
    pub decision: Option<String>,
    /// Warnings.
    pub warnings: Vec<String>,
}

impl PanelAnswer {
    /// An answer with a verdict on the whole change and no other fields.
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

/// A claim in the answer of a gate.
#[derive(Debug, Clone, PartialEq)]
pub struct GateClaim {
    /// The claim.
    pub candidate: ReviewClaim,
    /// Whether it names lines.
    pub has_lines: bool,
}

/// The parts of the change that a panel reviewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateAccount {
    /// These files.
    Files(Vec<FileCoverage>),
    /// The whole change: the answer names no parts.
    Whole,
    /// Nothing, for this reason: a needed reviewer gave no verdict.
    Nothing(String),
}

impl GateAccount {
    /// Nothing, for this reason unless there is one already.
    fn or_nothing(self, why: String) -> Self {
        match self {
            Self::Nothing(first) => Self::Nothing(first),
            Self::Files(_) | Self::Whole => Self::Nothing(why),
        }
    }
}

/// The maximum length of an error message in a failure.
const MAX_WHY: usize = 400;

/// Reads the output of `spawn-code-review`.
pub fn read_spawn_output(ended: &CommandEnd<'_>) -> Result<StartedSession, ReviewerFailure> {
    if ended.code != Some(0) {
        let why = match complaint(ended) {
            why if why.is_empty() => exit(ended.code),
            why => why,
        };
        return Err(ReviewerFailure::Crashed(format!("spawn failed: {why}")));
    }
    let text = ended.stdout.trim();
    if !text.starts_with('{') {
        // Some gates print text and read the session from the environment.
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

/// Reads the output of `wait --json`, by its exit code.
pub fn read_wait_output(
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
            // Without a key, its `wait` uses the most recent session, which may be another one.
            let unknown = "the gate named no session: the result may be of another one";
            return Err(ReviewerFailure::Unreadable(unknown.to_owned()));
        }
        return contract::read(&object, code, started)
            .map(|word| GateAnswer::Panel(Box::new(word)));
    }
    if aggregated::is_this_format(&object) {
        return aggregated::read(&object, code, started)
            .map(|word| GateAnswer::Panel(Box::new(word)));
    }
    if reviewer_files::is_this_format(&object) {
        return reviewer_files::state(&object, code, run_key).map(GateAnswer::State);
    }
    Err(unreadable(ParseProblem::MissingField("consensus".to_owned())))
}

/// The failure for an exit code of 2 or more, with the errors in the JSON if there are any.
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
        Some(2) if object.as_ref().is_some_and(aggregated::is_this_format) => {
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

/// The last line of the error output.
fn complaint(ended: &CommandEnd<'_>) -> String {
    let last = ended.stderr.lines().rev().find(|line| !line.trim().is_empty());
    let words = last.unwrap_or_default().trim().chars().filter(|c| !c.is_control());
    words.take(MAX_WHY).collect()
}

/// Parses the output as one JSON object without duplicate keys.
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
