//! One conversation: a question, tool calls as far as the budget goes, an answer that can be read, or
//! why there is none.

use super::desk::Desk;
use super::speaker::Speaker;
use super::stopped::Stopped;
use futures_util::future::join_all;
use mala_domain::agent::answer::{ParseProblem, Words};
use mala_domain::agent::prompts;
use mala_domain::conversation::{Ask, Form, Part, Reply, ToolChoice, Turn};

/// What a conversation is about.
pub(super) struct Topic<'t> {
    /// Its name, for people.
    pub(super) label: &'t str,
    pub(super) speaker: &'t Speaker,
    pub(super) system: &'t str,
    pub(super) opening: Vec<Part>,
    pub(super) form: Form,
    pub(super) tools: Tools,
    /// The most calls to the model.
    pub(super) max_calls: u32,
}

/// Whether tools are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tools {
    Offered,
    None,
}

/// Talks until there is an answer. One that cannot be read is asked for once more.
pub(super) async fn converse<T>(
    desk: &Desk<'_>,
    topic: Topic<'_>,
    read: impl Fn(&Words<'_>) -> Result<T, ParseProblem>,
) -> Result<T, Stopped> {
    let mut ask = first_ask(desk, &topic);
    let mut unreadable: Option<Stopped> = None;
    for number in 1.. {
        ask.tool_choice = choice(desk, topic.max_calls.saturating_sub(number));
        let reply = match desk.account.ask(topic.speaker, &ask, topic.label).await {
            Ok(reply) => reply,
            Err(stopped) => return Err(with_retry(desk, &topic, unreadable, stopped)),
        };
        let may_go_on = number < topic.max_calls && desk.account.calls_left() > 0;
        if !reply.said.calls.is_empty() && may_go_on {
            let after = topic.max_calls.saturating_sub(number + 1);
            answer_calls(desk, &mut ask, reply, after).await;
            continue;
        }
        let words = Words {
            text: &reply.said.text,
            form_enforced: reply.form_enforced,
            nonce: desk.fence.nonce(),
        };
        match read(&words) {
            Ok(answer) => {
                leave_calls(desk, &topic, &reply);
                return Ok(answer);
            }
            Err(problem) if may_go_on && unreadable.is_none() => {
                let text = reply.said.text.clone();
                unreadable = Some(Stopped::Unreadable { problem: problem.clone(), text });
                desk.note(&format!("{}: {problem}; asked again", topic.label));
                ask.turns.push(Turn::Model(reply.said));
                let again = prompts::retry(&problem.in_own_words());
                ask.turns.push(Turn::Ours(vec![Part::Text(again)]));
            }
            Err(problem) => {
                return Err(Stopped::Unreadable { problem, text: reply.said.text });
            }
        }
    }
    Err(Stopped::Silent)
}

/// An answer that came with tool calls is one without their results.
fn leave_calls(desk: &Desk<'_>, topic: &Topic<'_>, reply: &Reply) {
    let (label, why) = (topic.label, "no model call is left for what they show");
    match reply.said.calls.len() {
        0 => {}
        1 => desk.leave_undone(&format!("{label}: 1 tool call not made: {why}")),
        n => desk.leave_undone(&format!("{label}: {n} tool calls not made: {why}")),
    }
}

/// Why there is no answer. What was wrong with the one that was asked for again is what there is to
/// say; that the second one never came is a warning.
fn with_retry(
    desk: &Desk<'_>,
    topic: &Topic<'_>,
    unreadable: Option<Stopped>,
    stopped: Stopped,
) -> Stopped {
    match unreadable {
        None => stopped,
        Some(unreadable) => {
            desk.leave_undone(&format!("{}: asked again, no answer: {stopped}", topic.label));
            unreadable
        }
    }
}

fn first_ask(desk: &Desk<'_>, topic: &Topic<'_>) -> Ask {
    let offered = topic.tools == Tools::Offered
        && topic.speaker.can_call_tools()
        && topic.max_calls > 1
        && desk.settings.limits.max_tool_calls > 0;
    Ask {
        model: topic.speaker.name.clone(),
        system: topic.system.to_owned(),
        tools: if offered { desk.tools().to_vec() } else { Vec::new() },
        tool_choice: ToolChoice::Free,
        turns: vec![Turn::Ours(topic.opening.clone())],
        form: topic.form.clone(),
        max_output_tokens: topic.speaker.answer_tokens(desk.settings.limits.max_answer_tokens),
    }
}

/// Tools are withheld when nothing could be done with their results: this is the last call, or no
/// tool can be called any more. `after` calls of the conversation could follow this one.
fn choice(desk: &Desk<'_>, after: u32) -> ToolChoice {
    let is_last = after == 0 || desk.account.calls_left() <= 1;
    match is_last || desk.account.tools_left() == 0 {
        true => ToolChoice::None,
        false => ToolChoice::Free,
    }
}

/// Adds the model's turn and the results of the tools that it called. `after` calls could follow the
/// next one.
async fn answer_calls(desk: &Desk<'_>, ask: &mut Ask, reply: Reply, after: u32) {
    let results = join_all(reply.said.calls.iter().map(|call| desk.call(call))).await;
    let mut parts: Vec<Part> = results.into_iter().map(Part::ToolResult).collect();
    if choice(desk, after) == ToolChoice::None {
        parts.push(Part::Text(prompts::LAST_CALL.trim_end().to_owned()));
    }
    ask.turns.push(Turn::Model(reply.said));
    ask.turns.push(Turn::Ours(parts));
}
