//! `mala eval run`: cases, reviewed and scored; begun anew or gone on with.

use super::amounts::dollars;
use super::judge::RunJudge;
use super::output::ResultOutput;
use super::progress::EvalProgress;
use super::who::ReviewerRequest;
use super::{front, judge, kept, plan};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::interrupt::until_interrupted;
use crate::console;
use crate::surroundings::Surroundings;
use crate::wiring::eval::{
    Calls, CaseRepositories, CaseReviewer, EvalReviewer, JudgeSetup, StopSignal, lost_below,
    prepare_state,
};
use anyhow::Context;
use clap::{Args, ValueEnum};
use mala_domain::agent::budget::{Dollars, Profile};
use mala_eval::budget::EvalBudget;
use mala_eval::dummy::DummyReviewer;
use mala_eval::judging::ask::JUDGE_PATIENCE;
use mala_eval::matching::MAX_SPAN;
use mala_eval::record::Selection;
use mala_eval::run::{self as pipeline, RunEnding, RunPlan, TrialKey};
use mala_eval::store::runs::{EvalRunFolder, EvalStore};
use mala_eval::store::sets::CaseSet;
use mala_eval::{CaseRecord, RunHeader};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// Have a reviewer look at cases with known problems, and score what it finds
///
/// Exit codes: 0 done, 2 not all cases were run or none could be reviewed, 4 no reviewers, 64 usage,
/// 78 configuration, 130 interrupted. A run that was cut short goes on with --resume, and pays for no
/// answer twice.
#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// A set: its name, a .jsonl or .jsonl.gz file, or a folder; may be given several times
    #[arg(long, value_name = "NAME|FILE")]
    set: Vec<String>,

    /// Who reviews: builtin, agent_sdk, cerberus, command, or one that only pretends: perfect, random,
    /// silent, shuffled, hunks
    #[arg(long, value_name = "NAME")]
    reviewer: Option<String>,

    /// The model behind the agent, such as sonnet or openai/gpt-4.1-mini
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// What the agent may spend on a case: quick, standard or thorough
    #[arg(long, value_name = "NAME")]
    profile: Option<Profile>,

    /// Only cases of this language; may be given several times
    #[arg(long, value_name = "NAME")]
    language: Vec<String>,

    /// Only cases with this tag; may be given several times
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,

    /// Only this case; may be given several times
    #[arg(long, value_name = "ID")]
    case: Vec<String>,

    /// At most so many cases
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// How often each case is reviewed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) trials: u32,

    /// How many cases are reviewed at once; the number of processors without it
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,

    /// What the whole run may cost, in dollars
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(super) max_cost: Option<f64>,

    /// How long the review of one case may take, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(i64).range(1..=86_400))]
    timeout: Option<i64>,

    /// Where chance starts, for the reviewers that pretend and for intervals
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) seed: u64,

    /// How many lines of a finding count, from its first
    #[arg(long, value_name = "N", default_value_t = MAX_SPAN)]
    pub(super) max_span: u32,

    /// Folder with clones of the repositories that the cases come from
    ///
    /// A case is reviewed in the tree of its commit when the current repository or one of the clones
    /// has it. Clones are named OWNER/NAME, OWNER+NAME, OWNER__NAME or NAME, with or without .git.
    #[arg(long, value_name = "DIR")]
    repos: Option<PathBuf>,

    /// Go on with a run that was cut short: its name, the start of it, or `latest`
    #[arg(long, value_name = "RUN", conflicts_with_all = ["set", "reviewer", "model", "profile", "language", "tag", "case", "limit", "trials", "seed", "max_span", "replay", "matching", "judge"])]
    resume: Option<String>,

    /// With --resume: run again what could not be reviewed
    #[arg(long, requires = "resume")]
    retry_failed: bool,

    /// Take the models' answers from this run instead of asking
    #[arg(long, value_name = "RUN")]
    replay: Option<String>,

    /// Who says that a finding hits a known problem: file, lines and category alone, or, besides, a judge
    /// model that reads both texts
    #[arg(long = "match", value_name = "HOW", default_value = "lines")]
    matching: MatchingName,

    /// The model that judges, with --match semantic; the agent's without it
    #[arg(long, value_name = "MODEL")]
    judge: Option<String>,

    #[command(flatten)]
    output: ResultOutput,

    /// Set on the process that does the work
    #[arg(long, hide = true)]
    worker: bool,
}

