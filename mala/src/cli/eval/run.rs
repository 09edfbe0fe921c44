//! `mala eval run`: reviews cases and scores the findings; starts a run or resumes one.

use super::output::{ResultOutput, dollars};
use super::reviewer::{ReviewerRequest, RunJudge, choose_judge};
use super::worker::{EvalProgress, run_in_worker};
use super::{kept, plan};
use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt::until_interrupted;
use crate::wiring::eval::{
    CallTracker, CaseRepositories, CaseReviewer, EvalReviewer, JudgeSetup, StopSignal,
    lost_calls_below, prepare_state,
};
use crate::wiring::trusted_settings::WorkingTreeSettings;
use anyhow::Context;
use clap::{Args, ValueEnum};
use mala_domain::agent::budget::{Dollars, Profile};
use mala_eval::budget::EvalBudget;
use mala_eval::dummy::DummyReviewer;
use mala_eval::judging::ask::JUDGE_TIMEOUT;
use mala_eval::matching::MAX_SPAN;
use mala_eval::record::Selection;
use mala_eval::run::{self as pipeline, RunEnding, RunPlan, TrialKey};
use mala_eval::store::runs::{EvalRunFolder, EvalStore};
use mala_eval::store::sets::CaseSet;
use mala_eval::{CaseRecord, RunHeader};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// Review cases with known problems and score the findings
///
/// Exit codes: 0 done, 2 not all cases were run or none could be reviewed, 4 no reviewers, 64 usage,
/// 78 configuration, 130 interrupted. An interrupted run continues with --resume without paying for an
/// answer twice.
#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// Set of cases: a name, a .jsonl or .jsonl.gz file, or a folder; repeatable
    #[arg(long, value_name = "NAME|FILE")]
    set: Vec<String>,

    /// Reviewer: builtin, agent_sdk, cerberus, command, or a dummy that tests the scoring: perfect,
    /// random, silent, shuffled, hunks
    #[arg(long, value_name = "NAME")]
    reviewer: Option<String>,

    /// Model of the agent, such as sonnet or openai/gpt-4.1-mini
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// Budget profile of the agent: lean, standard or thorough
    #[arg(long, value_name = "NAME")]
    profile: Option<Profile>,

    /// Only cases of this language; repeatable
    #[arg(long, value_name = "NAME")]
    language: Vec<String>,

    /// Only cases with this tag; repeatable
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,

    /// Only this case; repeatable
    #[arg(long, value_name = "ID")]
    case: Vec<String>,

    /// Maximum number of cases
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Number of reviews of each case
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) trials: u32,

    /// Number of parallel reviews [default: number of processors]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,

    /// Maximum cost of the whole run, in dollars
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(super) max_cost: Option<f64>,

    /// Time limit of one review, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(i64).range(1..=86_400))]
    timeout: Option<i64>,

    /// Seed for dummy reviewers and intervals
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) seed: u64,

    /// Number of lines of a finding that count, from its first
    #[arg(long, value_name = "N", default_value_t = MAX_SPAN)]
    pub(super) max_span: u32,

    /// Folder with clones of the repositories that the cases come from
    ///
    /// A case is reviewed in the tree of its commit when the current repository or one of the clones
    /// has it. Clones are named OWNER/NAME, OWNER+NAME, OWNER__NAME or NAME, with or without .git.
    #[arg(long, value_name = "DIR")]
    repos: Option<PathBuf>,

    /// Resume an interrupted run: its name, a prefix of it, or `latest`
    #[arg(long, value_name = "RUN", conflicts_with_all = ["set", "reviewer", "model", "profile", "language", "tag", "case", "limit", "trials", "seed", "max_span", "replay", "matching", "judge"])]
    resume: Option<String>,

    /// With --resume: repeat the reviews that failed
    #[arg(long, requires = "resume")]
    retry_failed: bool,

    /// Replay the models' answers from this run
    #[arg(long, value_name = "RUN")]
    replay: Option<String>,

    /// How findings are matched with known problems: by file, lines and category, or also by a judge
    /// model that reads both texts
    #[arg(long = "match", value_name = "HOW", default_value = "lines")]
    matching: MatchingName,

    /// Judge model for --match semantic [default: the agent's model]
    #[arg(long, value_name = "MODEL")]
    judge: Option<String>,

    #[command(flatten)]
    output: ResultOutput,

    /// Marks the worker process
    #[arg(long, hide = true)]
    worker: bool,
}

/// How findings are matched with known problems
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MatchingName {
    Lines,
    Semantic,
}

impl RunArgs {
    pub(super) fn selection(&self) -> Selection {
        Selection {
            languages: self.language.clone(),
            tags: self.tag.clone(),
            cases: self.case.clone(),
            limit: self.limit,
        }
    }

