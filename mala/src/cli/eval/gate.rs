//! `mala eval gate`: whether a run is good enough.

use super::amounts::share;
use super::format::ModeName;
use super::kept;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::console;
use crate::surroundings::Surroundings;
use clap::Args;
use mala_eval::EvalResult;
use mala_eval::matching::MatchMode;
use mala_eval::scores::ScoreRates;

/// Check a run against limits, for CI
///
/// Exit codes: 0 good enough, 1 below a limit, 2 cannot be told: the run is not complete, a number is
/// undefined, or more reviews could not be done than --max-unreviewed allows.
#[derive(Debug, Args)]
pub(super) struct GateArgs {
    /// The run: its name, the start of it, `latest`, or a result.json
    #[arg(default_value = "latest")]
    run: String,

    /// The least F1
    #[arg(long, value_name = "RATE", value_parser = share)]
    min_f1: Option<f64>,

    /// The least recall
    #[arg(long, value_name = "RATE", value_parser = share)]
    min_recall: Option<f64>,

    /// The least precision
    #[arg(long, value_name = "RATE", value_parser = share)]
    min_precision: Option<f64>,

    /// How far F1 may fall below that of --baseline
    #[arg(long, value_name = "RATE", value_parser = share, requires = "baseline")]
    max_drop: Option<f64>,

    /// The run to compare with: its name, the start of it, or a result.json
    #[arg(long, value_name = "RUN", requires = "max_drop")]
    baseline: Option<String>,

    /// How many reviews may not have been done
    #[arg(long, value_name = "N", default_value_t = 0)]
    max_unreviewed: u64,

    /// By what rule
    #[arg(long, value_name = "MODE", default_value = "strict")]
    mode: ModeName,
}

/// One comparison of a number with a limit.
struct ThresholdCheck {
    name: &'static str,
    found: Option<f64>,
    least: f64,
}

pub(super) fn run(args: &GateArgs, here: &Surroundings) -> anyhow::Result<Exit> {
    let evals = kept::here(here);
    let result = kept::result(&evals, &args.run, &here.folder)?;
    let baseline = args.baseline.as_deref();
    let baseline = baseline.map(|name| kept::result(&evals, name, &here.folder)).transpose()?;
    for result in [Some(&result), baseline.as_ref()].into_iter().flatten() {
        kept::rule(&result.run, args.mode.into())?;
    }
    let checks = checks(args, &result, baseline.as_ref())?;
    if let Some(why) = cannot_tell(args, &result) {
        console::say(&format!("cannot be told: {why}"));
        return Ok(Exit::CouldNotReview);
    }
    let mut exit = Exit::Passed;
    for check in &checks {
        let ThresholdCheck { name, least, .. } = *check;
        match check.found {
            None => {
                console::data(&format!("{name} is undefined, and {least:.4} is the least\n"))?;
                return Ok(Exit::CouldNotReview);
            }
            Some(found) if found >= least => {
                console::data(&format!("{name} {found:.4} is at least {least:.4}\n"))?;
            }
            Some(found) => {
                console::data(&format!("{name} {found:.4} is below {least:.4}\n"))?;
                exit = Exit::Blocked;
            }
        }
    }
    Ok(exit)
}

fn cannot_tell(args: &GateArgs, result: &EvalResult) -> Option<String> {
    let unreviewed = result.scores.cases.could_not_review;
    if result.not_run > 0 {
        return Some(format!("{} reviews were not run", result.not_run));
    }
    (unreviewed > args.max_unreviewed).then(|| {
        let most = args.max_unreviewed;
        format!("{unreviewed} reviews could not be done, and {most} is the most")
    })
}

fn checks(
    args: &GateArgs,
    result: &EvalResult,
    baseline: Option<&EvalResult>,
) -> Result<Vec<ThresholdCheck>, Failure> {
    let mode = MatchMode::from(args.mode);
    let rates: &ScoreRates = &result.scores.of(mode).rates;
    let wanted = [
        ("F1", rates.f1, args.min_f1),
        ("recall", rates.recall, args.min_recall),
        ("precision", rates.precision, args.min_precision),
    ];
    let mut checks: Vec<ThresholdCheck> = wanted
        .into_iter()
        .filter_map(|(name, found, least)| Some(ThresholdCheck { name, found, least: least? }))
        .collect();
    if let (Some(drop), Some(baseline)) = (args.max_drop, baseline) {
        let shas = |result: &EvalResult| -> Vec<String> {
            result.run.sets.iter().map(|set| set.sha256.clone()).collect()
        };
        if shas(result) != shas(baseline) {
            return Err(Failure::usage("the two runs are over other cases")
                .hint("compare runs over the same sets and selection"));
        }
        let before = baseline.scores.of(mode).rates.f1;
        let before = before.ok_or_else(|| Failure::usage("the baseline has no F1"))?;
        let found = rates.f1;
        checks.push(ThresholdCheck { name: "F1 beside the baseline", found, least: before - drop });
    }
    match checks.is_empty() {
        true => Err(Failure::usage("no limit is given").hint("give --min-f1 or another limit")),
        false => Ok(checks),
    }
}
