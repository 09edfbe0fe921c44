//! The format with `consensus_verdict` and `aggregated_findings`. Its exit code 0 means that there is a
//! verdict, which may be an objection.

use super::issues::{self, GateDialect};
use super::votes::{disagreement, panel_word};
use super::{PanelAnswer, StartedSession, unreadable};
use crate::agent::answer::JsonObject;
use crate::agent::answer::fields::text;
use crate::ports::ReviewerFailure;

const DIALECT: GateDialect = GateDialect {
    file: "file_path",
    lines_may_be_null: true,
    of_reviewers: &["verdict", "summary", "findings"],
    failed: &["ERROR", "PENDING"],
    claims: "aggregated_findings",
};

pub(super) fn is_this_format(object: &JsonObject) -> bool {
    object.contains_key("consensus_verdict") || object.contains_key(DIALECT.claims)
}

pub(super) fn read(
    object: &JsonObject,
    code: i32,
    started: &StartedSession,
) -> Result<PanelAnswer, ReviewerFailure> {
    let status = text(object, "status").map_err(unreadable)?;
    if (code, status) != (0, "complete") {
        return Err(disagreement(code, status));
    }
    let word = text(object, "consensus_verdict").map_err(unreadable)?;
    let verdict = issues::verdict(word).map_err(unreadable)?;
    panel_word(object, verdict, &DIALECT, started)
}