    /// Whether this process does the run. Dummy reviewers make no calls that could be lost.
    fn runs_here(&self) -> bool {
        let is_dummy = |name: &String| name.parse::<DummyReviewer>().is_ok();
        let asks_no_model = !self.wants_judge() && self.replay.is_none();
        self.worker || asks_no_model && self.reviewer.as_ref().is_some_and(is_dummy)
    }

    fn wants_judge(&self) -> bool {
        self.judge.is_some() || self.matching == MatchingName::Semantic
    }

    /// The judge of a new run, if any; with a run to replay, the judge of that run.
    fn judge(
        &self,
        here: &Environment,
        source: &WorkingTreeSettings,
        replay: Option<&EvalRunFolder>,
    ) -> anyhow::Result<Option<RunJudge>> {
        let replayed = replay.map(EvalRunFolder::header).transpose()?;
        let before = replayed.as_ref().and_then(|header| header.judge.as_ref());
        if let (Some(header), true, None) = (&replayed, self.wants_judge(), before) {
            let what = format!("{} has no judge answers to replay", header.run_id);
            return Err(Failure::usage(what).into());
        }
        let name = self.judge.as_deref().or(before.map(|judge| judge.model.as_str()));
        let is_wanted = self.wants_judge() || before.is_some();
        is_wanted.then(|| choose_judge(name, here, source, replay)).transpose()
    }
}

/// A run that is ready to start.
struct ReadyRun {
    folder: EvalRunFolder,
    header: RunHeader,
    sets: Vec<CaseSet>,
    reviewer: EvalReviewer,
    judge: Option<JudgeSetup>,
    per_case: Dollars,
    replay: Option<EvalRunFolder>,
}

pub(super) fn run(args: &RunArgs, here: &Environment) -> anyhow::Result<Exit> {
    if !args.runs_here() {
        return run_in_worker(here, "--worker");
    }
    let stop = if args.worker { StopSignal::of_worker() } else { StopSignal::never() };
    let evals = kept::here(here);
    let ready = match &args.resume {
        Some(name) => resume(args, name, here, &evals)?,
        None => start(args, here, &evals)?,
    };
    let folder = ready.folder.clone();
    let id = ready.header.run_id.clone();
    let calls = CallTracker::default();
    let exit = until_interrupted(async {
        tokio::select! {
            biased;
            () = stop.after_calls(&calls) => Ok(Exit::Interrupted),
            done = review_all(args, here, ready, &calls) => done,
        }
    })?;
    if exit == Exit::Interrupted {
        console::say(&format!("hint: continue with: mala eval run --resume {id}"));
        return Ok(exit);
    }
    let result = kept::scored(&folder)?;
    folder.save_result(&result)?;
    args.output.show(&evals, &[folder], here)?;
    let nothing = result.scores.cases.reviewed == 0;
    Ok(if nothing && exit == Exit::Passed { Exit::CouldNotReview } else { exit })
}

/// Starts a run.
fn start(args: &RunArgs, here: &Environment, evals: &EvalStore) -> anyhow::Result<ReadyRun> {
    let sets = plan::sets(&args.set, here, evals)?;
    let used = plan::survey(&sets, &args.selection())?;
    let replay = args.replay.as_deref().map(|name| kept::pick(evals, name)).transpose()?;
    let wanted = ReviewerRequest {
        reviewer: args.reviewer.clone(),
        model: args.model.clone(),
        profile: args.profile,
        timeout: args.timeout,
    };
    let source = WorkingTreeSettings::read(here)?;
    let (reviewer, used_reviewer, per_case) = wanted.choose(here, &source, replay.as_ref())?;
    let judge = args.judge(here, &source, replay.as_ref())?;
    let header =
        plan::header(args, used_reviewer, judge.as_ref().map(|judge| judge.used.clone()), used);
    prepare_state(here, &evals.folder()).context("creating .mala/eval")?;
    let folder = evals.create(&header)?;
    let (judge, per_case) = with_judge(judge, per_case);
    Ok(ReadyRun { folder, header, sets, reviewer, judge, per_case, replay })
}

