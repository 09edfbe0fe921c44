//! Creates the reviewers that the settings or the command line name. A named reviewer never falls back to
//! another one.

mod agent;
mod builtin;
mod command;
mod panel;

use crate::environment::Environment;
use crate::failure::{Failure, FailureKind};
use crate::settings::UserModels;
use crate::wiring::gate::InProcessSettings;
use crate::wiring::models::{Connections, Models, connections};
use crate::wiring::rules::ProjectRules;
use anyhow::Context;
pub use command::{TaskCommandOptions, TaskLanes, lane as command_lane};
use mala_adapters::models::call_tracker::CaseCallTracker;
pub use mala_adapters::models::recording::Recording;
use mala_domain::config::{
    Config, ConfigLayer, ConfigOrigin, GatePolicy, PathGlobs, ReviewPolicy, ReviewSettings,
    ReviewerType, gate_policy, policy,
};
use mala_domain::gate::session::CheckerSettings;
use mala_domain::models::ModelChoice;
use mala_domain::ports::{BoxFuture, Reviewer, ReviewerFailure, Verifier};
use mala_domain::review::consensus::ConsensusRule;
use mala_domain::review::policy::{for_reviewers, in_order};
use mala_domain::review::{Opinion, ReviewContext, ReviewPlan};
use mala_domain::scope::ReviewTarget;
use mala_pipeline::agent::{Agent, AgentEvents, ModelClient, Transcript};
use mala_pipeline::review::{ReviewPorts, Verifiers};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The message when only the built-in rules review because no key is set.
pub const NO_KEY: &str = "Built-in analyzers only: no model key is set.";

/// The reviewers of a review, and the verifiers of their findings.
pub struct ChosenReviewers {
    /// The types of the reviewers.
    pub kinds: Vec<ReviewerType>,
    /// The reviewers.
    pub reviewers: Vec<Arc<dyn Reviewer>>,
    /// The lanes among them, which verify findings of each other.
    pub peers: Vec<Arc<dyn Verifier>>,
    /// The agent that verifies findings.
    pub verifier: Option<Arc<Agent>>,
    /// The agent among the reviewers.
    pub agent: Option<Arc<Agent>>,
    /// The names of the members of the panel among them.
    pub panel: Vec<String>,
    /// How many members of the panel must pass a change.
    pub rule: ConsensusRule,
    /// The time limit for lanes that verify findings of each other.
    pub check_time: Duration,
    /// The folder with the prompts and answers of lanes, until the reviewers are dropped.
    pub lane_logs: Option<PathBuf>,
    /// The model that they use.
    pub model: Option<String>,
    /// The version of their prompts and rules.
    pub version: String,
    /// The first line of the text output.
    pub preface: Option<String>,
    /// Warnings about the reviewers.
    pub warnings: Vec<String>,
    /// The recording of model traffic.
    pub recording: Option<Arc<Recording>>,
    /// In a dry run: why the review would be refused.
    pub refusal: Option<String>,
    /// Why reviewers are not available. Each has an [`AbsentReviewer`] in its place.
    pub unavailable: Vec<anyhow::Error>,
}

impl ChosenReviewers {
    /// One reviewer of this type.
    fn one(kind: ReviewerType, reviewer: Arc<dyn Reviewer>, version: String) -> Self {
        Self { reviewers: vec![reviewer], ..Self::none(kind, version) }
    }

    fn none(kind: ReviewerType, version: String) -> Self {
        Self {
            kinds: vec![kind],
            reviewers: Vec::new(),
            peers: Vec::new(),
            panel: Vec::new(),
            verifier: None,
            agent: None,
            rule: ConsensusRule::Unanimous,
            check_time: Duration::ZERO,
            lane_logs: None,
            model: None,
            version,
            preface: None,
            warnings: Vec::new(),
            recording: None,
            refusal: None,
            unavailable: Vec::new(),
        }
    }

