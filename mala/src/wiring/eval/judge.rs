//! The judge of a run: a model that is asked about every case, with its own traffic beside that of the
//! review.

use super::bench::Bench;
use crate::wiring::models::Connections;
use crate::wiring::reviewers::{self, ReviewerOptions};
use mala_adapters::evals::RunFolder;
use mala_adapters::models::closing::CaseCalls;
use mala_domain::agent::budget::Limits;
use mala_domain::eval::judging::candidates;
use mala_domain::eval::{CaseRecord, CaseSpent, Judgement};
use mala_pipeline::eval::judge::judge;
use std::path::PathBuf;

/// Who judges, and within what.
pub struct JudgeDesk {
    /// The model, by a name that finds it.
    pub model: String,
    /// The limits for one case.
    pub limits: Limits,
    /// Connections that all cases share.
    pub connections: Connections,
}

impl Bench {
    /// Has a reviewed case judged.
    pub(super) async fn judge(
        &self,
        desk: &JudgeDesk,
        record: &CaseRecord,
        calls: Option<CaseCalls>,
    ) -> Judgement {
        let wanted = candidates(record);
        if wanted.pairs.is_empty() {
            let spent = CaseSpent::nothing();
            return Judgement { pairs: Vec::new(), left_out: wanted.left_out, spent };
        }
        let folder = |run: &RunFolder| -> PathBuf {
            run.traffic(&record.set, &record.case, record.trial).join("judge")
        };
        let options = ReviewerOptions {
            replay: self.replay.as_ref().map(folder),
            go_on: self.replay.is_none().then(|| folder(&self.run)),
            connections: Some(desk.connections.clone()),
            calls,
            ..ReviewerOptions::nothing()
        };
        match reviewers::client(&desk.model, &self.here, &options).await {
            Ok(client) => judge(&client, desk.limits, record).await,
            Err(error) => {
                let pairs = Judgement::undecided(&wanted.pairs, &format!("{error:#}"));
                let (left_out, spent) = (wanted.left_out, CaseSpent::nothing());
                Judgement { pairs, left_out, spent }
            }
        }
    }
}
