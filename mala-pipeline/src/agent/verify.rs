//! Verifies findings: a fresh context with tools decides each one from the code. Uncertain urgent findings
//! then go to the stronger model, if there is one.

use super::AgentChecks;
use super::model_client::ModelClient;
use super::phase::AgentPhase;
use super::prepare::PreparedPrompts;
use super::turns::{ConversationPlan, StopReason, ToolOffer, converse};
use crate::events::ReviewEvent;
use futures_util::future::join_all;
use mala_domain::agent::answer::{ClaimCheck, checks_format, find_check, read_checks};
use mala_domain::agent::{NAME, prompts};
use mala_domain::change::FilePath;
use mala_domain::conversation::TurnPart;
use mala_domain::finding::{Finding, Verification, VerificationOutcome};
use mala_domain::report::counted;
use mala_domain::review::verify::{later_verification, needs_escalation, verification_from_check};

/// The most findings of one conversation.
const MAX_BATCH: usize = 10;

/// The most calls of one conversation: tool results, then an answer.
const MAX_CALLS: u32 = 5;

/// A finding while it is checked and edited.
#[derive(Debug, Clone)]
pub(super) struct CheckedFinding {
    pub(super) finding: Finding,
    /// The result of the check.
    pub(super) check: Option<ClaimCheck>,
}

/// Checks these findings, the worst first, until the budget is used up. Returns messages about
/// escalations.
pub(super) async fn check(
    phase: &AgentPhase<'_>,
    prepared: &PreparedPrompts,
    findings: &mut [CheckedFinding],
    chosen: &[usize],
) -> Vec<String> {
    let mut order: Vec<usize> = chosen.to_vec();
    order.sort_by(|a, b| worst_first(findings, *a, *b));
    let max = match phase.settings.checks {
        AgentChecks::Own => phase.settings.limits.max_verify_candidates,
        AgentChecks::Urgent => u32::MAX,
    };
    let max = usize::try_from(max).unwrap_or(usize::MAX);
    let (chosen, rest) = order.split_at(max.min(order.len()));
    leave_unchecked(phase, findings, rest, &format!("at most {max} claims are checked"));
    let doubtful = doubtful(findings, chosen);
    match &phase.settings.escalation {
        // The last remaining call goes to the stronger model.
        Some(stronger) if phase.account.calls_left() == 1 && !doubtful.is_empty() => {
            run(phase, prepared, stronger, findings, chosen).await;
            escalated(findings, &doubtful, stronger)
        }
        _ => {
            run(phase, prepared, &phase.settings.client, findings, chosen).await;
            escalate(phase, prepared, findings, chosen).await
        }
    }
}

fn worst_first(findings: &[CheckedFinding], a: usize, b: usize) -> std::cmp::Ordering {
    let (Some(one), Some(other)) = (findings.get(a), findings.get(b)) else { return a.cmp(&b) };
    let (one, other) = (&one.finding, &other.finding);
    one.effective_priority()
        .cmp(&other.effective_priority())
        .then(other.confidence.total_cmp(&one.confidence))
        .then((&one.file, one.span(), &one.title).cmp(&(&other.file, other.span(), &other.title)))
}

