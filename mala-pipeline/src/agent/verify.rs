//! A fresh context tries to refute findings. What it could not check says why.

use super::AgentChecks;
use super::desk::Desk;
use super::escalate::escalate;
use super::prepare::Prepared;
use super::speaker::Speaker;
use super::turns::{Tools, Topic, converse};
use crate::events::Event;
use mala_domain::agent::answer::{check_of, checks_form, read_checks};
use mala_domain::agent::budget::Profile;
use mala_domain::agent::prompts;
use mala_domain::change::FilePath;
use mala_domain::conversation::Part;
use mala_domain::finding::{Finding, Verification};
use mala_domain::review::verify::by_check;

/// So many findings are checked with one call.
const MAX_CLAIMS: usize = 30;

/// Checks these findings as far as the budget goes, the worst first; says what was escalated.
pub(super) async fn check(
    desk: &Desk<'_>,
    prepared: &Prepared,
    findings: &mut [Finding],
) -> Vec<String> {
    let mut order: Vec<usize> = (0..findings.len()).collect();
    order.sort_by(|a, b| worst_first(findings, *a, *b));
    let max = match desk.settings.checks {
        AgentChecks::Own => desk.settings.limits.max_verify_candidates,
        AgentChecks::Urgent => u32::MAX,
    };
    let max = usize::try_from(max).unwrap_or(usize::MAX);
    let (chosen, rest) = order.split_at(max.min(order.len()));
    leave_unchecked(desk, findings, rest, &format!("at most {max} claims are checked"));
    for some in chosen.chunks(MAX_CLAIMS) {
        refute(desk, prepared, &desk.settings.speaker, findings, some).await;
    }
    escalate(desk, prepared, findings).await
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
    desk: &Desk<'_>,
    prepared: &Prepared,
    speaker: &Speaker,
    findings: &mut [Finding],
    chosen: &[usize],
) {
    if chosen.is_empty() {
        return;
    }
    if desk.account.calls_left() == 0 {
        let calls = desk.settings.limits.max_llm_calls;
        let why = format!("all {calls} model calls are spent");
        return leave_unchecked(desk, findings, chosen, &why);
    }
    let picked: Vec<&Finding> = chosen.iter().filter_map(|index| findings.get(*index)).collect();
    desk.account.say(Event::PassStarted { pass: "verification".to_owned() });
    let thorough = desk.settings.profile == Profile::Thorough;
    let topic = Topic {
        label: "verification",
        speaker,
        system: prompts::REFUTE,
        opening: opening(desk, prepared, &picked),
        form: checks_form(),
        tools: if thorough { Tools::Offered } else { Tools::None },
        max_calls: if thorough { 3 } else { 1 },
    };
    match converse(desk, topic, read_checks).await {
        Ok((checks, rung)) => {
            desk.account.note_rung(rung);
            let mut unsaid = Vec::new();
            let how = format!("{}, in a fresh context", speaker.name);
            for (place, index) in chosen.iter().enumerate() {
                match (check_of(&checks, &id(place)), findings.get_mut(*index)) {
                    (Some(check), Some(finding)) => {
                        finding.verification = by_check(Some(&check), &speaker.name, &how);
                    }
                    _ => unsaid.push(*index),
                }
            }
            let why = format!("{} says nothing of it", speaker.name);
            leave_unchecked(desk, findings, &unsaid, &why);
        }
        Err(stopped) => leave_unchecked(desk, findings, chosen, &stopped.to_string()),
    }
}

/// Marks findings that are not checked, and says so.
fn leave_unchecked(desk: &Desk<'_>, findings: &mut [Finding], chosen: &[usize], why: &str) {
    for index in chosen {
        if let Some(finding) = findings.get_mut(*index) {
            finding.verification = Verification::not_checked(why);
        }
    }
    match chosen.len() {
        0 => {}
        1 => desk.leave_undone(&format!("1 claim not checked: {why}")),
        n => desk.leave_undone(&format!("{n} claims not checked: {why}")),
    }
}

/// The cited files of the change, then the claims: nothing of the conversation that made them.
fn opening(desk: &Desk<'_>, prepared: &Prepared, picked: &[&Finding]) -> Vec<Part> {
    let files: Vec<&FilePath> = picked.iter().map(|finding| &finding.file).collect();
    let brief = prepared.brief_of(desk.context, &files);
    let claims = picked.iter().enumerate().map(|(place, finding)| {
        let (id, file, span) = (id(place), &finding.file, finding.span());
        let (title, body, evidence) = (&finding.title, &finding.body, &finding.evidence_snippet);
        format!("{id}: {file}:{span}\n{title}\n{body}\nEvidence: {evidence}\n")
    });
    let claims = claims.collect::<Vec<_>>().join("\n");
    let nonce = desk.fence.nonce().as_str();
    let mut parts = Vec::new();
    if brief.is_empty() {
        parts.push(Part::Text(format!("This run's ID and your nonce: {nonce}\n")));
    } else {
        parts.push(Part::Text(brief));
    }
    parts.push(Part::Text(desk.fence.around("claims", &claims)));
    parts
}

fn id(place: usize) -> String {
    format!("c{}", place + 1)
}
