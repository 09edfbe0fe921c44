//! One session, from its prompt to its result.

use super::check::check;
use super::conclude::{Panelists, conclude};
use super::hear::{Roll, hear};
use super::material::{MAX_BYTES, Told, gather_for};
use crate::agent::Agent;
use crate::review::admit::{ParsedSymbols, read_cited};
use mala_domain::agent::judge::ground;
use mala_domain::change::Change;
use mala_domain::finding::{Candidate, Finding};
use mala_domain::gate::check::{by_looking, said_once};
use mala_domain::gate::output::{Consensus, Waited};
use mala_domain::gate::prompt::caveats;
use mala_domain::gate::session::{Phase, Progress, Session};
use mala_domain::ports::{LaneRunner, ScopeError, Scoped};
use mala_domain::review::admit::{Admission, admit};
use mala_domain::review::{Coverage, Texts};
use mala_domain::verdict::Obstacle;
use mala_syntax::symbols::HeadBindings;

/// What a session is run with.
pub struct Panel<'p> {
    /// What it is about.
    pub session: &'p Session,
    /// Who runs its lanes.
    pub runner: &'p dyn LaneRunner,
    /// Who checks blocking findings that no other lane could check.
    pub checker: Option<&'p Agent>,
    /// Told whenever it gets further.
    pub show: &'p (dyn Fn(&Progress) + Send + Sync),
}

/// What every question to a lane is made from.
pub(super) struct Desk<'d> {
    pub(super) panel: &'d Panel<'d>,
    pub(super) scoped: &'d Scoped,
    pub(super) change: &'d Change,
    pub(super) told: &'d Told,
}

/// Runs a session to its end. An error means that its tree cannot be read; everything else is in the
/// result.
pub async fn supervise(panel: &Panel<'_>, scoped: &Scoped) -> Result<Waited, ScopeError> {
    let roll = Roll::new(panel);
    let told = gather_for(panel.session, scoped).await?;
    if !told.briefs.left_out.is_empty() {
        return Ok(too_long(panel.session, scoped, &told));
    }
    let desk = Desk { panel, scoped, change: &scoped.change, told: &told };
    let heard = hear(&desk, &scoped.scope, &roll).await;
    roll.phase(Phase::Checking);
    let claims: Vec<Candidate> = heard
        .iter()
        .filter_map(|heard| heard.answer.as_ref().ok())
        .flat_map(|answer| answer.claims.iter().cloned())
        .collect();
    let mut texts = Texts::clone(&told.texts);
    let Admission { mut findings, dropped } = admitted(claims, scoped, &mut texts).await?;
    look(&mut findings, &texts);
    let mut findings = said_once(findings);
    let checked = check(&desk, &heard, &dropped, &mut findings).await;
    let caveats = caveats(&scoped.change, &told.briefs);
    let panelists = Panelists { heard, findings, dropped, checked, caveats };
    Ok(conclude(panel.session, panelists, &scoped.change))
}

/// The regions are listed by number, so that a lane could account for what it was not shown: nobody is
/// asked, and nobody paid.
fn too_long(session: &Session, scoped: &Scoped, told: &Told) -> Waited {
    let (n, limit) = (told.briefs.left_out.len(), MAX_BYTES / 1000);
    let files = if n == 1 { "1 file does".to_owned() } else { format!("{n} files do") };
    let why = format!(
        "nobody was asked: {files} not fit into the {limit} kB of a prompt; review the change in parts, \
         or leave data out of it (review.ignore)"
    );
    let undecided = Waited::undecided(Obstacle::Incomplete, why);
    let caveats = caveats(&scoped.change, &told.briefs);
    Waited {
        session_key: Some(session.key.clone()),
        scope: Some(session.scope.clone()),
        consensus: Consensus { rule: session.rule, ..undecided.consensus },
        coverage: Coverage::over(&scoped.change, &[]),
        warnings: session.warnings.iter().cloned().chain(caveats).collect(),
        ..undecided
    }
}

/// The claims that stand at head.
pub(super) async fn admitted(
    claims: Vec<Candidate>,
    scoped: &Scoped,
    texts: &mut Texts,
) -> Result<Admission, ScopeError> {
    read_cited(&claims, scoped, texts).await?;
    let grounded = claims.into_iter().map(|claim| ground(claim, &scoped.change, texts)).collect();
    let symbols = ParsedSymbols::of(texts);
    Ok(admit(grounded, &scoped.change, texts, &symbols))
}

/// Marks what the files themselves refute.
fn look(findings: &mut [Finding], texts: &Texts) {
    let bindings = HeadBindings::of(texts);
    findings.iter_mut().for_each(|finding| by_looking(finding, &bindings));
}
