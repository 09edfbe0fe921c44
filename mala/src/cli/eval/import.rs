//! `mala eval import`: public benchmarks and the results of other tools, as a set of cases.

use super::format::EvalFormat;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::interrupt::until_interrupted;
use crate::cli::target::range;
use crate::console::{self, counted, harmless};
use crate::surroundings::Surroundings;
use crate::wiring::eval::{EvalGit, begin_set};
use anyhow::Context;
use clap::Args;
use clap::builder::PossibleValuesParser;
use mala_domain::scope::Target;
use mala_eval::import::{CaseDraft, CloneFolder, DraftCode, ImportFormat, SkippedRecord, gather};
use mala_eval::render::{Document, DocumentBlock};
use mala_eval::store::sets::SetWriter;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many records that are passed over are shown.
const MAX_SHOWN: usize = 20;

/// Make a set of cases from a public benchmark, or from the results of another tool
///
/// aacr: positive_samples.json and negative_samples.json of AACR-Bench. bugsinpy: its folder. codeql: folders
/// with query tests. factory: golden_comments_v2.json and manifest.json. humanevalpack: humanevalpack.jsonl.
/// martian: files of golden comments. sarif: SARIF 2.1.0 files, with --repo and --range.
///
/// Records that cannot be used are passed over and told. Exit codes: 0 done, 2 there is no case in it, and
/// nothing is written.
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// What to read
    #[arg(value_name = "KIND", value_parser = PossibleValuesParser::new(ImportFormat::ALL.map(ImportFormat::name)))]
    kind: String,

    /// Files, or folders in which the format's files are found
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The set to write: a .jsonl or .jsonl.gz file
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// A folder with clones of the repositories that the code is taken from: OWNER/NAME, OWNER+NAME,
    /// OWNER__NAME or NAME, with .git or without
    #[arg(long, value_name = "DIR")]
    repos: Option<PathBuf>,

    /// With sarif: the repository that the results are about
    #[arg(long, value_name = "DIR", requires = "range")]
    repo: Option<PathBuf>,

    /// With sarif: the change that the results are about: A..B, A...B, or a commit
    #[arg(long, value_name = "RANGE", requires = "repo")]
    range: Option<String>,

    /// How to print what was made
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: EvalFormat,
}

/// What was made
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

pub(super) fn run(args: &ImportArgs, here: &Surroundings) -> anyhow::Result<Exit> {
    let kind: ImportFormat = args.kind.parse().map_err(|()| Failure::usage("no such kind"))?;
    check_name(&args.output)?;
    let gathered = gather(kind, &here.folder, &args.paths).context("reading")?;
    let imported = kind.read(&gathered.files);
    let clones = clones(args, here, &imported.drafts)?;
    let mut made = ImportSummary {
        schema_version: 1,
        output: args.output.display().to_string(),
        passed_over: [gathered.passed_over, imported.passed_over].concat(),
        ..ImportSummary::default()
    };
    let writing = || format!("writing {}", args.output.display());
    until_interrupted(async {
        let mut set = begin_set(here, &here.folder.join(&args.output))?;
        fill(&mut made, &mut set, imported.drafts, &clones).await.with_context(writing)?;
        made.passed_over.sort_by(|a, b| a.spot.cmp(&b.spot));
        warn(&made);
        if made.cases == 0 {
            let what = "there is no case in it: nothing is written";
            return Err(Failure::new(Exit::CouldNotReview, what).into());
        }
        set.finish().with_context(writing)?;
        args.format.print(here, &made, || document(&made))?;
        Ok(Exit::Passed)
    })
}

fn check_name(output: &Path) -> Result<(), Failure> {
    let name = output.file_name().unwrap_or_default().to_string_lossy();
    match name.ends_with(".jsonl") || name.ends_with(".jsonl.gz") {
        true => Ok(()),
        false => Err(Failure::usage(format!("'{name}' is no name of a set"))
            .hint("a set ends with .jsonl or .jsonl.gz")),
    }
}

/// Where code is taken from; an error when drafts need what was not given.
fn clones(
    args: &ImportArgs,
    here: &Surroundings,
    drafts: &[CaseDraft],
) -> anyhow::Result<CloneFolder> {
    let needs = |wanted: fn(&DraftCode) -> bool| drafts.iter().any(|draft| wanted(&draft.code));
    if needs(|code| matches!(code, DraftCode::Clone(_) | DraftCode::Introduced { .. }))
        && args.repos.is_none()
    {
        return Err(Failure::usage(format!("{} has no code of its own", args.kind))
            .hint("give --repos DIR, a folder with clones of its repositories")
            .into());
    }
    if needs(|code| matches!(code, DraftCode::Named)) && args.repo.is_none() {
        return Err(Failure::usage(format!("{} has no code of its own", args.kind))
            .hint("give --repo DIR --range A..B, the change that it is about")
            .into());
    }
    let target = args
        .range
        .as_deref()
        .map(|word| range(word).unwrap_or_else(|| Target::Commits(vec![word.to_owned()])));
    let repo = args.repo.as_ref().map(|folder| here.folder.join(folder));
    Ok(CloneFolder {
        folder: args.repos.as_ref().map(|folder| here.folder.join(folder)),
        named: repo.zip(target),
        git: Arc::new(EvalGit::new(here)),
    })
}

async fn fill(
    made: &mut ImportSummary,
    set: &mut SetWriter,
    drafts: Vec<CaseDraft>,
    clones: &CloneFolder,
) -> std::io::Result<()> {
    let mut ids = BTreeSet::new();
    for draft in drafts {
        let spot = draft.spot.clone();
        let settled = clones.settle(draft).await;
        made.passed_over.extend(settled.passed_over);
        let Some(case) = settled.case else { continue };
        if !ids.insert(case.id.clone()) {
            let why = format!("there is a case {:?} already", case.id);
            made.passed_over.push(SkippedRecord { spot, why });
            continue;
        }
        made.cases += 1;
        made.clean += usize::from(case.is_clean());
        made.problems += case.ground_truth.len();
        made.rejected_findings += case.rejected_findings.len();
        set.add(&case)?;
    }
    Ok(())
}

fn warn(made: &ImportSummary) {
    let n_passed_over = made.passed_over.len();
    if n_passed_over == 0 {
        return;
    }
    console::say(&format!("warning: {} passed over:", counted(n_passed_over, "record")));
    for record in made.passed_over.iter().take(MAX_SHOWN) {
        console::say(&format!("  {}", harmless(&record.to_string())));
    }
    if let Some(more) = n_passed_over.checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
        console::say(&format!("  and {more} more; --format json lists them all"));
    }
}

fn document(made: &ImportSummary) -> Document {
    let text = format!(
        "{}: {}, {} of them clean, with {} and {} judged wrong",
        made.output,
        counted(made.cases, "case"),
        made.clean,
        counted(made.problems, "problem"),
        counted(made.rejected_findings, "claim"),
    );
    Document { blocks: vec![DocumentBlock::Line(text)] }
}