    /// A reviewer of this type that cannot run for this reason: it has no vote, so the change cannot pass.
    fn absent(kind: ReviewerType, error: anyhow::Error) -> Self {
        let why = Failure::reason_of(&error);
        let absent = AbsentReviewer { name: kind.report_name().to_owned(), why };
        let unavailable = vec![error];
        Self { unavailable, ..Self::one(kind, Arc::new(absent), String::new()) }
    }

    /// The reviewers, if all are available.
    pub fn all_available(mut self) -> anyhow::Result<Self> {
        match self.unavailable.pop() {
            Some(error) => Err(error),
            None => Ok(self),
        }
    }

    /// Combines both sets of reviewers; `mala_domain::review::policy` decides their common
    /// settings.
    fn and(mut self, other: Self) -> Self {
        let joined = |a: Option<String>, b: Option<String>| match (a, b) {
            (Some(a), Some(b)) => Some(format!("{a},{b}")),
            (a, b) => a.or(b),
        };
        self.kinds.extend(other.kinds);
        self.reviewers.extend(other.reviewers);
        self.peers.extend(other.peers);
        self.warnings.extend(other.warnings);
        self.unavailable.extend(other.unavailable);
        let rule = if self.panel.is_empty() { other.rule } else { self.rule };
        self.panel.extend(other.panel);
        Self {
            verifier: self.verifier.or(other.verifier),
            agent: self.agent.or(other.agent),
            rule,
            check_time: self.check_time.max(other.check_time),
            lane_logs: self.lane_logs.or(other.lane_logs),
            model: joined(self.model, other.model),
            version: format!("{},{}", self.version, other.version),
            preface: joined(self.preface, other.preface),
            recording: self.recording.or(other.recording),
            refusal: self.refusal.or(other.refusal),
            ..self
        }
    }

    /// The names of the reviewers in logs and events; a panel has one name.
    pub fn label(&self) -> String {
        let names: Vec<&str> = self.kinds.iter().map(|kind| kind.report_name()).collect();
        names.join(",")
    }

    /// The ports of a review with these reviewers.
    pub fn ports(&self) -> ReviewPorts<'_> {
        let agent = self.verifier.as_deref().map(|agent| agent as &dyn Verifier);
        let verifiers = Verifiers { peers: &self.peers, agent };
        ReviewPorts { reviewers: &self.reviewers, verifiers, ..ReviewPorts::default() }
    }

    /// The plan of a review with this policy.
    pub fn plan(
        &self,
        policy: &ReviewPolicy,
        tasks: Vec<(String, String)>,
        warnings: Vec<String>,
    ) -> anyhow::Result<ReviewPlan> {
        let shared = for_reviewers(&self.kinds, self.panel.clone(), self.rule, policy);
        Ok(ReviewPlan {
            ignore: PathGlobs::new(&policy.ignore.value)?,
            generated: PathGlobs::new(&policy.generated.value)?,
            tasks,
            suppressions: policy.suppressions.value,
            policy: shared.decision,
            timeout: shared.timeout,
            check_time: self.check_time,
            reviewer_type: self.label(),
            subject: None,
            prompt_version: self.version.clone(),
            model: self.model.clone(),
            budget_profile: shared.budget_profile,
            preface: self.preface.clone(),
            warnings: warnings.into_iter().chain(self.warnings.iter().cloned()).collect(),
            rule_ids: Box::new(Vec::new),
        })
    }
}

/// The options of a review that are not settings.
pub struct ReviewerOptions {
    /// The target of the review.
    pub target: ReviewTarget,
    /// The reviewers on the command line.
    pub named: Vec<ReviewerType>,
    /// The settings of a panel.
    pub gate: GatePolicy,
    /// The settings of models.
    pub models: UserModels,
    /// Collects prompts and answers.
    pub transcript: Option<Transcript>,
    /// The folder to record model traffic in.
    pub record: Option<PathBuf>,
    /// The folder to replay model traffic from.
    pub replay: Option<PathBuf>,
    /// The folder of a recording to resume: recorded calls are not repeated.
    pub resume: Option<PathBuf>,
    /// Receives the events of an agent.
    pub events: AgentEvents,
    /// An HTTP client to share; by default, a new one is created.
    pub connections: Option<Connections>,
    /// Tracks model calls, for runs that can stop between two calls.
    pub calls: Option<CaseCallTracker>,
    /// Whether models are called.
    pub model_access: ModelAccess,
    /// The command that reviews a task.
    pub task: Option<TaskCommandOptions>,
}

