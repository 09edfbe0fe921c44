//! The agent inside mala: a model that can be asked, the built-in reviewer for hints, linters for
//! its tool.

use super::{Chosen, ModelAccess, ReviewerOptions, builtin};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::surroundings::Surroundings;
use crate::wiring::models::{Models, NoModel};
use crate::wiring::rules::ProjectRules;
use mala_adapters::linters::ProjectLinters;
use mala_adapters::models::call_tracker::CaseCallTracker;
use mala_adapters::models::recording::{Recording, RecordingError, Replay, WorstCost};
use mala_domain::agent::budget::Limits;
use mala_domain::agent::prompts;
use mala_domain::config::{ConfigOrigin, ReviewPolicy, ReviewerType};
use mala_domain::conversation::{ChatReply, ChatRequest};
use mala_domain::models::{ModelChoice, input_tokens};
use mala_domain::ports::{
    BillingStatus, BoxFuture, CallTerms, LanguageModel, ModelFailure, ModelFailureKind,
};
use mala_pipeline::agent::{Agent, AgentChecks, AgentSettings, ModelClient};
use std::sync::Arc;

/// The models that are tried in this order when nobody names one: the first with a key is asked.
const DEFAULTS: [&str; 3] = ["sonnet", "gpt-4.1-mini", "gemini-flash"];

/// A recording, for a last look at whether it is whole.
pub(super) type Recorded = Arc<Recording>;

/// The model that is meant.
pub(super) fn choice(policy: &ReviewPolicy, models: &Models) -> Result<ModelChoice, Failure> {
    let named = &policy.agent_model;
    if named.origin != ConfigOrigin::Default {
        return Ok(models.choose(&named.value)?);
    }
    let mut known = DEFAULTS.iter().filter_map(|name| models.choose(name).ok());
    match known.find(|choice| models.has_key(choice.provider)) {
        Some(choice) => Ok(choice),
        None => Ok(models.choose(&named.value)?),
    }
}

/// Whether somebody who names no reviewer says something that only the agent can do.
pub(super) fn is_meant(policy: &ReviewPolicy, options: &ReviewerOptions) -> bool {
    let named = [
        &policy.agent_model.origin,
        &policy.escalation_model.origin,
        &policy.budget.profile.origin,
    ];
    named.iter().any(|origin| **origin != ConfigOrigin::Default)
        || options.record.is_some()
        || options.replay.is_some()
}

/// The model of the agent, and what it makes of the hints.
pub(super) struct AgentModel {
    pub(super) models: Models,
    pub(super) choice: ModelChoice,
    /// Whether the agent reports the built-in findings; else another reviewer does.
    pub(super) claims_hints: bool,
}

pub(super) async fn chosen(
    policy: &ReviewPolicy,
    here: &Surroundings,
    rules: ProjectRules,
    options: &ReviewerOptions,
    AgentModel { models, choice, claims_hints }: AgentModel,
) -> anyhow::Result<Chosen> {
    let line = Line::open(options)?;
    let refused = match options.asks {
        ModelAccess::DryRun => models.obstacle(choice.provider).map(|why| refusal(why).to_string()),
        ModelAccess::Ask => None,
    };
    let clients = line.clients(policy, &models, choice).await;
    let (client, escalation) = clients.inspect_err(|_| line.give_up())?;
    let model = client.name.clone();
    let hints = builtin::reviewer(policy, here, rules)?;
    let linters =
        ProjectLinters::new(builtin::linter_settings(policy), builtin::linter_context(here));
    let agent = Arc::new(Agent::new(AgentSettings {
        client,
        escalation,
        profile: policy.budget.profile.value,
        limits: limits(policy),
        hints: Some(Arc::new(hints)),
        claims_hints,
        linters: Some(Arc::new(linters)),
        checks: AgentChecks::Own,
        events: options.events.clone(),
        transcript: options.transcript.clone(),
    }));
    Ok(Chosen {
        agent: Some(agent.clone()),
        verifier: Some(agent.clone()),
        model: Some(model),
        budget_profile: policy.budget.name(),
        recording: line.recording(),
        refusal: refused,
        ..Chosen::one(ReviewerType::AgentSdk, agent, prompts::version())
    })
}

/// The limits of a review. A time limit on the command line is one that somebody means, whatever the
/// profile says.
fn limits(policy: &ReviewPolicy) -> Limits {
    let mut limits = policy.budget.limits();
    if let (Some(timeout), ConfigOrigin::CommandLine) =
        (policy.timeout.value, &policy.timeout.origin)
    {
        limits.max_wall_time = timeout.duration();
    }
    limits
}

