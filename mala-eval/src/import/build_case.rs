//! Builds cases from drafts and their code. A problem about a missing file or line is skipped. A draft that
//! loses all of its problems is skipped too, because it is not clean.

use super::SkippedRecord;
use super::anchor::AnchorRegions;
use super::draft::{CaseDraft, DraftCode, DraftLocation, DraftProblem, ProblemFilter};
use crate::case::language_word;
use crate::case::{EvalCase, KnownProblem, SCHEMA_VERSION};
use crate::ports::IntroducedLine;
use mala_domain::change::{AddedLines, Change, FilePath, LineSpan};
use mala_domain::finding::{Category, Severity};
use mala_domain::secrets::redact;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

/// How much of a line is kept as evidence.
const MAX_EVIDENCE: usize = 200;

/// Both sides of a change.
#[derive(Debug, Clone, Default)]
pub struct ChangeSides {
    /// The change.
    pub change: Change,
    /// The same, as a unified diff.
    pub diff: String,
    /// The changed files at base.
    pub base: BTreeMap<FilePath, String>,
    /// The changed files at head, and those that claims name.
    pub head: BTreeMap<FilePath, String>,
    /// The commit at base, when there is one.
    pub base_id: Option<String>,
    /// The commit at head.
    pub head_id: String,
    /// The commit message.
    pub message: String,
}

impl ChangeSides {
    /// The same files without their secrets; the diff has to be made anew.
    #[must_use]
    pub fn redacted(mut self) -> Self {
        for text in self.base.values_mut().chain(self.head.values_mut()) {
            *text = redact(text).into_owned();
        }
        self.diff.clear();
        self
    }
}

/// The result of building a case.
#[derive(Debug, Clone, Default)]
pub struct DraftOutcome {
    /// The case, unless nothing is left of it.
    pub case: Option<EvalCase>,
    /// The skipped records.
    pub passed_over: Vec<SkippedRecord>,
}

/// A case whose files are all new; `None` when the code of the draft is elsewhere.
pub fn case_of_added_files(draft: CaseDraft) -> Option<DraftOutcome> {
    let DraftCode::Added(files) = &draft.code else { return None };
    let head = files.clone();
    let diff = head.iter().map(|(path, text)| added(path, text)).collect::<String>();
    let parsed = mala_domain::change::parse(diff.as_bytes());
    let change = Change { files: parsed.unwrap_or_default() };
    let mut outcome =
        build_case(draft, ChangeSides { change, diff, head, ..ChangeSides::default() });
    if let Some(case) = &mut outcome.case {
        case.base_files = None;
    }
    Some(outcome)
}

/// A case of this draft and its change.
pub fn build_case(mut draft: CaseDraft, sides: ChangeSides) -> DraftOutcome {
    let mut builder = CaseBuilder::new(draft.keep, &sides);
    let n_claims = draft.truths.len();
    let (claims, rejected) = (take(&mut draft.truths), take(&mut draft.rejected));
    let ground_truth = builder.truths(claims);
    let rejected_findings = builder.truths(rejected);
    let mut outcome = DraftOutcome { case: None, passed_over: builder.passed_over };
    let refuse = |outcome: &mut DraftOutcome, why: String| {
        outcome.passed_over.push(SkippedRecord { location: draft.location.clone(), why });
    };
    if sides.change.is_empty() {
        refuse(&mut outcome, "the change is empty".to_owned());
        return outcome;
    }
    if n_claims > 0 && ground_truth.is_empty() && draft.keep == ProblemFilter::All {
        refuse(&mut outcome, format!("none of its {n_claims} problems is in the code"));
        return outcome;
    }
    let case = assemble(&draft, sides, (ground_truth, rejected_findings));
    match case.problem() {
        Some(why) => refuse(&mut outcome, why),
        None => outcome.case = Some(case),
    }
    outcome
}

fn take(claims: &mut Vec<DraftProblem>) -> Vec<DraftProblem> {
    std::mem::take(claims)
}

fn assemble(
    draft: &CaseDraft,
    sides: ChangeSides,
    (truths, rejected): (Vec<KnownProblem>, Vec<KnownProblem>),
) -> EvalCase {
    let language = match draft.language.is_empty() {
        true => language_of(&sides.change),
        false => draft.language.clone(),
    };
    let (subject, body) = sides.message.split_once('\n').unwrap_or((&sides.message, ""));
    let (title, text) = match draft.title.is_empty() {
        true => (subject.trim().to_owned(), body.trim().to_owned()),
        false => (draft.title.clone(), String::new()),
    };
    let short: String = sides.head_id.chars().take(12).collect();
    let meta = draft.meta.clone();
    EvalCase {
        schema_version: SCHEMA_VERSION,
        id: if draft.id.is_empty() { format!("change-{short}") } else { draft.id.clone() },
        repo: draft.repo.clone(),
        language,
        pr_title: title,
        pr_description: text,
        diff: sides.diff,
        files: sides.head,
        base_files: Some(sides.base),
        ground_truth: truths,
        rejected_findings: rejected,
        tags: Vec::new(),
        complete_tree: false,
        meta: meta.with_commits(sides.base_id.as_deref(), Some(&sides.head_id)),
    }
}

