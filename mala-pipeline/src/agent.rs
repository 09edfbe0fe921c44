//! The reviewer that runs in this process: a model with read-only tools, inside hard limits. It
//! prepares what the model is told, asks in one or several passes, has the claims checked by a fresh
//! context, and hands on what stands with what it used.

mod account;
mod aside;
mod bill;
mod desk;
mod escalate;
mod hints;
mod messages;
mod passes;
mod plan;
pub(crate) mod prepare;
pub(crate) mod solo;
mod speaker;
mod stopped;
#[cfg(test)]
mod tests;
pub mod tools;
mod turns;
mod verify;

pub use aside::Aside;
pub use plan::Outlook;
pub use solo::{Asked, Solo};
pub use speaker::Speaker;

use crate::events::Event;
use desk::Desk;
use mala_domain::agent::NAME;
use mala_domain::agent::budget::{Limits, Profile};
use mala_domain::agent::judge;
use mala_domain::ports::{BoxFuture, Linters, Reviewer, ReviewerFailure};
use mala_domain::review::{Hearing, ReviewRequest};
use std::sync::{Arc, Mutex};
use tokio::time::timeout_at;

/// Where the agent's events go.
pub type AgentEvents = Arc<dyn Fn(Event) + Send + Sync>;

/// Prompts and answers as they were sent and came, by name. Kept only for those who look for a
/// mistake, and without secrets.
pub type Transcript = Arc<Mutex<Vec<(String, String)>>>;

/// How the agent works.
pub struct AgentSettings {
    /// The model that reviews.
    pub speaker: Speaker,
    /// The stronger model for urgent claims that nobody is sure of.
    pub escalation: Option<Speaker>,
    /// The name of the limits.
    pub profile: Profile,
    /// The limits.
    pub limits: Limits,
    /// Texts about the task: name and content.
    pub tasks: Vec<(String, String)>,
    /// Who finds what the model is given as hints.
    pub hints: Option<Arc<dyn Reviewer>>,
    /// The project's linters, for the tool that runs them.
    pub linters: Option<Arc<dyn Linters>>,
    /// Where its events go.
    pub events: AgentEvents,
    /// Where prompts and answers are kept, if they are.
    pub transcript: Option<Transcript>,
}

/// The agent.
pub struct Agent {
    settings: AgentSettings,
}

impl Agent {
    /// An agent with these settings.
    pub fn new(settings: AgentSettings) -> Self {
        Self { settings }
    }

    /// Looks ahead: what a review would do and could cost. No model is asked.
    pub async fn outlook(&self, request: &ReviewRequest) -> Result<Outlook, ReviewerFailure> {
        plan::outlook(&self.settings, request).await
    }

    async fn hear(&self, request: &ReviewRequest) -> Result<Hearing, ReviewerFailure> {
        let settings = &self.settings;
        tracing::info!("Reviewing with {}...", settings.speaker.name);
        let deadline = account::deadline(&settings.limits, request.timeout);
        let prepared = timeout_at(deadline, prepare::prepare(settings, request))
            .await
            .unwrap_or(Err(ReviewerFailure::TimedOut))?;
        let desk = Desk::new(settings, request, &prepared.fence, deadline);
        desk.account.tell();
        let told = passes::run(&desk, &prepared).await;
        let mut hearing = Hearing {
            reviewer: NAME.to_owned(),
            accounted: told.accounted,
            warnings: prepared.warnings(),
            failure: told.failure,
            ..Hearing::default()
        };
        hearing.warnings.extend(told.warnings);
        let checked = verify::check(&desk, &prepared, told.claims, &mut hearing).await;
        let verify::Checked { claims, gone, texts } = checked;
        let claims = escalate::escalate(&desk, &prepared, claims, &mut hearing.warnings).await;
        hearing.candidates = judge::merged(claims, &texts);
        hearing.candidates.extend(gone);
        hearing.candidates.extend(hints::judged(&prepared.hints, &told.opinions));
        hearing.max_findings = usize::try_from(settings.limits.max_output_issues).ok();
        let over = desk.account.overdrawn();
        hearing.warnings.extend(over.map(|over| format!("{NAME}: {over}")));
        hearing.warnings.extend(desk.noted());
        let undone = desk.left_undone();
        hearing.cut_short = !undone.is_empty();
        hearing.warnings.extend(undone);
        hearing.model = Some(desk.account.models()).filter(|models| !models.is_empty());
        hearing.usage = desk.account.usage();
        Ok(hearing)
    }
}

impl Reviewer for Agent {
    fn name(&self) -> &str {
        NAME
    }

    fn review<'a>(
        &'a self,
        request: &'a ReviewRequest,
    ) -> BoxFuture<'a, Result<Hearing, ReviewerFailure>> {
        Box::pin(self.hear(request))
    }
}
