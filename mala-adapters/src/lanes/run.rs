//! Runs a lane for one prompt: prepares its home and tree, runs the program, and ends all of its processes.

use super::printed::{STDERR, STDOUT, keep_clean};
use super::variables::plain;
use super::watch::{LaneWatcher, OutputFile, candidates, found};
use super::{Lanes, home, tree};
use crate::bounded_read::read_following_links;
use crate::process::{
    self, FinishedProcess, ProcessError, ProcessLimits, ProcessOutput, ProcessSpec, run_watched,
};
use mala_domain::gate::MARKER;
use mala_domain::gate::lane::{
    Lane, LaneFailureKind, LaneOutput, LaneStreams, error_message, filled, known_limit,
    lane_output, usage,
};
use mala_domain::ports::{BoxFuture, LaneFailure, LaneOrder, LaneRun, LaneRunner};
use mala_domain::secrets;
use regex::Regex;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The largest error output of a lane that is kept.
const MAX_STDERR: usize = 256 << 10;

/// The maximum length of a failure message.
const MAX_WHY: usize = 400;

impl LaneRunner for Lanes {
    fn run<'a>(&'a self, order: LaneOrder<'a>) -> BoxFuture<'a, LaneRun> {
        Box::pin(async move {
            let started = Instant::now();
            let failed = |failure| LaneRun { failure: Some(failure), ..LaneRun::default() };
            let mut run = self.ask(&order).await.unwrap_or_else(failed);
            run.seconds = started.elapsed().as_secs_f64();
            run
        })
    }
}

/// The files of the user by path, each with a hash, or why they cannot be listed.
type UserFiles = Result<BTreeMap<String, String>, String>;

/// The changes in the user's work tree while a lane ran. A tree that cannot be listed counts as
/// changed.
fn changed_files(before: &UserFiles, after: &UserFiles) -> Vec<String> {
    let (before, after) = match (before, after) {
        (Ok(before), Ok(after)) => (before, after),
        (Err(why), _) | (_, Err(why)) => return vec![format!("its files cannot be listed: {why}")],
    };
    let all: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let changed = all.into_iter().filter(|path| before.get(*path) != after.get(*path));
    changed.take(MAX_CHANGED).cloned().collect()
}

/// The configuration and the hooks of a git folder, each with a hash of its content.
fn git_settings(folder: &Path) -> BTreeMap<String, String> {
    let hooks = std::fs::read_dir(folder.join("hooks")).into_iter().flatten().flatten();
    let names = hooks.map(|hook| format!("hooks/{}", hook.file_name().to_string_lossy()));
    let names = names.chain(["config".to_owned()]);
    let hash = |name: &str| match read_following_links(&folder.join(name), MAX_SETTINGS) {
        Ok(bytes) => crate::git::hex(&Sha256::digest(&bytes)),
        Err(error) => error.to_string(),
    };
    names.map(|name| (format!(".git/{name}"), hash(&name))).collect()
}

/// The largest file of a git folder that is compared.
const MAX_SETTINGS: u64 = 16 << 20;

/// The maximum number of changed files of the user in a message.
const MAX_CHANGED: usize = 20;

/// The paths of one run. The output is written to `own`, which is temporary; only a copy without secrets is
/// written to `kept`.
struct LanePaths {
    own: PathBuf,
    home: PathBuf,
    tree: PathBuf,
    answer: PathBuf,
    kept: PathBuf,
}

impl Lanes {
    /// The value of the variable that marks every process of this lane.
    fn marker(&self, lane: &Lane) -> String {
        format!("{}/{}/", self.session, lane.name)
    }

    /// The files of the user that differ from HEAD, the commit at HEAD, and the configuration and hooks of git;
    /// `None` without a work tree to watch.
    async fn user_files(&self) -> Option<UserFiles> {
        let user = self.user.as_ref()?;
        let (files, head) = tokio::join!(user.changed_files(), user.head_commit());
        let listed = files.and_then(|files| Ok((files, head?)));
        Some(listed.map_err(|error| error.to_string()).map(|(mut files, head)| {
            files.insert(".git/HEAD".to_owned(), head.unwrap_or_default());
            files.extend(git_settings(&user.shared_folder()));
            files
        }))
    }

