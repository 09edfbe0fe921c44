//! The catalogue of models.

use super::file::{self, ModelEntry};
use super::price::ModelPrice;
use super::provider::ModelProvider;
use crate::config::ConfigError;
use std::collections::BTreeMap;
use thiserror::Error;
use toml::Spanned;

/// A model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSpec {
    /// The name that its provider uses.
    pub name: String,
    /// Aliases.
    pub aliases: Vec<String>,
    /// The provider.
    pub provider: ModelProvider,
    /// Maximum number of input and output tokens together, if known.
    pub context: Option<u64>,
    /// Maximum number of output tokens, if known.
    pub max_output: Option<u32>,
    /// The price, if known.
    pub price: Option<ModelPrice>,
    /// Features it does not have.
    pub lacks: Vec<ModelFeature>,
}

impl ModelSpec {
    /// Whether the model has a feature. By default, it has all of them.
    pub fn can(&self, ability: ModelFeature) -> bool {
        !self.lacks.contains(&ability)
    }
}

/// A feature that not every model has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModelFeature {
    /// Tool calls.
    Tools,
    /// Output that the provider forces into a schema.
    StructuredOutput,
    /// A cache for the start of a prompt.
    Caching,
}

impl ModelFeature {
    /// All features.
    pub const ALL: [Self; 3] = [Self::Tools, Self::StructuredOutput, Self::Caching];

    /// The name in model files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::StructuredOutput => "structured_output",
            Self::Caching => "caching",
        }
    }
}

/// All known models.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelCatalogue {
    models: Vec<ModelSpec>,
}

impl ModelCatalogue {
    /// The built-in models.
    pub fn built_in() -> Self {
        let none = || Self { models: Vec::new() };
        // A test parses the same text, so this cannot fail.
        none().overlaid("models.toml", include_str!("models.toml")).unwrap_or_else(|_| none())
    }

    /// Adds the models of a file; changes those that exist. `file_name` is used in messages only.
    pub fn overlaid(self, file_name: &str, text: &str) -> Result<Self, Box<ConfigError>> {
        let entries = file::entries(file_name, text)?;
        self.with(file_name, text, entries)
    }

    /// All models, in the order in which they are listed.
    pub fn models(&self) -> &[ModelSpec] {
        &self.models
    }

    /// The model with this name or alias. A date at the end of a name is ignored.
    pub fn find(&self, name: &str) -> Option<&ModelSpec> {
        let exactly = |name: &str| self.models.iter().find(|model| model.name == name);
        let by_alias =
            || self.models.iter().find(|model| model.aliases.iter().any(|alias| alias == name));
        exactly(name).or_else(by_alias).or_else(|| exactly(without_date(name)?))
    }

    fn with(
        mut self,
        file_name: &str,
        text: &str,
        entries: Vec<Spanned<ModelEntry>>,
    ) -> Result<Self, Box<ConfigError>> {
        let mut owners: BTreeMap<String, String> = BTreeMap::new();
        for entry in entries {
            let bytes = entry.span();
            let entry = entry.into_inner();
            let name = entry.name.clone();
            let reject = |what: String| file::file_error(file_name, text, bytes.clone(), &what);
            for word in entry.aliases.iter().flatten().chain([&name]) {
                if let Some(owner) = owners.insert(word.clone(), name.clone()) {
                    let what = format!("duplicate name `{word}`: used by {owner} and {name}");
                    return Err(reject(what));
                }
            }
            let known = self.models.iter_mut().find(|model| model.name == name);
            match known {
                Some(model) => entry.apply_to(model),
                None => self.models.push(entry.into_model().map_err(reject)?),
            }
        }
        // An alias of this file replaces the same alias of another model.
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

/// A resolved model name.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelChoice {
    /// The provider.
    pub provider: ModelProvider,
    /// The name to send to the provider.
    pub name: String,
    /// The catalogue entry, if there is one.
    pub known: Option<ModelSpec>,
}

/// An unknown model name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown model '{name}'")]
pub struct UnknownModel {
    /// The name.
    pub name: String,
    /// How to fix it.
    pub hint: String,
}

impl ModelCatalogue {
    /// Resolves a known name or alias, or `PROVIDER/NAME`, where NAME may be unknown.
    pub fn choose(&self, name: &str) -> Result<ModelChoice, UnknownModel> {
        if let Some(model) = self.find(name) {
            let is_alias = model.aliases.iter().any(|alias| alias == name);
            let sent = if is_alias { &model.name } else { name };
            return Ok(choice(model.provider, sent, Some(model)));
        }
        let (prefix, rest) = name.split_once('/').unwrap_or(("", name));
        match ModelProvider::named(prefix) {
            Some(provider) if !rest.is_empty() => {
                let known = self.find(rest);
                let known = known.filter(|model| model.provider.is_same_company(provider));
                let alias = known.filter(|model| model.aliases.iter().any(|alias| alias == rest));
                let sent = alias.map_or(rest, |model| &model.name);
                Ok(choice(provider, sent, known))
            }
            _ => Err(UnknownModel { name: name.to_owned(), hint: self.hint(name) }),
        }
    }

    fn hint(&self, name: &str) -> String {
        let names = self.models().iter();
        let words: Vec<&str> = names
            .flat_map(|model| model.aliases.iter().chain([&model.name]))
            .map(String::as_str)
            .collect();
        let prefixes = ModelProvider::ALL.map(ModelProvider::name).join(", ");
        crate::config::nearest_or(
            name,
            &words,
            &format!(
                "run 'mala models' to see the known models; for another one, use PROVIDER/{name} with \
                PROVIDER one of {prefixes}, or add it to your model file"
            ),
        )
    }
}

fn choice(provider: ModelProvider, name: &str, known: Option<&ModelSpec>) -> ModelChoice {
    ModelChoice { provider, name: name.to_owned(), known: known.cloned() }
}
