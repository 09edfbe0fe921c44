//! Single questions to a model outside a review, within the same kind of limits.

use super::account::{Account, TimeLimit};
use super::model_client::ModelClient;
use mala_domain::agent::answer::RawAnswer;
use mala_domain::agent::budget::Limits;
use mala_domain::agent::fence::Nonce;
use mala_domain::conversation::{AnswerFormat, ChatRequest, ChatTurn, ToolChoice, TurnPart};
use mala_domain::review::Usage;
use std::sync::Arc;

/// Asks a model single questions.
pub struct SingleQuestionClient<'s> {
    client: &'s ModelClient,
    limits: Limits,
    account: Account,
}

/// A question.
pub struct ModelQuestion<'a> {
    /// The name of the question in events.
    pub label: &'a str,
    /// The system prompt.
    pub system: &'a str,
    /// The question.
    pub text: String,
    /// The form of the answer.
    pub form: AnswerFormat,
    /// The nonce that the answer repeats.
    pub nonce: &'a Nonce,
}

impl<'s> SingleQuestionClient<'s> {
    /// A model with limits of its own.
    pub fn new(client: &'s ModelClient, limits: Limits) -> Self {
        let limit = TimeLimit::start(&limits, limits.max_wall_time);
        let account = Account::new(limits, limit, Arc::new(|_| {}), None);
        Self { client, limits, account }
    }

    /// Asks once and parses the answer; the error says why there is none.
    pub async fn ask<T, E: std::fmt::Display>(
        &self,
        asked: ModelQuestion<'_>,
        read: impl FnOnce(&RawAnswer<'_>) -> Result<T, E>,
    ) -> Result<T, String> {
        let ask = ChatRequest {
            model: self.client.name.clone(),
            system: asked.system.to_owned(),
            tools: Vec::new(),
            tool_choice: ToolChoice::None,
            turns: vec![ChatTurn::User(vec![TurnPart::Text(asked.text)])],
            form: asked.form,
            max_output_tokens: self.client.answer_tokens(self.limits.max_answer_tokens),
        };
        let reply = self.account.ask(self.client, &ask, asked.label).await;
        let reply = reply.map_err(|stopped| stopped.to_string())?;
        let (text, form_enforced) = (reply.said.text.as_str(), reply.form_enforced);
        let raw = RawAnswer { text, form_enforced, nonce: asked.nonce };
        read(&raw).map_err(|problem| problem.to_string())
    }

    /// The usage of all questions.
    pub fn usage(&self) -> Usage {
        self.account.usage()
    }
}
