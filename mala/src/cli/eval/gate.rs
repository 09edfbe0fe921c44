//! `mala eval gate`: checks a run against limits.

use super::kept;
use super::output::{ModeName, rate};
use crate::cli::exit::Exit;
use crate::console;
use crate::environment::Environment;
use crate::failure::Failure;
use clap::Args;
use mala_eval::EvalResult;
use mala_eval::matching::MatchMode;
use mala_eval::scores::ScoreRates;

/// Check a run against limits, for CI
///
/// Exit codes: 0 all limits hold, 1 below a limit, 2 unknown: the run is incomplete, a rate is undefined,
/// or more reviews failed than --max-unreviewed allows.
#[derive(Debug, Args)]
pub(super) struct GateArgs {
    /// Run: its name, a prefix of it, `latest`, or a result.json
    #[arg(default_value = "latest")]
    run: String,

    /// Minimum F1
    #[arg(long, value_name = "RATE", value_parser = rate)]
    min_f1: Option<f64>,

    /// Minimum recall
    #[arg(long, value_name = "RATE", value_parser = rate)]
    min_recall: Option<f64>,

    /// Minimum precision
    #[arg(long, value_name = "RATE", value_parser = rate)]
    min_precision: Option<f64>,

    /// Maximum drop of F1 below --baseline
    #[arg(long, value_name = "RATE", value_parser = rate, requires = "baseline")]
    max_drop: Option<f64>,

    /// Run to compare with: its name, a prefix of it, or a result.json
    #[arg(long, value_name = "RUN", requires = "max_drop")]
    baseline: Option<String>,

    /// Maximum number of failed reviews
    #[arg(long, value_name = "N", default_value_t = 0)]
    max_unreviewed: u64,

    /// Match mode
    #[arg(long, value_name = "MODE", default_value = "strict")]
    mode: ModeName,
}

/// A rate and its limit.
struct ThresholdCheck {
    name: &'static str,
    found: Option<f64>,
    least: f64,
}

pub(super) fn run(args: &GateArgs, here: &Environment) -> anyhow::Result<Exit> {
    let evals = kept::here(here);
    let result = kept::result(&evals, &args.run, &here.folder)?;
    let baseline = args.baseline.as_deref();
    let baseline = baseline.map(|name| kept::result(&evals, name, &here.folder)).transpose()?;
    for result in [Some(&result), baseline.as_ref()].into_iter().flatten() {
        kept::rule(&result.run, args.mode.into())?;
    }
    let checks = checks(args, &result, baseline.as_ref())?;
    if let Some(why) = unknown_because(args, &result) {
        console::say(&format!("error: cannot check the limits: {why}"));
        return Ok(Exit::CouldNotReview);
    }
    let mut exit = Exit::Passed;
    for check in &checks {
        let ThresholdCheck { name, least, .. } = *check;
        match check.found {
            None => {
                console::data(&format!("{name} is undefined, minimum {least:.4}\n"))?;
                return Ok(Exit::CouldNotReview);
            }
            Some(found) if found >= least => {
                console::data(&format!("{name} {found:.4} >= {least:.4}: ok\n"))?;
            }
            Some(found) => {
                console::data(&format!("{name} {found:.4} < {least:.4}: failed\n"))?;
                exit = Exit::Blocked;
            }
        }
    }
    Ok(exit)
}

fn unknown_because(args: &GateArgs, result: &EvalResult) -> Option<String> {
    let unreviewed = result.scores.cases.could_not_review;
    if result.not_run > 0 {
        return Some(format!("{} reviews were not run", result.not_run));
    }
    (unreviewed > args.max_unreviewed).then(|| {
        let most = args.max_unreviewed;
        format!("{unreviewed} reviews failed, at most {most} are allowed")
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
            return Err(Failure::usage("the two runs have different cases")
                .hint("compare runs over the same sets and selection"));
        }
        let before = baseline.scores.of(mode).rates.f1;
        let before = before.ok_or_else(|| Failure::usage("the baseline has no F1"))?;
        let found = rates.f1;
        checks.push(ThresholdCheck {
            name: "F1 against the baseline",
            found,
            least: before - drop,
        });
    }
    match checks.is_empty() {
        true => Err(Failure::usage("no limit given").hint("add --min-f1 or another limit")),
        false => Ok(checks),
    }
}
