//! What the server is told to do with a request.

use serde_json::Value;
use std::time::Duration;

/// What to do with one request.
#[derive(Debug, Clone)]
pub enum Step {
    /// Answers.
    Answer(Answer),
    /// Fails.
    Fault(Fault),
    /// Waits before it does the next thing.
    After(Duration, Box<Step>),
}

impl Step {
    /// The same, but later.
    pub fn after(self, wait: Duration) -> Self {
        Self::After(wait, Box::new(self))
    }
}

impl From<Answer> for Step {
    fn from(answer: Answer) -> Self {
        Self::Answer(answer)
    }
}

impl From<Fault> for Step {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// A whole answer.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// The text.
    pub text: String,
    /// The tools that the model wants called.
    pub calls: Vec<Call>,
    /// Why it stops; by its content when it is not said.
    pub end: Option<End>,
    /// What it used; counted from the request and the answer when it is not said.
    pub usage: Option<Usage>,
    /// The model that answers; the one that was asked when it is not said.
    pub model: Option<String>,
}

/// A call of a tool.
#[derive(Debug, Clone)]
pub struct Call {
    /// The tool.
    pub name: String,
    /// The arguments, as text: they need not be JSON.
    pub arguments: String,
}

/// Why a model stops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// It is done.
    Done,
    /// It wants tools called.
    Tools,
    /// It has no more tokens.
    MaxTokens,
    /// It will not answer. Gemini has no word for this and says `SAFETY`.
    Refusal,
    /// A filter stopped it. Anthropic has no word for this and says `refusal`.
    Filter,
    /// A word that no client knows.
    Unknown(String),
}

/// Tokens.
#[derive(Debug, Clone, Copy)]
pub enum Usage {
    /// Nothing is said.
    Unsaid,
    /// These.
    Said {
        /// All input.
        input: u64,
        /// The part of it that came from the cache.
        cached: u64,
        /// All output.
        output: u64,
    },
}

impl Answer {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// The call of a tool.
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::default().and_call(name, arguments)
    }

    /// One more call.
    #[must_use]
    pub fn and_call(mut self, name: &str, arguments: Value) -> Self {
        self.calls.push(Call { name: name.to_owned(), arguments: arguments.to_string() });
        self
    }

    /// Stops for this reason.
    #[must_use]
    pub fn end(mut self, end: End) -> Self {
        self.end = Some(end);
        self
    }

    /// Says that it used this.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Says that this model answers.
    #[must_use]
    pub fn by(mut self, model: &str) -> Self {
        self.model = Some(model.to_owned());
        self
    }

    /// Why it stops.
    pub(super) fn ending(&self) -> End {
        match &self.end {
            Some(end) => end.clone(),
            None if self.calls.is_empty() => End::Done,
            None => End::Tools,
        }
    }
}

/// A way to fail.
#[derive(Debug, Clone)]
pub enum Fault {
    /// This status, with these headers and this body.
    Status(u16, Vec<(String, String)>, String),
    /// A good answer that ends after so many events, with the connection.
    CutAfter(usize, Answer),
    /// A good answer whose stream ends well-formed after so many events.
    EndAfter(usize, Answer),
    /// A good answer that goes silent after so many events.
    StallAfter(usize, Answer),
    /// Events that are no JSON.
    Malformed,
    /// A web page.
    Html,
    /// A stream without events.
    EmptyStream,
    /// A stream in which the provider reports an error, after so many events.
    ErrorAfter(usize, Answer),
    /// A 400 that names a parameter, as long as the request has it; then the answer.
    RefuseParameter(String, Answer),
    /// The request is too long.
    TooLong,
    /// No response at all.
    Hang,
}

impl Fault {
    /// This status in the provider's own words.
    pub fn status(status: u16) -> Self {
        Self::Status(status, Vec::new(), String::new())
    }

    /// This status with a `Retry-After`.
    pub fn retry_after(status: u16, value: &str) -> Self {
        let header = ("retry-after".to_owned(), value.to_owned());
        Self::Status(status, vec![header], String::new())
    }
}
