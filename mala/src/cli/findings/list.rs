//! `mala findings list`: the findings of the ledger, by state, file, rule, reviewer and date.

use super::FindingsFormat;
use crate::console::{self, harmless};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::wiring::ledger::failure;
use clap::Args;
use clap::builder::PossibleValuesParser;
use mala_domain::change::FilePath;
use mala_domain::finding::FindingState;
use mala_domain::ledger::{FindingId, LedgerFinding};
use mala_domain::ports::{FindingFilter, Ledger};
use mala_domain::render::{one_line, short_line};
use serde_json::json;
use std::path::{Component, Path, PathBuf};

/// Which findings
#[derive(Debug, Default, Args)]
pub(super) struct FindingListArgs {
    /// Only findings in these states
    #[arg(long, value_name = "STATE", value_delimiter = ',', value_parser = states())]
    state: Vec<String>,
    /// Only findings in this file
    #[arg(long, value_name = "PATH")]
    file: Vec<String>,
    /// Only findings of this rule
    #[arg(long, value_name = "RULE")]
    rule: Option<String>,
    /// Only findings of this reviewer
    #[arg(long, value_name = "NAME")]
    reviewer: Option<String>,
    /// Only findings reported on or after this day, such as 2026-01-31
    #[arg(long, value_name = "DATE")]
    since: Option<String>,
    /// Maximum number of findings; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: FindingsFormat,
}

fn states() -> PossibleValuesParser {
    PossibleValuesParser::new(FindingState::ALL.map(FindingState::name))
}

pub(super) async fn list(
    args: &FindingListArgs,
    ledger: &dyn Ledger,
    here: &Environment,
) -> anyhow::Result<Exit> {
    let mut filter = filter(args, here)?;
    if filter.limit > 0 {
        // One more tells whether there are more.
        filter.limit += 1;
    }
    let mut findings = ledger.findings(&filter).await.map_err(failure)?;
    let has_more = args.limit > 0 && findings.len() > args.limit;
    if has_more {
        findings.truncate(args.limit);
    }
    if args.format == FindingsFormat::Json {
        let list = json!({ "schema_version": 1, "findings": findings, "has_more": has_more });
        console::data(&format!("{list:#}\n"))?;
        return Ok(Exit::Passed);
    }
    if findings.is_empty() {
        console::say("no findings");
    }
    let ids: Vec<FindingId> = findings.iter().map(|it| it.id.clone()).collect();
    let ids = ledger.short_ids(&ids).await.map_err(failure)?;
    let width = ids.iter().map(String::len).max().unwrap_or_default();
    let lines = findings.iter().zip(&ids).map(|(it, id)| line(it, id, width));
    console::data(&lines.collect::<String>())?;
    if has_more {
        console::say("note: there are more findings: use -n 0 to list all");
    }
    Ok(Exit::Passed)
}

fn filter(args: &FindingListArgs, here: &Environment) -> Result<FindingFilter, Failure> {
    let is_listed = |state: &FindingState| args.state.iter().any(|name| name == state.name());
    let since = args.since.as_deref().map(super::decide::day).transpose()?;
    Ok(FindingFilter {
        states: FindingState::ALL.into_iter().filter(is_listed).collect(),
        files: args.file.iter().flat_map(|file| file_paths(file, here)).collect(),
        rule: args.rule.clone(),
        reviewer: args.reviewer.clone(),
        since,
        subject: None,
        limit: args.limit,
    })
}

/// The paths that a file may have in the ledger: from the root of the repository, as lists print it, or from the current
/// folder.
fn file_paths(file: &str, here: &Environment) -> Vec<FilePath> {
    let mut whole = PathBuf::new();
    for part in here.folder.join(file).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                whole.pop();
            }
            other => whole.push(other),
        }
    }
    let from_root = whole.strip_prefix(here.root()).ok().and_then(Path::to_str);
    [Some(file), from_root].into_iter().flatten().map(FilePath::from).collect()
}

fn line(it: &LedgerFinding, id: &str, width: usize) -> String {
    let finding = &it.finding;
    let by = finding.rule.as_ref().unwrap_or(&finding.reviewer);
    harmless(&format!(
        "{id:width$}  {:9}  {}  {}:{}  {} [{}]\n",
        it.state.name(),
        finding.effective_priority(),
        one_line(&finding.file.to_string()),
        finding.line_start,
        short_line(&finding.title, 80),
        one_line(by),
    ))
}
