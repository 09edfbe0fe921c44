//! The format in which `wait` prints only the state of the gate, and the answers of its reviewers are in files.
//! The panel does not pass if one of the files is missing or cannot be read.

use super::issues::{self, GateDialect};
use super::remarks::{GateRemark, check_remarks, remarks};
use super::votes::{MemberVote, PanelVotes, contradiction, disagreement};
use super::{GateAccount, GateClaim, PanelAnswer, StartedSession, json, unreadable};
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

/// The state of a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateState {
    /// Its verdict; `None` if a person has to decide.
    pub verdict: Option<Verdict>,
    /// The reason, as the gate states it.
    pub reason: String,
    /// Its iteration, if the gate prints it.
    pub iteration: Option<u32>,
    /// The printed JSON.
    pub told: JsonObject,
}

/// The answers of the reviewers in the last round.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GateRound {
    /// Its iteration; `None` without a round.
    pub iteration: Option<u32>,
    /// All reviewers of this run, in any round.
    pub opinions: Vec<ReviewerFile>,
}

/// The file of one reviewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewerFile {
    /// The name of the reviewer.
    pub reviewer: String,
    /// Its content; `None` if the file is missing.
    pub text: Option<String>,
}

pub(super) fn is_this_format(object: &JsonObject) -> bool {
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

/// A verdict in this format, in upper or lower case.
fn verdict(word: &str) -> Result<Verdict, ReviewerFailure> {
    match word {
        "pass" | "PASS" => Ok(Verdict::Pass),
        "fail" | "FAIL" => Ok(Verdict::Fail),
        "needs_work" | "NEEDS_WORK" | "NEEDS WORK" => Ok(Verdict::NeedsWork),
        other => Err(unreadable(ParseProblem::InvalidVerdict(cut(other, 80)))),
    }
}

/// The answer of the panel, from the state of the gate and the files of its reviewers.
pub fn panel(
    state: &GateState,
    round: &GateRound,
    started: &StartedSession,
) -> Result<PanelAnswer, ReviewerFailure> {
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
    let poll = PanelVotes { verdict, claims: &claims, votes: &votes, parse_errors: &[] };
    let account = match state.verdict {
        Some(_) => poll.account(started)?,
        None => GateAccount::Nothing("the gate came to no verdict".to_owned()),
    };
    let account = check_remarks(&beside, verdict, &claims, account)?;
    let decision = state.verdict.is_none().then(|| state.reason.clone());
    let members = votes.into_iter().map(|(member, _)| member).collect();
    Ok(PanelAnswer { claims, members, account, decision, ..PanelAnswer::whole(verdict) })
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
