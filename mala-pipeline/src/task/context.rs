//! Gathers the context of a task: its definition, and the output of its tests, linter and session.
//! A part that fails is marked as failed and does not stop the review.

use mala_domain::config::TaskPolicy;
use mala_domain::ports::{BoxFuture, CommandRun};
use mala_domain::task::TaskRecord;
use mala_domain::task::context::{
    TaskContext, command_output, failed_tests, session_log, task_definition,
};
use std::time::Duration;

/// Runs commands of the project in the work tree.
pub trait TaskCommands: Send + Sync {
    /// Runs a shell command within this time. The error says why it cannot be run.
    fn run<'a>(
        &'a self,
        command: &'a str,
        limit: Duration,
    ) -> BoxFuture<'a, Result<CommandRun, String>>;
}

/// The sources of a context.
pub struct ContextRequest<'r> {
    /// The task.
    pub task: &'r TaskRecord,
    /// The settings.
    pub policy: &'r TaskPolicy,
    /// Runs the commands.
    pub commands: &'r dyn TaskCommands,
    /// The log of the coding session; the error says why it cannot be read.
    pub session_log: Option<Result<String, String>>,
}

/// Gathers the parts that the settings include.
pub async fn gather_context(request: ContextRequest<'_>) -> TaskContext {
    let ContextRequest { task, policy, commands, session_log: log } = request;
    let limit = policy.timeout.value.duration();
    let run = async |is_included: bool, command: Option<&String>| {
        let command = command.filter(|_| is_included)?;
        Some(commands.run(command, limit).await)
    };
    let tests = run(policy.include_test_results.value, policy.tests.value.as_ref()).await;
    let lint = run(policy.include_lint_results.value, policy.lint.value.as_ref()).await;
    let log = log.filter(|_| policy.include_session_log.value).map(|log| match log {
        Ok(log) => session_log(&log),
        Err(why) => format!("[failed: {why}]"),
    });
    TaskContext {
        task_id: task.id.to_string(),
        task_definition: policy.include_task_definition.value.then(|| task_definition(task)),
        include_git_diff: policy.include_git_diff.value,
        test_results: tests.as_ref().map(|run| command_output(run, limit)),
        failed_tests: tests.as_ref().and_then(|run| failed_tests(run, limit)),
        lint_results: lint.as_ref().map(|run| command_output(run, limit)),
        session_log: log,
    }
}
