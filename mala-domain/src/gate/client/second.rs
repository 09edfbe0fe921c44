//! The newer shape: `wait` tells only how the gate stands; what its reviewers said is in files. One
//! that is missing or cannot be read is no pass, whatever the gate says.

use super::beside::{GateRemark, remarks, weigh};
use super::issues::{self, GateDialect};
use super::votes::{MemberVote, PanelPoll, contradiction, disagreement};
use super::{GateAccount, GateClaim, PanelWord, StartedSession, json, unreadable};
use crate::agent::answer::fields::{cut, number, optional_text, text};
use crate::agent::answer::{JsonObject, ParseProblem};
use crate::ports::ReviewerFailure;
use crate::review::GateMember;
use crate::verdict::Verdict;
use serde_json::Value;

const DIALECT: GateDialect = GateDialect {
    claims: "findings",
    file: "file_path",
    lines_may_be_null: true,
    of_reviewers: &[],
    failed: &[],
};

/// How a gate stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateState {
    /// Its verdict; `None` when a person is to decide.
    pub verdict: Option<Verdict>,
    /// Why, in its words.
    pub reason: String,
    /// The iteration that it stands for, when it says so.
    pub iteration: Option<u32>,
    /// All that it printed.
    pub told: JsonObject,
}

/// What the reviewers of the last round said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GateRound {
    /// The iteration that it belongs to; `None` when there is no round.
    pub iteration: Option<u32>,
    /// Everybody who ever spoke in this run.
    pub opinions: Vec<ReviewerFile>,
}

/// The file of one reviewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewerFile {
    /// Whose.
    pub reviewer: String,
    /// What it holds; `None` when it is not there.
    pub text: Option<String>,
}

pub(super) fn is_it(object: &JsonObject) -> bool {
    let states = ["pending", "resolved", "no_active_gate"];
    let status = object.get("status").and_then(Value::as_str);
    status.is_some_and(|status| states.contains(&status))
        && (object.contains_key("verdict") || status == Some("no_active_gate"))
}

pub(super) fn state(
    object: &JsonObject,
    code: i32,
    run_key: &str,
) -> Result<GateState, ReviewerFailure> {
    let status = text(object, "status").map_err(unreadable)?;
    match (code, status) {
        (0, "resolved") => {}
        (0, "no_active_gate") => {
            return Err(ReviewerFailure::Unavailable("no active gate".to_owned()));
        }
        (0, "pending") => return Err(ReviewerFailure::timeout()),
        _ => return Err(disagreement(code, status)),
    }
    let run = optional_text(object, "run_key").map_err(unreadable)?;
    if run.is_some_and(|run| run != run_key) {
        let other = "the gate answers for another run".to_owned();
        return Err(ReviewerFailure::Unreadable(other));
    }
    let verdict = match text(object, "verdict").map_err(unreadable)? {
        "requires_decision" => None,
        word => Some(verdict(word)?),
    };
    let reason = optional_text(object, "resolution_reason").map_err(unreadable)?;
    let reason = cut(reason.unwrap_or_default(), 2_000);
    let iteration = match object.get("current_iteration") {
        None | Some(Value::Null) => None,
        Some(_) => Some(number(object, "current_iteration").map_err(unreadable)?),
    };
    Ok(GateState { verdict, reason, iteration, told: object.clone() })
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
pub fn panel(
    state: &GateState,
    round: &GateRound,
    started: &StartedSession,
) -> Result<PanelWord, ReviewerFailure> {
    if let (Some(said), Some(found)) = (state.iteration, round.iteration)
        && said != found
    {
        let words = format!("iteration {said}, and what its reviewers said is of {found}");
        return Err(contradiction(&words));
    }
    if state.verdict.is_none() && round.opinions.is_empty() {
        return Err(contradiction("requires_decision without reviewers"));
    }
    let files: Vec<_> = round.opinions.iter().map(|own| (&own.reviewer, parsed(own))).collect();
    let mut claims: Vec<GateClaim> = Vec::new();
    let mut votes: Vec<MemberVote> = Vec::new();
    let mut beside = remarks(&state.told, None)?;
    for (name, file) in &files {
        let read = file.as_ref().map_err(Clone::clone).and_then(|file| read(name, file));
        let (verdict, own, error) = match read {
            Ok((verdict, own)) => (verdict, own, None),
            Err(problem) => (None, Vec::new(), Some(problem.to_string())),
        };
        claims.extend(own);
        beside.extend(file.iter().map(|file| GateRemark::of(name, file, Some(DIALECT.claims))));
        votes.push((GateMember { name: (*name).clone(), error, ..GateMember::default() }, verdict));
    }
    let verdict = state.verdict.unwrap_or(Verdict::Fail);
    let poll = PanelPoll { verdict, claims: &claims, votes: &votes, parse_errors: &[] };
    let account = match state.verdict {
        Some(_) => poll.account(started)?,
        None => GateAccount::Nothing("the gate came to no verdict".to_owned()),
    };
    let account = weigh(&beside, verdict, &claims, account)?;
    let decision = state.verdict.is_none().then(|| state.reason.clone());
    let members = votes.into_iter().map(|(member, _)| member).collect();
    Ok(PanelWord { claims, members, account, decision, ..PanelWord::whole(verdict) })
}

fn parsed(opinion: &ReviewerFile) -> Result<JsonObject, ReviewerFailure> {
    match &opinion.text {
        Some(text) => json(text),
        None => Err(ReviewerFailure::Unreadable("its output is missing".to_owned())),
    }
}

fn read(
    name: &str,
    file: &JsonObject,
) -> Result<(Option<Verdict>, Vec<GateClaim>), ReviewerFailure> {
    let verdict = match text(file, "verdict").map_err(unreadable)? {
        "requires_decision" | "REQUIRES_DECISION" => None,
        word => Some(self::verdict(word)?),
    };
    Ok((verdict, issues::claims(file, &DIALECT, Some(name))?))
}
