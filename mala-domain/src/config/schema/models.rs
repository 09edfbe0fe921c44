//! The `models` block. It controls where API keys and requests go, so only the user's own file may
//! contain it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Model providers. Allowed only in your own file; an error in the `mala.yaml` of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSettings {
    /// A TOML file with additional models, and changes to those that `mala models` lists. Each
    /// `[[model]]` has `name`, `aliases`, `provider`, `context`, `max_output` and `price`. Relative
    /// to the directory of this file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Commands that print the API key of a provider, each a program and its arguments. Run if the
    /// environment variable (such as `ANTHROPIC_API_KEY`) is not set.
    #[serde(deserialize_with = "super::null_is_default", skip_serializing_if = "is_default")]
    #[schemars(with = "Option<PerProvider<Vec<String>>>")]
    pub key_commands: PerProvider<Vec<String>>,
    /// Base URLs of providers. `ANTHROPIC_BASE_URL`, `OPENAI_BASE_URL` and `GOOGLE_GEMINI_BASE_URL`
    /// take precedence.
    #[serde(deserialize_with = "super::null_is_default", skip_serializing_if = "is_default")]
    #[schemars(with = "Option<PerProvider<String>>")]
    pub base_urls: PerProvider<String>,
}

/// One value per provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, bound(deserialize = "T: Deserialize<'de>"))]
pub struct PerProvider<T> {
    /// Anthropic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anthropic: Option<T>,
    /// OpenAI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub openai: Option<T>,
    /// Google's Gemini API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gemini: Option<T>,
    /// A server with OpenAI's Chat Completions API: Ollama, vLLM, llama.cpp, OpenRouter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compatible: Option<T>,
}

impl<T> Default for PerProvider<T> {
    fn default() -> Self {
        Self { anthropic: None, openai: None, gemini: None, compatible: None }
    }
}

impl<T> PerProvider<T> {
    /// The value for an account.
    pub fn get(&self, account: ProviderAccount) -> Option<&T> {
        match account {
            ProviderAccount::Anthropic => self.anthropic.as_ref(),
            ProviderAccount::OpenAi => self.openai.as_ref(),
            ProviderAccount::Gemini => self.gemini.as_ref(),
            ProviderAccount::Compatible => self.compatible.as_ref(),
        }
    }

    /// All values that are set, with their accounts.
    pub fn iter(&self) -> impl Iterator<Item = (ProviderAccount, &T)> {
        ProviderAccount::ALL.into_iter().filter_map(|account| Some((account, self.get(account)?)))
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// An account with a model provider, which has an API key and a base URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProviderAccount {
    /// Anthropic.
    Anthropic,
    /// OpenAI.
    OpenAi,
    /// Google's Gemini API.
    Gemini,
    /// A server with an OpenAI-compatible API.
    Compatible,
}

impl ProviderAccount {
    /// All accounts.
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::OpenAi, Self::Gemini, Self::Compatible];

    /// The name in configuration files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Gemini => "gemini",
            Self::Compatible => "compatible",
        }
    }
}

impl ModelSettings {
    /// Whether no key is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
