//! The settings of a command: flags, environment variables, the user's file and the repository's file,
//! in this order of precedence. The change under review never provides the repository's file.

mod trust;
mod variables;

pub use trust::{RepositoryFile, RepositoryFileChoice, choose};

use crate::environment::Environment;
use crate::failure::{Failure, FailureKind};
use mala_domain::config::{
    Config, ConfigError, ConfigLayer, ConfigOrigin, ConfigWarning, GatePolicy, ModelSettings,
    ReviewPolicy, RunPolicy, TaskPolicy, WarningTopic, gate_policy, policy, run_policy,
    task_policy,
};
use std::io;
use std::path::{Path, PathBuf};

/// The effective settings of a command.
#[derive(Debug)]
pub struct Settings {
    /// The settings of reviews.
    pub policy: ReviewPolicy,
    /// The panel of external reviewers.
    pub gate: GatePolicy,
    /// The settings of runs.
    pub run: RunPolicy,
    /// The settings of tasks.
    pub tasks: TaskPolicy,
    /// The repository's file: its commands and triggers are not merged with others.
    pub project: Config,
    /// The settings of models.
    pub models: UserModels,
    /// Warnings about the configuration files.
    pub warnings: Vec<ConfigWarning>,
    /// The name of the repository's file; `None` without one.
    pub file: Option<String>,
    /// Why that file is used, when the user may expect another one.
    pub notice: Option<String>,
}

impl Settings {
    /// The notice and the warnings that concern reviews; other warnings are about triggers and
    /// runs.
    pub fn notices(&self) -> Vec<String> {
        self.notices_about(|topic| topic == WarningTopic::Review)
    }

    /// The notice and all warnings.
    pub fn run_notices(&self) -> Vec<String> {
        self.notices_about(|_| true)
    }

    fn notices_about(&self, matters: impl Fn(WarningTopic) -> bool) -> Vec<String> {
        let warnings = self.warnings.iter().filter(|warning| matters(warning.concern));
        self.notice.iter().cloned().chain(warnings.map(ToString::to_string)).collect()
    }
}

/// The `models` block of the user's file.
#[derive(Debug, Clone, Default)]
pub struct UserModels {
    /// The block.
    pub settings: ModelSettings,
    /// The folder of the file, which relative paths start from.
    pub folder: Option<PathBuf>,
}

/// The settings of the user: environment variables and the user's file. A command reads them once.
#[derive(Debug, Clone)]
pub struct UserSettings {
    layers: Vec<ConfigLayer>,
    warnings: Vec<ConfigWarning>,
    /// The settings of models. A repository cannot set them.
    pub models: UserModels,
}

impl UserSettings {
    /// Reads the environment variables and the user's file.
    pub fn load(here: &Environment) -> Result<Self, Failure> {
        let mut layers = variables::layers(here)?;
        let mut warnings = Vec::new();
        let folder = here.user_config_folder().map(|folder| folder.join("mala"));
        let mut settings = ModelSettings::default();
        if let Some(path) = folder.as_ref().map(|folder| folder.join("config.yaml"))
            && let Some(bytes) = read_if_there(&path)?
        {
            let name = path.display().to_string();
            let config = parse(&name, &bytes, &mut warnings)?;
            settings.clone_from(&config.models);
            layers.push(ConfigLayer { origin: ConfigOrigin::UserFile(name), config });
        }
        Ok(Self { layers, warnings, models: UserModels { settings, folder } })
    }

    /// The settings with this file of the repository. `flags` has the options of the command line, as
    /// the keys that they set.
    pub fn with_file(
        &self,
        choice: RepositoryFileChoice,
        flags: Config,
    ) -> Result<Settings, Failure> {
        let mut warnings = self.warnings.clone();
        let mut layers = vec![ConfigLayer { origin: ConfigOrigin::CommandLine, config: flags }];
        layers.extend(self.layers.iter().cloned());
        let mut project = Config::default();
        if let Some(file) = &choice.file {
            let config = parse(&file.name, &file.bytes, &mut warnings)?;
            project.clone_from(&config);
            let text = String::from_utf8_lossy(&file.bytes);
            config.check_for_repository(&file.name, &text).map_err(|error| refusal(&error))?;
            let origin = ConfigOrigin::RepositoryFile(file.name.clone());
            layers.push(ConfigLayer { origin, config });
        }
        Ok(Settings {
            policy: policy(&layers),
            gate: gate_policy(&layers),
            run: run_policy(&layers),
            tasks: task_policy(&layers),
            project,
            models: self.models.clone(),
            warnings,
            file: choice.file.map(|file| file.name),
            notice: choice.notice,
        })
    }
}

/// Parses a configuration file.
fn parse(name: &str, bytes: &[u8], warnings: &mut Vec<ConfigWarning>) -> Result<Config, Failure> {
    let (config, found) = Config::parse_bytes(name, bytes).map_err(|error| refusal(&error))?;
    warnings.extend(found);
    Ok(config)
}

/// The content of a file; `None` when it does not exist.
pub fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::new(
            FailureKind::Configuration,
            format!("cannot read {}: {error}", path.display()),
        )),
    }
}

/// A configuration error as a failure.
pub fn refusal(error: &ConfigError) -> Failure {
    let failure = Failure::new(FailureKind::Configuration, error.to_string()).frame(&error.frame);
    match &error.hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
