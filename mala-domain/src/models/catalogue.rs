//! The catalogue of models.

use super::file::{self, Entry};
use super::price::Price;
use crate::config::ConfigError;
use std::collections::BTreeMap;

/// A model.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The name that its provider uses.
    pub name: String,
    /// Aliases.
    pub aliases: Vec<String>,
    /// The provider.
    pub provider: Provider,
    /// Maximum number of input and output tokens together, if known.
    pub context: Option<u64>,
    /// Maximum number of output tokens, if known.
    pub max_output: Option<u32>,
    /// The price, if known.
    pub price: Option<Price>,
    /// Features it does not have.
    pub lacks: Vec<Ability>,
}

impl Model {
    /// Whether the model has a feature. By default, it has all of them.
    pub fn can(&self, ability: Ability) -> bool {
        !self.lacks.contains(&ability)
    }
}

/// A feature that not every model has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ability {
    /// Tool calls.
    Tools,
    /// Output that the provider forces into a schema.
    StructuredOutput,
    /// A cache for the start of a prompt.
    Caching,
}

impl Ability {
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

/// A provider of models, and its protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Provider {
    /// Anthropic, Messages API.
    Anthropic,
    /// OpenAI, Responses API.
    OpenAi,
    /// OpenAI, Chat Completions API.
    OpenAiChat,
    /// Google, Gemini API.
    Gemini,
    /// A server with OpenAI's Chat Completions API: Ollama, vLLM, llama.cpp, OpenRouter.
    Compatible,
}

impl Provider {
    /// All providers.
    pub const ALL: [Self; 5] =
        [Self::Anthropic, Self::OpenAi, Self::OpenAiChat, Self::Gemini, Self::Compatible];

    /// The name in model files, and the prefix in `PROVIDER/MODEL`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::OpenAiChat => "openai-chat",
            Self::Gemini => "gemini",
            Self::Compatible => "compatible",
        }
    }

    /// The provider with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.name() == name)
    }

    /// Whether both are the same company, with any protocol.
    pub(super) fn is_same_company(self, other: Self) -> bool {
        let company = |provider| match provider {
            Self::OpenAiChat => Self::OpenAi,
            other => other,
        };
        company(self) == company(other)
    }
}

/// All known models.
#[derive(Debug, Clone, PartialEq)]
pub struct Catalogue {
    models: Vec<Model>,
}

impl Catalogue {
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
    pub fn models(&self) -> &[Model] {
        &self.models
    }

    /// The model with this name or alias. A date at the end of a name is ignored.
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
                    let what = format!("duplicate name `{word}`: used by {owner} and {name}");
                    return Err(refuse(what));
                }
            }
            let known = self.models.iter_mut().find(|model| model.name == name);
            match known {
                Some(model) => entry.lay_over(model),
                None => self.models.push(entry.into_model().map_err(refuse)?),
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
