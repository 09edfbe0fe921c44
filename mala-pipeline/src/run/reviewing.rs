//! The review step: determines the range, skips reviews that are not needed, runs the reviewer, and
//! logs the events of the contract.

use super::perform::StepContext;
use super::progress::RunNotice;
use super::{StepTask, TriggerReviewRequest, failed};
use mala_domain::config::{Baseline, CodeReviewSettings};
use mala_domain::ports::RangeSummary;
use mala_domain::run::baseline::{
    BaselineCandidate, BaselineFacts, LARGE_DIFF_LINES, NO_COMMITS_TEXT, RangeSize, ReviewSkip,
    baseline_key, choose, large_diff_warning, range_size,
};
use mala_domain::run::lifecycle::{ReviewedRange, WorkEvent, WorkKey};
use mala_domain::run::outcome::{ReviewErrorKind, TriggerReview, of_report};
use mala_domain::run::review_log::{CumulativeEvent, LOG_TARGET, LogLevel};
use mala_domain::run::sensitive::is_sensitive;
use mala_domain::run::triggers::TriggerKind;
use std::sync::PoisonError;
use std::time::Instant;

/// A range to review.
struct ReviewRange {
    base: String,
    head: String,
    mode: Option<Baseline>,
    summary: RangeSummary,
}

impl StepContext<'_> {
    pub(super) async fn review(&self, task: &StepTask) -> Result<WorkEvent, WorkEvent> {
        let trigger = task.key.trigger();
        let settings = &self.plan.rules.trigger(trigger).review;
        let settings = settings.as_ref().ok_or_else(|| failed("the trigger has no review"))?;
        let range = match trigger {
            TriggerKind::SessionEnd => self.issue_range(task).await?,
            _ => self.cumulative_range(task, settings).await?,
        };
        let range = match range {
            Ok(range) => range,
            Err(skipped) => return Ok(skipped),
        };
        if let Some(mode) = range.mode {
            let (base, head) = (range.base.clone(), range.head.clone());
            log(trigger, &CumulativeEvent::Started { mode, base, head });
        }
        if let RangeSize::Large(lines) = range_size(&range.summary) {
            let (base, head) = (range.base.clone(), range.head.clone());
            let threshold = LARGE_DIFF_LINES;
            log(trigger, &CumulativeEvent::LargeDiff { lines, threshold, base, head });
            (self.ports.notices)(RunNotice::Warning(large_diff_warning(lines)));
        }
        Ok(self.ask(task, settings, range).await)
    }

    /// The commits of an issue.
    async fn issue_range(
        &self,
        task: &StepTask,
    ) -> Result<Result<ReviewRange, WorkEvent>, WorkEvent> {
        let Some((base, head)) = task.work.range.clone() else {
            tracing::info!(target: "cumulative_review", trigger_type = "session_end", "{LOG_TARGET}: {NO_COMMITS_TEXT}");
            return Ok(Err(skipped(ReviewSkip::NoCommits, "", "")));
        };
        let summary = self.ports.main_line.range(&base, &head).await.map_err(failed)?;
        Ok(Ok(ReviewRange { base, head, mode: None, summary }))
    }

    /// The range since the baseline of the trigger. A repeated review of the same fire starts at
    /// the same commit, so that open findings count again.
    async fn cumulative_range(
        &self,
        task: &StepTask,
        settings: &CodeReviewSettings,
    ) -> Result<Result<ReviewRange, WorkEvent>, WorkEvent> {
        let trigger = task.key.trigger();
        let head = self.ports.main_line.tip().await.map_err(failed)?;
        let facts = self.baseline_facts(task, settings, &head).await?;
        let choice = choose(&facts);
        if let Some(dropped) = &choice.dropped {
            tracing::warn!(target: "cumulative_review", trigger_type = %trigger, "{LOG_TARGET}: {dropped}");
        }
        if let Some(error) = &choice.error {
            tracing::error!(target: "cumulative_review", trigger_type = %trigger, "{LOG_TARGET}: {error}");
        }
        let earlier = task.work.reviewed.as_ref().filter(|it| it.review.advances_baseline());
        let base = earlier.map(|it| it.base.clone()).or(choice.commit);
        let Some(base) = base else {
            log(trigger, &CumulativeEvent::MissingBaseline { mode: choice.mode });
            return Ok(Err(skipped(ReviewSkip::BaselineNotFound, "", &head)));
        };
        let summary = self.ports.main_line.range(&base, &head).await.map_err(failed)?;
        if range_size(&summary) == RangeSize::Empty {
            let (base, head) = (base.clone(), head.clone());
            log(trigger, &CumulativeEvent::EmptyDiff { base: base.clone(), head: head.clone() });
            return Ok(Err(skipped(ReviewSkip::EmptyDiff, &base, &head)));
        }
        Ok(Ok(ReviewRange { base, head, mode: Some(choice.mode), summary }))
    }

    async fn baseline_facts(
        &self,
        task: &StepTask,
        settings: &CodeReviewSettings,
        head: &str,
    ) -> Result<BaselineFacts, WorkEvent> {
        let epic = match &task.key {
            WorkKey::Trigger(fire) => fire.epic.as_ref(),
            WorkKey::Issue(_) => None,
        };
        let (last, start) = {
            let metadata = self.metadata.lock().unwrap_or_else(PoisonError::into_inner);
            let key = baseline_key(task.key.trigger(), epic);
            let last =
                key.and_then(|key| metadata.last_cumulative_review_commits.get(&key).cloned());
            (last, metadata.run_start_commit.clone())
        };
        let candidate = async |commit: Option<String>| match commit {
            None => Ok(None),
            Some(commit) => {
                let reach = self.ports.main_line.reach(&commit, head).await.map_err(failed)?;
                Ok(Some(BaselineCandidate { commit, reach }))
            }
        };
        let last_review = candidate(last).await?;
        let run_start = candidate(start).await?;
        Ok(BaselineFacts { mode: settings.baseline, last_review, run_start })
    }

    async fn ask(
        &self,
        task: &StepTask,
        settings: &CodeReviewSettings,
        range: ReviewRange,
    ) -> WorkEvent {
        let trigger = task.key.trigger();
        let started = Instant::now();
        let request = TriggerReviewRequest {
            trigger,
            work: format!("{} of run {}", task.key, task.run_id),
            issue: match &task.key {
                WorkKey::Issue(id) => Some((id.clone(), task.work.n_reviews)),
                WorkKey::Trigger(_) => None,
            },
            settings: settings.clone(),
            base: range.base.clone(),
            head: range.head.clone(),
            tasks: tasks(task, &range.summary),
        };
        let mut reviewed =
            ReviewedRange::new(TriggerReview::Completed(Vec::new()), range.base, range.head);
        match self.ports.reviews.review(&request).await {
            Ok(report) => {
                reviewed.review = of_report(&report);
                reviewed.log.clone_from(&report.review_log_path);
                reviewed.cost_usd = report.stats.cost_usd;
                let files = report.coverage.files.iter().map(|file| file.file.to_string());
                reviewed.sensitive_files = files.filter(|file| is_sensitive(file)).collect();
                let tracked = report.tracking.iter().flat_map(|tracking| &tracking.issues);
                let names = report.reviewers.iter().map(|it| it.reviewer.clone());
                reviewed.reviewers = names.collect();
                for warning in &report.warnings {
                    if !reviewed.warnings.contains(warning) {
                        let shown = format!("{}: {warning}", task.key);
                        (self.ports.notices)(RunNotice::Warning(shown));
                        reviewed.warnings.push(warning.clone());
                    }
                }
                reviewed.ledger_ids = tracked
                    .map(|it| (it.dedupe_key.as_str().to_owned(), it.id.0.clone()))
                    .collect();
            }
            Err(error) => {
                let kind = ReviewErrorKind::Internal;
                reviewed.review =
                    TriggerReview::ExecutionError { kind, message: error.to_string() };
            }
        }
        if let TriggerReview::ExecutionError { kind, message } = &reviewed.review {
            let (kind, message) = (kind.name(), message.clone());
            log(trigger, &CumulativeEvent::ReviewerError { kind, message });
        }
        let status = reviewed.review.status();
        let findings = reviewed.review.findings().len();
        let milliseconds = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        log(trigger, &CumulativeEvent::Completed { status, findings, milliseconds });
        WorkEvent::ReviewEnded(Box::new(reviewed))
    }
}

