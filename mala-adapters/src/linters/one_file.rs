//! One linter over one file, on all of its lines: for whoever asks for it by name. A model may ask, so
//! one that runs code of the project does so only when the trusted configuration lists it.

use super::output::{Hit, Level};
use super::table::{LINTERS, Reach};
use super::{LinterSettings, LinterWorld, Run};
use mala_domain::change::{Change, ChangedFile, EntryKind, FilePath, FileStatus, Nature};
use mala_domain::config::{LinterMode, LinterName};
use mala_domain::ports::{BoxFuture, LintMessage, LintTrouble, Linters, Side};
use mala_domain::review::{ReviewContext, Texts};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The longest message.
const MAX_MESSAGE: usize = 400;

/// The linters of a project, one at a time.
pub struct ProjectLinters {
    settings: LinterSettings,
    world: LinterWorld,
}

impl ProjectLinters {
    /// With what the project sets of them, and where they are found and run.
    pub fn new(settings: LinterSettings, world: LinterWorld) -> Self {
        Self { settings, world }
    }

    async fn messages(
        &self,
        request: &ReviewContext,
        name: LinterName,
        file: &FilePath,
    ) -> Result<Vec<LintMessage>, LintTrouble> {
        let linter = LINTERS.iter().find(|linter| linter.name == name);
        let is_off = self.settings.mode == LinterMode::Off || self.settings.off.contains(&name);
        let Some(linter) = linter.filter(|_| !is_off) else {
            return Err(LintTrouble(format!("the configuration turns {} off", name.name())));
        };
        let runs_code = linter.reach == Reach::Project || name.is_slow();
        if runs_code && !self.settings.also.contains(&name) {
            return Err(LintTrouble(format!(
                "{} runs code of the project, and review.linters.also does not list it",
                name.name()
            )));
        }
        let trouble =
            |what: &dyn std::fmt::Display| LintTrouble(format!("{}: {what}", name.name()));
        let request = narrow(request, file).await.map_err(|error| trouble(&error))?;
        let run = Run { linter, request: &request, settings: &self.settings, world: &self.world };
        let (hits, place) = run.look(&run.targets()).await.map_err(|error| trouble(&error))?;
        let of_file =
            |hit: &&Hit| place.target(&hit.file).is_some_and(|target| target.path == *file);
        let mut messages: Vec<_> = hits.iter().filter(of_file).map(message).collect();
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
    ) -> BoxFuture<'a, Result<Vec<LintMessage>, LintTrouble>> {
        Box::pin(self.messages(request, linter, file))
    }
}

/// The request as if this file were all that changed.
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
        nature: Nature::Source,
        script: None,
        hunks: Vec::new(),
    };
    Ok(ReviewContext {
        change: Arc::new(Change { files: vec![changed] }),
        texts: Arc::new(Texts { head, ..Texts::default() }),
        derived: Arc::default(),
        ..request.clone()
    })
}

fn message(hit: &Hit) -> LintMessage {
    let words: Vec<_> = hit.message.split_whitespace().collect();
    LintMessage {
        rule: hit.code.clone(),
        line: hit.lines.first().copied().unwrap_or(1),
        message: words.join(" ").chars().take(MAX_MESSAGE).collect(),
        severity: match hit.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        },
    }
}
