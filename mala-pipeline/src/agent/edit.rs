//! Before the checks, asks a model which claims have the same cause if their text leaves it open.
//! After the checks, lets it edit the findings: order, wording, and which have the same cause.

use super::phase::AgentPhase;
use super::turns::{ConversationPlan, StopReason, ToolOffer, converse};
use super::verify::{CheckedFinding, claim, id};
use crate::events::ReviewEvent;
use mala_domain::agent::answer::{
    CauseGroups, EditedFinding, ParseMethod, ParseProblem, RawAnswer, edit_format, groups_format,
    read_edit, read_groups,
};
use mala_domain::agent::budget::Limits;
use mala_domain::agent::prompts;
use mala_domain::conversation::{AnswerFormat, TurnPart};
use mala_domain::finding::Finding;
use mala_domain::review::edit::FindingEdit;
use mala_domain::review::merge::leaves_cause_open;
use mala_domain::verdict::is_refuted;
use std::collections::HashSet;

/// With fewer remaining calls, only the checks are made.
const MIN_CALLS: u32 = 3;

/// Sets `same_as` for claims with the same cause, if the text of any two leaves it open.
pub(super) async fn group(phase: &AgentPhase<'_>, findings: &[Finding], edits: &mut [FindingEdit]) {
    if !leaves_cause_open(findings) || phase.account.calls_left() < MIN_CALLS {
        return;
    }
    let claims = findings.iter().enumerate().map(|(at, finding)| claim(&id(at), finding));
    let question = EditorQuestion {
        label: "same cause",
        system: prompts::SAME_CAUSE,
        text: claims.collect::<Vec<_>>().join("\n"),
        form: groups_format(),
    };
    let groups: CauseGroups = match put(phase, question, read_groups).await {
        Ok(groups) => groups,
        // Without an answer, every claim is checked and reported separately.
        Err(stopped) => return phase.note(&format!("same cause: no answer: {stopped}")),
    };
    let mut grouped = HashSet::new();
    for group in groups {
        let own = group.iter().filter_map(|id| number(id, findings.len()));
        let own: Vec<usize> = own.filter(|at| grouped.insert(*at)).collect();
        let Some((first, others)) = own.split_first() else { continue };
        for other in others {
            if let Some(edit) = edits.get_mut(*other) {
                edit.same_as = Some(*first);
            }
        }
    }
}

/// Whether the limits leave a call for the edit.
pub(super) fn is_offered(limits: &Limits) -> bool {
    limits.max_llm_calls > MIN_CALLS
}

/// Lets a model edit the findings that are not refuted.
pub(super) async fn edit(
    phase: &AgentPhase<'_>,
    findings: &[CheckedFinding],
    edits: &mut [FindingEdit],
) {
    let stands = |at: &usize| {
        let is_own = edits.get(*at).is_some_and(|edit| edit.same_as.is_none());
        is_own && findings.get(*at).is_some_and(|it| !is_refuted(&it.finding))
    };
    let standing: Vec<usize> = (0..findings.len()).filter(stands).collect();
    if standing.is_empty() || !is_offered(&phase.settings.limits) {
        return;
    }
    phase.account.emit(ReviewEvent::PassStarted { pass: "edit".to_owned() });
    let told = standing.iter().filter_map(|at| Some(checked_claim(&id(*at), findings.get(*at)?)));
    let question = EditorQuestion {
        label: "edit",
        system: prompts::EDIT,
        text: told.collect::<Vec<_>>().join("\n"),
        form: edit_format(),
    };
    match put(phase, question, read_edit).await {
        Ok(edited) => apply(&edited, &standing, edits),
        Err(stopped) => phase.leave_undone(&format!("the findings are not edited: {stopped}")),
    }
}

fn apply(edited: &[EditedFinding], standing: &[usize], edits: &mut [FindingEdit]) {
    let number_of = |id: &str| number(id, edits.len()).filter(|at| standing.contains(at));
    let numbered: Vec<_> = edited
        .iter()
        .enumerate()
        .filter_map(|(rank, it)| {
            let at = number_of(&it.id)?;
            let same_as = it.same_as.as_deref().and_then(number_of).filter(|other| *other != at);
            Some((rank, at, same_as, it))
        })
        .collect();
    for (rank, at, same_as, it) in numbered {
        if let Some(edit) = edits.get_mut(at).filter(|edit| edit.rank.is_none()) {
            edit.rank = Some(rank);
            edit.same_as = same_as;
            edit.title = Some(it.title.clone());
            edit.body = Some(it.body.clone());
            edit.worth = match (edit.worth, it.worth) {
                (Some(checked), Some(edited)) => Some(checked.midpoint(edited)),
                (checked, edited) => edited.or(checked),
            };
        }
    }
}

/// A finding and the result of its check, as text.
fn checked_claim(id: &str, checked: &CheckedFinding) -> String {
    let finding = &checked.finding;
    let priority = finding.effective_priority();
    let said = match &checked.check {
        Some(check) => format!("{}: {}", format!("{:?}", check.outcome).to_lowercase(), check.why),
        None => "not checked".to_owned(),
    };
    format!("{}Priority: {priority}\nCheck: {said}\n", claim(id, finding))
}

/// The number of a finding by its id.
fn number(id: &str, n_findings: usize) -> Option<usize> {
    let number: usize = id.trim().strip_prefix('c')?.parse().ok()?;
    number.checked_sub(1).filter(|at| *at < n_findings)
}

/// A question without tools about the findings.
struct EditorQuestion {
    label: &'static str,
    system: &'static str,
    text: String,
    form: AnswerFormat,
}

async fn put<T>(
    phase: &AgentPhase<'_>,
    question: EditorQuestion,
    read: impl Fn(&RawAnswer<'_>) -> Result<(T, ParseMethod), ParseProblem>,
) -> Result<T, StopReason> {
    let nonce = phase.fence.nonce().as_str();
    let conversation = ConversationPlan {
        label: question.label,
        client: &phase.settings.client,
        system: question.system,
        opening: vec![
            TurnPart::Text(format!("This run's ID and your nonce: {nonce}\n")),
            TurnPart::Text(phase.fence.wrap("findings", &question.text)),
        ],
        form: question.form,
        tools: ToolOffer::None,
        max_calls: 2,
    };
    let (answer, method) = converse(phase, conversation, read).await?;
    phase.account.note_parse_method(method);
    Ok(answer)
}
