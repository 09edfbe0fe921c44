//! Asks a command one question.

use mala_domain::gate::lane::{Lane, LaneFailureKind};
use mala_domain::ports::{LaneOrder, LaneRunner, ReviewerFailure};
use serde_json::Value;
use std::time::Duration;

/// A question to a command.
pub(super) struct CommandQuestion<'q> {
    pub(super) name: &'q str,
    pub(super) prompt: &'q str,
    /// Whether a text is a complete answer.
    pub(super) is_answer: &'q (dyn Fn(&str) -> bool + Send + Sync),
}

/// The answer of a command: a complete one, or its whole output if it succeeded.
pub(super) async fn ask_command(
    runner: &dyn LaneRunner,
    lane: &Lane,
    question: CommandQuestion<'_>,
    wall: Duration,
) -> Result<String, ReviewerFailure> {
    let order = LaneOrder {
        lane,
        question: question.name,
        prompt: question.prompt,
        schema: &Value::Null,
        reasoning: "high",
        wall,
        is_answer: question.is_answer,
        weighs: &|_| false,
        started: &|| {},
    };
    let run = runner.run(order).await;
    let program = lane.program();
    if !run.wrote.is_empty() {
        let files = run.wrote.join(", ");
        let why = format!("{program}: it wrote to the tree that it reviews: {files}");
        return Err(ReviewerFailure::Crashed(why));
    }
    match (run.answer, run.failure) {
        (Some(answer), None) => Ok(answer),
        // The command succeeded; problems of the answer are reported by its parser.
        (Some(answer), Some(failure)) if failure.why.is_empty() => Ok(answer),
        (_, Some(failure)) => Err(match failure.kind {
            LaneFailureKind::Unavailable => ReviewerFailure::Unavailable(failure.why),
            LaneFailureKind::TimedOut => ReviewerFailure::timeout(),
            LaneFailureKind::Unusable => {
                ReviewerFailure::Crashed(format!("{program}: {}", failure.why))
            }
        }),
        (None, None) => Err(ReviewerFailure::Unreadable(format!("{program}: no answer"))),
    }
}
