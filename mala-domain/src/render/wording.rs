//! The sentences that all outputs for people share: the verdict, the counts, what was covered and why
//! a change could not be reviewed.

use crate::change::FilePath;
use crate::finding::{Finding, Priority};
use crate::report::Report;
use crate::review::{Skip, SkipReason};
use crate::scope::{Head, Scope};
use crate::verdict::{self, NotReviewedReason, Outcome, Verdict};

/// The verdict in words: a word that machines and people find, and what it rests on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Headline {
    pub(super) word: &'static str,
    pub(super) reason: String,
}

/// The verdict of a report in words.
pub(super) fn headline(report: &Report) -> Headline {
    match report.outcome {
        Outcome::CouldNotReview(obstacle) => Headline {
            word: "COULD NOT REVIEW",
            reason: with_partial(why(report, obstacle), report),
        },
        Outcome::Passed | Outcome::Blocked => {
            let verdict = report.verdict.unwrap_or_else(|| Verdict::over(&report.issues));
            Headline { word: verdict.name(), reason: reason(report) }
        }
    }
}

/// Why the change could not be reviewed; `None` when it was.
pub(super) fn obstacle(report: &Report) -> Option<String> {
    match report.outcome {
        Outcome::CouldNotReview(obstacle) => Some(why(report, obstacle)),
        Outcome::Passed | Outcome::Blocked => None,
    }
}

/// How many findings of each priority count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    counts: [usize; 4],
}

impl Tally {
    /// Counts the findings that are not refuted.
    pub(super) fn of<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Self {
        let mut tally = Self::default();
        for finding in findings.into_iter().filter(|finding| verdict::counts(finding)) {
            if let Some(count) =
                tally.counts.get_mut(usize::from(finding.effective_priority().number()))
            {
                *count += 1;
            }
        }
        tally
    }

    /// The findings of this priority.
    pub(super) fn at(self, priority: Priority) -> usize {
        self.counts.get(usize::from(priority.number())).copied().unwrap_or_default()
    }

    /// All of them.
    pub(super) fn total(self) -> usize {
        self.counts.iter().sum()
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts: Vec<String> = Priority::ALL
            .into_iter()
            .filter(|priority| self.at(*priority) > 0)
            .map(|priority| format!("{} {priority}", self.at(priority)))
            .collect();
        f.write_str(&parts.join(", "))
    }
}

/// `1 finding`, `2 findings`.
pub(super) fn counted(n: usize, noun: &str) -> String {
    match n {
        1 => format!("1 {noun}"),
        n => format!("{} {noun}s", grouped(n)),
    }
}

