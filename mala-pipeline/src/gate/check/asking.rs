//! Asks one lane about findings of others, some at a time, while the time lasts.

use crate::gate::supervise::Desk;
use mala_domain::agent::answer::{Check, check_of};
use mala_domain::finding::{Finding, Verification};
use mala_domain::gate::answer;
use mala_domain::gate::check::{by_lane, unchecked};
use mala_domain::gate::lane::Lane;
use mala_domain::gate::prompt;
use mala_domain::ports::LaneOrder;
use mala_domain::review::Usage;
use std::time::{Duration, Instant};

/// How many findings a lane is asked about at once.
const MAX_CLAIMS: usize = 30;

/// A lane that checks.
pub(super) struct Asking<'a> {
    pub(super) desk: &'a Desk<'a>,
    pub(super) lane: &'a Lane,
    /// How many questions it was asked.
    pub(super) n_asked: usize,
    /// When all checks are to be over.
    pub(super) end: Instant,
}

/// What a lane says of the findings that it is asked about.
#[derive(Default)]
pub(super) struct Asked {
    pub(super) outcomes: Vec<(usize, Verification)>,
    pub(super) usage: Vec<(String, Usage)>,
    pub(super) warnings: Vec<String>,
    /// The lane, when it did not answer.
    pub(super) silent: Option<String>,
}

impl Asking<'_> {
    /// Asks about all of these findings. What it does not answer to stays as it is, and blocks.
    pub(super) async fn ask_all(&mut self, claims: Vec<(usize, Finding)>) -> Asked {
        let name = &self.lane.name;
        let mut asked = Asked::default();
        let mut trouble: Option<String> = None;
        for claims in claims.chunks(MAX_CLAIMS) {
            let wall = self.end.saturating_duration_since(Instant::now());
            let said = match trouble.take() {
                Some(why) => Err(why),
                None if wall.is_zero() => Err(format!("{name} has no time left")),
                None => {
                    self.n_asked += 1;
                    self.ask(claims, wall, &mut asked).await
                }
            };
            asked.outcomes.extend(claims.iter().map(|(index, finding)| {
                let mut finding = finding.clone();
                match &said {
                    Ok(checks) => {
                        by_lane(&mut finding, check_of(checks, &id(*index)).as_ref(), name);
                    }
                    Err(why) => finding.verification = unchecked(why),
                }
                (*index, finding.verification)
            }));
            trouble = said.err();
        }
        asked.silent = trouble.map(|_| name.clone());
        asked
    }

    /// What it says of these; why it says nothing that counts.
    async fn ask(
        &self,
        claims: &[(usize, Finding)],
        wall: Duration,
        asked: &mut Asked,
    ) -> Result<Vec<Check>, String> {
        let Desk { panel, change, told, .. } = self.desk;
        let name = &self.lane.name;
        let files: Vec<_> = claims.iter().map(|(_, finding)| &finding.file).collect();
        let brief = told.brief_of(change, &files);
        let named: Vec<(String, &Finding)> =
            claims.iter().map(|(index, finding)| (id(*index), finding)).collect();
        let text = prompt::check(&brief, &named, &told.binding);
        let schema = answer::check_schema();
        let question = match self.n_asked {
            1 => "check".to_owned(),
            n => format!("check-{n}"),
        };
        let order = LaneOrder {
            lane: self.lane,
            question: &question,
            prompt: &text,
            schema: &schema,
            reasoning: &panel.session.reasoning,
            wall,
            is_answer: &|text| answer::read_check(text, &told.binding).is_ok(),
            weighs: &|text| answer::speaks_of_claims(text, &told.binding),
            started: &|| {},
        };
        let run = panel.runner.run(order).await;
        asked.usage.push((name.clone(), run.usage));
        asked.warnings.extend(run.wrote.iter().map(|file| format!("{name}: wrote {file}")));
        if !run.wrote.is_empty() {
            return Err(format!("{name} wrote to the tree"));
        }
        let failure = run.failure.map(|failure| failure.why).filter(|why| !why.is_empty());
        match (failure, run.answer) {
            (Some(why), _) => Err(format!("{name}: {why}")),
            (None, Some(text)) => {
                let read = answer::read_check(&text, &told.binding);
                read.map_err(|problem| format!("{name}: {problem}"))
            }
            (None, None) => Err(format!("{name}: no answer")),
        }
    }
}

fn id(index: usize) -> String {
    format!("c{}", index + 1)
}
