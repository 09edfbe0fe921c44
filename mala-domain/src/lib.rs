//! Types and decisions of a review. Every function takes values and returns values. The crate does
//! no I/O, starts no processes, and reads neither the clock nor the environment.

#![warn(missing_docs)]

pub mod agent;
pub mod change;
pub mod command;
pub mod config;
pub mod conversation;
pub mod finding;
pub mod forge;
pub mod gate;
pub mod hook;
pub mod language;
pub mod ledger;
pub mod models;
pub mod ports;
pub mod render;
pub mod report;
pub mod review;
pub mod run;
pub mod scope;
pub mod secrets;
pub mod task;
pub mod verdict;
