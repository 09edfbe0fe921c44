//! Every reviewer, by the name a user writes. A reviewer that somebody names never falls back to
//! another one.

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::surroundings::Surroundings;
use crate::wiring::changes::environment;
use crate::wiring::rules::ProjectRules;
use mala_adapters::linters::{LinterSettings, LinterWorld};
use mala_adapters::reviewers::builtin::{Builtin, Settings};
use mala_domain::config::{ReviewPolicy, ReviewerType};
use mala_domain::ports::Reviewer;
use std::path::Path;
use std::sync::Arc;

/// The variables that hold a key for a model.
pub const MODEL_KEYS: [&str; 3] = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"];

/// Who reviews.
pub struct Chosen {
    /// What kind of reviewer it is.
    pub kind: ReviewerType,
    /// The reviewers themselves.
    pub reviewers: Vec<Arc<dyn Reviewer>>,
    /// The version of what they go by.
    pub version: String,
    /// What to say before everything else.
    pub preface: Option<String>,
}

/// The reviewer that the settings name; with nobody named, the built-in one, and it says so.
pub fn choose(
    policy: &ReviewPolicy,
    here: &Surroundings,
    rules: ProjectRules,
) -> anyhow::Result<Chosen> {
    match policy.reviewer.value {
        Some(ReviewerType::Builtin) => builtin(policy, here, rules, None),
        None => builtin(policy, here, rules, Some(fallback_notice(here))),
        Some(other) => Err(unavailable(other, here).into()),
    }
}

fn builtin(
    policy: &ReviewPolicy,
    here: &Surroundings,
    rules: ProjectRules,
    preface: Option<String>,
) -> anyhow::Result<Chosen> {
    let switches = policy.switches()?;
    let version = format!("builtin {} {}", env!("CARGO_PKG_VERSION"), rules.fingerprint);
    let folder = here.work_tree().map(Path::to_owned);
    let reviewer = Builtin::new(Settings {
        switches,
        rules: rules.rules,
        linters: linters(policy),
        linter_world: Some(LinterWorld { folder, environment: environment(here) }),
    });
    Ok(Chosen {
        kind: ReviewerType::Builtin,
        reviewers: vec![Arc::new(reviewer)],
        version,
        preface,
    })
}

fn linters(policy: &ReviewPolicy) -> LinterSettings {
    LinterSettings {
        mode: policy.linters.value,
        timeout: policy.linter_timeout.value.duration(),
        off: policy.linters_off.value.clone(),
        also: policy.linters_also.value.clone(),
    }
}

fn fallback_notice(here: &Surroundings) -> String {
    match MODEL_KEYS.into_iter().find(|key| here.variable(key).is_some()) {
        Some(key) => format!(
            "Built-in analyzers only: {key} is set, and this version has no reviewer that uses it."
        ),
        None => "Built-in analyzers only: no model key is set.".to_owned(),
    }
}

fn unavailable(reviewer: ReviewerType, here: &Surroundings) -> Failure {
    let has_key = MODEL_KEYS.into_iter().any(|key| here.variable(key).is_some());
    let failure = |what: &str| Failure::new(Exit::NoReviewers, what);
    match reviewer {
        ReviewerType::AgentSdk if !has_key => {
            failure("the reviewer agent_sdk needs a model key, and none is set")
                .hint("set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY")
        }
        _ => failure(&format!("the reviewer {reviewer} is not in this version"))
            .hint("use --reviewer builtin"),
    }
}