/// Who says that a finding hits a known problem
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

    /// Whether the run is done right here. Who only pretends makes no calls that could be lost.
    fn is_done_here(&self) -> bool {
        let is_dummy = |name: &String| name.parse::<DummyReviewer>().is_ok();
        let asks_nobody = !self.wants_judge() && self.replay.is_none();
        self.worker || asks_nobody && self.reviewer.as_ref().is_some_and(is_dummy)
    }

    fn wants_judge(&self) -> bool {
        self.judge.is_some() || self.matching == MatchingName::Semantic
    }

    /// Who judges a new run, if anybody does: with a run to replay, the judge of that run.
    fn judge(
        &self,
        here: &Surroundings,
        replay: Option<&EvalRunFolder>,
    ) -> anyhow::Result<Option<RunJudge>> {
        let replayed = replay.map(EvalRunFolder::header).transpose()?;
        let before = replayed.as_ref().and_then(|header| header.judge.as_ref());
        if let (Some(header), true, None) = (&replayed, self.wants_judge(), before) {
            let what = format!("{} had no judge: there is nothing to replay", header.run_id);
            return Err(Failure::usage(what).into());
        }
        let name = self.judge.as_deref().or(before.map(|judge| judge.model.as_str()));
        let is_wanted = self.wants_judge() || before.is_some();
        is_wanted.then(|| judge::choose(name, here, replay)).transpose()
    }
}

/// A run that can begin.
struct ReadyRun {
    folder: EvalRunFolder,
    header: RunHeader,
    sets: Vec<CaseSet>,
    reviewer: EvalReviewer,
    judge: Option<JudgeSetup>,
    per_case: Dollars,
    replay: Option<EvalRunFolder>,
}

pub(super) fn run(args: &RunArgs, here: &Surroundings) -> anyhow::Result<Exit> {
    if !args.is_done_here() {
        return front::run(here, "--worker");
    }
    let stop = if args.worker { StopSignal::of_worker() } else { StopSignal::never() };
    let evals = kept::here(here);
    let ready = match &args.resume {
        Some(name) => go_on(args, name, here, &evals)?,
        None => begin(args, here, &evals)?,
    };
    let folder = ready.folder.clone();
    let id = ready.header.run_id.clone();
    let calls = Calls::default();
    let exit = until_interrupted(async {
        tokio::select! {
            biased;
            () = stop.after_calls(&calls) => Ok(Exit::Interrupted),
            done = review_all(args, here, ready, &calls) => done,
        }
    })?;
    if exit == Exit::Interrupted {
        console::say(&format!("go on with: mala eval run --resume {id}"));
        return Ok(exit);
    }
    let result = kept::scored(&folder)?;
    folder.save_result(&result)?;
    args.output.show(&evals, &[folder], here)?;
    let nothing = result.scores.cases.reviewed == 0;
    Ok(if nothing && exit == Exit::Passed { Exit::CouldNotReview } else { exit })
}

/// A new run.
fn begin(args: &RunArgs, here: &Surroundings, evals: &EvalStore) -> anyhow::Result<ReadyRun> {
    let sets = plan::sets(&args.set, here, evals)?;
    let used = plan::survey(&sets, &args.selection())?;
    let replay = args.replay.as_deref().map(|name| kept::pick(evals, name)).transpose()?;
    let wanted = ReviewerRequest {
        reviewer: args.reviewer.clone(),
        model: args.model.clone(),
        profile: args.profile,
        timeout: args.timeout,
    };
    let (reviewer, used_reviewer, per_case) = wanted.choose(here, replay.as_ref())?;
    let judge = args.judge(here, replay.as_ref())?;
    let header =
        plan::header(args, used_reviewer, judge.as_ref().map(|judge| judge.used.clone()), used);
    prepare_state(here, &evals.folder()).context("creating .mala/eval")?;
    let folder = evals.create(&header)?;
    let (judge, per_case) = with_judge(judge, per_case);
    Ok(ReadyRun { folder, header, sets, reviewer, judge, per_case, replay })
}

