//! The panel behind a gate: the one that the settings name, else our own.

use super::{Chosen, Wishes};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::surroundings::Surroundings;
use crate::wiring::gate::variables;
use mala_adapters::process::ProcessEnvironment;
use mala_adapters::reviewers::review_gate::{NAME, ReviewGate, Settings};
use mala_domain::config::{ReviewPolicy, ReviewerType};
use std::sync::Arc;

/// The program of our own gate.
const GATE: &str = "review-gate";

pub(super) fn chosen(
    policy: &ReviewPolicy,
    here: &Surroundings,
    wishes: Wishes,
) -> Result<Chosen, Failure> {
    let cerberus = policy.cerberus.value.clone().unwrap_or_default();
    let environment = variables(here);
    let command = command(cerberus.command, &environment)?;
    let version = format!("{NAME} {}", command.join(" "));
    let gate = ReviewGate::new(Settings {
        command,
        spawn_args: cerberus.spawn_args,
        wait_args: cerberus.wait_args,
        env: cerberus.env,
        environment,
        folder: here.root().to_owned(),
        target: wishes.target,
        tasks: wishes.tasks,
    });
    Ok(Chosen {
        kind: ReviewerType::Cerberus,
        reviewers: vec![Arc::new(gate)],
        agent: None,
        model: None,
        version,
        budget_profile: "standard".to_owned(),
        preface: None,
        recording: None,
        refusal: None,
    })
}

/// The command of the gate, with its program found.
fn command(
    named: Option<Vec<String>>,
    environment: &ProcessEnvironment,
) -> Result<Vec<String>, Failure> {
    let refuse = |program: &str| {
        let what = format!("the reviewer {NAME} cannot be asked: {program} is not there");
        let hint = "put it on the path, or name it by its full path in review.cerberus.command";
        Failure::new(Exit::NoReviewers, what).hint(hint)
    };
    match named {
        Some(command) => {
            let program = command.first().map_or("", String::as_str);
            environment.find(program).ok_or_else(|| refuse(program))?;
            Ok(command)
        }
        None => {
            let beside = std::env::current_exe().ok();
            let beside = beside.and_then(|own| environment.find(own.with_file_name(GATE)));
            let found = beside.or_else(|| environment.find(GATE)).ok_or_else(|| refuse(GATE))?;
            Ok(vec![found.display().to_string()])
        }
    }
}
