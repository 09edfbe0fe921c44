//! The older shape: `consensus_verdict`, `aggregated_findings`. Its exit code 0 says that there is a
//! verdict, not that it is a pass.

use super::beside::{remarks, weigh};
use super::issues::{self, Dialect};
use super::votes::{Poll, disagreement};
use super::{PanelWord, Started, unreadable};
use crate::agent::answer::Object;
use crate::agent::answer::fields::text;
use crate::ports::ReviewerFailure;

const DIALECT: Dialect = Dialect {
    file: "file_path",
    lines_may_be_null: true,
    of_reviewers: &["verdict", "summary", "findings"],
    failed: &["ERROR", "PENDING"],
};
const CLAIMS: &str = "aggregated_findings";

pub(super) fn is_it(object: &Object) -> bool {
    object.contains_key("consensus_verdict") || object.contains_key(CLAIMS)
}

pub(super) fn read(
    object: &Object,
    code: i32,
    started: &Started,
) -> Result<PanelWord, ReviewerFailure> {
    let status = text(object, "status").map_err(unreadable)?;
    if (code, status) != (0, "complete") {
        return Err(disagreement(code, status));
    }
    let word = text(object, "consensus_verdict").map_err(unreadable)?;
    let verdict = issues::verdict(word).map_err(unreadable)?;
    let claims = issues::claims(object, CLAIMS, &DIALECT, None)?;
    let votes = issues::votes(object, &DIALECT)?;
    let warnings = issues::parse_errors(object)?;
    let poll = Poll { verdict, claims: &claims, votes: &votes, parse_errors: &warnings };
    let account = poll.account(started)?;
    let account = weigh(&remarks(object, Some(CLAIMS))?, verdict, &claims, account)?;
    let voices = votes.into_iter().map(|(voice, _)| voice).collect();
    let log = issues::log(object)?;
    Ok(PanelWord { claims, voices, account, log, warnings, ..PanelWord::whole(verdict) })
}
