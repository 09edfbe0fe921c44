//! Panels of reviewers: the known lanes and how their answers are read, sessions of `review-gate`, canaries,
//! and the answers of external gates.

pub mod answer;
pub mod canary;
pub mod client;
pub mod lane;
pub mod prompt;
pub mod session;

/// The environment variable of every process of a lane: `SESSION/LANE/`. A gate does not start where it is
/// set, and processes that a lane left behind are found by it.
pub const MARKER: &str = "MALA_GATE";

/// The environment variable with which a caller chooses the key of the session, so that it can stop the
/// processes of a gate before the gate has printed the key.
pub const CALL: &str = "MALA_GATE_SESSION";

/// The environment variable with which a caller limits the time of the reviewers, in seconds.
pub const TIME: &str = "MALA_GATE_TIME";

/// The version of the JSON that `review-gate` prints and stores.
pub const SCHEMA_VERSION: u32 = 1;
