//! One round of a change: the known findings, what the round reviews, and how its findings relate
//! to earlier ones.

use super::admit::AdmittedClaims;
use super::context;
use super::delta::DeltaContext;
use super::track::ChangeTracking;
use super::verify::VerifiedFindings;
use mala_domain::change::{Change, FilePath, FileStatus, LineSpan};
use mala_domain::finding::{Finding, places};
use mala_domain::ledger::convergence::RoundSummary;
use mala_domain::ledger::delta::{Delta, ReviewedLines};
use mala_domain::ledger::reported_code::{FileAtHead, ReportedCode};
use mala_domain::ledger::rounds::{
    RoundCoverage, RoundFacts, RoundPlan, bar_of_round, bar_round, current_loop, last_complete,
    plan_round,
};
use mala_domain::ledger::track::{
    OpenFindingCheck, SilentReview, TrackingFacts, TrackingResult, check_open_finding, recognised,
    takes_part, track, unreported,
};
use mala_domain::ledger::{FindingId, LedgerFinding, ReviewRecord, TrackedFinding};
use mala_domain::ports::{
    Blob, FindingFilter, HistoryMoves, LedgerError, ReviewedCommits, Reviewer, ScopeError, Side,
};
use mala_domain::review::{
    Coverage, FileCoverage, FileTexts, Opinions, ReviewContext, ReviewPlan, ReviewerOpinion,
    SkipReason, SkippedFile,
};
use mala_domain::scope::{HeadState, ScopeSummary};
use mala_domain::secrets;
use mala_domain::verdict::{Threshold, counts};
use mala_syntax::parsed::parsed;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One round, with the data about the change from before the review.
pub(super) struct Round<'p> {
    pub(super) tracking: ChangeTracking<'p>,
    pub(super) plan: RoundPlan,
    pub(super) panel: String,
    /// The earlier rounds of the current loop.
    pub(super) earlier: Vec<RoundSummary>,
    pub(super) lines: ReviewedLines,
    /// The lines that are new since the last complete review by this panel, if there was one.
    pub(super) delta: Option<Delta>,
    bar: Threshold,
    /// Whether every reviewer reviews the whole change in every round; such rounds never escalate.
    pub(super) is_by_rules: bool,
    /// The names of the reviewers, and whether one of them also runs the built-in rules.
    reviewers: Vec<String>,
    runs_rules: bool,
    pub(super) today: String,
    pub(super) known: Vec<LedgerFinding>,
    renames: BTreeMap<FilePath, FilePath>,
    /// The known findings of this review, before duplicates are merged.
    pub(super) recognised: Vec<(FindingId, Finding)>,
    /// Findings that are still open and that no reviewer of this review reports.
    carried: BTreeSet<FindingId>,
    /// Findings that are fixed because they are gone, and why.
    pub(super) gone: Vec<(FindingId, &'static str)>,
    /// Findings whose code changed and for which this review cannot decide whether they are fixed.
    pub(super) unknown: Vec<LedgerFinding>,
}

