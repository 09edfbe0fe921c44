//! Checks values that the types alone cannot check. Stops at the first error; collects warnings.

use super::error::{ConfigError, ConfigPosition, ConfigWarning, WarningTopic};
use super::globs::PathGlobs;
use super::parse::{nearest, nearest_or};
use super::positions::{PathStep, YamlPositions};
use super::precedence::{LEGACY_REVIEWER_TYPE, SessionReview, session_review};
use super::rule_overrides::RuleOverrides;
use super::schema::{
    CodeReviewSettings, Config, FailureMode, LinterName, NotificationChannel, RetryCount,
    ReviewerType, TaskCommand, TriggerCommand, ValidationTriggers,
};
use crate::gate::lane::{LaneProblem, LaneTable};
use std::collections::BTreeMap;

/// Checks a configuration. Returns the warnings, or the first error.
pub(super) fn check(
    config: &Config,
    positions: &YamlPositions<'_>,
    file: &str,
    text: &str,
) -> Result<Vec<ConfigWarning>, Box<ConfigError>> {
    let mut check = ConfigChecker { positions, file, text, warnings: Vec::new() };
    check.review(config)?;
    check.models(config)?;
    check.gate(config)?;
    check.run(config)?;
    check.tasks(config)?;
    check.commands(config)?;
    check.triggers(config)?;
    check.legacy(config);
    Ok(check.warnings)
}

/// Rejects keys that are allowed only in the user's own file.
pub(super) fn check_repository_keys(
    config: &Config,
    positions: &YamlPositions<'_>,
    file: &str,
    text: &str,
) -> Result<(), Box<ConfigError>> {
    let (path, what): (&[&str], &str) = if !config.models.is_empty() {
        let what = "`models` controls where your API keys and code are sent and cannot be set by a repository";
        (&["models"], what)
    } else if config.pull_requests.api_url.is_some() {
        let what = "`api_url` controls where your token is sent and cannot be set by a repository";
        (&["pull_requests", "api_url"], what)
    } else {
        return Ok(());
    };
    let place = positions.key(&keys(path)).unwrap_or_else(ConfigPosition::start);
    let hint = "move it to your own file, ~/.config/mala/config.yaml";
    Err(Box::new(
        ConfigError::new(file, place, what).hint(Some(hint)).frame(text, "not allowed here"),
    ))
}

/// Warnings for entries of `review.rules` that match no known rule.
pub(super) fn unknown_rules(
    config: &Config,
    positions: &YamlPositions<'_>,
    file: &str,
    known: &[&str],
) -> Vec<ConfigWarning> {
    let check = ConfigChecker { positions, file, text: "", warnings: Vec::new() };
    let entries = config.review.rules.iter().enumerate();
    entries
        .filter(|(_, setting)| !setting.fits_any(known) && !is_of_linter(&setting.rule))
        .map(|(index, setting)| ConfigWarning {
            file: file.to_owned(),
            place: check.rule_position(index, &setting.rule).unwrap_or_else(ConfigPosition::start),
            message: format!(
                "unknown rule `{}`: {}",
                setting.rule,
                nearest_or(&setting.rule, known, "run 'mala rules list' to see all rules")
            ),
            concern: WarningTopic::Review,
        })
        .collect()
}

/// Whether the rule id belongs to an external linter, whose rules mala does not know.
pub(crate) fn is_of_linter(rule: &str) -> bool {
    let owner = rule.split('/').next().unwrap_or(rule);
    LinterName::ALL.iter().any(|linter| linter.name() == owner)
}

/// The coders that need no entry in `run.coders`.
const BUILTIN_CODERS: [&str; 3] = ["claude", "codex", "gemini"];

struct ConfigChecker<'f> {
    positions: &'f YamlPositions<'f>,
    file: &'f str,
    text: &'f str,
    warnings: Vec<ConfigWarning>,
}

type CheckResult = Result<(), Box<ConfigError>>;

