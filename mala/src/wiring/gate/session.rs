//! A session as a review: its plan, its lanes as reviewers, and the agent that checks for them.

use super::{Gate, InProcessSettings, panel_reviewers, runner};
use crate::environment::Environment;
use crate::settings::UserModels;
use crate::wiring::changes::failure;
use crate::wiring::ledger::{LedgerPlace, ReviewLedger, TrackingRequest};
use crate::wiring::reviewers::{self, AbsentReviewer};
use crate::wiring::rules::project_rules;
use mala_adapters::git::Git;
use mala_adapters::lanes::Lanes;
use mala_adapters::sessions::SessionFolder;
use mala_domain::agent::prompts;
use mala_domain::config::PathGlobs;
use mala_domain::gate::session::{Session, SessionProgress};
use mala_domain::ports::{ReviewScope, Reviewer, Verifier};
use mala_domain::report::Report;
use mala_domain::review::ReviewPlan;
use mala_domain::review::decide::DecisionPolicy;
use mala_domain::review::suppress::SuppressionPolicy;
use mala_domain::scope::ReviewTarget;
use mala_domain::verdict::Threshold;
use mala_pipeline::gate::{LaneProgress, PanelContext, PanelSettings};
use mala_pipeline::review::{ReviewPorts, Verifiers, review};
use std::sync::Arc;
use std::time::Duration;

/// The time of a session besides its lanes, which have their own time limit.
const MARGIN: Duration = Duration::from_secs(3600);

/// The plan of a session's review.
pub(super) fn session_plan(session: &Session) -> anyhow::Result<ReviewPlan> {
    let timeout = Duration::from_secs(session.timeout_seconds);
    Ok(ReviewPlan {
        ignore: PathGlobs::new(&session.excluded.ignore)?,
        generated: PathGlobs::new(&session.excluded.generated)?,
        tasks: session.tasks.clone(),
        suppressions: SuppressionPolicy::Off,
        policy: session_policy(session),
        timeout: timeout.saturating_add(MARGIN),
        check_time: timeout,
        reviewer_type: "review-gate".to_owned(),
        subject: None,
        prompt_version: prompts::version(),
        model: None,
        budget_profile: "standard".to_owned(),
        preface: None,
        warnings: session.warnings.clone(),
        rule_ids: Box::new(Vec::new),
    })
}

/// The decision policy of a session: every finding is an objection, and its rule counts the votes.
pub fn session_policy(session: &Session) -> DecisionPolicy {
    DecisionPolicy {
        fail_on: Threshold::P3,
        fail_on_objection: Threshold::P3,
        rule: session.rule,
        panel: session.members.iter().map(|member| member.lane.name.clone()).collect(),
    }
}

/// The environment of the lanes of a session.
pub struct SessionLanes<'s> {
    /// The repository.
    pub gate: &'s Gate,
    /// The copy of the repository that the session reviews.
    pub git: Git,
    /// The files of the session.
    pub folder: &'s SessionFolder,
    /// The settings of models.
    pub models: UserModels,
}

