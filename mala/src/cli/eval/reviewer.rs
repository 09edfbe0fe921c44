//! The reviewer and the judge of a run, resolved and checked before the first case.

use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::interrupt::until_interrupted;
use crate::settings::{Settings, UserModels};
use crate::wiring::changes::Changes;
use crate::wiring::eval::{ConfiguredReviewer, EvalReviewer, JudgeSetup, SampleRepository};
use crate::wiring::models::{self, Models};
use crate::wiring::reviewers::{self, ReviewerOptions};
use crate::wiring::rules::{ProjectRules, project_rules};
use crate::wiring::trusted_settings::WorkingTreeSettings;
use anyhow::Context;
use mala_domain::agent::budget::{Dollars, Profile, UnknownPricePolicy};
use mala_domain::config::{
    BudgetSettings, Config, ConfigOrigin, GatePolicy, ReviewPolicy, ReviewSettings, ReviewerType,
    Seconds,
};
use mala_domain::scope::ReviewTarget;
use mala_eval::JudgeUsed;
use mala_eval::dummy::DummyReviewer;
use mala_eval::judging::ask::judge_limits;
use mala_eval::record::ReviewerUsed;
use mala_eval::store::runs::EvalRunFolder;

/// The reviewer that the command line or a header names.
pub(super) struct ReviewerRequest {
    pub(super) reviewer: Option<String>,
    pub(super) model: Option<String>,
    pub(super) profile: Option<Profile>,
    pub(super) timeout: Option<i64>,
}

impl ReviewerRequest {
    /// The reviewer, its identity for the record, and the worst cost of a case.
    pub(super) fn choose(
        &self,
        here: &Environment,
        source: &WorkingTreeSettings,
        replay: Option<&EvalRunFolder>,
    ) -> anyhow::Result<(EvalReviewer, ReviewerUsed, Dollars)> {
        if let Some(Ok(dummy)) = self.reviewer.as_deref().map(str::parse::<DummyReviewer>) {
            let name = dummy.name().to_owned();
            let used = ReviewerUsed { name, model: None, profile: None, version: None };
            return Ok((EvalReviewer::Dummy(dummy), used, Dollars::ZERO));
        }
        let kind = self.reviewer.as_deref().map(str::parse::<ReviewerType>).transpose();
        let kind = kind.map_err(|why| {
            let dummies: Vec<&str> = DummyReviewer::ALL.map(DummyReviewer::name).into();
            Failure::usage(format!("{why}, {}", dummies.join(", ")))
        })?;
        let settings = source.settings(self.flags(kind))?;
        let (gate, models, mut policy) = (settings.gate, settings.models, settings.policy);
        let mut used = None;
        let mut real = None;
        until_interrupted(async {
            let rules = own_rules(here).await?;
            match replay {
                Some(run) => used = Some(run.header()?.reviewer),
                None => {
                    used = Some(
                        resolve(&mut policy, &gate, here, rules.clone(), models.clone()).await?,
                    )
                }
            }
            real = Some(rules);
            Ok(Exit::Passed)
        })?;
        let used = used.context("interrupted")?;
        let per_case = match policy.reviewer.value {
            Some(ReviewerType::Builtin) => Dollars::ZERO,
            _ if replay.is_some() => Dollars::ZERO,
            _ => policy.budget.limits().max_cost,
        };
        let connections = Some(models::connections(here)?);
        let (rules, file) = (real.unwrap_or_default(), source.file());
        let real = ConfiguredReviewer { gate, models, policy, rules, connections, file };
        Ok((EvalReviewer::Configured(Box::new(real)), used, per_case))
    }

    fn flags(&self, kind: Option<ReviewerType>) -> Config {
        Config {
            reviewer_type: kind,
            agent_sdk_reviewer_model: self.model.clone(),
            review: ReviewSettings {
                timeout: self.timeout.and_then(Seconds::new),
                budget: BudgetSettings { profile: self.profile, ..BudgetSettings::default() },
                ..ReviewSettings::default()
            },
            ..Config::default()
        }
    }
}

