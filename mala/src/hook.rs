//! `mala hook stop`: what Claude Code and Codex run when their agent wants to stop. Whatever happens, it
//! prints one JSON object and exits with 0: both hosts read the object only then, and take any other
//! end of the program for a reason to let the agent go. `mala hook start`: what they run when a
//! conversation begins. It prints nothing, which the agent would be told.

mod input;
mod place;
mod work;

use crate::cli::exit::Exit;
use crate::console;
use crate::environment::Environment;
use crate::wiring::gate::work::{HookFolder, hook_folder};
use mala_domain::gate::MARKER;
use mala_domain::gate::hook::{
    ConversationMemory, HookAnswer, HookDecision, HookFacts, SWITCH, Stop, UnreviewedWork, decide,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use work::HookLook;

/// How much longer than its time the work may take to notice that the time is over.
const GRACE: Duration = Duration::from_secs(5);

/// How long a conversation waits for us before it begins.
const BEGINNING: Duration = Duration::from_secs(20);

/// How often an agent is kept when nobody could read the configuration.
const MAX_BLOCKS: u32 = 3;

/// Answers a host. `asked` is how long it may take, or what is wrong with the command line.
pub(crate) fn stop(asked: Result<Duration, String>) -> Exit {
    let answer = catch_unwind(AssertUnwindSafe(|| answer(asked)));
    let answer = answer.unwrap_or_else(|_| {
        HookAnswer::allow(
            "mala has a bug: NOTHING WAS REVIEWED, and the agent is let go".to_owned(),
        )
    });
    let text = serde_json::to_string(&answer).unwrap_or_else(|_| "{}".to_owned());
    // There is no one to tell when that fails.
    console::bytes(format!("{text}\n").as_bytes()).unwrap_or_default();
    Exit::Passed
}

/// Remembers where the work of a conversation begins. Whatever happens, the conversation goes on: work is
/// then what it would be without this.
pub(crate) fn start() -> Exit {
    let begun = catch_unwind(AssertUnwindSafe(begin));
    match begun.unwrap_or_else(|_| Err(anyhow::anyhow!("mala has a bug"))) {
        Ok(()) => {}
        Err(error) => {
            let why = console::harmless(&format!("{error:#}"));
            console::say(&format!("warning: where the work begins is not remembered: {why}"));
        }
    }
    Exit::Passed
}

fn begin() -> anyhow::Result<()> {
    let (stop, problem) = input::read();
    anyhow::ensure!(problem.is_none(), "what the host says: {}", problem.unwrap_or_default());
    let here = place::environment(&stop);
    // It may be turned on again before the end.
    if !matches!(at_once(&here), None | Some(HookFacts::Off(_))) {
        return Ok(());
    }
    let folder = hook_folder(here.root());
    let memory = folder.memory(conversation(&stop))?;
    // A conversation that goes on began before.
    if !memory.accepted.is_empty() {
        return Ok(());
    }
    let place = work::beginning(&here, BEGINNING)?;
    Ok(memory.begun(&place).map_or(Ok(()), |new| folder.remember(conversation(&stop), &new))?)
}

fn answer(asked: Result<Duration, String>) -> HookAnswer {
    let (stop, problem) = input::read();
    if let Some(problem) = problem {
        console::say(&format!("warning: what the host says cannot be read: {problem}"));
    }
    let here = place::environment(&stop);
    let folder = hook_folder(here.root());
    let memory = folder.memory(conversation(&stop)).ok();
    let look = match (at_once(&here), asked) {
        (Some(found), _) => HookLook { found, max_blocks: MAX_BLOCKS },
        (None, Ok(time)) => {
            let (here, memory) = (here.clone(), memory.clone().unwrap_or_default());
            attempt(time, GRACE, move || work::look(&here, &memory, time))
        }
        (None, Err(why)) => unseen(format!("the command line of the hook makes no sense: {why}")),
    };
    decided(&look, &stop, memory.as_ref(), &folder).answer
}

fn conversation(stop: &Stop) -> &str {
    stop.session.as_deref().unwrap_or("unknown")
}

/// What needs no review.
fn at_once(here: &Environment) -> Option<HookFacts> {
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

/// Looks at the work within this time, whatever becomes of it.
fn attempt(
    time: Duration,
    grace: Duration,
    look: impl FnOnce() -> anyhow::Result<HookLook> + Send + 'static,
) -> HookLook {
    let (sender, receiver) = mpsc::channel();
    let worker = std::thread::Builder::new().name("work".to_owned()).spawn(move || {
        // Nobody listens any more when it took too long.
        sender.send(look()).unwrap_or_default();
    });
    if let Err(error) = worker {
        return unseen(error.to_string());
    }
    match receiver.recv_timeout(time + grace) {
        Ok(Ok(look)) => look,
        Ok(Err(error)) => unseen(console::harmless(&format!("{error:#}"))),
        Err(RecvTimeoutError::Timeout) => unseen(work::too_long(time)),
        Err(RecvTimeoutError::Disconnected) => unseen("mala has a bug".to_owned()),
    }
}

fn unseen(why: String) -> HookLook {
    HookLook {
        found: HookFacts::UnreviewedWork(UnreviewedWork::because(why)),
        max_blocks: MAX_BLOCKS,
    }
}

/// The decision, remembered. What cannot be remembered must not keep anybody for ever.
fn decided(
    look: &HookLook,
    stop: &Stop,
    memory: Option<&ConversationMemory>,
    folder: &HookFolder,
) -> HookDecision {
    let decision = decide(&look.found, stop, memory, look.max_blocks);
    match &decision.memory {
        Some(new) if memory.is_some() && folder.remember(conversation(stop), new).is_err() => {
            decide(&look.found, stop, None, look.max_blocks)
        }
        _ => decision,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(
        seconds: u64,
        look: impl FnOnce() -> anyhow::Result<HookLook> + Send + 'static,
    ) -> String {
        match attempt(Duration::from_secs(seconds), Duration::ZERO, look).found {
            HookFacts::UnreviewedWork(work) => work.why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn whatever_becomes_of_the_work_there_is_a_reason() {
        assert_eq!(why(60, || panic!("a bug")), "mala has a bug");
        assert_eq!(why(60, || anyhow::bail!("no\u{1b}git")), "no\\u{1b}git");
        let sleeps = || {
            std::thread::sleep(Duration::from_secs(60));
            anyhow::bail!("too late")
        };
        assert_eq!(why(1, sleeps), "no result within 1 s");
    }
}
