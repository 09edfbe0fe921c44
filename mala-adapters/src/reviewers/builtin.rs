//! The reviewer that needs no model, no key and no network: checks on the diff, syntax-tree rules,
//! checks across files, and the linters that the project already has. They run side by side; what
//! one of them cannot do is a warning, and the others go on.

mod cross_file;
mod file;
mod secret_lines;

use crate::linters::{self, LintOutcome, LinterContext, LinterSettings};
use file::{FileCheck, Limit, Looked};
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
    settings: Arc<Settings>,
}

/// What a project sets of it.
pub struct Settings {
    /// Which rules are on, in which files.
    pub switches: RuleOverrides,
    /// The project's own rules, from the trusted ref.
    pub rules: Vec<Arc<Rule>>,
    /// How the project's linters take part.
    pub linters: LinterSettings,
    /// Where linters are found and run; without it, none runs.
    pub linter_context: Option<LinterContext>,
}

impl Builtin {
    /// The reviewer with these settings.
    pub fn new(settings: Settings) -> Self {
        Self { settings: Arc::new(settings) }
    }

    async fn lint(&self, request: &ReviewContext) -> LintOutcome {
        match &self.settings.linter_context {
            Some(world) => linters::run(request, &self.settings.linters, world).await,
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
            let in_files = tokio::task::spawn_blocking(move || look_at_files(&own, &settings));
            let (in_files, across, linted) =
                tokio::join!(in_files, cross_file::check(request), self.lint(request));
            let in_files = in_files.map_err(|error| {
                ReviewerFailure::Crashed(format!("the built-in checks stopped: {error}"))
            })?;
            let mut opinion = opinion(in_files.accounted, in_files.warnings);
            let mut found = in_files.found;
            match across {
                Ok(more) => found.extend(more),
                Err(trouble) => opinion.warnings.push(trouble.to_string()),
            }
            found.extend(linted.candidates);
            opinion.warnings.extend(linted.warnings);
            opinion.claims.extend(found.into_iter().filter_map(|it| self.settings.heed(it)));
            Ok(opinion)
        })
    }
}

impl Settings {
    /// The claim as the project wants it; `None` when its rule is off for the file.
    fn heed(&self, mut claim: ReviewClaim) -> Option<ReviewClaim> {
        let usage = claim.rule.as_deref().and_then(|rule| self.switches.of(rule, &claim.file));
        match usage {
            Some(RuleLevel::Off) => return None,
            Some(RuleLevel::At(priority)) => claim.priority = Some(priority),
            Some(RuleLevel::On) | None => {}
        }
        Some(claim)
    }

    /// Whether a rule runs over a file: by what the project says, else by its own default.
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

/// Files that tools wrote: their lines are not reviewed, and a secret in them leaks all the same.
fn left_out(request: &ReviewContext) -> impl Iterator<Item = &ChangedFile> {
    request.change.files.iter().filter(|file| {
        let tools =
            [FileClass::Generated, FileClass::Vendored, FileClass::Lock, FileClass::Minified];
        tools.contains(&file.class)
    })
}

/// What the files of a change show, each on its own.
#[derive(Default)]
struct InFiles {
    found: Vec<ReviewClaim>,
    /// Every check that applies to a hunk's file has run over the whole hunk.
    accounted: Vec<(FilePath, Vec<usize>)>,
    warnings: Vec<String>,
}

/// Everything that one file, or the diff alone, shows.
fn look_at_files(request: &ReviewContext, settings: &Settings) -> InFiles {
    let languages: BTreeSet<Language> = reviewable(request).filter_map(|f| f.language()).collect();
    let languages: Vec<Language> = languages.into_iter().collect();
    let rules = RuleSet::builtin(&languages)
        .with(settings.rules.iter().cloned())
        .only(|rule| rule.is_default() || settings.switches.mentions(&rule.id));
    let files: Vec<&ChangedFile> = reviewable(request).collect();
    let looked: Vec<Looked> = files
        .par_iter()
        .map(|file| FileCheck { file, context: request, rules: &rules, settings }.run())
        .collect();
    let mut all = InFiles { warnings: limits(&files, &looked), ..InFiles::default() };
    for (file, looked) in files.iter().zip(looked) {
        all.found.extend(looked.found);
        all.accounted.push((file.path.clone(), looked.accounted));
    }
    let state = match request.scope.head {
        HeadState::Commit(_) => ChangeState::Committed,
        HeadState::Index | HeadState::WorkingTree | HeadState::Patch => ChangeState::Uncommitted,
    };
    all.found.extend(diff_checks::run(&request.change, state));
    all.found.extend(left_out(request).flat_map(secret_lines::check));
    all
}

/// What to say of files that not every check could look at.
fn limits(files: &[&ChangedFile], looked: &[Looked]) -> Vec<String> {
    let limited = files.iter().zip(looked);
    let mut warnings: Vec<String> = limited
        .filter_map(|(file, looked)| match looked.limit.as_ref()? {
            Limit::Unread(why) => {
                Some(format!("{NAME}: {} was not looked at whole: {why}", file.path))
            }
            Limit::Part => None,
        })
        .collect();
    let parts = looked.iter().filter(|looked| looked.limit == Some(Limit::Part)).count();
    if parts > 0 {
        warnings.push(format!(
            "{NAME}: known only by what the patch shows: {}, where rules that need the whole file did not \
             run",
            counted(parts, "changed file")
        ));
    }
    warnings
}
