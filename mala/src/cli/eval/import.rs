//! `mala eval import`: makes a set of cases from a public benchmark or the results of another tool.

use super::output::EvalFormat;
use crate::console::{self, counted, harmless};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::interrupt::until_interrupted;
use crate::target::range;
use crate::wiring::eval::{EvalGit, begin_set};
use anyhow::Context;
use clap::Args;
use clap::builder::PossibleValuesParser;
use mala_domain::scope::ReviewTarget;
use mala_eval::import::{CaseDraft, CloneFolder, DraftCode, ImportFormat, SkippedRecord, gather};
use mala_eval::render::{Document, DocumentBlock};
use mala_eval::store::sets::SetWriter;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many skipped records are shown.
const MAX_SHOWN: usize = 20;

/// Import a public benchmark or the results of another tool as a set of cases
///
/// aacr: positive_samples.json and negative_samples.json of AACR-Bench. bugsinpy: its folder. codeql: folders
/// with query tests. factory: golden_comments_v2.json and manifest.json. humanevalpack: humanevalpack.jsonl.
/// martian: files of golden comments. sarif: SARIF 2.1.0 files, with --repo and --range.
///
/// Records that cannot be used are skipped and listed. Exit codes: 0 done, 2 no case found, and nothing
/// is written.
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// Format of the input
    #[arg(value_name = "KIND", value_parser = PossibleValuesParser::new(ImportFormat::ALL.map(ImportFormat::name)))]
    kind: String,

    /// Files, or folders to search for the format's files
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// File to write, .jsonl or .jsonl.gz
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// Folder with clones of the repositories: OWNER/NAME, OWNER+NAME, OWNER__NAME or NAME, with or
    /// without .git
    #[arg(long, value_name = "DIR")]
    repos: Option<PathBuf>,

    /// With sarif: the repository of the results
    #[arg(long, value_name = "DIR", requires = "range")]
    repo: Option<PathBuf>,

    /// With sarif: the change of the results, A..B, A...B or a commit
    #[arg(long, value_name = "RANGE", requires = "repo")]
    range: Option<String>,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: EvalFormat,
}

/// The imported set
#[derive(Default, Serialize)]
struct ImportSummary {
    schema_version: u32,
    output: String,
    cases: usize,
    clean: usize,
    problems: usize,
    rejected_findings: usize,
    passed_over: Vec<SkippedRecord>,
}

pub(super) fn run(args: &ImportArgs, here: &Environment) -> anyhow::Result<Exit> {
    let kind: ImportFormat = args.kind.parse().map_err(|()| Failure::usage("unknown format"))?;
    check_name(&args.output)?;
    let gathered = gather(kind, &here.folder, &args.paths).context("reading")?;
    let imported = kind.read(&gathered.files);
    let clones = clones(args, here, &imported.drafts)?;
    let mut summary = ImportSummary {
        schema_version: 1,
        output: args.output.display().to_string(),
        passed_over: [gathered.passed_over, imported.passed_over].concat(),
        ..ImportSummary::default()
    };
    let writing = || format!("writing {}", args.output.display());
    until_interrupted(async {
        let mut set = begin_set(here, &here.folder.join(&args.output))?;
        fill(&mut summary, &mut set, imported.drafts, &clones).await.with_context(writing)?;
        summary.passed_over.sort_by(|a, b| a.location.cmp(&b.location));
        warn(&summary);
        if summary.cases == 0 {
            let what = "no cases found; nothing was written";
            return Err(Failure::new(FailureKind::CouldNotReview, what).into());
        }
        set.finish().with_context(writing)?;
        args.format.print(here, &summary, || document(&summary))?;
        Ok(Exit::Passed)
    })
}

fn check_name(output: &Path) -> Result<(), Failure> {
    let name = output.file_name().unwrap_or_default().to_string_lossy();
    match name.ends_with(".jsonl") || name.ends_with(".jsonl.gz") {
        true => Ok(()),
        false => Err(Failure::usage(format!("invalid file name '{name}'"))
            .hint("a set is a .jsonl or .jsonl.gz file")),
    }
}

/// The source of the code; an error when an option is missing.
fn clones(
    args: &ImportArgs,
    here: &Environment,
    drafts: &[CaseDraft],
) -> anyhow::Result<CloneFolder> {
    let needs = |wanted: fn(&DraftCode) -> bool| drafts.iter().any(|draft| wanted(&draft.code));
    if needs(|code| matches!(code, DraftCode::Clone(_) | DraftCode::Introduced { .. }))
        && args.repos.is_none()
    {
        return Err(Failure::usage(format!("{} does not contain the code", args.kind))
            .hint("add --repos DIR, a folder with clones of its repositories")
            .into());
    }
    if needs(|code| matches!(code, DraftCode::Named)) && args.repo.is_none() {
        return Err(Failure::usage(format!("{} does not contain the code", args.kind))
            .hint("add --repo DIR --range A..B, the change of the results")
            .into());
    }
    let target = args
        .range
        .as_deref()
        .map(|word| range(word).unwrap_or_else(|| ReviewTarget::Commits(vec![word.to_owned()])));
    let repo = args.repo.as_ref().map(|folder| here.folder.join(folder));
    Ok(CloneFolder {
        folder: args.repos.as_ref().map(|folder| here.folder.join(folder)),
        named: repo.zip(target),
        git: Arc::new(EvalGit::new(here)),
    })
}

async fn fill(
    summary: &mut ImportSummary,
    set: &mut SetWriter,
    drafts: Vec<CaseDraft>,
    clones: &CloneFolder,
) -> std::io::Result<()> {
    let mut ids = BTreeSet::new();
    for draft in drafts {
        let location = draft.location.clone();
        let outcome = clones.build_case(draft).await;
        summary.passed_over.extend(outcome.passed_over);
        let Some(case) = outcome.case else { continue };
        if !ids.insert(case.id.clone()) {
            let why = format!("duplicate case id {:?}", case.id);
            summary.passed_over.push(SkippedRecord { location, why });
            continue;
        }
        summary.cases += 1;
        summary.clean += usize::from(case.is_clean());
        summary.problems += case.ground_truth.len();
        summary.rejected_findings += case.rejected_findings.len();
        set.add(&case)?;
    }
    Ok(())
}

fn warn(summary: &ImportSummary) {
    let n_skipped = summary.passed_over.len();
    if n_skipped == 0 {
        return;
    }
    console::say(&format!("warning: skipped {}:", counted(n_skipped, "record")));
    for record in summary.passed_over.iter().take(MAX_SHOWN) {
        console::say(&format!("  {}", harmless(&record.to_string())));
    }
    if let Some(more) = n_skipped.checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
        console::say(&format!("  and {more} more; --format json lists them all"));
    }
}

fn document(summary: &ImportSummary) -> Document {
    let text = format!(
        "{}: {}, {} of them clean, with {} and {} judged wrong",
        summary.output,
        counted(summary.cases, "case"),
        summary.clean,
        counted(summary.problems, "problem"),
        counted(summary.rejected_findings, "claim"),
    );
    Document { blocks: vec![DocumentBlock::Line(text)] }
}
