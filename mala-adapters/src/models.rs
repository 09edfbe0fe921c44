//! Language models behind HTTP. A protocol is a pure pair: an [`Ask`] becomes a JSON body, and the
//! events of the answer become a [`Reply`]. What they share (sending, waiting, trying again, limits)
//! is in `remote` and `http`.
//!
//! [`Ask`]: mala_domain::conversation::Ask
//! [`Reply`]: mala_domain::conversation::Reply

pub mod anthropic;
pub mod closing;
mod endpoint;
mod fault;
mod fields;
mod form;
pub mod gemini;
mod http;
pub mod openai_chat;
pub mod openai_responses;
mod optional;
mod protocol;
pub mod recorded;
mod remote;

pub use endpoint::{Endpoint, EndpointError, Secret, Timings};
pub use http::{Http, HttpError, Proxy};
