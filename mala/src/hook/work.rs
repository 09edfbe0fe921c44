//! Reviews the work that a hook found, with an existing session for the same work or a new one.

use crate::environment::Environment;
use crate::interrupt::stop_signal;
use crate::settings::UserSettings;
use crate::wiring::gate::work::{FoundWork, PinnedPart, WorkSource};
use crate::wiring::gate::{self as world, Gate, SessionChange, SessionFolder, SessionRequest};
use crate::wiring::{ledger, trusted_settings};
use anyhow::Context;
use mala_domain::config::Config;
use mala_domain::finding::FindingState;
use mala_domain::gate::session::{ExcludedFiles, Session, SessionEnd, SessionState};
use mala_domain::hook::scope::RepositoryState;
use mala_domain::hook::{HookFacts, HookWork, PartResult, UnreviewedWork};
use mala_domain::ledger::FindingId;
use mala_domain::ports::{FindingFilter, Ledger as _, ReviewScope};
use mala_domain::verdict::Outcome;
use mala_pipeline::gate::{WatchedSession as _, wait};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// The result of a hook's review, and how often it may block.
pub(super) struct HookReview {
    pub(super) facts: HookFacts,
    pub(super) max_blocks: u32,
}

impl HookReview {
    fn quiet(facts: HookFacts) -> Self {
        Self { facts, max_blocks: 0 }
    }
}

/// The message for a review that takes longer than this.
pub(super) fn too_long(time: Duration) -> String {
    format!("no result within {} s", time.as_secs())
}

/// Reviews the work within this time. An error in the user's settings is reported only if there is
/// work.
pub(super) fn review_within(
    here: &Environment,
    user: &Result<UserSettings, String>,
    source: &WorkSource<'_>,
    time: Duration,
) -> anyhow::Result<HookReview> {
    let deadline = Instant::now() + time;
    within(time, async {
        tokio::select! {
            looked = review(here, user, source, deadline) => looked,
            ended = stop_signal() => ended.map(|()| HookReview::quiet(HookFacts::Interrupted)),
        }
    })
}

/// The state of the repository.
pub(super) fn state(here: &Environment, time: Duration) -> anyhow::Result<RepositoryState> {
    within(time, world::work::current_state(here))
}

/// The state that a person accepts.
pub(super) fn state_to_accept(
    here: &Environment,
    time: Duration,
) -> anyhow::Result<RepositoryState> {
    within(time, world::work::state_to_accept(here))
}

fn within<T>(time: Duration, work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().context("starting the runtime")?;
    let done = runtime.block_on(async {
        tokio::select! {
            done = work => done,
            () = tokio::time::sleep(time) => anyhow::bail!("{}", too_long(time)),
        }
    });
    // Tasks that do not end must not keep the process from ending.
    runtime.shutdown_background();
    done
}

/// A part of the work that has a diff, with its session.
struct HookPart {
    branch: Option<String>,
    tip: Option<String>,
    pinned: PinnedPart,
    scope: ReviewScope,
    session: Session,
}

impl HookPart {
    fn hash(&self) -> &str {
        &self.session.scope.diff_hash
    }

    /// Why it is not reviewed, if no reviewer can be used.
    fn not_reviewed(&self) -> Option<String> {
        let why = no_reviewer(&self.session)?;
        Some(match &self.branch {
            Some(branch) => format!("{branch} was not reviewed: {why}"),
            None => why,
        })
    }
}

async fn review(
    here: &Environment,
    user: &Result<UserSettings, String>,
    source: &WorkSource<'_>,
    deadline: Instant,
) -> anyhow::Result<HookReview> {
    let gate = Gate::open(here).await?;
    let FoundWork { scope, state, mut left_out } = gate.work(source).await?;
    let mut max_blocks = 0;
    let mut parts = Vec::new();
    for part in &scope.parts {
        let pinned = gate.pin_part(part, &scope).await?;
        if let Some((prepared, limit)) = prepare(pinned, &gate, user, here).await? {
            max_blocks = limit.max(max_blocks);
            let (branch, tip) = (part.branch.clone(), part.tip.clone());
            parts.push(HookPart { branch, tip, ..prepared });
        }
    }
    let facts = |facts| Ok(HookReview { facts, max_blocks });
    if parts.is_empty() {
        return facts(HookFacts::NothingChanged(state).with_left_out(left_out));
    }
    let folder = gate.hook();
    let (released, parts): (Vec<HookPart>, Vec<HookPart>) =
        parts.into_iter().partition(|part| folder.is_released(part.hash()));
    if parts.is_empty() {
        return facts(HookFacts::ReleasedWork);
    }
    if matches!(source, WorkSource::Push(_)) {
        let names = released.iter().filter_map(|part| part.branch.as_ref());
        left_out
            .extend(names.map(|it| format!("{it} was not reviewed: released or accepted before")));
    }
    let hashes = parts.iter().map(|part| part.hash().to_owned()).collect();
    let tips = parts.iter().filter_map(|part| part.tip.clone()).collect();
    let work = HookWork { hashes, tips, state };
    let (parts, unusable): (Vec<HookPart>, Vec<HookPart>) =
        parts.into_iter().partition(|part| no_reviewer(&part.session).is_none());
    let unusable: Vec<String> = unusable.iter().filter_map(HookPart::not_reviewed).collect();
    if parts.is_empty() {
        let why = format!("nothing was reviewed: {}", unusable.join("; "));
        return facts(HookFacts::NoReviewer(why).with_left_out(left_out));
    }
    left_out.extend(unusable);
    let mut folders = Vec::new();
    for part in parts {
        let branch = part.branch.clone();
        folders.push((session_of(part, &gate, here).await?, branch));
    }
    let mut results = Vec::new();
    for (folder, branch) in folders {
        results.push(result(&folder, branch, deadline).await?);
    }
    let running = results.iter().find(|part| matches!(part.state, SessionState::Running(_)));
    let is_blocked = results.iter().any(|part| part.state.outcome() == Outcome::Blocked);
    match running.filter(|_| !is_blocked) {
        Some(part) => facts(HookFacts::UnreviewedWork(UnreviewedWork {
            work: Some(work),
            why: "the review is still running".to_owned(),
            report: Some(part.report.clone()),
        })),
        None => facts(HookFacts::of_sessions(&work, &results).with_left_out(left_out)),
    }
}

