//! The votes behind a panel's verdict. A pass needs a pass of every reviewer that was started; an objection
//! counts without them, but then nothing else counts as reviewed.

use super::beside::{remarks, weigh};
use super::issues::{self, GateDialect};
use super::{GateAccount, GateClaim, MAX_WHY, PanelWord, StartedSession, unreadable};
use crate::agent::answer::fields::cut;
use crate::agent::answer::{JsonObject, ParseProblem};
use crate::ports::ReviewerFailure;
use crate::review::GateMember;
use crate::verdict::Verdict;

/// A reviewer of a panel, and its verdict.
pub(super) type MemberVote = (GateMember, Option<Verdict>);

/// What a panel says, as far as its verdict goes.
pub(super) struct PanelPoll<'p> {
    pub(super) verdict: Verdict,
    pub(super) claims: &'p [GateClaim],
    pub(super) votes: &'p [MemberVote],
    pub(super) parse_errors: &'p [String],
}

/// What a panel says that lists its claims and its reviewers in one object.
pub(super) fn panel_word(
    object: &JsonObject,
    verdict: Verdict,
    dialect: &GateDialect,
    started: &StartedSession,
) -> Result<PanelWord, ReviewerFailure> {
    let claims = issues::claims(object, dialect, None)?;
    let votes = issues::votes(object, dialect)?;
    let warnings = issues::parse_errors(object)?;
    let poll = PanelPoll { verdict, claims: &claims, votes: &votes, parse_errors: &warnings };
    let account = poll.account(started)?;
    let account = weigh(&remarks(object, Some(dialect.claims))?, verdict, &claims, account)?;
    let members = votes.into_iter().map(|(member, _)| member).collect();
    let log = issues::log(object)?;
    Ok(PanelWord { claims, members, account, log, warnings, ..PanelWord::whole(verdict) })
}

impl PanelPoll<'_> {
    /// What the panel accounts for: nothing, if a reviewer that was started gave no verdict.
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

    /// Why this vote says nothing: there is none, or it objects to nothing that is named.
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

/// A reviewer that was started and has no vote. If a program is started several times, each has its
/// number: `codex#1`. A gate that starts no reviewer has no vote.
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

/// A verdict that its own findings contradict says nothing.
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

/// An exit code and a JSON that say different things.
pub(super) fn disagreement(code: i32, says: &str) -> ReviewerFailure {
    contradiction(&format!("exit {code} with {}", cut(says, 80)))
}

/// A verdict that something else speaks against.
pub(super) fn contradiction(words: &str) -> ReviewerFailure {
    unreadable(ParseProblem::InvalidVerdict(words.to_owned()))
}
