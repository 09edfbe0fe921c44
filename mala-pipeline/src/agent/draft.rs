//! The drafts: one or two independent looks at every part of a change, and a follow-up for what they left out.
//! All conversations share one budget and the provider's prompt cache.

use super::edit;
use super::phase::AgentPhase;
use super::plan;
use super::prepare::PreparedPrompts;
use super::turns::{ConversationPlan, StopReason, ToolOffer, converse};
use crate::events::ReviewEvent;
use futures_util::{StreamExt, stream};
use mala_domain::agent::answer::{
    HintOpinion, ParseMethod, ParseProblem, RawAnswer, ReviewAnswer, is_milder, objection,
    read_restructured, read_review, review_format,
};
use mala_domain::agent::brief::{MAX_HINTS, PromptBrief, hint_id};
use mala_domain::agent::prompts::{self, Look};
use mala_domain::agent::{NAME, claims};
use mala_domain::change::FilePath;
use mala_domain::conversation::{AnswerFormat, TurnPart};
use mala_domain::finding::{Priority, ReviewClaim, Verification, VerificationOutcome};
use mala_domain::ports::{ReviewerFailure, Side};
use mala_domain::review::admit::reason_none_placed;
use mala_domain::verdict::Verdict;
use std::collections::HashSet;
use std::sync::OnceLock;

/// The results of all looks.
#[derive(Default)]
pub(super) struct DraftResults {
    pub(super) claims: Vec<ReviewClaim>,
    pub(super) opinions: Vec<HintOpinion>,
    /// The hunks that were reviewed.
    pub(super) accounted: Vec<(FilePath, Vec<usize>)>,
    pub(super) warnings: Vec<String>,
    /// Why no look has an answer.
    pub(super) failure: Option<ReviewerFailure>,
}

/// The most conversations at the same time, so that a change of many parts does not meet the rate limit
/// of its provider.
const MAX_AT_ONCE: usize = 8;

/// Reviews every part of the change with each look of the profile. The looks of a round are shown what the
/// rounds before it report.
pub(super) async fn run(phase: &AgentPhase<'_>, prepared: &PreparedPrompts) -> DraftResults {
    let rounds = plan::rounds(phase.settings.profile, &phase.settings.limits);
    let parts = &prepared.briefs.briefs;
    let n_looks: usize = rounds.iter().map(|looks| looks.len()).sum();
    let max_calls = plan::calls_per_look(&phase.settings.limits, n_looks * parts.len());
    let mut results = DraftResults::default();
    for looks in rounds {
        let mut asked = Vec::new();
        for look in *looks {
            for index in 0..parts.len() {
                let claims = &results.claims;
                asked.push(ask_part(
                    phase,
                    prepared,
                    LookAtPart { look: *look, index, claims, max_calls },
                ));
            }
        }
        let answers: Vec<_> = stream::iter(asked).buffered(MAX_AT_ONCE).collect().await;
        let mut answers = answers.into_iter();
        for look in *looks {
            results.add(phase, *look, parts, answers.by_ref().take(parts.len()).collect());
        }
        if results.failure.is_some() {
            break;
        }
    }
    let read = phase.hunks_read(&prepared.briefs.left_out);
    if results.failure.is_none() {
        results.accounted.extend(read);
    }
    let unread: HashSet<_> =
        prepared.briefs.unread.iter().map(|(file, hunk)| (file, *hunk)).collect();
    for (file, hunks) in &mut results.accounted {
        hunks.retain(|hunk| !unread.contains(&(&*file, *hunk)));
    }
    results
}

/// One look at one part.
struct LookAtPart<'c> {
    look: Look,
    /// The number of the part.
    index: usize,
    /// What the looks before it report.
    claims: &'c [ReviewClaim],
    max_calls: u32,
}

/// Asks for one look at one part. A follow-up is told the claims of the looks before it.
async fn ask_part(
    phase: &AgentPhase<'_>,
    prepared: &PreparedPrompts,
    asked: LookAtPart<'_>,
) -> Result<ReviewAnswer, StopReason> {
    let LookAtPart { look, index, claims, max_calls } = asked;
    let parts = &prepared.briefs.briefs;
    let Some(brief) = parts.get(index) else { return Err(StopReason::Silent) };
    let reported = match look {
        Look::First | Look::Second => String::new(),
        Look::FollowUp => phase.fence.wrap("findings", &reported(claims, parts, index)),
    };
    if index > 0 || look != Look::First {
        phase.account.wait_for_first_call().await;
    }
    let part = DraftPart { brief, number: index + 1, of: parts.len(), reported: &reported };
    let form = review_format(prepared.hints.len());
    let answer = review(phase, &part, look, form, max_calls).await;
    phase.account.mark_warm();
    answer
}

