//! Which value holds when several places say something: the command line, then the environment, then
//! the user's own file, then the repository's file at the trusted ref, then the defaults.

mod budget;

pub use budget::BudgetPolicy;

use super::schema::{
    Cerberus, CommandReviewer, Config, LinterMode, LinterName, Retries, ReviewerType, RuleSetting,
    Seconds,
};
use super::switches::{RuleSwitches, SwitchProblem};
use crate::gate::canary::CanaryPlan;
use crate::gate::lane::LaneSettings;
use crate::review::consensus::ConsensusRule;
use crate::review::suppress::SuppressionPolicy;
use crate::verdict::Threshold;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A flag of the command line.
    CommandLine,
    /// This environment variable.
    Environment(&'static str),
    /// The user's own file.
    UserFile(String),
    /// The repository's file, with the state that it was read from.
    RepositoryFile(String),
    /// Nobody said anything.
    Default,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::CommandLine => f.write_str("command line"),
            Self::Environment(variable) => write!(f, "environment variable {variable}"),
            Self::UserFile(file) | Self::RepositoryFile(file) => f.write_str(file),
            Self::Default => f.write_str("default"),
        }
    }
}

/// What one place says.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Which place.
    pub origin: Origin,
    /// What it says; the keys that it leaves out say nothing.
    pub config: Config,
}

/// A value and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub origin: Origin,
}

/// How a change is reviewed, with every question answered.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewPolicy {
    /// Who reviews; `None` when nobody named one.
    pub reviewer: Sourced<Option<ReviewerType>>,
    /// From which priority on findings fail the review.
    pub fail_on: Sourced<Threshold>,
    /// How long a review may take; `None` leaves it to the reviewer.
    pub timeout: Sourced<Option<Seconds>>,
    /// The branch to compare with.
    pub base: Sourced<Option<String>>,
    /// How many findings the terminal shows.
    pub max_findings: Sourced<Option<u32>>,
    /// Files that are left out, as path globs.
    pub ignore: Sourced<Vec<String>>,
    /// More generated files, as path globs.
    pub generated: Sourced<Vec<String>>,
    /// Which comments set findings aside.
    pub suppressions: Sourced<SuppressionPolicy>,
    /// Rule settings of all layers; the last one that fits decides.
    pub rules: Vec<Sourced<RuleSetting>>,
    /// Whether linters run.
    pub linters: Sourced<LinterMode>,
    /// How long one linter may take.
    pub linter_timeout: Sourced<Seconds>,
    /// Linters that are never run.
    pub linters_off: Sourced<Vec<LinterName>>,
    /// Slow linters that run too.
    pub linters_also: Sourced<Vec<LinterName>>,
    /// How long the agent may take.
    pub agent_timeout: Sourced<Seconds>,
    /// The model behind the agent.
    pub agent_model: Sourced<String>,
    /// The stronger model.
    pub escalation_model: Sourced<Option<String>>,
    /// What the agent may spend.
    pub budget: BudgetPolicy,
    /// How a panel is asked; the most important place that says anything of it counts.
    pub cerberus: Sourced<Option<Cerberus>>,
    /// The command that reviews; the most important place that says anything of it counts.
    pub command: Sourced<Option<CommandReviewer>>,
}

const AGENT_SECONDS: i64 = 600;
const GATE_SECONDS: u64 = 300;
const GATE_TIMEOUT: i64 = 300;
const LINTER_SECONDS: i64 = 60;
const CANARIES: u32 = 5;
const CANARY_DOLLARS: f64 = 2.0;

/// The policy that these layers give, the most important one first.
pub fn policy(layers: &[Layer]) -> ReviewPolicy {
    let pick = Pick { layers };
    ReviewPolicy {
        reviewer: pick.maybe(|config| config.reviewer_type),
        fail_on: pick.or(|config| config.review.fail_on, Threshold::P1),
        timeout: pick.maybe(|config| config.review.timeout),
        base: pick.maybe(|config| config.review.base.clone()),
        max_findings: pick.maybe(|config| config.review.max_findings),
        ignore: pick.or(|config| config.review.ignore.clone(), Vec::new()),
        generated: pick.or(|config| config.review.generated.clone(), Vec::new()),
        suppressions: pick.or(|config| config.review.suppressions, SuppressionPolicy::All),
        rules: layers.iter().rev().flat_map(rules).collect(),
        linters: pick.or(|config| config.review.linters.enabled, LinterMode::Auto),
        linter_timeout: pick.or(|config| config.review.linters.timeout, seconds(LINTER_SECONDS)),
        linters_off: pick.or(|config| config.review.linters.off.clone(), Vec::new()),
        linters_also: pick.or(|config| config.review.linters.also.clone(), Vec::new()),
        agent_timeout: pick.or(|config| config.agent_sdk_review_timeout, seconds(AGENT_SECONDS)),
        agent_model: pick.or(|config| config.agent_sdk_reviewer_model.clone(), "sonnet".to_owned()),
        escalation_model: pick.maybe(|config| config.agent_sdk_escalation_model.clone()),
        budget: budget::policy(&pick),
        cerberus: pick.maybe(|config| config.review.cerberus.clone()),
        command: pick.maybe(|config| config.review.command.clone()),
    }
}

