//! The linters that the project already has, run over the changed files and kept to the changed
//! lines. A linter is found on the path outside the reviewed tree; over the user's own work tree also
//! where it was installed for the project, which no commit can do. One that runs the project's own
//! code runs only there. What goes wrong is one warning per linter.

mod call;
mod claim;
mod grade;
mod installed;
mod one_file;
mod output;
mod place;
mod setup;
mod table;

pub use one_file::ProjectLinters;

use crate::process::Environment;
use call::Trouble;
use futures_util::future::join_all;
use mala_domain::change::ChangedFile;
use mala_domain::config::{LinterMode, LinterName};
use mala_domain::finding::Candidate;
use mala_domain::review::ReviewContext;
use mala_domain::scope::Head;
use output::Hit;
use place::Place;
use std::path::PathBuf;
use std::time::Duration;
use table::{LINTERS, Linter, Needs, Reach};

/// The most files that one linter is given.
const MAX_FILES: usize = 1000;

/// What a project sets of its linters.
#[derive(Debug, Clone)]
pub struct LinterSettings {
    /// Whether any runs.
    pub mode: LinterMode,
    /// How long one may take.
    pub timeout: Duration,
    /// Those that never run.
    pub off: Vec<LinterName>,
    /// Slow ones that run too.
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

/// Where linters are found and run.
#[derive(Debug, Clone)]
pub struct LinterWorld {
    /// The root of the work tree; `None` when there is none.
    pub folder: Option<PathBuf>,
    /// The environment of linters, with the path on which they are found.
    pub environment: Environment,
}

/// The program behind a linter.
pub fn program(name: LinterName) -> &'static str {
    LINTERS.iter().find(|linter| linter.name == name).map_or(name.name(), |linter| linter.program)
}

/// Whether a project shows in its root that it uses a linter. `has` tells of a file or folder whether
/// it is there, `text` gives what a file says.
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

/// What the linters say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Linted {
    /// Their claims, on lines that the change added.
    pub candidates: Vec<Candidate>,
    /// One for each linter that could not run.
    pub warnings: Vec<String>,
}

/// Runs the linters that the project is set up for, side by side.
pub async fn run(
    request: &ReviewContext,
    settings: &LinterSettings,
    world: &LinterWorld,
) -> Linted {
    let wanted = LINTERS.iter().filter(|linter| settings.want(linter));
    let runs = join_all(wanted.map(|linter| Run { linter, request, settings, world }.finish()));
    let mut all = Linted::default();
    let all_runs = Runs { request, settings, world };
    all.warnings.extend(all_runs.unchecked_typescript().await);
    for one in runs.await {
        all.candidates.extend(one.candidates);
        all.warnings.extend(one.warnings);
    }
    all
}

/// All linters over one change.
struct Runs<'r> {
    request: &'r ReviewContext,
    settings: &'r LinterSettings,
    world: &'r LinterWorld,
}

impl Runs<'_> {
    /// TypeScript without any of the files that say how to check it.
    async fn unchecked_typescript(&self) -> Option<String> {
        let Runs { request, settings, world } = *self;
        let named = |name| LINTERS.iter().find(|linter| linter.name == name);
        let checkers = [named(LinterName::Tsc)?, named(LinterName::Eslint)?];
        let run = Run { linter: checkers[0], request, settings, world };
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
        Some("tsc and eslint are skipped: the project has no configuration of them".to_owned())
    }
}

impl LinterSettings {
    fn want(&self, linter: &Linter) -> bool {
        self.mode == LinterMode::Auto
            && !self.off.contains(&linter.name)
            && (!linter.name.is_slow() || self.also.contains(&linter.name))
    }
}

/// One linter over one change.
struct Run<'r> {
    linter: &'static Linter,
    request: &'r ReviewContext,
    settings: &'r LinterSettings,
    world: &'r LinterWorld,
}

impl Run<'_> {
    async fn finish(self) -> Linted {
        let name = self.linter.name.name();
        match self.attempt().await {
            Ok(linted) => linted,
            Err(trouble) => Linted {
                warnings: vec![format!("{name} could not run: {trouble}")],
                ..Linted::default()
            },
        }
    }

    async fn attempt(&self) -> Result<Linted, Trouble> {
        let all = self.targets();
        match self.look(&all).await {
            Ok((hits, place)) => {
                let candidates = claim::on_added_lines(self.linter, &hits, &place);
                Ok(Linted { candidates, warnings: self.left_out(all.len()) })
            }
            Err(trouble) if self.is_expected(&trouble) => Ok(Linted::default()),
            Err(trouble) => Err(trouble),
        }
    }

    /// What the linter says of these files, and where it looked at them.
    async fn look(&self, all: &[&ChangedFile]) -> Result<(Vec<Hit>, Place), Trouble> {
        if all.is_empty() {
            return Err(Trouble::NoTargets);
        }
        let targets: Vec<&ChangedFile> = all.iter().copied().take(MAX_FILES).collect();
        let setup = setup::look(self.linter, self.request, &targets).await?;
        if !setup.is_used && self.linter.needs == Needs::Setup {
            return Err(Trouble::NotSetUp);
        }
        if self.linter.reach == Reach::Project && !self.is_own_tree() {
            return Err(Trouble::NotOwnTree);
        }
        let program = match call::find(self.linter, self.world).await {
            None if self.is_own_tree() => installed::find(self.linter, self.world, &setup).await,
            found => found,
        };
        let Some(program) = program else {
            return Err(if setup.is_used { Trouble::NotFound } else { Trouble::NotInstalled });
        };
        let place = Place::prepare(self, &targets, &setup).await?;
        if place.targets.is_empty() {
            return Err(Trouble::NoTargets);
        }
        let hits = call::run(self, &program, &place, &setup).await?;
        Ok((hits, place))
    }

    /// Whether a linter that runs by itself says nothing of it. One that was asked for by name does.
    fn is_expected(&self, trouble: &Trouble) -> bool {
        match trouble {
            Trouble::NoTargets | Trouble::NotSetUp | Trouble::NotInstalled => true,
            Trouble::NotOwnTree => !self.settings.also.contains(&self.linter.name),
            _ => false,
        }
    }

    /// The changed files that the linter looks at and that can be named on a command line.
    fn targets(&self) -> Vec<&ChangedFile> {
        let texts = &self.request.texts;
        let fits = |file: &&ChangedFile| {
            let text = texts.at_head(&file.path).filter(|_| file.is_reviewable());
            let nameable = std::str::from_utf8(file.path.as_bytes()).is_ok();
            nameable
                && file.path.stays_inside()
                && text.is_some_and(|text| (self.linter.looks_at)(&file.path, text))
        };
        self.request.change.files.iter().filter(fits).collect()
    }

    /// Whether the reviewed state is the user's own, and not a commit that somebody made.
    fn is_own_tree(&self) -> bool {
        let own = matches!(self.request.scope.head, Head::WorkingTree | Head::Index);
        own && self.world.folder.is_some()
    }

    fn left_out(&self, n_all: usize) -> Vec<String> {
        let name = self.linter.name.name();
        let text = || format!("{name} looked at {MAX_FILES} of {n_all} changed files");
        if n_all > MAX_FILES { vec![text()] } else { Vec::new() }
    }
}