/// Whether models are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelAccess {
    /// Models are called.
    Call,
    /// No model is called, and no key is needed.
    DryRun,
}

/// The reviewers that the command line or the settings name; by default, the agent. If no model has a key
/// and no setting of the agent is changed, the default is the built-in reviewer, with a preface. A
/// reviewer that is not available is an [`AbsentReviewer`]; a dry run is refused instead.
pub async fn choose(
    policy: &ReviewPolicy,
    here: &Environment,
    rules: ProjectRules,
    options: ReviewerOptions,
) -> anyhow::Result<ChosenReviewers> {
    let named = in_order(&options.named)
        .map_err(|twice| Failure::usage(format!("--reviewer names {twice} twice")))?;
    let named: Vec<Option<ReviewerType>> = match named.as_slice() {
        [] => vec![policy.reviewer.value],
        named => named.iter().copied().map(Some).collect(),
    };
    let may_be_absent = options.model_access == ModelAccess::Call;
    let mut chosen: Option<ChosenReviewers> = None;
    for kind in named {
        let mut next = match one(kind, policy, here, rules.clone(), &options).await {
            Err(error) if may_be_absent && Failure::kind_of(&error) == FailureKind::NoReviewers => {
                ChosenReviewers::absent(kind.unwrap_or(ReviewerType::AgentSdk), error)
            }
            next => next?,
        };
        if let Some(first) = chosen.take() {
            next = first.and(next);
        }
        chosen = Some(next);
    }
    let chosen = chosen.context("no reviewer is named")?;
    tracing::info!("Initializing code reviewer: {}", chosen.label());
    Ok(chosen)
}

async fn one(
    kind: Option<ReviewerType>,
    policy: &ReviewPolicy,
    here: &Environment,
    rules: ProjectRules,
    options: &ReviewerOptions,
) -> anyhow::Result<ChosenReviewers> {
    let named = &options.named;
    let is_with_builtin = named.len() > 1 && named.contains(&ReviewerType::Builtin);
    Ok(match kind {
        Some(ReviewerType::Builtin) => builtin::chosen(policy, here, rules, None)?,
        Some(ReviewerType::AgentSdk) => {
            let models = models(here, options)?;
            let choice = agent::choice(policy, &models)?;
            let model = agent::AgentModel { models, choice, claims_hints: !is_with_builtin };
            agent::chosen(policy, here, rules, options, model).await?
        }
        None => {
            let models = models(here, options)?;
            let choice = agent::choice(policy, &models)?;
            if agent::is_configured(policy, options) || models.has_key(choice.provider) {
                let model = agent::AgentModel { models, choice, claims_hints: true };
                agent::chosen(policy, here, rules, options, model).await?
            } else {
                builtin::chosen(policy, here, rules, Some(NO_KEY))?
            }
        }
        Some(ReviewerType::Cerberus) => panel::chosen(policy, here, rules, options).await?,
        Some(ReviewerType::Command) => command::chosen(policy, here, options).await?,
    })
}

/// The reviewer cannot run, for this reason.
fn refusal(reviewer: &str, why: impl Into<String>) -> Failure {
    let subject = format!("cannot run the reviewer {reviewer}");
    Failure::new(FailureKind::NoReviewers, why).subject(subject)
}

/// The default reviewer.
pub fn default_kind(
    policy: &ReviewPolicy,
    here: &Environment,
    options: &ReviewerOptions,
) -> Result<ReviewerType, Failure> {
    if let Some(kind) = policy.reviewer.value {
        return Ok(kind);
    }
    let models = models(here, options)?;
    let choice = agent::choice(policy, &models)?;
    let has_agent = agent::is_configured(policy, options) || models.has_key(choice.provider);
    Ok(if has_agent { ReviewerType::AgentSdk } else { ReviewerType::Builtin })
}

