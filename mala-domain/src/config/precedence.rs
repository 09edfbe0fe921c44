//! Merges several sources of configuration. The first source that sets a key wins: the command
//! line, the environment, the user's own file, the repository's file at the trusted ref, the
//! default.

use super::rule_overrides::{RuleOverrideError, RuleOverrides};
use super::schema::{
    BudgetSettings, CerberusSettings, CodeReviewSettings, CoderTemplate, CommandReviewerSettings,
    Config, LinterMode, LinterName, RetryCount, ReviewerType, RuleSetting, Seconds, TrackerKind,
    UnreviewedCheck,
};
use crate::agent::budget::{Dollars, Limits, Profile, UnknownPricePolicy};
use crate::gate::canary::CanaryPlan;
use crate::gate::lane::LaneSettings;
use crate::ledger::convergence::ConvergencePolicy;
use crate::ledger::rounds::{DEFAULT_BARS, RoundPolicy};
use crate::review::consensus::ConsensusRule;
use crate::review::suppress::SuppressionPolicy;
use crate::verdict::Threshold;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigOrigin {
    /// A flag on the command line.
    CommandLine,
    /// This environment variable.
    Environment(&'static str),
    /// The user's own file.
    UserFile(String),
    /// The repository's file, with the version it was read from.
    RepositoryFile(String),
    /// No source sets the key.
    Default,
}

impl std::fmt::Display for ConfigOrigin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::CommandLine => f.write_str("command line"),
            Self::Environment(variable) => write!(f, "environment variable {variable}"),
            Self::UserFile(file) | Self::RepositoryFile(file) => f.write_str(file),
            Self::Default => f.write_str("default"),
        }
    }
}

/// The configuration of one source.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigLayer {
    /// The source.
    pub origin: ConfigOrigin,
    /// The keys that it sets.
    pub config: Config,
}

/// A value and its source.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigValue<T> {
    /// The value.
    pub value: T,
    /// The source.
    pub origin: ConfigOrigin,
}

impl<T> ConfigValue<Option<T>> {
    fn or(self, default: T) -> ConfigValue<T> {
        ConfigValue { value: self.value.unwrap_or(default), origin: self.origin }
    }
}

/// A key, its value as JSON, and the source of the value.
pub type PolicyEntry<'p> = (&'static str, Value, &'p ConfigOrigin);

