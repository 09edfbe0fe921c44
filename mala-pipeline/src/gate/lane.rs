//! A lane of a panel as a reviewer. Its prompt contains the change; its answer counts only if it is
//! bound to this review and the lane wrote nothing. As a verifier it checks findings of other
//! lanes.

use mala_domain::agent::answer::{ClaimCheck, ParseProblem, find_check};
use mala_domain::agent::brief::{BriefMaterial, BriefStyle, BriefWidth, brief_of_files};
use mala_domain::agent::fence::{Fence, Nonce};
use mala_domain::finding::{Finding, Verification};
use mala_domain::gate::answer::{self, AnswerBinding, AnswerProblem, LaneAnswer};
use mala_domain::gate::lane::LaneFailureKind;
use mala_domain::gate::prompt::{self, MAX_BYTES, ShownChange};
use mala_domain::gate::session::PanelMember;
use mala_domain::ports::{
    BoxFuture, LaneFailure, LaneOrder, LaneRun, LaneRunner, Reviewer, ReviewerFailure, Verifier,
    VerifierResult,
};
use mala_domain::render::short_line;
use mala_domain::review::verify::{is_urgent_and_unchecked, verification_from_check};
use mala_domain::review::{Opinion, ProcessRun, ReviewContext, Usage};
use mala_domain::secrets;
use mala_domain::verdict::Verdict;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Maximum number of findings in one check.
const MAX_CLAIMS: usize = 30;

/// The state that the lanes of a panel share.
pub struct PanelContext {
    runner: Arc<dyn LaneRunner>,
    settings: PanelSettings,
    /// The prompt of all lanes, built once.
    prompt: OnceLock<PanelPrompt>,
    has_warned: AtomicBool,
}

/// The settings of a panel.
pub struct PanelSettings {
    /// The commit that the lanes look at.
    pub head: String,
    /// Binds answers to this review; no lane can guess it.
    pub secret: String,
    /// The reasoning effort, for lanes that support it.
    pub reasoning: String,
    /// The time limit of a lane.
    pub timeout: Duration,
    /// Called with the name of a lane when its process runs.
    pub started: Arc<dyn Fn(&str) + Send + Sync>,
}

/// The prompt of the lanes.
struct PanelPrompt {
    binding: AnswerBinding,
    fence: Fence,
    shown: ShownChange,
    review: String,
}

impl PanelContext {
    /// A panel whose lanes are run by this runner.
    pub fn new(runner: Arc<dyn LaneRunner>, settings: PanelSettings) -> Arc<Self> {
        let (prompt, has_warned) = (OnceLock::new(), AtomicBool::new(false));
        Arc::new(Self { runner, settings, prompt, has_warned })
    }

    fn prompt(&self, context: &ReviewContext) -> &PanelPrompt {
        self.prompt.get_or_init(|| {
            let binding = self.binding(context);
            let fence = Fence::new(binding.nonce.clone());
            let shown = prompt::shown(&BriefMaterial::of(context), &style(&fence));
            let review = prompt::review(&shown, &binding);
            PanelPrompt { binding, fence, shown, review }
        })
    }

    /// The nonce covers the secret and everything that is reviewed, so that no reviewed text can
    /// contain it.
    fn binding(&self, context: &ReviewContext) -> AnswerBinding {
        let head = self.settings.head.clone();
        let own = [&self.settings.secret, &head, &context.scope.diff_hash];
        let tasks = context.tasks.iter().flat_map(|(name, text)| [name, text]);
        let parts = own.into_iter().chain(tasks).map(String::as_bytes);
        let rules = context.surroundings.rules.iter().map(|(_, text)| text.as_bytes());
        let parts: Vec<&[u8]> = parts.chain(rules).collect();
        AnswerBinding { nonce: Nonce::over(&parts), head }
    }

    /// Warnings about text that the prompt leaves out. Only the first lane reports them.
    fn caveats(&self, context: &ReviewContext) -> Vec<String> {
        match self.has_warned.swap(true, Ordering::Relaxed) {
            true => Vec::new(),
            false => prompt::caveats(&self.prompt(context).shown),
        }
    }
}

fn style(fence: &Fence) -> BriefStyle<'_> {
    BriefStyle { fence, width: BriefWidth::STANDARD, max_bytes: MAX_BYTES, max_briefs: 1 }
}

/// A lane of a panel.
pub struct LaneReviewer {
    panel: Arc<PanelContext>,
    member: PanelMember,
    /// Number of checks so far.
    n_checks: AtomicUsize,
}

impl LaneReviewer {
    /// The lane in this member of a panel.
    pub fn new(panel: Arc<PanelContext>, member: PanelMember) -> Self {
        Self { panel, member, n_checks: AtomicUsize::new(0) }
    }

