//! One conversation with a model: a prompt, tool calls within the budget, and an answer that can be
//! parsed, or the reason why there is none.

use super::model_client::ModelClient;
use super::phase::AgentPhase;
use super::tools::ShownImports;
use futures_util::future::join_all;
use mala_domain::agent::answer::{ParseProblem, RawAnswer, with_escaped_controls};
use mala_domain::agent::budget::LimitReached;
use mala_domain::agent::prompts;
use mala_domain::conversation::{
    AnswerFormat, ChatReply, ChatRequest, ChatTurn, ToolChoice, TurnPart,
};
use mala_domain::ports::{ModelFailure, ModelFailureKind, ReviewerFailure};
use thiserror::Error;

/// The plan of a conversation.
pub(super) struct ConversationPlan<'t> {
    /// Its name, for people.
    pub(super) label: &'t str,
    pub(super) client: &'t ModelClient,
    pub(super) system: &'t str,
    pub(super) opening: Vec<TurnPart>,
    pub(super) form: AnswerFormat,
    pub(super) tools: ToolOffer,
    /// The most calls to the model.
    pub(super) max_calls: u32,
}

/// Whether tools are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolOffer {
    Offered,
    None,
}

/// Runs a conversation until there is an answer. An answer that cannot be parsed is requested once more.
pub(super) async fn converse<T>(
    phase: &AgentPhase<'_>,
    plan: ConversationPlan<'_>,
    read: impl Fn(&RawAnswer<'_>) -> Result<T, ParseProblem>,
) -> Result<T, StopReason> {
    let mut ask = first_request(phase, &plan);
    let mut unreadable: Option<StopReason> = None;
    let imports = ShownImports::default();
    for number in 1.. {
        ask.tool_choice = choice(phase, plan.max_calls.saturating_sub(number));
        let reply = match phase.account.ask(plan.client, &ask, plan.label).await {
            Ok(reply) => reply,
            Err(stopped) => return Err(first_failure(phase, &plan, unreadable, stopped)),
        };
        let may_go_on = number < plan.max_calls && phase.account.calls_left() > 0;
        if !reply.said.calls.is_empty() && may_go_on {
            let after = plan.max_calls.saturating_sub(number + 1);
            answer_calls(phase, &mut ask, (reply, &imports), after).await;
            continue;
        }
        let text = with_escaped_controls(&reply.said.text);
        let raw = RawAnswer {
            text: &text,
            form_enforced: reply.form_enforced,
            nonce: phase.fence.nonce(),
        };
        match read(&raw) {
            Ok(answer) => {
                note_unmade_calls(phase, &plan, &reply);
                return Ok(answer);
            }
            Err(problem) if may_go_on && unreadable.is_none() => {
                let text = reply.said.text.clone();
                unreadable = Some(StopReason::Unreadable { problem: problem.clone(), text });
                phase.note(&format!("{}: {problem}; asked again", plan.label));
                ask.turns.push(ChatTurn::Model(reply.said));
                let again = prompts::retry(&problem.without_model_text());
                ask.turns.push(ChatTurn::User(vec![TurnPart::Text(again)]));
            }
            Err(problem) => {
                return Err(StopReason::Unreadable { problem, text: reply.said.text });
            }
        }
    }
    Err(StopReason::Silent)
}

/// Warns about tool calls in a final answer: they are not made.
fn note_unmade_calls(phase: &AgentPhase<'_>, plan: &ConversationPlan<'_>, reply: &ChatReply) {
    let (label, why) = (plan.label, "no model call is left for what they show");
    match reply.said.calls.len() {
        0 => {}
        1 => phase.leave_undone(&format!("{label}: 1 tool call not made: {why}")),
        n => phase.leave_undone(&format!("{label}: {n} tool calls not made: {why}")),
    }
}

/// Why there is no answer. If the first answer could not be parsed and the retry failed, the parse problem
/// is the reason, and the failed retry is a warning.
fn first_failure(
    phase: &AgentPhase<'_>,
    plan: &ConversationPlan<'_>,
    unreadable: Option<StopReason>,
    stopped: StopReason,
) -> StopReason {
    match unreadable {
        None => stopped,
        Some(unreadable) => {
            phase.leave_undone(&format!("{}: asked again, no answer: {stopped}", plan.label));
            unreadable
        }
    }
}

fn first_request(phase: &AgentPhase<'_>, plan: &ConversationPlan<'_>) -> ChatRequest {
    let offered = plan.tools == ToolOffer::Offered
        && plan.client.can_call_tools()
        && plan.max_calls > 1
        && phase.settings.limits.max_tool_calls > 0;
    ChatRequest {
        model: plan.client.name.clone(),
        system: plan.system.to_owned(),
        tools: if offered { phase.tools().to_vec() } else { Vec::new() },
        tool_choice: ToolChoice::Free,
        turns: vec![ChatTurn::User(plan.opening.clone())],
        form: plan.form.clone(),
        max_output_tokens: plan.client.answer_tokens(phase.settings.limits.max_answer_tokens),
    }
}

/// Offers no tools if their results could not be used: this is the last call, or the tool budget is spent.
/// `after` is the number of calls that could follow this one.
fn choice(phase: &AgentPhase<'_>, after: u32) -> ToolChoice {
    let is_last = after == 0 || phase.account.calls_left() <= 1;
    match is_last || phase.account.tools_left() == 0 {
        true => ToolChoice::None,
        false => ToolChoice::Free,
    }
}

/// Adds the model's turn and the results of the tools that it called. `after` calls could follow the
/// next one.
async fn answer_calls(
    phase: &AgentPhase<'_>,
    ask: &mut ChatRequest,
    (reply, imports): (ChatReply, &ShownImports),
    after: u32,
) {
    let results = join_all(reply.said.calls.iter().map(|call| phase.call(call, imports))).await;
    let mut parts: Vec<TurnPart> = results.into_iter().map(TurnPart::ToolResult).collect();
    if choice(phase, after) == ToolChoice::None {
        parts.push(TurnPart::Text(prompts::LAST_CALL.trim_end().to_owned()));
    }
    ask.turns.push(ChatTurn::Model(reply.said));
    ask.turns.push(ChatTurn::User(parts));
}

/// Why a conversation has no usable answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum StopReason {
    #[error("{0}")]
    LimitReached(#[from] LimitReached),
    #[error("timeout")]
    TimedOut,
    #[error("{0}")]
    Model(#[from] ModelFailure),
    #[error("the model refused to answer{}", reason(.0))]
    Refused(String),
    #[error("the provider's filter stopped the answer{}", reason(.0))]
    Filtered(String),
    #[error("the answer is cut: it reached the limit of {0} tokens")]
    Cut(u32),
    #[error("the model answered with zero output tokens")]
    Silent,
    #[error("{problem}")]
    Unreadable { problem: ParseProblem, text: String },
    /// An answer reports a problem and cannot be parsed.
    #[error("{0}")]
    LostObjection(ParseProblem),
}

/// The reason of the provider, if it states one.
fn reason(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(": {why}") }
}

impl StopReason {
    pub(super) fn failure(&self) -> ReviewerFailure {
        match self {
            Self::TimedOut => ReviewerFailure::timeout(),
            Self::Model(failure) if failure.kind == ModelFailureKind::TimedOut => {
                ReviewerFailure::timeout()
            }
            Self::Unreadable { problem, .. } | Self::LostObjection(problem) => {
                ReviewerFailure::Unreadable(problem.to_string())
            }
            other => ReviewerFailure::Crashed(other.to_string()),
        }
    }
}