/// The language of most changed lines.
pub(crate) fn language_of(change: &Change) -> String {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for file in change.files.iter().filter(|file| file.is_reviewable()) {
        if let Some(language) = file.language() {
            *counts.entry(language_word(language.name())).or_default() +=
                file.added_lines().count().max(1);
        }
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map_or("text", |(name, _)| name).to_owned()
}

struct CaseBuilder<'a> {
    keep: ProblemFilter,
    sides: &'a ChangeSides,
    regions: Option<AnchorRegions<'a>>,
    lines: HashMap<&'a FilePath, Vec<&'a str>>,
    added: HashMap<FilePath, AddedLines>,
    passed_over: Vec<SkippedRecord>,
}

impl<'a> CaseBuilder<'a> {
    fn new(keep: ProblemFilter, sides: &'a ChangeSides) -> Self {
        let (lines, added) = (HashMap::new(), HashMap::new());
        Self { keep, sides, regions: None, lines, added, passed_over: Vec::new() }
    }

    fn truths(&mut self, claims: Vec<DraftProblem>) -> Vec<KnownProblem> {
        let mut truths = Vec::new();
        for claim in claims {
            match self.truth(&claim) {
                Ok(truth) => truths.push(truth),
                Err(why) => self.passed_over.push(SkippedRecord { location: claim.location, why }),
            }
        }
        truths
    }

    fn truth(&mut self, claim: &DraftProblem) -> Result<KnownProblem, String> {
        let sides = self.sides;
        let (file, span) = match &claim.place {
            DraftLocation::Lines(file, span) => (file.clone(), *span),
            DraftLocation::Untold => {
                let regions = self.regions.get_or_insert_with(|| AnchorRegions::of(&sides.change));
                let found = regions.place(&claim.description);
                found.ok_or("no part of the change clearly matches its description")?
            }
        };
        if !file.stays_inside() {
            return Err(format!("{file} is not below the root of the tree"));
        }
        let there = sides.head.get_key_value(&file);
        let (path, text) = there.ok_or_else(|| format!("{file} does not exist at head"))?;
        let lines = self.lines.entry(path).or_insert_with(|| text.lines().collect());
        let first = lines.get(span.start() as usize - 1).copied();
        let first = first.ok_or_else(|| format!("{file} has no line {}", span.start()))?;
        let last = u32::try_from(lines.len()).unwrap_or(u32::MAX);
        let span = LineSpan::between(span.start(), span.end().min(last));
        if self.keep == ProblemFilter::OnChangedLines && !self.is_added(&file, span, &sides.change)
        {
            return Err("not on an added line".to_owned());
        }
        let evidence: String = first.trim().chars().take(MAX_EVIDENCE).collect();
        Ok(KnownProblem {
            file,
            line_start: span.start(),
            line_end: Some(span.end()),
            category: claim.category,
            severity: claim.severity,
            title: None,
            description: claim.description.clone(),
            source_type: claim.kind.clone(),
            evidence: (!evidence.is_empty()).then_some(evidence),
        })
    }

    fn is_added(&mut self, file: &FilePath, span: LineSpan, change: &Change) -> bool {
        let Some(changed) = change.file(file) else { return false };
        self.added.entry(file.clone()).or_insert_with(|| changed.added()).overlaps(span)
    }
}

/// A file that is new, as a unified diff.
fn added(path: &FilePath, text: &str) -> String {
    let n_lines = text.split_inclusive('\n').count();
    let range = if n_lines == 1 { "1".to_owned() } else { format!("1,{n_lines}") };
    let mut diff = format!("diff --git a/{path} b/{path}\nnew file mode 100644\n");
    if n_lines > 0 {
        // Writing to a string cannot fail.
        write!(diff, "--- /dev/null\n+++ b/{path}\n@@ -0,0 +{range} @@\n").unwrap_or_default();
    }
    for line in text.split_inclusive('\n') {
        diff.push('+');
        diff.push_str(line);
    }
    if !text.is_empty() && !text.ends_with('\n') {
        diff.push_str("\n\\ No newline at end of file\n");
    }
    diff
}

/// Settles on the commit that brought in most of the lines, the latest of those that did; its lines become
/// the problem of the draft. Gives that commit; `None` when no line has an origin.
pub fn choose_introducing_commit(
    draft: &mut CaseDraft,
    origins: &[IntroducedLine],
    fix: &str,
) -> Option<String> {
    let mut lines: BTreeMap<(&str, i64), usize> = BTreeMap::new();
    for origin in origins {
        *lines.entry((&origin.commit, origin.time)).or_default() += 1;
    }
    let most = lines.into_iter().max_by_key(|((_, time), count)| (*count, *time));
    let ((commit, _), _) = most?;
    let mut places: Vec<(&FilePath, u32)> = origins
        .iter()
        .filter(|origin| origin.commit == commit)
        .map(|origin| (&origin.file, origin.line))
        .collect();
    places.sort_unstable();
    places.dedup();
    let mut spans: Vec<(&FilePath, u32, u32)> = Vec::new();
    for (file, line) in places {
        match spans.last_mut() {
            // A line or two between them is still the same place.
            Some((last, _, end)) if *last == file && line <= end.saturating_add(3) => *end = line,
            _ => spans.push((file, line, line)),
        }
    }
    let fix = fix.lines().next().unwrap_or_default().trim();
    draft.truths = spans
        .into_iter()
        .map(|(file, start, end)| DraftProblem {
            location: draft.location.clone(),
            place: DraftLocation::Lines(file.clone(), LineSpan::between(start, end)),
            category: Category::Bug,
            severity: Some(Severity::High),
            description: format!("later fixed by: {fix}"),
            kind: None,
        })
        .collect();
    Some(commit.to_owned())
}
