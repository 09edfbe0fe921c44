//! The built-in reviewer, which needs no model, key or network: checks of the diff, syntax rules, checks
//! across files, and the linters of the project. They run in parallel; one that fails adds a warning.

mod cross_file;
mod file;
mod secret_lines;

use crate::linters::{self, LintOutcome, LinterContext, LinterSettings};
use file::{CheckGap, FileCheck, FileCheckResult};
use mala_domain::change::{ChangedFile, FileClass, FilePath};
use mala_domain::config::{RuleLevel, RuleOverrides};
use mala_domain::finding::ReviewClaim;
use mala_domain::language::Language;
use mala_domain::ports::{BoxFuture, Reviewer, ReviewerFailure};
use mala_domain::report::counted;
use mala_domain::review::{Opinion, ReviewContext, Usage};
use mala_domain::scope::HeadState;
use mala_syntax::diff_checks::{self, ChangeState};
use mala_syntax::rules::{Rule, RuleSet};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Its name in reports.
pub const NAME: &str = "builtin";

/// The built-in reviewer.
pub struct Builtin {
    settings: Arc<BuiltinSettings>,
}

/// The settings of the built-in reviewer.
pub struct BuiltinSettings {
    /// The enabled rules, by file.
    pub switches: RuleOverrides,
    /// The project's own rules, from the trusted ref.
    pub rules: Vec<Arc<Rule>>,
    /// The settings of linters.
    pub linters: LinterSettings,
    /// Where to find and run linters; without it, no linter runs.
    pub linter_context: Option<LinterContext>,
}

impl Builtin {
    /// The reviewer with these settings.
    pub fn new(settings: BuiltinSettings) -> Self {
        Self { settings: Arc::new(settings) }
    }

    async fn lint(&self, request: &ReviewContext) -> LintOutcome {
        match &self.settings.linter_context {
            Some(context) => linters::run(request, &self.settings.linters, context).await,
            None => LintOutcome::default(),
        }
    }
}

impl Reviewer for Builtin {
    fn name(&self) -> &str {
        NAME
    }

    fn needs_surroundings(&self) -> bool {
        false
    }

    fn reviews_whole_change(&self) -> bool {
        true
    }

    fn review<'a>(
        &'a self,
        request: &'a ReviewContext,
    ) -> BoxFuture<'a, Result<Opinion, ReviewerFailure>> {
        Box::pin(async move {
            let settings = self.settings.clone();
            let own = request.clone();
            let in_files = tokio::task::spawn_blocking(move || check_files(&own, &settings));
            let (in_files, across, linted) =
                tokio::join!(in_files, cross_file::check(request), self.lint(request));
            let in_files = in_files.map_err(|error| {
                ReviewerFailure::Crashed(format!("the built-in checks stopped: {error}"))
            })?;
            let mut opinion = opinion(in_files.accounted, in_files.warnings);
            let mut found = in_files.found;
            match across {
                Ok(more) => found.extend(more),
                Err(error) => opinion.warnings.push(error.to_string()),
            }
            found.extend(linted.candidates);
            opinion.warnings.extend(linted.warnings);
            opinion.claims.extend(found.into_iter().filter_map(|it| self.settings.apply(it)));
            Ok(opinion)
        })
    }
}

impl BuiltinSettings {
    /// The claim with the priority of the project; `None` if its rule is off for the file.
    fn apply(&self, mut claim: ReviewClaim) -> Option<ReviewClaim> {
        let usage = claim.rule.as_deref().and_then(|rule| self.switches.of(rule, &claim.file));
        match usage {
            Some(RuleLevel::Off) => return None,
            Some(RuleLevel::At(priority)) => claim.priority = Some(priority),
            Some(RuleLevel::On) | None => {}
        }
        Some(claim)
    }

    /// Whether a rule runs on a file: by the settings of the project, or by its own default.
    fn runs(&self, rule: &Rule, file: &FilePath) -> bool {
        match self.switches.of(&rule.id, file) {
            Some(usage) => usage != RuleLevel::Off,
            None => rule.is_default(),
        }
    }
}

fn opinion(accounted: Vec<(FilePath, Vec<usize>)>, warnings: Vec<String>) -> Opinion {
    Opinion {
        accounted,
        warnings,
        usage: Usage { cache_read_tokens: None, ..Usage::nothing() },
        ..Opinion::default()
    }
}

fn reviewable(request: &ReviewContext) -> impl Iterator<Item = &ChangedFile> {
    request.change.files.iter().filter(|file| file.is_reviewable())
}

/// Files written by tools. Their lines are not reviewed, except for secrets.
fn tool_files(request: &ReviewContext) -> impl Iterator<Item = &ChangedFile> {
    request.change.files.iter().filter(|file| {
        let tools =
            [FileClass::Generated, FileClass::Vendored, FileClass::Lock, FileClass::Minified];
        tools.contains(&file.class)
    })
}

/// The results of the checks of single files.
#[derive(Default)]
struct FileCheckResults {
    found: Vec<ReviewClaim>,
    /// The hunks that were checked completely.
    accounted: Vec<(FilePath, Vec<usize>)>,
    warnings: Vec<String>,
}

/// Runs the checks of single files and of the diff.
fn check_files(request: &ReviewContext, settings: &BuiltinSettings) -> FileCheckResults {
    let languages: BTreeSet<Language> = reviewable(request).filter_map(|f| f.language()).collect();
    let languages: Vec<Language> = languages.into_iter().collect();
    let rules = RuleSet::builtin(&languages)
        .with(settings.rules.iter().cloned())
        .only(|rule| rule.is_default() || settings.switches.mentions(&rule.id));
    let files: Vec<&ChangedFile> = reviewable(request).collect();
    let results: Vec<FileCheckResult> = files
        .par_iter()
        .map(|file| FileCheck { file, context: request, rules: &rules, settings }.run())
        .collect();
    let mut all = FileCheckResults {
        warnings: gap_warnings(&files, &results),
        ..FileCheckResults::default()
    };
    for (file, result) in files.iter().zip(results) {
        all.found.extend(result.found);
        all.accounted.push((file.path.clone(), result.accounted));
    }
    let state = match request.scope.head {
        HeadState::Commit(_) => ChangeState::Committed,
        HeadState::Index | HeadState::WorkingTree | HeadState::Patch => ChangeState::Uncommitted,
    };
    all.found.extend(diff_checks::run(&request.change, state));
    all.found.extend(tool_files(request).flat_map(secret_lines::check));
    all
}

/// Warnings about files that were not checked completely.
fn gap_warnings(files: &[&ChangedFile], results: &[FileCheckResult]) -> Vec<String> {
    let mut warnings: Vec<String> = files
        .iter()
        .zip(results)
        .filter_map(|(file, result)| match result.gap.as_ref()? {
            CheckGap::Unread(why) => {
                Some(format!("{NAME}: {} was not checked completely: {why}", file.path))
            }
            CheckGap::Part => None,
        })
        .collect();
    let parts = results.iter().filter(|result| result.gap == Some(CheckGap::Part)).count();
    if parts > 0 {
        warnings.push(format!(
            "{NAME}: rules that need the whole file did not run on {}: only the patch is available",
            counted(parts, "changed file")
        ));
    }
    warnings
}
