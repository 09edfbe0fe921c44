//! Comments on lines: which findings get one, on which lines, and which threads are resolved.

use super::{
    CommentLine, CommentedFinding, Discussion, ForgeWrite, InlineComment, InlineDraft,
    SummaryState, answered_command, finding_marker,
};
use crate::change::{Change, ChangedFile, FilePath, FileStatus, Hunk, LineKind, LineSpan};
use crate::finding::Finding;
use crate::render::markdown::render_inline;
use crate::report::Report;
use crate::verdict;
use std::collections::{BTreeMap, BTreeSet};

/// The most findings with a comment at a time; further ones are in the summary.
const MAX_COMMENTS: usize = 30;

/// A finding and its comment; `None` when its lines are not in the diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlineFinding {
    /// The id of the finding in the ledger, which stays when its file is renamed or its code edited.
    pub id: String,
    /// The identity of the finding in this review.
    pub key: String,
    /// The comment.
    pub draft: Option<InlineDraft>,
}

/// The comments to write on lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InlinePlan {
    /// The writes, in order.
    pub writes: Vec<ForgeWrite>,
    /// The identities of the findings that have no comment of their own.
    pub in_summary: Vec<String>,
    /// All findings whose lines the forge refused.
    pub rejected: Vec<String>,
    /// All threads that are resolved by mala after these writes.
    pub resolved: Vec<u64>,
}

/// The findings of a report that count, worst first, with their comments. `sources` are the files at head.
pub fn inline_findings(
    report: &Report,
    change: &Change,
    sources: &BTreeMap<FilePath, String>,
) -> Vec<InlineFinding> {
    let mut seen = BTreeSet::new();
    let counted = report.issues.iter().filter(|finding| verdict::counts(finding));
    let new = counted.filter(|finding| seen.insert(finding.dedupe_key.as_str()));
    let drafted = new.map(|finding| {
        let id = ledger_id(report, finding);
        let head = sources.get(&finding.file).map(String::as_str);
        let remembered = CommentedFinding::of(finding, &report.review_id);
        let draft = place(change, finding).and_then(|placed| {
            let file = change.file(&finding.file)?;
            let start = Some(placed.start()).filter(|_| placed.n_lines() > 1);
            let marker = finding_marker(&id, remembered.as_ref());
            // Forges show a copy as a new file.
            let old_path = file.old_path.clone().filter(|_| file.status != FileStatus::Copied);
            Some(InlineDraft {
                path: finding.file.clone(),
                old_path,
                start: start.and_then(|line| diff_line(file, line)),
                end: diff_line(file, placed.end())?,
                body: format!("{}{marker}", render_inline(finding, placed, head)),
            })
        });
        InlineFinding { id, key: finding.dedupe_key.to_string(), draft }
    });
    drafted.collect()
}

/// The id of a finding in the ledger; without a ledger, its identity.
fn ledger_id(report: &Report, finding: &Finding) -> String {
    let tracked = report.tracking.as_ref().and_then(|tracking| tracking.of_issue(finding));
    tracked.map_or_else(|| finding.dedupe_key.to_string(), |it| it.id.to_string())
}

/// The findings of a report that are still there without counting, such as waived ones, or that it could not check:
/// their threads stay.
pub fn set_aside(report: &Report) -> BTreeSet<String> {
    let tracking = report.tracking.iter();
    tracking
        .flat_map(|it| it.set_aside.iter().chain(&it.unknown))
        .map(|it| it.id.to_string())
        .collect()
}

/// The lines of the diff that a comment about this span can be on: those in one hunk, first and last.
/// A deleted file has none.
pub fn place(change: &Change, finding: &Finding) -> Option<LineSpan> {
    let file = change.file(&finding.file).filter(|file| file.exists_at_head())?;
    let span = finding.span();
    file.hunks.iter().filter_map(|hunk| overlap(hunk, span)).max_by_key(|lines| lines.n_lines())
}

fn overlap(hunk: &Hunk, span: LineSpan) -> Option<LineSpan> {
    let last = hunk.new_start.checked_add(hunk.new_lines)?.checked_sub(1)?;
    LineSpan::new(span.start().max(hunk.new_start).max(1), span.end().min(last))
}

/// A line at head, as the diff of its file has it; `None` if it is not in the diff.
fn diff_line(file: &ChangedFile, line: u32) -> Option<CommentLine> {
    for hunk in &file.hunks {
        let (mut old_line, mut at) = (hunk.old_start, hunk.new_start);
        for one in &hunk.lines {
            let is_added = one.kind == LineKind::Added;
            if at == line && one.kind != LineKind::Removed {
                return Some(match file.status {
                    FileStatus::Copied => CommentLine { line, old_line: 0, is_added: true },
                    _ => CommentLine { line, old_line, is_added },
                });
            }
            at += u32::from(one.kind != LineKind::Removed);
            old_line += u32::from(!is_added);
        }
    }
    None
}

