//! `mala eval gate`: checks a run against limits.

use super::kept;
use super::output::{ModeName, rate};
use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::Failure;
use clap::Args;
use mala_eval::EvalResult;
use mala_eval::limits::{EvalLimits, LimitCheck, LimitError, LimitFacts, check};

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

pub(super) fn run(args: &GateArgs, here: &Environment) -> anyhow::Result<Exit> {
    let evals = kept::here(here);
    let result = kept::result(&evals, &args.run, &here.folder)?;
    let baseline = args.baseline.as_deref();
    let baseline = baseline.map(|name| kept::result(&evals, name, &here.folder)).transpose()?;
    for result in [Some(&result), baseline.as_ref()].into_iter().flatten() {
        kept::rule(&result.run, args.mode.into())?;
    }
    let facts = |result: &EvalResult| LimitFacts::of(result, args.mode.into());
    let checks = match check(&limits(args), &facts(&result), baseline.as_ref().map(facts).as_ref())
    {
        Ok(checks) => checks,
        Err(error) => return refused(&error),
    };
    let mut exit = Exit::Passed;
    for LimitCheck { name, found, least } in checks {
        match found {
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

fn limits(args: &GateArgs) -> EvalLimits {
    EvalLimits {
        min_f1: args.min_f1,
        min_recall: args.min_recall,
        min_precision: args.min_precision,
        max_drop: args.max_drop,
        max_unreviewed: args.max_unreviewed,
    }
}

/// Invalid limits are a usage error; a run with too little data is not.
fn refused(error: &LimitError) -> anyhow::Result<Exit> {
    let usage = Failure::usage(error.to_string());
    match error {
        LimitError::NoLimit => Err(usage.hint("add --min-f1 or another limit").into()),
        LimitError::DifferentCases => {
            Err(usage.hint("compare runs over the same sets and selection").into())
        }
        LimitError::NoBaselineRate => Err(usage.into()),
        LimitError::NotRun(_) | LimitError::TooManyFailed { .. } => {
            console::say(&format!("error: cannot check the limits: {error}"));
            Ok(Exit::CouldNotReview)
        }
    }
}