impl<'p> Round<'p> {
    /// Looks up the change in the ledger.
    pub(super) async fn start(
        tracking: ChangeTracking<'p>,
        context: &ReviewContext,
        plan: &ReviewPlan,
        reviewers: &[Arc<dyn Reviewer>],
    ) -> Result<Self, LedgerError> {
        let records = tracking.ledger.reviews(tracking.subject).await?;
        let lines = ReviewedLines::of(&context.change);
        let mut renames = renames(context, &records, &lines).await;
        let known = known_findings(tracking, context, &renames).await?;
        for (old, new) in moved_files(&known, context).await {
            renames.entry(old).or_insert(new);
        }
        let panel = panel(plan, reviewers);
        let last = last_complete(&records, &panel, context.scope.base.as_deref());
        let between = |last: &ReviewRecord| Delta::between(&last.lines, &lines, &renames);
        let delta = last.map(between);
        let current_loop = current_loop(&records, &panel, context.scope.base.as_deref(), &lines);
        let moves = moves_since(last, tracking, context).await?;
        let files = context.change.files.iter();
        let facts = RoundFacts {
            n_earlier: u32::try_from(current_loop.len()).unwrap_or(u32::MAX),
            is_known: records.iter().any(|record| record.panel == panel),
            last_complete: last,
            has_new_lines: delta.as_ref().is_some_and(|delta| !delta.is_empty()),
            base: context.scope.base.as_deref(),
            is_rewritten: moves.is_rewritten,
            base_changed_files: files.map(|it| &it.path).any(|it| moves.base_files.contains(it)),
            full_requested: tracking.policy.full_requested,
            is_by_rules: reviewers.iter().all(|reviewer| reviewer.reviews_whole_change()),
        };
        let round = plan_round(&facts);
        let bar = bar_of_round(bar_round(&current_loop), &tracking.policy.bars);
        let earlier = current_loop.into_iter().map(rounds_summary).collect();
        let newest = records.iter().map(|record| record.at.as_str()).max().unwrap_or_default();
        // With a clock that was set back, a waiver would apply longer than intended.
        let today = tracking.at.max(newest).get(..10).unwrap_or_default().to_owned();
        Ok(Self {
            tracking,
            plan: round,
            panel,
            lines,
            delta,
            bar,
            is_by_rules: facts.is_by_rules,
            reviewers: reviewers.iter().map(|reviewer| reviewer.name().to_owned()).collect(),
            runs_rules: reviewers.iter().any(|reviewer| reviewer.runs_rules()),
            today,
            known,
            renames,
            recognised: Vec::new(),
            carried: BTreeSet::new(),
            gone: Vec::new(),
            unknown: Vec::new(),
            earlier,
        })
    }

    /// The input of reviewers, if it is not just the change: the open findings, and the new hunks.
    pub(super) fn delta_context(&self, context: &ReviewContext) -> Option<DeltaContext> {
        let open: Vec<&LedgerFinding> = unreported(&[], &self.facts(&context.texts))
            .into_iter()
            .filter(|it| it.finding.rule.is_none() || !self.has_rules_of(&it.finding))
            .collect();
        match self.reviewed_delta() {
            Some(delta) => Some(DeltaContext::of(context, delta, &open)),
            None if open.is_empty() => None,
            None => Some(DeltaContext::whole(context, &open)),
        }
    }

    /// Whether a reviewer runs the rules that reported a finding.
    fn has_rules_of(&self, finding: &Finding) -> bool {
        self.runs_rules || self.reviewers.contains(&finding.reviewer)
    }

    fn reviewed_delta(&self) -> Option<&Delta> {
        self.delta.as_ref().filter(|_| self.plan.coverage == RoundCoverage::Delta)
    }

    fn facts<'t>(&'t self, texts: &'t FileTexts) -> TrackingFacts<'t> {
        TrackingFacts {
            known: &self.known,
            renames: &self.renames,
            moved: self.delta.as_ref(),
            delta: self.reviewed_delta(),
            added: &self.lines,
            texts,
            bar: self.bar,
            shared_waivers: self.tracking.waivers,
            today: &self.today,
        }
    }

    /// Adds the open findings that this review did not report and that are still there.
    pub(super) async fn with_open(
        &mut self,
        mut admitted: AdmittedClaims,
        opinions: &Opinions,
    ) -> Result<AdmittedClaims, ScopeError> {
        self.look_up_elsewhere(&admitted.admission.findings).await;
        let open: Vec<LedgerFinding> =
            unreported(&admitted.admission.findings, &self.facts(&admitted.context.texts))
                .into_iter()
                .cloned()
                .collect();
        let paths = open.iter().map(|it| self.path_at_head(it));
        let missing: BTreeSet<FilePath> =
            paths.filter(|file| !admitted.context.texts.head.contains_key(file)).collect();
        let read = context::read(
            admitted.context.tree.as_ref(),
            Side::Head,
            missing.into_iter().collect(),
        )
        .await?;
        Arc::make_mut(&mut admitted.context.texts).head.extend(read);
        let mut heads = HeadFiles::default();
        for known in &open {
            let file = self.path_at_head(known);
            let head = heads.get(&file, &admitted.context.texts);
            let review = SilentReview {
                is_covered: is_covered(&file, &admitted.context.change, opinions),
                is_told: !self.is_by_rules,
                has_run_rules: self.has_rules_of(&known.finding)
                    || is_member(&known.finding.reviewer, opinions),
                is_in_change: self.lines.contains(&file),
            };
            let check = check_open_finding(&known.finding, head, review, |lines| {
                let symbol = symbol_around(&admitted.context, &file, lines);
                let now = head.map(|head| head.code_at(symbol));
                known.code.as_ref().zip(now).is_some_and(|(then, now)| {
                    match self.looked_everywhere(&known.finding) {
                        true => then.file != now.file,
                        false => then.symbol != now.symbol,
                    }
                })
            });
            let at = |lines: LineSpan| Finding {
                file: file.clone(),
                line_start: lines.start(),
                line_end: lines.end(),
                also_reported_by: with_reporter(&known.finding, opinions),
                ..known.finding.clone()
            };
            match check {
                OpenFindingCheck::StillOpen(lines) => {
                    self.carried.insert(known.id.clone());
                    admitted.admission.findings.push(at(lines));
                }
                OpenFindingCheck::Fixed(why) => self.gone.push((known.id.clone(), why)),
                OpenFindingCheck::Unknown => self.unknown.push(known.clone()),
                OpenFindingCheck::NotReviewed => {}
            }
        }
        let facts = self.facts(&admitted.context.texts);
        self.recognised = recognised(&admitted.admission.findings, &facts);
        Ok(admitted)
    }

