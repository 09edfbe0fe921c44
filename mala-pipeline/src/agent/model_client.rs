//! A model, with the maximum cost of a call to it.

use mala_domain::agent::budget::{CallUsage, Charge, Dollars};
use mala_domain::conversation::{AnswerFormat, ChatReply, ChatRequest, ChatTurn, TurnPart};
use mala_domain::models::ModelSpec;
use mala_domain::ports::LanguageModel;
use std::sync::Arc;

/// A model that can be called.
#[derive(Clone)]
pub struct ModelClient {
    /// The connection.
    pub model: Arc<dyn LanguageModel>,
    /// The name at its provider.
    pub name: String,
    /// The catalogue entry, if any.
    pub known: Option<ModelSpec>,
}

/// Tokens that providers add to a request: roles, tool preambles, schemas.
const OVERHEAD_TOKENS: u64 = 1_500;

impl ModelClient {
    /// The worst case of a call. No tokenizer makes more tokens of a text than it has bytes.
    pub(super) fn worst(&self, ask: &ChatRequest) -> Charge {
        let input = n_bytes(ask).saturating_add(OVERHEAD_TOKENS);
        let output = u64::from(ask.max_output_tokens);
        Charge::Call {
            tokens: input.saturating_add(output),
            dollars: self.worst_cost(input, output),
        }
    }

    pub(super) fn worst_cost(&self, input: u64, output: u64) -> Option<Dollars> {
        self.known.as_ref()?.worst_cost(input, output)
    }

    /// The usage of an answer.
    pub(super) fn used(&self, reply: &ChatReply) -> CallUsage {
        let tokens = &reply.tokens;
        CallUsage {
            tokens: tokens
                .input
                .zip(tokens.output)
                .map(|(input, output)| input.saturating_add(output)),
            cache_read: tokens.cache_read,
            dollars: self.known.as_ref().and_then(|known| known.cost(tokens)),
        }
    }

    /// The maximum number of tokens to request for an answer.
    pub(super) fn answer_tokens(&self, wanted: u32) -> u32 {
        let most = self.known.as_ref().and_then(|known| known.max_output);
        most.map_or(wanted, |most| wanted.min(most))
    }

    pub(super) fn context(&self) -> Option<u64> {
        self.known.as_ref().and_then(|known| known.context)
    }

    pub(super) fn can_call_tools(&self) -> bool {
        self.known.as_ref().is_none_or(|known| known.can(mala_domain::models::ModelFeature::Tools))
    }
}

/// The number of bytes that are sent, without the provider's own format.
pub(super) fn n_bytes(ask: &ChatRequest) -> u64 {
    let tools = ask
        .tools
        .iter()
        .map(|tool| tool.name.len() + tool.description.len() + tool.arguments.to_string().len());
    let form = match &ask.form {
        AnswerFormat::Text => 0,
        AnswerFormat::Json { name, schema } => name.len() + schema.to_string().len(),
    };
    let turns = ask.turns.iter().map(turn_bytes);
    let sum = ask.system.len() + form + tools.sum::<usize>() + turns.sum::<usize>();
    u64::try_from(sum).unwrap_or(u64::MAX)
}

fn turn_bytes(turn: &ChatTurn) -> usize {
    match turn {
        ChatTurn::User(parts) => parts.iter().map(part_bytes).sum(),
        ChatTurn::Model(said) => {
            let calls = said.calls.iter().map(|call| call.name.len() + call.arguments.len());
            (said.text.len() + calls.sum::<usize>()).max(said.verbatim.to_string().len())
        }
    }
}

fn part_bytes(part: &TurnPart) -> usize {
    match part {
        TurnPart::Text(text) | TurnPart::Repeated(text) => text.len(),
        TurnPart::ToolResult(result) => result.text.len() + result.call.id.len(),
    }
}
