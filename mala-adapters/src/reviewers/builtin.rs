//! The reviewer that needs no model, no key and no network: checks on the diff, syntax-tree rules,
//! checks across files, and the linters that the project already has. They run side by side; what
//! one of them cannot do is a warning, and the others go on.

mod cross_file;
mod file;
mod secret_lines;

use crate::linters::{self, Linted, LinterSettings, LinterWorld};
use file::FileCheck;
use mala_domain::change::{ChangedFile, FilePath};
use mala_domain::config::{RuleSwitches, RuleUse};
use mala_domain::finding::Candidate;
use mala_domain::language::Language;
use mala_domain::ports::{BoxFuture, Reviewer, ReviewerFailure};
use mala_domain::review::{Hearing, ReviewRequest, Usage};
use mala_syntax::diff_checks;
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
    pub switches: RuleSwitches,
    /// The project's own rules, from the trusted ref.
    pub rules: Vec<Arc<Rule>>,
    /// How the project's linters take part.
    pub linters: LinterSettings,
    /// Where linters are found and run; without it, none runs.
    pub linter_world: Option<LinterWorld>,
}

impl Builtin {
    /// The reviewer with these settings.
    pub fn new(settings: Settings) -> Self {
        Self { settings: Arc::new(settings) }
    }

    async fn lint(&self, request: &ReviewRequest) -> Linted {
        match &self.settings.linter_world {
            Some(world) => linters::run(request, &self.settings.linters, world).await,
            None => Linted::default(),
        }
    }
}

impl Reviewer for Builtin {
    fn name(&self) -> &str {
        NAME
    }

    fn review<'a>(
        &'a self,
        request: &'a ReviewRequest,
    ) -> BoxFuture<'a, Result<Hearing, ReviewerFailure>> {
        Box::pin(async move {
            let settings = self.settings.clone();
            let own = request.clone();
            let in_files = tokio::task::spawn_blocking(move || look_at_files(&own, &settings));
            let (in_files, across, linted) =
                tokio::join!(in_files, cross_file::check(request), self.lint(request));
            let mut in_files = in_files.map_err(|error| {
                ReviewerFailure::Crashed(format!("the built-in checks stopped: {error}"))
            })?;
            let mut hearing = hearing(request);
            match across {
                Ok(found) => in_files.extend(found),
                Err(trouble) => hearing.warnings.push(trouble.to_string()),
            }
            in_files.extend(linted.candidates);
            hearing.warnings.extend(linted.warnings);
            hearing.candidates.extend(in_files.into_iter().filter_map(|it| self.settings.heed(it)));
            Ok(hearing)
        })
    }
}

impl Settings {
    /// The claim as the project wants it; `None` when its rule is off for the file.
    fn heed(&self, mut claim: Candidate) -> Option<Candidate> {
        let usage = claim.rule.as_deref().and_then(|rule| self.switches.of(rule, &claim.file));
        match usage {
            Some(RuleUse::Off) => return None,
            Some(RuleUse::At(priority)) => claim.priority = Some(priority),
            Some(RuleUse::On) | None => {}
        }
        Some(claim)
    }

    /// Whether a rule runs over a file: by what the project says, else by its own default.
    fn runs(&self, rule: &Rule, file: &FilePath) -> bool {
        match self.switches.of(&rule.id, file) {
            Some(usage) => usage != RuleUse::Off,
            None => rule.is_on(),
        }
    }
}

/// What it accounts for: every check that applies to a hunk's file has run over the whole hunk.
fn hearing(request: &ReviewRequest) -> Hearing {
    let accounted = reviewable(request)
        .map(|file| (file.path.clone(), (0..file.hunks.len()).collect()))
        .collect();
    Hearing {
        reviewer: NAME.to_owned(),
        accounted,
        usage: Usage { tokens_used: Some(0), cost_usd: Some(0.0), ..Usage::default() },
        ..Hearing::default()
    }
}

fn reviewable(request: &ReviewRequest) -> impl Iterator<Item = &ChangedFile> {
    request.change.files.iter().filter(|file| file.is_reviewable())
}

/// Everything that one file, or the diff alone, shows.
fn look_at_files(request: &ReviewRequest, settings: &Settings) -> Vec<Candidate> {
    let languages: BTreeSet<Language> = reviewable(request).filter_map(|f| f.language()).collect();
    let languages: Vec<Language> = languages.into_iter().collect();
    let rules = RuleSet::builtin(&languages)
        .with(settings.rules.iter().cloned())
        .only(|rule| rule.is_on() || settings.switches.mention(&rule.id));
    let files: Vec<&ChangedFile> = reviewable(request).collect();
    let mut found: Vec<Candidate> = files
        .par_iter()
        .flat_map_iter(|file| {
            FileCheck { file, texts: &request.texts, rules: &rules, settings }.run()
        })
        .collect();
    found.extend(diff_checks::run(&request.change));
    found
}
