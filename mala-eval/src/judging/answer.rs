//! Parses a judge's answer. A pair without a clear answer is undecided.

use super::PairOutcome;
use mala_domain::agent::answer::{ParseProblem, RawAnswer, find_object};
use mala_domain::conversation::AnswerFormat;
use mala_domain::render::at_most;
use serde_json::{Value, json};

/// The outcome of a pair, and the reason.
type PairAnswer = (PairOutcome, String);

/// The form of the answer.
pub fn form() -> AnswerFormat {
    let pair = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "outcome": {"type": "string", "enum": ["same", "different", "unsure"]},
            "why": {"type": "string"},
        },
        "required": ["id", "outcome", "why"],
        "additionalProperties": false,
    });
    let schema = json!({
        "type": "object",
        "properties": {
            "nonce": {"type": "string"},
            "pairs": {"type": "array", "items": pair},
        },
        "required": ["nonce", "pairs"],
        "additionalProperties": false,
    });
    AnswerFormat::Json { name: "pairs".to_owned(), schema }
}

/// Parses the answer about `n_pairs` pairs, in their order.
pub fn read_pairs(words: &RawAnswer<'_>, n_pairs: usize) -> Result<Vec<PairAnswer>, ParseProblem> {
    let (found, _) = find_object(words, &["pairs"])?;
    let nothing = "no answer of the judge";
    let mut said: Vec<Option<PairAnswer>> = vec![None; n_pairs];
    let pairs = found.get("pairs").and_then(Value::as_array).ok_or(ParseProblem::InvalidFormat)?;
    for value in pairs.iter().take(4 * n_pairs) {
        let Some((at, one)) = read_pair(value) else { continue };
        let Some(slot) = said.get_mut(at) else { continue };
        *slot = Some(match slot.take() {
            Some(other) if other.0 != one.0 => undecided("the judge contradicts itself"),
            _ => one,
        });
    }
    Ok(said.into_iter().map(|one| one.unwrap_or_else(|| undecided(nothing))).collect())
}

/// One pair by its index. A hit needs a reason.
fn read_pair(value: &Value) -> Option<(usize, PairAnswer)> {
    let number: usize = value.get("id")?.as_str()?.strip_prefix('p')?.parse().ok()?;
    let why = value.get("why").filter(|why| !why.is_null()).map_or(Some(""), Value::as_str)?;
    let why = at_most(why.trim(), 400).into_owned();
    let said = match value.get("outcome")?.as_str()? {
        "same" if why.is_empty() => undecided("the judge gave no reason"),
        "same" => (PairOutcome::Same, why),
        "different" => (PairOutcome::Different, why),
        _ => (PairOutcome::Undecided, why),
    };
    Some((number.checked_sub(1)?, said))
}

fn undecided(why: &str) -> PairAnswer {
    (PairOutcome::Undecided, why.to_owned())
}
