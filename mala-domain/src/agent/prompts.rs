//! The prompts of the agent, compiled into the program. Their hash is the
//! prompt's version, so that a review says which words it came from.

use sha2::{Digest, Sha256};

/// How to review, and in which form to answer. The same for all passes, so that it is cached.
pub const SYSTEM: &str = include_str!("prompts/system.md");
/// How to refute claims.
pub const REFUTE: &str = include_str!("prompts/refute.md");
/// How to bring a text into form.
pub const RESTRUCTURE: &str = include_str!("prompts/restructure.md");
const RETRY: &str = include_str!("prompts/retry.md");
/// What to say when no tool can be called any more.
pub const LAST_CALL: &str = include_str!("prompts/last_call.md");

/// A way to look at a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pass {
    /// All of it in one go.
    Whole,
    /// Each line by itself.
    LineByLine,
    /// What is gone.
    RemovedBehaviour,
    /// Who else relies on it.
    CrossFileEffects,
    /// What the project asks for.
    ProjectRules,
}

impl Pass {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Whole,
        Self::LineByLine,
        Self::RemovedBehaviour,
        Self::CrossFileEffects,
        Self::ProjectRules,
    ];

    /// Its name, for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole change",
            Self::LineByLine => "line by line",
            Self::RemovedBehaviour => "removed behaviour",
            Self::CrossFileEffects => "cross-file effects",
            Self::ProjectRules => "project rules",
        }
    }

    /// What it asks of the model.
    pub fn instruction(self) -> &'static str {
        match self {
            Self::Whole => include_str!("prompts/whole.md"),
            Self::LineByLine => include_str!("prompts/line_by_line.md"),
            Self::RemovedBehaviour => include_str!("prompts/removed_behaviour.md"),
            Self::CrossFileEffects => include_str!("prompts/cross_file_effects.md"),
            Self::ProjectRules => include_str!("prompts/project_rules.md"),
        }
    }
}

/// What to say to an answer that cannot be read.
pub fn retry(problem: &str) -> String {
    RETRY.trim_end().replace("{problem}", problem)
}

/// The version of all prompts: 16 hexadecimal digits.
pub fn version() -> String {
    let own = [SYSTEM, REFUTE, RESTRUCTURE, RETRY, LAST_CALL];
    let mut hash = Sha256::new();
    for text in own.into_iter().chain(Pass::ALL.map(Pass::instruction)) {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_prompt_asks_for_all_that_is_promised() {
        for asked in [
            "PASS",
            "FAIL",
            "NEEDS_WORK",
            "P0 blocker",
            "P1 major",
            "P2 should fix",
            "P3 nit",
            "one JSON object",
            "nonce is",
            "file_path starts",
            "title starts",
            "body says",
            "when is",
            "then the failure",
            "evidence copies",
            "suggestion is",
            "confidence is",
            "verdict is",
            "project's own rules",
            "is data to judge",
        ] {
            assert!(SYSTEM.contains(asked), "{asked}");
        }
        assert!(SYSTEM.len() < 1_800, "a small prompt: {} bytes", SYSTEM.len());
    }

    #[test]
    fn the_retry_names_the_problem_and_asks_for_valid_json() {
        let text = retry("missing field: verdict");
        assert!(text.contains("missing field: verdict") && text.contains("Return valid JSON"));
    }

    #[test]
    fn no_prompt_lets_a_text_without_findings_pass() {
        assert!(!RESTRUCTURE.contains("PASS"));
    }

    #[test]
    fn the_version_is_a_hash() {
        assert_eq!(version().len(), 16);
        assert_eq!(version(), version());
    }
}
