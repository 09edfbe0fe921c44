//! The available models: their names, adapters, keys and URLs. Keys and URLs come from the environment or
//! the user's file, never from a repository.

use crate::environment::Environment;
use crate::failure::{Failure, FailureKind};
use crate::settings::{self, UserModels, read_if_there};
use crate::wiring::changes::child_environment;
use mala_adapters::models::openai_chat::ChatServer;
use mala_adapters::models::{
    Endpoint, HttpClient, ProxySettings, Secret, anthropic, gemini, openai_chat, openai_responses,
};
use mala_adapters::process::{self, ProcessEnvironment, ProcessLimits, ProcessSpec};
use mala_domain::config::{ModelSettings, ProviderAccount};
use mala_domain::models::{ModelCatalogue, ModelChoice, ModelFeature, ModelProvider, ProviderSpec};
use mala_domain::ports::LanguageModel;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// The HTTP client for models, shared by its clones.
pub use mala_adapters::models::HttpClient as Connections;

/// The time limit of a key command, which may ask the user to unlock a keychain.
const KEY_TIMEOUT: Duration = Duration::from_secs(60);
const MAX_KEY_BYTES: usize = 64 << 10;

/// Why a model is not available.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what}")]
pub struct ModelUnavailable {
    /// The reason.
    pub what: String,
    /// How to fix it.
    pub hint: String,
}

impl ModelUnavailable {
    fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { what: what.into(), hint: hint.into() }
    }
}

impl From<ModelUnavailable> for Failure {
    fn from(error: ModelUnavailable) -> Self {
        Self::new(FailureKind::NoReviewers, error.what).hint(error.hint)
    }
}

/// The URL of a provider, and where it is configured.
struct ProviderUrl {
    url: String,
    origin: String,
}

/// The models, with the keys and URLs to reach them.
pub struct Models {
    catalogue: ModelCatalogue,
    settings: ModelSettings,
    folder: PathBuf,
    here: Environment,
    http: HttpClient,
}

impl Models {
    /// Reads the catalogue that the user's settings name.
    pub fn new(here: &Environment, user: &UserModels, http: HttpClient) -> Result<Self, Failure> {
        let UserModels { settings, folder } = user.clone();
        let folder = folder.unwrap_or_else(|| PathBuf::from("/"));
        let mut catalogue = ModelCatalogue::built_in();
        if let Some(file) = &settings.file {
            let path = folder.join(file);
            let name = path.display().to_string();
            let bytes = read_if_there(&path)?.ok_or_else(|| {
                Failure::new(FailureKind::Configuration, format!("{name} does not exist"))
                    .hint("check models.file in ~/.config/mala/config.yaml")
            })?;
            let text = String::from_utf8(bytes).map_err(|_| {
                Failure::new(FailureKind::Configuration, format!("{name} is not valid UTF-8"))
            })?;
            catalogue =
                catalogue.overlaid(&name, &text).map_err(|error| settings::refusal(&error))?;
        }
        Ok(Self { catalogue, settings, folder, here: here.clone(), http })
    }

    /// The known models.
    pub fn catalogue(&self) -> &ModelCatalogue {
        &self.catalogue
    }

    /// The model with this name.
    pub fn choose(&self, name: &str) -> Result<ModelChoice, ModelUnavailable> {
        self.catalogue
            .choose(name)
            .map_err(|error| ModelUnavailable::new(error.to_string(), error.hint))
    }

    /// Why a provider is not available; `None` if it seems to be. Nothing is run or sent.
    pub fn unavailable(&self, provider: ModelProvider) -> Option<ModelUnavailable> {
        let address = match self.address(provider) {
            Ok(address) => address,
            Err(error) => return Some(error),
        };
        let spec = provider.spec();
        if spec.account != ProviderAccount::Compatible && !self.has_key(provider) {
            return Some(no_key(spec));
        }
        let error = Endpoint::new(&address.url, None).err()?;
        Some(ModelUnavailable::new(error.to_string(), format!("see {}", address.origin)))
    }

    /// Whether a key, or a command that prints one, is set for a provider. Neither is checked.
    pub fn has_key(&self, provider: ModelProvider) -> bool {
        let spec = provider.spec();
        let in_variable =
            self.address(provider).is_ok_and(|address| self.key_variable(&address, spec).is_some());
        in_variable || self.settings.key_commands.get(spec.account).is_some()
    }

    /// The adapter for a model.
    pub async fn model(
        &self,
        choice: &ModelChoice,
    ) -> Result<Arc<dyn LanguageModel>, ModelUnavailable> {
        let address = self.address(choice.provider)?;
        let spec = choice.provider.spec();
        let key = self.key(&address, spec).await?;
        let mut endpoint = Endpoint::new(&address.url, key)
            .map_err(|error| {
                ModelUnavailable::new(error.to_string(), format!("see {}", address.origin))
            })?
            .key_from(self.key_origin(&address, spec));
        if choice.known.as_ref().is_some_and(|model| !model.can(ModelFeature::StructuredOutput)) {
            endpoint = endpoint.schema_in_prompt();
        }
        let http = self.http.clone();
        Ok(match choice.provider {
            ModelProvider::Anthropic => Arc::new(anthropic::model(endpoint, http)),
            ModelProvider::OpenAi => Arc::new(openai_responses::model(endpoint, http)),
            ModelProvider::OpenAiChat => {
                Arc::new(openai_chat::model(ChatServer::OpenAi, endpoint, http))
            }
            ModelProvider::Gemini => Arc::new(gemini::model(endpoint, http)),
            ModelProvider::Compatible => {
                Arc::new(openai_chat::model(ChatServer::Compatible, endpoint, http))
            }
        })
    }

