//! The passes over a change. Each pass reviews the whole change with another instruction. All passes
//! share one budget and the provider's prompt cache.

use super::phase::AgentPhase;
use super::plan;
use super::prepare::PreparedPrompts;
use super::turns::{ConversationPlan, StopReason, ToolOffer, converse};
use crate::events::ReviewEvent;
use futures_util::future::join_all;
use mala_domain::agent::answer::{
    HintOpinion, ParseMethod, ParseProblem, RawAnswer, ReviewAnswer, is_milder, objection,
    read_restructured, read_review, review_format,
};
use mala_domain::agent::brief::{MAX_HINTS, PromptBrief, hint_id};
use mala_domain::agent::budget::Profile;
use mala_domain::agent::prompts::{self, Pass};
use mala_domain::agent::{NAME, claims};
use mala_domain::change::FilePath;
use mala_domain::conversation::{AnswerFormat, TurnPart};
use mala_domain::finding::{ReviewClaim, Verification, VerificationOutcome};
use mala_domain::ports::ReviewerFailure;
use mala_domain::review::admit::reason_none_placed;
use mala_domain::verdict::Verdict;
use std::collections::HashSet;
use std::sync::OnceLock;

/// The results of all passes.
#[derive(Default)]
pub(super) struct PassResults {
    pub(super) claims: Vec<ReviewClaim>,
    pub(super) opinions: Vec<HintOpinion>,
    /// The hunks that every pass has reviewed.
    pub(super) accounted: Vec<(FilePath, Vec<usize>)>,
    pub(super) warnings: Vec<String>,
    /// Why no pass has an answer.
    pub(super) failure: Option<ReviewerFailure>,
}

pub(super) async fn run(phase: &AgentPhase<'_>, prepared: &PreparedPrompts) -> PassResults {
    let passes =
        plan::passes(phase.settings.profile, phase.context, &phase.context.surroundings.rules);
    let briefs = &prepared.briefs.briefs;
    let max_calls = plan::calls_per_pass(&phase.settings.limits, passes.len() * briefs.len());
    let jobs = briefs.iter().flat_map(|brief| passes.iter().map(move |pass| (brief, *pass)));
    let answers = join_all(jobs.enumerate().map(|(index, (brief, pass))| async move {
        if index > 0 {
            phase.account.wait_for_first_call().await;
        }
        let form = review_format(prepared.hints.len());
        let answer = review(phase, brief, pass, form, max_calls).await;
        phase.account.mark_warm();
        (brief, pass, answer)
    }))
    .await;
    let mut results = fold(phase, answers);
    let unread: HashSet<_> =
        prepared.briefs.unread.iter().map(|(file, hunk)| (file, *hunk)).collect();
    for (file, hunks) in &mut results.accounted {
        hunks.retain(|hunk| !unread.contains(&(&*file, *hunk)));
    }
    results
}

async fn review(
    phase: &AgentPhase<'_>,
    brief: &PromptBrief,
    pass: Pass,
    form: AnswerFormat,
    max_calls: u32,
) -> Result<ReviewAnswer, StopReason> {
    phase.account.emit(ReviewEvent::PassStarted { pass: pass.name().to_owned() });
    let instruction = pass.instruction().trim_end().to_owned();
    let conversation = ConversationPlan {
        label: pass.name(),
        client: &phase.settings.client,
        system: prompts::SYSTEM,
        opening: vec![TurnPart::Repeated(brief.text.clone()), TurnPart::Text(instruction)],
        form,
        tools: if phase.settings.profile == Profile::Quick {
            ToolOffer::None
        } else {
            ToolOffer::Offered
        },
        max_calls,
    };
    let objected = OnceLock::new();
    let read = |raw: &RawAnswer<'_>| {
        let answer = read_review(raw)
            .map(|answer| with_resolved_paths(phase, answer))
            .and_then(|answer| require_evidence(phase, answer));
        keep_objection(answer, raw, &objected)
    };
    let answer = match converse(phase, conversation, read).await {
        // An answer that drops an objection is not restructured.
        Err(StopReason::Unreadable { problem, text })
            if objected.get().is_none() || objection(&raw_answer(phase, &text)).is_some() =>
        {
            restructure(phase, problem, text).await
        }
        other => other,
    }?;
    phase.account.note_parse_method(answer.method);
    Ok(answer)
}

