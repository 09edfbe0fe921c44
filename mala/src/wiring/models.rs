//! The models that can be asked: their names, and the adapters, keys and addresses behind them. Keys
//! and addresses come from the environment or the user's own file, never from a repository.

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::settings::{self, read_if_there};
use crate::surroundings::Surroundings;
use crate::wiring::changes::environment;
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

/// Connections to models, shared by their clones.
pub use mala_adapters::models::HttpClient as Connections;

/// A key command may ask a person to unlock something.
const KEY_PATIENCE: Duration = Duration::from_secs(60);
const MAX_KEY_BYTES: usize = 64 << 10;

/// A model that cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what}")]
pub struct NoModel {
    /// Why.
    pub what: String,
    /// What can be done about it.
    pub hint: String,
}

impl NoModel {
    fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { what: what.into(), hint: hint.into() }
    }
}

impl From<NoModel> for Failure {
    fn from(error: NoModel) -> Self {
        Self::new(Exit::NoReviewers, error.what).hint(error.hint)
    }
}

/// The URL of a provider, and where it is configured.
struct ProviderUrl {
    url: String,
    origin: String,
}

/// The models that can be asked from here.
pub struct Models {
    catalogue: ModelCatalogue,
    block: ModelSettings,
    folder: PathBuf,
    here: Surroundings,
    http: HttpClient,
}

impl Models {
    /// Reads the user's own file, and the file of models that it names.
    pub fn load(here: &Surroundings) -> Result<Self, Failure> {
        Self::over(here, connections(here)?)
    }

    /// The same, over connections that others use too.
    pub fn over(here: &Surroundings, http: HttpClient) -> Result<Self, Failure> {
        let (block, folder) = settings::user_models(here)?;
        let folder = folder.unwrap_or_else(|| PathBuf::from("/"));
        let mut catalogue = ModelCatalogue::built_in();
        if let Some(file) = &block.file {
            let path = folder.join(file);
            let name = path.display().to_string();
            let bytes = read_if_there(&path)?.ok_or_else(|| {
                Failure::new(Exit::Configuration, format!("{name} is not there"))
                    .hint("models.file in your own file names it")
            })?;
            let text = String::from_utf8(bytes).map_err(|_| {
                Failure::new(Exit::Configuration, format!("{name}: it is no UTF-8"))
            })?;
            catalogue =
                catalogue.overlaid(&name, &text).map_err(|error| settings::refusal(&error))?;
        }
        Ok(Self { catalogue, block, folder, here: here.clone(), http })
    }

    /// The models that are known.
    pub fn catalogue(&self) -> &ModelCatalogue {
        &self.catalogue
    }

    /// What a name means.
    pub fn choose(&self, name: &str) -> Result<ModelChoice, NoModel> {
        self.catalogue.choose(name).map_err(|error| NoModel::new(error.to_string(), error.hint))
    }

    /// Why a provider cannot be asked; `None` when it looks as if it could. Nothing is run or sent.
    pub fn obstacle(&self, provider: ModelProvider) -> Option<NoModel> {
        let address = match self.address(provider) {
            Ok(address) => address,
            Err(error) => return Some(error),
        };
        let spec = provider.spec();
        if spec.account != ProviderAccount::Compatible && !self.has_key(provider) {
            return Some(no_key(spec));
        }
        let error = Endpoint::new(&address.url, None).err()?;
        Some(NoModel::new(error.to_string(), format!("see {}", address.origin)))
    }

    /// Whether somebody gave a key for a provider, or a command that prints one. It may be wrong, and
    /// so may the address.
    pub fn has_key(&self, provider: ModelProvider) -> bool {
        let spec = provider.spec();
        let in_variable =
            self.address(provider).is_ok_and(|address| self.key_variable(&address, spec).is_some());
        in_variable || self.block.key_commands.get(spec.account).is_some()
    }

