//! Every reviewer, by the name a user writes. A reviewer that somebody names never falls back to
//! another one.

mod agent;
mod builtin;
mod command;
mod panel;

use crate::cli::failure::Failure;
use crate::surroundings::Surroundings;
use crate::wiring::models::{Connections, Models};
use crate::wiring::rules::ProjectRules;
use anyhow::Context;
use mala_adapters::models::call_tracker::CaseCallTracker;
use mala_adapters::models::recording::Recording;
use mala_domain::config::{
    Config, ConfigLayer, ConfigOrigin, GatePolicy, PathGlobs, ReviewPolicy, ReviewSettings,
    ReviewerType, gate_policy, policy,
};
use mala_domain::gate::session::Checker;
use mala_domain::models::ModelChoice;
use mala_domain::ports::{BoxFuture, Reviewer, ReviewerFailure, Verifier};
use mala_domain::review::consensus::ConsensusRule;
use mala_domain::review::decide::{DecisionPolicy, Unreviewable};
use mala_domain::review::{Opinion, ReviewContext, ReviewPlan};
use mala_domain::scope::ReviewTarget;
use mala_domain::verdict::Threshold;
use mala_pipeline::agent::{Agent, AgentEvents, ModelClient, Transcript};
use mala_pipeline::review::{ReviewPorts, Verifiers};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The reviewers of a review, with what checks their findings.
pub struct Chosen {
    /// What kind of reviewer it is.
    pub kind: ReviewerType,
    /// The reviewers themselves.
    pub reviewers: Vec<Arc<dyn Reviewer>>,
    /// The lanes among them, which check findings of each other.
    pub peers: Vec<Arc<dyn Verifier>>,
    /// The agent that checks findings.
    pub verifier: Option<Arc<Agent>>,
    /// The agent among the reviewers.
    pub agent: Option<Arc<Agent>>,
    /// How many of them must pass a change.
    pub rule: ConsensusRule,
    /// How long lanes may take to check findings of each other.
    pub check_time: Duration,
    /// The folder with the prompts and answers of lanes, until the reviewers are dropped.
    pub lane_logs: Option<PathBuf>,
    /// The model behind them.
    pub model: Option<String>,
    /// The version of what they go by.
    pub version: String,
    /// The name of their limits.
    pub budget_profile: String,
    /// What to say before everything else.
    pub preface: Option<String>,
    /// What to say of the reviewers.
    pub warnings: Vec<String>,
    /// Whether model traffic could be kept, asked when the review is over.
    pub recording: Option<Arc<Recording>>,
    /// Why a review would be refused, when no model is asked.
    pub refusal: Option<String>,
}

impl Chosen {
    /// One reviewer of this kind, with nothing else said.
    fn one(kind: ReviewerType, reviewer: Arc<dyn Reviewer>, version: String) -> Self {
        Self { reviewers: vec![reviewer], ..Self::none(kind, version) }
    }

    fn none(kind: ReviewerType, version: String) -> Self {
        Self {
            kind,
            reviewers: Vec::new(),
            peers: Vec::new(),
            verifier: None,
            agent: None,
            rule: ConsensusRule::Unanimous,
            check_time: Duration::ZERO,
            lane_logs: None,
            model: None,
            version,
            budget_profile: "standard".to_owned(),
            preface: None,
            warnings: Vec::new(),
            recording: None,
            refusal: None,
        }
    }

    /// Both, side by side: all of them must pass a change.
    fn and(mut self, other: Self) -> Self {
        let joined = |a: Option<String>, b: Option<String>| match (a, b) {
            (Some(a), Some(b)) => Some(format!("{a},{b}")),
            (a, b) => a.or(b),
        };
        self.reviewers.extend(other.reviewers);
        self.peers.extend(other.peers);
        self.warnings.extend(other.warnings);
        Self {
            verifier: self.verifier.or(other.verifier),
            agent: self.agent.or(other.agent),
            rule: ConsensusRule::Unanimous,
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

    /// What to call the reviewers: a panel by its kind, the others by their names.
    fn label(&self) -> String {
        let names: Vec<&str> = self.reviewers.iter().map(|reviewer| reviewer.name()).collect();
        if self.peers.is_empty() { names.join(",") } else { self.kind.name().to_owned() }
    }

    /// What the review reaches these reviewers through.
    pub fn ports(&self) -> ReviewPorts<'_> {
        let agent = self.verifier.as_deref().map(|agent| agent as &dyn Verifier);
        let verifiers = Verifiers { peers: &self.peers, agent };
        ReviewPorts { reviewers: &self.reviewers, verifiers, ..ReviewPorts::default() }
    }

    /// How a change is reviewed by a policy.
    pub fn plan(
        &self,
        policy: &ReviewPolicy,
        tasks: Vec<(String, String)>,
        warnings: Vec<String>,
    ) -> anyhow::Result<ReviewPlan> {
        let is_panel = self.kind == ReviewerType::Cerberus;
        // Without a threshold in the settings, a panel that objects is right.
        let objection = match policy.fail_on.origin {
            ConfigOrigin::Default => Threshold::P3,
            _ => policy.fail_on.value,
        };
        Ok(ReviewPlan {
            ignore: PathGlobs::new(&policy.ignore.value)?,
            generated: PathGlobs::new(&policy.generated.value)?,
            tasks,
            suppressions: policy.suppressions.value,
            policy: DecisionPolicy {
                fail_on: if self.peers.is_empty() { policy.fail_on.value } else { objection },
                fail_on_objection: objection,
                rule: self.rule,
                unreviewable: if is_panel { Unreviewable::Refuse } else { Unreviewable::Review },
            },
            timeout: policy.timeout_for(self.kind),
            check_time: self.check_time,
            reviewer_type: self.label(),
            prompt_version: self.version.clone(),
            model: self.model.clone(),
            budget_profile: self.budget_profile.clone(),
            preface: self.preface.clone(),
            warnings: warnings.into_iter().chain(self.warnings.iter().cloned()).collect(),
            rule_ids: Box::new(Vec::new),
        })
    }
}

/// What one review asks of its reviewers, besides the settings.
pub struct ReviewerOptions {
    /// What is to be reviewed.
    pub target: ReviewTarget,
    /// The reviewers that the command line names, when it names several.
    pub named: Vec<ReviewerType>,
    /// How a panel is put together.
    pub gate: GatePolicy,
    /// Where prompts and answers are kept.
    pub transcript: Option<Transcript>,
    /// The folder that model traffic is kept in.
    pub record: Option<PathBuf>,
    /// The folder that model traffic is replayed from.
    pub replay: Option<PathBuf>,
    /// The folder of model traffic to go on with: what it answers is not asked again.
    pub go_on: Option<PathBuf>,
    /// Where an agent's events go.
    pub events: AgentEvents,
    /// The connections that this review shares with others; its own when there are none.
    pub connections: Option<Connections>,
    /// The calls that this review makes, of a run that can be ended between two of them.
    pub calls: Option<CaseCallTracker>,
    /// Whether models are asked at all.
    pub asks: ModelAccess,
}

/// Whether models are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelAccess {
    /// They are asked.
    Ask,
    /// They are not: a plan needs no key.
    DryRun,
}

