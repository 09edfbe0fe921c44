//! Decisions about findings: waive, dispute, reopen, baseline.

use super::FindingsFormat;
use crate::cli::review::{ReviewJob, ReviewOptions, run_job};
use crate::console::{self, counted, harmless};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::progress::ReviewProgress;
use crate::settings::{UserSettings, read_if_there};
use crate::wiring::changes::Changes;
use crate::wiring::ledger::{LedgerPlace, failure};
use crate::wiring::{start_time, write_output};
use anyhow::Context;
use clap::Args;
use mala_domain::finding::FindingState;
use mala_domain::ledger::states::{FindingEvent, next_state};
use mala_domain::ledger::waiver::{SharedWaiver, SharedWaivers, Waiver, code_hash};
use mala_domain::ledger::{FindingId, LedgerFinding, StateChange};
use mala_domain::ports::{FindingFilter, Ledger, Side, StateUpdate};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The finding, and the reason
#[derive(Debug, Args)]
pub(super) struct DecisionArgs {
    /// The id of the finding
    id: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: FindingsFormat,
}

/// A day, such as `2026-01-31`.
pub(super) fn day(text: &str) -> Result<String, Failure> {
    let date = text.parse::<jiff::civil::Date>();
    date.map(|date| date.to_string())
        .map_err(|_| Failure::usage(format!("'{text}' is not a date")).hint("write 2026-12-31"))
}

/// The last day of a waiver: today or later.
pub(super) fn last_day(text: &str) -> Result<String, Failure> {
    let day = day(text)?;
    if day.as_str() < now().get(..10).unwrap_or_default() {
        return Err(Failure::usage(format!("{day} is in the past")));
    }
    Ok(day)
}

fn now() -> String {
    jiff::Timestamp::now().to_string()
}

pub(super) async fn waive(
    args: &DecisionArgs,
    until: Option<String>,
    ledger: &dyn Ledger,
    here: &Environment,
) -> anyhow::Result<Exit> {
    let known = ledger.finding(&args.id).await.map_err(failure)?.finding;
    let update = waived(&known, &args.reason, until, &person(here).await)?;
    change((known, update), args.format, ledger).await
}

fn waived(
    known: &LedgerFinding,
    reason: &str,
    until: Option<String>,
    by: &str,
) -> Result<StateUpdate, Failure> {
    let change = state_change(known, FindingEvent::Waived, reason, by)?;
    let waiver = Waiver {
        reason: change.reason.clone(),
        by: change.by.clone(),
        at: change.at.clone(),
        until,
        code: code_hash(&known.finding.evidence_snippet),
        quote: Some(known.finding.evidence_snippet.clone()),
    };
    Ok(StateUpdate { id: known.id.clone(), change, waiver: Some(waiver) })
}

/// Writes the waiver into the file that all clones read.
pub(super) async fn waive_shared(
    args: &DecisionArgs,
    until: Option<String>,
    ledger: &dyn Ledger,
    here: &Environment,
) -> anyhow::Result<Exit> {
    let known = ledger.finding(&args.id).await.map_err(failure)?.finding;
    let reason = given_reason(&args.reason)?;
    let path = here.root().join(SharedWaivers::FILE);
    let invalid = |why: String| {
        Failure::new(
            FailureKind::Configuration,
            format!("{} is invalid: {why}", SharedWaivers::FILE),
        )
    };
    let mut waivers = match read_if_there(&path)? {
        Some(bytes) => SharedWaivers::parse(&String::from_utf8_lossy(&bytes)).map_err(invalid)?,
        None => SharedWaivers::default(),
    };
    waivers.add(SharedWaiver {
        finding: known.finding.dedupe_key.clone(),
        file: known.finding.file.clone(),
        title: known.finding.title.clone(),
        reason,
        by: person(here).await,
        until,
        priority: Some(known.finding.effective_priority()),
        code: code_hash(&known.finding.evidence_snippet),
        quote: Some(known.finding.evidence_snippet.clone()),
    });
    let text = waivers.to_yaml().map_err(invalid)?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).context("writing the waiver")?;
    }
    write_output(&path, &text).map_err(anyhow::Error::msg).context("writing the waiver")?;
    let file = SharedWaivers::FILE;
    console::data(&match args.format {
        FindingsFormat::Text => {
            format!("wrote {file}: commit it; the waiver applies once it is on the base branch\n")
        }
        FindingsFormat::Json => {
            format!("{:#}\n", json!({ "schema_version": 1, "id": known.id, "file": file }))
        }
    })?;
    Ok(Exit::Passed)
}

pub(super) async fn dispute(
    args: &DecisionArgs,
    ledger: &dyn Ledger,
    here: &Environment,
) -> anyhow::Result<Exit> {
    let known = ledger.finding(&args.id).await.map_err(failure)?.finding;
    let update = updated(&known, FindingEvent::Disputed, &args.reason, &person(here).await)?;
    change((known, update), args.format, ledger).await
}

pub(super) async fn reopen(
    (id, reason): (&str, &str),
    format: FindingsFormat,
    ledger: &dyn Ledger,
    here: &Environment,
) -> anyhow::Result<Exit> {
    let known = ledger.finding(id).await.map_err(failure)?.finding;
    let update = updated(&known, FindingEvent::Reopened, reason, &person(here).await)?;
    change((known, update), format, ledger).await
}

fn updated(
    known: &LedgerFinding,
    event: FindingEvent,
    reason: &str,
    by: &str,
) -> Result<StateUpdate, Failure> {
    let change = state_change(known, event, reason, by)?;
    Ok(StateUpdate { id: known.id.clone(), change, waiver: None })
}