/// A number with a comma between thousands.
pub(super) fn grouped(n: usize) -> String {
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

/// What was reviewed and what was not, in one sentence.
pub(super) fn coverage(report: &Report) -> String {
    let coverage = &report.coverage;
    let reviewed = coverage.files.iter().filter(|file| file.hunks_accounted > 0).count();
    let mut out = format!(
        "reviewed {} of {} in {}",
        grouped(coverage.hunks_accounted),
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

/// How many findings comments set aside; `None` when they set aside none.
pub(super) fn suppressed(report: &Report) -> Option<String> {
    match report.suppressed.len() {
        0 => None,
        n => Some(format!("{} suppressed by comments in the code", counted(n, "finding"))),
    }
}

/// The skipped files by reason, the most frequent reason first.
pub(super) fn skipped(report: &Report) -> Vec<(SkipReason, Vec<&Skip>)> {
    let mut groups: Vec<(SkipReason, Vec<&Skip>)> = Vec::new();
    for skip in &report.coverage.skipped {
        match groups.iter_mut().find(|(reason, _)| *reason == skip.reason) {
            Some((_, files)) => files.push(skip),
            None => groups.push((skip.reason, vec![skip])),
        }
    }
    groups.sort_by_key(|(reason, files)| (std::cmp::Reverse(files.len()), reason.name()));
    groups
}

/// The files with hunks that nobody accounts for, and how many.
pub(super) fn left_over(report: &Report) -> Vec<(&FilePath, usize)> {
    let files = report.coverage.files.iter();
    files
        .map(|file| (&file.file, file.hunks_given.saturating_sub(file.hunks_accounted)))
        .filter(|(_, left)| *left > 0)
        .collect()
}

/// A file for a message that belongs to none: the first one of the change.
pub(super) fn some_file(report: &Report) -> String {
    let reviewed = report.coverage.files.iter().map(|file| &file.file);
    let skipped = report.coverage.skipped.iter().map(|skip| &skip.file);
    let first = reviewed.chain(skipped).next();
    first.map_or_else(|| ".".to_owned(), |path| path.to_text().into_owned())
}

/// How much of a commit's name is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShaLength {
    Short,
    Full,
}

/// Exactly what was reviewed, in one sentence.
pub(super) fn scope(scope: &Scope, length: ShaLength) -> String {
    let cut = |sha: &str| match length {
        ShaLength::Short => sha.chars().take(12).collect(),
        ShaLength::Full => sha.to_owned(),
    };
    let base = scope.base.as_deref().map_or_else(|| "nothing".to_owned(), cut);
    let head = match &scope.head {
        Head::Commit(commit) => cut(commit),
        Head::Index => "the index".to_owned(),
        Head::WorkingTree => "the working tree".to_owned(),
        Head::Patch => "the patch".to_owned(),
    };
    format!(
        "{} ({base} to {head}), {}, {}, +{} -{}",
        scope.target,
        counted(scope.files, "file"),
        counted(scope.hunks, "hunk"),
        grouped(scope.lines.added),
        grouped(scope.lines.removed),
    )
}

/// The title of a finding, which also says when it does not count.
pub(super) fn title(finding: &Finding) -> String {
    let mark = if verdict::counts(finding) { "" } else { " (refuted: does not count)" };
    format!("{}{mark}", finding.title)
}

/// The name of what is behind a finding: its rule, or who says it of what kind.
pub(super) fn rule_id(finding: &Finding) -> String {
    match finding.rule.as_deref() {
        Some(rule) if !rule.trim().is_empty() => rule.to_owned(),
        _ => format!("{}/{}", finding.reviewer, finding.category),
    }
}

fn reason(report: &Report) -> String {
    let tally = Tally::of(&report.issues);
    let refuted = report.issues.len() - tally.total();
    if tally.total() == 0 {
        return match (report.coverage.hunks_given, report.scope.files, refuted) {
            (0, 0, 0) => "nothing to review: the change is empty".to_owned(),
            (0, _, 0) => "nothing to review: every changed file is skipped".to_owned(),
            (_, _, 0) => "no findings".to_owned(),
            (_, _, n) => format!("no findings that hold ({n} refuted)"),
        };
    }
    let refuted = if refuted > 0 { format!("; {refuted} refuted") } else { String::new() };
    let limit = report.fail_on.name();
    let blocking = report.issues.iter().filter(|finding| report.fail_on.blocks(finding)).count();
    match (report.outcome, limit) {
        (Outcome::Blocked, _) => {
            format!("{} at or above {limit} ({tally}{refuted})", counted(blocking, "finding"))
        }
        (_, "none") => {
            let total = counted(tally.total(), "finding");
            format!("{total}, and no threshold ({tally}{refuted}): does not block")
        }
        _ => {
            let total = counted(tally.total(), "finding");
            format!("{total}, none at or above {limit} ({tally}{refuted}): does not block")
        }
    }
}

fn why(report: &Report, obstacle: NotReviewedReason) -> String {
    let error = report.trouble();
    let words = match obstacle {
        NotReviewedReason::Incomplete => {
            let coverage = &report.coverage;
            return match error {
                Some(error) => error.to_owned(),
                None if !coverage.is_complete() => format!(
                    "{} of {} not reviewed",
                    grouped(coverage.hunks_given.saturating_sub(coverage.hunks_accounted)),
                    counted(coverage.hunks_given, "hunk")
                ),
                None => "the review is incomplete".to_owned(),
            };
        }
        NotReviewedReason::TimedOut => "time ran out",
        NotReviewedReason::NoReviewers => "nobody is there to review",
        NotReviewedReason::Internal => "mala itself failed",
    };
    match error {
        Some(error) if !(obstacle == NotReviewedReason::TimedOut && error == "timeout") => {
            format!("{words}: {error}")
        }
        _ => words.to_owned(),
    }
}

fn with_partial(why: String, report: &Report) -> String {
    let tally = Tally::of(&report.issues);
    match tally.total() {
        0 => why,
        n => format!("{why}; {} so far ({tally})", counted(n, "finding")),
    }
}

fn skip_count(reason: SkipReason, n: usize) -> String {
    match reason {
        SkipReason::Lock | SkipReason::Submodule => counted(n, reason.name()),
        SkipReason::DirtySubmodule => {
            format!("{} with uncommitted changes", counted(n, SkipReason::Submodule.name()))
        }
        SkipReason::Garbled => format!("{} with bytes that are no text", counted(n, "source")),
        SkipReason::NoLines => format!("{} with {}", grouped(n), reason.name()),
        _ => format!("{} {}", grouped(n), reason.name()),
    }
}
