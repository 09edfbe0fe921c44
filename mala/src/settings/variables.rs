//! The environment variables that set configuration keys.

use crate::environment::Environment;
use crate::failure::{Failure, FailureKind};
use mala_domain::config::{Config, ConfigLayer, ConfigOrigin, LinterMode};

type SetKey = fn(&mut Config, &str) -> Result<(), String>;

/// Each variable and the key that it sets.
const VARIABLES: [(&str, SetKey); 7] = [
    ("MALA_REVIEWER", |config, text| {
        config.reviewer_type = Some(text.parse()?);
        Ok(())
    }),
    ("MALA_FAIL_ON", |config, text| {
        config.review.fail_on = Some(text.parse()?);
        Ok(())
    }),
    ("MALA_TIMEOUT", |config, text| {
        config.review.timeout = Some(text.parse()?);
        Ok(())
    }),
    ("MALA_MODEL", |config, text| {
        config.agent_sdk_reviewer_model = Some(text.to_owned());
        Ok(())
    }),
    ("MALA_PROFILE", |config, text| {
        config.review.budget.profile = Some(text.parse()?);
        Ok(())
    }),
    ("MALA_BASE", |config, text| {
        if text.starts_with('-') {
            return Err(format!("'{text}' is not a branch"));
        }
        config.review.base = Some(text.to_owned());
        Ok(())
    }),
    ("MALA_LINTERS", |config, text| {
        config.review.linters.enabled = Some(match text {
            "auto" => LinterMode::Auto,
            "off" => LinterMode::Off,
            other => return Err(format!("'{other}' is not one of auto, off")),
        });
        Ok(())
    }),
];

/// A layer for each variable that is set.
pub(super) fn layers(here: &Environment) -> Result<Vec<ConfigLayer>, Failure> {
    let mut layers = Vec::new();
    for (name, set) in VARIABLES {
        let Some(value) = here.variable(name) else { continue };
        let mut config = Config::default();
        let text = value.to_str().ok_or_else(|| "not valid UTF-8".to_owned());
        text.and_then(|text| set(&mut config, text)).map_err(|why| {
            Failure::new(FailureKind::Configuration, format!("environment variable {name}: {why}"))
        })?;
        layers.push(ConfigLayer { origin: ConfigOrigin::Environment(name), config });
    }
    Ok(layers)
}