/// Accepts the findings of the built-in reviewer in HEAD, and the open findings of the current
/// branch.
pub(super) async fn baseline(
    reason: &str,
    format: FindingsFormat,
    ledger: &dyn Ledger,
    here: &Environment,
) -> anyhow::Result<Exit> {
    let (exit, of_tree) = review_whole_tree(here).await?;
    if !matches!(exit, Exit::Passed | Exit::Blocked) {
        console::say("error: HEAD could not be reviewed: nothing is waived");
        return Ok(exit);
    }
    let changes = Changes::open(here).await;
    let branch = match changes.git() {
        Some(git) => git.branch().await.ok().flatten(),
        None => None,
    };
    let is_own = |it: &LedgerFinding| {
        let of_branch = branch.as_deref().is_some_and(|branch| {
            it.subject == branch
                || it.subject.starts_with(&format!("uncommitted work on {branch} at "))
        });
        of_branch || of_tree.contains(&it.id)
    };
    let filter = FindingFilter {
        states: vec![FindingState::Open, FindingState::Regressed],
        ..FindingFilter::default()
    };
    let mut open = ledger.findings(&filter).await.map_err(failure)?;
    open.retain(is_own);
    let by = person(here).await;
    let updates: Vec<StateUpdate> =
        open.iter().map(|it| waived(it, reason, None, &by)).collect::<Result<_, _>>()?;
    ledger.change_states(&updates).await.map_err(failure)?;
    console::data(&match format {
        FindingsFormat::Text => format!("waived {}\n", counted(updates.len(), "finding")),
        FindingsFormat::Json => {
            format!("{:#}\n", json!({ "schema_version": 1, "waived": updates.len() }))
        }
    })?;
    Ok(Exit::Passed)
}

/// Records the findings of the built-in reviewer in the files of HEAD, with the settings and rules
/// of HEAD. Returns how the review ended, and the findings.
async fn review_whole_tree(here: &Environment) -> anyhow::Result<(Exit, BTreeSet<FindingId>)> {
    let changes = Changes::open(here).await;
    let Some(target) = changes.whole_tree() else {
        return Ok((Exit::CouldNotReview, BTreeSet::new()));
    };
    let job = ReviewJob {
        options: &ReviewOptions::of_built_in_reviewer(),
        is_dry_run: false,
        user: UserSettings::load(here)?,
        scoped: changes.scope(&target, &[]).await?,
        target,
        tasks: Vec::new(),
        subject: None,
        paths: Vec::new(),
        trusted: Side::Head,
        store: None,
        tracked_in: match changes.git() {
            Some(git) => Some(LedgerPlace::of(git).await),
            None => None,
        },
        full_requested: false,
        warnings: Vec::new(),
        is_from_fork: false,
        started: start_time(),
        progress: Arc::new(ReviewProgress::start()),
    };
    let Some(done) = run_job(job, here).await? else {
        return Ok((Exit::CouldNotReview, BTreeSet::new()));
    };
    let report = &done.reviewed.report;
    for warning in &report.warnings {
        console::say(&harmless(&format!("warning: {warning}")));
    }
    let tracking = report.tracking.as_ref().filter(|tracking| tracking.is_stored);
    let ids = tracking.iter().flat_map(|it| it.issues.iter().map(|issue| issue.id.clone()));
    let exit = match tracking {
        Some(_) => Exit::from(report.outcome),
        None => Exit::CouldNotReview,
    };
    Ok((exit, ids.collect()))
}

fn state_change(
    known: &LedgerFinding,
    event: FindingEvent,
    reason: &str,
    by: &str,
) -> Result<StateChange, Failure> {
    let Some(state) = next_state(known.state, event) else {
        let what = match event {
            FindingEvent::Waived => "waived",
            FindingEvent::Disputed => "disputed",
            _ => "reopened",
        };
        let now = known.state.name();
        return Err(Failure::usage(format!("the finding is {now} and cannot be {what}")));
    };
    Ok(StateChange { state, by: by.to_owned(), at: now(), reason: given_reason(reason)? })
}

fn given_reason(reason: &str) -> Result<String, Failure> {
    match reason.trim() {
        "" => Err(Failure::usage("the reason is empty")),
        reason => Ok(reason.to_owned()),
    }
}

/// The person who decides: the author of commits, according to git and the environment.
async fn person(here: &Environment) -> String {
    if let Some(name) = here.text("GIT_AUTHOR_NAME") {
        return name.to_owned();
    }
    let name = match Changes::open(here).await.git() {
        Some(git) => git.user_name().await,
        None => None,
    };
    let of_system = || ["USER", "LOGNAME"].into_iter().find_map(|name| here.text(name));
    name.or_else(|| of_system().map(str::to_owned)).unwrap_or_else(|| "unknown".to_owned())
}

async fn change(
    (known, update): (LedgerFinding, StateUpdate),
    format: FindingsFormat,
    ledger: &dyn Ledger,
) -> anyhow::Result<Exit> {
    let state = update.change.state;
    ledger.change_states(&[update]).await.map_err(failure)?;
    let id = ledger.short_ids(std::slice::from_ref(&known.id)).await.map_err(failure)?.join("");
    console::data(&match format {
        FindingsFormat::Text => {
            let finding = &known.finding;
            let (file, line) = (&finding.file, finding.line_start);
            harmless(&format!("{id} is {}: {file}:{line} {}\n", state.name(), finding.title))
        }
        FindingsFormat::Json => {
            format!("{:#}\n", json!({ "schema_version": 1, "id": known.id, "state": state }))
        }
    })?;
    Ok(Exit::Passed)
}
