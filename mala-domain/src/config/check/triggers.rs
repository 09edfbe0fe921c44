//! Checks of `validation_triggers`.

use super::{Check, Checked};
use crate::config::read::nearest;
use crate::config::schema::{CodeReview, CommandRef, Config, FailureMode, Retries, Triggers};

/// The fields that all triggers have.
struct Trigger<'c> {
    name: &'static str,
    failure_mode: FailureMode,
    commands: &'c [CommandRef],
    max_retries: Option<Retries>,
    code_review: Option<&'c CodeReview>,
}

macro_rules! trigger {
    ($name:literal, $block:expr) => {
        $block.as_ref().map(|block| Trigger {
            name: $name,
            failure_mode: block.failure_mode,
            commands: &block.commands,
            max_retries: block.max_retries,
            code_review: block.code_review.as_ref(),
        })
    };
}

fn triggers(triggers: &Triggers) -> impl Iterator<Item = Trigger<'_>> {
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

impl Check<'_> {
    pub(super) fn triggers(&mut self, config: &Config) -> Checked {
        if let Some(periodic) = &config.validation_triggers.periodic
            && periodic.interval == Some(0)
        {
            return self.refuse(&[BLOCK, "periodic", "interval"], "must be at least 1");
        }
        for trigger in triggers(&config.validation_triggers) {
            self.warn_unused(&[BLOCK, trigger.name]);
            self.refs(config, &trigger);
            if trigger.failure_mode == FailureMode::Remediate
                && trigger.max_retries.is_some_and(|retries| retries.get() == 0)
            {
                self.remediates_never(&[BLOCK, trigger.name, "failure_mode"]);
            }
            if let Some(review) = trigger.code_review.filter(|review| review.enabled) {
                self.code_review(trigger.name, review);
            }
        }
        Ok(())
    }

    fn refs(&mut self, config: &Config, trigger: &Trigger<'_>) {
        let known: Vec<&str> = config.commands.keys().map(String::as_str).collect();
        for CommandRef { name } in trigger.commands {
            if !config.commands.contains_key(name) {
                let way_out = match known.as_slice() {
                    [] => "define it there".to_owned(),
                    known => nearest(name, known, "name"),
                };
                let message = format!("`commands` has no `{name}`: {way_out}");
                self.warn(&[BLOCK, trigger.name, "commands"], message);
            }
        }
    }

    fn code_review(&mut self, trigger: &str, review: &CodeReview) {
        let block = [BLOCK, trigger, "code_review"];
        let key = |key| [BLOCK, trigger, "code_review", key];
        match (trigger, review.baseline) {
            ("session_end", Some(_)) => self.warn(
                &key("baseline"),
                "`baseline` has no effect in `session_end`, which reviews the commits of its issue".to_owned(),
            ),
            ("session_end" | "periodic", None) | (_, Some(_)) => {}
            (_, None) => self.warn(
                &block,
                format!("`{trigger}` has no `baseline`: using `since_run_start`"),
            ),
        }
        if review.failure_mode == FailureMode::Remediate && review.max_retries.get() == 0 {
            self.remediates_never(&key("failure_mode"));
        }
    }

    fn remediates_never(&mut self, path: &[&str]) {
        self.warn(path, "`remediate` with `max_retries: 0` behaves like `continue`".to_owned());
    }
}
