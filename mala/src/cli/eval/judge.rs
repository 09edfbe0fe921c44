//! Who judges for the semantic mode: made sure of before the first case.

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::settings;
use crate::surroundings::Surroundings;
use crate::wiring::eval::JudgeSetup;
use crate::wiring::models::{Models, connections};
use crate::wiring::probe::Probe;
use crate::wiring::reviewers;
use anyhow::Context;
use mala_domain::agent::budget::{Dollars, Unpriced};
use mala_eval::JudgeUsed;
use mala_eval::judging::ask::judge_limits;
use mala_eval::store::runs::EvalRunFolder;

/// A judge that can be asked.
pub(super) struct RunJudge {
    pub(super) used: JudgeUsed,
    pub(super) desk: JudgeSetup,
    /// What it could cost to judge a case.
    pub(super) per_case: Dollars,
}

/// The model of this name, or the one that the agent would be; only as it once answered with a run to
/// replay.
pub(super) fn choose(
    name: Option<&str>,
    here: &Surroundings,
    replay: Option<&EvalRunFolder>,
) -> anyhow::Result<RunJudge> {
    let probe = Probe::new(here, here.root()).context("starting the runtime")?;
    let policy = settings::of_working_tree(here, &probe)?.policy;
    let connections = connections(here)?;
    let models = Models::over(here, connections.clone())?;
    let choice = match name {
        Some(name) => models.choose(name)?,
        None => reviewers::model(&policy, &models)?,
    };
    let review = policy.budget.limits();
    let limits = judge_limits(choice.known.as_ref(), review);
    if replay.is_none() {
        if let Some(obstacle) = models.obstacle(choice.provider) {
            return Err(Failure::from(obstacle).into());
        }
        let is_priced = choice.known.as_ref().is_some_and(|known| known.price.is_some());
        if !is_priced && limits.unpriced == Unpriced::Refuse {
            let what = format!("nobody knows what {} costs, so it cannot judge", choice.name);
            return Err(Failure::new(Exit::NoReviewers, what)
                .hint("set review.budget.allow_unknown_price in mala.yaml, or name another model")
                .into());
        }
    }
    let model = name.map_or_else(|| choice.name.clone(), str::to_owned);
    let per_case = if replay.is_some() { Dollars::ZERO } else { limits.max_cost };
    let used = JudgeUsed::of(&model);
    Ok(RunJudge { used, desk: JudgeSetup { model, limits, connections }, per_case })
}
