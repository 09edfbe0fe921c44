//! Every reviewer, by the name a user writes. A reviewer that somebody names never falls back to
//! another one.

mod absent;
mod agent;
mod builtin;
mod command;
mod panel;

use crate::cli::failure::Failure;
use crate::surroundings::Surroundings;
use crate::wiring::models::{Connections, Models};
use crate::wiring::rules::ProjectRules;
use mala_adapters::models::call_tracker::CaseCallTracker;
use mala_adapters::models::recording::Recording;
use mala_domain::config::{
    Config, Layer, Origin, PathGlobs, ReviewBlock, ReviewPolicy, ReviewerType, policy,
};
use mala_domain::gate::session::Checker;
use mala_domain::models::Choice;
use mala_domain::ports::Reviewer;
use mala_domain::scope::Target;
use mala_domain::verdict::Threshold;
use mala_pipeline::agent::{Agent, AgentEvents, Speaker, Transcript};
use mala_pipeline::review::Ask;
use std::path::PathBuf;
use std::sync::Arc;

/// Who reviews.
pub struct Chosen {
    /// What kind of reviewer it is.
    pub kind: ReviewerType,
    /// The reviewers themselves.
    pub reviewers: Vec<Arc<dyn Reviewer>>,
    /// The agent among them.
    pub agent: Option<Arc<Agent>>,
    /// The model behind them.
    pub model: Option<String>,
    /// The version of what they go by.
    pub version: String,
    /// The name of their limits.
    pub budget_profile: String,
    /// What to say before everything else.
    pub preface: Option<String>,
    /// Whether model traffic could be kept, asked when all is over.
    pub recording: Option<Arc<Recording>>,
    /// Why a review would be refused, where nobody is asked.
    pub refusal: Option<String>,
}

impl Chosen {
    /// How these reviewers are asked by a policy.
    pub fn ask(&self, policy: &ReviewPolicy, warnings: Vec<String>) -> anyhow::Result<Ask> {
        Ok(Ask {
            ignore: PathGlobs::new(&policy.ignore.value)?,
            generated: PathGlobs::new(&policy.generated.value)?,
            fail_on: policy.fail_on.value,
            // Nobody set a threshold: then a panel that objects is right.
            fail_on_objection: match policy.fail_on.origin {
                Origin::Default => Threshold::P3,
                _ => policy.fail_on.value,
            },
            suppressions: policy.suppressions.value,
            timeout: policy.timeout_for(self.kind),
            prompt_version: self.version.clone(),
            model: self.model.clone(),
            budget_profile: self.budget_profile.clone(),
            preface: self.preface.clone(),
            warnings,
            rule_ids: Box::new(Vec::new),
        })
    }
}

/// What one review wants of its reviewer, besides the settings.
pub struct Wishes {
    /// What a person asked to be reviewed.
    pub target: Target,
    /// Texts about the task: name and content.
    pub tasks: Vec<(String, String)>,
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
    pub asks: Asks,
}

/// Whether models are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// They are.
    Models,
    /// Nobody is: a plan needs no key.
    Nobody,
}

/// Reviewers that cannot be asked, and say why when somebody tries.
pub fn absent(policy: &ReviewPolicy, why: String) -> Chosen {
    let kind = policy.reviewer.value.unwrap_or(ReviewerType::AgentSdk);
    Chosen {
        kind,
        reviewers: vec![Arc::new(absent::Absent { name: kind.name().to_owned(), why })],
        agent: None,
        model: None,
        version: String::new(),
        budget_profile: policy.budget.name(),
        preface: None,
        recording: None,
        refusal: None,
    }
}

/// The reviewer that the settings name. With nobody named, it is the agent. Where nothing is said of
/// the agent either and no model has a key, it is the built-in one, and it says so.
pub async fn choose(
    policy: &ReviewPolicy,
    here: &Surroundings,
    rules: ProjectRules,
    wishes: Wishes,
) -> anyhow::Result<Chosen> {
    let chosen = match policy.reviewer.value {
        Some(ReviewerType::Builtin) => builtin::chosen(policy, here, rules, None)?,
        Some(ReviewerType::AgentSdk) => {
            let models = models(here, &wishes)?;
            let choice = agent::choice(policy, &models)?;
            agent::chosen(policy, here, rules, wishes, (models, choice)).await?
        }
        None => {
            let models = models(here, &wishes)?;
            let choice = agent::choice(policy, &models)?;
            if agent::is_meant(policy, &wishes) || models.has_key(choice.provider) {
                agent::chosen(policy, here, rules, wishes, (models, choice)).await?
            } else {
                builtin::chosen(policy, here, rules, Some(NO_KEY))?
            }
        }
        Some(ReviewerType::Cerberus) => panel::chosen(policy, here, wishes)?,
        Some(ReviewerType::Command) => command::chosen(policy, here, wishes).await?,
    };
    for reviewer in &chosen.reviewers {
        tracing::info!("Initializing code reviewer: {}", reviewer.name());
    }
    Ok(chosen)
}

fn models(here: &Surroundings, wishes: &Wishes) -> Result<Models, Failure> {
    match &wishes.connections {
        Some(shared) => Models::over(here, shared.clone()),
        None => Models::load(here),
    }
}

const NO_KEY: &str = "Built-in analyzers only: no model key is set.";

/// An agent that checks what a panel claims, by what its session says.
pub async fn checker(plan: &Checker, here: &Surroundings) -> anyhow::Result<Arc<Agent>> {
    let review = ReviewBlock { budget: plan.budget.clone(), ..ReviewBlock::default() };
    let config =
        Config { agent_sdk_reviewer_model: plan.model.clone(), review, ..Config::default() };
    let policy = policy(&[Layer { origin: Origin::CommandLine, config }]);
    agent::helper(&policy, here, &Wishes::nothing()).await
}

/// A model by its name, ready to be asked as the wishes say.
pub async fn speaker(name: &str, here: &Surroundings, wishes: &Wishes) -> anyhow::Result<Speaker> {
    agent::speaker(name, here, wishes).await
}

/// The model that the settings mean.
pub fn model(policy: &ReviewPolicy, models: &Models) -> Result<Choice, Failure> {
    agent::choice(policy, models)
}

impl Wishes {
    /// Nothing but the review itself.
    pub fn nothing() -> Self {
        Self {
            target: Target::WorkingTree,
            tasks: Vec::new(),
            transcript: None,
            record: None,
            replay: None,
            go_on: None,
            events: Arc::new(|_| {}),
            connections: None,
            calls: None,
            asks: Asks::Models,
        }
    }
}
