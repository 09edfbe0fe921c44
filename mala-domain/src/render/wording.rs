//! Sentences that the formats share: verdict, counts, coverage, and why a review is incomplete.

use super::visible::at_most;
use crate::change::FilePath;
use crate::finding::{Finding, FindingPlace, Priority};
use crate::report::{Report, TrackingReport};
use crate::review::{SkipReason, SkippedFile};
use crate::scope::{HeadState, ScopeSummary};
use crate::verdict::{self, NotReviewedReason, Outcome, Verdict};

/// The verdict as a keyword and its reason.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct VerdictHeadline {
    pub(super) word: &'static str,
    pub(super) reason: String,
}

/// The verdict of a report.
pub(super) fn headline(report: &Report) -> VerdictHeadline {
    match report.outcome {
        Outcome::CouldNotReview(incomplete_reason) => VerdictHeadline {
            word: "COULD NOT REVIEW",
            reason: with_partial(why(report, incomplete_reason), report),
        },
        Outcome::Passed | Outcome::Blocked => {
            let verdict = report.verdict.unwrap_or_else(|| Verdict::over(&report.issues));
            VerdictHeadline { word: verdict.name(), reason: reason(report) }
        }
    }
}

/// Why the change could not be reviewed; `None` if it was.
pub(super) fn incomplete_reason(report: &Report) -> Option<String> {
    match report.outcome {
        Outcome::CouldNotReview(incomplete_reason) => Some(why(report, incomplete_reason)),
        Outcome::Passed | Outcome::Blocked => None,
    }
}

/// The number of findings per priority.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PriorityCounts {
    counts: [usize; 4],
}

impl PriorityCounts {
    /// Counts the findings that are not refuted.
    pub(super) fn of<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Self {
        let mut priority_counts = Self::default();
        for finding in findings.into_iter().filter(|finding| verdict::counts(finding)) {
            if let Some(count) =
                priority_counts.counts.get_mut(usize::from(finding.effective_priority().number()))
            {
                *count += 1;
            }
        }
        priority_counts
    }

    /// The number of findings with this priority.
    pub(super) fn at(self, priority: Priority) -> usize {
        self.counts.get(usize::from(priority.number())).copied().unwrap_or_default()
    }

    /// The number of all findings.
    pub(super) fn total(self) -> usize {
        self.counts.iter().sum()
    }
}

impl std::fmt::Display for PriorityCounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts: Vec<String> = Priority::ALL
            .into_iter()
            .filter(|priority| self.at(*priority) > 0)
            .map(|priority| format!("{} {priority}", self.at(priority)))
            .collect();
        f.write_str(&parts.join(", "))
    }
}

/// A number with its noun: `1 finding`, `2 findings`.
pub(super) fn counted(n: usize, noun: &str) -> String {
    match n {
        1 => format!("1 {noun}"),
        n => format!("{} {noun}s", with_commas(n)),
    }
}

/// A number with commas between thousands.
pub(super) fn with_commas(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// What was reviewed and what was skipped, in one sentence.
pub(super) fn coverage(report: &Report) -> String {
    let coverage = &report.coverage;
    let reviewed = coverage.files.iter().filter(|file| file.hunks_accounted > 0).count();
    let mut out = format!(
        "reviewed {} of {} in {}",
        with_commas(coverage.hunks_accounted),
        counted(coverage.hunks_given, "hunk"),
        counted(reviewed, "file"),
    );
    let skipped = skipped(report);
    if !skipped.is_empty() {
        let kinds: Vec<String> =
            skipped.iter().map(|(reason, files)| skip_count(*reason, files.len())).collect();
        out.push_str(&format!(
            "; skipped {}: {}",
            counted(coverage.skipped.len(), "file"),
            kinds.join(", ")
        ));
    }
    out
}

/// The number of suppressed findings; `None` if there are none.
pub(super) fn suppressed(report: &Report) -> Option<String> {
    match report.suppressed.len() {
        0 => None,
        n => Some(format!("{} suppressed by comments in the code", counted(n, "finding"))),
    }
}

/// The skipped files by reason, most frequent reason first.
pub(super) fn skipped(report: &Report) -> Vec<(SkipReason, Vec<&SkippedFile>)> {
    let mut groups: Vec<(SkipReason, Vec<&SkippedFile>)> = Vec::new();
    for skip in &report.coverage.skipped {
        match groups.iter_mut().find(|(reason, _)| *reason == skip.reason) {
            Some((_, files)) => files.push(skip),
            None => groups.push((skip.reason, vec![skip])),
        }
    }
    groups.sort_by_key(|(reason, files)| (std::cmp::Reverse(files.len()), reason.name()));
    groups
}

/// The files with unreviewed hunks, and their number.
pub(super) fn unreviewed(report: &Report) -> Vec<(&FilePath, usize)> {
    let files = report.coverage.files.iter();
    files
        .map(|file| (&file.file, file.hunks_given.saturating_sub(file.hunks_accounted)))
        .filter(|(_, left)| *left > 0)
        .collect()
}

/// A file for messages without a location: the first one of the change.
pub(super) fn some_file(report: &Report) -> String {
    let reviewed = report.coverage.files.iter().map(|file| &file.file);
    let skipped = report.coverage.skipped.iter().map(|skip| &skip.file);
    let first = reviewed.chain(skipped).next();
    first.map_or_else(|| ".".to_owned(), |path| path.to_text().into_owned())
}

/// How to print commit ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShaLength {
    Short,
    Full,
}