/// The session of a part, not started yet; `None` if the part has no diff. The settings come from where the
/// work starts.
async fn prepare(
    pinned: PinnedPart,
    gate: &Gate,
    user: &Result<UserSettings, String>,
    here: &Environment,
) -> anyhow::Result<Option<(HookPart, u32)>> {
    let (_, scope) = gate.scope(pinned.scratch.path(), &pinned.pinned).await?;
    if scope.change.is_empty() {
        return Ok(None);
    }
    let user = user.as_ref().map_err(|why| anyhow::anyhow!("{why}"))?;
    let settings = trusted_settings::of_change(user, &scope, Config::default()).await?;
    let scope = world::narrowed(scope, &ExcludedFiles::of(&settings.policy))?;
    let (members, warnings) = world::session_panel_members(&[], &settings, here)?;
    let (tasks, reasoning) = (Vec::new(), "high");
    let request = SessionRequest { members, tasks, reasoning, warnings, is_of_hook: true };
    let change = SessionChange {
        scratch: pinned.scratch.path(),
        pinned: &pinned.pinned,
        scoped: &scope,
        words: pinned.words.clone(),
    };
    let session = world::new_session(&change, request, &settings)?;
    let max_blocks = settings.gate.max_blocks.value.get();
    Ok(Some((HookPart { branch: None, tip: None, pinned, scope, session }, max_blocks)))
}

/// Why no reviewer of a session can be used; `None` if one can.
fn no_reviewer(session: &Session) -> Option<String> {
    if session.members.iter().any(|member| member.absent.is_none()) {
        return None;
    }
    let absent = session.members.iter().filter_map(|member| {
        member.absent.as_ref().map(|why| format!("{}: {why}", member.lane.name))
    });
    let why: Vec<String> = absent.chain(session.warnings.iter().cloned()).collect();
    Some(format!("no reviewer is usable ({})", why.join("; ")))
}

/// The session that reviews a part: one that has the same work, or a new one.
async fn session_of(
    part: HookPart,
    gate: &Gate,
    here: &Environment,
) -> anyhow::Result<SessionFolder> {
    if let Some(folder) = known_session(gate, &part.session, &decided(here).await) {
        return Ok(folder);
    }
    // The supervisor removes the copy, also if the hook does not wait for it.
    let scratch = part.pinned.scratch.keep();
    let started = world::start_session(gate, &part.session, &part.scope, here).await;
    Ok(started.inspect_err(|_| world::remove_scratch(&scratch))?.0)
}

/// The findings that are waived or disputed.
async fn decided(here: &Environment) -> BTreeSet<FindingId> {
    let states = vec![FindingState::Waived, FindingState::Disputed];
    let filter = FindingFilter { states, ..FindingFilter::default() };
    let Ok(ledger) = ledger::open(here).await else { return BTreeSet::new() };
    let findings = ledger.findings(&filter).await.unwrap_or_default();
    findings.into_iter().map(|it| it.id).collect()
}

/// A session with the same work, panel and task that has a verdict or still runs. One that blocks is
/// preferred, unless a person decided about one of its findings since.
fn known_session(
    gate: &Gate,
    wanted: &Session,
    decided: &BTreeSet<FindingId>,
) -> Option<SessionFolder> {
    let is_same = |session: &Session| {
        session.scope.diff_hash == wanted.scope.diff_hash
            && session.members == wanted.members
            && session.rule == wanted.rule
            && session.excluded == wanted.excluded
            && session.tasks == wanted.tasks
            && session.reasoning == wanted.reasoning
            && session.checker == wanted.checker
    };
    let mut first = None;
    for (folder, _) in gate.sessions.all().into_iter().filter(|(_, session)| is_same(session)) {
        let is_useful = match folder.end() {
            Ok(Some(end)) => match end.outcome() {
                Outcome::Blocked if is_decided_since(&end, decided) => false,
                Outcome::Blocked => return Some(folder),
                Outcome::Passed => true,
                Outcome::CouldNotReview(_) => false,
            },
            Ok(None) => !world::SessionProbe(&folder).is_dead(),
            Err(_) => false,
        };
        if is_useful {
            first.get_or_insert(folder);
        }
    }
    first
}

fn is_decided_since(end: &SessionEnd, decided: &BTreeSet<FindingId>) -> bool {
    let SessionEnd::Reviewed(report) = end else { return false };
    report.tracking.as_ref().is_some_and(|tracking| tracking.is_decided_since(decided))
}

async fn result(
    folder: &SessionFolder,
    branch: Option<String>,
    deadline: Instant,
) -> anyhow::Result<PartResult> {
    // A second is left for writing the report and the answer.
    let time = deadline.saturating_duration_since(Instant::now() + Duration::from_secs(1));
    let state = wait(&world::SessionProbe(folder), time).await;
    if state == SessionState::Dead
        && let Ok(session) = folder.session()
    {
        world::sweep(folder, &session);
    }
    let report = match state {
        SessionState::Running(_) => folder.path().to_owned(),
        _ => folder.report(&state).context("writing the report")?,
    };
    Ok(PartResult { state, branch, report: report.display().to_string() })
}