/// The panel, with every question answered.
#[derive(Debug, Clone, PartialEq)]
pub struct GatePolicy {
    /// How many must pass a change.
    pub consensus: Sourced<ConsensusRule>,
    /// How long a lane may take.
    pub timeout: Sourced<Seconds>,
    /// The lanes of the panel; `None` leaves it to what is installed.
    pub panel: Sourced<Option<Vec<String>>>,
    /// How often in a row the stop hook blocks.
    pub max_blocks: Sourced<Retries>,
    /// Whether the agent checks what no other lane could check.
    pub agent_checks: Sourced<bool>,
    /// After how many days the lanes are given canaries; `None` when they are not.
    pub canary_days: Sourced<Option<u32>>,
    /// How many canaries.
    pub canary_count: Sourced<u32>,
    /// What they may cost.
    pub canary_cost: Sourced<f64>,
    /// The lanes of all layers; where two have the same name, the more important layer's counts.
    pub lanes: BTreeMap<String, LaneSettings>,
    /// Where each of them comes from.
    pub lane_origins: BTreeMap<String, Origin>,
}

/// The panel that these layers give, the most important one first.
pub fn gate_policy(layers: &[Layer]) -> GatePolicy {
    let pick = Pick { layers };
    let own = layers.iter().rev().flat_map(|layer| layer.config.gate.lanes.clone());
    let origins = layers.iter().rev().flat_map(|layer| {
        layer.config.gate.lanes.keys().map(|name| (name.clone(), layer.origin.clone()))
    });
    GatePolicy {
        consensus: pick.or(|config| config.gate.consensus, ConsensusRule::Unanimous),
        timeout: pick.or(|config| config.gate.timeout, seconds(GATE_TIMEOUT)),
        panel: pick.maybe(|config| config.gate.panel.clone()),
        max_blocks: pick.or(|config| config.gate.max_blocks, Retries::default()),
        agent_checks: pick.or(|config| config.gate.agent_checks, false),
        canary_days: pick.maybe(|config| config.gate.canaries.every_days),
        canary_count: pick.or(|config| config.gate.canaries.count, CANARIES),
        canary_cost: pick.or(|config| config.gate.canaries.max_cost_usd, CANARY_DOLLARS),
        lane_origins: origins.collect(),
        lanes: own.collect(),
    }
}

impl GatePolicy {
    /// Every key but the lanes, with its value as JSON and where it comes from.
    pub fn entries(&self) -> Vec<(&'static str, Value, &Origin)> {
        vec![
            entry("gate.consensus", &self.consensus),
            entry("gate.timeout", &self.timeout),
            entry("gate.panel", &self.panel),
            entry("gate.max_blocks", &self.max_blocks),
            entry("gate.agent_checks", &self.agent_checks),
            entry("gate.canaries.every_days", &self.canary_days),
            entry("gate.canaries.count", &self.canary_count),
            entry("gate.canaries.max_cost_usd", &self.canary_cost),
        ]
    }

    /// When and how the lanes are given canaries; `None` when they are not.
    pub fn canaries(&self) -> Option<CanaryPlan> {
        let (count, max_cost_usd) = (self.canary_count.value, self.canary_cost.value);
        let every_days = self.canary_days.value?;
        Some(CanaryPlan { every_days, count, max_cost_usd })
    }
}

impl ReviewPolicy {
    /// The rule settings, made ready to ask.
    pub fn switches(&self) -> Result<RuleSwitches, SwitchProblem> {
        let settings: Vec<RuleSetting> =
            self.rules.iter().map(|setting| setting.value.clone()).collect();
        RuleSwitches::new(&settings)
    }

    /// Every key but the rules, with its value as JSON and where it comes from.
    pub fn entries(&self) -> Vec<(&'static str, Value, &Origin)> {
        let mut entries = vec![
            entry("reviewer_type", &self.reviewer),
            entry("agent_sdk_review_timeout", &self.agent_timeout),
            entry("agent_sdk_reviewer_model", &self.agent_model),
            entry("agent_sdk_escalation_model", &self.escalation_model),
            entry("review.fail_on", &self.fail_on),
            entry("review.timeout", &self.timeout),
            entry("review.base", &self.base),
            entry("review.max_findings", &self.max_findings),
            entry("review.ignore", &self.ignore),
            entry("review.generated", &self.generated),
            entry("review.suppressions", &self.suppressions),
            entry("review.linters.enabled", &self.linters),
            entry("review.linters.timeout", &self.linter_timeout),
            entry("review.linters.off", &self.linters_off),
            entry("review.linters.also", &self.linters_also),
            shown("review.cerberus", &self.cerberus, |cerberus| &mut cerberus.env),
            shown("review.command", &self.command, |command| &mut command.env),
        ];
        entries.extend(self.budget.entries());
        entries
    }

