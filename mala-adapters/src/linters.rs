//! Runs the project's linters over the changed files and keeps their diagnostics on added lines. A
//! linter is found on the path outside the reviewed tree. For the user's own work tree it may also
//! be installed in the project, below folders that git ignores. A linter that runs project code
//! runs only there. Each linter that fails adds one warning.

mod call;
mod claims;
mod one_file;
mod output;
mod registry;
mod setup;
mod workspace;

pub use one_file::ProjectLinters;

use crate::process::ProcessEnvironment;
use call::LinterError;
use futures_util::future::join_all;
use mala_domain::change::ChangedFile;
use mala_domain::config::{LinterMode, LinterName};
use mala_domain::finding::ReviewClaim;
use mala_domain::review::ReviewContext;
use mala_domain::scope::HeadState;
use output::LintDiagnostic;
use registry::{LINTERS, LinterActivation, LinterInput, LinterSpec};
use std::path::PathBuf;
use std::time::Duration;
use workspace::LintWorkspace;

/// The most files that one linter gets.
const MAX_FILES: usize = 1000;

/// The linter settings of a project.
#[derive(Debug, Clone)]
pub struct LinterSettings {
    /// Whether linters run.
    pub mode: LinterMode,
    /// The time limit of one linter.
    pub timeout: Duration,
    /// Linters that never run.
    pub off: Vec<LinterName>,
    /// Slow linters that run too.
    pub also: Vec<LinterName>,
}

impl Default for LinterSettings {
    fn default() -> Self {
        Self {
            mode: LinterMode::Auto,
            timeout: Duration::from_secs(60),
            off: Vec::new(),
            also: Vec::new(),
        }
    }
}

/// Where to find and run linters.
#[derive(Debug, Clone)]
pub struct LinterContext {
    /// The root of the work tree, if there is one.
    pub folder: Option<PathBuf>,
    /// The environment of linters, with the path on which they are found.
    pub environment: ProcessEnvironment,
}

/// The program of a linter.
pub fn program(name: LinterName) -> &'static str {
    LINTERS.iter().find(|linter| linter.name == name).map_or(name.name(), |linter| linter.program)
}

/// Whether the root of a project shows that it uses a linter. `has` checks for a file or folder,
/// `text` reads a file.
pub fn is_set_up(
    name: LinterName,
    has: &dyn Fn(&str) -> bool,
    text: &dyn Fn(&str) -> Option<String>,
) -> bool {
    LINTERS.iter().filter(|linter| linter.name == name).any(|linter| {
        let says = |(file, word): &(&str, &str)| text(file).is_some_and(|text| text.contains(word));
        linter.configs.iter().chain(linter.config_folders).any(|file| has(file))
            || linter.mentions.iter().any(says)
    })
}

/// The result of all linters.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LintOutcome {
    /// Claims on lines that the change added.
    pub candidates: Vec<ReviewClaim>,
    /// One warning for each linter that could not run.
    pub warnings: Vec<String>,
}

/// Runs the linters that the project uses, in parallel.
pub async fn run(
    request: &ReviewContext,
    settings: &LinterSettings,
    context: &LinterContext,
) -> LintOutcome {
    let wanted = LINTERS.iter().filter(|linter| settings.includes(linter));
    let runs =
        join_all(wanted.map(|linter| LinterRun::new(linter, request, settings, context).finish()));
    let mut all = LintOutcome::default();
    all.warnings.extend(unchecked_typescript(request, settings, context).await);
    for one in runs.await {
        all.candidates.extend(one.candidates);
        all.warnings.extend(one.warnings);
    }
    all
}

/// A warning for TypeScript without a configuration for any of its checkers.
async fn unchecked_typescript(
    request: &ReviewContext,
    settings: &LinterSettings,
    context: &LinterContext,
) -> Option<String> {
    let named = |name| LINTERS.iter().find(|linter| linter.name == name);
    let checkers = [named(LinterName::Tsc)?, named(LinterName::Eslint)?];
    let run = LinterRun::new(checkers[0], request, settings, context);
    let targets = run.targets();
    if settings.mode == LinterMode::Off || targets.is_empty() {
        return None;
    }
    for linter in checkers {
        let is_set_up = setup::look(linter, request, &targets).await.ok()?.is_used;
        if is_set_up || settings.off.contains(&linter.name) {
            return None;
        }
    }
    Some("tsc and eslint are skipped: the project does not configure them".to_owned())
}