/// A run that was cut short.
fn go_on(
    args: &RunArgs,
    name: &str,
    here: &Surroundings,
    evals: &EvalStore,
) -> anyhow::Result<ReadyRun> {
    let folder = kept::pick(evals, name)?;
    let mut header = folder.header()?;
    let names: Vec<String> = header.sets.iter().map(|set| set.source.clone()).collect();
    let sets = plan::sets(&names, here, evals)?;
    if plan::survey(&sets, &header.selection)? != header.sets {
        let what = format!("the cases have changed since {} began", header.run_id);
        return Err(Failure::usage(what).hint("begin a new run").into());
    }
    let before = header.reviewer.clone();
    let profile = before.profile.as_deref().and_then(|name| name.parse().ok());
    let wanted = ReviewerRequest {
        reviewer: Some(before.name.clone()),
        model: before.model.clone(),
        profile,
        timeout: args.timeout,
    };
    let (reviewer, used_reviewer, per_case) = wanted.choose(here, None)?;
    if used_reviewer != before {
        let what = format!("the reviewer has changed since {} began", header.run_id);
        return Err(Failure::usage(what).hint("begin a new run").into());
    }
    let name = header.judge.as_ref().map(|judge| judge.model.as_str());
    let judge = name.map(|name| judge::choose(Some(name), here, None)).transpose()?;
    if judge.as_ref().map(|judge| &judge.used) != header.judge.as_ref() {
        let what = format!("what a judge is told has changed since {} began", header.run_id);
        return Err(Failure::usage(what).hint("begin a new run").into());
    }
    let (judge, per_case) = with_judge(judge, per_case);
    if args.max_cost.is_some() {
        header.max_cost_usd = args.max_cost;
        folder.save_header(&header)?;
    }
    Ok(ReadyRun { folder, header, sets, reviewer, judge, per_case, replay: None })
}

/// What a case could cost with its judge.
fn with_judge(judge: Option<RunJudge>, per_case: Dollars) -> (Option<JudgeSetup>, Dollars) {
    match judge {
        Some(judge) => (Some(judge.desk), per_case.plus(judge.per_case)),
        None => (None, per_case),
    }
}

/// Runs what has no record yet.
async fn review_all(
    args: &RunArgs,
    here: &Surroundings,
    ready: ReadyRun,
    calls: &Calls,
) -> anyhow::Result<Exit> {
    let ReadyRun { folder, header, sets, reviewer, judge, per_case, replay } = ready;
    let judging = judge.as_ref().map_or(Duration::ZERO, |_| JUDGE_PATIENCE);
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
    let tell = |standing: &pipeline::RunProgress| progress.show(standing);
    let ending = pipeline::run(plan, selected, &runner, &writer, &tell).await;
    progress.end();
    Ok(match ending? {
        RunEnding::Complete => Exit::Passed,
        RunEnding::BudgetExhausted => {
            console::say(&format!(
                "stopped: another case could cost more than is left; go on with: mala eval run \
                 --resume {} --max-cost USD",
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

/// What is done, and what it cost. What nobody knows counts as much as it could have been.
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
    let lost = lost_below(&folder.path().join("traffic")).context("reading the traffic")?;
    if lost.calls > 0 {
        console::say(&format!(
            "{} model calls were under way when the run was cut short: they may have been paid for, \
             at most {}, and are asked again",
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
        folder.put_aside(set, case, *trial)?;
    }
    Ok((records.reviewed().cloned().collect(), spent))
}
