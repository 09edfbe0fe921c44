//! Asks a judge about the findings of a case, within its own limits. On failure, the pairs are undecided.

use crate::judging::{BATCH, JUDGE, Judgement, MAX_PAIRS, candidates, form, question, read_pairs};
use crate::{CaseRecord, CaseUsage};
use mala_domain::agent::budget::{Dollars, Limits};
use mala_domain::models::ModelSpec;
use mala_pipeline::agent::{ModelClient, ModelQuestion, SingleQuestionClient};
use std::time::Duration;

/// The most calls for one case: one per batch, and one retry.
const MAX_CALLS: u32 = (MAX_PAIRS / BATCH) as u32 + 1;
/// The rough token limit of one prompt, for the cost estimate.
const QUESTION_TOKENS: u64 = 50_000;
const ANSWER_TOKENS: u32 = 4_000;
/// The time limit of judging a case.
pub const JUDGE_TIMEOUT: Duration = Duration::from_secs(120);

/// The limits within which a case is judged by this model. When its price is unknown, the cost limit
/// of a review applies.
pub fn judge_limits(known: Option<&ModelSpec>, review: Limits) -> Limits {
    let worst = known.and_then(|known| known.worst_cost(QUESTION_TOKENS, u64::from(ANSWER_TOKENS)));
    let max_cost = worst.map_or(review.max_cost, |call| {
        (0..MAX_CALLS).fold(Dollars::ZERO, |sum, _| sum.plus(call))
    });
    Limits {
        max_llm_calls: MAX_CALLS,
        max_tool_calls: 0,
        max_cost,
        max_tokens: u64::from(MAX_CALLS) * (QUESTION_TOKENS + u64::from(ANSWER_TOKENS)),
        max_answer_tokens: ANSWER_TOKENS,
        max_wall_time: JUDGE_TIMEOUT,
        ..review
    }
}

/// Judges a case with this model.
pub async fn judge(client: &ModelClient, limits: Limits, record: &CaseRecord) -> Judgement {
    let wanted = candidates(record);
    let solo = SingleQuestionClient::new(client, limits);
    let mut pairs = Vec::new();
    for batch in wanted.pairs.chunks(BATCH) {
        let question = question(record, batch);
        let asked = ModelQuestion {
            label: "judge",
            system: JUDGE,
            text: question.text,
            form: form(),
            nonce: &question.nonce,
        };
        let said = solo.ask(asked, |words| read_pairs(words, batch.len())).await;
        pairs.extend(match said {
            Ok(said) => Judgement::said(batch, said),
            Err(why) => Judgement::undecided(batch, &format!("no valid answer: {why}")),
        });
    }
    let usage = solo.usage();
    let spent = CaseUsage {
        cost_usd: usage.cost_usd,
        tokens_used: usage.tokens_used,
        llm_calls: usage.llm_calls,
        tool_calls: 0,
        seconds: usage.latency_seconds_llm,
        seconds_llm: usage.latency_seconds_llm,
    };
    Judgement { pairs, left_out: wanted.left_out, spent }
}
