//! `mala findings export` and `import`: findings with their history, one JSON object per line.

use super::FindingsFormat;
use crate::console::{self, counted};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::wiring::ledger::failure;
use anyhow::Context;
use mala_domain::ports::{FindingFilter, FindingHistory, Ledger};
use serde_json::json;
use std::io::Read;
use std::path::Path;

pub(super) async fn export(ledger: &dyn Ledger) -> anyhow::Result<Exit> {
    for finding in ledger.findings(&FindingFilter::default()).await.map_err(failure)? {
        let history = ledger.finding(&finding.id.0).await.map_err(failure)?;
        console::bytes(format!("{}\n", serde_json::to_string(&history)?).as_bytes())?;
    }
    Ok(Exit::Passed)
}

/// Imports all lines or none.
pub(super) async fn import(
    file: &Path,
    format: FindingsFormat,
    ledger: &dyn Ledger,
) -> anyhow::Result<Exit> {
    let text = match file.ends_with("-") {
        true => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).map(|_| text)
        }
        false => std::fs::read_to_string(file),
    };
    let text = text.with_context(|| format!("reading {}", file.display()))?;
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let findings: Vec<FindingHistory> = lines
        .map(|(line, number)| {
            serde_json::from_str(line).map_err(|error| {
                let what = format!("{}:{number}: not a finding: {error}", file.display());
                Failure::usage(what).hint("nothing was imported")
            })
        })
        .collect::<Result<_, _>>()?;
    let n = ledger.import(&findings).await.map_err(failure)?;
    console::data(&match format {
        FindingsFormat::Text => format!("imported {}\n", counted(n, "finding")),
        FindingsFormat::Json => format!("{:#}\n", json!({ "schema_version": 1, "imported": n })),
    })?;
    Ok(Exit::Passed)
}
