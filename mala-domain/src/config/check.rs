//! Checks values that the types alone cannot check. Stops at the first error; collects warnings.

mod triggers;

use super::globs::PathGlobs;
use super::legacy::{self, SessionReview};
use super::locate::{Outline, Step};
use super::problem::{Concern, ConfigError, ConfigWarning, Place};
use super::read::nearest_or;
use super::schema::{Budget, Cerberus, CommandReviewer, Config, LinterName};
use super::switches::RuleSwitches;
use crate::gate::lane::{LaneProblem, Table};
use std::collections::BTreeMap;

/// Checks a configuration. Returns the warnings, or the first error.
pub(super) fn check(
    config: &Config,
    outline: &Outline<'_>,
    file: &str,
    text: &str,
) -> Result<Vec<ConfigWarning>, Box<ConfigError>> {
    let mut check = Check { outline, file, text, warnings: Vec::new() };
    check.review(config)?;
    check.models(config)?;
    check.gate(config)?;
    check.commands(config)?;
    check.triggers(config)?;
    check.legacy(config);
    Ok(check.warnings)
}

/// Rejects keys that are allowed only in the user's own file.
pub(super) fn own_keys(
    config: &Config,
    outline: &Outline<'_>,
    file: &str,
    text: &str,
) -> Result<(), Box<ConfigError>> {
    if config.models.is_empty() {
        return Ok(());
    }
    let place = outline.key(&keys(&["models"])).unwrap_or_else(Place::start);
    let what = "`models` controls where your API keys and code are sent and cannot be set by a repository";
    let hint = "move it to your own file, ~/.config/mala/config.yaml";
    Err(Box::new(ConfigError::new(file, place, what).hint(Some(hint)).frame(text, "not allowed here")))
}

/// Warnings for entries of `review.rules` that match no known rule.
pub(super) fn unknown_rules(
    config: &Config,
    outline: &Outline<'_>,
    file: &str,
    known: &[&str],
) -> Vec<ConfigWarning> {
    let check = Check { outline, file, text: "", warnings: Vec::new() };
    let entries = config.review.rules.iter().enumerate();
    entries
        .filter(|(_, setting)| !setting.fits_any(known) && !is_of_linter(&setting.rule))
        .map(|(index, setting)| ConfigWarning {
            file: file.to_owned(),
            place: check.rule_place(index, &setting.rule).unwrap_or_else(Place::start),
            message: format!(
                "unknown rule `{}`: {}",
                setting.rule,
                nearest_or(&setting.rule, known, "run 'mala rules list' to see all rules")
            ),
            concern: Concern::Review,
        })
        .collect()
}

/// Whether the rule id belongs to an external linter, whose rules mala does not know.
pub(crate) fn is_of_linter(rule: &str) -> bool {
    let owner = rule.split('/').next().unwrap_or(rule);
    LinterName::ALL.iter().any(|linter| linter.name() == owner)
}

struct Check<'f> {
    outline: &'f Outline<'f>,
    file: &'f str,
    text: &'f str,
    warnings: Vec<ConfigWarning>,
}

type Checked = Result<(), Box<ConfigError>>;

