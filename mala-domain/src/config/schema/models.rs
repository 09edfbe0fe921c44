//! The `models:` block: which models can be asked, and how. It says where keys and requests go, so
//! only a user's own file may have it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which models can be asked, and how. Only your own file may have this block; in a repository's
/// file it is an error.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ModelsBlock {
    /// A file of models, laid over those that `mala models` lists: TOML with a `[[model]]` for each
    /// (`name`, `aliases`, `provider`, `context`, `max_output`, `price`). Relative to the folder of
    /// this file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Commands that print the key of a provider, each as a program and its arguments. They are run
    /// when the variable of the key (such as `ANTHROPIC_API_KEY`) is not set.
    #[serde(deserialize_with = "super::null_is_default", skip_serializing_if = "is_default")]
    #[schemars(with = "Option<PerAccount<Vec<String>>>")]
    pub key_commands: PerAccount<Vec<String>>,
    /// The addresses of providers. `ANTHROPIC_BASE_URL`, `OPENAI_BASE_URL` and
    /// `GOOGLE_GEMINI_BASE_URL` go before them.
    #[serde(deserialize_with = "super::null_is_default", skip_serializing_if = "is_default")]
    #[schemars(with = "Option<PerAccount<String>>")]
    pub base_urls: PerAccount<String>,
}

/// What to use for each provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, bound(deserialize = "T: Deserialize<'de>"))]
pub struct PerAccount<T> {
    /// For Anthropic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anthropic: Option<T>,
    /// For OpenAI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub openai: Option<T>,
    /// For Google's Gemini API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gemini: Option<T>,
    /// For a server that speaks OpenAI's Chat Completions: Ollama, vLLM, llama.cpp, OpenRouter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compatible: Option<T>,
}

impl<T> Default for PerAccount<T> {
    fn default() -> Self {
        Self { anthropic: None, openai: None, gemini: None, compatible: None }
    }
}

impl<T> PerAccount<T> {
    /// What is said for an account.
    pub fn get(&self, account: Account) -> Option<&T> {
        match account {
            Account::Anthropic => self.anthropic.as_ref(),
            Account::OpenAi => self.openai.as_ref(),
            Account::Gemini => self.gemini.as_ref(),
            Account::Compatible => self.compatible.as_ref(),
        }
    }

    /// What is said, account by account.
    pub fn iter(&self) -> impl Iterator<Item = (Account, &T)> {
        Account::ALL.into_iter().filter_map(|account| Some((account, self.get(account)?)))
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Whose key and address it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Account {
    /// Anthropic.
    Anthropic,
    /// OpenAI.
    OpenAi,
    /// Google's Gemini API.
    Gemini,
    /// A server that is like OpenAI's.
    Compatible,
}

impl Account {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::OpenAi, Self::Gemini, Self::Compatible];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Gemini => "gemini",
            Self::Compatible => "compatible",
        }
    }
}

impl ModelsBlock {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
