//! Verifies findings: a fresh context tries to refute them. Uncertain urgent findings then go to the
//! stronger model, if there is one.

use super::AgentChecks;
use super::model_client::ModelClient;
use super::phase::AgentPhase;
use super::prepare::PreparedPrompts;
use super::turns::{ConversationPlan, ToolOffer, converse};
use crate::events::ReviewEvent;
use mala_domain::agent::answer::{checks_format, find_check, read_checks};
use mala_domain::agent::budget::Profile;
use mala_domain::agent::{NAME, prompts};
use mala_domain::change::FilePath;
use mala_domain::conversation::TurnPart;
use mala_domain::finding::{Finding, Verification, VerificationOutcome};
use mala_domain::report::counted;
use mala_domain::review::verify::{later_verification, needs_escalation, verification_from_check};

/// The maximum number of findings per call.
const MAX_CLAIMS: usize = 30;

/// Checks these findings as far as the budget goes, the worst first; says what was escalated.
pub(super) async fn check(
    phase: &AgentPhase<'_>,
    prepared: &PreparedPrompts,
    findings: &mut [Finding],
) -> Vec<String> {
    let mut order: Vec<usize> = (0..findings.len()).collect();
    order.sort_by(|a, b| worst_first(findings, *a, *b));
    let max = match phase.settings.checks {
        AgentChecks::Own => phase.settings.limits.max_verify_candidates,
        AgentChecks::Urgent => u32::MAX,
    };
    let max = usize::try_from(max).unwrap_or(usize::MAX);
    let (chosen, rest) = order.split_at(max.min(order.len()));
    leave_unchecked(phase, findings, rest, &format!("at most {max} claims are checked"));
    for some in chosen.chunks(MAX_CLAIMS) {
        refute(phase, prepared, &phase.settings.client, findings, some).await;
    }
    escalate(phase, prepared, findings).await
}

fn worst_first(findings: &[Finding], a: usize, b: usize) -> std::cmp::Ordering {
    let (Some(one), Some(other)) = (findings.get(a), findings.get(b)) else { return a.cmp(&b) };
    one.effective_priority()
        .cmp(&other.effective_priority())
        .then(other.confidence.total_cmp(&one.confidence))
        .then((&one.file, one.span(), &one.title).cmp(&(&other.file, other.span(), &other.title)))
}

/// Has a model try to refute these findings. Those that it says nothing of are not checked.
pub(super) async fn refute(
    phase: &AgentPhase<'_>,
    prepared: &PreparedPrompts,
    client: &ModelClient,
    findings: &mut [Finding],
    chosen: &[usize],
) {
    if chosen.is_empty() {
        return;
    }
    if phase.account.calls_left() == 0 {
        let calls = phase.settings.limits.max_llm_calls;
        let why = format!("all {calls} model calls are spent");
        return leave_unchecked(phase, findings, chosen, &why);
    }
    let picked: Vec<&Finding> = chosen.iter().filter_map(|index| findings.get(*index)).collect();
    phase.account.emit(ReviewEvent::PassStarted { pass: "verification".to_owned() });
    let thorough = phase.settings.profile == Profile::Thorough;
    let conversation = ConversationPlan {
        label: "verification",
        client,
        system: prompts::REFUTE,
        opening: opening(phase, prepared, &picked),
        form: checks_format(),
        tools: if thorough { ToolOffer::Offered } else { ToolOffer::None },
        max_calls: if thorough { 3 } else { 1 },
    };
    match converse(phase, conversation, read_checks).await {
        Ok((checks, method)) => {
            phase.account.note_parse_method(method);
            let mut unsaid = Vec::new();
            let how = format!("{}, in a fresh context", client.name);
            for (place, index) in chosen.iter().enumerate() {
                match (find_check(&checks, &id(place)), findings.get_mut(*index)) {
                    (Some(check), Some(finding)) => {
                        finding.verification =
                            verification_from_check(Some(&check), &client.name, &how);
                    }
                    _ => unsaid.push(*index),
                }
            }
            let why = format!("{} says nothing of it", client.name);
            leave_unchecked(phase, findings, &unsaid, &why);
        }
        Err(stopped) => leave_unchecked(phase, findings, chosen, &stopped.to_string()),
    }
}

/// Marks findings that are not checked, and says so.
fn leave_unchecked(phase: &AgentPhase<'_>, findings: &mut [Finding], chosen: &[usize], why: &str) {
    for index in chosen {
        if let Some(finding) = findings.get_mut(*index) {
            finding.verification = Verification::not_checked(why);
        }
    }
    match chosen.len() {
        0 => {}
        1 => phase.leave_undone(&format!("1 claim not checked: {why}")),
        n => phase.leave_undone(&format!("{n} claims not checked: {why}")),
    }
}

/// The cited files of the change, then the claims: nothing of the conversation that made them.
fn opening(
    phase: &AgentPhase<'_>,
    prepared: &PreparedPrompts,
    picked: &[&Finding],
) -> Vec<TurnPart> {
    let files: Vec<&FilePath> = picked.iter().map(|finding| &finding.file).collect();
    let brief = prepared.brief_of(phase.context, &files);
    let claims = picked.iter().enumerate().map(|(place, finding)| {
        let (id, file, span) = (id(place), &finding.file, finding.span());
        let (title, body, evidence) = (&finding.title, &finding.body, &finding.evidence_snippet);
        format!("{id}: {file}:{span}\n{title}\n{body}\nEvidence: {evidence}\n")
    });
    let claims = claims.collect::<Vec<_>>().join("\n");
    let nonce = phase.fence.nonce().as_str();
    let mut parts = Vec::new();
    if brief.is_empty() {
        parts.push(TurnPart::Text(format!("This run's ID and your nonce: {nonce}\n")));
    } else {
        parts.push(TurnPart::Text(brief));
    }
    parts.push(TurnPart::Text(phase.fence.wrap("claims", &claims)));
    parts
}

fn id(place: usize) -> String {
    format!("c{}", place + 1)
}

/// Checks doubtful findings with the stronger model, and returns a warning with their number.
pub(super) async fn escalate(
    phase: &AgentPhase<'_>,
    prepared: &PreparedPrompts,
    findings: &mut [Finding],
) -> Vec<String> {
    let Some(stronger) = &phase.settings.escalation else { return Vec::new() };
    let doubtful = findings.iter().enumerate().filter(|(_, finding)| needs_escalation(finding));
    let doubtful: Vec<usize> = doubtful.map(|(index, _)| index).collect();
    if doubtful.is_empty() {
        return Vec::new();
    }
    if phase.account.calls_left() == 0 {
        let n = counted(doubtful.len(), "doubtful claim");
        phase.leave_undone(&format!("{n} not escalated: the calls are spent"));
        return Vec::new();
    }
    let before: Vec<_> = findings.iter().map(|finding| finding.verification.clone()).collect();
    refute(phase, prepared, stronger, findings, &doubtful).await;
    let is_answered = |index: &&usize| {
        let finding = findings.get(**index);
        finding.is_some_and(|it| it.verification.outcome != VerificationOutcome::NotChecked)
    };
    let n_answered = doubtful.iter().filter(is_answered).count();
    for (finding, known) in findings.iter_mut().zip(before) {
        let checked = std::mem::take(&mut finding.verification);
        finding.verification = later_verification(known, checked);
    }
    let n = counted(n_answered, "doubtful claim");
    let escalated = format!("{NAME}: {n} escalated to {}", stronger.name);
    Some(escalated).filter(|_| n_answered > 0).into_iter().collect()
}
