//! The agent: a model with read-only tools and hard limits, called from this process. As a reviewer
//! it reviews every part of the change and returns claims. As a verifier it checks claims in a
//! fresh context and edits the findings, with the rest of the same budget.

mod account;
mod checker;
mod draft;
mod edit;
mod messages;
mod model_client;
mod phase;
mod plan;
pub(crate) mod prepare;
mod single_question;
#[cfg(test)]
mod tests;
pub mod tools;
mod turns;
mod verify;

pub use checker::ParsedReview;
pub use model_client::ModelClient;
pub use plan::{ForecastPart, ReviewForecast};
pub use single_question::{ModelQuestion, SingleQuestionClient};

use crate::events::ReviewEvent;
use mala_domain::agent::NAME;
use mala_domain::agent::budget::{Limits, Profile};
use mala_domain::ports::{BoxFuture, Linters, Reviewer, ReviewerFailure};
use mala_domain::review::{Opinion, ReviewContext};
use phase::{AgentPhase, AgentResources};
use prepare::PreparedPrompts;
use std::sync::{Arc, Mutex, OnceLock};
use tokio::sync::OnceCell;
use tokio::time::timeout_at;

/// Receives the agent's events.
pub type AgentEvents = Arc<dyn Fn(ReviewEvent) + Send + Sync>;

/// The prompts and answers, by name. Kept only on request, and without secrets.
pub type Transcript = Arc<Mutex<Vec<(String, String)>>>;

/// The settings of the agent.
pub struct AgentSettings {
    /// The model that reviews.
    pub client: ModelClient,
    /// The stronger model for urgent claims that are not sure.
    pub escalation: Option<ModelClient>,
    /// The name of the limits.
    pub profile: Profile,
    /// The limits.
    pub limits: Limits,
    /// The reviewer whose findings are hints for the model.
    pub hints: Option<Arc<dyn Reviewer>>,
    /// Whether the hints are claims of the agent, or another reviewer reports them.
    pub claims_hints: bool,
    /// The project's linters, for the tool that runs them.
    pub linters: Option<Arc<dyn Linters>>,
    /// The findings that it checks as a verifier.
    pub checks: AgentChecks,
    /// Receives its events.
    pub events: AgentEvents,
    /// The transcript, if one is kept.
    pub transcript: Option<Transcript>,
}

/// The findings that the agent checks as a verifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentChecks {
    /// All of its own.
    Own,
    /// All urgent findings of all reviewers.
    Urgent,
}

/// The agent of one review.
pub struct Agent {
    settings: AgentSettings,
    resources: OnceLock<AgentResources>,
    prepared: OnceCell<PreparedPrompts>,
}

impl Agent {
    /// An agent with these settings.
    pub fn new(settings: AgentSettings) -> Self {
        Self { settings, resources: OnceLock::new(), prepared: OnceCell::new() }
    }

    /// Estimates the calls and the maximum cost of a review, without calling a model.
    pub async fn forecast(
        &self,
        context: &ReviewContext,
    ) -> Result<ReviewForecast, ReviewerFailure> {
        plan::forecast(&self.settings, context).await
    }

    /// The account and the tools for this review.
    fn resources(&self, context: &ReviewContext) -> &AgentResources {
        self.resources.get_or_init(|| AgentResources::new(&self.settings, context))
    }

    /// The prompts, built once.
    async fn prepared(&self, context: &ReviewContext) -> Result<&PreparedPrompts, ReviewerFailure> {
        let deadline = self.resources(context).account.deadline();
        let prepared = self.prepared.get_or_try_init(|| prepare::prepare(&self.settings, context));
        timeout_at(deadline, prepared).await.unwrap_or_else(|_| Err(ReviewerFailure::timeout()))
    }

    async fn draft(&self, context: &ReviewContext) -> Result<Opinion, ReviewerFailure> {
        let settings = &self.settings;
        tracing::info!(model = %settings.client.name, "Reviewing with Claude Agent SDK...");
        let prepared = self.prepared(context).await?;
        let phase = AgentPhase::new(settings, context, &prepared.fence, self.resources(context));
        phase.account.report_spending();
        let results = draft::run(&phase, prepared).await;
        let mut claims = results.claims;
        if settings.claims_hints {
            claims.extend(draft::with_hint_opinions(&prepared.hints, &results.opinions));
        }
        let undone = phase.left_undone();
        let mut warnings = prepared.warnings(&phase.hunks_read(&prepared.briefs.left_out));
        warnings.extend(results.warnings);
        warnings.extend(phase.noted());
        let cut_short = !undone.is_empty();
        warnings.extend(undone);
        warnings.extend(phase.account.overrun().map(|over| format!("{NAME}: {over}")));
        Ok(Opinion {
            model: Some(phase.account.models()).filter(|models| !models.is_empty()),
            claims,
            accounted: results.accounted,
            max_findings: usize::try_from(settings.limits.max_output_issues).ok(),
            may_repeat_itself: true,
            warnings,
            cut_short,
            usage: phase.account.usage(),
            failure: results.failure,
            ..Opinion::default()
        })
    }
}

impl Reviewer for Agent {
    fn name(&self) -> &str {
        NAME
    }

    fn runs_rules(&self) -> bool {
        self.settings.claims_hints && self.settings.hints.is_some()
    }

    fn review<'a>(
        &'a self,
        context: &'a ReviewContext,
    ) -> BoxFuture<'a, Result<Opinion, ReviewerFailure>> {
        Box::pin(self.draft(context))
    }
}
