//! Checks claims before they count: first by looking, then by a fresh context that tries to refute
//! them. What is refuted is kept and marked; what nobody could check says why.

use super::desk::Desk;
use super::prepare::Prepared;
use super::speaker::Speaker;
use super::turns::{Tools, Topic, converse};
use crate::events::Event;
use crate::review::context;
use mala_domain::agent::NAME;
use mala_domain::agent::answer::{Check, CheckOutcome, checks_form, read_checks};
use mala_domain::agent::budget::Profile;
use mala_domain::agent::judge;
use mala_domain::agent::prompts;
use mala_domain::change::FilePath;
use mala_domain::conversation::Part;
use mala_domain::finding::{Candidate, Verification};
use mala_domain::ports::{Scoped, Side};
use mala_domain::review::Texts;
use std::collections::BTreeSet;

/// The claims, merged, grounded and checked as far as the budget goes.
pub(super) async fn check(
    desk: &Desk<'_>,
    prepared: &Prepared,
    claims: Vec<Candidate>,
    warnings: &mut Vec<String>,
) -> Vec<Candidate> {
    if claims.is_empty() {
        return claims;
    }
    let texts = read_cited(desk, &claims, warnings).await;
    let change = &desk.request.change;
    let grounded = claims.into_iter().map(|claim| judge::ground(claim, change, &texts)).collect();
    let mut claims = judge::merged(grounded);
    claims.iter_mut().for_each(|claim| look_up(claim, &texts));
    let max = usize::try_from(desk.settings.limits.max_verify_candidates).unwrap_or(0);
    let all: Vec<usize> = positions(&claims, judge::needs_check);
    let (chosen, rest) = all.split_at(max.min(all.len()));
    mark(&mut claims, rest, &format!("not checked: at most {max} claims are"));
    refute(desk, prepared, &desk.settings.speaker, &mut claims, chosen).await;
    claims
}

/// The texts at head of all files that claims cite.
async fn read_cited(desk: &Desk<'_>, claims: &[Candidate], warnings: &mut Vec<String>) -> Texts {
    let mut texts = Texts::clone(&desk.request.texts);
    let cited: BTreeSet<&FilePath> = claims
        .iter()
        .map(|claim| &claim.file)
        .filter(|file| file.stays_inside() && !texts.head.contains_key(file))
        .collect();
    let scoped = Scoped {
        scope: desk.request.scope.clone(),
        change: desk.request.change.clone(),
        tree: desk.request.tree.clone(),
    };
    let cited: Vec<FilePath> = cited.into_iter().cloned().collect();
    match context::read(&scoped, Side::Head, cited).await {
        Ok(read) => texts.head.extend(read),
        Err(error) => warnings.push(format!("{NAME}: the cited files cannot be read: {error}")),
    }
    texts
}

/// Refutes a claim that something is missing when it is there.
fn look_up(claim: &mut Candidate, texts: &Texts) {
    let Some(text) = texts.at_head(&claim.file) else { return };
    let missing = judge::missing_claim(&claim.title, &claim.body);
    if let Some(why) = missing.and_then(|missing| judge::refuted_by_definition(&missing, text)) {
        claim.verification = Verification::refuted(why);
    }
}

pub(super) fn positions(claims: &[Candidate], wanted: fn(&Candidate) -> bool) -> Vec<usize> {
    let found = claims.iter().enumerate().filter(|(_, claim)| wanted(claim));
    found.map(|(index, _)| index).collect()
}

/// Has a model try to refute these claims. Claims that it says nothing of stay unverified.
pub(super) async fn refute(
    desk: &Desk<'_>,
    prepared: &Prepared,
    speaker: &Speaker,
    claims: &mut [Candidate],
    chosen: &[usize],
) {
    if chosen.is_empty() {
        return;
    }
    let picked: Vec<(usize, Candidate)> =
        chosen.iter().filter_map(|index| Some((*index, claims.get(*index)?.clone()))).collect();
    if desk.account.calls_left() == 0 {
        let calls = desk.settings.limits.max_llm_calls;
        return mark(claims, chosen, &format!("not checked: all {calls} model calls are spent"));
    }
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
            for (index, _) in &picked {
                let check = checks.iter().find(|check| check.id == id(*index));
                if let Some(claim) = claims.get_mut(*index) {
                    claim.verification = outcome(check, &speaker.name);
                }
            }
        }
        Err(stopped) => {
            desk.warn(&format!("{NAME}: {} claims not checked: {stopped}", chosen.len()));
            mark(claims, chosen, &format!("not checked: {stopped}"));
        }
    }
}

fn outcome(check: Option<&Check>, model: &str) -> Verification {
    let Some(check) = check else {
        return Verification::unverified(format!("not checked: {model} says nothing of it"));
    };
    let how = format!("{model}, in a fresh context: {}", check.why);
    match check.outcome {
        CheckOutcome::Holds => Verification::verified(how),
        CheckOutcome::Refuted => Verification::refuted(how),
        CheckOutcome::Unsure => Verification::unverified(how),
    }
}

fn mark(claims: &mut [Candidate], chosen: &[usize], how: &str) {
    for index in chosen {
        if let Some(claim) = claims.get_mut(*index) {
            claim.verification = Verification::unverified(how);
        }
    }
}

/// The cited files of the change, then the claims: nothing of the conversation that made them.
fn opening(desk: &Desk<'_>, prepared: &Prepared, picked: &[(usize, Candidate)]) -> Vec<Part> {
    let files: Vec<&FilePath> = picked.iter().map(|(_, claim)| &claim.file).collect();
    let brief = prepared.brief_of(desk.request, &files);
    let claims = picked.iter().map(|(index, claim)| {
        let evidence = claim.evidence.as_deref().unwrap_or_default();
        let (id, file, span) = (id(*index), &claim.file, claim.span);
        let (title, body) = (&claim.title, &claim.body);
        format!("{id}: {file}:{span}\n{title}\n{body}\nEvidence: {evidence}\n")
    });
    let claims = claims.collect::<Vec<_>>().join("\n");
    let nonce = desk.fence.nonce().as_str();
    let mut parts = Vec::new();
    if brief.is_empty() {
        parts.push(Part::Text(format!("This run's ID, and your nonce: {nonce}\n")));
    } else {
        parts.push(Part::Text(brief));
    }
    parts.push(Part::Text(desk.fence.around("claims", &claims)));
    parts
}

fn id(index: usize) -> String {
    format!("c{}", index + 1)
}