/// An agent that only helps others: it gives no hints and runs no linters.
pub(super) async fn helper(
    policy: &ReviewPolicy,
    here: &Surroundings,
    options: &ReviewerOptions,
) -> anyhow::Result<Arc<Agent>> {
    let models = super::models(here, options)?;
    let choice = choice(policy, &models)?;
    let client = Line::open(options)?.client(&models, choice).await?;
    Ok(Arc::new(Agent::new(AgentSettings {
        client,
        escalation: None,
        profile: policy.budget.profile.value,
        limits: policy.budget.limits(),
        hints: None,
        claims_hints: false,
        linters: None,
        checks: AgentChecks::Urgent,
        events: options.events.clone(),
        transcript: options.transcript.clone(),
    })))
}

/// A model by its name.
pub(super) async fn client(
    name: &str,
    here: &Surroundings,
    options: &ReviewerOptions,
) -> anyhow::Result<ModelClient> {
    let models = super::models(here, options)?;
    let choice = models.choose(name)?;
    Ok(Line::open(options)?.client(&models, choice).await?)
}

/// How models are reached.
struct Line {
    way: Way,
    calls: Option<CaseCallTracker>,
}

/// Directly, with all calls kept, or only as they once answered.
enum Way {
    Direct,
    Recorded(Recorded),
    Replayed(Arc<dyn LanguageModel>),
    /// Nobody is asked.
    Planned,
}

/// A model that is only planned with.
struct Unasked;

impl LanguageModel for Unasked {
    fn ask<'a>(
        &'a self,
        _: &'a ChatRequest,
        _: CallTerms<'a>,
    ) -> BoxFuture<'a, Result<ChatReply, ModelFailure>> {
        let (kind, what) = (ModelFailureKind::Unauthorized, "nobody is asked".to_owned());
        Box::pin(
            async move { Err(ModelFailure { kind, what, attempts: 0, billed: BillingStatus::No }) },
        )
    }
}

impl Line {
    fn open(options: &ReviewerOptions) -> Result<Self, Failure> {
        let way = Way::open(options).map_err(|error| Failure::usage(error.to_string()))?;
        Ok(Self { way, calls: options.calls.clone() })
    }

    /// The model that reviews, and the stronger one.
    async fn clients(
        &self,
        policy: &ReviewPolicy,
        models: &Models,
        choice: ModelChoice,
    ) -> Result<(ModelClient, Option<ModelClient>), Failure> {
        let client = self.client(models, choice).await?;
        let Some(name) = &policy.escalation_model.value else { return Ok((client, None)) };
        let stronger = models.choose(name).map_err(refusal)?;
        Ok((client, Some(self.client(models, stronger).await?)))
    }

    async fn client(&self, models: &Models, choice: ModelChoice) -> Result<ModelClient, Failure> {
        let model = match &self.way {
            Way::Replayed(model) => model.clone(),
            Way::Planned => Arc::new(Unasked),
            Way::Direct => models.model(&choice).await.map_err(refusal)?,
            Way::Recorded(recording) => {
                let model = models.model(&choice).await.map_err(refusal)?;
                recording.wrap_priced(model, worst_cost(&choice))
            }
        };
        let model = match &self.calls {
            Some(calls) => calls.track(model),
            None => model,
        };
        Ok(ModelClient { model, name: choice.name, known: choice.known })
    }

    /// Nobody can be asked: nothing of a recording stays.
    fn give_up(&self) {
        if let Way::Recorded(recording) = &self.way {
            recording.discard();
        }
    }

    fn recording(self) -> Option<Recorded> {
        match self.way {
            Way::Recorded(recording) => Some(recording),
            _ => None,
        }
    }
}

impl Way {
    fn open(options: &ReviewerOptions) -> Result<Self, RecordingError> {
        if options.asks == ModelAccess::DryRun {
            return Ok(Self::Planned);
        }
        if let Some(folder) = &options.go_on {
            return Ok(Self::Recorded(Recording::resume(folder)?));
        }
        Ok(match (&options.record, &options.replay) {
            (_, Some(folder)) => Self::Replayed(Arc::new(Replay::open(folder)?)),
            // The fences' id follows from what is reviewed, so a recording needs none of its own.
            (Some(folder), None) => Self::Recorded(Recording::start(folder, "")?),
            (None, None) => Self::Direct,
        })
    }
}

fn worst_cost(choice: &ModelChoice) -> WorstCost {
    let known = choice.known.clone();
    Arc::new(move |ask| {
        let output = u64::from(ask.max_output_tokens);
        Some(known.as_ref()?.worst_cost(input_tokens(ask), output)?.as_f64())
    })
}

fn refusal(error: NoModel) -> Failure {
    let what = format!("the reviewer agent_sdk cannot be asked: {}", error.what);
    Failure::new(Exit::NoReviewers, what).hint(error.hint)
}
