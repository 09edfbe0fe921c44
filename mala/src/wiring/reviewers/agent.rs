//! The agent: a model, the built-in reviewer for hints, and linters as its tools.

use super::{ChosenReviewers, ModelAccess, ReviewerOptions, builtin};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::wiring::models::{ModelUnavailable, Models};
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

/// The default models in order of preference: the first one with a key is used.
const DEFAULT_MODELS: [&str; 3] = ["sonnet", "gpt-4.1-mini", "gemini-flash"];

/// The purpose of a model, for the error if it is not available.
#[derive(Debug, Clone, Copy)]
pub(super) struct ModelPurpose {
    /// The reviewer that cannot run without it.
    pub(super) reviewer: &'static str,
    /// The start of the reason.
    pub(super) reason: &'static str,
}

/// The model of the agent.
pub(super) const REVIEWER: ModelPurpose = ModelPurpose { reviewer: "agent_sdk", reason: "" };

/// The model that the settings name, or the first default with a key.
pub(super) fn choice(policy: &ReviewPolicy, models: &Models) -> Result<ModelChoice, Failure> {
    let named = &policy.agent_model;
    if named.origin != ConfigOrigin::Default {
        return Ok(models.choose(&named.value)?);
    }
    let mut known = DEFAULT_MODELS.iter().filter_map(|name| models.choose(name).ok());
    match known.find(|choice| models.has_key(choice.provider)) {
        Some(choice) => Ok(choice),
        None => Ok(models.choose(&named.value)?),
    }
}

/// Whether a setting or option is set that only the agent uses.
pub(super) fn is_configured(policy: &ReviewPolicy, options: &ReviewerOptions) -> bool {
    let named = [
        &policy.agent_model.origin,
        &policy.escalation_model.origin,
        &policy.budget.profile.origin,
    ];
    named.iter().any(|origin| **origin != ConfigOrigin::Default)
        || options.record.is_some()
        || options.replay.is_some()
}

/// The model of the agent, and how it uses hints.
pub(super) struct AgentModel {
    pub(super) models: Models,
    pub(super) choice: ModelChoice,
    /// Whether the agent reports the built-in findings; otherwise another reviewer does.
    pub(super) claims_hints: bool,
}

pub(super) async fn chosen(
    policy: &ReviewPolicy,
    here: &Environment,
    rules: ProjectRules,
    options: &ReviewerOptions,
    AgentModel { models, choice, claims_hints }: AgentModel,
) -> anyhow::Result<ChosenReviewers> {
    let connector = ModelConnector::open(options, REVIEWER)?;
    let refused = match options.model_access {
        ModelAccess::DryRun => {
            models.unavailable(choice.provider).map(|why| refusal(REVIEWER, why).to_string())
        }
        ModelAccess::Call => None,
    };
    let clients = connector.clients(policy, &models, choice).await;
    let (client, escalation) = clients.inspect_err(|_| connector.discard_recording())?;
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
    Ok(ChosenReviewers {
        agent: Some(agent.clone()),
        verifier: Some(agent.clone()),
        model: Some(model),
        recording: connector.recording(),
        refusal: refused,
        ..ChosenReviewers::one(ReviewerType::AgentSdk, agent, prompts::version())
    })
}

/// The limits of a review. A time limit that a person sets replaces that of the profile; of two that a
/// person sets, the shorter one applies.
fn limits(policy: &ReviewPolicy) -> Limits {
    let limits = policy.budget.limits();
    let (timeout, origin) = match policy.timeout.value {
        Some(timeout) => (timeout, &policy.timeout.origin),
        None => (policy.agent_timeout.value, &policy.agent_timeout.origin),
    };
    if *origin == ConfigOrigin::Default {
        return limits;
    }
    let timeout = timeout.duration();
    let max_wall_time = match policy.budget.max_wall_time_seconds.value {
        Some(wall_time) => timeout.min(wall_time.duration()),
        None => timeout,
    };
    Limits { max_wall_time, ..limits }
}

