//! The prompt of a judge about some pairs. All text is untrusted and fenced.

use crate::case::KnownProblem;
use crate::record::{CaseRecord, Prediction};
use mala_domain::agent::fence::{Fence, Nonce};
use std::collections::BTreeMap;

/// The most bytes of a finding or a known problem.
const MAX_TEXT: usize = 1_000;

/// The prompt of a judge.
#[derive(Debug, Clone)]
pub struct JudgeQuestion {
    /// The nonce of its fences.
    pub nonce: Nonce,
    /// The text of the prompt.
    pub text: String,
}

/// The question about these pairs; they are named p1, p2 and so on.
pub fn question(record: &CaseRecord, pairs: &[(usize, usize)]) -> JudgeQuestion {
    let mut claims = BTreeMap::new();
    let mut truths = BTreeMap::new();
    for (claim, truth) in pairs {
        claims.insert(*claim, record.predictions.get(*claim).map(said).unwrap_or_default());
        truths.insert(*truth, record.truths.get(*truth).map(known).unwrap_or_default());
    }
    let texts: Vec<&[u8]> = claims.values().chain(truths.values()).map(String::as_bytes).collect();
    let fence = Fence::new(Nonce::over(&texts));
    let id = fence.nonce().as_str();
    let mut text = format!("This run's ID, and your nonce: {id}\n\n");
    for (at, claim) in &claims {
        text.push_str(&fence.wrap(&format!("finding f{}", at + 1), claim));
    }
    for (at, truth) in &truths {
        text.push_str(&fence.wrap(&format!("known problem k{}", at + 1), truth));
    }
    text.push_str("\nThe pairs:\n");
    for (number, (claim, truth)) in pairs.iter().enumerate() {
        let (number, claim, truth) = (number + 1, claim + 1, truth + 1);
        text.push_str(&format!("p{number}: finding f{claim}, known problem k{truth}\n"));
    }
    JudgeQuestion { nonce: fence.nonce().clone(), text }
}

fn said(claim: &Prediction) -> String {
    let place = format!("{}:{} {}", claim.file, claim.span(), claim.category);
    cut(&format!("{place}\n{}\n{}", claim.title, claim.body))
}

fn known(truth: &KnownProblem) -> String {
    let place = format!("{}:{} {}", truth.file, truth.span(), truth.category);
    let title = truth.title.as_deref().unwrap_or_default();
    cut(&format!("{place}\n{title}\n{}", truth.description))
}

/// The start of a text, cut at a character boundary.
fn cut(text: &str) -> String {
    text.get(..text.floor_char_boundary(MAX_TEXT)).unwrap_or_default().to_owned()
}
