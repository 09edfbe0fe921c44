//! The built-in reviewer, which needs no model, key or network.

use super::ChosenReviewers;
use crate::environment::Environment;
use crate::wiring::changes::child_environment;
use crate::wiring::rules::ProjectRules;
use mala_adapters::linters::{LinterContext, LinterSettings};
use mala_adapters::reviewers::builtin::{Builtin, BuiltinSettings};
use mala_domain::config::{ReviewPolicy, ReviewerType};
use std::path::Path;
use std::sync::Arc;

pub(super) fn chosen(
    policy: &ReviewPolicy,
    here: &Environment,
    rules: ProjectRules,
    preface: Option<&str>,
) -> anyhow::Result<ChosenReviewers> {
    let version = format!("builtin {} {}", env!("CARGO_PKG_VERSION"), rules.fingerprint);
    let reviewer = Arc::new(reviewer(policy, here, rules)?);
    let preface = preface.map(str::to_owned);
    Ok(ChosenReviewers {
        preface,
        ..ChosenReviewers::one(ReviewerType::Builtin, reviewer, version)
    })
}

/// The built-in reviewer, on its own or for the hints of the agent.
pub(super) fn reviewer(
    policy: &ReviewPolicy,
    here: &Environment,
    rules: ProjectRules,
) -> anyhow::Result<Builtin> {
    Ok(Builtin::new(BuiltinSettings {
        switches: policy.switches()?,
        rules: rules.rules,
        linters: linter_settings(policy),
        linter_context: Some(linter_context(here)),
    }))
}

pub(super) fn linter_context(here: &Environment) -> LinterContext {
    let folder = here.work_tree().map(Path::to_owned);
    LinterContext { folder, environment: child_environment(here) }
}

pub(super) fn linter_settings(policy: &ReviewPolicy) -> LinterSettings {
    LinterSettings {
        mode: policy.linters.value,
        timeout: policy.linter_timeout.value.duration(),
        off: policy.linters_off.value.clone(),
        also: policy.linters_also.value.clone(),
    }
}
