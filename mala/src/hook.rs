//! The hooks. `mala hook start` and `mala hook stop` are run by Claude Code and Codex: `start` records the
//! state of the repository and prints nothing, `stop` prints one JSON object and always exits with 0,
//! because hosts read the object only then. `mala hook pre-push` is run by git and exits with 1 to refuse a
//! push.

mod input;
mod place;
mod task;
mod work;

use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::settings::UserSettings;
use crate::wiring::gate::work::{HookFolder, WorkSource, hook_folder};
use anyhow::Context;
use mala_domain::gate::MARKER;
use mala_domain::hook::push::{PushDecision, decide_push, push_record, pushed_refs};
use mala_domain::hook::{
    ConversationRecord, HookAnswer, HookFacts, SWITCH, Stop, UnreviewedWork, decide,
};
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use work::HookReview;

/// How much longer than its time limit a review may take to notice it.
const GRACE: Duration = Duration::from_secs(5);

/// How long a conversation may be delayed when it starts.
const START_TIME: Duration = Duration::from_secs(20);

/// How often an agent is blocked if the settings are unknown.
const MAX_BLOCKS: u32 = 3;

/// The record of pushes beside those of conversations.
const PUSH: &str = "git pre-push";

/// The largest list of pushed refs.
const MAX_INPUT: u64 = 16 << 20;

/// Answers a host. `time` is the time limit, or the error in the command line.
pub(crate) fn stop(time: Result<Duration, String>) -> Exit {
    let answer = catch_unwind(AssertUnwindSafe(|| stop_answer(time)));
    let answer = answer.unwrap_or_else(|_| {
        HookAnswer::allow("warning: nothing was reviewed: mala has a bug".to_owned())
    });
    let text = serde_json::to_string(&answer).unwrap_or_else(|_| "{}".to_owned());
    // A failure cannot be reported: stdout is the only channel to the host.
    console::bytes(format!("{text}\n").as_bytes()).unwrap_or_default();
    Exit::Passed
}

/// Records the state of the repository when a conversation starts. A failure does not stop the
/// conversation.
pub(crate) fn start() -> Exit {
    let recorded = catch_unwind(AssertUnwindSafe(record_start));
    if let Err(error) = recorded.unwrap_or_else(|_| Err(anyhow::anyhow!("mala has a bug"))) {
        let why = console::harmless(&format!("{error:#}"));
        console::say(&format!("warning: cannot record the start of the conversation: {why}"));
    }
    Exit::Passed
}

/// Accepts HEAD, the files on disk and the work that was blocked in this work tree.
pub(crate) fn accept(top: &Path, here: &Environment) -> anyhow::Result<Exit> {
    let state = work::state_to_accept(here, START_TIME)?;
    hook_folder(top).accept(&state).context("writing what is accepted")?;
    console::say("accepted: later reviews of the hook start from here");
    Ok(Exit::Passed)
}

/// Reviews a push. Git writes the refs to stdin, and refuses the push unless this exits with 0.
pub(crate) fn pre_push(time: Duration) -> anyhow::Result<Exit> {
    let here = Environment::of_process()?;
    let mut input = String::new();
    std::io::stdin()
        .take(MAX_INPUT)
        .read_to_string(&mut input)
        .context("reading the pushed refs")?;
    let look = match (skipped(&here), pushed_refs(&input)) {
        (Some(facts), _) => HookReview { facts, max_blocks: MAX_BLOCKS },
        (None, Err(why)) => unreviewed(why),
        (None, Ok(pushed)) => {
            let (here, user) = (here.clone(), user_settings(&here));
            limited(time, GRACE, move || {
                work::review_within(&here, &user, &WorkSource::Push(&pushed), time)
            })
        }
    };
    remember_push(&look.facts, &here);
    match decide_push(&look.facts, look.max_blocks) {
        PushDecision::Allowed(message) => {
            message.iter().for_each(|message| console::say(&console::harmless(message)));
            Ok(Exit::Passed)
        }
        PushDecision::Refused(why) => {
            console::say(&console::harmless(why.trim_end()));
            console::say(
                "hint: to push anyway, run `git push --no-verify`, `mala hook accept` or `mala hook off`",
            );
            Ok(Exit::Blocked)
        }
    }
}

/// Stores the refused work, so that it can be accepted.
fn remember_push(facts: &HookFacts, here: &Environment) {
    let Some(top) = here.work_tree() else { return };
    let (folder, record) = (hook_folder(top), push_record(facts));
    if folder.record(PUSH).is_ok_and(|known| known != record)
        && let Err(error) = folder.set_record(PUSH, &record)
    {
        console::say(&format!("warning: cannot remember the push: {error}"));
    }
}

fn record_start() -> anyhow::Result<()> {
    let (stop, problem) = input::read();
    anyhow::ensure!(problem.is_none(), "invalid input: {}", problem.unwrap_or_default());
    let here = place::environment(&stop);
    // The hook may be turned on again before the conversation ends.
    if !matches!(skipped(&here), None | Some(HookFacts::Off(_))) {
        return Ok(());
    }
    let folder = hook_folder(here.root());
    let record = folder.record(conversation(&stop))?;
    // A conversation that is resumed has started before.
    if record.start.is_some() {
        return Ok(());
    }
    let start = Some(work::state(&here, START_TIME)?);
    Ok(folder.set_record(conversation(&stop), &ConversationRecord { start, ..record })?)
}

