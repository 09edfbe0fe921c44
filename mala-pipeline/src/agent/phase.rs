//! The state that all conversations of one review share: the account, the tools, and the list of
//! skipped work.

use super::AgentSettings;
use super::account::{Account, TimeLimit};
use super::tools::{ShownImports, ToolLimits, Toolbox, catalogue};
use crate::events::ReviewEvent;
use mala_domain::agent::NAME;
use mala_domain::agent::brief::UnshownHunks;
use mala_domain::agent::fence::Fence;
use mala_domain::change::FilePath;
use mala_domain::conversation::{ToolCall, ToolDefinition, ToolResult};
use mala_domain::review::{ReviewContext, Usage};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::time::timeout_at;

/// The resources of an agent for one review: draft, verification and escalation share one account.
pub(super) struct AgentResources {
    pub(super) account: Account,
    toolbox: Toolbox,
    tools: Vec<ToolDefinition>,
}

impl AgentResources {
    pub(super) fn new(settings: &AgentSettings, context: &ReviewContext) -> Self {
        let limits = &settings.limits;
        let tool_limits = ToolLimits {
            max_extra_files: usize::try_from(limits.max_extra_files).ok(),
            max_lines_per_extra_file: Some(limits.max_extra_lines),
            ..ToolLimits::default()
        };
        let toolbox = Toolbox::new(context.clone(), tool_limits);
        let toolbox = match &settings.linters {
            Some(linters) => toolbox.with_linters(linters.clone()),
            None => toolbox,
        };
        let account = Account::new(
            *limits,
            TimeLimit::start(limits, context.timeout),
            settings.events.clone(),
            settings.transcript.clone(),
        );
        Self { account, toolbox, tools: catalogue() }
    }
}

/// One phase of a review: its fence, and the work that was skipped.
pub(super) struct AgentPhase<'r> {
    pub(super) settings: &'r AgentSettings,
    pub(super) context: &'r ReviewContext,
    pub(super) fence: &'r Fence,
    pub(super) account: &'r Account,
    resources: &'r AgentResources,
    /// The usage before this phase.
    before: Usage,
    /// Skipped work.
    undone: Mutex<UndoneWork>,
}

/// Work that was skipped because of limits or failures.
#[derive(Default)]
struct UndoneWork {
    warnings: Vec<String>,
    /// Problems that a retry solved.
    noted: Vec<String>,
    /// Tool calls that were refused, by the reason.
    refused: BTreeMap<String, usize>,
    /// Tools that failed: how often, and the first reason.
    failed: BTreeMap<String, (usize, String)>,
}

impl<'r> AgentPhase<'r> {
    pub(super) fn new(
        settings: &'r AgentSettings,
        context: &'r ReviewContext,
        fence: &'r Fence,
        resources: &'r AgentResources,
    ) -> Self {
        let account = &resources.account;
        let before = account.usage();
        Self { settings, context, fence, account, resources, before, undone: Mutex::default() }
    }

    /// The usage of this phase.
    pub(super) fn used(&self) -> Usage {
        self.account.usage().since(&self.before)
    }

    /// Records skipped work, for the report.
    pub(super) fn leave_undone(&self, what: &str) {
        let warning = format!("{NAME}: {what}");
        self.warn(&warning);
        self.undone().warnings.push(warning);
    }

    /// Records a problem that was recovered from, for the report.
    pub(super) fn note(&self, what: &str) {
        let warning = format!("{NAME}: {what}");
        self.warn(&warning);
        self.undone().noted.push(warning);
    }

    /// Problems that did not stop the review: those that a retry solved, and tools that failed.
    pub(super) fn noted(&self) -> Vec<String> {
        let undone = self.undone();
        let failed = undone.failed.iter().map(|(tool, (n, why))| match n {
            1 => format!("{NAME}: {tool} failed: {why}"),
            n => format!("{NAME}: {tool} failed {n} times: {why}"),
        });
        undone.noted.iter().cloned().chain(failed).collect()
    }

    /// The skipped work.
    pub(super) fn left_undone(&self) -> Vec<String> {
        let undone = self.undone();
        let refused = undone.refused.iter().map(|(why, n)| {
            let calls = if *n == 1 { "tool call" } else { "tool calls" };
            format!("{NAME}: {n} {calls} refused: {why}")
        });
        let late = self.account.reached_time_limit();
        let late = late.map(|limit| format!("{NAME}: ended by {limit}"));
        undone.warnings.iter().cloned().chain(refused).chain(late).collect()
    }

    fn undone(&self) -> MutexGuard<'_, UndoneWork> {
        self.undone.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn tools(&self) -> &[ToolDefinition] {
        &self.resources.tools
    }

    /// The hunks that no prompt shows and that tools have shown.
    pub(super) fn hunks_read(&self, left_out: &[UnshownHunks]) -> Vec<(FilePath, Vec<usize>)> {
        let read = self.resources.toolbox.lines_read();
        let files = left_out.iter().filter_map(|left| {
            let file = self.context.change.files.iter().find(|file| file.path == left.file)?;
            let lines = read.lines.get(&left.file).map(Vec::as_slice).unwrap_or_default();
            let whole = read.hunks.get(&left.file);
            let is_read = |hunk: &usize| {
                whole.is_some_and(|whole| whole.contains(hunk))
                    || file.hunks.get(*hunk).is_some_and(|it| it.is_added_within(lines))
            };
            let hunks: Vec<usize> = left.hunks.iter().copied().filter(is_read).collect();
            (!hunks.is_empty()).then(|| (left.file.clone(), hunks))
        });
        files.collect()
    }

    /// Reports a problem that did not end the review.
    pub(super) fn warn(&self, warning: &str) {
        tracing::warn!(reviewer = NAME, warning, "on_review_warning");
        let (reviewer, warning) = (NAME.to_owned(), warning.to_owned());
        self.account.emit(ReviewEvent::ReviewWarning { reviewer, warning });
    }

    /// Counts a failed call. `text` is the message to the model.
    fn note_failed_tool(&self, tool: &str, text: &str) {
        let first_line = text.lines().next().unwrap_or_default();
        let why = first_line.strip_prefix("error: ").unwrap_or(first_line);
        let mut undone = self.undone();
        let failed = undone.failed.entry(tool.to_owned()).or_insert((0, why.to_owned()));
        failed.0 += 1;
    }

    /// Calls a tool within the budget. What it shows is data, behind a fence.
    pub(super) async fn call(&self, call: &ToolCall, imports: &ShownImports) -> ToolResult {
        let refusal = |text: String| {
            *self.undone().refused.entry(text.clone()).or_default() += 1;
            ToolResult { call: call.clone(), text, is_error: true }
        };
        // The name comes from the model, so it is only used if it is known.
        let known = self.tools().iter().find(|tool| tool.name == call.name);
        let name = known.map_or("unknown tool", |tool| tool.name.as_str());
        if let Err(spent) = self.account.reserve_tool(name) {
            return refusal(spent.to_string());
        }
        let answer = self.resources.toolbox.call(call, imports);
        match timeout_at(self.account.deadline(), answer).await {
            Ok(mut result) => {
                if result.is_error {
                    self.note_failed_tool(name, &result.text);
                }
                result.text = self.fence.wrap(&format!("result of {}", call.name), &result.text);
                result
            }
            Err(_) => refusal("no time is left".to_owned()),
        }
    }
}