/// Reviews the change of a session with its lanes. Without `lanes`, no
/// lane is run, and each is reported as absent.
pub async fn review_session(
    session: &Session,
    mut scope: ReviewScope,
    lanes: Option<SessionLanes<'_>>,
    here: &Environment,
) -> anyhow::Result<Report> {
    scope.scope.target.clone_from(&session.scope.target);
    let mut plan = session_plan(session)?;
    let Some(SessionLanes { gate, git, folder, models }) = lanes else {
        let reviewers = absent(session);
        let ports = ReviewPorts { reviewers: &reviewers, ..ReviewPorts::default() };
        return Ok(review(&plan, scope, &ports, &|_| {}).await.map_err(failure)?.report);
    };
    let shown = folder.clone();
    let progress = Arc::new(LaneProgress::new(move |progress: &SessionProgress| {
        if let Err(error) = shown.set_progress(progress) {
            crate::console::say(&format!("warning: writing the progress: {error}"));
        }
    }));
    let started = progress.clone();
    let runner = runner(git, session, folder, here, Some(gate.git.clone()));
    let panel = session_panel(session, runner, Arc::new(move |lane| started.started(lane)));
    let rules = project_rules(&scope, &session.pinned.target(), &mut plan.warnings).await?;
    let timeout = Duration::from_secs(session.timeout_seconds);
    let own = InProcessSettings { agent: &session.agent, models: &models, rules, timeout };
    let members = panel_reviewers(&session.members, &panel, &progress, &own, here).await;
    let agent = match &session.checker {
        Some(checker) => reviewers::checker(checker, here, models).await.map(Some),
        None => Ok(None),
    };
    let agent = agent.unwrap_or_else(|error| {
        plan.warnings.push(format!("the agent checks nothing: {error:#}"));
        None
    });
    let agent = agent.as_deref().map(|agent| agent as &dyn Verifier);
    let verifiers = Verifiers { peers: &members.lanes, agent };
    let ledger = session_ledger(session, &scope, &gate.git, &mut plan.warnings).await;
    let tracking = ledger.as_ref().map(ReviewLedger::tracking);
    let ports = ReviewPorts { reviewers: &members.reviewers, verifiers, store: None, tracking };
    let events = |event| progress.note(&event);
    Ok(review(&plan, scope, &ports, &events).await.map_err(failure)?.report)
}

/// The ledger of the repository that a session is of.
async fn session_ledger(
    session: &Session,
    scope: &ReviewScope,
    git: &Git,
    warnings: &mut Vec<String>,
) -> Option<ReviewLedger> {
    let target = named_target(session.pinned.target(), &session.scope.target);
    let request = TrackingRequest {
        target: &target,
        scope,
        paths: &[],
        policy: session.rounds.clone(),
        at: session.created.clone(),
        stores: true,
    };
    ReviewLedger::open(&LedgerPlace::of(git).await, request, warnings).await
}

/// The target of a session as it was requested. A range keeps the names of its ends, and a part of
/// a hook that of its branch; the commits of a working tree are copies.
fn named_target(pinned: ReviewTarget, words: &str) -> ReviewTarget {
    let ReviewTarget::Range { base, .. } = pinned else { return pinned };
    let is_id = |name: &str| name.len() >= 40 && name.bytes().all(|it| it.is_ascii_hexdigit());
    let head = |name: &str| if name.is_empty() || is_id(name) { "HEAD" } else { name }.to_owned();
    match (words.split_once("..."), words.split_once("..")) {
        (Some((base, name)), _) => {
            ReviewTarget::SinceMergeBase { base: base.to_owned(), head: head(name) }
        }
        (None, Some((base, name))) => {
            ReviewTarget::Range { base: base.to_owned(), head: head(name) }
        }
        (None, None) if words == "the working tree against HEAD" => ReviewTarget::WorkingTree,
        (None, None) => {
            let branch = words.split_once(" on ").map_or("", |(_, branch)| branch);
            let branch = branch.strip_prefix("refs/heads/").unwrap_or(branch);
            ReviewTarget::Range { base, head: head(branch) }
        }
    }
}

/// The state that the lanes of a session share.
pub(super) fn session_panel(
    session: &Session,
    runner: Lanes,
    started: Arc<dyn Fn(&str) + Send + Sync>,
) -> Arc<PanelContext> {
    let settings = PanelSettings {
        head: runner.head.clone(),
        secret: format!("{} {}", session.secret, session.key),
        reasoning: session.reasoning.clone(),
        timeout: Duration::from_secs(session.timeout_seconds),
        started,
    };
    PanelContext::new(Arc::new(runner), settings)
}

/// The lanes of a session as reviewers that are not there.
fn absent(session: &Session) -> Vec<Arc<dyn Reviewer>> {
    let absent = session.members.iter().map(|member| {
        let why = member.absent.clone().unwrap_or_else(|| "not started".to_owned());
        Arc::new(AbsentReviewer { name: member.lane.name.clone(), why }) as Arc<dyn Reviewer>
    });
    absent.collect()
}
