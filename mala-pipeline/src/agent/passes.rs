//! The passes over a change. Each looks at all of it in its own way; they share one budget and, where
//! the provider has one, one cached prompt.

use super::desk::Desk;
use super::plan;
use super::prepare::Prepared;
use super::stopped::Stopped;
use super::turns::{Tools, Topic, converse};
use crate::events::Event;
use futures_util::future::join_all;
use mala_domain::agent::NAME;
use mala_domain::agent::answer::{
    Answer, HintOpinion, ParseProblem, Rung, Words, objects, read_restructured, read_review,
    review_form,
};
use mala_domain::agent::brief::Brief;
use mala_domain::agent::budget::Profile;
use mala_domain::agent::judge;
use mala_domain::agent::prompts::{self, Pass};
use mala_domain::change::FilePath;
use mala_domain::conversation::{Form, Part};
use mala_domain::finding::Candidate;
use mala_domain::ports::ReviewerFailure;
use mala_domain::review::admit::none_holds;
use std::collections::HashSet;
use std::sync::OnceLock;

/// What all passes said.
#[derive(Default)]
pub(super) struct Told {
    pub(super) claims: Vec<Candidate>,
    pub(super) opinions: Vec<HintOpinion>,
    /// The hunks of the briefs that every pass has answered to.
    pub(super) accounted: Vec<(FilePath, Vec<usize>)>,
    pub(super) warnings: Vec<String>,
    /// Why nothing was answered.
    pub(super) failure: Option<ReviewerFailure>,
}

pub(super) async fn run(desk: &Desk<'_>, prepared: &Prepared) -> Told {
    let passes =
        plan::passes(desk.settings.profile, desk.context, &desk.context.surroundings.rules);
    let briefs = &prepared.briefs.briefs;
    let max_calls = plan::calls_per_pass(&desk.settings.limits, passes.len() * briefs.len());
    let jobs = briefs.iter().flat_map(|brief| passes.iter().map(move |pass| (brief, *pass)));
    let answers = join_all(jobs.enumerate().map(|(index, (brief, pass))| async move {
        if index > 0 {
            desk.account.until_warm().await;
        }
        let form = review_form(prepared.hints.len());
        let answer = review(desk, brief, pass, form, max_calls).await;
        desk.account.stop_waiting();
        (brief, pass, answer)
    }))
    .await;
    let mut told = fold(desk, answers);
    let unread: HashSet<_> =
        prepared.briefs.unread.iter().map(|(file, hunk)| (file, *hunk)).collect();
    for (file, hunks) in &mut told.accounted {
        hunks.retain(|hunk| !unread.contains(&(&*file, *hunk)));
    }
    told
}

async fn review(
    desk: &Desk<'_>,
    brief: &Brief,
    pass: Pass,
    form: Form,
    max_calls: u32,
) -> Result<Answer, Stopped> {
    desk.account.say(Event::PassStarted { pass: pass.name().to_owned() });
    let instruction = pass.instruction().trim_end().to_owned();
    let topic = Topic {
        label: pass.name(),
        speaker: &desk.settings.speaker,
        system: prompts::SYSTEM,
        opening: vec![Part::Repeated(brief.text.clone()), Part::Text(instruction)],
        form,
        tools: if desk.settings.profile == Profile::Quick { Tools::None } else { Tools::Offered },
        max_calls,
    };
    let objection = OnceLock::new();
    let read = |words: &Words<'_>| {
        let answer = read_review(words).and_then(|answer| grounded(desk, answer));
        upheld(answer, words, &objection)
    };
    let answer = match converse(desk, topic, read).await {
        // An answer that drops an objection needs no other form.
        Err(Stopped::Unreadable { problem, text })
            if objection.get().is_none() || objects(&words_of(desk, &text)) =>
        {
            restructure(desk, problem, text).await
        }
        other => other,
    }?;
    desk.account.note_rung(answer.rung);
    Ok(answer)
}

fn words_of<'t>(desk: &'t Desk<'_>, text: &'t str) -> Words<'t> {
    Words { text, form_enforced: false, nonce: desk.fence.nonce() }
}

