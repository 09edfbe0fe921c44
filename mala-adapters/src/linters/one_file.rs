//! One linter over all lines of one file, requested by name. A model can request it, so a linter
//! that runs project code must be listed in the trusted configuration.

use super::output::{LintDiagnostic, LintLevel};
use super::registry::{LINTERS, LinterActivation, LinterInput};
use super::{LinterContext, LinterRun, LinterSettings};
use mala_domain::change::{Change, ChangedFile, EntryKind, FileClass, FilePath, FileStatus};
use mala_domain::config::{LinterMode, LinterName};
use mala_domain::ports::{BoxFuture, LintFailure, LintMessage, Linters, Side};
use mala_domain::review::{FileTexts, ReviewContext};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The longest message.
const MAX_MESSAGE: usize = 400;

/// The linters of a project, one at a time.
pub struct ProjectLinters {
    settings: LinterSettings,
    context: LinterContext,
}

impl ProjectLinters {
    /// With the project's settings and the context in which linters run.
    pub fn new(settings: LinterSettings, context: LinterContext) -> Self {
        Self { settings, context }
    }

    async fn messages(
        &self,
        request: &ReviewContext,
        name: LinterName,
        file: &FilePath,
    ) -> Result<Vec<LintMessage>, LintFailure> {
        let linter = LINTERS.iter().find(|linter| linter.name == name);
        let is_off = self.settings.mode == LinterMode::Off || self.settings.off.contains(&name);
        let Some(linter) = linter.filter(|_| !is_off) else {
            return Err(LintFailure(format!("{} is turned off in the configuration", name.name())));
        };
        let runs_code = linter.reach == LinterInput::Project || name.is_slow();
        if runs_code && !self.settings.also.contains(&name) {
            return Err(LintFailure(format!(
                "{} runs project code; add it to review.linters.also to allow this",
                name.name()
            )));
        }
        let trouble =
            |what: &dyn std::fmt::Display| LintFailure(format!("{}: {what}", name.name()));
        let request = narrow(request, file).await.map_err(|error| trouble(&error))?;
        let run = LinterRun {
            // ruff has useful defaults; the output of the others depends on the project's
            // configuration.
            without_setup: name == LinterName::Ruff || linter.needs == LinterActivation::Nothing,
            ..LinterRun::new(linter, &request, &self.settings, &self.context)
        };
        let (diagnostics, place) =
            run.look(&run.targets()).await.map_err(|error| trouble(&error))?;
        let of_file = |diagnostic: &&LintDiagnostic| {
            place.target(&diagnostic.file).is_some_and(|target| target.path == *file)
        };
        let mut messages: Vec<_> = diagnostics.iter().filter(of_file).map(message).collect();
        messages.sort_by(|a, b| (a.line, &a.rule).cmp(&(b.line, &b.rule)));
        Ok(messages)
    }
}

impl Linters for ProjectLinters {
    fn lint<'a>(
        &'a self,
        request: &'a ReviewContext,
        linter: LinterName,
        file: &'a FilePath,
    ) -> BoxFuture<'a, Result<Vec<LintMessage>, LintFailure>> {
        Box::pin(self.messages(request, linter, file))
    }
}

/// The request as if this file were the only changed one.
async fn narrow(
    request: &ReviewContext,
    file: &FilePath,
) -> Result<ReviewContext, mala_domain::ports::RepositoryError> {
    let blobs = request.tree.read(Side::Head, std::slice::from_ref(file)).await?;
    let head: BTreeMap<_, _> = blobs.into_iter().map(|blob| (file.clone(), blob)).collect();
    let changed = ChangedFile {
        path: file.clone(),
        old_path: None,
        status: FileStatus::Modified,
        kind: EntryKind::File,
        mode_change: None,
        class: FileClass::Source,
        script: None,
        hunks: Vec::new(),
    };
    Ok(ReviewContext {
        change: Arc::new(Change { files: vec![changed] }),
        texts: Arc::new(FileTexts { head, ..FileTexts::default() }),
        derived: Arc::default(),
        ..request.clone()
    })
}

fn message(diagnostic: &LintDiagnostic) -> LintMessage {
    let words: Vec<_> = diagnostic.message.split_whitespace().collect();
    LintMessage {
        rule: diagnostic.code.clone(),
        line: diagnostic.lines.first().copied().unwrap_or(1),
        message: words.join(" ").chars().take(MAX_MESSAGE).collect(),
        severity: match diagnostic.level {
            LintLevel::Error => "error",
            LintLevel::Warning => "warning",
            LintLevel::Note => "note",
        },
    }
}
