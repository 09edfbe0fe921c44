//! The exit codes, whose numbers are only in this file, and the messages that go with them.

use crate::console;
use crate::failure::{Failure, FailureKind, describe};
use mala_domain::verdict::{NotReviewedReason, Outcome};
use std::panic::{AssertUnwindSafe, PanicHookInfo};
use std::process::ExitCode;

/// The exit code of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Reviewed and passed; for other commands, done.
    Passed = 0,
    /// Findings at or above the threshold.
    Blocked = 1,
    /// The change could not be reviewed, or the command could not be done.
    CouldNotReview = 2,
    /// Time ran out.
    TimedOut = 3,
    /// No reviewer could be run.
    NoReviewers = 4,
    /// A bug in mala.
    Internal = 5,
    /// Invalid arguments.
    Usage = 64,
    /// Invalid configuration.
    Configuration = 78,
    /// Ctrl-C.
    Interrupted = 130,
}

impl Exit {
    /// Every code, in order.
    pub const ALL: [Self; 9] = [
        Self::Passed,
        Self::Blocked,
        Self::CouldNotReview,
        Self::TimedOut,
        Self::NoReviewers,
        Self::Internal,
        Self::Usage,
        Self::Configuration,
        Self::Interrupted,
    ];

    /// The code of `review-gate spawn-code-review` when it starts no reviewer.
    pub const SPAWN_FAILED: Self = Self::Blocked;

    /// The number.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The meaning of a number.
    pub fn of(code: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|exit| i32::from(exit.code()) == code)
    }

    /// The meaning of the exit code, for the reference.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Passed => "the review passed; for other commands, success",
            Self::Blocked => "findings at or above the threshold",
            Self::CouldNotReview => "could not review: a parse or execution error",
            Self::TimedOut => "timeout",
            Self::NoReviewers => "no reviewers",
            Self::Internal => "internal error: a bug in mala",
            Self::Usage => "invalid arguments",
            Self::Configuration => "invalid configuration",
            Self::Interrupted => "interrupted",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Prints an error and returns the code to exit with.
pub fn report(error: &anyhow::Error) -> Exit {
    console::say(&describe(error));
    Failure::kind_of(error).into()
}

impl From<FailureKind> for Exit {
    fn from(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Usage | FailureKind::NotAllowed => Self::Usage,
            FailureKind::Configuration => Self::Configuration,
            FailureKind::NoReviewers => Self::NoReviewers,
            FailureKind::CouldNotReview => Self::CouldNotReview,
            FailureKind::SpawnFailed => Self::SPAWN_FAILED,
            FailureKind::Internal => Self::Internal,
        }
    }
}

impl From<Outcome> for Exit {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Passed => Self::Passed,
            Outcome::Blocked => Self::Blocked,
            Outcome::CouldNotReview(NotReviewedReason::Incomplete) => Self::CouldNotReview,
            Outcome::CouldNotReview(NotReviewedReason::TimedOut) => Self::TimedOut,
            Outcome::CouldNotReview(NotReviewedReason::NoReviewers) => Self::NoReviewers,
            Outcome::CouldNotReview(NotReviewedReason::Internal) => Self::Internal,
        }
    }
}

/// Runs a program; a panic ends with `Exit::Internal`.
pub(crate) fn guarded(program: impl FnOnce() -> Exit) -> Exit {
    std::panic::catch_unwind(AssertUnwindSafe(program)).unwrap_or(Exit::Internal)
}

/// Prints help or the version, or a usage error.
pub(crate) fn show_answer(answer: &clap::Error) -> Exit {
    let text = answer.render();
    if answer.use_stderr() {
        console::say(text.ansi().to_string().trim_end());
        return Exit::Usage;
    }
    match console::data(&text.ansi().to_string()) {
        Ok(()) => Exit::Passed,
        Err(error) => report(&error.into()),
    }
}

/// Reports a panic as a bug, without a stack trace.
pub(crate) fn report_bug(panic: &PanicHookInfo<'_>) {
    let what = panic.payload_as_str().unwrap_or("unknown cause");
    let place = panic.location().map(|at| format!(" ({}:{})", at.file(), at.line()));
    console::say(&format!(
        "error: internal error: {what}{}\nhint: this is a bug in mala; please report it with the command that you ran",
        place.unwrap_or_default()
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_a_promise() {
        let codes: Vec<u8> = Exit::ALL.iter().map(|exit| exit.code()).collect();
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 64, 78, 130]);
    }

    #[test]
    fn an_error_without_a_kind_never_looks_like_a_pass_or_a_finding() {
        let error = anyhow::anyhow!("disk full");
        assert_eq!(Exit::from(Failure::kind_of(&error)), Exit::CouldNotReview);
    }

    #[test]
    fn only_a_pass_exits_with_zero() {
        for (outcome, code) in [
            (Outcome::Passed, 0),
            (Outcome::Blocked, 1),
            (Outcome::CouldNotReview(NotReviewedReason::Incomplete), 2),
            (Outcome::CouldNotReview(NotReviewedReason::TimedOut), 3),
            (Outcome::CouldNotReview(NotReviewedReason::NoReviewers), 4),
            (Outcome::CouldNotReview(NotReviewedReason::Internal), 5),
        ] {
            assert_eq!(Exit::from(outcome).code(), code, "{outcome:?}");
        }
    }
}
