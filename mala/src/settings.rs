//! What holds for this run: flags, environment, the user's file and the repository's file, laid over
//! each other. The repository's file is chosen by trust, never taken from the change under review.

mod environment;
mod trust;

pub use trust::{Chosen, RepositoryFile, choose};

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::surroundings::Surroundings;
use crate::wiring::probe::Probe;
use mala_domain::config::{
    Config, ConfigError, ConfigLayer, ConfigOrigin, ConfigWarning, FILE_NAME, GatePolicy,
    ModelSettings, ReviewPolicy, WarningTopic, gate_policy, policy,
};
use mala_domain::scope::ReviewTarget;
use std::io;
use std::path::{Path, PathBuf};

/// What holds for this run.
#[derive(Debug)]
pub struct Settings {
    /// How a change is reviewed.
    pub policy: ReviewPolicy,
    /// The panel of external reviewers.
    pub gate: GatePolicy,
    /// What to tell the person about the files.
    pub warnings: Vec<ConfigWarning>,
    /// The repository's file that holds; `None` when there is none.
    pub file: Option<String>,
    /// Why it is that file, when a person may expect another one.
    pub notice: Option<String>,
}

impl Settings {
    /// The warnings that matter to a review; the others are about triggers and runs.
    pub fn review_warnings(&self) -> impl Iterator<Item = &ConfigWarning> {
        self.warnings.iter().filter(|warning| warning.concern == WarningTopic::Review)
    }
}

/// Reads all layers. `flags` holds what the command line says, as the keys that it stands for.
pub fn load(here: &Surroundings, chosen: Chosen, flags: Config) -> Result<Settings, Failure> {
    let mut warnings = Vec::new();
    let mut layers = vec![ConfigLayer { origin: ConfigOrigin::CommandLine, config: flags }];
    layers.extend(environment::layers(here)?);
    if let Some((name, bytes)) = user_file(here)? {
        let config = parse(&name, &bytes, &mut warnings)?;
        layers.push(ConfigLayer { origin: ConfigOrigin::UserFile(name), config });
    }
    if let Some(file) = &chosen.file {
        let config = parse(&file.name, &file.bytes, &mut warnings)?;
        let text = String::from_utf8_lossy(&file.bytes);
        config.check_for_repository(&file.name, &text).map_err(|error| refusal(&error))?;
        layers
            .push(ConfigLayer { origin: ConfigOrigin::RepositoryFile(file.name.clone()), config });
    }
    Ok(Settings {
        policy: policy(&layers),
        gate: gate_policy(&layers),
        warnings,
        file: chosen.file.map(|file| file.name),
        notice: chosen.notice,
    })
}

/// What holds for a review of the working tree, without flags.
pub fn of_working_tree(here: &Surroundings, probe: &Probe) -> Result<Settings, Failure> {
    of_working_tree_with(here, probe, Config::default())
}

/// What holds for a review of the working tree, with these flags.
pub fn of_working_tree_with(
    here: &Surroundings,
    probe: &Probe,
    flags: Config,
) -> Result<Settings, Failure> {
    let committed = probe.committed("HEAD", FILE_NAME).ok().flatten();
    let trusted = committed.map(|bytes| RepositoryFile::committed("HEAD", bytes));
    let on_disk = read_if_there(&here.root().join(FILE_NAME))?.map(RepositoryFile::on_disk);
    load(here, choose(&ReviewTarget::WorkingTree, trusted, on_disk), flags)
}

/// Reads one configuration file's bytes, or fails with `Exit::Configuration`.
pub fn parse(
    name: &str,
    bytes: &[u8],
    warnings: &mut Vec<ConfigWarning>,
) -> Result<Config, Failure> {
    let (config, found) = Config::parse_bytes(name, bytes).map_err(|error| refusal(&error))?;
    warnings.extend(found);
    Ok(config)
}

/// The file's bytes; `None` when it is not there.
pub fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            Err(Failure::new(Exit::Configuration, format!("reading {}: {error}", path.display())))
        }
    }
}

/// A configuration error as the failure that it ends in.
pub fn refusal(error: &ConfigError) -> Failure {
    let failure = Failure::new(Exit::Configuration, error.to_string()).frame(&error.frame);
    match &error.hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// What the user's own file says of models, and the folder that it is in.
pub fn user_models(here: &Surroundings) -> Result<(ModelSettings, Option<PathBuf>), Failure> {
    let folder = here.user_config_folder().map(|folder| folder.join("mala"));
    let block = match user_file(here)? {
        Some((name, bytes)) => parse(&name, &bytes, &mut Vec::new())?.models,
        None => ModelSettings::default(),
    };
    Ok((block, folder))
}

fn user_file(here: &Surroundings) -> Result<Option<(String, Vec<u8>)>, Failure> {
    let Some(folder) = here.user_config_folder() else { return Ok(None) };
    let path = folder.join("mala").join("config.yaml");
    Ok(read_if_there(&path)?.map(|bytes| (path.display().to_string(), bytes)))
}
