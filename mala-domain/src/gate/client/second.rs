//! The newer shape: `wait` tells only how the gate stands; what its reviewers said is in files. One
//! that is missing or cannot be read is no pass, whatever the gate says.

use super::issues::{self, Dialect};
use super::{PanelWord, agrees, disagreement, json, unanimous, unreadable};
use crate::agent::answer::fields::{cut, maybe_text, text};
use crate::agent::answer::{Object, ParseProblem};
use crate::ports::ReviewerFailure;
use crate::review::Voice;
use crate::verdict::Verdict;
use serde_json::Value;

const DIALECT: Dialect = Dialect { file: "file_path", lines_may_be_null: true };

/// How a gate stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateState {
    /// Its verdict; `None` when a person is to decide.
    pub verdict: Option<Verdict>,
    /// Why, in its words.
    pub reason: String,
}

/// The file of one reviewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opinion {
    /// Whose.
    pub reviewer: String,
    /// What it holds; `None` when it is not there.
    pub text: Option<String>,
}

pub(super) fn is_it(object: &Object) -> bool {
    let states = ["pending", "resolved", "no_active_gate"];
    let status = object.get("status").and_then(Value::as_str);
    status.is_some_and(|status| states.contains(&status))
        && (object.contains_key("verdict") || status == Some("no_active_gate"))
}

pub(super) fn state(
    object: &Object,
    code: i32,
    run_key: &str,
) -> Result<GateState, ReviewerFailure> {
    let status = text(object, "status").map_err(unreadable)?;
    match (code, status) {
        (0, "resolved") => {}
        (0, "no_active_gate") => {
            return Err(ReviewerFailure::Unavailable("no active gate".to_owned()));
        }
        (0, "pending") => return Err(ReviewerFailure::TimedOut),
        _ => return Err(disagreement(code, status)),
    }
    let run = maybe_text(object, "run_key").map_err(unreadable)?;
    if run.is_some_and(|run| run != run_key) {
        let other = "the gate answers for another run".to_owned();
        return Err(ReviewerFailure::Unreadable(other));
    }
    let verdict = match text(object, "verdict").map_err(unreadable)? {
        "requires_decision" => None,
        word => Some(verdict(word)?),
    };
    let reason = maybe_text(object, "resolution_reason").map_err(unreadable)?;
    Ok(GateState { verdict, reason: cut(reason.unwrap_or_default(), 2_000) })
}

/// A verdict in this shape's words, in either case.
fn verdict(word: &str) -> Result<Verdict, ReviewerFailure> {
    match word {
        "pass" | "PASS" => Ok(Verdict::Pass),
        "fail" | "FAIL" => Ok(Verdict::Fail),
        "needs_work" | "NEEDS_WORK" | "NEEDS WORK" => Ok(Verdict::NeedsWork),
        other => Err(unreadable(ParseProblem::InvalidVerdict(cut(other, 80)))),
    }
}

/// What the panel says: how the gate stands, and the files of its reviewers.
pub fn panel(state: &GateState, opinions: &[Opinion]) -> Result<PanelWord, ReviewerFailure> {
    let mut claims = Vec::new();
    let mut voices = Vec::new();
    for opinion in opinions {
        match read(opinion) {
            Ok((verdict, own)) => {
                claims.extend(own);
                let name = opinion.reviewer.clone();
                voices.push((Voice { name, ..Voice::default() }, verdict));
            }
            Err(problem) => {
                let error = Some(problem.to_string());
                let name = opinion.reviewer.clone();
                voices.push((Voice { name, error, ..Voice::default() }, None));
            }
        }
    }
    match state.verdict {
        Some(verdict) => agrees(verdict, &claims)?,
        None if voices.is_empty() => {
            let words = "requires_decision without reviewers".to_owned();
            return Err(unreadable(ParseProblem::InvalidVerdict(words)));
        }
        None => {}
    }
    if state.verdict == Some(Verdict::Pass) {
        unanimous(&voices)?;
    }
    let decision = state.verdict.is_none().then(|| state.reason.clone());
    let voices = voices.into_iter().map(|(voice, _)| voice).collect();
    let verdict = state.verdict.unwrap_or(Verdict::Fail);
    Ok(PanelWord { claims, voices, decision, ..PanelWord::whole(verdict) })
}

fn read(opinion: &Opinion) -> Result<(Option<Verdict>, Vec<super::Claim>), ReviewerFailure> {
    let Some(text) = &opinion.text else {
        return Err(ReviewerFailure::Unreadable("its output is missing".to_owned()));
    };
    let object = json(text)?;
    let verdict = match self::text(&object, "verdict").map_err(unreadable)? {
        "requires_decision" | "REQUIRES_DECISION" => None,
        word => Some(self::verdict(word)?),
    };
    let claims = issues::claims(&object, "findings", &DIALECT, Some(&opinion.reviewer))?;
    Ok((verdict, claims))
}