    /// The model behind a choice, ready to be asked.
    pub async fn model(&self, choice: &ModelChoice) -> Result<Arc<dyn LanguageModel>, NoModel> {
        let address = self.address(choice.provider)?;
        let spec = choice.provider.spec();
        let key = self.key(&address, spec).await?;
        let mut endpoint = Endpoint::new(&address.url, key)
            .map_err(|error| NoModel::new(error.to_string(), format!("see {}", address.origin)))?
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

    /// The URL of a provider: from the environment, the user's own file, or its default. A compatible
    /// server has no default, and the user's file goes before `OPENAI_BASE_URL`, which may be OpenAI's.
    fn address(&self, provider: ModelProvider) -> Result<ProviderUrl, NoModel> {
        let spec = provider.spec();
        let of_environment = || {
            let url = self.here.text(spec.url_variable)?.to_owned();
            Some(ProviderUrl { url, origin: spec.url_variable.to_owned() })
        };
        let of_user = || {
            let url = self.block.base_urls.get(spec.account)?.clone();
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
            NoModel::new(
                "no URL is set for the server that is compatible with OpenAI",
                "set OPENAI_BASE_URL, or models.base_urls.compatible in your own file",
            )
        })
    }

    /// The key in the variable. OpenAI's key goes to another server only if `OPENAI_BASE_URL` names it.
    fn key_variable(&self, address: &ProviderUrl, spec: &ProviderSpec) -> Option<Secret> {
        if spec.account == ProviderAccount::Compatible && address.origin != spec.url_variable {
            return None;
        }
        self.here.text(spec.key_variable).map(Secret::new)
    }

    /// Where the key comes from, or would come from.
    fn key_origin(&self, address: &ProviderUrl, spec: &ProviderSpec) -> String {
        let in_variable = self.key_variable(address, spec).is_some();
        match self.block.key_commands.get(spec.account) {
            Some(_) if !in_variable => format!("models.key_commands.{}", spec.account.name()),
            _ => spec.key_variable.to_owned(),
        }
    }

    async fn key(
        &self,
        address: &ProviderUrl,
        spec: &ProviderSpec,
    ) -> Result<Option<Secret>, NoModel> {
        if let Some(key) = self.key_variable(address, spec) {
            return Ok(Some(key));
        }
        match self.block.key_commands.get(spec.account) {
            Some(command) => self.printed_key(spec.account, command).await.map(Some),
            None if spec.account == ProviderAccount::Compatible => Ok(None),
            None => Err(no_key(spec)),
        }
    }

    async fn printed_key(
        &self,
        account: ProviderAccount,
        command: &[String],
    ) -> Result<Secret, NoModel> {
        let place = format!("models.key_commands.{}", account.name());
        let refuse = |why: String| NoModel::new(format!("{place}: {why}"), "see your own file");
        let Some((program, args)) = command.split_first() else {
            return Err(refuse("the command has no program".to_owned()));
        };
        let spec =
            ProcessSpec::new(program, self.working_folder(), self.key_environment()).args(args);
        let limits = ProcessLimits::within(KEY_PATIENCE).stdout(MAX_KEY_BYTES);
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

    /// Keychains are reached over the session's bus.
    fn key_environment(&self) -> ProcessEnvironment {
        let names = ["DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "SSH_AUTH_SOCK"];
        let set = names.iter().filter_map(|name| Some((name, self.here.variable(name)?)));
        set.fold(environment(&self.here), |all, (name, value)| all.with(*name, value))
    }

    /// Never the repository: its files must not be what a command finds first.
    fn working_folder(&self) -> &Path {
        if self.folder.is_dir() { &self.folder } else { Path::new("/") }
    }
}

/// Connections to models. A process that reviews many changes makes them once: they hold all
/// certificates of the machine.
pub fn connections(here: &Surroundings) -> Result<HttpClient, Failure> {
    HttpClient::new(proxy(here)).map_err(|error| {
        Failure::new(Exit::Configuration, error.to_string()).hint("see HTTPS_PROXY")
    })
}

fn proxy(here: &Surroundings) -> Option<ProxySettings> {
    let variable = |names: &[&str]| names.iter().find_map(|name| here.text(name));
    let except = variable(&["NO_PROXY", "no_proxy"]).unwrap_or_default();
    // A model on this machine is not behind the proxy.
    let except = format!("localhost,127.0.0.1,::1,{except}");
    let url = variable(&["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])?;
    Some(ProxySettings { url: url.to_owned(), except: Some(except) })
}

fn no_key(spec: &ProviderSpec) -> NoModel {
    let (variable, account) = (spec.key_variable, spec.account.name());
    NoModel::new(
        format!("{variable} is not set"),
        format!("set {variable}, or models.key_commands.{account} in your own file"),
    )
}

#[cfg(test)]
mod tests;
