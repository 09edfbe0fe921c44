//! Asks every lane, side by side. One lane's failure never cancels another.

use super::material::Told;
use super::supervise::{Desk, Panel};
use futures_util::future::join_all;
use mala_domain::change::Change;
use mala_domain::gate::answer::{self, LaneAnswer};
use mala_domain::gate::consensus::Absence;
use mala_domain::gate::lane::Lane;
use mala_domain::gate::prompt;
use mala_domain::gate::session::{Phase, Progress, Seat};
use mala_domain::ports::{LaneFailure, LaneOrder, LaneRun};
use mala_domain::review::Coverage;
use mala_domain::scope::Scope;
use std::sync::Mutex;
use std::time::Duration;

/// What one lane contributes.
pub(super) struct Heard {
    pub(super) lane: Lane,
    pub(super) answer: Result<LaneAnswer, LaneFailure>,
    pub(super) run: LaneRun,
    pub(super) coverage: Coverage,
}

/// Who was started and who is over, for those who look from outside.
pub(super) struct Roll<'p> {
    panel: &'p Panel<'p>,
    progress: Mutex<Progress>,
}

impl<'p> Roll<'p> {
    pub(super) fn new(panel: &'p Panel<'p>) -> Self {
        Self { panel, progress: Mutex::default() }
    }

    pub(super) fn phase(&self, phase: Phase) {
        self.note(|progress| progress.phase = phase);
    }

    fn note(&self, change: impl FnOnce(&mut Progress)) {
        let mut progress = match self.progress.lock() {
            Ok(progress) => progress,
            Err(poisoned) => poisoned.into_inner(),
        };
        change(&mut progress);
        (self.panel.show)(&progress);
    }
}

pub(super) async fn hear(desk: &Desk<'_>, scope: &Scope, roll: &Roll<'_>) -> Vec<Heard> {
    let Desk { panel, change, told, .. } = desk;
    let base = scope.base.as_deref().unwrap_or_default();
    let prompt = prompt::review(change, &told.briefs, base, &told.binding);
    let schema = answer::review_schema();
    let asked = panel.session.seats.iter().map(|seat| async {
        let run = match &seat.absent {
            Some(why) => absent(why),
            None => ask(desk, seat, &prompt, &schema, roll).await,
        };
        roll.note(|progress| progress.ended.push(seat.lane.name.clone()));
        judge(seat.lane.clone(), run, change, told)
    });
    join_all(asked).await
}

fn absent(why: &str) -> LaneRun {
    let failure = LaneFailure { absence: Absence::Unavailable, why: why.to_owned() };
    LaneRun { failure: Some(failure), ..LaneRun::default() }
}

async fn ask(
    desk: &Desk<'_>,
    seat: &Seat,
    prompt: &str,
    schema: &serde_json::Value,
    roll: &Roll<'_>,
) -> LaneRun {
    let Desk { panel, told, .. } = desk;
    let name = &seat.lane.name;
    let is_answer = |text: &str| answer::read(text, &told.binding, name).is_ok();
    let weighs = |text: &str| answer::objects(text, &told.binding);
    let started = || {
        roll.note(|progress| {
            progress.phase = Phase::Reviewing;
            progress.started.push(name.clone());
        });
    };
    let order = LaneOrder {
        lane: &seat.lane,
        question: "review",
        prompt,
        schema,
        reasoning: &panel.session.reasoning,
        wall: Duration::from_secs(panel.session.timeout_seconds),
        is_answer: &is_answer,
        weighs: &weighs,
        started: &started,
    };
    panel.runner.run(order).await
}

/// What a lane's run is worth: an answer that is bound, complete, and given without writing.
fn judge(lane: Lane, run: LaneRun, change: &Change, told: &Told) -> Heard {
    let read = run.answer.as_deref().map(|text| answer::read(text, &told.binding, &lane.name));
    let failure = |absence, why: String| Err(LaneFailure { absence, why });
    let answer = match (read, &run.failure) {
        (Some(Ok(answer)), None) if !run.wrote.is_empty() => failure(
            Absence::Unusable,
            format!(
                "it wrote to the tree that it reviews: {}; it says {}",
                run.wrote.join(", "),
                answer.verdict.name()
            ),
        ),
        (Some(Ok(answer)), None) => Ok(answer.inside(&run.roots, change)),
        (_, Some(known)) if !known.why.is_empty() => Err(known.clone()),
        (Some(Err(problem)), _) => failure(Absence::Unusable, problem.to_string()),
        (_, Some(known)) => Err(known.clone()),
        (None, None) => failure(Absence::Unusable, "no answer".to_owned()),
    };
    let accounted = answer.as_ref().map(|answer| answer.accounted.as_slice()).unwrap_or_default();
    let coverage = Coverage::over(change, accounted);
    Heard { lane, answer, run, coverage }
}
