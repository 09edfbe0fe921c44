//! Asks a judge about the findings of a case, within limits of its own. Whatever keeps it from an answer
//! leaves the pairs undecided.

use crate::agent::ModelClient;
use crate::agent::single_question::{Asked, SingleQuestionClient};
use mala_domain::agent::budget::{Dollars, Limits};
use mala_domain::eval::judging::{
    BATCH, JUDGE, Judgement, MAX_PAIRS, candidates, form, question, read_pairs,
};
use mala_domain::eval::{CaseRecord, CaseSpent};
use mala_domain::models::Model;
use std::time::Duration;

/// Calls for one case: a question for each batch, and one that may be made again.
const MAX_CALLS: u32 = (MAX_PAIRS / BATCH) as u32 + 1;
/// What is told in one question at most, roughly; one that would cost more than is left is not asked.
const QUESTION_TOKENS: u64 = 50_000;
const ANSWER_TOKENS: u32 = 4_000;
/// How long a case may be judged.
pub const JUDGE_PATIENCE: Duration = Duration::from_secs(120);

/// The limits within which a case is judged by this model. Where nobody knows its price, what a review may
/// cost holds for the judge too.
pub fn judge_limits(known: Option<&Model>, review: Limits) -> Limits {
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
        max_wall_time: JUDGE_PATIENCE,
        ..review
    }
}

/// What this model says of a case.
pub async fn judge(client: &ModelClient, limits: Limits, record: &CaseRecord) -> Judgement {
    let wanted = candidates(record);
    let solo = SingleQuestionClient::new(client, limits);
    let mut pairs = Vec::new();
    for batch in wanted.pairs.chunks(BATCH) {
        let question = question(record, batch);
        let asked = Asked {
            label: "judge",
            system: JUDGE,
            text: question.text,
            form: form(),
            nonce: &question.nonce,
        };
        let said = solo.ask(asked, |words| read_pairs(words, batch.len())).await;
        pairs.extend(match said {
            Ok(said) => Judgement::said(batch, said),
            Err(why) => Judgement::undecided(batch, &format!("no answer that counts: {why}")),
        });
    }
    let usage = solo.usage();
    let spent = CaseSpent {
        cost_usd: usage.cost_usd,
        tokens_used: usage.tokens_used,
        llm_calls: usage.llm_calls,
        tool_calls: 0,
        seconds: usage.latency_seconds_llm,
        seconds_llm: usage.latency_seconds_llm,
    };
    Judgement { pairs, left_out: wanted.left_out, spent }
}