/// The scope of the review, in one sentence.
pub(super) fn scope(scope: &ScopeSummary, length: ShaLength) -> String {
    let cut = |sha: &str| match length {
        ShaLength::Short => sha.chars().take(12).collect(),
        ShaLength::Full => sha.to_owned(),
    };
    let base = scope.base.as_deref().map_or_else(|| "nothing".to_owned(), cut);
    let head = match &scope.head {
        HeadState::Commit(commit) => cut(commit),
        HeadState::Index => "the index".to_owned(),
        HeadState::WorkingTree => "the working tree".to_owned(),
        HeadState::Patch => "the patch".to_owned(),
    };
    format!(
        "{} ({base} to {head}), {}, {}, +{} -{}",
        scope.target,
        counted(scope.files, "file"),
        counted(scope.hunks, "hunk"),
        with_commas(scope.lines.added),
        with_commas(scope.lines.removed),
    )
}

/// The title of a finding, with a note if it is refuted.
pub(super) fn title(finding: &Finding) -> String {
    let mark = if verdict::is_refuted(finding) { " (refuted)" } else { "" };
    format!("{}{mark}", finding.title)
}

/// The rule of a finding or, without a rule, its reviewer and category.
pub(super) fn rule_id(finding: &Finding) -> String {
    match finding.rule.as_deref() {
        Some(rule) if !rule.trim().is_empty() => rule.to_owned(),
        _ => format!("{}/{}", finding.reviewer, finding.category),
    }
}

/// The model, calls, tokens, cost and time of a review by models; `None` if no model was called.
pub(super) fn usage(report: &Report) -> Option<String> {
    let stats = &report.stats;
    if stats.llm_calls == 0 && report.model_used.is_none() {
        return None;
    }
    let tokens = stats
        .tokens_used
        .map_or("unknown".to_owned(), |n| with_commas(usize::try_from(n).unwrap_or(usize::MAX)));
    let cost = stats.cost_usd.map_or("cost unknown".to_owned(), |cost| format!("${cost:.4}"));
    let model = report.model_used.as_deref().unwrap_or("no model answered");
    let calls = counted(usize::try_from(stats.llm_calls).unwrap_or(usize::MAX), "call");
    let seconds = stats.latency_seconds_e2e;
    Some(format!("{model}, {calls}, {tokens} tokens, {cost}, {seconds:.1}s"))
}

/// A note in one line.
pub(super) fn note(finding: &Finding) -> String {
    let title = at_most(&finding.title, 200);
    let place = format!("{}:{}", finding.file, finding.span());
    format!("{place} {} {title}", finding.effective_priority())
}

/// The places of a finding beside its own.
pub(super) fn places(places: &[FindingPlace]) -> String {
    const FEW: usize = 8;
    let mut words: Vec<String> = places.iter().take(FEW).map(ToString::to_string).collect();
    if places.len() > FEW {
        words.push(format!("{} more", places.len() - FEW));
    }
    words.join(", ")
}