    fn path_at_head(&self, known: &LedgerFinding) -> FilePath {
        self.renames.get(known.file()).unwrap_or(known.file()).clone()
    }

    /// Whether the rules that reported a finding ran on the whole change. A rule may stop reporting
    /// because of a change anywhere in the file; a model because the lines were not in its prompt.
    fn looked_everywhere(&self, finding: &Finding) -> bool {
        let is_given_everything =
            self.reviewed_delta().is_none() || self.reviewers.contains(&finding.reviewer);
        finding.rule.is_some() && is_given_everything
    }

    /// Looks up findings in files that are not part of the change: a change can break code elsewhere.
    async fn look_up_elsewhere(&mut self, findings: &[Finding]) {
        let files = findings.iter().map(|it| &it.file).filter(|file| !self.lines.contains(file));
        let files: BTreeSet<&FilePath> = files.collect();
        if files.is_empty() {
            return;
        }
        let files = files.into_iter().cloned().collect();
        let filter = FindingFilter { files, ..FindingFilter::default() };
        // A ledger that fails here fails again when the review is stored, which is a warning.
        let found = self.tracking.ledger.findings(&filter).await.unwrap_or_default();
        let ids: BTreeSet<FindingId> = self.known.iter().map(|it| it.id.clone()).collect();
        self.known.extend(found.into_iter().filter(|it| !ids.contains(&it.id)));
    }

    /// Recognises the findings; those that do not count leave the decision.
    pub(super) fn track(
        &self,
        mut verified: VerifiedFindings,
        review_id: &str,
    ) -> (VerifiedFindings, TrackingResult) {
        let findings = std::mem::take(&mut verified.admission.findings);
        let mut result = track(findings, &self.facts(&verified.context.texts));
        let mut heads = HeadFiles::default();
        for it in &mut result.tracked {
            if it.id.as_ref().is_none_or(|id| !self.carried.contains(id)) {
                it.code = reported_code(&it.finding, &verified.context, &mut heads);
            }
        }
        let deciding = result.tracked.iter().filter(|it| takes_part(it) || !counts(&it.finding));
        let seen = |it: &TrackedFinding| {
            let first_seen = it.finding.first_seen.clone();
            let first_seen = first_seen.or_else(|| Some(review_id.to_owned()));
            Finding { first_seen, ..it.finding.clone() }
        };
        verified.admission.findings = deciding.map(seen).collect();
        (verified, result)
    }
}

/// Files at head that findings are compared with, read once.
#[derive(Default)]
struct HeadFiles(BTreeMap<FilePath, Option<FileAtHead>>);

impl HeadFiles {
    fn get(&mut self, file: &FilePath, texts: &FileTexts) -> Option<&FileAtHead> {
        let read = || texts.at_head(file).map(|text| FileAtHead::of(file, text));
        self.0.entry(file.clone()).or_insert_with(read).as_ref()
    }
}