impl ConfigChecker<'_> {
    fn review(&self, config: &Config) -> CheckResult {
        let (review, budget) = (&config.review, &config.review.budget);
        let model = config.agent_sdk_reviewer_model.as_deref();
        self.require("agent_sdk_reviewer_model", is_not_blank(model), "the model name is empty")?;
        let model = config.agent_sdk_escalation_model.as_deref();
        self.require("agent_sdk_escalation_model", is_not_blank(model), "the model name is empty")?;
        let calls = budget.max_llm_calls;
        self.require("review.budget.max_llm_calls", calls != Some(0), "must be at least 1")?;
        let issues = budget.max_output_issues;
        self.require("review.budget.max_output_issues", issues != Some(0), "must be at least 1")?;
        let rounds = &review.rounds;
        for (key, value) in [
            ("review.rounds.max_rounds", rounds.max_rounds),
            ("review.rounds.plateau_rounds", rounds.plateau_rounds),
            ("review.rounds.recurring_rounds", rounds.recurring_rounds),
        ] {
            self.require(key, value != Some(0), "must be at least 1")?;
        }
        self.require_positive("review.budget.max_cost_usd", budget.max_cost_usd)?;
        let base = review.base.as_deref().unwrap_or("HEAD");
        let is_branch = !base.is_empty() && !base.starts_with('-');
        self.require("review.base", is_branch, &format!("`{base}` is not a valid branch name"))?;
        if let Some(cerberus) = &review.cerberus {
            self.require_program("review.cerberus.command", cerberus.command.as_deref())?;
            self.variables("review.cerberus.env", &cerberus.env)?;
        }
        if let Some(command) = &review.command {
            self.require_program("review.command.run", command.run.as_deref())?;
            self.require_program("review.command.parser", command.parser.as_deref())?;
            self.variables("review.command.env", &command.env)?;
        }
        self.globs("ignore", review.ignore.as_deref())?;
        self.globs("generated", review.generated.as_deref())?;
        self.rules(config)
    }

    fn models(&self, config: &Config) -> CheckResult {
        for (account, command) in config.models.key_commands.iter() {
            let key = format!("models.key_commands.{}", account.name());
            self.require_program(&key, Some(command))?;
        }
        for (account, url) in config.models.base_urls.iter() {
            let is_http = url.starts_with("http://") || url.starts_with("https://");
            let key = format!("models.base_urls.{}", account.name());
            self.require(&key, is_http, &format!("`{url}` is not an http or https URL"))?;
        }
        Ok(())
    }

    fn variables(&self, key: &str, env: &BTreeMap<String, String>) -> CheckResult {
        let is_name = |name: &String| !name.is_empty() && !name.contains(['=', '\0']);
        match env.iter().find(|(name, value)| !is_name(name) || value.contains('\0')) {
            Some((name, _)) => {
                let path: Vec<&str> = key.split('.').chain([name.as_str()]).collect();
                self.reject(&path, &format!("invalid environment variable `{name}`"))
            }
            None => Ok(()),
        }
    }

    fn gate(&self, config: &Config) -> CheckResult {
        let (gate, canaries) = (&config.gate, &config.gate.canaries);
        let has_lanes = gate.panel.as_ref().is_none_or(|lanes| !lanes.is_empty());
        self.require("gate.panel", has_lanes, "the panel has no lanes")?;
        let is_valid = canaries.every_days.is_none_or(|days| (1..=365).contains(&days));
        self.require("gate.canaries.every_days", is_valid, "must be between 1 and 365")?;
        let is_valid = canaries.count.is_none_or(|count| (1..=50).contains(&count));
        self.require("gate.canaries.count", is_valid, "must be between 1 and 50")?;
        self.require_positive("gate.canaries.max_cost_usd", canaries.max_cost_usd)?;
        match LaneTable::with(&gate.lanes) {
            Ok(_) => Ok(()),
            Err(problem) => self.reject_lane(config, &problem),
        }
    }

    /// An error at the position of the lane concerned.
    fn reject_lane(&self, config: &Config, problem: &LaneProblem) -> CheckResult {
        let is_it = |name: &&String| {
            let alone = std::iter::once(((*name).clone(), config.gate.lanes.get(*name).cloned()));
            let alone = alone.filter_map(|(name, lane)| Some((name, lane?))).collect();
            LaneTable::with(&alone).is_err()
        };
        let name = config.gate.lanes.keys().find(is_it).map_or("", String::as_str);
        self.reject(&["gate", "lanes", name], &problem.to_string())
    }

    fn globs(&self, key: &str, patterns: Option<&[String]>) -> CheckResult {
        let Err(problem) = PathGlobs::new(patterns.unwrap_or_default()) else { return Ok(()) };
        let path = [PathStep::Key("review"), PathStep::Key(key), PathStep::Index(problem.index)];
        self.reject_at(self.positions.value(&path), problem.to_string())
    }

    fn rules(&self, config: &Config) -> CheckResult {
        let Err(problem) = RuleOverrides::new(&config.review.rules) else { return Ok(()) };
        let rule = config.review.rules.get(problem.index).map_or("", |setting| &setting.rule);
        let place = self.rule_position(problem.index, rule);
        self.reject_at(place, problem.what)
    }

    /// The position of an entry of `review.rules`, in its map or its list form.
    fn rule_position(&self, index: usize, rule: &str) -> Option<ConfigPosition> {
        let path = [PathStep::Key("review"), PathStep::Key("rules")];
        let [review, rules] = path;
        self.positions
            .key(&[review, rules, PathStep::Key(rule)])
            .or_else(|| self.positions.value(&[review, rules, PathStep::Index(index)]))
    }

    fn commands(&self, config: &Config) -> CheckResult {
        for (name, setting) in &config.commands {
            if setting.command.trim().is_empty() {
                return self.reject(&["commands", name], &format!("the command `{name}` is empty"));
            }
        }
        Ok(())
    }

    fn run(&self, config: &Config) -> CheckResult {
        let run = &config.run;
        let coder = run.coder.as_deref();
        self.require("run.coder", is_not_blank(coder), "the name of the coder is empty")?;
        if let Some(name) = coder {
            let own = run.coders.keys().map(String::as_str);
            let known: Vec<&str> = BUILTIN_CODERS.into_iter().chain(own).collect();
            let message = || format!("unknown coder `{name}`: {}", nearest(name, &known, "coder"));
            self.require("run.coder", known.contains(&name), &message())?;
        }
        for (name, template) in &run.coders {
            let key = format!("run.coders.{name}.command");
            let is_builtin = BUILTIN_CODERS.contains(&name.as_str()) && template.command.is_empty();
            let command = (!is_builtin).then_some(template.command.as_slice());
            self.require_program(&key, command)?;
            let key = format!("run.coders.{name}.resume");
            self.require_program(&key, template.resume.as_deref())?;
            self.variables(&format!("run.coders.{name}.env"), &template.env)?;
        }
        let agents = run.max_agents.is_none_or(|agents| (1..=64).contains(&agents));
        self.require("run.max_agents", agents, "must be between 1 and 64")?;
        for (key, minutes) in [
            ("run.max_minutes", run.max_minutes.map(f64::from)),
            ("run.per_issue.max_minutes", run.per_issue.max_minutes),
            ("run.idle_minutes", run.idle_minutes),
        ] {
            let is_valid = minutes.is_none_or(|minutes| (0.01..=10_080.0).contains(&minutes));
            self.require(key, is_valid, "must be between 0.01 and 10080")?;
        }
        self.require_positive("run.max_cost_usd", run.max_cost_usd)?;
        self.require_positive("run.per_issue.max_cost_usd", run.per_issue.max_cost_usd)?;
        let target = run.target.as_deref().unwrap_or("main");
        let is_branch = !target.is_empty() && !target.starts_with('-');
        let message = format!("`{target}` is not a valid branch name");
        self.require("run.target", is_branch, &message)?;
        let prefix = run.commit_prefix.as_deref().unwrap_or("{id}");
        let is_valid = prefix.contains("{id}") && !prefix.contains(['\n', '\r']);
        self.require("run.commit_prefix", is_valid, "must be one line and contain `{id}`")
    }

    fn tasks(&self, config: &Config) -> CheckResult {
        let tasks = &config.tasks;
        let review = &tasks.review;
        for (key, command) in [("command", &review.command), ("parser", &review.parser)] {
            let key = format!("tasks.review.{key}");
            match command {
                Some(TaskCommand::Program(words)) => self.require_program(&key, Some(words))?,
                Some(TaskCommand::Slash(name)) => {
                    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_:".contains(c);
                    let is_slash = name
                        .strip_prefix('/')
                        .is_some_and(|name| !name.is_empty() && name.chars().all(is_name));
                    let message = format!(
                        "`{name}` is not a slash command; write a program as a list: [{name}]"
                    );
                    self.require(&key, is_slash, &message)?;
                }
                None => {}
            }
        }
        let is_one = review.reviewer.is_none() || review.command.is_none();
        self.require("tasks.review.reviewer", is_one, "`reviewer` and `command` are both set")?;
        let is_own = review.reviewer != Some(ReviewerType::Command);
        let message = "must be builtin, agent_sdk or cerberus; set `command` for a command";
        self.require("tasks.review.reviewer", is_own, message)?;
        if let Some(name) = review.agent.as_deref() {
            let own = config.run.coders.keys().map(String::as_str);
            let known: Vec<&str> = BUILTIN_CODERS.into_iter().chain(own).collect();
            let message = format!("unknown agent `{name}`: {}", nearest(name, &known, "agent"));
            self.require("tasks.review.agent", known.contains(&name), &message)?;
        }
        self.require("tasks.tests", is_not_blank(tasks.tests.as_deref()), "the command is empty")?;
        self.require("tasks.lint", is_not_blank(tasks.lint.as_deref()), "the command is empty")?;
        for channel in tasks.notify.iter().flatten() {
            match channel {
                NotificationChannel::Webhook(url) => {
                    let is_http = url.starts_with("http://") || url.starts_with("https://");
                    let message = format!("`{url}` is not an http or https URL");
                    self.require("tasks.notify", is_http, &message)?;
                }
                NotificationChannel::Command(words) => {
                    self.require_program("tasks.notify", Some(words))?;
                }
                NotificationChannel::Desktop | NotificationChannel::Bell => {}
            }
        }
        Ok(())
    }

    fn legacy(&mut self, config: &Config) {
        if let SessionReview::Legacy(_) = session_review(config) {
            self.warn(&["reviewer_type"], LEGACY_REVIEWER_TYPE.to_owned());
        }
    }

    /// Adds a warning about triggers and runs, at the key with this path.
    fn warn(&mut self, path: &[&str], message: String) {
        let place = self.positions.key(&keys(path)).unwrap_or_else(ConfigPosition::start);
        let file = self.file.to_owned();
        self.warnings.push(ConfigWarning { file, place, message, concern: WarningTopic::Run });
    }

    /// An error at the value of a key, written with dots, if it is not valid.
    fn require(&self, key: &str, is_valid: bool, message: &str) -> CheckResult {
        match is_valid {
            true => Ok(()),
            false => self.reject(&key.split('.').collect::<Vec<_>>(), message),
        }
    }

    fn require_positive(&self, key: &str, number: Option<f64>) -> CheckResult {
        let is_valid = number.is_none_or(|number| number.is_finite() && number > 0.0);
        self.require(key, is_valid, "must be greater than 0")
    }

    fn require_program(&self, key: &str, command: Option<&[String]>) -> CheckResult {
        let program = command.map(|command| command.first().map_or("", String::as_str));
        self.require(key, is_not_blank(program), "the command is empty")
    }

    /// An error at the value with this path.
    fn reject(&self, path: &[&str], message: &str) -> CheckResult {
        self.reject_at(self.positions.value(&keys(path)), message.to_owned())
    }

    fn reject_at(&self, place: Option<ConfigPosition>, message: String) -> CheckResult {
        let place = place.unwrap_or_else(ConfigPosition::start);
        Err(Box::new(ConfigError::new(self.file, place, &message).frame(self.text, "here")))
    }
}

