//! `mala eval plant`: makes a set of cases from real changes with planted defects.

use super::kept;
use super::output::EvalFormat;
use crate::console::counted;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::interrupt::until_interrupted;
use crate::target::range;
use crate::wiring::changes::failure;
use crate::wiring::eval::{EvalGit, PLANTED_SET, begin_set, plant_failure};
use anyhow::Context;
use clap::Args;
use mala_domain::scope::ReviewTarget;
use mala_eval::EvalCase;
use mala_eval::plant::{DefectKind, DefectPlanter, PlantRequest, PlantTargets, PlantedDefects};
use mala_eval::render::{Document, DocumentBlock, TextTable};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Plant known defects into real changes of this repository
///
/// Each case is a real change with one added defect: off by one, a dropped await, swapped arguments, a
/// removed check, a widened exception, a leaked handle or an inverted condition. The repository is not
/// modified. `mala eval run --set planted --reviewer NAME` then measures a reviewer on them.
#[derive(Debug, Args)]
pub(super) struct PlantArgs {
    /// Plant into the changes of a range, `A..B` or `A...B` [default: the newest commits that are not
    /// merges]
    #[arg(value_name = "RANGE", conflicts_with_all = ["commit", "base"])]
    range: Option<String>,

    /// Plant into each of these commits
    #[arg(long, value_name = "SHA", num_args = 1.., conflicts_with = "base")]
    commit: Vec<String>,

    /// Plant into the changes of HEAD since its merge base with this branch
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,

    /// Number of defects
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=2000))]
    count: u16,

    /// Seed: the same seed gives the same set
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Only this kind of defect; repeatable
    #[arg(long, value_name = "KIND", value_parser = kind_parser())]
    kind: Vec<DefectKind>,

    /// File to write [default: .mala/eval/sets/planted.jsonl.gz]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Also add each change without the defect, tagged clean-twin
    #[arg(long)]
    with_clean: bool,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: EvalFormat,
}

fn kind_parser() -> impl clap::builder::TypedValueParser<Value = DefectKind> {
    use clap::builder::TypedValueParser;
    let names = DefectKind::ALL.map(DefectKind::name);
    clap::builder::PossibleValuesParser::new(names).try_map(|name| name.parse::<DefectKind>())
}

/// The planted set.
#[derive(Debug, Serialize)]
struct PlantSummary {
    set: String,
    planted: usize,
    changes: usize,
    by_kind: BTreeMap<DefectKind, usize>,
    by_language: BTreeMap<String, usize>,
}

pub(super) fn run(args: &PlantArgs, here: &Environment) -> anyhow::Result<Exit> {
    let request = PlantRequest {
        targets: targets(args)?,
        count: usize::from(args.count),
        seed: args.seed,
        kinds: args.kind.clone(),
    };
    until_interrupted(async {
        let git = EvalGit::new(here);
        let repository = git.repository_around(&here.folder).await?;
        let planter = DefectPlanter { git: &git, repository: &repository };
        let planted = planter.plant(&request).await.map_err(plant_failure)?;
        if planted.defects.is_empty() {
            let what = "no defect can be planted into these changes";
            let hint =
                "defects need added lines of Python, JavaScript, TypeScript, Go, Rust or Java";
            return Err(Failure::new(FailureKind::CouldNotReview, what).hint(hint).into());
        }
        let cases = cases(args, &planter, &planted).await?;
        let path = match &args.output {
            Some(file) => here.folder.join(file),
            None => kept::here(here).sets().join(PLANTED_SET),
        };
        let mut set = begin_set(here, &path)?;
        cases.iter().try_for_each(|case| set.add(case)).context("writing the set")?;
        set.finish().with_context(|| format!("writing {}", path.display()))?;
        let summary = summary(&planted, &path);
        args.format.print(here, &summary, || document(&summary))?;
        Ok(Exit::Passed)
    })
}

fn targets(args: &PlantArgs) -> Result<PlantTargets, Failure> {
    if let Some(text) = &args.range {
        let target = range(text).ok_or_else(|| {
            Failure::usage(format!("`{text}` is not a range")).hint("write it as A..B")
        })?;
        return Ok(PlantTargets::Named(vec![target]));
    }
    if let Some(base) = &args.base {
        let target = ReviewTarget::SinceMergeBase { base: base.clone(), head: "HEAD".to_owned() };
        return Ok(PlantTargets::Named(vec![target]));
    }
    if args.commit.is_empty() {
        return Ok(PlantTargets::Newest);
    }
    let one = |sha: &String| ReviewTarget::Commits(vec![sha.clone()]);
    Ok(PlantTargets::Named(args.commit.iter().map(one).collect()))
}

/// One case per defect, and with --with-clean one per change without a defect.
async fn cases(
    args: &PlantArgs,
    planter: &DefectPlanter<'_>,
    planted: &PlantedDefects,
) -> anyhow::Result<Vec<EvalCase>> {
    let mut cases = Vec::new();
    let mut shown = BTreeSet::new();
    for (number, (at, defect)) in planted.defects.iter().enumerate() {
        let Some(change) = planted.changes.get(*at) else { continue };
        let named = (number + 1, args.seed);
        cases.push(change.site.planted(defect, named));
        if args.with_clean && shown.insert(*at) {
            let mut site = change.site.clone();
            site.diff = planter.diff(&site.base, &site.head).await.map_err(failure)?;
            cases.push(site.twin(defect, named));
        }
    }
    Ok(cases)
}

fn summary(planted: &PlantedDefects, path: &std::path::Path) -> PlantSummary {
    let mut summary = PlantSummary {
        set: path.display().to_string(),
        planted: planted.defects.len(),
        changes: 0,
        by_kind: BTreeMap::new(),
        by_language: BTreeMap::new(),
    };
    let mut changes: Vec<usize> = planted.defects.iter().map(|(change, _)| *change).collect();
    changes.sort_unstable();
    changes.dedup();
    summary.changes = changes.len();
    for (_, defect) in &planted.defects {
        *summary.by_kind.entry(defect.kind).or_default() += 1;
        *summary.by_language.entry(defect.language.clone()).or_default() += 1;
    }
    summary
}

fn document(summary: &PlantSummary) -> Document {
    let mut kinds = TextTable::new(&["kind", "planted"]);
    for (kind, number) in &summary.by_kind {
        kinds.row([kind.name().to_owned(), number.to_string()]);
    }
    let mut languages = TextTable::new(&["language", "planted"]);
    for (language, number) in &summary.by_language {
        languages.row([language.clone(), number.to_string()]);
    }
    let planted = counted(summary.planted, "defect");
    let changes = counted(summary.changes, "change");
    let text = format!("planted {planted} into {changes}: {}", summary.set);
    Document {
        blocks: vec![
            DocumentBlock::Line(text),
            DocumentBlock::TextTable(kinds),
            DocumentBlock::TextTable(languages),
        ],
    }
}