/// The answer, unless it drops an objection that an answer before it made and that could not be read:
/// asked for its form, a model has not changed its mind. What was wrong with the objection stands.
fn upheld(
    answer: Result<Answer, ParseProblem>,
    words: &Words<'_>,
    objection: &OnceLock<ParseProblem>,
) -> Result<Answer, ParseProblem> {
    match (answer, objection.get()) {
        (Ok(answer), Some(problem)) if answer.claims.is_empty() => Err(problem.clone()),
        (Err(problem), _) if objects(words) => {
            objection.get_or_init(|| problem.clone());
            Err(problem)
        }
        (answer, _) => answer,
    }
}

/// An answer with a claim that may hold. One that objects to what is not there says nothing; files
/// outside the change are looked at later.
fn grounded(desk: &Desk<'_>, answer: Answer) -> Result<Answer, ParseProblem> {
    let (change, texts) = (&desk.context.change, &desk.context.texts);
    let claims = answer.claims.iter().map(|claim| &claim.candidate);
    if claims.clone().any(|claim| texts.at_head(&claim.file).is_none()) {
        return Ok(answer);
    }
    let claims: Vec<Candidate> =
        claims.map(|claim| judge::ground(claim.clone(), change, texts)).collect();
    match none_holds(&claims, change, texts) {
        Some(why) => Err(ParseProblem::InvalidEvidence(why)),
        None => Ok(answer),
    }
}

/// One more call that may bring an answer into form and never decides.
async fn restructure(
    desk: &Desk<'_>,
    problem: ParseProblem,
    original: String,
) -> Result<Answer, Stopped> {
    let stands = || Stopped::Unreadable { problem: problem.clone(), text: original.clone() };
    if desk.account.calls_left() == 0 || original.trim().is_empty() {
        return Err(stands());
    }
    let topic = Topic {
        label: "restructure",
        speaker: &desk.settings.speaker,
        system: prompts::RESTRUCTURE,
        opening: vec![Part::Text(desk.fence.around("review", &original))],
        form: Form::Text,
        tools: Tools::None,
        max_calls: 1,
    };
    let read = |words: &Words<'_>| read_restructured(&original, words, &problem);
    // Whatever comes of it, the problem of the original is what there is to say.
    converse(desk, topic, read).await.map_err(|_| stands())
}

type Answered<'b> = (&'b Brief, Pass, Result<Answer, Stopped>);

fn fold(desk: &Desk<'_>, answers: Vec<Answered<'_>>) -> Told {
    let mut told = Told::default();
    let first_failure = answers.iter().find_map(|(_, _, answer)| answer.as_ref().err()).cloned();
    let none_answered = answers.iter().all(|(_, _, answer)| answer.is_err());
    let complete: Vec<&Brief> = answers
        .iter()
        .map(|(brief, ..)| *brief)
        .filter(|brief| {
            let mut own = answers.iter().filter(|(other, ..)| std::ptr::eq(*other, *brief));
            own.all(|(.., answer)| answer.as_ref().is_ok_and(accounts))
        })
        .collect();
    for (index, brief) in complete.iter().enumerate() {
        if !complete.iter().take(index).any(|seen| std::ptr::eq(*seen, *brief)) {
            told.accounted.extend(brief.shown.iter().cloned());
        }
    }
    for (_, pass, answer) in answers {
        match answer {
            Ok(answer) => {
                if !accounts(&answer) {
                    desk.leave_undone(&format!(
                        "the pass '{}' accounts for nothing: another call brought its answer into \
                         form",
                        pass.name()
                    ));
                }
                told.claims.extend(answer.claims.into_iter().map(|claim| claim.candidate));
                told.opinions.extend(answer.hints);
                let dropped = answer.dropped.iter();
                told.warnings.extend(dropped.map(|why| format!("{NAME}: dropped {why}")));
            }
            Err(stopped) => warn(desk, &mut told, pass, &stopped),
        }
    }
    if none_answered {
        told.failure = first_failure.map(|stopped| stopped.failure());
    }
    told
}

/// Whether an answer says that what was shown is reviewed. One that another call brought into form may
/// have lost a finding or its priority on the way: it can block and never pass.
fn accounts(answer: &Answer) -> bool {
    answer.rung != Rung::Restructured
}

fn warn(desk: &Desk<'_>, told: &mut Told, pass: Pass, stopped: &Stopped) {
    if let Stopped::Model(_) | Stopped::TimedOut = stopped {
        tracing::error!(pass = pass.name(), error = %stopped, "the model gave no answer");
    }
    let warning = format!("{NAME}: the pass '{}' gave no answer: {stopped}", pass.name());
    desk.warn(&warning);
    told.warnings.push(warning);
}