impl Check<'_> {
    fn review(&self, config: &Config) -> Checked {
        if config.agent_sdk_reviewer_model.as_deref().is_some_and(|model| model.trim().is_empty()) {
            return self.refuse(&["agent_sdk_reviewer_model"], "the model name is empty");
        }
        let stronger = config.agent_sdk_escalation_model.as_deref();
        if stronger.is_some_and(|model| model.trim().is_empty()) {
            return self.refuse(&["agent_sdk_escalation_model"], "the model name is empty");
        }
        let review = &config.review;
        self.budget(&review.budget)?;
        if let Some(base) = &review.base
            && (base.is_empty() || base.starts_with('-'))
        {
            return self.refuse(&["review", "base"], &format!("`{base}` is not a valid branch name"));
        }
        if let Some(cerberus) = &review.cerberus {
            self.cerberus(&["review", "cerberus"], cerberus)?;
        }
        if let Some(command) = &review.command {
            self.command_reviewer(command)?;
        }
        self.globs("ignore", review.ignore.as_deref())?;
        self.globs("generated", review.generated.as_deref())?;
        self.rules(config)
    }

    fn models(&self, config: &Config) -> Checked {
        for (account, command) in config.models.key_commands.iter() {
            if command.first().is_none_or(|program| program.trim().is_empty()) {
                let path = ["models", "key_commands", account.name()];
                return self.refuse(&path, "the command is empty");
            }
        }
        for (account, url) in config.models.base_urls.iter() {
            if !url.starts_with("http://") && !url.starts_with("https://") {
                let path = ["models", "base_urls", account.name()];
                return self.refuse(&path, &format!("`{url}` is not an http or https URL"));
            }
        }
        Ok(())
    }

    fn cerberus(&self, path: &[&str], cerberus: &Cerberus) -> Checked {
        let at = |key| [path, &[key]].concat();
        let program = cerberus.command.as_ref().map(|command| command.first());
        if program.is_some_and(|program| program.is_none_or(|it| it.trim().is_empty())) {
            return self.refuse(&at("command"), "the command is empty");
        }
        self.variables(&at("env"), &cerberus.env)
    }

    fn command_reviewer(&self, command: &CommandReviewer) -> Checked {
        for (key, words) in [("run", &command.run), ("parser", &command.parser)] {
            let program = words.as_ref().map(|words| words.first());
            if program.is_some_and(|program| program.is_none_or(|it| it.trim().is_empty())) {
                return self.refuse(&["review", "command", key], "the command is empty");
            }
        }
        self.variables(&["review", "command", "env"], &command.env)
    }

    fn variables(&self, path: &[&str], env: &BTreeMap<String, String>) -> Checked {
        let is_name = |name: &String| !name.is_empty() && !name.contains(['=', '\0']);
        match env.iter().find(|(name, value)| !is_name(name) || value.contains('\0')) {
            Some((name, _)) => {
                let what = format!("invalid environment variable `{name}`");
                self.refuse(&[path, &[name]].concat(), &what)
            }
            None => Ok(()),
        }
    }

    fn budget(&self, budget: &Budget) -> Checked {
        let at = |key| ["review", "budget", key];
        if budget.max_llm_calls == Some(0) {
            return self.refuse(&at("max_llm_calls"), "must be at least 1");
        }
        if budget.max_output_issues == Some(0) {
            return self.refuse(&at("max_output_issues"), "must be at least 1");
        }
        if budget.max_cost_usd.is_some_and(|dollars| !(dollars.is_finite() && dollars > 0.0)) {
            return self.refuse(&at("max_cost_usd"), "must be greater than 0");
        }
        Ok(())
    }

    fn gate(&self, config: &Config) -> Checked {
        let gate = &config.gate;
        if gate.panel.as_ref().is_some_and(Vec::is_empty) {
            return self.refuse(&["gate", "panel"], "the panel has no lanes");
        }
        let canaries = &gate.canaries;
        let at = |key| ["gate", "canaries", key];
        if canaries.every_days.is_some_and(|days| !(1..=365).contains(&days)) {
            return self.refuse(&at("every_days"), "must be between 1 and 365");
        }
        if canaries.count.is_some_and(|count| !(1..=50).contains(&count)) {
            return self.refuse(&at("count"), "must be between 1 and 50");
        }
        if canaries.max_cost_usd.is_some_and(|dollars| !(dollars.is_finite() && dollars > 0.0)) {
            return self.refuse(&at("max_cost_usd"), "must be greater than 0");
        }
        match Table::with(&gate.lanes) {
            Ok(_) => Ok(()),
            Err(problem) => self.refuse_lane(config, &problem),
        }
    }

    /// An error at the position of the lane concerned.
    fn refuse_lane(&self, config: &Config, problem: &LaneProblem) -> Checked {
        let is_it = |name: &&String| {
            let alone = std::iter::once(((*name).clone(), config.gate.lanes.get(*name).cloned()));
            let alone = alone.filter_map(|(name, lane)| Some((name, lane?))).collect();
            Table::with(&alone).is_err()
        };
        let name = config.gate.lanes.keys().find(is_it).map_or("", String::as_str);
        self.refuse(&["gate", "lanes", name], &problem.to_string())
    }

    fn globs(&self, key: &str, patterns: Option<&[String]>) -> Checked {
        let Err(problem) = PathGlobs::new(patterns.unwrap_or_default()) else { return Ok(()) };
        let path = [Step::Key("review"), Step::Key(key), Step::Index(problem.index)];
        self.refuse_at(self.outline.value(&path), problem.to_string())
    }

    fn rules(&self, config: &Config) -> Checked {
        let Err(problem) = RuleSwitches::new(&config.review.rules) else { return Ok(()) };
        let rule = config.review.rules.get(problem.index).map_or("", |setting| &setting.rule);
        let place = self.rule_place(problem.index, rule);
        self.refuse_at(place, problem.what)
    }

    /// The position of an entry of `review.rules`, in its map or its list form.
    fn rule_place(&self, index: usize, rule: &str) -> Option<Place> {
        let path = [Step::Key("review"), Step::Key("rules")];
        let [review, rules] = path;
        self.outline
            .key(&[review, rules, Step::Key(rule)])
            .or_else(|| self.outline.value(&[review, rules, Step::Index(index)]))
    }

    fn commands(&mut self, config: &Config) -> Checked {
        for (name, setting) in &config.commands {
            if setting.command.trim().is_empty() {
                return self.refuse(&["commands", name], &format!("the command `{name}` is empty"));
            }
        }
        if !config.commands.is_empty() {
            self.warn_unused(&["commands"]);
        }
        Ok(())
    }

    fn legacy(&mut self, config: &Config) {
        if let SessionReview::Legacy(_) = legacy::session_review(config) {
            self.warn(&["reviewer_type"], legacy::DEPRECATION.to_owned());
        }
    }

    fn warn_unused(&mut self, path: &[&str]) {
        let name = path.join(".");
        self.warn(path, format!("`{name}` has no effect in this version"));
    }

    /// Adds a warning about triggers and runs, at the key with this path.
    fn warn(&mut self, path: &[&str], message: String) {
        let place = self.outline.key(&keys(path)).unwrap_or_else(Place::start);
        let file = self.file.to_owned();
        self.warnings.push(ConfigWarning { file, place, message, concern: Concern::Run });
    }

    /// An error at the value with this path.
    fn refuse(&self, path: &[&str], message: &str) -> Checked {
        self.refuse_at(self.outline.value(&keys(path)), message.to_owned())
    }

    fn refuse_at(&self, place: Option<Place>, message: String) -> Checked {
        let place = place.unwrap_or_else(Place::start);
        Err(Box::new(ConfigError::new(self.file, place, &message).frame(self.text, "here")))
    }
}

fn keys<'p>(path: &[&'p str]) -> Vec<Step<'p>> {
    path.iter().map(|key| Step::Key(key)).collect()
}