/// The code of a finding that this review reports.
fn reported_code(
    finding: &Finding,
    context: &ReviewContext,
    heads: &mut HeadFiles,
) -> Option<ReportedCode> {
    let head = heads.get(&finding.file, &context.texts)?;
    let lines = head.locate(&finding.evidence_snippet, finding.line_start);
    let lines = lines.unwrap_or(finding.span());
    Some(head.code_at(symbol_around(context, &finding.file, lines)))
}

/// The lines of the symbol around these lines; without one, the lines themselves.
fn symbol_around(context: &ReviewContext, file: &FilePath, lines: LineSpan) -> LineSpan {
    let parsed = parsed(context, Side::Head, file);
    let symbol = parsed.and_then(|it| it.outline().enclosing(lines.start()).map(|it| it.span));
    symbol.unwrap_or(lines)
}

/// Whether a reviewer is a member of a panel that reviewed.
fn is_member(reviewer: &str, opinions: &Opinions) -> bool {
    let has_member = |given: &ReviewerOpinion| {
        given.opinion.iter().any(|opinion| opinion.members.iter().any(|it| it.name == reviewer))
    };
    opinions.0.iter().any(has_member)
}

/// The ledger's findings that this review may report: those of earlier reviews of the change, which have a
/// standing in it, and those in its files.
async fn known_findings(
    tracking: ChangeTracking<'_>,
    context: &ReviewContext,
    renames: &BTreeMap<FilePath, FilePath>,
) -> Result<Vec<LedgerFinding>, LedgerError> {
    let subject = Some(tracking.subject.to_owned());
    let of_change = FindingFilter { subject, ..FindingFilter::default() };
    let mut known = tracking.ledger.findings(&of_change).await?;
    let of_change: BTreeSet<FindingId> = known.iter().map(|it| it.id.clone()).collect();
    let in_files = tracking.ledger.findings(&in_files_of(context, renames)).await?;
    known.extend(in_files.into_iter().filter(|it| !of_change.contains(&it.id)));
    Ok(known)
}

/// How the commits of the change moved since its last complete review.
async fn moves_since(
    last: Option<&ReviewRecord>,
    tracking: ChangeTracking<'_>,
    context: &ReviewContext,
) -> Result<HistoryMoves, LedgerError> {
    let Some(last) = last else { return Ok(HistoryMoves::default()) };
    let earlier = ReviewedCommits { base: last.base.as_deref(), head: last.head.as_deref() };
    tracking.history.moves(earlier, commits(&context.scope)).await
}

/// The reporters of a finding: at least one of the present reviewers, so that one of them votes on
/// it.
fn with_reporter(finding: &Finding, opinions: &Opinions) -> Vec<String> {
    let mut names = finding.also_reported_by.clone();
    let is_reporter =
        |given: &ReviewerOpinion| given.names().iter().any(|name| finding.is_reported_by(name));
    if !opinions.0.iter().any(is_reporter) {
        names.extend(opinions.0.first().map(|given| given.reviewer.clone()));
    }
    names
}

/// The ledger's findings in the files of a change.
fn in_files_of(context: &ReviewContext, renames: &BTreeMap<FilePath, FilePath>) -> FindingFilter {
    let files = context.change.files.iter().flat_map(|file| [&file.path, file.base_path()]);
    let files: BTreeSet<&FilePath> = files.chain(renames.keys()).collect();
    FindingFilter { files: files.into_iter().cloned().collect(), ..FindingFilter::default() }
}

/// Paths of files before and at head: those that the change renames, and those of its own files that were renamed
/// between its reviews. Reviews may have compared different commits: a file that is still there was not renamed.
async fn renames(
    context: &ReviewContext,
    records: &[ReviewRecord],
    lines: &ReviewedLines,
) -> BTreeMap<FilePath, FilePath> {
    // A copy leaves its original where it is.
    let files = context.change.files.iter().filter(|file| file.status == FileStatus::Renamed);
    let renamed = files.filter_map(|file| Some((file.old_path.clone()?, file.path.clone())));
    let mut renames: BTreeMap<FilePath, FilePath> = renamed.collect();
    // A path may have been renamed several times: the newest renames come first.
    let earlier = records.iter().flat_map(|record| record.lines.files());
    let left: BTreeSet<&FilePath> = earlier.filter(|file| !lines.contains(file)).collect();
    let left = left.into_iter().cloned().collect();
    let left = context::read(context.tree.as_ref(), Side::Head, left).await.unwrap_or_default();
    let is_gone = |file: &FilePath| left.get(file) == Some(&Blob::Missing);
    let mut later = lines;
    for record in records.iter().rev() {
        for (old, new) in record.lines.renamed_in(later, is_gone) {
            let at_head = renames.get(&new).cloned().unwrap_or(new);
            renames.entry(old).or_insert(at_head);
        }
        later = &record.lines;
    }
    renames
}