/// Checks before the first case that the reviewer is available, and fixes its identity for all cases.
async fn resolve(
    policy: &mut ReviewPolicy,
    gate: &GatePolicy,
    here: &Environment,
    rules: ProjectRules,
    models: UserModels,
) -> anyhow::Result<ReviewerUsed> {
    // Commands and lanes run in a copy of a repository, and the current folder may not be in one.
    let sample = match policy.reviewer.value {
        Some(kind) if kind.runs_programs() => Some(SampleRepository::create(here).await?),
        _ => None,
    };
    let here = sample.as_ref().map_or(here, |sample| &sample.inside);
    let options = ReviewerOptions { gate: gate.clone(), ..ReviewerOptions::new(models) };
    let chosen = reviewers::choose(policy, here, rules, options).await?;
    let chosen = chosen.all_available()?;
    let kind = chosen.kinds.first().copied().context("no reviewer is named")?;
    policy.reviewer.value = Some(kind);
    let is_agent = kind == ReviewerType::AgentSdk;
    // The user's name for a model resolves again; the provider's name may not.
    let is_named = is_agent && policy.agent_model.origin != ConfigOrigin::Default;
    Ok(ReviewerUsed {
        name: kind.to_string(),
        model: if is_named { Some(policy.agent_model.value.clone()) } else { chosen.model },
        profile: is_agent.then(|| policy.budget.name()),
        version: Some(chosen.version),
    })
}

/// The rules of the project around the current folder; none outside of a repository.
async fn own_rules(here: &Environment) -> anyhow::Result<ProjectRules> {
    if here.work_tree().is_none() {
        return Ok(ProjectRules::default());
    }
    let target = ReviewTarget::WorkingTree;
    let scoped = Changes::open(here).await.scope(&target, &[]).await?;
    let mut notices = Vec::new();
    let rules = project_rules(&scoped, &target, &mut notices).await?;
    notices.iter().for_each(|notice| console::say(notice));
    Ok(rules)
}

/// The judge of a run.
pub(super) struct RunJudge {
    pub(super) used: JudgeUsed,
    pub(super) setup: JudgeSetup,
    /// The worst cost of judging a case.
    pub(super) per_case: Dollars,
}

/// The model with this name, by default the agent's. With a run to replay, the model is not called.
pub(super) fn choose_judge(
    name: Option<&str>,
    here: &Environment,
    source: &WorkingTreeSettings,
    replay: Option<&EvalRunFolder>,
) -> anyhow::Result<RunJudge> {
    let Settings { policy, models: user, .. } = source.settings(Config::default())?;
    let connections = models::connections(here)?;
    let models = Models::new(here, &user, connections.clone())?;
    let choice = match name {
        Some(name) => models.choose(name)?,
        None => reviewers::model(&policy, &models)?,
    };
    let review = policy.budget.limits();
    let limits = judge_limits(choice.known.as_ref(), review);
    if replay.is_none() {
        if let Some(problem) = models.unavailable(choice.provider) {
            return Err(Failure::from(problem).into());
        }
        let is_priced = choice.known.as_ref().is_some_and(|known| known.price.is_some());
        if !is_priced && limits.unpriced == UnknownPricePolicy::Refuse {
            let what =
                format!("the price of {} is unknown, so it cannot be the judge", choice.name);
            return Err(Failure::new(FailureKind::NoReviewers, what)
                .hint("set review.budget.allow_unknown_price in mala.yaml, or choose another model")
                .into());
        }
    }
    let model = name.map_or_else(|| choice.name.clone(), str::to_owned);
    let per_case = if replay.is_some() { Dollars::ZERO } else { limits.max_cost };
    let used = JudgeUsed::of(&model);
    Ok(RunJudge { used, setup: JudgeSetup { model, limits, connections, models: user }, per_case })
}