/// The description of the task for the reviewer: the issue, and the commits of the range.
fn tasks(task: &StepTask, range: &RangeSummary) -> Vec<(String, String)> {
    let issue = task
        .issue
        .as_ref()
        .map(|issue| (format!("issue {}", issue.id), format!("{}\n\n{}", issue.title, issue.body)));
    let commits = ("commits".to_owned(), range.commits.join("\n"));
    issue.into_iter().chain([commits]).collect()
}

fn skipped(reason: ReviewSkip, base: &str, head: &str) -> WorkEvent {
    let reviewed = ReviewedRange::new(TriggerReview::Skipped(reason), base, head);
    WorkEvent::ReviewEnded(Box::new(reviewed))
}

macro_rules! emit {
    ($level:expr, $line:expr, [$($field:ident),*]) => {{
        let value = |name: &str| {
            $line.fields.iter().find(|(it, _)| *it == name).map(|(_, value)| value.as_str())
        };
        tracing::event!(target: "cumulative_review", $level, $($field = value(stringify!($field)).map(tracing::field::display),)* "{LOG_TARGET}: {}", $line.message);
    }};
}

/// Writes an event to the log, with its fields under their own names.
pub(super) fn log(trigger: TriggerKind, event: &CumulativeEvent) {
    let line = event.line(trigger);
    macro_rules! at_level {
        ($level:expr) => {
            emit!(
                $level,
                line,
                [
                    trigger_type,
                    baseline_mode,
                    diff_lines,
                    threshold,
                    baseline_sha,
                    head_sha,
                    skip_reason,
                    status,
                    finding_count,
                    duration_ms,
                    old_baseline,
                    new_baseline,
                    error_type,
                    error_message
                ]
            )
        };
    }
    match line.level {
        LogLevel::Error => at_level!(tracing::Level::ERROR),
        LogLevel::Warn => at_level!(tracing::Level::WARN),
        LogLevel::Info => at_level!(tracing::Level::INFO),
        LogLevel::Debug => at_level!(tracing::Level::DEBUG),
    }
}
