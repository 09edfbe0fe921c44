//! `mala eval capture`: makes a case from a kept review and a label for each of its findings.

mod ask;

use super::output::EvalFormat;
use crate::cli::runs::{pick, unreadable};
use crate::console::{self, counted, harmless};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::interrupt::until_interrupted;
use crate::wiring;
use crate::wiring::eval::{keep_captured, reviewed_code};
use anyhow::Context;
use clap::{Args, ValueEnum};
use mala_domain::change::FilePath;
use mala_domain::finding::Finding;
use mala_domain::report::Report;
use mala_eval::capture::{FindingLabel, LabelRequest, LabeledReview, capture, labels, missed};
use mala_eval::render::{Document, DocumentBlock};
use mala_eval::{EvalCase, KnownProblem};
use serde::Serialize;
use std::io::IsTerminal;
use std::path::PathBuf;

/// Make a case from a kept review by labeling its findings
///
/// A right finding becomes a known problem, and a wrong one a rejected claim. `mala runs show` prints the
/// ids of findings; prefixes are enough. In a terminal, asks for missing labels; otherwise a missing label
/// is an error, and nothing is written.
#[derive(Debug, Args)]
pub(super) struct CaptureArgs {
    /// Review: its folder name or review id, a prefix of one, or `latest`
    #[arg(default_value = "latest")]
    run: String,

    /// Finding that is right; repeatable
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    right: Vec<String>,

    /// Finding that is wrong; repeatable
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    wrong: Vec<String>,

    /// Label of all other findings
    #[arg(long, value_name = "LABEL", conflicts_with_all = ["all_right", "all_wrong"])]
    rest: Option<LabelName>,

    /// Same as --rest right
    #[arg(long, conflicts_with = "all_wrong")]
    all_right: bool,

    /// Same as --rest wrong
    #[arg(long)]
    all_wrong: bool,

    /// Problem that the review missed, as FILE:LINES:CATEGORY:TEXT; repeatable
    #[arg(long, value_name = "PROBLEM")]
    missed: Vec<String>,

    /// New folder to write [default: .mala/eval/sets/captured/REVIEW_ID]
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: EvalFormat,
}

/// The label of a finding
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LabelName {
    /// A real problem
    Right,
    /// Not a problem
    Wrong,
    /// Not part of the case
    LeaveOut,
}

impl From<LabelName> for FindingLabel {
    fn from(name: LabelName) -> Self {
        match name {
            LabelName::Right => Self::Right,
            LabelName::Wrong => Self::Wrong,
            LabelName::LeaveOut => Self::LeaveOut,
        }
    }
}

/// The captured case
#[derive(Serialize)]
struct CaptureSummary {
    schema_version: u32,
    case: String,
    folder: String,
    problems: usize,
    rejected_findings: usize,
    left_out: usize,
}

pub(super) fn run(args: &CaptureArgs, here: &Environment) -> anyhow::Result<Exit> {
    let report = report(args, here)?;
    let missed: Vec<KnownProblem> = args
        .missed
        .iter()
        .map(|text| missed(text))
        .collect::<Result<_, _>>()
        .map_err(Failure::usage)?;
    let Some(labels) = all_labels(args, &report.issues)? else {
        console::say("stopped; nothing was written");
        return Ok(Exit::Interrupted);
    };
    let mut case = None;
    let exit = until_interrupted(async {
        let named = report.issues.iter().map(|finding| &finding.file);
        let more: Vec<FilePath> =
            named.chain(missed.iter().map(|truth| &truth.file)).cloned().collect();
        let sides = reviewed_code(here, &report, &more).await?;
        let judged = LabeledReview { report: &report, labels: &labels, missed };
        case = Some(
            capture(judged, sides).map_err(|why| Failure::new(FailureKind::CouldNotReview, why))?,
        );
        Ok(Exit::Passed)
    })?;
    let Some(case) = case else { return Ok(exit) };
    let folder = keep_captured(here, &case, args.output.as_deref())?;
    let shown = folder.strip_prefix(&here.folder).unwrap_or(&folder);
    let made = CaptureSummary {
        schema_version: 1,
        problems: case.ground_truth.len(),
        rejected_findings: case.rejected_findings.len(),
        left_out: labels.iter().filter(|label| **label == FindingLabel::LeaveOut).count(),
        folder: shown.display().to_string(),
        case: case.id.clone(),
    };
    args.format.print(here, &made, || document(args, &made, &case))?;
    Ok(Exit::Passed)
}

fn report(args: &CaptureArgs, here: &Environment) -> anyhow::Result<Report> {
    let store = wiring::state_folder(here.root());
    let names = store.names().with_context(|| format!("listing {}", store.runs().display()))?;
    let name = pick(&names, &args.run)?;
    let report = store.read(name).map_err(|error| unreadable(&error));
    report.with_context(|| format!("reading {}", harmless(name)))
}

/// A label for every finding; `None` when the user stops.
fn all_labels(
    args: &CaptureArgs,
    findings: &[Finding],
) -> anyhow::Result<Option<Vec<FindingLabel>>> {
    let rest = match (args.all_right, args.all_wrong) {
        (true, _) => Some(FindingLabel::Right),
        (_, true) => Some(FindingLabel::Wrong),
        _ => args.rest.map(FindingLabel::from),
    };
    let requested = LabelRequest { right: args.right.clone(), wrong: args.wrong.clone(), rest };
    let labels = labels(findings, &requested).map_err(|error| {
        Failure::usage(error.to_string())
            .hint("run `mala runs show` to list the findings with their ids")
    })?;
    if let Some(labels) = labels.iter().copied().collect::<Option<Vec<FindingLabel>>>() {
        return Ok(Some(labels));
    }
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Ok(ask::ask(findings, &labels, &mut stdin.lock(), &mut |text| console::say(text))?);
    }
    Err(unlabeled(findings, &labels).into())
}

fn unlabeled(findings: &[Finding], labels: &[Option<FindingLabel>]) -> Failure {
    let silent = findings.iter().zip(labels).filter(|(_, label)| label.is_none());
    let lines: Vec<String> =
        silent.map(|(finding, _)| format!("  {}", ask::line(finding))).collect();
    let what = format!("{} without a label", counted(lines.len(), "finding"));
    Failure::usage(what).frame(lines.join("\n")).hint(
        "add --right ID or --wrong ID for each, or --rest right, wrong or leave-out for all others",
    )
}

fn document(args: &CaptureArgs, made: &CaptureSummary, case: &EvalCase) -> Document {
    let text = format!(
        "{}: {} and {} judged wrong; {} left out",
        made.folder,
        counted(made.problems, "problem"),
        counted(made.rejected_findings, "claim"),
        counted(made.left_out, "finding"),
    );
    let more = match (case.is_clean(), &args.output) {
        (true, _) => "the case is clean: every finding in it is a false alarm".to_owned(),
        (false, None) => {
            "'mala eval run --set captured' measures a reviewer on the captured cases".to_owned()
        }
        (false, Some(folder)) => {
            format!("'mala eval run --set {}' measures a reviewer on it", folder.display())
        }
    };
    Document { blocks: vec![DocumentBlock::Line(text), DocumentBlock::Line(more)] }
}
