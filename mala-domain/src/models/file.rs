//! Parses model files (TOML), with positions for errors.

use super::catalogue::{ModelFeature, ModelSpec};
use super::price::{ModelPrice, TokenRates};
use super::provider::ModelProvider;
use crate::config::{ConfigError, ConfigPosition};
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;

/// Maximum size of a model file.
const MAX_BYTES: usize = 1 << 20;

/// A model in a file. Missing fields keep their value.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelEntry {
    pub(super) name: String,
    pub(super) aliases: Option<Vec<String>>,
    provider: Option<String>,
    context: Option<u64>,
    max_output: Option<u32>,
    price: Option<PriceFields>,
    tools: Option<bool>,
    structured_output: Option<bool>,
    caching: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelFile {
    #[serde(default)]
    model: Vec<Spanned<ModelEntry>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFields {
    input: f64,
    output: f64,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
    long: Option<LongInputPriceFields>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LongInputPriceFields {
    above: u64,
    input: f64,
    output: f64,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
}

/// Parses the entries of a file.
pub(super) fn entries(
    file: &str,
    text: &str,
) -> Result<Vec<Spanned<ModelEntry>>, Box<ConfigError>> {
    if text.len() > MAX_BYTES {
        let what = format!("the file is too large: {} bytes, maximum {MAX_BYTES}", text.len());
        return Err(file_error(file, "", 0..0, &what));
    }
    let parsed: ModelFile = toml::from_str(text).map_err(|error| {
        let bytes = error.span().unwrap_or(0..0);
        let (message, hint) = explain_toml_error(error.message());
        let error = ConfigError::new(file, position(text, bytes), &message);
        Box::new(error.hint(hint.as_deref()).frame(text, "here"))
    })?;
    for entry in &parsed.model {
        entry.as_ref().check().map_err(|what| file_error(file, text, entry.span(), &what))?;
    }
    Ok(parsed.model)
}

/// An error at a byte range of a file.
pub(super) fn file_error(
    file: &str,
    text: &str,
    bytes: Range<usize>,
    what: &str,
) -> Box<ConfigError> {
    Box::new(ConfigError::new(file, position(text, bytes), what).frame(text, "here"))
}

impl ModelEntry {
    fn check(&self) -> Result<(), String> {
        let name = &self.name;
        let is_word = |word: &str| !word.is_empty() && !word.chars().any(char::is_whitespace);
        if let Some(word) = self.aliases.iter().flatten().chain([name]).find(|word| !is_word(word))
        {
            return Err(format!("`{word}` is not a valid model name"));
        }
        if let Some(provider) = &self.provider
            && ModelProvider::named(provider).is_none()
        {
            let valid = ModelProvider::ALL.map(ModelProvider::name).join(", ");
            return Err(format!("`{provider}` is not one of {valid}"));
        }
        if self.context == Some(0) || self.max_output == Some(0) {
            return Err(format!("`context` and `max_output` of {name} must be greater than 0"));
        }
        match &self.price {
            Some(price) if !price.rates().all(|rate| rate.is_finite() && rate >= 0.0) => {
                Err(format!("prices of {name} must be non-negative numbers"))
            }
            _ => Ok(()),
        }
    }

    /// Changes a model.
    pub(super) fn apply_to(self, model: &mut ModelSpec) {
        let lacks = self.lacks();
        let provider = self.provider.as_deref().and_then(ModelProvider::named);
        model.provider = provider.unwrap_or(model.provider);
        model.context = self.context.or(model.context);
        model.max_output = self.max_output.or(model.max_output);
        model.price = self.price.map(PriceFields::price).or_else(|| model.price.take());
        if let Some(aliases) = self.aliases {
            model.aliases = aliases;
        }
        for (ability, is_lacking) in lacks {
            model.lacks.retain(|known| *known != ability);
            if is_lacking {
                model.lacks.push(ability);
            }
        }
    }

    /// Creates a model.
    pub(super) fn into_model(self) -> Result<ModelSpec, String> {
        let Some(provider) = self.provider.as_deref().and_then(ModelProvider::named) else {
            return Err(format!("missing key `provider` for the new model {}", self.name));
        };
        let mut model = ModelSpec {
            name: self.name.clone(),
            aliases: Vec::new(),
            provider,
            context: None,
            max_output: None,
            price: None,
            lacks: Vec::new(),
        };
        self.apply_to(&mut model);
        Ok(model)
    }

    fn lacks(&self) -> Vec<(ModelFeature, bool)> {
        let said = [self.tools, self.structured_output, self.caching];
        let said = ModelFeature::ALL.into_iter().zip(said);
        said.filter_map(|(ability, can)| can.map(|can| (ability, !can))).collect()
    }
}

impl PriceFields {
    fn rates(&self) -> impl Iterator<Item = f64> {
        let long = self.long.iter().flat_map(|long| {
            [Some(long.input), Some(long.output), long.cache_read, long.cache_write]
        });
        let short = [Some(self.input), Some(self.output), self.cache_read, self.cache_write];
        short.into_iter().chain(long).flatten()
    }

    fn price(self) -> ModelPrice {
        ModelPrice {
            rates: TokenRates {
                input: self.input,
                output: self.output,
                cache_read: self.cache_read,
                cache_write: self.cache_write,
            },
            long: self.long.map(|long| {
                let rates = TokenRates {
                    input: long.input,
                    output: long.output,
                    cache_read: long.cache_read,
                    cache_write: long.cache_write,
                };
                (long.above, rates)
            }),
        }
    }
}

/// The message of the TOML parser, with a hint for unknown keys. The parser lists the valid keys in
/// backticks.
fn explain_toml_error(message: &str) -> (String, Option<String>) {
    let mut quoted = message.split('`').skip(1).step_by(2);
    match (message.starts_with("unknown field"), quoted.next()) {
        (true, Some(key)) => {
            let valid: Vec<&str> = quoted.collect();
            let hint = crate::config::nearest(key, &valid, "key");
            (format!("unknown key `{key}`"), Some(hint))
        }
        _ => (message.to_owned(), None),
    }
}

fn position(text: &str, bytes: Range<usize>) -> ConfigPosition {
    let above = text.get(..bytes.start).unwrap_or_default();
    let line = above.matches('\n').count() + 1;
    let column = above.chars().rev().take_while(|c| *c != '\n').count() + 1;
    ConfigPosition { line, column, bytes }
}
