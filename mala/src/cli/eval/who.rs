//! Who reviews the cases of a run: made sure of before the first case.

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::interrupt::until_interrupted;
use crate::console;
use crate::settings;
use crate::surroundings::Surroundings;
use crate::wiring::changes::Changes;
use crate::wiring::eval::{Real, RunFolder, Sample, Who};
use crate::wiring::models;
use crate::wiring::probe::Probe;
use crate::wiring::reviewers::{self, ReviewerOptions};
use crate::wiring::rules::{ProjectRules, project_rules};
use anyhow::Context;
use mala_domain::agent::budget::{Dollars, Profile};
use mala_domain::config::{
    Budget, Config, FILE_NAME, Origin, ReviewBlock, ReviewPolicy, ReviewerType, Seconds,
};
use mala_domain::eval::dummy::Dummy;
use mala_domain::eval::record::ReviewerUsed;
use mala_domain::scope::Target;

/// Whom the command line or a header names.
pub(super) struct Wanted {
    pub(super) reviewer: Option<String>,
    pub(super) model: Option<String>,
    pub(super) profile: Option<Profile>,
    pub(super) timeout: Option<i64>,
}

impl Wanted {
    /// Who that is, what to call them, and what a case could cost.
    pub(super) fn choose(
        &self,
        here: &Surroundings,
        replay: Option<&RunFolder>,
    ) -> anyhow::Result<(Who, ReviewerUsed, Dollars)> {
        if let Some(Ok(dummy)) = self.reviewer.as_deref().map(str::parse::<Dummy>) {
            let name = dummy.name().to_owned();
            let used = ReviewerUsed { name, model: None, profile: None, version: None };
            return Ok((Who::Dummy(dummy), used, Dollars::ZERO));
        }
        let kind = self.reviewer.as_deref().map(str::parse::<ReviewerType>).transpose();
        let kind = kind.map_err(|why| {
            let dummies: Vec<&str> = Dummy::ALL.map(Dummy::name).into();
            Failure::usage(format!("{why}, {}", dummies.join(", ")))
        })?;
        let probe = Probe::new(here, here.root()).context("starting the runtime")?;
        let settings = settings::of_working_tree_with(here, &probe, self.flags(kind))?;
        drop(probe);
        let (gate, mut policy) = (settings.gate, settings.policy);
        let mut used = None;
        let mut real = None;
        until_interrupted(async {
            let rules = own_rules(here).await?;
            match replay {
                Some(run) => used = Some(run.header()?.reviewer),
                None => used = Some(asked(&mut policy, here, rules.clone()).await?),
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
        let file = settings::read_if_there(&here.root().join(FILE_NAME))?;
        let real = Real { gate, policy, rules: real.unwrap_or_default(), connections, file };
        Ok((Who::Real(Box::new(real)), used, per_case))
    }

    fn flags(&self, kind: Option<ReviewerType>) -> Config {
        Config {
            reviewer_type: kind,
            agent_sdk_reviewer_model: self.model.clone(),
            review: ReviewBlock {
                timeout: self.timeout.and_then(Seconds::new),
                budget: Budget { profile: self.profile, ..Budget::default() },
                ..ReviewBlock::default()
            },
            ..Config::default()
        }
    }
}

/// Makes sure that the reviewer can be asked, before the first case, and that every case asks the same
/// one.
async fn asked(
    policy: &mut ReviewPolicy,
    here: &Surroundings,
    rules: ProjectRules,
) -> anyhow::Result<ReviewerUsed> {
    // Commands and lanes run in a copy of a repository, and there need be none around the current folder.
    let sample = match policy.reviewer.value {
        Some(ReviewerType::Command | ReviewerType::Cerberus) => Some(Sample::lay_out(here).await?),
        _ => None,
    };
    let here = sample.as_ref().map_or(here, |sample| &sample.inside);
    let chosen = reviewers::choose(policy, here, rules, ReviewerOptions::nothing()).await?;
    policy.reviewer.value = Some(chosen.kind);
    let is_agent = chosen.kind == ReviewerType::AgentSdk;
    // The user's own word for a model finds it again; the provider's may not.
    let is_named = is_agent && policy.agent_model.origin != Origin::Default;
    Ok(ReviewerUsed {
        name: chosen.kind.to_string(),
        model: if is_named { Some(policy.agent_model.value.clone()) } else { chosen.model },
        profile: is_agent.then_some(chosen.budget_profile),
        version: Some(chosen.version),
    })
}

/// The rules of the project around the current folder; none outside of a repository.
async fn own_rules(here: &Surroundings) -> anyhow::Result<ProjectRules> {
    if here.work_tree().is_none() {
        return Ok(ProjectRules::default());
    }
    let target = Target::WorkingTree;
    let scoped = Changes::open(here).await.scope(&target, &[]).await?;
    let mut notices = Vec::new();
    let rules = project_rules(&scoped, &target, &mut notices).await?;
    notices.iter().for_each(|notice| console::say(notice));
    Ok(rules)
}
