//! Comments on lines: which findings get one, on which lines, and which threads are resolved.

use super::{
    CommentedFinding, Discussion, ForgeWrite, InlineComment, InlineDraft, SummaryState,
    answered_command, finding_marker,
};
use crate::change::{Change, ChangedFile, FilePath, Hunk, LineKind, LineSpan};
use crate::finding::Finding;
use crate::render::markdown::render_inline;
use crate::report::Report;
use crate::verdict;
use std::collections::{BTreeMap, BTreeSet};

/// The most comments of one review; further findings are in the summary.
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

/// What to write on lines.
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
        let draft = place(change, finding).map(|placed| InlineDraft {
            path: finding.file.clone(),
            start_line: (placed.n_lines() > 1).then_some(placed.start()),
            line: placed.end(),
            old_path: change.file(&finding.file).and_then(|file| file.old_path.clone()),
            old_line: change.file(&finding.file).and_then(|file| old_line(file, placed.end())),
            body: format!(
                "{}{}",
                render_inline(finding, placed, head),
                finding_marker(&id, remembered.as_ref())
            ),
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

/// The findings of a report that are still there without counting, such as waived ones: their threads stay.
pub fn set_aside(report: &Report) -> BTreeSet<String> {
    let tracking = report.tracking.iter();
    tracking.flat_map(|it| &it.set_aside).map(|it| it.id.to_string()).collect()
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

/// The number at base of a line at head; `None` if the line is added or not in the diff.
fn old_line(file: &ChangedFile, line: u32) -> Option<u32> {
    for hunk in &file.hunks {
        let (mut old, mut new) = (hunk.old_start, hunk.new_start);
        for one in &hunk.lines {
            match one.kind {
                LineKind::Context if new == line => return Some(old),
                LineKind::Context => (old, new) = (old + 1, new + 1),
                LineKind::Added => new += 1,
                LineKind::Removed => old += 1,
            }
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

/// What a review says about the lines of a pull request.
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

/// Plans the comments on lines. `rejected` are the findings whose lines the forge refused.
pub fn plan_inline(
    review: &InlineReview,
    discussion: &Discussion,
    before: &SummaryState,
    rejected: &BTreeSet<String>,
) -> InlinePlan {
    let InlineReview { head, findings, set_aside, is_complete } = review;
    let posted = posted(discussion);
    let mut plan = InlinePlan { resolved: before.resolved.clone(), ..InlinePlan::default() };
    let before_refused = before.rejected.iter().filter(|_| before.head == *head);
    let refused: BTreeSet<&String> = before_refused.chain(rejected).collect();
    let mut drafts = Vec::new();
    for finding in findings.iter().filter(|finding| !posted.contains_key(finding.id.as_str())) {
        match &finding.draft {
            Some(draft) if drafts.len() < MAX_COMMENTS && !refused.contains(&finding.id) => {
                drafts.push(draft.clone());
            }
            _ => plan.in_summary.push(finding.key.clone()),
        }
    }
    if !drafts.is_empty() {
        plan.writes.push(ForgeWrite::CreateReview { commit: head.clone(), comments: drafts });
    }
    let current: BTreeSet<&str> =
        findings.iter().map(|finding| &finding.id).chain(set_aside).map(String::as_str).collect();
    plan.rejected = refused.into_iter().cloned().collect();
    for (id, comments) in &posted {
        let (Some(first), copies) = (comments.first(), comments.iter().skip(1)) else { continue };
        let unanswered = copies.filter(|copy| discussion.replies(copy.id).is_empty());
        plan.writes.extend(unanswered.map(|copy| ForgeWrite::DeleteInlineComment { id: copy.id }));
        let is_gone = *is_complete && !current.contains(id) && first.is_outdated;
        let is_resolved = discussion.resolved.iter().any(|thread| thread.first == first.id);
        if !is_gone || before.resolved.contains(&first.id) || is_answered(discussion, first) {
            continue;
        }
        if !is_resolved {
            plan.writes.push(ForgeWrite::ResolveThread { id: first.id });
        }
        plan.resolved.push(first.id);
    }
    plan
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
