//! The review of one case: the review use case over the case's repository, and its report as a record.

use crate::{BaseOrigin, CaseRecord, CaseUsage, EvalCase, Prediction};
use mala_domain::change::{Change, FilePath, parse};
use mala_domain::ports::{
    Blob, BoxFuture, History, Repository, RepositoryError, ReviewScope, ScopeError, Search, Side,
    WordHit, WordQuery,
};
use mala_domain::report::Report;
use mala_domain::review::ReviewPlan;
use mala_domain::verdict::Outcome;
use mala_pipeline::review::{ReviewPorts, review};
use std::sync::Arc;

/// Everything that the review of a case needs.
pub struct PreparedReview<'r> {
    /// How the change is reviewed.
    pub plan: ReviewPlan,
    /// The change in its repository.
    pub scope: ReviewScope,
    /// The reviewers and the verifiers of their findings.
    pub ports: ReviewPorts<'r>,
    /// The origin of the files at base.
    pub base: BaseOrigin,
    /// Remarks about the case's files.
    pub notes: Vec<String>,
}

/// Reviews a case and records the result.
pub async fn review_case(
    prepared: PreparedReview<'_>,
    (set, case, trial): (&str, &EvalCase, u32),
) -> Result<CaseRecord, ScopeError> {
    let PreparedReview { plan, scope, ports, base, notes } = prepared;
    let change = case.own_change().unwrap_or_else(|| Change::clone(&scope.change));
    let report = review(&plan, scope, &ports, &|_| {}).await?.report;
    let mut record = CaseRecord::open(set, case, trial, &change);
    record.base = base;
    record.notes = notes;
    fill(&mut record, &report);
    Ok(record)
}

impl EvalCase {
    /// The change that the case's own diff shows.
    pub fn own_change(&self) -> Option<Change> {
        let files = parse(self.diff.as_bytes()).ok()?;
        (!files.is_empty()).then_some(Change { files })
    }
}

fn fill(record: &mut CaseRecord, report: &Report) {
    record.predictions =
        report.issues.iter().chain(&report.refuted).map(Prediction::from).collect();
    record.minor_predictions = report.notes.iter().map(Prediction::from).collect();
    if let Outcome::CouldNotReview(_) = report.outcome {
        let why = report.failure_reason().unwrap_or(&report.summary).to_owned();
        record.could_not_review = Some(why);
    }
    record.notes.extend(report.warnings.iter().cloned());
    let stats = &report.stats;
    record.spent = CaseUsage {
        cost_usd: stats.cost_usd,
        tokens_used: stats.tokens_used,
        llm_calls: stats.llm_calls,
        tool_calls: stats.tool_calls,
        seconds: 0.0,
        seconds_llm: stats.latency_seconds_llm,
    };
}

/// The tree of a case that has only some files of its project.
pub struct PartialTree(pub Arc<dyn Repository>);

impl Repository for PartialTree {
    fn is_complete(&self) -> bool {
        false
    }

    fn read<'a>(
        &'a self,
        side: Side,
        paths: &'a [FilePath],
    ) -> BoxFuture<'a, Result<Vec<Blob>, RepositoryError>> {
        self.0.read(side, paths)
    }

    fn exist<'a>(
        &'a self,
        side: Side,
        paths: &'a [FilePath],
    ) -> BoxFuture<'a, Result<Vec<bool>, RepositoryError>> {
        self.0.exist(side, paths)
    }

    fn list<'a>(
        &'a self,
        side: Side,
        folder: &'a FilePath,
    ) -> BoxFuture<'a, Result<Vec<FilePath>, RepositoryError>> {
        self.0.list(side, folder)
    }

    fn find_words<'a>(
        &'a self,
        query: &'a WordQuery,
    ) -> BoxFuture<'a, Result<Vec<WordHit>, RepositoryError>> {
        self.0.find_words(query)
    }

    fn search(&self) -> Option<&dyn Search> {
        self.0.search()
    }

    fn history(&self) -> Option<&dyn History> {
        self.0.history()
    }
}
