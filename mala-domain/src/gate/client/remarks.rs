//! Checks the fields of a gate's answer besides its verdict and its claims: those of other formats, and those
//! of its reviewers. A pass is rejected if one of them objects to the change, an objection if one of them has
//! a more urgent finding.

use super::votes::contradiction;
use super::{GateAccount, GateClaim, issues, unreadable};
use crate::agent::answer::fields::{cut, object};
use crate::agent::answer::{JsonObject, ParseProblem};
use crate::finding::Priority;
use crate::ports::ReviewerFailure;
use crate::verdict::Verdict;
use serde_json::Value;

/// The lists of findings in all formats.
const LISTS: [&str; 3] = ["issues", "findings", "aggregated_findings"];
/// The fields with a verdict, and those with an error, in all formats.
const VERDICTS: [&str; 3] = ["consensus_verdict", "verdict", "passed"];
const FAILURES: [&str; 4] = ["error", "fatal_error", "parse_error", "parse_errors"];

const THE_GATE: &str = "the gate";

/// The JSON of a gate or a reviewer, and the list in it that is read as claims.
pub(super) struct GateRemark<'o> {
    who: String,
    said: &'o JsonObject,
    read: Option<&'static str>,
}

impl<'o> GateRemark<'o> {
    /// The JSON of a reviewer.
    pub(super) fn of(who: &str, said: &'o JsonObject, read: Option<&'static str>) -> Self {
        Self { who: cut(who, issues::MAX_NAME), said, read }
    }
}

/// The output of a gate, and the entries of its reviewers in it.
pub(super) fn remarks<'o>(
    said: &'o JsonObject,
    read: Option<&'static str>,
) -> Result<Vec<GateRemark<'o>>, ReviewerFailure> {
    let mut all = vec![GateRemark::of(THE_GATE, said, read)];
    if let Some(reviewers) = said.get("reviewers").filter(|it| !it.is_null()) {
        for (name, entry) in object(reviewers).map_err(unreadable)? {
            all.push(GateRemark::of(name, object(entry).map_err(unreadable)?, None));
        }
    }
    Ok(all)
}

/// The parts of the change that count as reviewed. It is an error if a pass has any remark, or if a remark is
/// more urgent than all claims of an objection. Nothing counts as reviewed if a reviewer of an objection
/// failed.
pub(super) fn check_remarks(
    remarks: &[GateRemark<'_>],
    verdict: Verdict,
    claims: &[GateClaim],
    mut account: GateAccount,
) -> Result<GateAccount, ReviewerFailure> {
    let is_pass = verdict == Verdict::Pass;
    let claimed = claims.iter().map(|claim| issues::effective(claim.candidate.priority)).min();
    for remark in remarks {
        for key in LISTS.into_iter().filter(|key| remark.read != Some(*key)) {
            let Some(worst) = worst(remark.said, key)? else { continue };
            if is_pass || claimed.is_none_or(|claimed| worst < claimed) {
                let worse = if is_pass { "" } else { "worse " };
                let (verdict, who) = (verdict.name(), &remark.who);
                let words = format!("{verdict} though {who} names {worse}{key}");
                return Err(contradiction(&words));
            }
        }
        let against = |key: &&str| remark.said.get(*key).is_some_and(|it| speaks_against(key, it));
        let said = VERDICTS.into_iter().filter(|_| is_pass).chain(FAILURES).find(against);
        let Some(key) = said else { continue };
        let why = format!("{} names {key}", remark.who);
        if is_pass {
            return Err(contradiction(&format!("PASS though {why}")));
        }
        account = account.or_nothing(why);
    }
    Ok(account)
}

/// The most urgent priority in a list.
fn worst(of: &JsonObject, key: &str) -> Result<Option<Priority>, ReviewerFailure> {
    match of.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(all)) => Ok(all.iter().map(urgency).min()),
        Some(_) => Err(unreadable(ParseProblem::InvalidFormat)),
    }
}

/// The priority of a finding in any format; P2 without one.
fn urgency(issue: &Value) -> Priority {
    let said = issue.get("priority");
    let number = said.and_then(Value::as_i64).and_then(Priority::from_number);
    let word = said.and_then(Value::as_str).map(|word| word.trim().to_ascii_uppercase());
    let word = word.and_then(|word| word.trim_start_matches('P').parse().ok());
    let priority = number.or(word.and_then(Priority::from_number));
    issues::effective(issue.as_object().map_or(priority, |it| issues::raised(priority, it)))
}

fn speaks_against(key: &str, value: &Value) -> bool {
    match (key, value) {
        (_, Value::Null) => false,
        ("passed", Value::Bool(passed)) => !passed,
        ("verdict" | "consensus_verdict", Value::String(word)) => {
            !word.eq_ignore_ascii_case("PASS")
        }
        ("verdict" | "consensus_verdict" | "passed", _) => true,
        (_, Value::Bool(is_so)) => *is_so,
        (_, Value::String(words)) => !words.is_empty(),
        (_, Value::Array(all)) => !all.is_empty(),
        _ => true,
    }
}
