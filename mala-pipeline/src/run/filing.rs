//! The filing step: files findings as issues of the tracker, none of them twice.

use super::perform::StepContext;
use super::{StepTask, failed};
use mala_domain::run::filing::{
    FindingSource, SUMMARY_LABEL, finished_summaries, fixed_issues, plan,
};
use mala_domain::run::issue::{IssueDraft, IssueId, IssueKind, TrackerIssue};
use mala_domain::run::lifecycle::WorkEvent;
use mala_domain::run::triggers::TriggerKind;

impl StepContext<'_> {
    pub(super) async fn file(&self, task: &StepTask) -> Result<WorkEvent, WorkEvent> {
        let existing = self.ports.tracker.issues().await.map_err(failed)?;
        let trigger = task.key.trigger();
        let threshold = self.plan.rules.trigger(trigger).review.as_ref();
        let threshold = threshold.map(|review| review.finding_threshold);
        let mut summary = None;
        let linked_to = match &task.linked {
            Some(linked) => linked.clone(),
            None if task.work.findings.is_empty() => IssueId::new(""),
            None => {
                let found = self.summary_issue(task, &existing).await?;
                summary = Some(found.clone());
                found
            }
        };
        let reviewed = task.work.reviewed.as_ref();
        let source = FindingSource {
            trigger,
            linked_to: Some(linked_to),
            base: reviewed.map(|it| it.base.clone()).unwrap_or_default(),
            head: reviewed.map(|it| it.head.clone()).unwrap_or_default(),
            ledger_ids: reviewed.map(|it| it.ledger_ids.clone()).unwrap_or_default(),
        };
        let group_below = threshold.filter(|_| self.plan.group_findings);
        let plan = plan(&task.work.findings, &source, &existing, group_below);
        let mut issues: Vec<IssueId> = plan.known.into_iter().map(|(_, issue)| issue).collect();
        for (_, draft) in &plan.drafts {
            issues.push(self.ports.tracker.create(draft).await.map_err(failed)?);
        }
        let mut closed = fixed_issues(&task.work.filed, &task.work.findings, &source, &existing);
        for issue in &closed {
            let reason = format!("fixed in {}", source.head);
            self.ports.tracker.close(issue, &reason).await.map_err(failed)?;
        }
        if plan.drafts.is_empty() {
            closed.extend(self.close_summaries(&existing, &closed).await?);
        }
        Ok(WorkEvent::Filed { issues, summary, closed })
    }

    /// Closes the summary issues whose last finding was closed.
    pub(super) async fn close_summaries(
        &self,
        existing: &[TrackerIssue],
        closed: &[IssueId],
    ) -> Result<Vec<IssueId>, WorkEvent> {
        let summaries = finished_summaries(existing, closed);
        for issue in &summaries {
            let reason = "all of its findings are closed";
            self.ports.tracker.close(issue, reason).await.map_err(failed)?;
        }
        Ok(summaries)
    }

    /// The issue that findings of a run without epics are linked to. No coder works on it.
    async fn summary_issue(
        &self,
        task: &StepTask,
        existing: &[TrackerIssue],
    ) -> Result<IssueId, WorkEvent> {
        let marker = format!("Run: {}", task.run_id);
        let texts = |issue: &TrackerIssue| format!("{}\n{}", issue.notes, issue.body);
        let found =
            existing.iter().find(|issue| texts(issue).lines().any(|line| line.trim() == marker));
        if let Some(issue) = found {
            return Ok(issue.id.clone());
        }
        let short: String = task.run_id.chars().take(8).collect();
        let draft = IssueDraft {
            title: format!("Review findings of run {short}"),
            body: "Findings of the reviews of a whole run are linked to this issue.\n".to_owned(),
            notes: format!("Source: {}\n{marker}\n", TriggerKind::RunEnd),
            priority: 3,
            labels: vec![SUMMARY_LABEL.to_owned()],
            kind: IssueKind::Epic,
            ..IssueDraft::default()
        };
        self.ports.tracker.create(&draft).await.map_err(failed)
    }
}