    /// How long this reviewer may take.
    pub fn timeout_for(&self, reviewer: ReviewerType) -> Duration {
        match (self.timeout.value, reviewer) {
            (Some(limit), _) => limit.duration(),
            (None, ReviewerType::AgentSdk) => self.agent_timeout.value.duration(),
            (None, ReviewerType::Cerberus) => {
                let own = self.cerberus.value.as_ref().and_then(Cerberus::patience);
                own.map_or(Duration::from_secs(GATE_SECONDS), Seconds::duration)
            }
            (None, _) => Duration::from_secs(GATE_SECONDS),
        }
    }
}

fn entry<'p, T: Serialize>(
    key: &'static str,
    sourced: &'p Sourced<T>,
) -> (&'static str, Value, &'p Origin) {
    // The values are words, numbers and lists of them: they always have a JSON form.
    (key, serde_json::to_value(&sourced.value).unwrap_or_default(), &sourced.origin)
}

/// Settings of programs without the values of their variables, which may be secret.
fn shown<'p, T: Clone + Serialize>(
    key: &'static str,
    sourced: &'p Sourced<Option<T>>,
    env: fn(&mut T) -> &mut BTreeMap<String, String>,
) -> (&'static str, Value, &'p Origin) {
    let mut settings = sourced.value.clone();
    for value in settings.iter_mut().flat_map(|settings| env(settings).values_mut()) {
        "(set)".clone_into(value);
    }
    (key, serde_json::to_value(settings).unwrap_or_default(), &sourced.origin)
}

fn rules(layer: &Layer) -> impl Iterator<Item = Sourced<RuleSetting>> {
    let origin = &layer.origin;
    let settings = layer.config.review.rules.iter().cloned();
    settings.map(|value| Sourced { value, origin: origin.clone() })
}

fn seconds(number: i64) -> Seconds {
    Seconds::new(number).unwrap_or(Seconds::SHORTEST)
}

struct Pick<'l> {
    layers: &'l [Layer],
}

impl Pick<'_> {
    fn maybe<T>(&self, key: impl Fn(&Config) -> Option<T>) -> Sourced<Option<T>> {
        self.layers
            .iter()
            .find_map(|layer| {
                let value = Some(key(&layer.config)?);
                Some(Sourced { value, origin: layer.origin.clone() })
            })
            .unwrap_or(Sourced { value: None, origin: Origin::Default })
    }

    fn or<T>(&self, key: impl Fn(&Config) -> Option<T>, default: T) -> Sourced<T> {
        let Sourced { value, origin } = self.maybe(key);
        Sourced { value: value.unwrap_or(default), origin }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(origin: Origin, text: &str) -> Layer {
        Layer { origin, config: Config::parse("x", text).unwrap().0 }
    }

    #[test]
    fn the_first_layer_that_says_something_holds() {
        let layers = [
            layer(Origin::CommandLine, "reviewer_type: builtin"),
            layer(Origin::Environment("MALA_FAIL_ON"), "review: {fail_on: P0}"),
            layer(Origin::UserFile("u".into()), "review: {fail_on: P3, rules: {a: on}}"),
            layer(
                Origin::RepositoryFile("r".into()),
                "reviewer_type: cerberus\nreview: {ignore: [x], fail_on: none, rules: {a: off}}",
            ),
        ];
        let policy = policy(&layers);
        assert_eq!(policy.reviewer.value, Some(ReviewerType::Builtin));
        assert_eq!(policy.reviewer.origin, Origin::CommandLine);
        assert_eq!(policy.fail_on.value, Threshold::P0);
        assert_eq!(policy.ignore.origin, Origin::RepositoryFile("r".into()));
        assert_eq!(policy.linters, Sourced { value: LinterMode::Auto, origin: Origin::Default });
        let uses: Vec<String> =
            policy.rules.iter().map(|rule| rule.value.usage.to_string()).collect();
        assert_eq!(uses, ["off", "on"], "the more important layer comes last and wins");
    }

    #[test]
    fn each_reviewer_has_its_time() {
        for (text, reviewer, expected) in [
            ("", ReviewerType::AgentSdk, 600),
            ("", ReviewerType::Cerberus, 300),
            ("", ReviewerType::Builtin, 300),
            ("agent_sdk_review_timeout: 42", ReviewerType::AgentSdk, 42),
            ("agent_sdk_review_timeout: 42", ReviewerType::Builtin, 300),
            ("agent_sdk_review_timeout: 42\nreview: {timeout: 7}", ReviewerType::AgentSdk, 7),
            ("review: {cerberus: {timeout: 42}}", ReviewerType::Cerberus, 42),
            ("review: {cerberus: {timeout: 42}, timeout: 7}", ReviewerType::Cerberus, 7),
            ("review: {cerberus: {wait_args: [--timeout, '9']}}", ReviewerType::Cerberus, 9),
            ("review: {cerberus: {wait_args: [--timeout=9]}}", ReviewerType::Cerberus, 9),
            ("review: {cerberus: {wait_args: [--timeout]}}", ReviewerType::Cerberus, 300),
        ] {
            let policy = policy(&[layer(Origin::Default, text)]);
            assert_eq!(policy.timeout_for(reviewer).as_secs(), expected, "{text} {reviewer}");
        }
    }
}