/// One part of a change.
struct DraftPart<'b> {
    brief: &'b PromptBrief,
    number: usize,
    of: usize,
    /// What earlier looks report.
    reported: &'b str,
}

/// The claims of earlier looks, a line each, without those in files that another part shows.
fn reported(claims: &[ReviewClaim], parts: &[PromptBrief], part: usize) -> String {
    let shows = |brief: &PromptBrief, it: &ReviewClaim| {
        brief.shown.iter().any(|(file, _)| *file == it.file)
    };
    let is_own = |it: &&ReviewClaim| {
        parts.get(part).is_some_and(|own| shows(own, it))
            || !parts.iter().any(|other| shows(other, it))
    };
    let own = claims.iter().filter(is_own);
    let lines: Vec<String> =
        own.map(|it| format!("{}:{} {}", it.file, it.span, it.title)).collect();
    if lines.is_empty() { "none".to_owned() } else { lines.join("\n") }
}

/// The prompt after the change: the questions and the budget.
fn instruction(
    phase: &AgentPhase<'_>,
    part: &DraftPart<'_>,
    look: Look,
    budget: (u32, u32),
) -> String {
    let mut text = String::new();
    if part.of > 1 {
        let (number, of) = (part.number, part.of);
        text.push_str(&format!(
            "The change is reviewed in {of} parts, and this is part {number}: report what you find \
             in it, and read files of other parts with the tools where you need them.\n"
        ));
    }
    text.push_str(look.instruction());
    if look == Look::First && edit::is_offered(&phase.settings.limits) {
        text.push_str(prompts::WIDE);
    }
    text.push_str(part.reported);
    text.push_str(&prompts::budget(budget.0, budget.1));
    text
}

async fn review(
    phase: &AgentPhase<'_>,
    part: &DraftPart<'_>,
    look: Look,
    form: AnswerFormat,
    max_calls: u32,
) -> Result<ReviewAnswer, StopReason> {
    phase.account.emit(ReviewEvent::PassStarted { pass: look.name().to_owned() });
    let n_tools = if max_calls > 1 { phase.account.tools_left() } else { 0 };
    let words = instruction(phase, part, look, (max_calls, n_tools));
    let conversation = |again: Option<String>| {
        let opening = [TurnPart::Repeated(part.brief.text.clone()), TurnPart::Text(words.clone())];
        ConversationPlan {
            label: look.name(),
            client: &phase.settings.client,
            system: prompts::SYSTEM,
            opening: opening.into_iter().chain(again.map(TurnPart::Text)).collect(),
            form: form.clone(),
            tools: ToolOffer::Offered,
            max_calls,
        }
    };
    let objected = OnceLock::new();
    let read = |raw: &RawAnswer<'_>| {
        let answer = read_review(raw)
            .map(|answer| with_resolved_paths(phase, answer))
            .and_then(|answer| require_evidence(phase, answer));
        keep_objection(answer, raw, &objected)
    };
    let mut answer = converse(phase, conversation(None), read).await;
    if let Some(problem) = files_not_there(phase, &answer).await
        && phase.account.calls_left() > 0
    {
        phase.note(&format!("{}: {problem}; asked again", look.name()));
        let again = prompts::retry(&problem.without_model_text());
        // Its claims count as an objection, even if they are invalid.
        objected.get_or_init(|| (Verdict::NeedsWork, problem));
        answer = converse(phase, conversation(Some(again)), read).await;
    }
    let answer = match answer {
        // An answer that drops an objection is not restructured.
        Err(StopReason::Unreadable { problem, text })
            if objected.get().is_none() || objection(&raw_answer(phase, &text)).is_some() =>
        {
            restructure(phase, problem, text).await
        }
        other => other,
    };
    let answer = match (answer, objected.get()) {
        (Err(StopReason::Unreadable { problem, .. }), Some(_)) => {
            return Err(StopReason::LostObjection(problem));
        }
        (Err(_), Some((_, problem))) if look != Look::First => {
            return Err(StopReason::LostObjection(problem.clone()));
        }
        (other, _) => other?,
    };
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

