//! The tools of the agent. They only read, and only the reviewed tree and the history that leads to
//! it. Calls of a model are untrusted: every argument is checked, and never becomes an option or
//! pattern of git, or a command. Every answer has a size limit and says what it leaves out.

mod arguments;
mod catalogue;
mod diff;
mod files;
mod history;
mod lint;
mod page;
mod reading;
mod search;
mod symbols;

#[cfg(test)]
mod tests;

pub use catalogue::catalogue;
pub use reading::{LinesRead, ShownImports};

use arguments::Arguments;
use catalogue::ToolName;
use mala_domain::conversation::{ToolCall, ToolResult};
use mala_domain::ports::Linters;
use mala_domain::review::ReviewContext;
use mala_domain::secrets;
use page::cut_at;
use reading::ReadingLog;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How much tools may show. A budget profile sets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolLimits {
    /// Files outside the change that may be read; any number when `None`.
    pub max_extra_files: Option<usize>,
    /// Maximum number of lines of each extra file, over all calls; `None` for no limit.
    pub max_lines_per_extra_file: Option<u32>,
    /// Lines of one answer.
    pub max_lines: usize,
    /// Bytes of one answer.
    pub max_bytes: usize,
    /// Time limit of one call.
    pub timeout: Duration,
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self {
            max_extra_files: None,
            max_lines_per_extra_file: None,
            max_lines: 600,
            max_bytes: 40 * 1024,
            timeout: Duration::from_secs(20),
        }
    }
}

/// The tools over one reviewed change. Calls may be made side by side.
pub struct Toolbox {
    request: ReviewContext,
    linters: Option<Arc<dyn Linters>>,
    limits: ToolLimits,
    reading: ReadingLog,
}

/// The output of a tool, or the refusal.
type ToolAnswer = Result<String, ToolRefusal>;

impl Toolbox {
    /// The tools over the change of a request.
    pub fn new(request: ReviewContext, limits: ToolLimits) -> Self {
        let reading = ReadingLog::of(&request.change, limits);
        Self { request, linters: None, limits, reading }
    }

    /// With the project's linters.
    #[must_use]
    pub fn with_linters(mut self, linters: Arc<dyn Linters>) -> Self {
        self.linters = Some(linters);
        self
    }

    /// Answers a call of a conversation. Errors are part of the answer.
    pub async fn call(&self, call: &ToolCall, imports: &ShownImports) -> ToolResult {
        let answer = self.answer(call, imports);
        let answer = match tokio::time::timeout(self.limits.timeout, answer).await {
            Ok(answer) => answer,
            Err(_) => Err(self.too_slow()),
        };
        let (text, is_error) = match answer {
            Ok(text) => (text, false),
            Err(refusal) => (refusal.to_string(), true),
        };
        // Redact before cutting: a cut secret is not recognized.
        let text = cut_at(&secrets::redact(&text), self.limits.max_bytes).to_owned();
        ToolResult { call: call.clone(), text, is_error }
    }

    /// The lines that were shown so far.
    pub fn lines_read(&self) -> LinesRead {
        self.reading.lines_read()
    }

    async fn answer(&self, call: &ToolCall, imports: &ShownImports) -> ToolAnswer {
        let tool = catalogue::find(&call.name)?;
        let arguments = Arguments::parse(&call.arguments, tool)?;
        match tool.name {
            ToolName::GitDiff => self.git_diff(&arguments),
            ToolName::GitShow => self.git_show(&arguments).await,
            ToolName::GitLog => self.git_log(&arguments).await,
            ToolName::GitBlame => self.git_blame(&arguments).await,
            ToolName::ReadFile => self.read_file(&arguments).await,
            ToolName::ListFiles => self.list_files(&arguments).await,
            ToolName::SearchCode => self.search_code(&arguments).await,
            ToolName::GetFunctionContext => self.get_function_context(&arguments, imports).await,
            ToolName::FindReferences => self.find_references(&arguments).await,
            ToolName::RunLinter => self.run_linter(&arguments).await,
        }
    }

    fn too_slow(&self) -> ToolRefusal {
        let seconds = self.limits.timeout.as_secs_f32();
        ToolRefusal::new(
            format!("no answer within {seconds} s"),
            "ask for less: a narrower path, a longer text, fewer lines",
        )
    }
}

/// Runs blocking work on another thread.
async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ToolRefusal> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        ToolRefusal::new(format!("the tool stopped: {error}"), "go on without it, or ask for less")
    })
}

/// An error of a call, and how to correct it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolRefusal {
    what: String,
    instead: String,
}

impl ToolRefusal {
    pub(super) fn new(what: impl Into<String>, instead: impl Into<String>) -> Self {
        Self { what: what.into(), instead: instead.into() }
    }

    /// The tree or its history cannot be read; another call cannot fix that.
    pub(super) fn broken(error: &dyn fmt::Display) -> Self {
        Self::new(format!("the repository cannot be read: {error}"), "go on without it")
    }
}

impl fmt::Display for ToolRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}\ninstead: {}", self.what, self.instead)
    }
}

/// Text of a model, shortened and on one line.
pub(super) fn quoted(written: &str) -> String {
    const MAX_CHARS: usize = 80;
    let mut short: String = written.chars().take(MAX_CHARS).collect();
    if short.len() < written.len() {
        short.push('…');
    }
    format!("{short:?}")
}