/// The lines that replace those of a finding, if its suggestion is exactly one block of code, the comment
/// is on all of its lines, and the evidence is still these lines.
pub fn suggested_lines<'f>(finding: &'f Finding, placed: LineSpan, head: &str) -> Option<&'f str> {
    let suggestion = finding.suggestion.as_deref()?.trim();
    let (_, rest) = suggestion.strip_prefix("```")?.split_once('\n')?;
    let code = rest.strip_suffix("```")?.strip_suffix('\n')?;
    if placed != finding.span() || code.contains("```") {
        return None;
    }
    let skipped = usize::try_from(placed.start()).ok()?.checked_sub(1)?;
    let n_lines = usize::try_from(placed.n_lines()).ok()?;
    let current: Vec<&str> = head.lines().skip(skipped).take(n_lines).collect();
    let evidence: Vec<&str> = finding.evidence_snippet.lines().collect();
    let applies = current.len() == n_lines && current == evidence && current.join("\n") != code;
    applies.then_some(code)
}

/// The comments of a review on the lines of a pull request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InlineReview {
    /// The reviewed commit.
    pub head: String,
    /// The findings that count, worst first.
    pub findings: Vec<InlineFinding>,
    /// The ids of findings that are still there without counting.
    pub set_aside: BTreeSet<String>,
    /// Whether the whole change was reviewed: only then is a finding gone that is not reported.
    pub is_complete: bool,
}

/// The writes that the forge refused in this run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefusedWrites {
    /// The findings whose lines it does not accept.
    pub findings: BTreeSet<String>,
    /// The threads that the token may not resolve.
    pub threads: BTreeSet<u64>,
    /// The comments of other accounts that the token may not change.
    pub comments: BTreeSet<u64>,
}

/// Plans the comments on lines.
pub fn plan_inline(
    review: &InlineReview,
    discussion: &Discussion,
    before: &SummaryState,
    refused: &RefusedWrites,
) -> InlinePlan {
    let posted = posted(discussion);
    let before_refused = before.rejected.iter().filter(|_| before.head == review.head);
    let rejected: BTreeSet<&String> = before_refused.chain(&refused.findings).collect();
    let (drafts, in_summary) = divide(&review.findings, &posted, before, &rejected);
    let mut plan = InlinePlan {
        in_summary,
        rejected: rejected.into_iter().cloned().collect(),
        resolved: before.resolved.clone(),
        ..InlinePlan::default()
    };
    if !drafts.is_empty() {
        let commit = review.head.clone();
        plan.writes.push(ForgeWrite::CreateReview { commit, comments: drafts });
    }
    for comments in posted.values() {
        let copies = comments.iter().skip(1);
        let unanswered = copies.filter(|copy| {
            discussion.replies(copy.id).is_empty() && !refused.comments.contains(&copy.id)
        });
        plan.writes.extend(unanswered.map(|copy| ForgeWrite::DeleteInlineComment { id: copy.id }));
    }
    for first in finished_threads(review, discussion, &posted) {
        if before.resolved.contains(&first) || refused.threads.contains(&first) {
            continue;
        }
        if !discussion.resolved.iter().any(|thread| thread.first == first) {
            plan.writes.push(ForgeWrite::ResolveThread { id: first });
        }
        plan.resolved.push(first);
    }
    plan
}

/// Splits the findings into comments to add and findings with details in the summary: those without
/// a comment, and those that came back after mala resolved their thread.
fn divide(
    findings: &[InlineFinding],
    posted: &BTreeMap<&str, Vec<&InlineComment>>,
    before: &SummaryState,
    rejected: &BTreeSet<&String>,
) -> (Vec<InlineDraft>, Vec<String>) {
    let first = |finding: &InlineFinding| posted.get(finding.id.as_str())?.first().copied();
    let n_posted = findings.iter().filter(|finding| first(finding).is_some()).count();
    let room = MAX_COMMENTS.saturating_sub(n_posted);
    let (mut drafts, mut in_summary) = (Vec::new(), Vec::new());
    for finding in findings {
        match (first(finding), &finding.draft) {
            (Some(first), _) if !before.resolved.contains(&first.id) => {}
            (None, Some(draft)) if drafts.len() < room && !rejected.contains(&finding.id) => {
                drafts.push(draft.clone());
            }
            _ => in_summary.push(finding.key.clone()),
        }
    }
    (drafts, in_summary)
}

/// The first comments of threads whose finding is gone, whose lines changed, and whose last comment
/// is not by a person.
fn finished_threads(
    review: &InlineReview,
    discussion: &Discussion,
    posted: &BTreeMap<&str, Vec<&InlineComment>>,
) -> Vec<u64> {
    let current = review.findings.iter().map(|finding| &finding.id).chain(&review.set_aside);
    let current: BTreeSet<&str> = current.map(String::as_str).collect();
    let gone = posted.iter().filter(|(id, _)| review.is_complete && !current.contains(*id));
    let first = gone.filter_map(|(_, comments)| comments.first());
    let finished = first.filter(|first| first.is_outdated && !is_answered(discussion, first));
    finished.map(|first| first.id).collect()
}

/// Our comments about findings, by finding, oldest first.
fn posted(discussion: &Discussion) -> BTreeMap<&str, Vec<&InlineComment>> {
    let mut posted: BTreeMap<&str, Vec<&InlineComment>> = BTreeMap::new();
    for (comment, id) in discussion.threads() {
        posted.entry(id).or_default().push(comment);
    }
    posted.values_mut().for_each(|comments| comments.sort_by_key(|comment| comment.id));
    posted
}

/// Whether a person wrote the last comment of a thread.
fn is_answered(discussion: &Discussion, first: &InlineComment) -> bool {
    // A reply of our account without a marker is by the person who owns the account.
    let last = discussion.replies(first.id).pop();
    last.is_some_and(|last| !last.author.is_bot && answered_command(&last.body).is_none())
}