/// Renamed files without an earlier review: files with findings of this change that are gone, and
/// whose code is in exactly one added file without own findings.
async fn moved_files(
    known: &[LedgerFinding],
    context: &ReviewContext,
) -> BTreeMap<FilePath, FilePath> {
    let ours = known.iter().filter(|it| it.standing.is_some());
    let (there, ours): (Vec<&LedgerFinding>, Vec<&LedgerFinding>) =
        ours.partition(|it| context.texts.at_head(it.file()).is_some());
    let has_own = |file: &FilePath| there.iter().any(|it| it.file() == file);
    let files: BTreeSet<FilePath> = ours.iter().map(|it| it.file().clone()).collect();
    let read = context::read(context.tree.as_ref(), Side::Head, files.into_iter().collect()).await;
    // Without the tree, no file counts as moved.
    let read = read.unwrap_or_default();
    let gone = read.iter().filter(|(_, blob)| **blob == Blob::Missing).map(|(file, _)| file);
    let moved = gone.filter_map(|file| {
        let quotes: Vec<&Finding> =
            ours.iter().filter(|it| it.file() == file).map(|it| &it.finding).collect();
        let is_new = |status| matches!(status, FileStatus::Added | FileStatus::Copied);
        let added = context.change.files.iter().filter(|changed| is_new(changed.status));
        let added = added.filter(|changed| !has_own(&changed.path));
        let mut candidates = added.filter(|changed| {
            let text = context.texts.at_head(&changed.path).map(secrets::redact);
            let is_quoted =
                |text: &str, it: &Finding| !places(text, &it.evidence_snippet).is_empty();
            text.is_some_and(|text| quotes.iter().all(|it| is_quoted(&text, it)))
        });
        let only = candidates.next().filter(|_| candidates.next().is_none())?;
        Some((file.clone(), only.path.clone()))
    });
    moved.collect()
}

/// Whether all reviewers reviewed a file; false if a reviewer failed.
fn is_covered(file: &FilePath, change: &Change, opinions: &Opinions) -> bool {
    let is_accounted = |given: &ReviewerOpinion| {
        let (Ok(opinion), None) = (&given.opinion, given.failure()) else { return false };
        let coverage = Coverage::over(change, &opinion.accounted);
        let is_whole = |it: &FileCoverage| it.file != *file || it.hunks_accounted == it.hunks_given;
        let is_looked_at = |it: &SkippedFile| it.file != *file || it.reason == SkipReason::NoLines;
        coverage.files.iter().all(is_whole) && coverage.skipped.iter().all(is_looked_at)
    };
    opinions.0.iter().all(is_accounted)
}

/// The contribution of an earlier round.
fn rounds_summary(record: &ReviewRecord) -> RoundSummary {
    RoundSummary { is_complete: record.is_complete, ..record.summary.clone() }
}

/// The reviewers and their settings: the inputs of a review other than its change.
fn panel(plan: &ReviewPlan, reviewers: &[Arc<dyn Reviewer>]) -> String {
    let names: Vec<&str> = reviewers.iter().map(|reviewer| reviewer.name()).collect();
    let model = plan.model.as_deref().unwrap_or_default();
    format!("{} {model} {} {}", names.join(","), plan.budget_profile, plan.prompt_version)
}

/// The commits of a scope.
pub(super) fn commits(scope: &ScopeSummary) -> ReviewedCommits<'_> {
    let head = match &scope.head {
        HeadState::Commit(head) => Some(head.as_str()),
        HeadState::Index | HeadState::WorkingTree | HeadState::Patch => None,
    };
    ReviewedCommits { base: scope.base.as_deref(), head }
}