impl LinterSettings {
    fn includes(&self, linter: &LinterSpec) -> bool {
        self.mode == LinterMode::Auto
            && !self.off.contains(&linter.name)
            && (!linter.name.is_slow() || self.also.contains(&linter.name))
    }
}

/// One linter over one change.
struct LinterRun<'r> {
    linter: &'static LinterSpec,
    request: &'r ReviewContext,
    settings: &'r LinterSettings,
    context: &'r LinterContext,
    /// Whether it runs with its defaults if the project does not configure it.
    without_setup: bool,
}

impl<'r> LinterRun<'r> {
    /// A run over the changed files, if the project configures the linter or the linter needs no setup.
    fn new(
        linter: &'static LinterSpec,
        request: &'r ReviewContext,
        settings: &'r LinterSettings,
        context: &'r LinterContext,
    ) -> Self {
        let without_setup = linter.needs == LinterActivation::Nothing;
        Self { linter, request, settings, context, without_setup }
    }

    async fn finish(self) -> LintOutcome {
        let name = self.linter.name.name();
        match self.attempt().await {
            Ok(linted) => linted,
            Err(trouble) => LintOutcome {
                warnings: vec![format!("cannot run {name}: {trouble}")],
                ..LintOutcome::default()
            },
        }
    }

    async fn attempt(&self) -> Result<LintOutcome, LinterError> {
        let all = self.targets();
        match self.look(&all).await {
            Ok((diagnostics, place)) => {
                let candidates = claims::on_added_lines(self.linter, &diagnostics, &place);
                Ok(LintOutcome { candidates, warnings: self.file_limit_warning(all.len()) })
            }
            Err(trouble) if self.is_expected(&trouble) => Ok(LintOutcome::default()),
            Err(trouble) => Err(trouble),
        }
    }

    /// The linter's diagnostics for these files, and where it ran.
    async fn look(
        &self,
        all: &[&ChangedFile],
    ) -> Result<(Vec<LintDiagnostic>, LintWorkspace), LinterError> {
        if all.is_empty() {
            return Err(LinterError::NoTargets);
        }
        let targets: Vec<&ChangedFile> = all.iter().copied().take(MAX_FILES).collect();
        let setup = setup::look(self.linter, self.request, &targets).await?;
        if !setup.is_used && !self.without_setup {
            return Err(LinterError::NotSetUp);
        }
        if self.linter.reach == LinterInput::Project && !self.is_own_tree() {
            return Err(LinterError::NotOwnTree);
        }
        let program = match call::find(self.linter, self.context).await {
            None if self.is_own_tree() => {
                call::find_installed(self.linter, self.context, &setup).await
            }
            found => found,
        };
        let Some(program) = program else {
            return Err(if setup.is_used {
                LinterError::NotFound
            } else {
                LinterError::NotInstalled
            });
        };
        let place = LintWorkspace::prepare(self, &targets, &setup).await?;
        if place.targets.is_empty() {
            return Err(LinterError::NoTargets);
        }
        let diagnostics = call::run(self, &program, &place, &setup).await?;
        Ok((diagnostics, place))
    }

    /// Whether an automatic linter stays silent about this error. A linter that was requested by
    /// name reports it.
    fn is_expected(&self, trouble: &LinterError) -> bool {
        match trouble {
            LinterError::NoTargets | LinterError::NotSetUp | LinterError::NotInstalled => true,
            LinterError::NotOwnTree => !self.settings.also.contains(&self.linter.name),
            _ => false,
        }
    }

    /// The changed files that the linter accepts and that can be passed on a command line.
    fn targets(&self) -> Vec<&ChangedFile> {
        let texts = &self.request.texts;
        let fits = |file: &&ChangedFile| {
            let text = texts.at_head(&file.path).filter(|_| file.is_reviewable());
            let nameable = std::str::from_utf8(file.path.as_bytes()).is_ok();
            nameable
                && file.path.stays_inside()
                && text.is_some_and(|text| (self.linter.accepts)(&file.path, text))
        };
        self.request.change.files.iter().filter(fits).collect()
    }

    /// Whether the reviewed state is the user's work tree or index, not a commit.
    fn is_own_tree(&self) -> bool {
        let own = matches!(self.request.scope.head, HeadState::WorkingTree | HeadState::Index);
        own && self.context.folder.is_some()
    }

    fn file_limit_warning(&self, n_all: usize) -> Vec<String> {
        let name = self.linter.name.name();
        let text = || format!("{name} checked {MAX_FILES} of {n_all} changed files");
        if n_all > MAX_FILES { vec![text()] } else { Vec::new() }
    }
}
