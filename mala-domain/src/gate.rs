//! The rules of the panel: which lanes there are and how their answers are found, what binds an answer
//! to its session, how votes become one decision, and what `review-gate` prints.

pub mod answer;
pub mod canary;
pub mod client;
pub mod lane;
pub mod prompt;
pub mod session;

/// The variable that every process of a lane carries: `SESSION/LANE/`. A gate that sees it refuses to
/// start inside of another gate, and leftovers are found by it.
pub const MARKER: &str = "MALA_GATE";

/// The variable by which a caller of a gate names the session beforehand: everything that the gate
/// starts carries it, and can be stopped though the gate has not said yet what it started.
pub const CALL: &str = "MALA_GATE_SESSION";

/// The variable by which it says how many seconds its reviewers may take: less than it waits itself.
pub const TIME: &str = "MALA_GATE_TIME";

/// The version of everything that `review-gate` prints and keeps.
pub const SCHEMA_VERSION: u32 = 1;
