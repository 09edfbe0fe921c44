//! `mala context`: the context of a change that reviewers get.

use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::interrupt::until_interrupted;
use crate::settings::UserSettings;
use crate::target::{TargetArgs, TargetRequest, requested};
use crate::wiring::changes::{self, Changes};
use clap::Args;
use mala_pipeline::review::context::{ChangeSurroundings, surroundings_of};
use mala_syntax::context::SymbolChange;
use serde_json::{Value, json};
use std::fmt::Write;

/// Show the context of a change that reviewers get
///
/// Prints the functions and classes around each hunk, the changed symbols, references to them in other files,
/// and the project's rules for reviewers.
#[derive(Debug, Args)]
pub struct ContextArgs {
    #[command(flatten)]
    what: TargetArgs,

    /// Print JSON, with the text of every region
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ContextArgs, here: &Environment) -> anyhow::Result<Exit> {
    let request = requested(&args.what)?;
    until_interrupted(show(args, here, &request))
}

async fn show(
    args: &ContextArgs,
    here: &Environment,
    request: &TargetRequest,
) -> anyhow::Result<Exit> {
    let changes = Changes::open(here).await;
    let (_, scoped) = request.scope(&UserSettings::load(here)?, &changes).await?;
    let around = surroundings_of(scoped).await.map_err(changes::failure)?;
    if args.json {
        console::data(&format!("{:#}\n", as_json(&around)))?;
    } else {
        console::data(&console::harmless(&as_text(&around)))?;
    }
    Ok(Exit::Passed)
}

fn as_text(around: &ChangeSurroundings) -> String {
    let context = &around.context;
    let mut text = String::new();
    let mut line = |words: String| writeln!(text, "{words}").unwrap_or_default();
    for file in &context.files {
        line(file.path.to_string());
        for region in &file.regions {
            let symbol = region.symbol.as_deref().unwrap_or("(no symbol)");
            line(format!("  lines {}  {symbol}", region.span));
        }
    }
    line(format!("changed symbols: {}", context.changed_symbols.len()));
    for symbol in &context.changed_symbols {
        let (kind, name) = (symbol.kind.name(), &symbol.symbol);
        line(format!("  {} {kind} {name}  {}:{}", word(symbol.change), symbol.file, symbol.span));
    }
    line(format!("references elsewhere: {}", context.callers.len()));
    for caller in &context.callers {
        let within = caller.within.as_deref().map(|it| format!(" in {it}")).unwrap_or_default();
        line(format!("  {}  {}:{}{within}", caller.symbol, caller.file, caller.line));
    }
    for (file, text) in &around.rules {
        line(format!("rules: {file}, {} lines", text.lines().count()));
    }
    text
}

fn as_json(around: &ChangeSurroundings) -> Value {
    let context = &around.context;
    json!({
        "schema_version": 1,
        "files": context.files.iter().map(|file| json!({
            "file": file.path,
            "language": file.language,
            "regions": file.regions.iter().map(|region| json!({
                "line_start": region.span.start(),
                "line_end": region.span.end(),
                "symbol": region.symbol,
                "hunks": region.hunks,
                "text": mala_domain::secrets::redact(&region.text),
            })).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "changed_symbols": context.changed_symbols.iter().map(|symbol| json!({
            "file": symbol.file,
            "symbol": symbol.symbol,
            "kind": symbol.kind.name(),
            "line_start": symbol.span.start(),
            "line_end": symbol.span.end(),
            "change": word(symbol.change),
        })).collect::<Vec<_>>(),
        "references": context.callers.iter().map(|caller| json!({
            "symbol": caller.symbol,
            "file": caller.file,
            "line": caller.line,
            "within": caller.within,
        })).collect::<Vec<_>>(),
        "rules": around.rules.iter().map(|(file, text)| json!({
            "file": file,
            "text": mala_domain::secrets::redact(text),
        })).collect::<Vec<_>>(),
    })
}

fn word(change: SymbolChange) -> &'static str {
    match change {
        SymbolChange::Added => "added",
        SymbolChange::Modified => "modified",
        SymbolChange::Removed => "removed",
    }
}
