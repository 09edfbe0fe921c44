//! Language models behind HTTP. A protocol is pure: it turns an [`ChatRequest`] into a JSON body and the
//! events of the response into a [`ChatReply`]. Sending, retries and limits are shared, in
//! `http_model` and `http`. A provider is one file.
//!
//! [`ChatRequest`]: mala_domain::conversation::ChatRequest
//! [`ChatReply`]: mala_domain::conversation::ChatReply

pub mod anthropic;
pub mod call_tracker;
mod endpoint;
mod error;
pub mod gemini;
mod http;
mod http_model;
pub mod openai_chat;
pub mod openai_responses;
mod optional_parts;
mod output_schema;
mod protocol;
pub mod recording;

pub use endpoint::{Endpoint, EndpointError, RequestLimits, Secret};
pub(crate) use http::retry_after;
pub use http::{HttpClient, HttpError, ProxySettings};
