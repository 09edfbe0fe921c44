//! `mala config check`: checks a configuration file.

use super::CheckFormat;
use crate::cli::rules::rule_ids;
use crate::console::{self, counted};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::settings::{self, read_if_there};
use mala_domain::config::{Config, ConfigError, ConfigPosition, ConfigWarning, FILE_NAME};
use serde_json::{Value, json};
use std::path::Path;

pub(super) fn run(
    here: &Environment,
    file: Option<&Path>,
    format: CheckFormat,
) -> anyhow::Result<Exit> {
    let path = file.map_or_else(|| here.root().join(FILE_NAME), |file| here.folder.join(file));
    let name = file.map_or_else(|| FILE_NAME.to_owned(), |file| file.display().to_string());
    let bytes = match (read_if_there(&path)?, file) {
        (Some(bytes), _) => bytes,
        (None, Some(_)) => {
            return Err(
                Failure::new(FailureKind::Configuration, format!("{name} does not exist")).into()
            );
        }
        (None, None) if format == CheckFormat::Text => {
            console::data(&format!("no {FILE_NAME}: using the defaults\n"))?;
            return Ok(Exit::Passed);
        }
        (None, None) => Vec::new(),
    };
    let checked = check(&name, &bytes, &rule_ids(here)?);
    match format {
        CheckFormat::Text => as_text(&name, checked),
        CheckFormat::Json => as_json(&name, checked),
    }
}

type ConfigCheck = Result<Vec<ConfigWarning>, Box<ConfigError>>;

fn check(name: &str, bytes: &[u8], rules: &[String]) -> ConfigCheck {
    let (config, mut warnings) = Config::parse_bytes(name, bytes)?;
    let known: Vec<&str> = rules.iter().map(String::as_str).collect();
    let text = String::from_utf8_lossy(bytes);
    if Path::new(name).file_name().is_some_and(|file| file == FILE_NAME) {
        config.check_for_repository(name, &text)?;
    }
    warnings.extend(config.unknown_rules(name, &text, &known));
    Ok(warnings)
}

fn as_text(name: &str, checked: ConfigCheck) -> anyhow::Result<Exit> {
    let warnings = checked.map_err(|error| settings::refusal(&error))?;
    for warning in &warnings {
        console::say(&format!("warning: {warning}"));
    }
    console::data(&match warnings.len() {
        0 => format!("{name} is valid\n"),
        n => format!("{name} is valid, with {}\n", counted(n, "warning")),
    })?;
    Ok(Exit::Passed)
}

fn as_json(name: &str, checked: ConfigCheck) -> anyhow::Result<Exit> {
    let (error, warnings, exit) = match checked {
        Ok(warnings) => (Value::Null, warnings, Exit::Passed),
        Err(error) => {
            let shown = problem(&error.place, &error.message, error.hint.as_deref());
            (shown, Vec::new(), Exit::Configuration)
        }
    };
    let shown = |warning: &ConfigWarning| problem(&warning.place, &warning.message, None);
    let report = json!({
        "schema_version": 1,
        "file": name,
        "valid": error.is_null(),
        "error": error,
        "warnings": warnings.iter().map(shown).collect::<Vec<_>>(),
    });
    console::data(&format!("{report:#}\n"))?;
    Ok(exit)
}

fn problem(place: &ConfigPosition, message: &str, hint: Option<&str>) -> Value {
    json!({ "line": place.line, "column": place.column, "message": message, "hint": hint })
}
