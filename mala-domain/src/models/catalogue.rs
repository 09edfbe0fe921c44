//! The known models, by their names and aliases.

use super::file::{self, Entry};
use super::price::Price;
use super::provider::Provider;
use crate::config::ConfigError;
use std::collections::BTreeMap;

/// A model.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The name that its provider knows.
    pub name: String,
    /// Shorter names for it.
    pub aliases: Vec<String>,
    /// Who provides it.
    pub provider: Provider,
    /// The most tokens of input and output together, where known.
    pub context: Option<u64>,
    /// The most tokens of output, where known.
    pub max_output: Option<u32>,
    /// What it costs, where known.
    pub price: Option<Price>,
    /// What it cannot do.
    pub lacks: Vec<Ability>,
}

impl Model {
    /// Whether it can do something. A model that nobody says otherwise of can.
    pub fn can(&self, ability: Ability) -> bool {
        !self.lacks.contains(&ability)
    }
}

/// Something that not every model can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ability {
    /// Calls tools.
    Tools,
    /// Keeps to a schema because its provider makes it.
    StructuredOutput,
    /// Reads the beginning of a prompt from a cache.
    Caching,
}

impl Ability {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Tools, Self::StructuredOutput, Self::Caching];

    /// The word for it in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::StructuredOutput => "structured_output",
            Self::Caching => "caching",
        }
    }
}

/// The models that are known.
#[derive(Debug, Clone, PartialEq)]
pub struct Catalogue {
    models: Vec<Model>,
}

impl Catalogue {
    /// The models that mala knows by itself.
    pub fn built_in() -> Self {
        let none = || Self { models: Vec::new() };
        // A test reads the same text, so it cannot fail here. Should it, every name is refused.
        none().overlaid("models.toml", include_str!("models.toml")).unwrap_or_else(|_| none())
    }

    /// These models with a user's own file laid over them. `file_name` is only for messages.
    pub fn overlaid(self, file_name: &str, text: &str) -> Result<Self, Box<ConfigError>> {
        let entries = file::entries(file_name, text)?;
        self.with(file_name, text, entries)
    }

    /// All models, in the order in which they are listed to users.
    pub fn models(&self) -> &[Model] {
        &self.models
    }

    /// The model of this name or alias. A name with a date at its end is that of the same model
    /// without it.
    pub fn find(&self, name: &str) -> Option<&Model> {
        let exactly = |name: &str| self.models.iter().find(|model| model.name == name);
        let by_alias =
            || self.models.iter().find(|model| model.aliases.iter().any(|alias| alias == name));
        exactly(name).or_else(by_alias).or_else(|| exactly(without_date(name)?))
    }

    fn with(
        mut self,
        file_name: &str,
        text: &str,
        entries: Vec<file::Placed<Entry>>,
    ) -> Result<Self, Box<ConfigError>> {
        let mut owners: BTreeMap<String, String> = BTreeMap::new();
        for file::Placed { bytes, value: entry } in entries {
            let name = entry.name.clone();
            let refuse = |what: String| file::refusal(file_name, text, bytes.clone(), &what);
            for word in entry.aliases.iter().flatten().chain([&name]) {
                if let Some(owner) = owners.insert(word.clone(), name.clone()) {
                    let what = format!("`{word}` is a name of {name}, and of {owner} already");
                    return Err(refuse(what));
                }
            }
            let known = self.models.iter_mut().find(|model| model.name == name);
            match known {
                Some(model) => entry.lay_over(model),
                None => self.models.push(entry.into_model().map_err(refuse)?),
            }
        }
        // What the later file calls an alias is nobody else's any more.
        for model in &mut self.models {
            let name = &model.name;
            model.aliases.retain(|alias| owners.get(alias).is_none_or(|owner| owner == name));
        }
        Ok(self)
    }
}

/// A name without the date at its end: `-20251001` or `-2025-04-14`.
fn without_date(name: &str) -> Option<&str> {
    let digits = |text: &str, n: usize| text.len() == n && text.bytes().all(|b| b.is_ascii_digit());
    let (rest, last) = name.rsplit_once('-')?;
    if digits(last, 8) {
        return Some(rest);
    }
    let (rest, month) = rest.rsplit_once('-')?;
    let (rest, year) = rest.rsplit_once('-')?;
    (digits(last, 2) && digits(month, 2) && digits(year, 4)).then_some(rest)
}