/// Declares a policy: a struct of effective values, the function that merges layers into it, and
/// its list of entries. A key is one line: field and type, path in the file, default. Values that
/// are not taken from one key follow in `with`, each with a function of all layers.
macro_rules! policy {
    (
        $(#[$policy_doc:meta])*
        $visibility:vis fn $merge:ident -> $name:ident {
            $($(#[$doc:meta])* $field:ident: $type:ty = $block:ident$(.$key:ident)* $(, or $default:expr)?;)*
        }
        with {
            $($(#[$other_doc:meta])* $other:ident: $other_type:ty = $other_merge:expr;)*
        }
    ) => {
        $(#[$policy_doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $($(#[$doc])* pub $field: ConfigValue<$type>,)*
            $($(#[$other_doc])* pub $other: $other_type,)*
        }

        /// Merges layers, the most important one first.
        $visibility fn $merge(layers: &[ConfigLayer]) -> $name {
            $name {
                $($field: first(layers, |config| &config.$block$(.$key)*) $(.or($default))?,)*
                $($other: $other_merge(layers),)*
            }
        }

        impl $name {
            fn own_entries(&self) -> Vec<PolicyEntry<'_>> {
                vec![$(
                    entry(concat!(stringify!($block) $(, ".", stringify!($key))*), &self.$field),
                )*]
            }
        }
    };
}

mod tasks;
pub use tasks::{TaskPolicy, task_policy};

policy! {
    /// The effective settings of a review.
    pub fn policy -> ReviewPolicy {
        /// The reviewer; `None` if no source sets it.
        reviewer: Option<ReviewerType> = reviewer_type;
        /// Time limit of the agent.
        agent_timeout: Seconds = agent_sdk_review_timeout, or seconds(600);
        /// Model of the agent.
        agent_model: String = agent_sdk_reviewer_model, or "sonnet".to_owned();
        /// Stronger model of the agent.
        escalation_model: Option<String> = agent_sdk_escalation_model;
        /// Address of GitHub's API.
        forge_api: Option<String> = pull_requests.api_url;
        /// Whether linters and commands run on pull requests from forks.
        fork_commands: bool = pull_requests.fork_commands, or false;
        /// How a check run ends without a review.
        unreviewed_check: UnreviewedCheck =
            pull_requests.could_not_review, or UnreviewedCheck::Neutral;
        /// The least urgent priority that fails a review.
        fail_on: Threshold = review.fail_on, or Threshold::P1;
        /// Time limit of a review; `None` leaves it to the reviewer.
        timeout: Option<Seconds> = review.timeout;
        /// The branch to compare with.
        base: Option<String> = review.base;
        /// Maximum number of findings in the terminal.
        max_findings: Option<u32> = review.max_findings;
        /// Path globs of excluded files.
        ignore: Vec<String> = review.ignore, or Vec::new();
        /// Path globs of additional generated files.
        generated: Vec<String> = review.generated, or Vec::new();
        /// Which comments suppress findings.
        suppressions: SuppressionPolicy = review.suppressions, or SuppressionPolicy::All;
        /// Whether linters run.
        linters: LinterMode = review.linters.enabled, or LinterMode::Auto;
        /// Time limit of each linter.
        linter_timeout: Seconds = review.linters.timeout, or seconds(60);
        /// Linters that never run.
        linters_off: Vec<LinterName> = review.linters.off, or Vec::new();
        /// Slow linters that run too.
        linters_also: Vec<LinterName> = review.linters.also, or Vec::new();
        /// The least urgent priority that counts among new findings, from round 2 on.
        round_bars: Vec<Threshold> = review.rounds.bars, or DEFAULT_BARS.to_vec();
        /// Rounds before a person takes over.
        max_rounds: u32 = review.rounds.max_rounds, or ConvergencePolicy::default().max_rounds;
        /// Rounds in a row without fewer blocking findings before a person takes over.
        plateau_rounds: u32 =
            review.rounds.plateau_rounds, or ConvergencePolicy::default().plateau_rounds;
        /// Rounds with the same kind of finding in the same symbol before a person takes over.
        recurring_rounds: u32 =
            review.rounds.recurring_rounds, or ConvergencePolicy::default().recurring_rounds;
        /// Cost of all rounds after which a person takes over.
        rounds_cost: Option<f64> = review.rounds.max_cost_usd;
        /// Settings of the `cerberus` reviewer, as one value.
        cerberus: Option<CerberusSettings> = review.cerberus;
        /// Settings of the `command` reviewer, as one value.
        command: Option<CommandReviewerSettings> = review.command;
    }
    with {
        /// Rule settings of all layers; the last matching one applies.
        rules: Vec<ConfigValue<RuleSetting>> = all_rules;
        /// Limits of the agent.
        budget: BudgetPolicy = budget_policy;
    }
}

policy! {
    /// The effective limits of an agent: each set by a source, else by the profile.
    fn budget_policy -> BudgetPolicy {
        /// The profile.
        profile: Profile = review.budget.profile, or Profile::Standard;
        /// See `Limits`.
        max_llm_calls: Option<u32> = review.budget.max_llm_calls;
        /// See `Limits`.
        max_tool_calls: Option<u32> = review.budget.max_tool_calls;
        /// See `Limits`.
        max_verify_candidates: Option<u32> = review.budget.max_verify_candidates;
        /// See `Limits`.
        max_output_issues: Option<u32> = review.budget.max_output_issues;
        /// See `Limits`.
        max_wall_time_seconds: Option<Seconds> = review.budget.max_wall_time_seconds;
        /// See `Limits`.
        max_cost_usd: Option<f64> = review.budget.max_cost_usd;
        /// See `Limits`.
        max_tokens: Option<u64> = review.budget.max_tokens;
        /// Whether models without a known price are allowed.
        allow_unknown_price: bool = review.budget.allow_unknown_price, or false;
    }
    with {}
}

policy! {
    /// The effective settings of `review-gate`.
    pub fn gate_policy -> GatePolicy {
        /// How many lanes must pass a change.
        consensus: ConsensusRule = gate.consensus, or ConsensusRule::Unanimous;
        /// Time limit of each lane.
        timeout: Seconds = gate.timeout, or seconds(300);
        /// The lanes of the panel; `None` uses all that are installed.
        panel: Option<Vec<String>> = gate.panel;
        /// How many times in a row the stop hook blocks.
        max_blocks: RetryCount = gate.max_blocks, or RetryCount::default();
        /// Whether the agent checks findings that no other lane could check.
        agent_checks: bool = gate.agent_checks, or false;
        /// Days between canary runs; `None` turns them off.
        canary_days: Option<u32> = gate.canaries.every_days;
        /// Number of canaries per lane.
        canary_count: u32 = gate.canaries.count, or 5;
        /// Maximum cost of a canary run.
        canary_cost: f64 = gate.canaries.max_cost_usd, or 2.0;
    }
    with {
        /// The lanes of all layers, by name; the most important layer wins.
        lanes: BTreeMap<String, LaneSettings> = all_lanes;
        /// The source of each lane.
        lane_origins: BTreeMap<String, ConfigOrigin> = lane_origins;
    }
}

policy! {
    /// The effective settings of `mala run`.
    pub fn run_policy -> RunPolicy {
        /// Where issues come from; `None` if no source sets it.
        tracker: Option<TrackerKind> = run.tracker;
        /// The name of the coder.
        coder: String = run.coder, or "claude".to_owned();
        /// The branch that work is merged into; `None` for the default branch.
        target: Option<String> = run.target;
        /// Command that is run in each new worktree.
        setup: String = run.setup, or String::new();
        /// How many issues are worked on at a time.
        max_agents: u32 = run.max_agents, or 2;
        /// Maximum cost of the run.
        max_cost_usd: Option<f64> = run.max_cost_usd;
        /// Maximum time of the run.
        max_minutes: Option<u32> = run.max_minutes;
        /// Maximum cost of an issue.
        issue_cost_usd: Option<f64> = run.per_issue.max_cost_usd;
        /// Maximum time of a session.
        issue_minutes: f64 = run.per_issue.max_minutes, or 60.0;
        /// The prefix of commit subjects.
        commit_prefix: String = run.commit_prefix, or "bd-{id}: ".to_owned();
        /// Minutes without output after which a coder is idle.
        idle_minutes: f64 = run.idle_minutes, or 10.0;
        /// How many times an idle coder is resumed.
        idle_resumes: RetryCount = run.idle_resumes, or RetryCount::new(1).unwrap_or_default();
        /// Whether findings below the threshold are filed together.
        group_findings: bool = run.group_findings, or false;
        /// Whether issues filed in the run are worked on.
        work_on_findings: bool = run.work_on_findings, or false;
    }
    with {
        /// The coders of all layers, by name; the most important layer wins.
        coders: BTreeMap<String, CoderTemplate> = all_coders;
    }
}

impl RunPolicy {
    /// All keys except the coders.
    pub fn entries(&self) -> Vec<PolicyEntry<'_>> {
        self.own_entries()
    }
}

/// Time limit of reviewers other than the agent, if no source sets one.
const REVIEWER_TIMEOUT: Duration = Duration::from_secs(300);

impl ReviewPolicy {
    /// The rule settings, compiled.
    pub fn switches(&self) -> Result<RuleOverrides, RuleOverrideError> {
        let settings: Vec<RuleSetting> =
            self.rules.iter().map(|setting| setting.value.clone()).collect();
        RuleOverrides::new(&settings)
    }

    /// All keys except the rules.
    pub fn entries(&self) -> Vec<PolicyEntry<'_>> {
        let mut entries = self.own_entries();
        entries.extend(self.budget.own_entries());
        entries
    }

    /// The time limit of a reviewer.
    pub fn timeout_for(&self, reviewer: ReviewerType) -> Duration {
        match (self.timeout.value, reviewer) {
            (Some(limit), _) => limit.duration(),
            (None, ReviewerType::AgentSdk) => self.agent_timeout.value.duration(),
            (None, ReviewerType::Cerberus) => {
                let limit = self.cerberus.value.as_ref().and_then(CerberusSettings::time_limit);
                limit.map_or(REVIEWER_TIMEOUT, Seconds::duration)
            }
            (None, _) => REVIEWER_TIMEOUT,
        }
    }
}

impl ReviewPolicy {
    /// How rounds are reviewed and when they end.
    pub fn rounds(&self, full_requested: bool) -> RoundPolicy {
        RoundPolicy {
            bars: self.round_bars.value.clone(),
            convergence: ConvergencePolicy {
                max_rounds: self.max_rounds.value,
                plateau_rounds: self.plateau_rounds.value,
                recurring_rounds: self.recurring_rounds.value,
                max_cost_usd: self.rounds_cost.value,
            },
            full_requested,
        }
    }
}

impl BudgetPolicy {
    /// The effective limits.
    pub fn limits(&self) -> Limits {
        let profile = self.profile.value.limits();
        let or = |limit: &ConfigValue<Option<u32>>, profile| limit.value.unwrap_or(profile);
        let allowed = self.allow_unknown_price.value;
        Limits {
            max_llm_calls: or(&self.max_llm_calls, profile.max_llm_calls),
            max_tool_calls: or(&self.max_tool_calls, profile.max_tool_calls),
            max_verify_candidates: or(&self.max_verify_candidates, profile.max_verify_candidates),
            max_output_issues: or(&self.max_output_issues, profile.max_output_issues),
            max_wall_time: self
                .max_wall_time_seconds
                .value
                .map_or(profile.max_wall_time, Seconds::duration),
            max_cost: self.max_cost_usd.value.map_or(profile.max_cost, Dollars::at_least),
            max_tokens: self.max_tokens.value.unwrap_or(profile.max_tokens),
            unpriced: if allowed { UnknownPricePolicy::Allow } else { UnknownPricePolicy::Refuse },
            ..profile
        }
    }

    /// The policy as a block of a configuration file.
    pub fn as_written(&self) -> BudgetSettings {
        BudgetSettings {
            profile: Some(self.profile.value),
            max_llm_calls: self.max_llm_calls.value,
            max_tool_calls: self.max_tool_calls.value,
            max_verify_candidates: self.max_verify_candidates.value,
            max_output_issues: self.max_output_issues.value,
            max_wall_time_seconds: self.max_wall_time_seconds.value,
            max_cost_usd: self.max_cost_usd.value,
            max_tokens: self.max_tokens.value,
            allow_unknown_price: Some(self.allow_unknown_price.value),
        }
    }

    /// The name of the limits for the review id: the profile, and the limits if they differ from
    /// it.
    pub fn name(&self) -> String {
        let differs = self.limits() != self.profile.value.limits();
        let name = self.profile.value.name();
        if differs { format!("{name} {:?}", self.limits()) } else { name.to_owned() }
    }
}

impl GatePolicy {
    /// All keys except the lanes.
    pub fn entries(&self) -> Vec<PolicyEntry<'_>> {
        self.own_entries()
    }

    /// When and how lanes are given canaries; `None` if they are not.
    pub fn canaries(&self) -> Option<CanaryPlan> {
        let (count, max_cost_usd) = (self.canary_count.value, self.canary_cost.value);
        let every_days = self.canary_days.value?;
        Some(CanaryPlan { every_days, count, max_cost_usd })
    }
}

/// The warning for users of the top-level `reviewer_type`.
pub const LEGACY_REVIEWER_TYPE: &str = "\
DEPRECATION: Top-level 'reviewer_type' is deprecated for per-issue reviews.
Add 'validation_triggers.session_end.code_review.enabled: true' to preserve current behavior.
Legacy implicit reviews will be removed in the next major version.";

/// The review at the end of a session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SessionReview<'c> {
    /// Configured by `validation_triggers.session_end.code_review`, enabled or not.
    Configured(&'c CodeReviewSettings),
    /// Implied by the deprecated top-level `reviewer_type`.
    Legacy(ReviewerType),
    /// No review.
    Absent,
}

/// Selects the review at the end of a session.
pub fn session_review(config: &Config) -> SessionReview<'_> {
    let configured =
        config.validation_triggers.session_end.as_ref().and_then(|end| end.code_review.as_ref());
    match (configured, config.reviewer_type) {
        (Some(block), _) => SessionReview::Configured(block),
        (None, Some(reviewer)) => SessionReview::Legacy(reviewer),
        (None, None) => SessionReview::Absent,
    }
}

/// The value of the first layer that sets a key.
fn first<T: Clone>(
    layers: &[ConfigLayer],
    key: impl Fn(&Config) -> &Option<T>,
) -> ConfigValue<Option<T>> {
    let set = layers.iter().find(|layer| key(&layer.config).is_some());
    match set {
        Some(layer) => {
            ConfigValue { value: key(&layer.config).clone(), origin: layer.origin.clone() }
        }
        None => ConfigValue { value: None, origin: ConfigOrigin::Default },
    }
}

fn all_rules(layers: &[ConfigLayer]) -> Vec<ConfigValue<RuleSetting>> {
    let sourced = |layer: &ConfigLayer, setting: &RuleSetting| ConfigValue {
        value: setting.clone(),
        origin: layer.origin.clone(),
    };
    let layers = layers.iter().rev();
    layers
        .flat_map(|layer| layer.config.review.rules.iter().map(move |rule| sourced(layer, rule)))
        .collect()
}

fn all_lanes(layers: &[ConfigLayer]) -> BTreeMap<String, LaneSettings> {
    layers.iter().rev().flat_map(|layer| layer.config.gate.lanes.clone()).collect()
}

fn all_coders(layers: &[ConfigLayer]) -> BTreeMap<String, CoderTemplate> {
    layers.iter().rev().flat_map(|layer| layer.config.run.coders.clone()).collect()
}

fn lane_origins(layers: &[ConfigLayer]) -> BTreeMap<String, ConfigOrigin> {
    let layers = layers.iter().rev();
    layers
        .flat_map(|layer| {
            layer.config.gate.lanes.keys().map(|name| (name.clone(), layer.origin.clone()))
        })
        .collect()
}

fn entry<'p, T: Serialize>(key: &'static str, sourced: &'p ConfigValue<T>) -> PolicyEntry<'p> {
    // The values are words, numbers, and lists and maps of them: they always have a JSON form.
    let mut value = serde_json::to_value(&sourced.value).unwrap_or_default();
    mask_environment(&mut value);
    (key, value, &sourced.origin)
}

/// Hides the values of environment variables, which may be secrets.
fn mask_environment(value: &mut Value) {
    let variables = value.get_mut("env").and_then(Value::as_object_mut);
    for variable in variables.into_iter().flatten() {
        *variable.1 = Value::from("(set)");
    }
}

fn seconds(number: i64) -> Seconds {
    Seconds::new(number).unwrap_or(Seconds::SHORTEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(origin: ConfigOrigin, text: &str) -> ConfigLayer {
        ConfigLayer { origin, config: Config::parse("x", text).unwrap().0 }
    }

    #[test]
    fn the_first_layer_that_sets_a_key_wins() {
        let layers = [
            layer(ConfigOrigin::CommandLine, "reviewer_type: builtin"),
            layer(ConfigOrigin::Environment("MALA_FAIL_ON"), "review: {fail_on: P0}"),
            layer(ConfigOrigin::UserFile("u".into()), "review: {fail_on: P3, rules: {a: on}}"),
            layer(
                ConfigOrigin::RepositoryFile("r".into()),
                "reviewer_type: cerberus\nreview: {ignore: [x], fail_on: none, rules: {a: off}}",
            ),
        ];
        let policy = policy(&layers);
        assert_eq!(policy.reviewer.value, Some(ReviewerType::Builtin));
        assert_eq!(policy.reviewer.origin, ConfigOrigin::CommandLine);
        assert_eq!(policy.fail_on.value, Threshold::P0);
        assert_eq!(policy.ignore.origin, ConfigOrigin::RepositoryFile("r".into()));
        assert_eq!(
            policy.linters,
            ConfigValue { value: LinterMode::Auto, origin: ConfigOrigin::Default }
        );
        let uses: Vec<String> =
            policy.rules.iter().map(|rule| rule.value.usage.to_string()).collect();
        assert_eq!(uses, ["off", "on"], "the more important layer comes last and wins");
    }

    #[test]
    fn every_reviewer_has_a_time_limit() {
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
            let policy = policy(&[layer(ConfigOrigin::Default, text)]);
            assert_eq!(policy.timeout_for(reviewer).as_secs(), expected, "{text} {reviewer}");
        }
    }

    /// The default of a key in the JSON Schema.
    fn documented_default(key: &str) -> Option<Value> {
        let schema = Config::schema().to_value();
        let mut block = &schema;
        let mut property = &schema;
        for name in key.split('.') {
            property = block.get("properties")?.get(name)?;
            let choices = property.get("anyOf").and_then(Value::as_array);
            let reference = choices.and_then(|choices| choices.first()).unwrap_or(property);
            let definition = reference.get("$ref").and_then(Value::as_str);
            let definition = definition.and_then(|path| path.strip_prefix("#/$defs/"));
            block = definition.map_or(property, |name| &schema["$defs"][name]);
        }
        property.get("default").cloned()
    }

    #[test]
    fn documented_defaults_are_the_effective_ones() {
        let (review, gate, run) = (policy(&[]), gate_policy(&[]), run_policy(&[]));
        let tasks = task_policy(&[]);
        let mut n_checked = 0;
        for (key, value, _) in review
            .entries()
            .into_iter()
            .chain(gate.entries())
            .chain(run.entries())
            .chain(tasks.entries())
        {
            if !value.is_null() && value != serde_json::json!([]) {
                assert_eq!(documented_default(key), Some(value), "{key}");
                n_checked += 1;
            }
        }
        assert!(n_checked >= 14, "{n_checked}");
    }

    fn limits(text: &str) -> Limits {
        let config = Config::parse("x", text).unwrap().0;
        policy(&[ConfigLayer { origin: ConfigOrigin::Default, config }]).budget.limits()
    }

    #[test]
    fn each_limit_overrides_the_profile() {
        let standard = Profile::Standard.limits();
        let budget = |inside: &str| limits(&format!("review: {{budget: {{{inside}}}}}"));
        for (inside, expected) in [
            ("", standard),
            ("profile: thorough", Profile::Thorough.limits()),
            ("max_llm_calls: 7", Limits { max_llm_calls: 7, ..standard }),
            ("max_tool_calls: 0", Limits { max_tool_calls: 0, ..standard }),
            ("max_verify_candidates: 1", Limits { max_verify_candidates: 1, ..standard }),
            ("max_output_issues: 1", Limits { max_output_issues: 1, ..standard }),
            ("max_cost_usd: 0.25", Limits { max_cost: Dollars::at_least(0.25), ..standard }),
            ("max_tokens: 9", Limits { max_tokens: 9, ..standard }),
            (
                "allow_unknown_price: true",
                Limits { unpriced: UnknownPricePolicy::Allow, ..standard },
            ),
        ] {
            assert_eq!(budget(inside), expected, "{inside}");
        }
        assert_eq!(budget("max_wall_time_seconds: 5").max_wall_time.as_secs(), 5);
    }
}
