//! Which provider a model's name means.

use super::catalogue::{Catalogue, Model};
use super::provider::Provider;
use thiserror::Error;

/// What a name means.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Who is asked.
    pub provider: Provider,
    /// The name that the provider is given.
    pub name: String,
    /// What is known of the model.
    pub known: Option<Model>,
}

/// A name that means no model.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no model is known as '{name}'")]
pub struct UnknownModel {
    /// The name.
    pub name: String,
    /// What can be done about it.
    pub hint: String,
}

impl Catalogue {
    /// What a name means: a known model or alias, or `PROVIDER/NAME`, of which the provider takes
    /// the rest as it is.
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
                "'mala models' lists the known ones; for another one, write PROVIDER/{name} with \
                 one of {prefixes}, or add it to your own file of models"
            ),
        )
    }
}

fn choice(provider: Provider, name: &str, known: Option<&Model>) -> Choice {
    Choice { provider, name: name.to_owned(), known: known.cloned() }
}