    /// The URL of a provider: from the environment, the user's file, or its default. A compatible server
    /// has no default, and the user's file has precedence over `OPENAI_BASE_URL`, which may be OpenAI's.
    fn address(&self, provider: ModelProvider) -> Result<ProviderUrl, ModelUnavailable> {
        let spec = provider.spec();
        let of_environment = || {
            let url = self.here.text(spec.url_variable)?.to_owned();
            Some(ProviderUrl { url, origin: spec.url_variable.to_owned() })
        };
        let of_user = || {
            let url = self.settings.base_urls.get(spec.account)?.clone();
            Some(ProviderUrl { url, origin: format!("models.base_urls.{}", spec.account.name()) })
        };
        let configured = match spec.account {
            ProviderAccount::Compatible => of_user().or_else(of_environment),
            _ => of_environment().or_else(of_user),
        };
        let default = || {
            let url = spec.default_url?.to_owned();
            Some(ProviderUrl { url, origin: spec.name.to_owned() })
        };
        configured.or_else(default).ok_or_else(|| {
            ModelUnavailable::new(
                "no URL is set for the OpenAI-compatible server",
                "set OPENAI_BASE_URL, or models.base_urls.compatible in ~/.config/mala/config.yaml",
            )
        })
    }

    /// The key in the environment, with the name of its variable. OpenAI's key is sent to another server
    /// only if `OPENAI_BASE_URL` names it.
    fn key_variable(
        &self,
        address: &ProviderUrl,
        spec: &ProviderSpec,
    ) -> Option<(&'static str, Secret)> {
        if spec.account == ProviderAccount::Compatible && address.origin != spec.url_variable {
            return None;
        }
        if let Some(key) = self.here.text(spec.key_variable) {
            return Some((spec.key_variable, Secret::new(key)));
        }
        let other = spec.other_key?;
        let key = self.here.text(other.variable)?;
        let secret = if other.is_bearer { Secret::bearer(key) } else { Secret::new(key) };
        Some((other.variable, secret))
    }

    /// The variable or setting that the key comes from.
    fn key_origin(&self, address: &ProviderUrl, spec: &ProviderSpec) -> String {
        let variable = self.key_variable(address, spec).map(|(variable, _)| variable);
        match (variable, self.settings.key_commands.get(spec.account)) {
            (None, Some(_)) => format!("models.key_commands.{}", spec.account.name()),
            (variable, _) => variable.unwrap_or(spec.key_variable).to_owned(),
        }
    }

    async fn key(
        &self,
        address: &ProviderUrl,
        spec: &ProviderSpec,
    ) -> Result<Option<Secret>, ModelUnavailable> {
        if let Some((_, key)) = self.key_variable(address, spec) {
            return Ok(Some(key));
        }
        match self.settings.key_commands.get(spec.account) {
            Some(command) => self.printed_key(spec.account, command).await.map(Some),
            None if spec.account == ProviderAccount::Compatible => Ok(None),
            None => Err(no_key(spec)),
        }
    }

    async fn printed_key(
        &self,
        account: ProviderAccount,
        command: &[String],
    ) -> Result<Secret, ModelUnavailable> {
        let place = format!("models.key_commands.{}", account.name());
        let refuse = |why: String| {
            ModelUnavailable::new(format!("{place}: {why}"), "check ~/.config/mala/config.yaml")
        };
        let Some((program, args)) = command.split_first() else {
            return Err(refuse("the command is empty".to_owned()));
        };
        let spec =
            ProcessSpec::new(program, self.working_folder(), self.key_environment()).args(args);
        let limits = ProcessLimits::within(KEY_TIMEOUT).stdout(MAX_KEY_BYTES);
        let finished =
            process::run(spec, limits).await.map_err(|error| refuse(error.to_string()))?;
        if !finished.status.success() {
            return Err(refuse(format!("{program} failed: {}", finished.status)));
        }
        let printed = String::from_utf8_lossy(&finished.output.stdout);
        match printed.trim() {
            "" => Err(refuse(format!("{program} printed no key"))),
            key => Ok(Secret::new(key)),
        }
    }

    /// Keychains need the session bus.
    fn key_environment(&self) -> ProcessEnvironment {
        let names = ["DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "SSH_AUTH_SOCK"];
        let set = names.iter().filter_map(|name| Some((name, self.here.variable(name)?)));
        set.fold(child_environment(&self.here), |all, (name, value)| all.with(*name, value))
    }

    /// The folder of the user's file, never the repository: its files must not be found first.
    fn working_folder(&self) -> &Path {
        if self.folder.is_dir() { &self.folder } else { Path::new("/") }
    }
}

/// An HTTP client for models. A process creates it once, because it loads all root certificates.
pub fn connections(here: &Environment) -> Result<HttpClient, Failure> {
    HttpClient::new(proxy(here)).map_err(|error| {
        Failure::new(FailureKind::Configuration, error.to_string()).hint("see HTTPS_PROXY")
    })
}

fn proxy(here: &Environment) -> Option<ProxySettings> {
    let variable = |names: &[&str]| names.iter().find_map(|name| here.text(name));
    let except = variable(&["NO_PROXY", "no_proxy"]).unwrap_or_default();
    // Local models do not use the proxy.
    let except = format!("localhost,127.0.0.1,::1,{except}");
    let url = variable(&["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])?;
    Some(ProxySettings { url: url.to_owned(), except: Some(except) })
}

fn no_key(spec: &ProviderSpec) -> ModelUnavailable {
    let (variable, account) = (spec.key_variable, spec.account.name());
    ModelUnavailable::new(
        format!("{variable} is not set"),
        format!("set {variable}, or models.key_commands.{account} in ~/.config/mala/config.yaml"),
    )
}

#[cfg(test)]
mod tests;
