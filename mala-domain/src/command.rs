//! The reviewer `command`: a program of the user that gets a prompt and answers in prose. A parser
//! structures the answer and decides nothing. A pass needs an explicit result and a proof, so that an
//! answer that only repeats the prompt never passes.

mod opinion;
mod prompt;
mod proof;
mod structured_review;
#[cfg(test)]
mod tests;

pub use opinion::{TaskAnswer, TaskIssue, command_opinion, task_opinion};
pub use prompt::{
    CommandPrompt, PARSE, TASK, TaskPrompt, parse_prompt, review_prompt, task_prompt, version,
};
pub use proof::{ProofProblem, ProofToken, ReviewProof, read_proof, without_echo};
pub use structured_review::{ReviewIssue, StructuredReview, answer_format, read_structured_review};

/// The name in reports.
pub const NAME: &str = "command";

/// The result that a review states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewResult {
    /// There is no problem.
    Approved,
    /// There is one.
    NeedsRevision,
    /// A person must decide.
    Rejected,
}

impl ReviewResult {
    /// The name in prompts and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Approved => "APPROVED",
            Self::NeedsRevision => "NEEDS_REVISION",
            Self::Rejected => "REJECTED",
        }
    }

    /// Parses a result, ignoring case.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Approved, Self::NeedsRevision, Self::Rejected]
            .into_iter()
            .find(|result| result.name().eq_ignore_ascii_case(word))
    }
}