    async fn ask(&self, order: &LaneOrder<'_>) -> Result<LaneRun, LaneFailure> {
        let places = self.places(order).map_err(unusable("making its folders"))?;
        let (user_before, copied) =
            tokio::join!(self.user_files(), self.git.copy_at(&self.head, &places.tree));
        copied.map_err(unusable("making its tree"))?;
        let settings = &order.lane.settings;
        let content = home::HomeContent {
            links: settings.links.as_deref().unwrap_or_default(),
            files: settings.files.as_deref().unwrap_or_default(),
            values: settings.set.iter().flat_map(|set| set.values()).map(String::as_str).collect(),
        };
        home::furnish(&content, &places.home, &self.variables)
            .map_err(unusable("making its home"))?;
        tree::hide(&places.tree, &order.lane.hidden()).map_err(unusable("hiding settings"))?;
        tree::tame_links(&places.tree).map_err(unusable("taming links"))?;
        tree::make_read_only(&places.tree).map_err(unusable("making its tree read-only"))?;
        let before = tree::Snapshot::of(&places.tree).map_err(unusable("reading its tree"))?;

        let spec = self.spec(order, &places)?;
        let limits = ProcessLimits { stderr: MAX_STDERR, ..limits(order) };
        let mut watcher = LaneWatcher {
            place: order.lane.answer(),
            answer_file: places.answer.clone(),
            max_answer: u64::try_from(order.lane.max_output()).unwrap_or(u64::MAX),
            is_answer: order.is_answer,
            weighs: order.weighs,
            started: order.started,
            stdout: OutputFile::at(&places.own.join(STDOUT)),
            stderr: OutputFile::at(&places.own.join(STDERR)),
            looked_at: None,
        };
        let ended = run_watched(spec, limits, &mut watcher).await;
        process::kill_marked(MARKER, &self.marker(order.lane));
        let user_after = self.user_files().await;
        let mut run = judge(order, &watcher, ended);
        for (name, printed) in [(STDOUT, &mut watcher.stdout), (STDERR, &mut watcher.stderr)] {
            log_failure(printed.bytes().and_then(|all| keep_clean(&places.kept.join(name), &all)));
        }
        drop(watcher);
        run.wrote = self.written(&places.tree, &before).await;
        if let (Some(before), Some(after)) = (user_before, user_after) {
            run.user_changes = changed_files(&before, &after);
        }
        keep(&places, &run);
        run.roots = roots(&places.tree);
        Ok(run)
    }

    /// The files of a tree that were written since the snapshot. An index that git refreshed does not count
    /// if it still has the files of the commit.
    async fn written(&self, tree: &Path, before: &tree::Snapshot) -> Vec<String> {
        let after = match tree::Snapshot::of(tree) {
            Ok(after) => after,
            Err(error) => return vec![format!("the tree: {error}")],
        };
        let mut written = before.differences(&after);
        // Call git only if its configuration was not changed.
        if written.is_empty()
            && before.has_other_index(&after)
            && !self.git.index_matches(&self.head, tree).await
        {
            written.push(".git/index".to_owned());
        }
        written
    }

    fn places(&self, order: &LaneOrder<'_>) -> std::io::Result<LanePaths> {
        let own = self.scratch.join(&order.lane.name).join(order.question);
        let kept = self.folder.join("lanes").join(&order.lane.name).join(order.question);
        std::fs::create_dir_all(&own)?;
        std::fs::create_dir_all(&kept)?;
        std::fs::write(kept.join("prompt.md"), order.prompt)?;
        std::fs::write(kept.join("schema.json"), order.schema.to_string())?;
        std::fs::write(own.join("prompt.md"), order.prompt)?;
        std::fs::write(own.join("schema.json"), order.schema.to_string())?;
        // Programs that search for `.env` in parent folders stop here.
        std::fs::write(own.join(".env"), "")?;
        Ok(LanePaths {
            home: own.join("home"),
            tree: own.join("tree"),
            answer: own.join("answer.json"),
            kept,
            own,
        })
    }

    fn spec(&self, order: &LaneOrder<'_>, places: &LanePaths) -> Result<ProcessSpec, LaneFailure> {
        let text = |path: &Path| path.display().to_string();
        let values = [
            ("prompt_file", text(&places.own.join("prompt.md"))),
            ("schema_file", text(&places.own.join("schema.json"))),
            ("schema", order.schema.to_string()),
            ("answer_file", text(&places.answer)),
            ("tree", text(&places.tree)),
            ("home", text(&places.home)),
            ("reasoning", order.reasoning.to_owned()),
            ("timeout", order.wall.as_secs().to_string()),
        ];
        let values: Vec<(&str, &str)> =
            values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let lane = order.lane;
        let mut environment = plain(&self.variables)
            .with("HOME", &places.home)
            .with("TMPDIR", places.home.join("tmp"))
            .with(MARKER, self.marker(lane));
        for (name, value) in lane.settings.set_default.iter().flatten() {
            environment = environment.with(name, filled(value, &values));
        }
        for name in lane.settings.keep.iter().flatten() {
            if let Some(value) = self.variables.get(name) {
                environment = environment.with(name, value);
            }
        }
        if let Some((name, value)) = super::detect::lent(lane, &self.variables) {
            environment = environment.with(name, value);
        }
        for (name, value) in lane.settings.set.iter().flatten() {
            environment = environment.with(name, filled(value, &values));
        }
        let arguments = lane.arguments().map(|argument| filled(argument, &values));
        let program = self.variables.find(lane.program());
        let program = program.ok_or_else(|| LaneFailure {
            kind: LaneFailureKind::Unavailable,
            why: format!("`{}` is not on PATH", lane.program()),
        })?;
        let prompt = if lane.reads_stdin() { order.prompt } else { "" };
        Ok(ProcessSpec::new(program, &places.tree, environment).args(arguments).stdin(prompt))
    }
}

/// The paths of a lane's tree: as the lane gets it, and with links resolved.
fn roots(tree: &Path) -> Vec<String> {
    let real = tree.canonicalize().ok();
    let names = [Some(tree.to_owned()), real].into_iter().flatten();
    names.map(|path| path.display().to_string()).collect()
}

