//! `mala models`: the available models with their limits and prices, and why others are not available.

use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::settings::UserSettings;
use crate::wiring::models::{Models, connections};
use clap::Args;
use mala_domain::models::{ModelFeature, ModelPrice, ModelProvider, ModelSpec, TokenRates};
use serde_json::{Value, json};

/// List the available models, and why others are not available
///
/// Prices are in dollars per million tokens. A model that is not listed can be used as PROVIDER/NAME.
#[derive(Debug, Args)]
pub struct ModelsArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ModelsArgs, here: &Environment) -> anyhow::Result<Exit> {
    let user = UserSettings::load(here)?;
    let models = Models::new(here, &user.models, connections(here)?)?;
    console::data(&if args.json { as_json(&models) } else { as_text(&models) })?;
    Ok(Exit::Passed)
}

fn as_json(models: &Models) -> String {
    let listed: Vec<Value> =
        models.catalogue().models().iter().map(|model| entry(models, model)).collect();
    let providers = ModelProvider::ALL.map(|provider| {
        let problem = models.unavailable(provider);
        json!({
            "name": provider.name(),
            "usable": problem.is_none(),
            "why_not": problem.as_ref().map(|problem| &problem.what),
            "hint": problem.as_ref().map(|problem| &problem.hint),
        })
    });
    let all = json!({"schema_version": 1, "providers": providers, "models": listed});
    format!("{all:#}\n")
}

fn entry(models: &Models, model: &ModelSpec) -> Value {
    let problem = models.unavailable(model.provider);
    let can = |ability| model.can(ability);
    json!({
        "name": model.name,
        "aliases": model.aliases,
        "provider": model.provider.name(),
        "usable": problem.is_none(),
        "why_not": problem.map(|problem| problem.what),
        "context": model.context,
        "max_output": model.max_output,
        "price": model.price.as_ref().map(price_json),
        "tools": can(ModelFeature::Tools),
        "structured_output": can(ModelFeature::StructuredOutput),
        "caching": can(ModelFeature::Caching),
    })
}

fn price_json(price: &ModelPrice) -> Value {
    let rates = |rates: &TokenRates| {
        json!({
            "input": rates.input,
            "output": rates.output,
            "cache_read": rates.cache_read,
            "cache_write": rates.cache_write,
        })
    };
    let mut shown = rates(&price.rates);
    shown["long"] = match &price.long {
        Some((above, long)) => {
            let mut long = rates(long);
            long["above"] = json!(above);
            long
        }
        None => Value::Null,
    };
    shown
}

fn as_text(models: &Models) -> String {
    let mut text = String::new();
    for provider in ModelProvider::ALL {
        let known = models.catalogue().models().iter();
        let known: Vec<&ModelSpec> = known.filter(|model| model.provider == provider).collect();
        let problem = models.unavailable(provider);
        let state = match &problem {
            None => "available".to_owned(),
            Some(problem) => format!("not available: {} ({})", problem.what, problem.hint),
        };
        text.push_str(&format!("{}: {state}\n", provider.name()));
        text.push_str(&table(&known));
    }
    console::harmless(&text)
}

/// Columns as wide as their widest cell.
fn table(models: &[&ModelSpec]) -> String {
    let rows: Vec<[String; 5]> = models.iter().map(|model| row(model)).collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..5).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        text.push_str(&format!("  {}\n", line.trim_end()));
    }
    text
}

fn row(model: &ModelSpec) -> [String; 5] {
    let price = match &model.price {
        None => "price unknown".to_owned(),
        Some(price) => {
            let more = price
                .long
                .as_ref()
                .map(|(above, long)| format!(", above {} {}", short(*above), dollars(long)));
            format!("{}{}", dollars(&price.rates), more.unwrap_or_default())
        }
    };
    let tokens = |count: Option<u64>| count.map_or("?".to_owned(), short);
    [
        model.name.clone(),
        model.aliases.join(", "),
        format!("{} in", tokens(model.context)),
        format!("{} out", tokens(model.max_output.map(u64::from))),
        price,
    ]
}

/// `$0.40/1.60`: input and output.
fn dollars(rates: &TokenRates) -> String {
    format!("${:.2}/{:.2}", rates.input, rates.output)
}

/// `1M`, `128k`, `500`.
fn short(tokens: u64) -> String {
    match tokens {
        1_000_000.. => format!("{}M", (tokens as f64 / 1e5).floor() / 10.0),
        1_000.. => format!("{}k", tokens / 1_000),
        fewer => fewer.to_string(),
    }
}
