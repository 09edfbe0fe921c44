//! One part of a session, from its start to the end of its last process.

use crate::process::{
    self, FinishedProcess, OutputWatcher, ProcessError, ProcessLimits, ProcessOutput, ProcessSpec,
    run_watched,
};
use mala_domain::ports::{CoderEnd, CoderOrder, CoderSession};
use mala_domain::run::coder::{CoderOutput, CoderReader, shown_line};
use mala_domain::secrets;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// How much a session may print.
const MAX_STDOUT: usize = 32 << 20;

/// The longest time between two looks at a silent session.
const LOOK: Duration = Duration::from_secs(5);

/// How many entries of a tree are looked at for changes.
const MAX_ENTRIES: usize = 200_000;

/// How long a message about a failure is, in characters.
const MAX_WHY: usize = 400;

/// Runs a session and reads its output. `session` is the id that it was given.
pub(super) async fn run(
    spec: ProcessSpec,
    order: &CoderOrder<'_>,
    output: Option<&CoderOutput>,
    session: &str,
) -> CoderSession {
    let marker = crate::git::marker(Path::new(&order.workspace.root));
    let shared = Mutex::new(RunningSession::default());
    let limits = ProcessLimits::within(order.max_time).stdout(MAX_STDOUT);
    let mut watcher = SessionWatcher { shared: &shared, output, order, n_read: 0 };
    let ended = tokio::select! {
        ended = run_watched(spec, limits, &mut watcher) => Some(ended),
        () = silence(&shared, order) => None,
    };
    process::kill_marked(crate::git::WORKSPACE_MARKER, &marker);
    let reader = std::mem::take(&mut lock(&shared).reader);
    let end = end_of(ended, &reader, order.resume);
    let id = match order.resume {
        Some(resumed) => resumed.to_owned(),
        None => reader.session.unwrap_or_else(|| session.to_owned()),
    };
    let message = secrets::redact(reader.message.trim()).into_owned();
    CoderSession { session: Some(id), end, message, cost_usd: reader.cost_usd }
}

/// The state of a running session.
struct RunningSession {
    reader: CoderReader,
    last_output: Instant,
}

impl Default for RunningSession {
    fn default() -> Self {
        Self { reader: CoderReader::default(), last_output: Instant::now() }
    }
}

fn lock(shared: &Mutex<RunningSession>) -> MutexGuard<'_, RunningSession> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Completes when the session has printed nothing and changed no file for too long.
async fn silence(shared: &Mutex<RunningSession>, order: &CoderOrder<'_>) {
    let mut quiet_since = Instant::now();
    loop {
        quiet_since = quiet_since.max(lock(shared).last_output);
        let left = order.max_idle.saturating_sub(quiet_since.elapsed());
        if left.is_zero() {
            let changed = last_change(Path::new(&order.workspace.root));
            let age = changed.and_then(|at| SystemTime::now().duration_since(at).ok());
            match age
                .filter(|age| *age < order.max_idle)
                .and_then(|age| Instant::now().checked_sub(age))
            {
                Some(at) => quiet_since = quiet_since.max(at),
                None => return,
            }
        }
        tokio::time::sleep(left.clamp(Duration::from_millis(20), LOOK)).await;
    }
}

/// When a file of a tree was last changed.
fn last_change(root: &Path) -> Option<SystemTime> {
    let mut folders = vec![root.to_owned()];
    let (mut newest, mut n_entries) = (None, 0);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            n_entries += 1;
            let Ok(meta) = entry.path().symlink_metadata() else { continue };
            newest = newest.max(meta.modified().ok());
            if meta.is_dir() && n_entries < MAX_ENTRIES {
                folders.push(entry.path());
            }
        }
    }
    newest
}

/// Reads the output of a session as it comes.
struct SessionWatcher<'w> {
    shared: &'w Mutex<RunningSession>,
    output: Option<&'w CoderOutput>,
    order: &'w CoderOrder<'w>,
    n_read: usize,
}

impl OutputWatcher for SessionWatcher<'_> {
    fn on_output(&mut self, output: &ProcessOutput) {
        let mut state = lock(self.shared);
        state.last_output = Instant::now();
        let fresh = output.stdout.get(self.n_read..).unwrap_or_default();
        let Some(end) = fresh.iter().rposition(|byte| *byte == b'\n') else { return };
        let lines = fresh.get(..=end).unwrap_or_default();
        self.n_read += lines.len();
        let mut last = None;
        for line in String::from_utf8_lossy(lines).lines() {
            last = state.reader.read(self.output, line).or(last);
        }
        if let Some(line) = last.and_then(|text| shown_line(&text)) {
            (self.order.said)(&line);
        }
    }

    fn is_complete(&mut self, _: &ProcessOutput) -> bool {
        false
    }
}

/// How the session ended. A successful exit proves nothing about its work.
fn end_of(
    ended: Option<Result<FinishedProcess, ProcessError>>,
    reader: &CoderReader,
    resumed: Option<&str>,
) -> CoderEnd {
    let finished = match ended {
        None => return CoderEnd::Idle,
        Some(Err(ProcessError::TimedOut { .. })) => return CoderEnd::TimedOut,
        Some(Err(error @ (ProcessError::NotFound { .. } | ProcessError::NotStarted { .. }))) => {
            return CoderEnd::Unavailable(error.to_string());
        }
        Some(Err(error)) => return CoderEnd::Failed(error.to_string()),
        Some(Ok(finished)) => finished,
    };
    if finished.output.stdout_cut {
        return CoderEnd::Failed(format!("printed more than {} MiB", MAX_STDOUT >> 20));
    }
    if let (Some(wanted), Some(found)) = (resumed, &reader.session)
        && wanted != found
    {
        return CoderEnd::Failed(format!("did not resume the session {wanted}"));
    }
    let exit = match (finished.code(), finished.signal()) {
        (Some(0), _) => None,
        (Some(code), _) => Some(format!("exit code {code}")),
        (None, signal) => Some(format!("killed by signal {}", signal.unwrap_or_default())),
    };
    let stderr = finished.output.stderr_text();
    let last = stderr.lines().rev().find(|line| !line.trim().is_empty()).map(str::to_owned);
    match (exit, reader.failure.clone()) {
        (None, None) => CoderEnd::Finished,
        (None, Some(failure)) => CoderEnd::Failed(shortened(&failure)),
        (Some(exit), failure) => match failure.or(last) {
            Some(why) => CoderEnd::Failed(format!("{exit}: {}", shortened(&why))),
            None => CoderEnd::Failed(exit),
        },
    }
}

fn shortened(why: &str) -> String {
    let line: String = why.chars().filter(|c| !c.is_control()).take(MAX_WHY).collect();
    secrets::redact(&line).into_owned()
}
