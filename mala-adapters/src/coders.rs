//! Coders: coding agents as child processes. A session runs in the worktree of its issue, with its
//! own home that later parts of the session reuse, within limits of time, silence and output. When
//! it ends, none of its processes is left.

mod history;
mod sandbox;
mod session;

use crate::git::{Git, LinkedWorktree, home_of, marker};
use crate::lanes::{HomeContent, furnish};
use crate::process::{ProcessEnvironment, ProcessSpec};
use mala_domain::ports::{BoxFuture, Coder, CoderEnd, CoderOrder, CoderSession};
use mala_domain::run::coder::{CoderCall, CoderSpec};
use sandbox::Sandbox;
use std::fs;
use std::path::{Path, PathBuf};

/// A coder that is a program.
pub struct CoderProcess {
    name: String,
    spec: CoderSpec,
    git: Git,
    variables: ProcessEnvironment,
    identity: (String, String),
    sandbox: Sandbox,
}

impl CoderProcess {
    /// A coder for this repository. `variables` are all of the user's; a session sees those that it needs.
    pub async fn new(
        name: impl Into<String>,
        spec: CoderSpec,
        git: Git,
        variables: ProcessEnvironment,
    ) -> Self {
        let sandbox = Sandbox::find(&variables).await;
        let identity = git.identity().await;
        Self { name: name.into(), spec, git, variables, identity, sandbox }
    }

    /// Why the coder cannot be used; `None` if it can.
    pub fn missing(&self) -> Option<String> {
        let program = self.spec.command.first().map_or("", String::as_str);
        if self.program(program).is_some() {
            return None;
        }
        let hint = self.spec.install.as_ref().map(|how| format!("; install it with `{how}`"));
        Some(format!("`{program}` is not on PATH{}", hint.unwrap_or_default()))
    }

    async fn run(&self, order: &CoderOrder<'_>) -> Result<CoderSession, CoderEnd> {
        let folder = PathBuf::from(&order.workspace.root);
        let unavailable = |why: String| CoderEnd::Unavailable(why);
        let tree = LinkedWorktree::find(&self.git, &folder)
            .map_err(|error| unavailable(error.to_string()))?
            .filter(|tree| tree.path.is_dir())
            .ok_or_else(|| unavailable(format!("{} does not exist", folder.display())))?;
        let session = match order.resume {
            Some(session) => session.to_owned(),
            None => uuid::Uuid::new_v4().to_string(),
        };
        let prepared = self.prepare(order, &tree, &session);
        let spec =
            prepared.map_err(|error| unavailable(format!("preparing a session: {error}")))?;
        let spec = spec.ok_or_else(|| unavailable(self.missing().unwrap_or_default()))?;
        Ok(session::run(spec, order, self.spec.output.as_ref(), &session).await)
    }

    /// The process of a session; `None` if its program is missing.
    fn prepare(
        &self,
        order: &CoderOrder<'_>,
        tree: &LinkedWorktree,
        session: &str,
    ) -> std::io::Result<Option<ProcessSpec>> {
        let home = home_of(&tree.path);
        let content = HomeContent {
            links: &self.spec.links,
            files: &self.spec.files,
            values: self.spec.set.values().map(String::as_str).collect(),
        };
        let linked = furnish(&content, &home, &self.variables)?;
        if let (Some(files), Some(_)) = (&self.spec.doubled_results, order.resume) {
            history::remove_doubled_results(&home, files)?;
        }
        let prompt_file = home.join("prompt.md");
        fs::write(&prompt_file, order.prompt)?;
        let text = |path: &Path| path.display().to_string();
        let call = CoderCall {
            is_resumed: order.resume.is_some(),
            is_confined: self.sandbox.is_usable(),
            max_cost: order.max_cost_usd.map(|cost| format!("{cost:.2}")),
            values: vec![
                ("prompt_file", text(&prompt_file)),
                ("tree", text(&tree.path)),
                ("session", session.to_owned()),
                ("issue", order.issue.to_owned()),
                ("prefix", order.prefix.to_owned()),
                ("home", text(&home)),
                ("objects", text(&tree.common_dir.join("objects"))),
                ("git_dir", text(&tree.git_dir)),
            ],
        };
        let mut arguments = self.spec.arguments(&call).into_iter();
        let Some(program) = arguments.next().and_then(|program| self.program(&program)) else {
            return Ok(None);
        };
        let environment = self.environment(&call, &home, &tree.path);
        let prompt = if self.spec.reads_stdin(call.is_resumed) { order.prompt } else { "" };
        let spec = ProcessSpec::new(program, &tree.path, environment).args(arguments).stdin(prompt);
        let mut writable = vec![
            tree.path.clone(),
            tree.common_dir.join("objects"),
            tree.git_dir.clone(),
            home.clone(),
        ];
        writable.extend(linked);
        let outside = match self.spec.is_template {
            true => sandbox::folders_of_user(&self.variables),
            false => Vec::new(),
        };
        let protected = [self.git.top().to_owned(), tree.common_dir.clone()];
        Ok(Some(self.sandbox.confine(spec, &outside, &protected, &writable)))
    }