/// Resumes a run.
fn resume(
    args: &RunArgs,
    name: &str,
    here: &Environment,
    evals: &EvalStore,
) -> anyhow::Result<ReadyRun> {
    let folder = kept::pick(evals, name)?;
    let mut header = folder.header()?;
    let names: Vec<String> = header.sets.iter().map(|set| set.source.clone()).collect();
    let sets = plan::sets(&names, here, evals)?;
    if plan::survey(&sets, &header.selection)? != header.sets {
        let what = format!("the cases have changed since {} started", header.run_id);
        return Err(Failure::usage(what).hint("start a new run").into());
    }
    let before = header.reviewer.clone();
    let profile = before.profile.as_deref().and_then(|name| name.parse().ok());
    let wanted = ReviewerRequest {
        reviewer: Some(before.name.clone()),
        model: before.model.clone(),
        profile,
        timeout: args.timeout,
    };
    let source = WorkingTreeSettings::read(here)?;
    let (reviewer, used_reviewer, per_case) = wanted.choose(here, &source, None)?;
    if used_reviewer != before {
        let what = format!("the reviewer has changed since {} started", header.run_id);
        return Err(Failure::usage(what).hint("start a new run").into());
    }
    let name = header.judge.as_ref().map(|judge| judge.model.as_str());
    let judge = name.map(|name| choose_judge(Some(name), here, &source, None)).transpose()?;
    if judge.as_ref().map(|judge| &judge.used) != header.judge.as_ref() {
        let what = format!("the judge's instructions have changed since {} started", header.run_id);
        return Err(Failure::usage(what).hint("start a new run").into());
    }
    let (judge, per_case) = with_judge(judge, per_case);
    if args.max_cost.is_some() {
        header.max_cost_usd = args.max_cost;
        folder.save_header(&header)?;
    }
    Ok(ReadyRun { folder, header, sets, reviewer, judge, per_case, replay: None })
}

/// The worst cost of a case with its judge.
fn with_judge(judge: Option<RunJudge>, per_case: Dollars) -> (Option<JudgeSetup>, Dollars) {
    match judge {
        Some(judge) => (Some(judge.setup), per_case.plus(judge.per_case)),
        None => (None, per_case),
    }
}

/// Reviews the cases without a record.
async fn review_all(
    args: &RunArgs,
    here: &Environment,
    ready: ReadyRun,
    calls: &CallTracker,
) -> anyhow::Result<Exit> {
    let ReadyRun { folder, header, sets, reviewer, judge, per_case, replay } = ready;
    let judging = judge.as_ref().map_or(Duration::ZERO, |_| JUDGE_TIMEOUT);
    let writer = kept::writer(&folder, reviewer.timeout() + judging).await?;
    let work = folder.work()?;
    let (done, spent) = so_far(args, &folder, per_case)?;
    let cases: usize = header.sets.iter().map(|set| set.cases).sum();
    let repositories = CaseRepositories::open(here, args.repos.as_deref()).await;
    let runner = CaseReviewer {
        reviewer,
        repositories,
        here: here.clone(),
        work: work.path().to_owned(),
        run: folder.clone(),
        replay,
        judge,
        calls: calls.clone(),
        seed: header.seed,
    };
    let total = cases as u64 * u64::from(header.trials);
    let progress = EvalProgress::start(done.len() as u64, total);
    let plan = RunPlan {
        trials: header.trials,
        at_once: jobs(args),
        budget: EvalBudget::new(header.max_cost_usd.map(Dollars::at_least), per_case, spent),
        done,
        total,
    };
    let selected = plan::selected(sets, &header.sets, header.selection.clone());
    let report = |now: &pipeline::RunProgress| progress.show(now);
    let ending = pipeline::run(plan, selected, &runner, &writer, &report).await;
    progress.end();
    Ok(match ending? {
        RunEnding::Complete => Exit::Passed,
        RunEnding::BudgetExhausted => {
            console::say(&format!(
                "stopped: the rest of the budget may not cover another case\n\
                 hint: continue with: mala eval run --resume {} --max-cost USD",
                header.run_id
            ));
            Exit::CouldNotReview
        }
    })
}

fn jobs(args: &RunArgs) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    args.jobs.map_or_else(cores, usize::from)
}

/// The finished cases, and their cost. An unknown cost counts as the worst case.
fn so_far(
    args: &RunArgs,
    folder: &EvalRunFolder,
    per_case: Dollars,
) -> anyhow::Result<(BTreeSet<TrialKey>, Dollars)> {
    let records = folder.records()?;
    let mut spent = Dollars::ZERO;
    let mut add = |record: CaseRecord| {
        spent = spent.plus(record.cost_usd().map_or(per_case, Dollars::at_least));
    };
    records.each(&mut add)?;
    records.each_replaced(&mut add)?;
    let lost =
        lost_calls_below(&folder.path().join("traffic")).context("reading recorded traffic")?;
    if lost.calls > 0 {
        console::say(&format!(
            "warning: {} model calls were interrupted; they may have cost up to {} and are repeated",
            lost.calls,
            Dollars::at_least(lost.worst_usd)
        ));
        spent = spent.plus(Dollars::at_least(lost.worst_usd));
        let unpriced = (0..lost.unpriced).fold(Dollars::ZERO, |sum, _| sum.plus(per_case));
        spent = spent.plus(unpriced);
    }
    if !args.retry_failed {
        return Ok((records.keys().cloned().collect(), spent));
    }
    for (set, case, trial) in records.unreviewed() {
        folder.archive_traffic(set, case, *trial)?;
    }
    Ok((records.reviewed().cloned().collect(), spent))
}