    async fn opinion(&self, context: &ReviewContext) -> Result<Opinion, ReviewerFailure> {
        if let Some(why) = &self.member.absent {
            return Err(ReviewerFailure::Unavailable(why.clone()));
        }
        let prompt = self.panel.prompt(context);
        let warnings = self.panel.caveats(context);
        let ShownChange { change, unshown, .. } = &prompt.shown;
        let unshown = unshown.clone();
        if !unshown.is_empty() && !change.files.iter().any(prompt::is_given) {
            return Ok(Opinion { unshown, warnings, ..Opinion::default() });
        }
        let run = self.ask_for_review(prompt).await;
        Ok(Opinion { unshown, ..self.judged(run, prompt, warnings) })
    }

    async fn ask_for_review(&self, prompt: &PanelPrompt) -> LaneRun {
        let settings = &self.panel.settings;
        let name = &self.member.lane.name;
        let order = LaneOrder {
            lane: &self.member.lane,
            question: "review",
            prompt: &prompt.review,
            schema: &answer::review_schema(),
            reasoning: &settings.reasoning,
            wall: settings.timeout,
            is_answer: &|text| answer::read(text, &prompt.binding, name).is_ok(),
            weighs: &|text| answer::objects(text, &prompt.binding),
            started: &|| (settings.started)(name),
        };
        self.panel.runner.run(order).await
    }

    /// The opinion from a run. The answer must be bound to this review, and the lane must not have
    /// written files.
    fn judged(&self, run: LaneRun, prompt: &PanelPrompt, mut warnings: Vec<String>) -> Opinion {
        let name = &self.member.lane.name;
        warnings.extend(written(name, &run));
        let answer = answer_of(name, &run, prompt);
        let opinion = match answer.map(|answer| answer.inside(&run.roots, &prompt.shown.change)) {
            Ok(answer) => Opinion {
                claims: answer.claims,
                claimed_verdict: Some(answer.verdict),
                summary: answer.summary,
                accounted: answer.accounted,
                ..Opinion::default()
            },
            Err(failure) => Opinion { failure: Some(failed(failure)), ..Opinion::default() },
        };
        let (exit_code, seconds) = (run.exit_code, run.seconds);
        let wrote = [run.wrote, run.user_changes].concat();
        let process = Some(ProcessRun { exit_code, seconds, wrote });
        Opinion { warnings, process, usage: run.usage, ..opinion }
    }

    /// Lets the lane check these findings; the error says why there is no valid answer.
    async fn ask_for_checks(
        &self,
        context: &ReviewContext,
        findings: &[Finding],
        wall: Duration,
        checked: &mut VerifierResult,
    ) -> Result<Vec<ClaimCheck>, String> {
        let prompt = self.panel.prompt(context);
        let name = &self.member.lane.name;
        let files: Vec<_> = findings.iter().map(|finding| &finding.file).collect();
        let brief = brief_of_files(context, &[], &files, &style(&prompt.fence));
        let named: Vec<(String, &Finding)> =
            findings.iter().enumerate().map(|(index, finding)| (id(index), finding)).collect();
        let question = match self.n_checks.fetch_add(1, Ordering::Relaxed) {
            0 => "check".to_owned(),
            n => format!("check-{}", n + 1),
        };
        let order = LaneOrder {
            lane: &self.member.lane,
            question: &question,
            prompt: &prompt::check(&brief, &named, &prompt.binding),
            schema: &answer::check_schema(),
            reasoning: &self.panel.settings.reasoning,
            wall,
            is_answer: &|text| answer::read_check(text, &prompt.binding).is_ok(),
            weighs: &|text| answer::speaks_of_claims(text, &prompt.binding),
            started: &|| {},
        };
        let run = self.panel.runner.run(order).await;
        checked.usage = checked.usage.plus(&run.usage);
        checked.warnings.extend(written(name, &run));
        if !run.wrote.is_empty() {
            return Err(format!("{name} wrote to the tree"));
        }
        if !run.user_changes.is_empty() {
            return Err(format!("{name}: the work tree changed while it ran"));
        }
        let failure = run.failure.map(|failure| failure.why).filter(|why| !why.is_empty());
        match (failure, run.answer) {
            (Some(why), _) => Err(format!("{name}: {why}")),
            (None, Some(text)) => {
                let read = answer::read_check(&text, &prompt.binding);
                read.map_err(|problem| format!("{name}: {problem}"))
            }
            (None, None) => Err(format!("{name}: no answer")),
        }
    }