/// Lets a model check these findings, in batches by file. Findings that its answer does not mention
/// stay unchecked.
async fn run(
    phase: &AgentPhase<'_>,
    prepared: &PreparedPrompts,
    client: &ModelClient,
    findings: &mut [CheckedFinding],
    chosen: &[usize],
) {
    if chosen.is_empty() {
        return;
    }
    let left = phase.account.calls_left();
    if left == 0 {
        let calls = phase.settings.limits.max_llm_calls;
        let why = format!("all {calls} model calls are spent");
        return leave_unchecked(phase, findings, chosen, &why);
    }
    let all = batches(findings, chosen);
    // One call is kept for the edit, and one for the stronger model.
    let n_batches = u32::try_from(all.len()).unwrap_or(u32::MAX).max(1);
    let max_calls = (left.saturating_sub(2) / n_batches).clamp(1, MAX_CALLS);
    phase.account.emit(ReviewEvent::PassStarted { pass: "verification".to_owned() });
    let asked = all.iter().map(|batch| {
        let picked: Vec<&Finding> =
            batch.iter().filter_map(|at| findings.get(*at)).map(|it| &it.finding).collect();
        ask(phase, prepared, client, picked, max_calls)
    });
    let answers = join_all(asked.collect::<Vec<_>>()).await;
    for (batch, answer) in all.iter().zip(answers) {
        match answer {
            Ok(checks) => note(phase, findings, batch, &checks, client),
            Err(stopped) => leave_unchecked(phase, findings, batch, &stopped.to_string()),
        }
    }
}

/// The findings in batches: those of one file together, and small files share a batch.
fn batches(findings: &[CheckedFinding], chosen: &[usize]) -> Vec<Vec<usize>> {
    let file = |at: usize| findings.get(at).map(|it| &it.finding.file);
    let mut files: Vec<Vec<usize>> = Vec::new();
    for at in chosen {
        let own = files.iter_mut().find(|own| own.first().is_some_and(|it| file(*it) == file(*at)));
        match own {
            Some(own) => own.push(*at),
            None => files.push(vec![*at]),
        }
    }
    let mut batches: Vec<Vec<usize>> = Vec::new();
    for own in files.iter().flat_map(|own| own.chunks(MAX_BATCH)) {
        match batches.last_mut().filter(|last| last.len() + own.len() <= MAX_BATCH) {
            Some(last) => last.extend(own),
            None => batches.push(own.to_vec()),
        }
    }
    batches
}

async fn ask(
    phase: &AgentPhase<'_>,
    prepared: &PreparedPrompts,
    client: &ModelClient,
    picked: Vec<&Finding>,
    max_calls: u32,
) -> Result<Vec<ClaimCheck>, StopReason> {
    let n_tools = if max_calls > 1 { phase.account.tools_left() } else { 0 };
    let mut opening = opening(phase, prepared, &picked);
    opening.push(TurnPart::Text(prompts::budget(max_calls, n_tools)));
    let conversation = ConversationPlan {
        label: "verification",
        client,
        system: prompts::VERIFY,
        opening,
        form: checks_format(),
        tools: ToolOffer::Offered,
        max_calls,
    };
    let (checks, method) = converse(phase, conversation, read_checks).await?;
    phase.account.note_parse_method(method);
    Ok(checks)
}

fn note(
    phase: &AgentPhase<'_>,
    findings: &mut [CheckedFinding],
    batch: &[usize],
    checks: &[ClaimCheck],
    client: &ModelClient,
) {
    let mut unsaid = Vec::new();
    let how = format!("{}, in a fresh context", client.name);
    for (place, at) in batch.iter().enumerate() {
        match (find_check(checks, &id(place)), findings.get_mut(*at)) {
            (Some(check), Some(checked)) => {
                checked.finding.verification =
                    verification_from_check(Some(&check), &client.name, &how);
                checked.check = Some(check);
            }
            _ => unsaid.push(*at),
        }
    }
    let why = format!("{} says nothing of it", client.name);
    leave_unchecked(phase, findings, &unsaid, &why);
}

/// Marks findings as not checked, with a warning.
fn leave_unchecked(
    phase: &AgentPhase<'_>,
    findings: &mut [CheckedFinding],
    chosen: &[usize],
    why: &str,
) {
    for at in chosen {
        if let Some(checked) = findings.get_mut(*at) {
            checked.finding.verification = Verification::not_checked(why);
        }
    }
    match chosen.len() {
        0 => {}
        1 => phase.leave_undone(&format!("1 claim not checked: {why}")),
        n => phase.leave_undone(&format!("{n} claims not checked: {why}")),
    }
}

