//! Estimates the number of tokens, rather too high. The estimate is used to reserve budget; the count of the
//! provider replaces it. Exact tokenizers exist for OpenAI only and add megabytes.

use crate::conversation::{Ask, Form, Part, Turn};

/// English text and code have three to four bytes per token, about a third less with Anthropic; other scripts
/// have three bytes per character and about one token each.
const BYTES_PER_5_TOKENS: u64 = 12;
/// Tokens that providers add per message, call or tool.
const AROUND: u64 = 12;

/// Estimates the tokens of a text.
pub fn text_tokens(text: &str) -> u64 {
    bytes_as_tokens(text.len())
}

/// Estimates the input tokens of a request.
pub fn input_tokens(ask: &Ask) -> u64 {
    let tools = ask.tools.iter().map(|tool| {
        let schema = tool.arguments.to_string().len();
        bytes_as_tokens(tool.name.len() + tool.description.len() + schema) + AROUND
    });
    let form = match &ask.form {
        Form::Text => 0,
        Form::Json { schema, .. } => bytes_as_tokens(schema.to_string().len()) + AROUND,
    };
    let turns = ask.turns.iter().map(turn_tokens);
    tools.chain(turns).sum::<u64>() + text_tokens(&ask.system) + form + AROUND
}

fn turn_tokens(turn: &Turn) -> u64 {
    match turn {
        Turn::Ours(parts) => parts.iter().map(part_tokens).sum(),
        Turn::Model(said) => {
            let calls = said.calls.iter().map(|call| call.name.len() + call.arguments.len());
            let told = said.text.len() + calls.sum::<usize>();
            // The provider's own form repeats the text and may contain reasoning.
            bytes_as_tokens(told.max(said.verbatim.to_string().len())) + AROUND
        }
    }
}

fn part_tokens(part: &Part) -> u64 {
    let text = match part {
        Part::Text(text) | Part::Repeated(text) => text,
        Part::ToolResult(result) => &result.text,
    };
    text_tokens(text) + AROUND
}

fn bytes_as_tokens(bytes: usize) -> u64 {
    (bytes as u64).saturating_mul(5).div_ceil(BYTES_PER_5_TOKENS)
}