    /// Checks some findings at a time, while the time lasts. What the lane does not answer to is not
    /// checked, and blocks.
    async fn checks(
        &self,
        context: &ReviewContext,
        findings: &[Finding],
        time: Duration,
    ) -> VerifierResult {
        let end = Instant::now() + time;
        let name = &self.member.lane.name;
        let mut checked = VerifierResult { usage: Usage::nothing(), ..VerifierResult::default() };
        let mut problem: Option<String> = None;
        for some in findings.chunks(MAX_CLAIMS) {
            let wall = end.saturating_duration_since(Instant::now());
            let said = match problem.take() {
                Some(why) => Err(why),
                None if wall.is_zero() => Err(format!("{name} has no time left")),
                None => self.ask_for_checks(context, some, wall, &mut checked).await,
            };
            let of_one = |(index, _)| match &said {
                Ok(checks) => {
                    verification_from_check(find_check(checks, &id(index)).as_ref(), name, name)
                }
                Err(why) => Verification::not_checked(why),
            };
            checked.verifications.extend(some.iter().enumerate().map(of_one));
            problem = said.err();
        }
        checked.is_silent = problem.is_some();
        checked
    }
}

fn id(index: usize) -> String {
    format!("c{}", index + 1)
}

/// Warnings about what changed during a run.
fn written(name: &str, run: &LaneRun) -> Vec<String> {
    let wrote = run.wrote.iter().map(|file| format!("{name}: wrote {file}"));
    let changed = run.user_changes.iter();
    let changed = changed.map(|file| format!("{name}: the work tree changed while it ran: {file}"));
    wrote.chain(changed).collect()
}

/// The answer of a run, or why it has none.
fn answer_of(name: &str, run: &LaneRun, prompt: &PanelPrompt) -> Result<LaneAnswer, LaneFailure> {
    let read = run.answer.as_deref().map(|text| answer::read(text, &prompt.binding, name));
    let unusable = |why: String| Err(LaneFailure { kind: LaneFailureKind::Unusable, why });
    match (read, &run.failure) {
        (Some(Ok(answer)), None) if !run.wrote.is_empty() => unusable(format!(
            "it wrote to the tree that it reviews: {}; it says {}",
            run.wrote.join(", "),
            answer.verdict.name()
        )),
        // An objection counts, even if another program changed the work tree.
        (Some(Ok(answer)), None)
            if !run.user_changes.is_empty() && answer.verdict == Verdict::Pass =>
        {
            let changed = run.user_changes.join(", ");
            unusable(format!("the work tree changed while it ran: {changed}; it says PASS"))
        }
        (Some(Ok(answer)), None) => Ok(answer),
        (_, Some(known)) if !known.why.is_empty() => Err(known.clone()),
        (Some(Err(problem)), _) => {
            unusable(quoted(&problem, run.answer.as_deref().unwrap_or_default()))
        }
        (_, Some(known)) => Err(known.clone()),
        (None, None) => unusable("no answer".to_owned()),
    }
}

/// A problem with the start of the text that should have been JSON.
fn quoted(problem: &AnswerProblem, text: &str) -> String {
    match problem {
        AnswerProblem::Unreadable(ParseProblem::InvalidJson(_)) if !text.trim().is_empty() => {
            format!("{problem}: \"{}\"", short_line(&secrets::redact(text.trim()), MAX_QUOTE))
        }
        _ => problem.to_string(),
    }
}

/// How much of a text that should have been JSON is quoted.
const MAX_QUOTE: usize = 120;

fn failed(failure: LaneFailure) -> ReviewerFailure {
    match failure.kind {
        LaneFailureKind::Unavailable => ReviewerFailure::Unavailable(failure.why),
        LaneFailureKind::TimedOut => ReviewerFailure::TimedOut(failure.why),
        LaneFailureKind::Unusable => ReviewerFailure::Unreadable(failure.why),
    }
}

impl Reviewer for LaneReviewer {
    fn name(&self) -> &str {
        &self.member.lane.name
    }

    fn review<'a>(
        &'a self,
        context: &'a ReviewContext,
    ) -> BoxFuture<'a, Result<Opinion, ReviewerFailure>> {
        Box::pin(self.opinion(context))
    }
}

impl Verifier for LaneReviewer {
    fn name(&self) -> &str {
        &self.member.lane.name
    }

    fn wants(&self, finding: &Finding) -> bool {
        finding.rule.is_none() && is_urgent_and_unchecked(finding)
    }

    fn check<'a>(
        &'a self,
        context: &'a ReviewContext,
        findings: &'a [Finding],
        time: Duration,
    ) -> BoxFuture<'a, VerifierResult> {
        Box::pin(self.checks(context, findings, time))
    }
}