/// An agent that verifies or parses findings of other reviewers, without hints and linters.
pub(super) async fn verifier(
    policy: &ReviewPolicy,
    here: &Environment,
    options: &ReviewerOptions,
    purpose: ModelPurpose,
) -> anyhow::Result<Arc<Agent>> {
    let models = super::models(here, options)?;
    let choice = choice(policy, &models)?;
    let client = ModelConnector::open(options, purpose)?.client(&models, choice).await?;
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

/// The client of a model, by its name.
pub(super) async fn client(
    name: &str,
    here: &Environment,
    options: &ReviewerOptions,
) -> anyhow::Result<ModelClient> {
    let models = super::models(here, options)?;
    let choice = models.choose(name)?;
    Ok(ModelConnector::open(options, REVIEWER)?.client(&models, choice).await?)
}

/// Creates the clients of models.
struct ModelConnector {
    route: ModelRoute,
    calls: Option<CaseCallTracker>,
    purpose: ModelPurpose,
}

/// How calls reach a model.
enum ModelRoute {
    Direct,
    Recorded(Arc<Recording>),
    Replayed(Arc<dyn LanguageModel>),
    DryRun,
}

/// The model of a dry run, which answers no call.
struct DryRunModel;

impl LanguageModel for DryRunModel {
    fn ask<'a>(
        &'a self,
        _: &'a ChatRequest,
        _: CallTerms<'a>,
    ) -> BoxFuture<'a, Result<ChatReply, ModelFailure>> {
        let (kind, what) =
            (ModelFailureKind::Unauthorized, "no model is called in a dry run".to_owned());
        Box::pin(
            async move { Err(ModelFailure { kind, what, attempts: 0, billed: BillingStatus::No }) },
        )
    }
}

impl ModelConnector {
    fn open(options: &ReviewerOptions, purpose: ModelPurpose) -> Result<Self, Failure> {
        let route = ModelRoute::open(options).map_err(|error| Failure::usage(error.to_string()))?;
        Ok(Self { route, calls: options.calls.clone(), purpose })
    }

    /// The clients of the reviewing model and of the escalation model.
    async fn clients(
        &self,
        policy: &ReviewPolicy,
        models: &Models,
        choice: ModelChoice,
    ) -> Result<(ModelClient, Option<ModelClient>), Failure> {
        let client = self.client(models, choice).await?;
        let Some(name) = &policy.escalation_model.value else { return Ok((client, None)) };
        let stronger = models.choose(name).map_err(|why| refusal(self.purpose, why))?;
        Ok((client, Some(self.client(models, stronger).await?)))
    }

    async fn client(&self, models: &Models, choice: ModelChoice) -> Result<ModelClient, Failure> {
        let refused = |why| refusal(self.purpose, why);
        let model = match &self.route {
            ModelRoute::Replayed(model) => model.clone(),
            ModelRoute::DryRun => Arc::new(DryRunModel),
            ModelRoute::Direct => models.model(&choice).await.map_err(refused)?,
            ModelRoute::Recorded(recording) => {
                let model = models.model(&choice).await.map_err(refused)?;
                recording.wrap_priced(model, worst_cost(&choice))
            }
        };
        let model = match &self.calls {
            Some(calls) => calls.track(model),
            None => model,
        };
        Ok(ModelClient { model, name: choice.name, known: choice.known })
    }

    /// Deletes a recording that was just started.
    fn discard_recording(&self) {
        if let ModelRoute::Recorded(recording) = &self.route {
            recording.discard();
        }
    }

    fn recording(self) -> Option<Arc<Recording>> {
        match self.route {
            ModelRoute::Recorded(recording) => Some(recording),
            _ => None,
        }
    }
}

impl ModelRoute {
    fn open(options: &ReviewerOptions) -> Result<Self, RecordingError> {
        if options.model_access == ModelAccess::DryRun {
            return Ok(Self::DryRun);
        }
        if let Some(folder) = &options.resume {
            return Ok(Self::Recorded(Recording::resume(folder)?));
        }
        Ok(match (&options.record, &options.replay) {
            (_, Some(folder)) => Self::Replayed(Arc::new(Replay::open(folder)?)),
            // Fence ids are derived from the change, so a recording needs no id of its own.
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

fn refusal(purpose: ModelPurpose, error: ModelUnavailable) -> Failure {
    let why = format!("{}{}", purpose.reason, error.what);
    super::refusal(purpose.reviewer, why).hint(error.hint)
}
