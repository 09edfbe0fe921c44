//! How several reviewers share one review: their order, thresholds, consensus rule, time limit and budget.
//! The order in which a user names them does not matter.

use super::consensus::ConsensusRule;
use super::decide::DecisionPolicy;
use crate::config::{CerberusSettings, ConfigOrigin, GatePolicy, ReviewPolicy, ReviewerType};
use crate::verdict::Threshold;
use std::time::Duration;

/// The name of the budget when no reviewer uses one.
const NO_BUDGET: &str = "standard";

/// The common settings of all reviewers of a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedReviewPolicy {
    /// The policy of the decision.
    pub decision: DecisionPolicy,
    /// The time limit of the reviewers: the longest of their limits.
    pub timeout: Duration,
    /// The name of the budget profile.
    pub budget_profile: String,
}

/// The named reviewers in the order in which they run.
///
/// # Errors
/// The reviewer that is named twice.
pub fn in_order(named: &[ReviewerType]) -> Result<Vec<ReviewerType>, ReviewerType> {
    let count = |kind: ReviewerType| named.iter().filter(|it| **it == kind).count();
    match ReviewerType::ALL.into_iter().find(|kind| count(*kind) > 1) {
        Some(twice) => Err(twice),
        None => Ok(ReviewerType::ALL.into_iter().filter(|kind| count(*kind) == 1).collect()),
    }
}

/// A description of the configured command that a review by the named reviewers, or by the one in
/// the settings, would run. It does not run on the change of a fork unless the settings allow it.
/// Lanes count if `gate.lanes` defines or changes them.
pub fn configured_command(
    named: &[ReviewerType],
    policy: &ReviewPolicy,
    gate: &GatePolicy,
) -> Option<String> {
    let kinds = if named.is_empty() { policy.reviewer.value.as_slice() } else { named };
    if kinds.contains(&ReviewerType::Command) {
        return Some("the reviewer 'command'".to_owned());
    }
    if !kinds.contains(&ReviewerType::Cerberus) {
        return None;
    }
    if policy.cerberus.value.as_ref().is_some_and(CerberusSettings::is_external) {
        return Some("the program of review.cerberus".to_owned());
    }
    let is_member =
        |name: &&String| gate.panel.value.as_ref().is_none_or(|panel| panel.contains(name));
    gate.lanes.keys().find(is_member).map(|name| format!("the lane '{name}' of gate.lanes"))
}

