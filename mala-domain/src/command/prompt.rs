//! The prompts for the command and its parser.

use super::proof::ProofToken;
use crate::agent::brief::PromptBriefs;
use crate::agent::fence::Fence;
use crate::change::Change;
use crate::gate::prompt::regions;
use crate::task::context::TaskContext;
use sha2::{Digest, Sha256};
use std::fmt::Write;

const REVIEW: &str = concat!(include_str!("prompts/review.md"), include_str!("prompts/proof.md"));
/// The default instructions for the review of a task.
pub const TASK: &str = include_str!("prompts/task.md");
const PROOF: &str = include_str!("prompts/proof.md");
/// The system prompt of the parser.
pub const PARSE: &str = include_str!("prompts/parse.md");

/// The parts of the prompt for a command.
pub struct CommandPrompt<'t> {
    /// The change.
    pub change: &'t Change,
    /// The change as shown in the prompt; `None` if it is not shown.
    pub briefs: Option<&'t PromptBriefs>,
    /// Texts about the task: name and content.
    pub tasks: &'t [(String, String)],
    /// The fence around text from outside.
    pub fence: &'t Fence,
    /// The token that the answer must return.
    pub token: &'t ProofToken,
}

/// The prompt of a review: how to answer, the task, the change.
pub fn review_prompt(prompt: &CommandPrompt<'_>) -> String {
    let mut sections = vec![REVIEW.trim_end().to_owned()];
    for (name, text) in prompt.tasks {
        sections.push(format!("# Task\n{}", prompt.fence.wrap(name, text).trim_end()));
    }
    if let Some(briefs) = prompt.briefs {
        let told = briefs.full_text();
        sections.push(format!("## Git Diff\n{}", told.trim_end()));
        let left_out: Vec<String> = briefs.left_out.iter().map(|it| it.file.to_string()).collect();
        if !left_out.is_empty() {
            let files = prompt.fence.wrap("files", &left_out.join("\n"));
            sections.push(format!(
                "Not shown in full; look at them in the tree:\n{}",
                files.trim_end()
            ));
        }
    }
    sections.push(proof_request(prompt.change, prompt.fence, prompt.token));
    sections.join("\n\n")
}

/// The parts of the prompt for a command that reviews a task.
pub struct TaskPrompt<'t> {
    /// The change.
    pub change: &'t Change,
    /// The context of the task.
    pub context: &'t TaskContext,
    /// The text of the user's slash command; `None` for mala's default instructions.
    pub instructions: Option<&'t str>,
    /// The fence around text from outside.
    pub fence: &'t Fence,
    /// The token that the answer must return.
    pub token: &'t ProofToken,
}

/// The prompt of a task review: how to answer, then the sections of its context, each in a fence.
pub fn task_prompt(prompt: &TaskPrompt<'_>) -> String {
    let head = prompt.instructions.unwrap_or(TASK).trim_end();
    let mut sections = vec![
        head.to_owned(),
        PROOF.trim_end().to_owned(),
        format!("The task under review is {}.", prompt.fence.label(&prompt.context.task_id)),
    ];
    for (name, text) in prompt.context.sections(&prompt.change.to_string()) {
        sections.push(prompt.fence.wrap(name, &format!("\n{text}\n")).trim_end().to_owned());
    }
    sections.push(proof_request(prompt.change, prompt.fence, prompt.token));
    sections.join("\n\n")
}

/// The regions that an answer must list as reviewed, and the parts of its proof.
fn proof_request(change: &Change, fence: &Fence, token: &ProofToken) -> String {
    let account = fence.wrap("changed regions to account for, by number", &regions(change));
    let (first, second) = token.halves();
    let mut last = String::new();
    // Writing to a string cannot fail.
    writeln!(last, "{account}\nThe commit under review is {}", token.head()).unwrap_or_default();
    write!(last, "First half: {first}\nSecond half: {second}\n").unwrap_or_default();
    last
}

/// The prompt for a parser that is a command: its instructions, and the review in a fence.
pub fn parse_prompt(review: &str, fence: &Fence) -> String {
    let review = fence.wrap("review", review);
    format!("{PARSE}\n{review}\nYour `nonce`: {}\n", fence.nonce().as_str())
}

/// The version of these prompts: 16 hexadecimal digits.
pub fn version() -> String {
    let mut hash = Sha256::new();
    for text in [REVIEW, PARSE, TASK] {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
