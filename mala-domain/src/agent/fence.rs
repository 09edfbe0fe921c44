//! Fences mark text from outside as data in a prompt. A fence carries the nonce of the run; imitations in
//! the text are broken, and secrets are redacted. All reviewed text in a prompt goes through a fence.

mod fold;

use crate::secrets;
use sha2::{Digest, Sha256};

const MARKER: &str = "mala-fence";

/// Breaks text that imitates a fence. It neither starts nor ends with a digit of a nonce, so that
/// breaking one imitation cannot create another one.
pub const IMITATION: &str = "[imitation]";

/// Identifies the fences of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nonce(String);

impl Nonce {
    /// A nonce derived from everything that is reviewed. A reviewed text cannot contain it, because
    /// it would have to contain a hash of itself. The same review gets the same nonce, so that
    /// recorded traffic can be replayed.
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

/// Wraps text in fences.
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

    /// Wraps text in fences, without secrets and without imitations. `what` may be hostile too.
    pub fn wrap(&self, what: &str, text: &str) -> String {
        self.wrap_redacted(what, &secrets::redact(text))
    }

    /// Wraps text whose secrets are already redacted.
    pub fn wrap_redacted(&self, what: &str, text: &str) -> String {
        let id = self.nonce.as_str();
        let what = self.label(what);
        let text = self.break_imitations(text);
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        // Fixed text separates the name, the nonce and the text, so that no two of them together
        // can form a fence.
        format!(
            "<{MARKER} of=\"{what}\" id=\"{id}\" starts>\n{text}{end}</{MARKER} id=\"{id}\" ends>\n"
        )
    }

    /// A name from outside, made safe for one line of a prompt.
    pub fn label(&self, name: &str) -> String {
        let name: String = secrets::redact(name)
            .chars()
            .map(|c| if c.is_control() || matches!(c, '"' | '<' | '>') { '?' } else { c })
            .take(300)
            .collect();
        self.break_imitations(&name)
    }

    /// Breaks everything in a text that could look like a fence of this run.
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

/// Undoes `break_imitations`.
pub fn without_imitation_marks(text: &str) -> String {
    text.replace(IMITATION, "")
}

#[cfg(test)]
mod tests;