fn unusable<E: std::fmt::Display>(doing: &'static str) -> impl FnOnce(E) -> LaneFailure {
    move |error| LaneFailure { kind: LaneFailureKind::Unusable, why: format!("{doing}: {error}") }
}

fn limits(order: &LaneOrder<'_>) -> ProcessLimits {
    let limits = ProcessLimits::within(order.wall).stdout(order.lane.max_output());
    match order.lane.settings.idle {
        Some(idle) => limits.idle(idle.duration()),
        None => limits,
    }
}

/// The result of a finished run. A complete answer counts, however the process ended.
fn judge(
    order: &LaneOrder<'_>,
    watcher: &LaneWatcher<'_>,
    ended: Result<FinishedProcess, ProcessError>,
) -> LaneRun {
    let (output, exit_code, trouble) = match ended {
        Ok(finished) => {
            let code = finished.code();
            (finished.output, code, None)
        }
        Err(ProcessError::TimedOut { after, output, .. }) => (
            *output,
            None,
            Some((LaneFailureKind::TimedOut, format!("no answer within {}", shown(after)))),
        ),
        Err(ProcessError::Idle { after, output, .. }) => {
            let why = format!("no answer, and nothing printed for {}", shown(after));
            (*output, None, Some((LaneFailureKind::TimedOut, why)))
        }
        Err(error @ (ProcessError::NotFound { .. } | ProcessError::NotStarted { .. })) => {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
            let why = format!("{error}{}", cause.unwrap_or_default());
            (ProcessOutput::default(), None, Some((LaneFailureKind::Unavailable, why)))
        }
        Err(error) => {
            (ProcessOutput::default(), None, Some((LaneFailureKind::Unusable, error.to_string())))
        }
    };
    let stdout = String::from_utf8_lossy(&output.stdout);
    let mut run = LaneRun { exit_code, usage: usage(order.lane, &stdout), ..LaneRun::default() };
    if let Some(answer) = found(watcher, &output) {
        run.answer = Some(answer);
        return run;
    }
    let (kind, why) =
        trouble.unwrap_or_else(|| (LaneFailureKind::Unusable, why(order.lane, &output, exit_code)));
    run.answer = candidates(watcher, &output).into_iter().next();
    run.failure = Some(LaneFailure { kind, why: secrets::redact(&why).into_owned() });
    run
}

/// Why there is no answer: a known limit, the lane's own error message, or its output.
fn why(lane: &Lane, output: &ProcessOutput, exit_code: Option<i32>) -> String {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    if output.stdout_cut {
        return format!("no answer in the first {} bytes, and stopped there", lane.max_output());
    }
    let ended = match exit_code {
        Some(code) => format!("exit {code} without an answer"),
        None => "killed without an answer".to_owned(),
    };
    let lines = || stderr.lines().chain(stdout.lines()).filter(|line| line.len() < 10_000);
    let signs = lane.settings.signs.iter().flatten().filter_map(|sign| Regex::new(sign).ok());
    let sign = signs.into_iter().find_map(|sign| lines().find(|line| sign.is_match(line)));
    let own = match lane_output(&lane.answer(), LaneStreams { stdout: &stdout, file: None }) {
        LaneOutput::Failed(why) => Some(why),
        // Problems of the answer are reported by its parser.
        LaneOutput::Answer(_) if sign.is_none() && exit_code == Some(0) => return String::new(),
        _ => None,
    };
    let words = sign.map(str::to_owned).or(own);
    let words = words.or_else(|| error_message(&stderr)).or_else(|| error_message(&stdout));
    let limit = known_limit(&stderr).or_else(|| known_limit(&stdout));
    match (limit, words) {
        (Some(limit), Some(words)) => format!("{ended}: {limit}: {}", cut(words.trim())),
        (Some(limit), None) => format!("{ended}: {limit}"),
        (None, Some(words)) => format!("{ended}: {}", cut(words.trim())),
        (None, None) => ended,
    }
}

fn cut(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_WHY).collect()
}

fn shown(time: Duration) -> String {
    format!("{} s", time.as_secs_f32())
}

/// Writes the answer and the telemetry to the session's folder, without secrets.
fn keep(places: &LanePaths, run: &LaneRun) {
    if let Some(answer) = &run.answer {
        let clean = secrets::redact(answer);
        log_failure(crate::store::write_unsynced(
            &places.kept.join("answer.json"),
            clean.as_bytes(),
        ));
    }
    let telemetry = serde_json::json!({
        "exit_code": run.exit_code,
        "usage": run.usage,
        "wrote": run.wrote,
        "user_changes": run.user_changes,
        "error": run.failure.as_ref().map(|failure| &failure.why),
    });
    let text = format!("{telemetry:#}\n");
    log_failure(crate::store::write_unsynced(&places.kept.join("telemetry.json"), text.as_bytes()));
}

fn log_failure(written: std::io::Result<()>) {
    if let Err(error) = written {
        tracing::debug!(%error, "cannot keep the files of a lane");
    }
}
