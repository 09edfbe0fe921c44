//! The votes behind a panel's verdict. A pass needs a pass of every started reviewer. An objection counts
//! without all votes, but then no part of the change counts as reviewed.

use super::issues::{self, GateDialect};
use super::remarks::{check_remarks, remarks};
use super::{GateAccount, GateClaim, MAX_WHY, PanelAnswer, StartedSession, unreadable};
use crate::agent::answer::fields::cut;
use crate::agent::answer::{JsonObject, ParseProblem};
use crate::ports::ReviewerFailure;
use crate::review::GateMember;
use crate::verdict::Verdict;

/// A reviewer of a panel, and its verdict.
pub(super) type MemberVote = (GateMember, Option<Verdict>);

/// The verdict of a panel with its claims and votes.
pub(super) struct PanelVotes<'p> {
    pub(super) verdict: Verdict,
    pub(super) claims: &'p [GateClaim],
    pub(super) votes: &'p [MemberVote],
    pub(super) parse_errors: &'p [String],
}

/// The answer of a panel that lists its claims and its reviewers in one JSON object.
pub(super) fn panel_word(
    object: &JsonObject,
    verdict: Verdict,
    dialect: &GateDialect,
    started: &StartedSession,
) -> Result<PanelAnswer, ReviewerFailure> {
    let claims = issues::claims(object, dialect, None)?;
    let votes = issues::votes(object, dialect)?;
    let warnings = issues::parse_errors(object)?;
    let poll = PanelVotes { verdict, claims: &claims, votes: &votes, parse_errors: &warnings };
    let account = poll.account(started)?;
    let account =
        check_remarks(&remarks(object, Some(dialect.claims))?, verdict, &claims, account)?;
    let members = votes.into_iter().map(|(member, _)| member).collect();
    let log = issues::log(object)?;
    Ok(PanelAnswer { claims, members, account, log, warnings, ..PanelAnswer::whole(verdict) })
}

impl PanelVotes<'_> {
    /// The part of the change that the panel reviewed: nothing if a started reviewer has no
    /// verdict.
    pub(super) fn account(&self, started: &StartedSession) -> Result<GateAccount, ReviewerFailure> {
        agrees(self.verdict, self.claims)?;
        if self.verdict == Verdict::Pass {
            unanimous(self.votes)?;
        }
        match self.unheard(started) {
            Some(why) if self.verdict == Verdict::Pass => {
                Err(contradiction(&format!("PASS though {why}")))
            }
            Some(why) => Ok(GateAccount::Nothing(why)),
            None => Ok(GateAccount::Whole),
        }
    }

    /// Why a reviewer gave no verdict.
    fn unheard(&self, started: &StartedSession) -> Option<String> {
        let silent = self.votes.iter().find_map(|vote| self.silence(vote));
        let missing = || missing(started, self.votes);
        let no_votes = || self.votes.is_empty().then(|| "it names no reviewers".to_owned());
        silent.or_else(missing).or_else(no_votes).or_else(|| self.parse_errors.first().cloned())
    }

    /// Why this vote does not count: it has no verdict, or objects without a claim.
    fn silence(&self, (voice, verdict): &MemberVote) -> Option<String> {
        let name = &voice.name;
        let is_named = || self.claims.iter().any(|claim| claim.candidate.reviewer == *name);
        match (verdict, &voice.error) {
            (_, Some(error)) => Some(format!("{name} says: {}", cut(error, MAX_WHY))),
            (None, None) => Some(format!("{name} says: no verdict")),
            (Some(Verdict::Pass), None) => None,
            (Some(other), None) => {
                (!is_named()).then(|| format!("{name} says {} and names nothing", other.name()))
            }
        }
    }
}

/// A message about a started reviewer that has no vote. The reviewers of a program that is started several
/// times are numbered: `codex#1`.
pub(super) fn missing(started: &StartedSession, votes: &[MemberVote]) -> Option<String> {
    if started.key.is_some() && started.reviewers.is_empty() {
        return Some("no reviewer was started".to_owned());
    }
    let started = &started.reviewers;
    let program = |name: &str| name.split_once('#').map(|(program, _)| program.to_owned());
    let is_called = |(voice, _): &&MemberVote, name: &str| {
        voice.name == name || program(&voice.name).is_some_and(|program| program == name)
    };
    let has_voices = |name: &&String| {
        let n_started = started.iter().filter(|other| other == name).count();
        votes.iter().filter(|vote| is_called(vote, name)).count() >= n_started
    };
    let unheard = started.iter().find(|name| !has_voices(name))?;
    Some(format!("{} was started and says nothing", cut(unheard, MAX_WHY)))
}

/// Checks that a verdict agrees with its own findings.
pub(super) fn agrees(verdict: Verdict, claims: &[GateClaim]) -> Result<(), ReviewerFailure> {
    match (verdict, claims.is_empty()) {
        (Verdict::Pass, false) => Err(contradiction("PASS with findings")),
        (Verdict::Fail | Verdict::NeedsWork, true) => {
            Err(contradiction(&format!("{} without findings", verdict.name())))
        }
        _ => Ok(()),
    }
}

/// A pass needs a pass of every reviewer.
pub(super) fn unanimous(votes: &[MemberVote]) -> Result<(), ReviewerFailure> {
    if votes.is_empty() {
        return Err(contradiction("PASS without reviewers"));
    }
    for (voice, verdict) in votes {
        let says = match (verdict, &voice.error) {
            (Some(Verdict::Pass), None) => continue,
            (_, Some(error)) => error.as_str(),
            (Some(verdict), None) => verdict.name(),
            (None, None) => "no verdict",
        };
        let words = format!("PASS though {} says: {}", voice.name, cut(says, MAX_WHY));
        return Err(contradiction(&words));
    }
    Ok(())
}

/// The failure of a gate whose exit code contradicts its JSON.
pub(super) fn disagreement(code: i32, says: &str) -> ReviewerFailure {
    contradiction(&format!("exit {code} with {}", cut(says, 80)))
}

/// The failure of a gate whose verdict is contradicted.
pub(super) fn contradiction(words: &str) -> ReviewerFailure {
    unreadable(ParseProblem::InvalidVerdict(words.to_owned()))
}
