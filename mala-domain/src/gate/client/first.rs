//! The older shape: `consensus_verdict`, `aggregated_findings`. Its exit code 0 says that there is a
//! verdict, not that it is a pass.

use super::issues::{self, Dialect};
use super::{PanelWord, agrees, disagreement, unanimous, unreadable};
use crate::agent::answer::fields::text;
use crate::agent::answer::{Object, ParseProblem};
use crate::ports::ReviewerFailure;
use crate::verdict::Verdict;

const DIALECT: Dialect = Dialect { file: "file_path", lines_may_be_null: true };

pub(super) fn is_it(object: &Object) -> bool {
    object.contains_key("consensus_verdict") || object.contains_key("aggregated_findings")
}

pub(super) fn read(object: &Object, code: i32) -> Result<PanelWord, ReviewerFailure> {
    let status = text(object, "status").map_err(unreadable)?;
    if (code, status) != (0, "complete") {
        return Err(disagreement(code, status));
    }
    let word = text(object, "consensus_verdict").map_err(unreadable)?;
    let verdict = issues::verdict(word).map_err(unreadable)?;
    let claims = issues::claims(object, "aggregated_findings", &DIALECT, None)?;
    agrees(verdict, &claims)?;
    let voices = issues::voices(object)?;
    let parse_errors = issues::parse_errors(object)?;
    if verdict == Verdict::Pass {
        unanimous(&voices)?;
        issues::nobody_objects(object)?;
        if let Some(error) = parse_errors.first() {
            let words = format!("PASS though {error}");
            return Err(unreadable(ParseProblem::InvalidVerdict(words)));
        }
    }
    let voices = voices.into_iter().map(|(voice, _)| voice).collect();
    let (log, warnings) = (issues::log(object)?, parse_errors);
    Ok(PanelWord { claims, voices, log, warnings, ..PanelWord::whole(verdict) })
}
