//! Errors with a kind and an optional hint. The command line maps each kind to an exit code.

use std::fmt::Write;

/// Why a command cannot be done. Commands return `anyhow::Error`; a `Failure` in its chain decides the
/// exit code.
#[derive(Debug, thiserror::Error)]
#[error("{}{message}", .subject.as_ref().map(|it| format!("{it}: ")).unwrap_or_default())]
pub struct Failure {
    kind: FailureKind,
    subject: Option<String>,
    message: String,
    frame: Option<String>,
    hint: Option<String>,
}

/// The kinds of failure that end with different exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The arguments are invalid.
    Usage,
    /// A review was requested by an account without permission.
    NotAllowed,
    /// The configuration is invalid.
    Configuration,
    /// No reviewer can be run.
    NoReviewers,
    /// The change cannot be reviewed, or the command cannot be done.
    CouldNotReview,
    /// `review-gate spawn-code-review` starts no reviewer.
    SpawnFailed,
    /// `review-gate` cannot perform the command.
    Internal,
}

impl Failure {
    /// An error of this kind.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, subject: None, message: message.into(), frame: None, hint: None }
    }

    /// Invalid arguments.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, message)
    }

    /// Adds the failed action, before the reason.
    pub fn subject(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the source lines that contain the error.
    pub fn frame(mut self, frame: impl Into<String>) -> Self {
        self.frame = Some(frame.into());
        self
    }

    /// The reason of an error without its subject, for a report that names the subject itself.
    pub fn reason_of(error: &anyhow::Error) -> String {
        in_chain(error).map_or_else(|| error.to_string(), |failure| failure.message.clone())
    }

    /// The kind of an error; an error without a `Failure` is `CouldNotReview`.
    pub fn kind_of(error: &anyhow::Error) -> FailureKind {
        in_chain(error).map_or(FailureKind::CouldNotReview, |failure| failure.kind)
    }
}

/// An error as it is printed: one line with its causes, then the source lines and the hint.
pub fn describe(error: &anyhow::Error) -> String {
    let mut text = format!("error: {error:#}");
    let Some(failure) = in_chain(error) else { return text };
    if let Some(frame) = &failure.frame {
        text.push('\n');
        text.push_str(frame.trim_end());
    }
    if let Some(hint) = &failure.hint {
        // Writing to a string cannot fail.
        write!(text, "\nhint: {hint}").unwrap_or_default();
    }
    text
}

fn in_chain(error: &anyhow::Error) -> Option<&Failure> {
    error.chain().find_map(|cause| cause.downcast_ref::<Failure>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn an_error_is_one_line_with_its_causes_and_the_hint_of_the_innermost_failure() {
        let failure =
            Failure::usage("no such run 'x'").frame("  | x\n").hint("see 'mala runs list'");
        let error = Err::<(), _>(failure).context("showing a run").unwrap_err();
        assert_eq!(
            describe(&error),
            "error: showing a run: no such run 'x'\n  | x\nhint: see 'mala runs list'"
        );
    }

    #[test]
    fn a_report_that_names_the_subject_shows_the_reason_alone() {
        let failure = Failure::usage("no key is set").subject("cannot run the reviewer");
        let error = anyhow::Error::from(failure);
        assert_eq!(describe(&error), "error: cannot run the reviewer: no key is set");
        assert_eq!(Failure::reason_of(&error), "no key is set");
    }
}
