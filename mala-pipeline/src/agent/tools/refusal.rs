//! Why a tool does not answer, in words that help a model to ask better.

use std::fmt;

/// What is wrong, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolRefusal {
    what: String,
    instead: String,
}

impl ToolRefusal {
    pub(super) fn new(what: impl Into<String>, instead: impl Into<String>) -> Self {
        Self { what: what.into(), instead: instead.into() }
    }

    /// The tree or its history cannot be read; nothing that a model does changes that.
    pub(super) fn broken(error: &dyn fmt::Display) -> Self {
        Self::new(format!("the repository cannot be read: {error}"), "go on without it")
    }
}

impl fmt::Display for ToolRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}\ninstead: {}", self.what, self.instead)
    }
}

/// What a model wrote, short and on one line.
pub(super) fn quoted(written: &str) -> String {
    const MAX_CHARS: usize = 80;
    let mut short: String = written.chars().take(MAX_CHARS).collect();
    if short.len() < written.len() {
        short.push('…');
    }
    format!("{short:?}")
}
