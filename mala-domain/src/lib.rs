//! The values and rules of review. Everything here takes values and returns values: no files, no
//! clock, no environment, no processes, no network, no randomness.

#![warn(missing_docs)]

pub mod agent;
pub mod change;
pub mod command;
pub mod config;
pub mod conversation;
pub mod eval;
pub mod finding;
pub mod gate;
pub mod language;
pub mod ledger;
pub mod models;
pub mod ports;
pub mod render;
pub mod report;
pub mod review;
pub mod review_id;
pub mod scope;
pub mod secrets;
pub mod verdict;