/// A refuted finding in one line.
pub(super) fn refuted(finding: &Finding) -> String {
    let how = finding.verification.how.as_deref().unwrap_or("a check");
    let title = at_most(&finding.title, 200);
    let place = format!("{}:{}", finding.file, finding.line_start);
    format!("{place} {} {title} [{}]: {how}", finding.effective_priority(), rule_id(finding))
}

/// The ledger's data about the review, in one line.
pub(super) fn ledger(report: &Report) -> Option<String> {
    report.tracking.as_ref().and_then(TrackingReport::line)
}

fn reason(report: &Report) -> String {
    let priority_counts = PriorityCounts::of(&report.issues);
    let others = others(report);
    if priority_counts.total() == 0 {
        return match (report.coverage.hunks_given, report.scope.files, others.as_slice()) {
            (0, 0, []) => "nothing to review: the change is empty".to_owned(),
            (0, _, []) => "nothing to review: every changed file is skipped".to_owned(),
            (_, _, []) => "no findings".to_owned(),
            (_, _, others) => format!("no findings ({})", others.join(", ")),
        };
    }
    let others: String = others.iter().map(|words| format!("; {words}")).collect();
    let limit = report.fail_on.name();
    let blocking = report.issues.iter().filter(|finding| report.fail_on.blocks(finding)).count();
    match (report.outcome, limit) {
        (Outcome::Blocked, _) => {
            let total = counted(priority_counts.total(), "finding");
            let some = if blocking < priority_counts.total() {
                format!("{blocking} of {total}")
            } else {
                total
            };
            format!("{some} at or above {limit} ({priority_counts}{others})")
        }
        (_, "none") => {
            let total = counted(priority_counts.total(), "finding");
            format!("{total}, no threshold set ({priority_counts}{others}): does not block")
        }
        _ => {
            let total = counted(priority_counts.total(), "finding");
            format!("{total}, none at or above {limit} ({priority_counts}{others}): does not block")
        }
    }
}

/// The numbers of findings that do not count.
fn others(report: &Report) -> Vec<String> {
    let notes = Some(report.notes.len()).filter(|n| *n > 0).map(|n| counted(n, "note"));
    let refuted = Some(report.refuted.len()).filter(|n| *n > 0).map(|n| format!("{n} refuted"));
    notes.into_iter().chain(refuted).collect()
}

fn why(report: &Report, incomplete_reason: NotReviewedReason) -> String {
    let error = report.failure_reason();
    let words = match incomplete_reason {
        NotReviewedReason::Incomplete => {
            let coverage = &report.coverage;
            return match error {
                Some(error) => error.to_owned(),
                None if !coverage.is_complete() => format!(
                    "{} of {} not reviewed",
                    with_commas(coverage.hunks_given.saturating_sub(coverage.hunks_accounted)),
                    counted(coverage.hunks_given, "hunk")
                ),
                None => match report.tracking.as_ref().map_or(0, |it| it.unknown.len()) {
                    0 => "the review is incomplete".to_owned(),
                    n_unknown => format!(
                        "{} of an earlier review could not be checked",
                        counted(n_unknown, "open finding")
                    ),
                },
            };
        }
        NotReviewedReason::TimedOut => "timed out",
        NotReviewedReason::NoReviewers => "no reviewer available",
        NotReviewedReason::Internal => "internal error",
    };
    match error {
        Some(error)
            if !(incomplete_reason == NotReviewedReason::TimedOut && error == "timeout") =>
        {
            format!("{words}: {error}")
        }
        _ => words.to_owned(),
    }
}

fn with_partial(why: String, report: &Report) -> String {
    let priority_counts = PriorityCounts::of(&report.issues);
    match priority_counts.total() {
        0 => why,
        n => format!("{why}; {} so far ({priority_counts})", counted(n, "finding")),
    }
}

fn skip_count(reason: SkipReason, n: usize) -> String {
    match reason {
        SkipReason::Lock | SkipReason::Submodule => counted(n, reason.name()),
        SkipReason::DirtySubmodule => {
            format!("{} with uncommitted changes", counted(n, SkipReason::Submodule.name()))
        }
        SkipReason::Garbled => format!("{} with binary content", counted(n, "source file")),
        SkipReason::NoLines => format!("{} with {}", with_commas(n), reason.name()),
        _ => format!("{} {}", with_commas(n), reason.name()),
    }
}