/// The policy of a review by these reviewers. `panel` has the names of the members of the panel among
/// them: they block from P3 on unless a threshold is set, and the panel passes a change by its own rule.
/// Every other reviewer must pass the change.
pub fn for_reviewers(
    kinds: &[ReviewerType],
    panel: Vec<String>,
    rule: ConsensusRule,
    policy: &ReviewPolicy,
) -> SharedReviewPolicy {
    let fail_on_objection = match policy.fail_on.origin {
        ConfigOrigin::Default => Threshold::P3,
        _ => policy.fail_on.value,
    };
    let timeouts = kinds.iter().map(|kind| policy.timeout_for(*kind));
    SharedReviewPolicy {
        timeout: timeouts.max().unwrap_or_default(),
        budget_profile: match kinds.iter().any(|kind| kind.uses_model()) {
            true => policy.budget.name(),
            false => NO_BUDGET.to_owned(),
        },
        decision: DecisionPolicy {
            fail_on: policy.fail_on.value,
            fail_on_objection,
            rule: if panel.is_empty() { ConsensusRule::Unanimous } else { rule },
            panel,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::budget::Profile;
    use crate::config::{
        BudgetSettings, Config, ConfigLayer, ReviewSettings, ReviewerType as Kind, gate_policy,
        policy,
    };

    fn settings(fail_on: Option<Threshold>) -> ReviewPolicy {
        let budget =
            BudgetSettings { profile: Some(Profile::Thorough), ..BudgetSettings::default() };
        let review = ReviewSettings { fail_on, budget, ..ReviewSettings::default() };
        let config = Config { review, ..Config::default() };
        policy(&[ConfigLayer { origin: ConfigOrigin::CommandLine, config }])
    }

    #[test]
    fn reviewers_run_in_one_order_and_once() {
        use Kind::{AgentSdk, Builtin, Cerberus, Command};
        type Row<'r> = (&'r [Kind], Result<&'r [Kind], Kind>);
        let rows: [Row<'_>; 6] = [
            (&[], Ok(&[])),
            (&[AgentSdk], Ok(&[AgentSdk])),
            (&[Builtin, AgentSdk], Ok(&[Builtin, AgentSdk])),
            (&[AgentSdk, Builtin], Ok(&[Builtin, AgentSdk])),
            (&[Command, Cerberus, Builtin], Ok(&[Builtin, Cerberus, Command])),
            (&[Builtin, Command, Builtin], Err(Builtin)),
        ];
        for (named, expected) in rows {
            assert_eq!(in_order(named).as_deref(), expected.as_ref().map(|it| *it), "{named:?}");
        }
    }

    #[test]
    fn configured_commands_are_named() {
        use Kind::{AgentSdk, Builtin, Cerberus, Command};
        let own = "gate: {lanes: {mine: {command: [x]}}}\n";
        let rows: [(&[Kind], &str, Option<&str>); 10] = [
            (&[], "", None),
            (&[Builtin, AgentSdk], own, None),
            (&[Builtin, Command], "", Some("the reviewer 'command'")),
            (&[], "reviewer_type: command", Some("the reviewer 'command'")),
            (&[Builtin], "reviewer_type: command", None),
            (&[Cerberus], "gate: {panel: [codex]}", None),
            (&[Cerberus], own, Some("the lane 'mine' of gate.lanes")),
            (&[Cerberus], "gate: {panel: [codex], lanes: {mine: {command: [x]}}}", None),
            (
                &[],
                "reviewer_type: cerberus\ngate: {lanes: {codex: {keep: [KEY]}}}",
                Some("the lane 'codex' of gate.lanes"),
            ),
            (
                &[Cerberus],
                "review: {cerberus: {command: [x]}}",
                Some("the program of review.cerberus"),
            ),
        ];
        for (named, yaml, expected) in rows {
            let config: Config = serde_saphyr::from_str(yaml).unwrap();
            let layers = [ConfigLayer { origin: ConfigOrigin::CommandLine, config }];
            let found = configured_command(named, &policy(&layers), &gate_policy(&layers));
            assert_eq!(found.as_deref(), expected, "{named:?} {yaml}");
        }
    }

    #[test]
    fn each_reviewer_keeps_its_threshold_limit_and_budget() {
        use Kind::{AgentSdk, Builtin, Cerberus, Command};
        use Threshold::{P1, P2, P3};
        let none = || None;
        // Reviewers, threshold in the settings; threshold of reviewers and of lanes, rule, seconds, budget.
        type Row<'r> = (&'r [Kind], Option<Threshold>, Threshold, Threshold, &'r str, u64, &'r str);
        let rows: [Row<'_>; 8] = [
            (&[Builtin], none(), P1, P3, "unanimous", 300, "standard"),
            (&[Builtin], Some(P2), P2, P2, "unanimous", 300, "standard"),
            (&[AgentSdk], none(), P1, P3, "unanimous", 600, "thorough"),
            (&[Command], none(), P1, P3, "unanimous", 300, "thorough"),
            (&[Cerberus], none(), P1, P3, "any", 300, "standard"),
            (&[Builtin, AgentSdk], none(), P1, P3, "unanimous", 600, "thorough"),
            (&[Builtin, Cerberus], none(), P1, P3, "any", 300, "standard"),
            (&[Builtin, Cerberus], Some(P1), P1, P1, "any", 300, "standard"),
        ];
        for (kinds, set, fail_on, fail_on_objection, rule, seconds, budget) in rows {
            let mut reversed = kinds.to_vec();
            reversed.reverse();
            for kinds in [kinds.to_vec(), reversed] {
                let panel = match kinds.contains(&Cerberus) {
                    true => vec!["codex".to_owned()],
                    false => Vec::new(),
                };
                let shared = for_reviewers(&kinds, panel, ConsensusRule::Any, &settings(set));
                let got = &shared.decision;
                assert_eq!((got.fail_on, got.fail_on_objection), (fail_on, fail_on_objection));
                assert_eq!(got.rule.to_string(), rule, "{kinds:?}");
                assert_eq!(shared.timeout.as_secs(), seconds, "{kinds:?}");
                assert!(shared.budget_profile.starts_with(budget), "{kinds:?}: {shared:?}");
            }
        }
    }
}
