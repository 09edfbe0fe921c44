//! The result of a session as text: the verdict, the result of each reviewer, and why there is no
//! verdict.

use super::{GateLaneJson, GateResultJson, GateReviewerJson};
use crate::finding::Finding;
use crate::report::{Report, ReviewerReport, TrackingReport};
use crate::verdict::counts;

/// Describes a reviewer of a report, as in the result of a session.
pub fn reviewer_words(reviewer: &ReviewerReport, report: &Report) -> String {
    let name = &reviewer.reviewer;
    let counts = report.issues.iter().any(|issue| issue.is_reported_by(name));
    let tracking = report.tracking.as_ref().filter(|_| !counts);
    let aside = tracking.map(|it| it.aside_words(name)).unwrap_or_default();
    let refuted_by = GateLaneJson::of(reviewer, report).refuted_by;
    words(&GateReviewerJson::of(reviewer, report), &refuted_by, aside)
}

fn words(reviewer: &GateReviewerJson, refuted_by: &[String], mut aside: Vec<&str>) -> String {
    let verdict = match (&reviewer.verdict, &reviewer.error) {
        (Some(verdict), _) => verdict.name(),
        (None, Some(error)) => return format!("no vote: {error}"),
        (None, None) => return "no vote".to_owned(),
    };
    match (aside.is_empty(), refuted_by) {
        (true, []) => verdict.to_owned(),
        (true, names) => format!("objected, refuted by {}", names.join(", ")),
        (false, refuted_by) => {
            aside.extend((!refuted_by.is_empty()).then_some("refuted"));
            format!("{verdict}, only {} findings", aside.join(" and "))
        }
    }
}

impl GateResultJson {
    /// The verdict, the votes, and how many findings do not block.
    pub fn headline(&self) -> String {
        let consensus = &self.consensus;
        let (verdict, rule) = (consensus.verdict.name(), consensus.rule);
        let (passes, needed) = (consensus.passes, consensus.needed);
        if needed == 0 {
            return verdict.to_owned();
        }
        let aside = self.report.tracking.as_ref().and_then(TrackingReport::not_blocking);
        let aside = aside.map(|it| format!("; not blocking: {it}")).unwrap_or_default();
        format!("{verdict} ({rule}: {passes} of {needed} needed passes{aside})")
    }

    /// The refuted findings, each once.
    pub fn refuted(&self) -> Vec<&Finding> {
        let mut refuted: Vec<&Finding> = Vec::new();
        for finding in self.reviewers.values().flat_map(|it| &it.issues).filter(|it| !counts(it)) {
            if !refuted.iter().any(|known| known.dedupe_key == finding.dedupe_key) {
                refuted.push(finding);
            }
        }
        refuted
    }

    /// Describes a reviewer: its verdict, why its objection does not count, or why it has no vote.
    pub fn says(&self, name: &str) -> String {
        let Some(reviewer) = self.reviewers.get(name) else { return "no vote".to_owned() };
        let refuted_by = self.report.reviewers.get(name).map(|lane| lane.refuted_by.as_slice());
        let counts = self.issues.iter().any(|issue| issue.is_reported_by(name));
        let tracking = self.report.tracking.as_ref().filter(|_| !counts);
        let aside = tracking.map(|it| it.aside_words(name)).unwrap_or_default();
        words(reviewer, refuted_by.unwrap_or_default(), aside)
    }

    /// Why there is no verdict, except for the reasons of single reviewers.
    pub fn problems(&self) -> impl Iterator<Item = &String> {
        let is_of = |error: &str, name: &String| {
            error.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(": "))
        };
        self.parse_errors
            .iter()
            .filter(move |error| !self.reviewers.keys().any(|it| is_of(error, it)))
    }
}
