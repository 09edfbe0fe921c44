//! Resolves the name of a model to a provider.

use super::catalogue::{Catalogue, Model, Provider};
use thiserror::Error;

/// A resolved model name.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The provider.
    pub provider: Provider,
    /// The name to send to the provider.
    pub name: String,
    /// The catalogue entry, if there is one.
    pub known: Option<Model>,
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

impl Catalogue {
    /// Resolves a known name or alias, or `PROVIDER/NAME`, where NAME may be unknown.
    pub fn choose(&self, name: &str) -> Result<Choice, UnknownModel> {
        if let Some(model) = self.find(name) {
            let is_alias = model.aliases.iter().any(|alias| alias == name);
            let sent = if is_alias { &model.name } else { name };
            return Ok(choice(model.provider, sent, Some(model)));
        }
        let (prefix, rest) = name.split_once('/').unwrap_or(("", name));
        match Provider::named(prefix) {
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
        let prefixes = Provider::ALL.map(Provider::name).join(", ");
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

fn choice(provider: Provider, name: &str, known: Option<&Model>) -> Choice {
    Choice { provider, name: name.to_owned(), known: known.cloned() }
}