/// The problem of an answer whose claims all name files that do not exist at head.
async fn files_not_there(
    phase: &AgentPhase<'_>,
    answer: &Result<ReviewAnswer, StopReason>,
) -> Option<ParseProblem> {
    let claims = &answer.as_ref().ok()?.claims;
    let files: Vec<FilePath> = claims.iter().map(|claim| claim.candidate.file.clone()).collect();
    let (change, tree) = (&phase.context.change, &phase.context.tree);
    let first = files.first().filter(|_| !files.iter().any(|file| change.file(file).is_some()))?;
    let exist = tree.exist(Side::Head, &files).await.ok()?;
    let is_missing = tree.is_complete() && !exist.contains(&true);
    is_missing.then(|| ParseProblem::InvalidEvidence(format!("{first} does not exist")))
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

impl DraftResults {
    /// Adds the answers of one look, one per part. The first look decides which parts were reviewed.
    fn add(
        &mut self,
        phase: &AgentPhase<'_>,
        look: Look,
        parts: &[PromptBrief],
        answers: Vec<Result<ReviewAnswer, StopReason>>,
    ) {
        let first_failure = answers.iter().find_map(|answer| answer.as_ref().err()).cloned();
        let none_answered = answers.iter().all(Result::is_err);
        for (part, answer) in parts.iter().zip(answers) {
            match answer {
                Ok(answer) => {
                    if look == Look::First && accounts(&answer) {
                        self.accounted.extend(part.shown.iter().cloned());
                    }
                    if !accounts(&answer) {
                        phase.leave_undone(&format!(
                            "the {} accounts for nothing: another call brought its answer into form",
                            look.name()
                        ));
                    }
                    self.claims.extend(answer.claims.into_iter().map(|claim| claim.candidate));
                    self.opinions.extend(answer.hints);
                    let dropped = answer.dropped.iter();
                    self.warnings.extend(dropped.map(|why| format!("{NAME}: dropped {why}")));
                }
                Err(stopped) => {
                    // A problem that cannot be read is not outvoted by the other drafts.
                    if matches!(stopped, StopReason::LostObjection(_)) {
                        self.accounted.retain(|shown| !part.shown.contains(shown));
                    }
                    self.warn(phase, look, &stopped);
                }
            }
        }
        if none_answered && look == Look::First {
            self.failure = first_failure.map(|stopped| stopped.failure());
        }
    }

    fn warn(&mut self, phase: &AgentPhase<'_>, look: Look, stopped: &StopReason) {
        let warning = format!("the {} gave no answer: {stopped}", look.name());
        match stopped {
            StopReason::Model(_) | StopReason::TimedOut => {
                tracing::error!(look = look.name(), error = %stopped, "the model gave no answer");
            }
            _ => {}
        }
        match look {
            Look::First => {
                let warning = format!("{NAME}: {warning}");
                phase.warn(&warning);
                self.warnings.push(warning);
            }
            Look::Second | Look::FollowUp => phase.leave_undone(&warning),
        }
    }
}

/// Whether an answer counts as coverage. A restructured answer may have lost a finding, so it can
/// block but never pass.
fn accounts(answer: &ReviewAnswer) -> bool {
    answer.method != ParseMethod::Restructured
}

/// Applies the model's opinions to the built-in findings. The model may refute a finding that is
/// not urgent or not proven, if no look disagrees. It cannot refute a proven P0 or P1, because the
/// reviewed text may try to persuade it. Hints that it was not shown stay unchanged.
pub(super) fn with_hint_opinions(
    hints: &[ReviewClaim],
    opinions: &[HintOpinion],
) -> Vec<ReviewClaim> {
    let mut with_hint_opinions = hints.to_vec();
    for (index, hint) in with_hint_opinions.iter_mut().enumerate().take(MAX_HINTS) {
        let id = hint_id(index);
        let own = || opinions.iter().filter(|opinion| opinion.id == id);
        let refuted = own().find(|opinion| !opinion.stands && !opinion.why.is_empty());
        let is_proven = hint.verification.outcome != VerificationOutcome::Unverified;
        let is_fixed = is_proven && hint.priority.is_some_and(|it| it <= Priority::P1);
        if let Some(opinion) = refuted.filter(|_| !is_fixed && own().all(|it| !it.stands)) {
            hint.verification = Verification::refuted(format!("{NAME}: {}", opinion.why));
        }
    }
    with_hint_opinions
}

#[cfg(test)]
mod tests {
    use super::*;
    use mala_domain::change::LineSpan;
    use mala_domain::finding::Category;

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
    fn a_hint_is_refuted_when_it_was_shown_and_no_look_upholds_it() {
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

    #[test]
    fn an_urgent_finding_that_a_check_proved_stands() {
        let doubt = HintOpinion { id: "h1".to_owned(), stands: false, why: "fine".to_owned() };
        for (priority, verification, is_refuted) in [
            (Priority::P1, Verification::default(), true),
            (Priority::P1, Verification::verified("by the files"), false),
            (Priority::P2, Verification::verified("by the files"), true),
            (Priority::P3, Verification::verified("by the files"), true),
        ] {
            let own = ReviewClaim { priority: Some(priority), verification, ..hint() };
            let found = with_hint_opinions(&[own], std::slice::from_ref(&doubt));
            let outcome = found.first().expect("one").verification.outcome;
            assert_eq!(outcome == VerificationOutcome::Refuted, is_refuted, "{priority}");
        }
    }
}
