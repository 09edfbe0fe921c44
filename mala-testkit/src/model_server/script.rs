//! The script of the server: what to do with a request.

use serde_json::Value;
use std::time::Duration;

/// What to do with one request.
#[derive(Debug, Clone)]
pub enum ServerStep {
    /// Answers.
    Answer(ModelAnswer),
    /// Fails.
    Fault(ServerFault),
    /// Waits before the next step.
    After(Duration, Box<ServerStep>),
}

impl ServerStep {
    /// The same step after a wait.
    pub fn after(self, wait: Duration) -> Self {
        Self::After(wait, Box::new(self))
    }
}

impl From<ModelAnswer> for ServerStep {
    fn from(answer: ModelAnswer) -> Self {
        Self::Answer(answer)
    }
}

impl From<ServerFault> for ServerStep {
    fn from(fault: ServerFault) -> Self {
        Self::Fault(fault)
    }
}

/// An answer of the model.
#[derive(Debug, Clone, Default)]
pub struct ModelAnswer {
    /// The text.
    pub text: String,
    /// The tools to call.
    pub calls: Vec<AnswerCall>,
    /// Why it stops. By default, it depends on the calls.
    pub end: Option<AnswerEnd>,
    /// Its usage. By default, it is counted from the request and the answer.
    pub usage: Option<AnswerUsage>,
    /// The model that answers. By default, the requested one.
    pub model: Option<String>,
}

/// A tool call.
#[derive(Debug, Clone)]
pub struct AnswerCall {
    /// The tool.
    pub name: String,
    /// The arguments as text, which need not be JSON.
    pub arguments: String,
}

/// Why a model stops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerEnd {
    /// It is done.
    Done,
    /// It waits for tools.
    Tools,
    /// It reached the token limit.
    MaxTokens,
    /// It refuses. Gemini reports `SAFETY` instead.
    Refusal,
    /// A filter stopped it. Anthropic reports `refusal` instead.
    Filter,
    /// An unknown reason.
    Unknown(String),
}

/// The reported usage.
#[derive(Debug, Clone, Copy)]
pub enum AnswerUsage {
    /// None.
    Unsaid,
    /// These token counts.
    Said {
        /// All input.
        input: u64,
        /// The cached part of it.
        cached: u64,
        /// All output.
        output: u64,
    },
}

impl ModelAnswer {
    /// A text answer.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// An answer with one tool call.
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::default().and_call(name, arguments)
    }

    /// Adds a tool call.
    #[must_use]
    pub fn and_call(mut self, name: &str, arguments: Value) -> Self {
        self.calls.push(AnswerCall { name: name.to_owned(), arguments: arguments.to_string() });
        self
    }

    /// Sets the stop reason.
    #[must_use]
    pub fn end(mut self, end: AnswerEnd) -> Self {
        self.end = Some(end);
        self
    }

    /// Sets the usage.
    #[must_use]
    pub fn usage(mut self, usage: AnswerUsage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sets the model that answers.
    #[must_use]
    pub fn by(mut self, model: &str) -> Self {
        self.model = Some(model.to_owned());
        self
    }

    /// Why it stops.
    pub(super) fn ending(&self) -> AnswerEnd {
        match &self.end {
            Some(end) => end.clone(),
            None if self.calls.is_empty() => AnswerEnd::Done,
            None => AnswerEnd::Tools,
        }
    }
}

/// A way to fail.
#[derive(Debug, Clone)]
pub enum ServerFault {
    /// This status, with these headers and this body.
    Status(u16, Vec<(String, String)>, String),
    /// An answer whose connection ends after this many events.
    CutAfter(usize, ModelAnswer),
    /// An answer whose stream ends properly after this many events.
    EndAfter(usize, ModelAnswer),
    /// An answer that stalls after this many events.
    StallAfter(usize, ModelAnswer),
    /// Events that are not JSON.
    Malformed,
    /// A web page.
    Html,
    /// A stream without events.
    EmptyStream,
    /// A stream with an error of the provider after this many events.
    ErrorAfter(usize, ModelAnswer),
    /// A 400 that names a parameter while the request has it, then the answer.
    RefuseParameter(String, ModelAnswer),
    /// The request is too long.
    TooLong,
    /// No response at all.
    Hang,
}

impl ServerFault {
    /// This status with the provider's error body.
    pub fn status(status: u16) -> Self {
        Self::Status(status, Vec::new(), String::new())
    }

    /// This status with a `Retry-After`.
    pub fn retry_after(status: u16, value: &str) -> Self {
        let header = ("retry-after".to_owned(), value.to_owned());
        Self::Status(status, vec![header], String::new())
    }
}