fn stop_answer(time: Result<Duration, String>) -> HookAnswer {
    let (stop, problem) = input::read();
    if let Some(problem) = problem {
        console::say(&format!("warning: invalid input: {problem}"));
    }
    let here = place::environment(&stop);
    let user = user_settings(&here);
    if let (None, Ok(time)) = (skipped(&here), &time) {
        match task::idle_answer(&stop, &here, &user, *time) {
            Ok(Some(answer)) => return answer,
            Ok(None) => {}
            Err(error) => {
                let why = console::harmless(&format!("{error:#}"));
                console::say(&format!("warning: cannot review the task: {why}"));
            }
        }
    }
    let folder = hook_folder(here.root());
    let record = folder.record(conversation(&stop)).ok();
    let look = match (skipped(&here), time) {
        (Some(facts), _) => HookReview { facts, max_blocks: MAX_BLOCKS },
        (None, Ok(time)) => {
            let (here, record) = (here.clone(), record.clone().unwrap_or_default());
            limited(time, GRACE, move || {
                work::review_within(&here, &user, &WorkSource::Conversation(&record), time)
            })
        }
        (None, Err(why)) => unreviewed(format!("invalid arguments of the hook: {why}")),
    };
    decided(&look, &stop, record.as_ref(), &folder)
}

/// The user's settings, or the error in them.
fn user_settings(here: &Environment) -> Result<UserSettings, String> {
    UserSettings::load(here).map_err(|error| error.to_string())
}

fn conversation(stop: &Stop) -> &str {
    stop.session.as_deref().unwrap_or("unknown")
}

/// Why no review is needed; `None` if one is.
fn skipped(here: &Environment) -> Option<HookFacts> {
    if here.variable(MARKER).is_some() {
        return Some(HookFacts::InsideGate);
    }
    let switch = here.text(SWITCH).unwrap_or_default().to_ascii_lowercase();
    if matches!(switch.as_str(), "off" | "0" | "false" | "no") {
        return Some(HookFacts::Off(format!("{SWITCH}={switch}")));
    }
    let Some(top) = here.work_tree() else { return Some(HookFacts::NoRepository) };
    let folder = hook_folder(top);
    folder.is_off().then(|| HookFacts::Off(folder.switch().display().to_string()))
}

/// Reviews the work, up to the time limit.
fn limited(
    time: Duration,
    grace: Duration,
    look: impl FnOnce() -> anyhow::Result<HookReview> + Send + 'static,
) -> HookReview {
    let (sender, receiver) = mpsc::channel();
    let worker = std::thread::Builder::new().name("work".to_owned()).spawn(move || {
        // The receiver is gone if it took too long.
        sender.send(look()).unwrap_or_default();
    });
    if let Err(error) = worker {
        return unreviewed(error.to_string());
    }
    match receiver.recv_timeout(time + grace) {
        Ok(Ok(look)) => look,
        Ok(Err(error)) => unreviewed(console::harmless(&format!("{error:#}"))),
        Err(RecvTimeoutError::Timeout) => unreviewed(work::too_long(time)),
        Err(RecvTimeoutError::Disconnected) => unreviewed("mala has a bug".to_owned()),
    }
}

fn unreviewed(why: String) -> HookReview {
    HookReview {
        facts: HookFacts::UnreviewedWork(UnreviewedWork::because(why)),
        max_blocks: MAX_BLOCKS,
    }
}

/// Decides and stores the record. If nothing can be written, the agent is blocked at most once.
fn decided(
    look: &HookReview,
    stop: &Stop,
    record: Option<&ConversationRecord>,
    folder: &HookFolder,
) -> HookAnswer {
    let decision = decide(&look.facts, stop, record, look.max_blocks);
    if !decision.released.is_empty()
        && let Err(error) = folder.release(&decision.released)
    {
        console::say(&format!("warning: cannot remember the release: {error}"));
    }
    match &decision.record {
        Some(new) if record.is_some() && folder.set_record(conversation(stop), new).is_err() => {
            decide(&look.facts, stop, None, look.max_blocks).answer
        }
        _ => decision.answer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(
        seconds: u64,
        look: impl FnOnce() -> anyhow::Result<HookReview> + Send + 'static,
    ) -> String {
        match limited(Duration::from_secs(seconds), Duration::ZERO, look).facts {
            HookFacts::UnreviewedWork(work) => work.why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_review_that_fails_has_a_reason() {
        assert_eq!(why(60, || panic!("a bug")), "mala has a bug");
        assert_eq!(why(60, || anyhow::bail!("no\u{1b}git")), "no\\u{1b}git");
        let sleeps = || {
            std::thread::sleep(Duration::from_secs(60));
            anyhow::bail!("too late")
        };
        assert_eq!(why(1, sleeps), "no result within 1 s");
    }
}