fn is_not_blank(text: Option<&str>) -> bool {
    text.is_none_or(|text| !text.trim().is_empty())
}

fn keys<'p>(path: &[&'p str]) -> Vec<PathStep<'p>> {
    path.iter().map(|key| PathStep::Key(key)).collect()
}

/// The fields that all triggers have.
struct CommonTrigger<'c> {
    name: &'static str,
    failure_mode: FailureMode,
    commands: &'c [TriggerCommand],
    max_retries: Option<RetryCount>,
    code_review: Option<&'c CodeReviewSettings>,
}

macro_rules! trigger {
    ($name:literal, $block:expr) => {
        $block.as_ref().map(|block| CommonTrigger {
            name: $name,
            failure_mode: block.failure_mode,
            commands: &block.commands,
            max_retries: block.max_retries,
            code_review: block.code_review.as_ref(),
        })
    };
}

fn triggers(triggers: &ValidationTriggers) -> impl Iterator<Item = CommonTrigger<'_>> {
    [
        trigger!("session_end", triggers.session_end),
        trigger!("epic_completion", triggers.epic_completion),
        trigger!("run_end", triggers.run_end),
        trigger!("periodic", triggers.periodic),
    ]
    .into_iter()
    .flatten()
}

const BLOCK: &str = "validation_triggers";