/// The prompt of a check: the purpose of the change, the cited files, then the claims. It contains
/// nothing of the conversation that made the claims.
fn opening(
    phase: &AgentPhase<'_>,
    prepared: &PreparedPrompts,
    picked: &[&Finding],
) -> Vec<TurnPart> {
    let files: Vec<&FilePath> = picked
        .iter()
        .flat_map(|finding| {
            std::iter::once(&finding.file).chain(finding.also_at.iter().map(|it| &it.file))
        })
        .collect();
    let brief = prepared.brief_of(phase.context, &files);
    let claims = picked.iter().enumerate().map(|(place, finding)| claim(&id(place), finding));
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

/// A claim as it is shown to a model.
pub(super) fn claim(id: &str, finding: &Finding) -> String {
    let (file, span) = (&finding.file, finding.span());
    let (title, body, evidence) = (&finding.title, &finding.body, &finding.evidence_snippet);
    let places: Vec<String> = finding.also_at.iter().map(ToString::to_string).collect();
    let places = match places.as_slice() {
        [] => String::new(),
        places => format!("Also at: {}\n", places.join(", ")),
    };
    format!("{id}: {file}:{span}\n{title}\n{body}\n{places}Evidence: {evidence}\n")
}

/// The id of a claim in prompts and answers.
pub(super) fn id(place: usize) -> String {
    format!("c{}", place + 1)
}

fn doubtful(findings: &[CheckedFinding], chosen: &[usize]) -> Vec<usize> {
    let is_doubtful =
        |at: &usize| findings.get(*at).is_some_and(|it| needs_escalation(&it.finding));
    chosen.iter().copied().filter(is_doubtful).collect()
}

/// Checks doubtful findings with the stronger model, and returns a warning with their number.
async fn escalate(
    phase: &AgentPhase<'_>,
    prepared: &PreparedPrompts,
    findings: &mut [CheckedFinding],
    chosen: &[usize],
) -> Vec<String> {
    let Some(stronger) = &phase.settings.escalation else { return Vec::new() };
    let doubtful = doubtful(findings, chosen);
    if doubtful.is_empty() {
        return Vec::new();
    }
    if phase.account.calls_left() == 0 {
        let n = counted(doubtful.len(), "doubtful claim");
        let claims = doubtful.iter().filter_map(|at| findings.get(*at)).map(|it| &it.finding);
        let places: Vec<String> =
            claims.map(|claim| format!("{}:{}", claim.file, claim.line_start)).collect();
        let places = places.join(", ");
        phase.leave_undone(&format!("{n} not escalated, the calls are spent: {places}"));
        return Vec::new();
    }
    let before: Vec<CheckedFinding> = findings.to_vec();
    run(phase, prepared, stronger, findings, &doubtful).await;
    let warnings = escalated(findings, &doubtful, stronger);
    for (checked, before) in findings.iter_mut().zip(before) {
        let later = std::mem::take(&mut checked.finding.verification);
        let is_later = later.is_settled();
        checked.finding.verification = later_verification(before.finding.verification, later);
        checked.check = if is_later { checked.check.take() } else { before.check };
    }
    warnings
}

/// A warning with the number of findings that the stronger model answered.
fn escalated(
    findings: &[CheckedFinding],
    doubtful: &[usize],
    stronger: &ModelClient,
) -> Vec<String> {
    let is_answered = |at: &&usize| {
        let checked = findings.get(**at).map(|it| it.finding.verification.outcome);
        checked.is_some_and(|outcome| outcome != VerificationOutcome::NotChecked)
    };
    let n_answered = doubtful.iter().filter(is_answered).count();
    let n = counted(n_answered, "doubtful claim");
    let escalated = format!("{NAME}: {n} escalated to {}", stronger.name);
    Some(escalated).filter(|_| n_answered > 0).into_iter().collect()
}
