//! A panel: lanes in this process, or an external gate program if the settings name one.

use super::{ChosenReviewers, ReviewerOptions};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::wiring::gate::{
    InProcessSettings, TemporaryLanes, panel, panel_reviewers, temporary_lanes, variables,
};
use crate::wiring::reviewers;
use crate::wiring::rules::ProjectRules;
use mala_adapters::process::ProcessEnvironment;
use mala_adapters::reviewers::review_gate::{ExternalGateSettings, NAME, ReviewGate};
use mala_domain::agent::prompts;
use mala_domain::config::{CerberusSettings, ReviewPolicy, ReviewerType};
use mala_domain::gate::MARKER;
use mala_domain::gate::session::{CheckerSettings, SessionProgress};
use mala_domain::scope::ReviewTarget;
use mala_pipeline::gate::{LaneProgress, PanelContext, PanelSettings};
use std::sync::Arc;
use std::time::Duration;

/// The gate program of mala.
const GATE: &str = "review-gate";

/// The minimum time of a review that is reserved for the steps after the lanes.
const MARGIN: Duration = Duration::from_secs(5);

pub(super) async fn chosen(
    policy: &ReviewPolicy,
    here: &Environment,
    rules: ProjectRules,
    options: &ReviewerOptions,
) -> anyhow::Result<ChosenReviewers> {
    let cerberus = policy.cerberus.value.clone().unwrap_or_default();
    if cerberus.is_external() {
        return Ok(external(cerberus, here, options)?);
    }
    if here.variable(MARKER).is_some() {
        return Err(refusal("this process is already a reviewer of a panel").into());
    }
    if matches!(options.target, ReviewTarget::Staged | ReviewTarget::Patch(_)) {
        let what = "it reviews commits or the working tree, not the index or a patch";
        return Err(refusal(what).into());
    }
    in_process(policy, here, rules, options).await
}

fn refusal(why: &str) -> Failure {
    super::refusal(NAME, why)
}

/// The members of the panel; lanes run in a temporary copy of the repository.
async fn in_process(
    policy: &ReviewPolicy,
    here: &Environment,
    rules: ProjectRules,
    options: &ReviewerOptions,
) -> anyhow::Result<ChosenReviewers> {
    let gate = &options.gate;
    let (members, mut warnings) = panel(&[], (gate, policy, &options.models), here)?;
    if members.is_empty() {
        let failure = refusal("no lane of the panel is usable");
        let failure = failure.hint("run `review-gate lanes` to see why");
        let absent = ChosenReviewers::absent(ReviewerType::Cerberus, failure.into());
        return Ok(ChosenReviewers { warnings, ..absent });
    }
    let TemporaryLanes { lanes, head, secret, logs } =
        temporary_lanes(here, &options.target, true).await?;
    let timeout = lane_time(policy.timeout_for(ReviewerType::Cerberus));
    let lane_timeout = timeout.min(gate.timeout.value.duration());
    let panel = PanelContext::new(
        lanes,
        PanelSettings {
            head,
            secret,
            reasoning: "high".to_owned(),
            timeout: lane_timeout,
            started: Arc::new(|_| {}),
        },
    );
    let agent = CheckerSettings::of(policy);
    let models = &options.models;
    let own = InProcessSettings { agent: &agent, models, rules, timeout: lane_timeout };
    let progress = Arc::new(LaneProgress::new(|_: &SessionProgress| {}));
    let chosen = panel_reviewers(&members, &panel, &progress, &own, here).await;
    let verifier = match gate.agent_checks.value {
        true => match reviewers::checker(&agent, here, options.models.clone()).await {
            Ok(agent) => Some(agent),
            Err(error) => {
                warnings.push(format!("the agent checks nothing: {error:#}"));
                None
            }
        },
        false => None,
    };
    Ok(ChosenReviewers {
        panel: chosen.reviewers.iter().map(|it| it.name().to_owned()).collect(),
        reviewers: chosen.reviewers,
        peers: chosen.lanes,
        verifier,
        rule: gate.consensus.value,
        check_time: timeout,
        lane_logs: Some(logs),
        warnings,
        ..ChosenReviewers::none(ReviewerType::Cerberus, format!("{NAME} {}", prompts::version()))
    })
}

/// The time limit of a lane in a review with this time limit: a lane that hangs ends before the review,
/// so that the other lanes count.
fn lane_time(time: Duration) -> Duration {
    time.saturating_sub((time / 4).max(MARGIN)).max(time / 2)
}

/// A panel of an external gate program.
fn external(
    cerberus: CerberusSettings,
    here: &Environment,
    options: &ReviewerOptions,
) -> Result<ChosenReviewers, Failure> {
    let environment = variables(here);
    let command = command(cerberus.command, &environment)?;
    let version = format!("{NAME} {}", command.join(" "));
    let gate = ReviewGate::new(ExternalGateSettings {
        command,
        spawn_args: cerberus.spawn_args,
        wait_args: cerberus.wait_args,
        env: cerberus.env,
        environment,
        folder: here.root().to_owned(),
        target: options.target.clone(),
    });
    Ok(ChosenReviewers::one(ReviewerType::Cerberus, Arc::new(gate), version))
}

/// The command of the gate program.
fn command(
    named: Option<Vec<String>>,
    environment: &ProcessEnvironment,
) -> Result<Vec<String>, Failure> {
    let refuse = |program: &str| {
        let hint = "add it to PATH, or set its full path in review.cerberus.command";
        refusal(&format!("{program} not found")).hint(hint)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_end_before_their_review() {
        for (review, lane) in [(4, 2), (20, 15), (24, 18), (300, 225)] {
            let time = lane_time(Duration::from_secs(review));
            assert_eq!(time, Duration::from_secs(lane), "{review}");
        }
    }
}
