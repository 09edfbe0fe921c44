//! The table of lanes: those of `lanes.toml`, overridden by `gate.lanes` of the settings.

use super::{IN_PROCESS, Lane, LaneSettings};
use crate::config::nearest_or;
use std::collections::BTreeMap;
use thiserror::Error;

const KNOWN: &str = include_str!("lanes.toml");

/// Every lane by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneTable {
    lanes: BTreeMap<String, Lane>,
    own: Vec<String>,
    in_process: Vec<Lane>,
}

/// Why a lane cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LaneProblem {
    /// `lanes.toml` cannot be parsed.
    #[error("lanes.toml: {0}")]
    Known(String),
    /// There is no lane of this name.
    #[error("no lane is named `{0}`: {1}")]
    Unknown(String, String),
    /// It has no command.
    #[error("the lane `{0}` has no command")]
    NoCommand(String),
    /// A pattern in `signs` is invalid.
    #[error("invalid regular expression `{1}` in `signs` of the lane `{0}`")]
    NoPattern(String, String),
    /// Its name cannot be the name of a folder.
    #[error("invalid lane name `{0}`: use up to 40 letters, digits, `-` and `_`")]
    Name(String),
}

impl LaneTable {
    /// The built-in lanes.
    pub fn known() -> Result<Self, LaneProblem> {
        Self::with(&BTreeMap::new())
    }

    /// The built-in lanes, overridden by these.
    pub fn with(own: &BTreeMap<String, LaneSettings>) -> Result<Self, LaneProblem> {
        let known: BTreeMap<String, LaneSettings> =
            toml::from_str(KNOWN).map_err(|error| LaneProblem::Known(error.to_string()))?;
        let mut lanes = BTreeMap::new();
        for (name, settings) in own {
            lanes.insert(name.clone(), resolve(name, settings, &known)?);
        }
        for (name, settings) in known {
            lanes.entry(name.clone()).or_insert(Lane { name, settings });
        }
        let in_process = IN_PROCESS.into_iter().filter(|name| !lanes.contains_key(*name));
        let in_process = in_process
            .map(|name| Lane { name: name.to_owned(), settings: LaneSettings::default() })
            .collect();
        Ok(Self { lanes, own: own.keys().cloned().collect(), in_process })
    }

    /// Every lane, by name.
    pub fn lanes(&self) -> impl Iterator<Item = &Lane> {
        self.lanes.values()
    }

    /// Whether the settings define or change this lane.
    pub fn is_own(&self, name: &str) -> bool {
        self.own.iter().any(|own| own == name)
    }

    /// The lane with this name.
    pub fn get(&self, name: &str) -> Result<&Lane, LaneProblem> {
        let in_process = || self.in_process.iter().find(|lane| lane.name == name);
        self.lanes.get(name).or_else(in_process).ok_or_else(|| {
            let own = self.in_process.iter().map(|lane| lane.name.as_str());
            let names: Vec<&str> = self.lanes.keys().map(String::as_str).chain(own).collect();
            let otherwise = format!("there are {}", names.join(", "));
            LaneProblem::Unknown(name.to_owned(), nearest_or(name, &names, &otherwise))
        })
    }
}

fn resolve(
    name: &str,
    settings: &LaneSettings,
    known: &BTreeMap<String, LaneSettings>,
) -> Result<Lane, LaneProblem> {
    if !is_name(name) {
        return Err(LaneProblem::Name(name.to_owned()));
    }
    let base = match &settings.like {
        Some(like) => Some(known.get(like).ok_or_else(|| {
            let names: Vec<&str> = known.keys().map(String::as_str).collect();
            let otherwise = format!("there are {}", names.join(", "));
            LaneProblem::Unknown(like.clone(), nearest_or(like, &names, &otherwise))
        })?),
        None => known.get(name),
    };
    let settings = match base {
        Some(base) => over(settings, base),
        None => settings.clone(),
    };
    let lane = Lane { name: name.to_owned(), settings };
    if lane.program().trim().is_empty() {
        return Err(LaneProblem::NoCommand(lane.name));
    }
    let broken = lane.settings.signs.iter().flatten().find(|it| regex::Regex::new(it).is_err());
    match broken {
        Some(pattern) => Err(LaneProblem::NoPattern(lane.name, pattern.clone())),
        None => Ok(lane),
    }
}

/// Whether a name is valid: it is also the name of a folder.
fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (1..=40).contains(&name.len()) && name.chars().all(is_plain)
}

/// The settings of `own`, completed from `base`. `keep` and `set` are combined.
fn over(own: &LaneSettings, base: &LaneSettings) -> LaneSettings {
    let own = own.clone();
    let base = base.clone();
    let keep = [base.keep, own.keep].into_iter().flatten().flatten().collect();
    let set = [base.set, own.set].into_iter().flatten().flatten().collect();
    LaneSettings {
        like: None,
        command: own.command.or(base.command),
        args: own.args.or(base.args),
        version: own.version.or(base.version),
        install: own.install.or(base.install),
        signed_in: own.signed_in.or(base.signed_in),
        keep: Some(keep),
        set: Some(set),
        set_default: own.set_default.or(base.set_default),
        links: own.links.or(base.links),
        files: own.files.or(base.files),
        hide: own.hide.or(base.hide),
        stdin: own.stdin.or(base.stdin),
        answer: own.answer.or(base.answer),
        usage: own.usage.or(base.usage),
        signs: own.signs.or(base.signs),
        idle: own.idle.or(base.idle),
        max_output: own.max_output.or(base.max_output),
    }
}