impl ConfigChecker<'_> {
    fn triggers(&mut self, config: &Config) -> CheckResult {
        if let Some(periodic) = &config.validation_triggers.periodic
            && periodic.interval == Some(0)
        {
            return self.reject(&[BLOCK, "periodic", "interval"], "must be at least 1");
        }
        for trigger in triggers(&config.validation_triggers) {
            self.trigger_commands(config, &trigger)?;
            if trigger.failure_mode == FailureMode::Remediate
                && trigger.max_retries.is_some_and(|retries| retries.get() == 0)
            {
                self.warn_remediate_without_retries(&[BLOCK, trigger.name, "failure_mode"]);
            }
            if let Some(review) = trigger.code_review.filter(|review| review.enabled) {
                self.code_review(trigger.name, review);
            }
        }
        Ok(())
    }

    fn trigger_commands(&mut self, config: &Config, trigger: &CommonTrigger<'_>) -> CheckResult {
        let known: Vec<&str> = config.commands.keys().map(String::as_str).collect();
        for TriggerCommand { name, command, .. } in trigger.commands {
            let path = [BLOCK, trigger.name, "commands"];
            match (name, command) {
                (Some(name), None) if !config.commands.contains_key(name) => {
                    let hint = match known.as_slice() {
                        [] => "define it there".to_owned(),
                        known => nearest(name, known, "name"),
                    };
                    self.warn(&path, format!("`commands` has no `{name}`: {hint}"));
                }
                (Some(_), None) => {}
                (None, Some(command)) if !command.trim().is_empty() => {}
                (None, Some(_)) => return self.reject(&path, "a command is empty"),
                _ => return self.reject(&path, "a command needs either `ref` or `command`"),
            }
        }
        Ok(())
    }

    fn code_review(&mut self, trigger: &str, review: &CodeReviewSettings) {
        let block = [BLOCK, trigger, "code_review"];
        let key = |key| [BLOCK, trigger, "code_review", key];
        match (trigger, review.baseline) {
            ("session_end", Some(_)) => self.warn(
                &key("baseline"),
                "`baseline` has no effect in `session_end`, which reviews the commits of its issue"
                    .to_owned(),
            ),
            ("session_end" | "periodic", None) | (_, Some(_)) => {}
            (_, None) => {
                self.warn(&block, format!("`{trigger}` has no `baseline`: using `since_run_start`"))
            }
        }
        if review.failure_mode == FailureMode::Remediate && review.retries() == 0 {
            self.warn_remediate_without_retries(&key("failure_mode"));
        }
    }

    fn warn_remediate_without_retries(&mut self, path: &[&str]) {
        self.warn(path, "`remediate` with `max_retries: 0` behaves like `continue`".to_owned());
    }
}
