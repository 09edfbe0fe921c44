//! The effective settings of `mala task`.

use super::{ConfigLayer, ConfigValue, PolicyEntry, entry, first, seconds};
use crate::config::schema::{NotificationChannel, ReviewerType, Seconds, TaskCommand, TaskTrigger};

policy! {
    /// The effective settings of `mala task`.
    pub fn task_policy -> TaskPolicy {
        /// Whether tasks are reviewed.
        enabled: bool = tasks.review.enabled, or true;
        /// What reviews them.
        command: TaskCommand = tasks.review.command, or TaskCommand::slash("/review-task");
        /// The reviewer of mala that reviews them instead.
        reviewer: Option<ReviewerType> = tasks.review.reviewer;
        /// What parses the answer of the command.
        parser: TaskCommand = tasks.review.parser, or TaskCommand::slash("/parse-review");
        /// Whose slash commands are run; `None` for the coder of `mala run`.
        agent: Option<String> = tasks.review.agent;
        /// The model for the command.
        model: Option<String> = tasks.review.model;
        /// The attempt whose objection blocks a task.
        max_revisions: u32 = tasks.review.max_revisions, or 3;
        /// What starts a review.
        trigger: TaskTrigger = tasks.review.trigger, or TaskTrigger::ScriptCompletion;
        /// Whether the reviewer is given the task definition.
        include_task_definition: bool = tasks.review.context.include_task_definition, or true;
        /// Whether it is given the diff.
        include_git_diff: bool = tasks.review.context.include_git_diff, or true;
        /// Whether it is given the test results.
        include_test_results: bool = tasks.review.context.include_test_results, or true;
        /// Whether it is given the lint results.
        include_lint_results: bool = tasks.review.context.include_lint_results, or false;
        /// Whether it is given the log of the session.
        include_session_log: bool = tasks.review.context.include_session_log, or false;
        /// The command with the tests.
        tests: Option<String> = tasks.tests;
        /// The command with the linter.
        lint: Option<String> = tasks.lint;
        /// Time limit of both.
        timeout: Seconds = tasks.timeout, or seconds(600);
        /// How the user is notified.
        notify: Vec<NotificationChannel> = tasks.notify, or Vec::new();
    }
    with {}
}

impl TaskPolicy {
    /// All keys.
    pub fn entries(&self) -> Vec<PolicyEntry<'_>> {
        self.own_entries()
    }
}
