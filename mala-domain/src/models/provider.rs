//! The providers of models: one row for each, with its name, its account and its address.

use crate::config::ProviderAccount;

/// A provider of models, with the API that is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ModelProvider {
    /// Anthropic, with its Messages API.
    Anthropic,
    /// OpenAI, with its Responses API.
    OpenAi,
    /// OpenAI, with its Chat Completions API.
    OpenAiChat,
    /// Google, with its Gemini API.
    Gemini,
    /// A server with OpenAI's Chat Completions API: Ollama, vLLM, llama.cpp, OpenRouter.
    Compatible,
}

/// Another variable with the key of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherKey {
    /// Its name.
    pub variable: &'static str,
    /// Whether the key is sent as a bearer token.
    pub is_bearer: bool,
}

/// The static properties of a provider.
#[derive(Debug)]
pub struct ProviderSpec {
    /// Its name in files and in front of a model's name.
    pub name: &'static str,
    /// The account that pays for it.
    pub account: ProviderAccount,
    /// Its models, in the output of `mala doctor`.
    pub models: &'static str,
    /// The variable with its API key.
    pub key_variable: &'static str,
    /// Another variable with a key, which is read if the first one is not set.
    pub other_key: Option<OtherKey>,
    /// The variable with its URL.
    pub url_variable: &'static str,
    /// Its URL, if it has one of its own.
    pub default_url: Option<&'static str>,
}

const ANTHROPIC: ProviderSpec = ProviderSpec {
    name: "anthropic",
    account: ProviderAccount::Anthropic,
    models: "Claude",
    key_variable: "ANTHROPIC_API_KEY",
    other_key: Some(OtherKey { variable: "ANTHROPIC_AUTH_TOKEN", is_bearer: true }),
    url_variable: "ANTHROPIC_BASE_URL",
    default_url: Some("https://api.anthropic.com"),
};

const OPENAI: ProviderSpec = ProviderSpec {
    name: "openai",
    account: ProviderAccount::OpenAi,
    models: "GPT",
    key_variable: "OPENAI_API_KEY",
    other_key: None,
    url_variable: "OPENAI_BASE_URL",
    default_url: Some("https://api.openai.com/v1"),
};

const OPENAI_CHAT: ProviderSpec = ProviderSpec { name: "openai-chat", ..OPENAI };

const GEMINI: ProviderSpec = ProviderSpec {
    name: "gemini",
    account: ProviderAccount::Gemini,
    models: "Gemini",
    key_variable: "GEMINI_API_KEY",
    other_key: Some(OtherKey { variable: "GOOGLE_API_KEY", is_bearer: false }),
    url_variable: "GOOGLE_GEMINI_BASE_URL",
    default_url: Some("https://generativelanguage.googleapis.com"),
};

const COMPATIBLE: ProviderSpec = ProviderSpec {
    name: "compatible",
    account: ProviderAccount::Compatible,
    default_url: None,
    ..OPENAI
};

impl ModelProvider {
    /// All providers.
    pub const ALL: [Self; 5] =
        [Self::Anthropic, Self::OpenAi, Self::OpenAiChat, Self::Gemini, Self::Compatible];

    /// The static properties of the provider.
    pub fn spec(self) -> &'static ProviderSpec {
        match self {
            Self::Anthropic => &ANTHROPIC,
            Self::OpenAi => &OPENAI,
            Self::OpenAiChat => &OPENAI_CHAT,
            Self::Gemini => &GEMINI,
            Self::Compatible => &COMPATIBLE,
        }
    }

    /// Its name in files and in front of a model's name.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// The provider with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.name() == name)
    }

    /// Whether both providers are the same company.
    pub(super) fn is_same_company(self, other: Self) -> bool {
        self.spec().account == other.spec().account
    }
}