/// A reviewer that cannot be run, and says why.
pub fn absent(policy: &ReviewPolicy, why: String) -> Chosen {
    let kind = policy.reviewer.value.unwrap_or(ReviewerType::AgentSdk);
    let absent = Arc::new(AbsentReviewer { name: kind.name().to_owned(), why });
    let budget_profile = policy.budget.name();
    Chosen { budget_profile, ..Chosen::one(kind, absent, String::new()) }
}

/// The reviewers that the command line or the settings name. With none named, it is the agent. Where
/// nothing is said of the agent either and no model has a key, it is the built-in one, and it says so.
pub async fn choose(
    policy: &ReviewPolicy,
    here: &Surroundings,
    rules: ProjectRules,
    options: ReviewerOptions,
) -> anyhow::Result<Chosen> {
    let named = match options.named.as_slice() {
        [] => vec![policy.reviewer.value],
        named => named.iter().copied().map(Some).collect(),
    };
    let mut chosen: Option<Chosen> = None;
    for kind in named {
        let mut next = one(kind, policy, here, rules.clone(), &options).await?;
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
    here: &Surroundings,
    rules: ProjectRules,
    options: &ReviewerOptions,
) -> anyhow::Result<Chosen> {
    let named = &options.named;
    let is_with_builtin = named.len() > 1 && named.contains(&ReviewerType::Builtin);
    Ok(match kind {
        Some(ReviewerType::Builtin) => builtin::chosen(policy, here, rules, None)?,
        Some(ReviewerType::AgentSdk) => {
            let models = models(here, options)?;
            let choice = agent::choice(policy, &models)?;
            let seat = agent::AgentModel { models, choice, claims_hints: !is_with_builtin };
            agent::chosen(policy, here, rules, options, seat).await?
        }
        None => {
            let models = models(here, options)?;
            let choice = agent::choice(policy, &models)?;
            if agent::is_meant(policy, options) || models.has_key(choice.provider) {
                let seat = agent::AgentModel { models, choice, claims_hints: true };
                agent::chosen(policy, here, rules, options, seat).await?
            } else {
                builtin::chosen(policy, here, rules, Some(NO_KEY))?
            }
        }
        Some(ReviewerType::Cerberus) => panel::chosen(policy, here, options).await?,
        Some(ReviewerType::Command) => command::chosen(policy, here, options).await?,
    })
}

fn models(here: &Surroundings, options: &ReviewerOptions) -> Result<Models, Failure> {
    match &options.connections {
        Some(shared) => Models::over(here, shared.clone()),
        None => Models::load(here),
    }
}

const NO_KEY: &str = "Built-in analyzers only: no model key is set.";

/// An agent that checks what a panel claims, by what its session says.
pub async fn checker(plan: &Checker, here: &Surroundings) -> anyhow::Result<Arc<Agent>> {
    let review = ReviewSettings { budget: plan.budget.clone(), ..ReviewSettings::default() };
    let config =
        Config { agent_sdk_reviewer_model: plan.model.clone(), review, ..Config::default() };
    let policy = policy(&[ConfigLayer { origin: ConfigOrigin::CommandLine, config }]);
    agent::helper(&policy, here, &ReviewerOptions::nothing()).await
}

/// A model by its name, ready to be asked as the options say.
pub async fn client(
    name: &str,
    here: &Surroundings,
    options: &ReviewerOptions,
) -> anyhow::Result<ModelClient> {
    agent::client(name, here, options).await
}

/// The model that the settings mean.
pub fn model(policy: &ReviewPolicy, models: &Models) -> Result<ModelChoice, Failure> {
    agent::choice(policy, models)
}

impl ReviewerOptions {
    /// Nothing but the review itself.
    pub fn nothing() -> Self {
        Self {
            target: ReviewTarget::WorkingTree,
            named: Vec::new(),
            gate: gate_policy(&[]),
            transcript: None,
            record: None,
            replay: None,
            go_on: None,
            events: Arc::new(|_| {}),
            connections: None,
            calls: None,
            asks: ModelAccess::Ask,
        }
    }
}

/// A reviewer that is not there, and says why.
pub struct AbsentReviewer {
    /// The name in reports.
    pub name: String,
    /// Why it is not there.
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
