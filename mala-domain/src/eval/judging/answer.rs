//! Reads what a judge answers. A pair that it says nothing clear of is undecided.

use super::PairOutcome;
use crate::agent::answer::fields::{cut, list, maybe_text, object, text};
use crate::agent::answer::{ParseProblem, Words, find_object};
use crate::conversation::Form;
use serde_json::{Value, json};

/// What a pair comes to, and why.
type Said = (PairOutcome, String);

/// The form of the answer.
pub fn form() -> Form {
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
    Form::Json { name: "pairs".to_owned(), schema }
}

/// Reads the answer about so many pairs, in their order.
pub fn read_pairs(words: &Words<'_>, n_pairs: usize) -> Result<Vec<Said>, ParseProblem> {
    let (found, _) = find_object(words, &["pairs"])?;
    let nothing = "the judge says nothing of it";
    let mut said: Vec<Option<Said>> = vec![None; n_pairs];
    for value in list(&found, "pairs")?.iter().take(4 * n_pairs) {
        let Some((at, one)) = read_pair(value) else { continue };
        let Some(slot) = said.get_mut(at) else { continue };
        *slot = Some(match slot.take() {
            Some(other) if other.0 != one.0 => undecided("the judge contradicts itself"),
            _ => one,
        });
    }
    Ok(said.into_iter().map(|one| one.unwrap_or_else(|| undecided(nothing))).collect())
}

/// One pair by its place. A hit without a reason is none.
fn read_pair(value: &Value) -> Option<(usize, Said)> {
    let pair = object(value).ok()?;
    let number: usize = text(pair, "id").ok()?.strip_prefix('p')?.parse().ok()?;
    let why = cut(maybe_text(pair, "why").ok()?.unwrap_or_default().trim(), 400);
    let said = match text(pair, "outcome").ok()? {
        "same" if why.is_empty() => undecided("the judge gives no reason"),
        "same" => (PairOutcome::Same, why),
        "different" => (PairOutcome::Different, why),
        _ => (PairOutcome::Undecided, why),
    };
    Some((number.checked_sub(1)?, said))
}

fn undecided(why: &str) -> Said {
    (PairOutcome::Undecided, why.to_owned())
}
