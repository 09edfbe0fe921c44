//! The judge of a run. Its model traffic is recorded beside that of the review.

use super::case_reviewer::CaseReviewer;
use crate::settings::UserModels;
use crate::wiring::models::Connections;
use crate::wiring::reviewers::{self, ReviewerOptions};
use mala_adapters::models::call_tracker::CaseCallTracker;
use mala_domain::agent::budget::Limits;
use mala_eval::judging::ask::judge;
use mala_eval::judging::candidates;
use mala_eval::store::runs::EvalRunFolder;
use mala_eval::{CaseRecord, CaseUsage, Judgement};
use std::path::PathBuf;

/// The judge and its limits.
pub struct JudgeSetup {
    /// The name of the model.
    pub model: String,
    /// The limits for one case.
    pub limits: Limits,
    /// Connections that all cases share.
    pub connections: Connections,
    /// The settings of models.
    pub models: UserModels,
}

impl CaseReviewer {
    /// Judges a reviewed case.
    pub(super) async fn judge(
        &self,
        setup: &JudgeSetup,
        record: &CaseRecord,
        calls: Option<CaseCallTracker>,
    ) -> Judgement {
        let wanted = candidates(record);
        if wanted.pairs.is_empty() {
            let spent = CaseUsage::nothing();
            return Judgement { pairs: Vec::new(), left_out: wanted.left_out, spent };
        }
        let folder = |run: &EvalRunFolder| -> PathBuf {
            run.traffic(&record.set, &record.case, record.trial).join("judge")
        };
        let options = ReviewerOptions {
            replay: self.replay.as_ref().map(folder),
            resume: self.replay.is_none().then(|| folder(&self.run)),
            connections: Some(setup.connections.clone()),
            calls,
            ..ReviewerOptions::new(setup.models.clone())
        };
        match reviewers::client(&setup.model, &self.here, &options).await {
            Ok(client) => judge(&client, setup.limits, record).await,
            Err(error) => {
                let pairs = Judgement::undecided(&wanted.pairs, &format!("{error:#}"));
                let (left_out, spent) = (wanted.left_out, CaseUsage::nothing());
                Judgement { pairs, left_out, spent }
            }
        }
    }
}