    /// A program on the path, at an absolute path, or in the repository that the configuration is from.
    fn program(&self, name: &str) -> Option<PathBuf> {
        let is_relative = name.contains('/') && !name.starts_with('/');
        if is_relative {
            return self.variables.find(self.git.top().join(name));
        }
        self.variables.find(name)
    }

    fn environment(&self, call: &CoderCall<'_>, home: &Path, tree: &Path) -> ProcessEnvironment {
        let spec = &self.spec;
        let mut environment = match spec.is_template {
            true => without_git(&self.variables),
            false => self.own_environment(home),
        };
        for (name, value) in &spec.defaults {
            if environment.get(name).is_none() {
                environment = environment.with(name, value);
            }
        }
        let set_confined = spec.set_confined.iter().filter(|_| call.is_confined);
        for (name, value) in spec.set.iter().chain(set_confined) {
            environment = environment.with(name, call.fill(value));
        }
        let (name, email) = &self.identity;
        let mut environment = environment
            .with("GIT_AUTHOR_NAME", name)
            .with("GIT_AUTHOR_EMAIL", email)
            .with("GIT_COMMITTER_NAME", name)
            .with("GIT_COMMITTER_EMAIL", email)
            .with("GIT_TERMINAL_PROMPT", "0")
            .with("GIT_EDITOR", "true")
            .with(crate::git::WORKSPACE_MARKER, marker(tree));
        // Some coders hide variables with AUTH in their names from their commands.
        let who = [("user.name", name.as_str()), ("user.email", email.as_str())];
        let settings = who.into_iter().chain(GIT_SETTINGS);
        for (number, (key, value)) in settings.enumerate() {
            environment = environment
                .with(format!("GIT_CONFIG_KEY_{number}"), key)
                .with(format!("GIT_CONFIG_VALUE_{number}"), value)
                .with("GIT_CONFIG_COUNT", (number + 1).to_string());
        }
        environment
    }

    /// The environment of a known coder: a home of its own, the toolchains of the user, and the variables
    /// that its table names.
    fn own_environment(&self, home: &Path) -> ProcessEnvironment {
        let all = self.variables.iter().map(|(name, value)| (name.clone(), value.clone()));
        let mut environment = ProcessEnvironment::filtered(all);
        for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            let own = self.variables.get("HOME").map(|home| Path::new(home).join(folder));
            if let Some(own) = own.filter(|own| environment.get(name).is_none() && own.is_dir()) {
                environment = environment.with(name, own);
            }
        }
        for name in OWN_FOLDERS {
            environment = environment.without(name);
        }
        environment = environment
            .with("HOME", home)
            .with("TMPDIR", home.join("tmp"))
            .with("NO_COLOR", "1")
            .with("TERM", "dumb");
        for name in &self.spec.keep {
            if let Some(value) = self.variables.get(name) {
                environment = environment.with(name, value);
            }
        }
        for (name, other) in &self.spec.lent {
            if environment.get(name).is_none()
                && let Some(value) = self.variables.get(other)
            {
                environment = environment.with(name, value);
            }
        }
        environment
    }
}

/// Folders of the user that a home of its own replaces.
const OWN_FOLDERS: [&str; 8] = [
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "TEMP",
    "TMP",
    "GIT_INDEX_FILE",
];

/// Git settings in a session: no hooks, no garbage collection in a shared repository, and
/// repositories of other users are allowed.
const GIT_SETTINGS: [(&str, &str); 4] = [
    ("core.hooksPath", "/dev/null"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("safe.directory", "*"),
];

/// The user's variables without those that lead git elsewhere.
fn without_git(variables: &ProcessEnvironment) -> ProcessEnvironment {
    let is_git = |name: &str| name.starts_with("GIT_");
    let kept = variables.iter().filter(|(name, _)| !name.to_str().is_some_and(is_git));
    ProcessEnvironment::unfiltered(kept.map(|(name, value)| (name.clone(), value.clone())))
}

impl Coder for CoderProcess {
    fn name(&self) -> &str {
        &self.name
    }

    fn confinement(&self) -> &str {
        self.sandbox.description()
    }

    fn work<'a>(&'a self, order: CoderOrder<'a>) -> BoxFuture<'a, CoderSession> {
        Box::pin(async move {
            let session = order.resume.map(str::to_owned);
            self.run(&order).await.unwrap_or_else(|end| CoderSession {
                session,
                end,
                message: String::new(),
                cost_usd: None,
            })
        })
    }
}
