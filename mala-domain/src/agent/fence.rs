//! Fences around everything that was written by others. A fence carries the run's nonce; text that
//! imitates one is made harmless, and secrets are taken out on the way in. All reviewed text that
//! reaches a model goes through here.

mod fold;

use crate::secrets;
use sha2::{Digest, Sha256};

const MARKER: &str = "mala-fence";

/// What is put into text that imitates a fence. It neither starts nor ends with a digit of a nonce,
/// so that no imitation comes out of breaking another one.
pub const IMITATION: &str = "[imitation]";

/// What tells this run's fences from all others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nonce(String);

impl Nonce {
    /// The nonce over all that is reviewed. A text cannot hold it: it would have to hold a hash of
    /// itself. The same review gets the same nonce, so that recorded traffic replays.
    pub fn over(parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part.len().to_le_bytes());
            hash.update(part);
        }
        Self(hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect())
    }

    /// 32 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Puts text behind fences.
#[derive(Debug, Clone)]
pub struct Fence {
    nonce: Nonce,
}

impl Fence {
    /// Fences with this nonce.
    pub fn new(nonce: Nonce) -> Self {
        Self { nonce }
    }

    /// The nonce.
    pub fn nonce(&self) -> &Nonce {
        &self.nonce
    }

    /// The text between fences, without secrets and without imitations. `what` may be hostile too.
    pub fn wrap(&self, what: &str, text: &str) -> String {
        self.wrap_redacted(what, &secrets::redact(text))
    }

    /// The same for a text whose secrets are out already.
    pub fn wrap_redacted(&self, what: &str, text: &str) -> String {
        let id = self.nonce.as_str();
        let what = self.label(what);
        let text = self.break_imitations(text);
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        // Our own words stand between the name, the nonce and the text, so that no two of them make
        // a third thing together.
        format!(
            "<{MARKER} of=\"{what}\" id=\"{id}\" starts>\n{text}{end}</{MARKER} id=\"{id}\" ends>\n"
        )
    }

    /// A name from outside, for one line of our own.
    pub fn label(&self, name: &str) -> String {
        let name: String = secrets::redact(name)
            .chars()
            .map(|c| if c.is_control() || matches!(c, '"' | '<' | '>') { '?' } else { c })
            .take(300)
            .collect();
        self.break_imitations(&name)
    }

    /// The text with everything broken that could pass for a fence of this run.
    pub fn break_imitations(&self, text: &str) -> String {
        let wanted = [fold::folded(MARKER), fold::folded(self.nonce.as_str())];
        let breaks = fold::first_ends(text, &wanted);
        let mut out = String::with_capacity(text.len() + breaks.len() * IMITATION.len());
        let mut at = 0;
        for end in breaks {
            out.push_str(text.get(at..end).unwrap_or_default());
            out.push_str(IMITATION);
            at = end;
        }
        out.push_str(text.get(at..).unwrap_or_default());
        out
    }
}

/// The text as it was before it was made harmless.
pub fn without_imitation_marks(text: &str) -> String {
    text.replace(IMITATION, "")
}

#[cfg(test)]
mod tests;