fn models(here: &Environment, options: &ReviewerOptions) -> Result<Models, Failure> {
    match &options.connections {
        Some(shared) => Models::new(here, &options.models, shared.clone()),
        None => Models::new(here, &options.models, connections(here)?),
    }
}

/// The agent that verifies findings of a panel, with the settings of its session.
pub async fn checker(
    plan: &CheckerSettings,
    here: &Environment,
    models: UserModels,
) -> anyhow::Result<Arc<Agent>> {
    agent::verifier(&agent_policy(plan), here, &ReviewerOptions::new(models), agent::REVIEWER).await
}

/// A reviewer of mala itself on a panel.
pub async fn member(
    name: &str,
    own: &InProcessSettings<'_>,
    here: &Environment,
) -> anyhow::Result<Arc<dyn Reviewer>> {
    let kind = if name == "builtin" { ReviewerType::Builtin } else { ReviewerType::AgentSdk };
    let (policy, options) = (agent_policy(own.agent), ReviewerOptions::new(own.models.clone()));
    // Boxed, because `one` also makes panels.
    let chosen = Box::pin(one(Some(kind), &policy, here, own.rules.clone(), &options)).await?;
    chosen.reviewers.into_iter().next().context("no such reviewer")
}

/// The settings of an agent of a panel.
fn agent_policy(plan: &CheckerSettings) -> ReviewPolicy {
    let review = ReviewSettings { budget: plan.budget.clone(), ..ReviewSettings::default() };
    let config =
        Config { agent_sdk_reviewer_model: plan.model.clone(), review, ..Config::default() };
    policy(&[ConfigLayer { origin: ConfigOrigin::CommandLine, config }])
}

/// Why a reviewer of mala itself cannot be used; `None` if it can.
pub fn member_missing(
    name: &str,
    policy: &ReviewPolicy,
    models: &UserModels,
    here: &Environment,
) -> Option<String> {
    if name == "builtin" {
        return None;
    }
    let models = connections(here).and_then(|connections| Models::new(here, models, connections));
    let models = match models {
        Ok(models) => models,
        Err(error) => return Some(error.to_string()),
    };
    match agent::choice(policy, &models) {
        Ok(choice) => models.unavailable(choice.provider).map(|why| why.to_string()),
        Err(error) => Some(error.to_string()),
    }
}

/// A client for the model with this name, with these options.
pub async fn client(
    name: &str,
    here: &Environment,
    options: &ReviewerOptions,
) -> anyhow::Result<ModelClient> {
    agent::client(name, here, options).await
}

/// The agent's model in the settings.
pub fn model(policy: &ReviewPolicy, models: &Models) -> Result<ModelChoice, Failure> {
    agent::choice(policy, models)
}

impl ReviewerOptions {
    /// The defaults.
    pub fn new(models: UserModels) -> Self {
        Self {
            target: ReviewTarget::WorkingTree,
            named: Vec::new(),
            gate: gate_policy(&[]),
            models,
            transcript: None,
            record: None,
            replay: None,
            resume: None,
            events: Arc::new(|_| {}),
            connections: None,
            calls: None,
            model_access: ModelAccess::Call,
            task: None,
        }
    }
}

/// A reviewer that is not available.
pub struct AbsentReviewer {
    /// The name in reports.
    pub name: String,
    /// The reason.
    pub why: String,
}

impl Reviewer for AbsentReviewer {
    fn name(&self) -> &str {
        &self.name
    }

    fn needs_surroundings(&self) -> bool {
        false
    }

    fn review<'a>(
        &'a self,
        _: &'a ReviewContext,
    ) -> BoxFuture<'a, Result<Opinion, ReviewerFailure>> {
        Box::pin(async { Err(ReviewerFailure::Unavailable(self.why.clone())) })
    }
}