fn raw_answer<'t>(phase: &'t AgentPhase<'_>, text: &'t str) -> RawAnswer<'t> {
    RawAnswer { text, form_enforced: false, nonce: phase.fence.nonce() }
}

/// Rejects an answer that is milder than the objection of an earlier answer, which could not be parsed. A
/// retry asks for another format, not for another opinion. The problem of the first answer is returned.
fn keep_objection(
    answer: Result<ReviewAnswer, ParseProblem>,
    raw: &RawAnswer<'_>,
    objected: &OnceLock<(Verdict, ParseProblem)>,
) -> Result<ReviewAnswer, ParseProblem> {
    match (answer, objected.get()) {
        (Ok(answer), Some((said, problem))) if is_milder(&answer, *said) => Err(problem.clone()),
        (Err(problem), _) => {
            if let Some(said) = objection(raw) {
                objected.get_or_init(|| (said, problem.clone()));
            }
            Err(problem)
        }
        (answer, _) => answer,
    }
}

/// The answer with the paths of the changed files that it names in another way.
fn with_resolved_paths(phase: &AgentPhase<'_>, mut answer: ReviewAnswer) -> ReviewAnswer {
    for claim in &mut answer.claims {
        claim.candidate.file = phase.context.change.resolve_path(&claim.candidate.file);
    }
    answer
}

/// Rejects an answer if none of its claims has evidence at head. Claims in files outside the change are
/// checked later.
fn require_evidence(
    phase: &AgentPhase<'_>,
    answer: ReviewAnswer,
) -> Result<ReviewAnswer, ParseProblem> {
    let (change, texts) = (&phase.context.change, &phase.context.texts);
    let claims = answer.claims.iter().map(|claim| &claim.candidate);
    let is_elsewhere =
        |claim: &ReviewClaim| claim.file.stays_inside() && texts.at_head(&claim.file).is_none();
    if claims.clone().any(is_elsewhere) {
        return Ok(answer);
    }
    let claims: Vec<ReviewClaim> =
        claims.map(|claim| claims::ground_evidence(claim.clone(), change, texts)).collect();
    match reason_none_placed(&claims, change, texts) {
        Some(why) => Err(ParseProblem::InvalidEvidence(why)),
        None => Ok(answer),
    }
}

/// Calls the model once more to bring an answer into the required format. The call must not change the
/// opinion.
async fn restructure(
    phase: &AgentPhase<'_>,
    problem: ParseProblem,
    original: String,
) -> Result<ReviewAnswer, StopReason> {
    let stands = || StopReason::Unreadable { problem: problem.clone(), text: original.clone() };
    if phase.account.calls_left() == 0 || original.trim().is_empty() {
        return Err(stands());
    }
    let conversation = ConversationPlan {
        label: "restructure",
        client: &phase.settings.client,
        system: prompts::RESTRUCTURE,
        opening: vec![TurnPart::Text(phase.fence.wrap("review", &original))],
        form: AnswerFormat::Text,
        tools: ToolOffer::None,
        max_calls: 1,
    };
    let read = |raw: &RawAnswer<'_>| read_restructured(&original, raw, &problem);
    // If this fails too, the problem of the original answer is reported.
    converse(phase, conversation, read).await.map_err(|_| stands())
}

type PassAnswer<'b> = (&'b PromptBrief, Pass, Result<ReviewAnswer, StopReason>);

