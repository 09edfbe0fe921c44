//! What a command says when it cannot go on: one error, one exit code and, when there is one, the
//! way out.

use super::exit::Exit;
use crate::console;
use std::fmt::Write;

/// An error that knows its exit code. Commands return `anyhow::Error`; one of these anywhere in its
/// chain decides how the program ends. Without one, it ends with `Exit::CouldNotReview`.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    exit: Exit,
    message: String,
    frame: Option<String>,
    hint: Option<String>,
}

impl Failure {
    /// An error with this exit code.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), frame: None, hint: None }
    }

    /// The command line asks for something that cannot be.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// A way out.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Lines of source that show the error.
    pub fn frame(mut self, frame: impl Into<String>) -> Self {
        self.frame = Some(frame.into());
        self
    }
}

/// Shows an error once and gives the code to end with.
pub fn report(error: &anyhow::Error) -> Exit {
    console::say(&describe(error));
    exit_of(error)
}

/// The code that an error ends the program with.
pub(crate) fn exit_of(error: &anyhow::Error) -> Exit {
    failure(error).map_or(Exit::CouldNotReview, |failure| failure.exit)
}

fn describe(error: &anyhow::Error) -> String {
    let mut text = format!("error: {error:#}");
    let Some(failure) = failure(error) else { return text };
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

fn failure(error: &anyhow::Error) -> Option<&Failure> {
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
    fn an_unclassified_error_never_looks_like_a_pass_or_a_finding() {
        assert_eq!(exit_of(&anyhow::anyhow!("disk full")), Exit::CouldNotReview);
    }
}
