//! The prompts of the agent, compiled into the program. Their hash is the version of the prompts,
//! so that a report identifies the prompts it was made with.

use sha2::{Digest, Sha256};

/// How to review and how to format the answer. Identical for all looks, so that providers can cache
/// it.
pub const SYSTEM: &str = include_str!("prompts/system.md");
/// How to check claims.
pub const VERIFY: &str = include_str!("prompts/verify.md");
/// How to decide which claims have the same cause.
pub const SAME_CAUSE: &str = include_str!("prompts/same_cause.md");
/// How to edit findings.
pub const EDIT: &str = include_str!("prompts/edit.md");
/// How to convert a review in prose into the required format.
pub const RESTRUCTURE: &str = include_str!("prompts/restructure.md");
/// What else to report, in reviews in which an edit makes minor findings notes.
pub const WIDE: &str = include_str!("prompts/wide.md");
const RETRY: &str = include_str!("prompts/retry.md");
/// The message when no more tool calls are allowed.
pub const LAST_CALL: &str = include_str!("prompts/last_call.md");

/// One conversation of the agent about a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Look {
    /// The first review, with all questions.
    First,
    /// A free review, without a list of questions.
    Second,
    /// Finds what the reviews before it left out, file by file.
    FollowUp,
}

impl Look {
    /// All looks, in order.
    pub const ALL: [Self; 3] = [Self::First, Self::Second, Self::FollowUp];

    /// The display name.
    pub fn name(self) -> &'static str {
        match self {
            Self::First => "draft",
            Self::Second => "second draft",
            Self::FollowUp => "follow-up",
        }
    }

    /// The instruction for the model.
    pub fn instruction(self) -> &'static str {
        match self {
            Self::First => include_str!("prompts/draft.md"),
            Self::Second => include_str!("prompts/second_draft.md"),
            Self::FollowUp => include_str!("prompts/follow_up.md"),
        }
    }
}

/// The limits of a conversation, as text for the model.
pub fn budget(n_answers: u32, n_tool_calls: u32) -> String {
    let answers = match n_answers {
        0 | 1 => "This is your only answer.".to_owned(),
        n => format!("You have {n} answers in this conversation, and the last must be the JSON."),
    };
    match n_tool_calls {
        0 => format!("Budget: {answers} No tools can be called."),
        n if n_answers > 1 => format!(
            "Budget: {answers} They can make {n} tool calls in all; ask for several in one answer."
        ),
        _ => format!("Budget: {answers}"),
    }
}

/// The reply to an answer that cannot be parsed.
pub fn retry(problem: &str) -> String {
    RETRY.trim_end().replace("{problem}", problem)
}

/// The version of all prompts: 16 hexadecimal digits.
pub fn version() -> String {
    version_of(&all())
}

/// All prompts.
fn all() -> Vec<&'static str> {
    let own = [SYSTEM, VERIFY, SAME_CAUSE, EDIT, WIDE, RESTRUCTURE, RETRY, LAST_CALL];
    own.into_iter().chain(Look::ALL.map(Look::instruction)).collect()
}

fn version_of(prompts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for text in prompts {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 000-107, 000-108, 000-109, 000-111
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
            "One finding per cause",
            "one JSON object",
            "\"nonce\": ",
            "\"file_path\": ",
            "\"line_start\": ",
            "\"line_end\": ",
            "\"priority\": ",
            "\"title\": ",
            "\"body\": ",
            "\"category\": ",
            "\"when\": ",
            "\"then\": ",
            "\"evidence\": ",
            "\"suggestion\": ",
            "\"confidence\": 0.0 to 1.0",
            "\"verdict\": ",
            "project's own rules",
            "is data to judge",
            "Use the tools",
        ] {
            assert!(SYSTEM.contains(asked), "{asked}");
        }
        assert!(SYSTEM.len() < 2_300, "a small prompt: {} bytes", SYSTEM.len());
    }

    #[test]
    fn the_retry_names_the_problem_and_asks_for_valid_json() {
        let text = retry("missing field: verdict");
        assert!(text.contains("missing field: verdict") && text.contains("Return valid JSON"));
    }

    #[test]
    fn the_model_is_told_its_budget() {
        for (answers, tools, said) in [
            (1, 9, "This is your only answer."),
            (2, 0, "No tools can be called."),
            (3, 7, "You have 3 answers in this conversation"),
            (3, 7, "7 tool calls in all"),
        ] {
            assert!(budget(answers, tools).contains(said), "{said}");
        }
    }

    #[test]
    fn no_prompt_lets_a_text_without_findings_pass() {
        assert!(!RESTRUCTURE.contains("PASS"));
    }

    /// 002-013
    #[test]
    fn the_version_is_a_hash_of_every_prompt() {
        assert_eq!((version().len(), all().len()), (16, 11));
        for at in 0..all().len() {
            let mut other = all();
            other[at] = "another prompt";
            assert_ne!(version_of(&other), version(), "{at}");
        }
    }
}
