//! Checks claims before they count: first by looking, then by a fresh context that tries to refute
//! them. What is refuted is kept and marked; what nobody could check says why.

use super::desk::Desk;
use super::prepare::Prepared;
use super::speaker::Speaker;
use super::turns::{Tools, Topic, converse};
use crate::events::Event;
use crate::review::context;
use mala_domain::agent::NAME;
use mala_domain::agent::answer::{
    Check, CheckOutcome, ParseProblem, check_of, checks_form, read_checks,
};
use mala_domain::agent::budget::Profile;
use mala_domain::agent::judge;
use mala_domain::agent::prompts;
use mala_domain::change::FilePath;
use mala_domain::conversation::Part;
use mala_domain::finding::{Candidate, Verification};
use mala_domain::ports::{ReviewerFailure, Scoped, Side};
use mala_domain::review::admit::{none_holds, objections};
use mala_domain::review::{Hearing, Texts};
use mala_syntax::symbols::HeadBindings;
use std::collections::BTreeSet;

/// What became of the claims.
#[derive(Default)]
pub(super) struct Checked {
    /// Those that stand on lines that are there, checked as far as the budget goes.
    pub(super) claims: Vec<Candidate>,
    /// Those that quote what is not there; admission drops them.
    pub(super) gone: Vec<Candidate>,
    /// The texts that they cite.
    pub(super) texts: Texts,
}

/// Grounds the claims and checks each of them as far as the budget goes. When none of them is in the
/// reviewed tree, nobody knows what is objected to, and that is a failure.
pub(super) async fn check(
    desk: &Desk<'_>,
    prepared: &Prepared,
    claims: Vec<Candidate>,
    hearing: &mut Hearing,
) -> Checked {
    if claims.is_empty() {
        return Checked::default();
    }
    let warnings = &mut hearing.warnings;
    let texts = read_cited(desk, &claims, warnings).await;
    let change = &desk.request.change;
    let grounded: Vec<Candidate> =
        claims.into_iter().map(|claim| judge::ground(claim, change, &texts)).collect();
    if let Some(why) = none_holds(&grounded, change, &texts) {
        let problem = ParseProblem::InvalidEvidence(why);
        hearing.failure = Some(ReviewerFailure::Unreadable(problem.to_string()));
        hearing.accounted.clear();
        return Checked { gone: grounded, ..Checked::default() };
    }
    let why = objections(&grounded, change, &texts);
    let (there, gone): (Vec<_>, Vec<_>) =
        grounded.into_iter().zip(why).partition(|(_, why)| why.is_none());
    let gone: Vec<Candidate> = gone.into_iter().map(|(claim, _)| claim).collect();
    let mut claims = judge::distinct(there.into_iter().map(|(claim, _)| claim).collect());
    look_up(&mut claims, &texts);
    let max = usize::try_from(desk.settings.limits.max_verify_candidates).unwrap_or(0);
    let all: Vec<usize> = positions(&claims, judge::needs_check);
    let (chosen, rest) = all.split_at(max.min(all.len()));
    leave_unchecked(desk, &mut claims, rest, &format!("at most {max} claims are checked"));
    refute(desk, prepared, &desk.settings.speaker, &mut claims, chosen).await;
    Checked { claims, gone, texts }
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

/// Refutes claims that something is missing when it is there.
fn look_up(claims: &mut [Candidate], texts: &Texts) {
    let bindings = HeadBindings::of(texts);
    for claim in claims {
        let (title, file) = (&claim.title, &claim.file);
        if let Some(why) = judge::refuted_by_definition(title, file, claim.span, &bindings) {
            claim.verification = Verification::refuted(why);
        }
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
        let why = format!("all {calls} model calls are spent");
        return leave_unchecked(desk, claims, chosen, &why);
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
            let mut unsaid = Vec::new();
            for (index, _) in &picked {
                let check = check_of(&checks, &id(*index));
                match (check, claims.get_mut(*index)) {
                    (Some(check), Some(claim)) => {
                        claim.verification = outcome(&check, &speaker.name);
                    }
                    _ => unsaid.push(*index),
                }
            }
            let why = format!("{} says nothing of it", speaker.name);
            leave_unchecked(desk, claims, &unsaid, &why);
        }
        Err(stopped) => leave_unchecked(desk, claims, chosen, &stopped.to_string()),
    }
}

fn outcome(check: &Check, model: &str) -> Verification {
    let how = format!("{model}, in a fresh context: {}", check.why);
    match check.outcome {
        CheckOutcome::Holds => Verification::verified(how),
        CheckOutcome::Refuted => Verification::refuted(how),
        CheckOutcome::Unsure => Verification::unverified(how),
    }
}

/// Marks claims that nobody checks, and says so.
fn leave_unchecked(desk: &Desk<'_>, claims: &mut [Candidate], chosen: &[usize], why: &str) {
    for index in chosen {
        if let Some(claim) = claims.get_mut(*index) {
            claim.verification = Verification::unverified(format!("not checked: {why}"));
        }
    }
    match chosen.len() {
        0 => {}
        1 => desk.leave_undone(&format!("1 claim not checked: {why}")),
        n => desk.leave_undone(&format!("{n} claims not checked: {why}")),
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
        parts.push(Part::Text(format!("This run's ID and your nonce: {nonce}\n")));
    } else {
        parts.push(Part::Text(brief));
    }
    parts.push(Part::Text(desk.fence.around("claims", &claims)));
    parts
}

fn id(index: usize) -> String {
    format!("c{}", index + 1)
}