fn fold(phase: &AgentPhase<'_>, answers: Vec<PassAnswer<'_>>) -> PassResults {
    let mut results = PassResults::default();
    let first_failure = answers.iter().find_map(|(_, _, answer)| answer.as_ref().err()).cloned();
    let none_answered = answers.iter().all(|(_, _, answer)| answer.is_err());
    let complete: Vec<&PromptBrief> = answers
        .iter()
        .map(|(brief, ..)| *brief)
        .filter(|brief| {
            let mut own = answers.iter().filter(|(other, ..)| std::ptr::eq(*other, *brief));
            own.all(|(.., answer)| answer.as_ref().is_ok_and(accounts))
        })
        .collect();
    for (index, brief) in complete.iter().enumerate() {
        if !complete.iter().take(index).any(|seen| std::ptr::eq(*seen, *brief)) {
            results.accounted.extend(brief.shown.iter().cloned());
        }
    }
    for (_, pass, answer) in answers {
        match answer {
            Ok(answer) => {
                if !accounts(&answer) {
                    phase.leave_undone(&format!(
                        "the pass '{}' accounts for nothing: another call brought its answer into \
                         form",
                        pass.name()
                    ));
                }
                results.claims.extend(answer.claims.into_iter().map(|claim| claim.candidate));
                results.opinions.extend(answer.hints);
                let dropped = answer.dropped.iter();
                results.warnings.extend(dropped.map(|why| format!("{NAME}: dropped {why}")));
            }
            Err(stopped) => warn(phase, &mut results, pass, &stopped),
        }
    }
    if none_answered {
        results.failure = first_failure.map(|stopped| stopped.failure());
    }
    results
}

/// Whether an answer counts as coverage. A restructured answer may have lost a finding, so it can block
/// and never pass.
fn accounts(answer: &ReviewAnswer) -> bool {
    answer.method != ParseMethod::Restructured
}

fn warn(phase: &AgentPhase<'_>, results: &mut PassResults, pass: Pass, stopped: &StopReason) {
    if let StopReason::Model(_) | StopReason::TimedOut = stopped {
        tracing::error!(pass = pass.name(), error = %stopped, "the model gave no answer");
    }
    let warning = format!("{NAME}: the pass '{}' gave no answer: {stopped}", pass.name());
    phase.warn(&warning);
    results.warnings.push(warning);
}

/// The built-in findings after the model's word on them. It may refute what the checks themselves are
/// not sure of, as long as no pass says otherwise; what they proved stands, whatever a text talks a
/// model into. Of what it was not shown it can say nothing.
pub(super) fn with_hint_opinions(
    hints: &[ReviewClaim],
    opinions: &[HintOpinion],
) -> Vec<ReviewClaim> {
    let mut with_hint_opinions = hints.to_vec();
    for (index, hint) in with_hint_opinions.iter_mut().enumerate().take(MAX_HINTS) {
        let id = hint_id(index);
        let own = || opinions.iter().filter(|opinion| opinion.id == id);
        let refuted = own().find(|opinion| !opinion.stands && !opinion.why.is_empty());
        let unproven = hint.verification.outcome == VerificationOutcome::Unverified;
        if let Some(opinion) = refuted.filter(|_| unproven && own().all(|it| !it.stands)) {
            hint.verification = Verification::refuted(format!("{NAME}: {}", opinion.why));
        }
    }
    with_hint_opinions
}

#[cfg(test)]
mod tests {
    use super::*;
    use mala_domain::change::LineSpan;
    use mala_domain::finding::{Category, Priority};

    fn hint() -> ReviewClaim {
        ReviewClaim {
            file: "a.py".into(),
            span: LineSpan::line(1),
            priority: Some(Priority::P1),
            category: Category::Bug,
            title: "t".to_owned(),
            body: String::new(),
            suggestion: None,
            evidence: None,
            confidence: 0.9,
            reviewer: "builtin".to_owned(),
            rule: Some("a/rule".to_owned()),
            verification: Verification::default(),
        }
    }

    #[test]
    fn a_hint_is_refuted_when_it_was_shown_and_no_pass_upholds_it() {
        let says = |id: &str, stands: bool, why: &str| HintOpinion {
            id: id.to_owned(),
            stands,
            why: why.to_owned(),
        };
        for (opinions, refuted) in [
            (vec![], None),
            (vec![says("h1", false, "fine")], Some(0)),
            (vec![says("h1", false, "")], None),
            (vec![says("h1", false, "fine"), says("h1", false, "")], Some(0)),
            (vec![says("h1", false, "fine"), says("h1", true, "")], None),
            (vec![says("h1", true, ""), says("h1", false, "fine")], None),
            (vec![says("h30", false, "fine")], Some(29)),
            (vec![says("h31", false, "not shown")], None),
        ] {
            let with_hint_opinions = with_hint_opinions(&vec![hint(); 40], &opinions);
            let found = with_hint_opinions
                .iter()
                .position(|hint| hint.verification.outcome == VerificationOutcome::Refuted);
            assert_eq!(found, refuted, "{opinions:?}");
        }
    }
}
