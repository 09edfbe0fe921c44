//! `mala config show`: the effective settings as YAML with the origin of each value in a comment.

use super::ShowFormat;
use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::settings::Settings;
use crate::wiring::probe::Probe;
use crate::wiring::trusted_settings;
use mala_domain::config::{Config, ConfigOrigin};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// A line of YAML, and the origin of its value.
type YamlLine = (String, String);

pub(super) fn run(here: &Environment, format: ShowFormat) -> anyhow::Result<Exit> {
    let probe = Probe::new(here, here.root())?;
    let settings = trusted_settings::of_working_tree(here, &probe, Config::default())?;
    if let Some(notice) = &settings.notice {
        console::say(&format!("note: {notice}"));
    }
    let text = match format {
        ShowFormat::Yaml => as_yaml(&settings)?,
        ShowFormat::Json => format!("{:#}\n", as_json(&settings)),
    };
    console::data(&text)?;
    Ok(Exit::Passed)
}

fn as_json(settings: &Settings) -> Value {
    let entry = |value: Value, origin: &ConfigOrigin| json!({ "value": value, "origin": origin.to_string() });
    let values: Map<String, Value> = settings
        .policy
        .entries()
        .into_iter()
        .chain(settings.gate.entries())
        .chain(settings.tasks.entries())
        .map(|(key, value, origin)| (key.to_owned(), entry(value, origin)))
        .collect();
    let rules = settings.policy.rules.iter();
    let rules: Vec<Value> = rules.map(|rule| entry(json!(rule.value), &rule.origin)).collect();
    let lanes: Map<String, Value> =
        lanes(settings).map(|(name, value, from)| (name.to_owned(), entry(value, from))).collect();
    json!({ "schema_version": 1, "values": values, "rules": rules, "lanes": lanes })
}

fn as_yaml(settings: &Settings) -> Result<String, std::fmt::Error> {
    let mut lines = as_blocks(settings.policy.entries());
    if !settings.policy.rules.is_empty() {
        lines.push(("  rules:".to_owned(), String::new()));
        for rule in &settings.policy.rules {
            let value = serde_json::to_value(&rule.value).unwrap_or_default();
            lines.push((format!("    - {value}"), rule.origin.to_string()));
        }
    }
    lines.extend(as_blocks(settings.gate.entries()));
    if !settings.gate.lanes.is_empty() {
        lines.push(("  lanes:".to_owned(), String::new()));
        for (name, value, origin) in lanes(settings) {
            lines.push((format!("    {}: {value}", scalar(&name.into())), origin.to_string()));
        }
    }
    lines.extend(as_blocks(settings.tasks.entries()));
    let width = lines.iter().map(|(text, _)| text.chars().count()).max().unwrap_or(0).min(60);
    let mut out = String::new();
    for (text, origin) in lines {
        match origin.as_str() {
            "" => writeln!(out, "{text}")?,
            origin => writeln!(out, "{text:width$}  # {origin}")?,
        }
    }
    Ok(out)
}

/// The lanes that the configuration changes or adds.
fn lanes(settings: &Settings) -> impl Iterator<Item = (&str, Value, &ConfigOrigin)> {
    settings.gate.lanes.iter().map(|(name, lane)| {
        let origin = settings.gate.lane_origins.get(name).unwrap_or(&ConfigOrigin::Default);
        (name.as_str(), serde_json::to_value(lane).unwrap_or_default(), origin)
    })
}

/// Keys with dots as nested blocks.
fn as_blocks(entries: Vec<(&'static str, Value, &ConfigOrigin)>) -> Vec<YamlLine> {
    let mut lines: Vec<YamlLine> = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for (key, value, origin) in entries {
        let mut blocks: Vec<&str> = key.split('.').collect();
        let name = blocks.pop().unwrap_or(key);
        for (depth, block) in blocks.iter().enumerate().skip(shared(&open, &blocks)) {
            lines.push((format!("{}{block}:", "  ".repeat(depth)), String::new()));
        }
        let text = format!("{}{name}: {}", "  ".repeat(blocks.len()), scalar(&value));
        lines.push((text, origin.to_string()));
        open = blocks;
    }
    lines
}

/// The number of blocks that two keys share.
fn shared(a: &[&str], b: &[&str]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// A value as YAML: a simple word as it is, everything else as JSON.
fn scalar(value: &Value) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/' | '.');
    match value.as_str() {
        Some(word)
            if word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.chars().all(plain) =>
        {
            word.to_owned()
        }
        _ => value.to_string(),
    }
}
