//! The identity of findings: file, enclosing symbol, evidence without white space, and category.
//! Line numbers and prose are not part of it, so that it survives edits.

use super::code_lines::squeezed;
use super::{Category, Finding};
use crate::change::FilePath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The identity of a finding: 16 hexadecimal digits.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct DedupeKey(String);

impl DedupeKey {
    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for DedupeKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The identity of a finding. `occurrence` distinguishes equal code in one symbol.
pub fn identity(
    file: &FilePath,
    symbol: Option<&str>,
    evidence: &str,
    category: Category,
    occurrence: usize,
) -> DedupeKey {
    let mut hash = Sha256::new();
    let occurrence = occurrence.to_string();
    let evidence = squeezed(evidence);
    let parts: [&[u8]; 5] = [
        file.as_bytes(),
        symbol.unwrap_or_default().as_bytes(),
        evidence.as_bytes(),
        category.name().as_bytes(),
        occurrence.as_bytes(),
    ];
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    DedupeKey(hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

/// Beyond this number, findings on the same code and copies of the same code in a symbol are not
/// distinguished.
const MAX_COPIES: usize = 100;
const MAX_CLAIMS: usize = 8;

/// The occurrence for [`identity`]: the index of the copy of equal code in the symbol, and the
/// number of earlier findings of the same category on that copy. Both count from 0.
pub fn occurrence(copy: usize, n_before: usize) -> usize {
    copy.min(MAX_COPIES) + n_before * (MAX_COPIES + 1)
}

/// The index of the copy of equal code in its symbol, and the number of earlier findings on that
/// copy.
pub(crate) fn copy_number(finding: &Finding) -> Option<(usize, usize)> {
    let key = |occurrence| {
        let (symbol, evidence) = (finding.symbol.as_deref(), &finding.evidence_snippet);
        identity(&finding.file, symbol, evidence, finding.category, occurrence)
    };
    let claims = 0..MAX_CLAIMS;
    claims
        .flat_map(|n_before| (0..=MAX_COPIES).map(move |copy| (copy, n_before)))
        .find(|(copy, n_before)| key(occurrence(*copy, *n_before)) == finding.dedupe_key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(file: &str, symbol: Option<&str>, evidence: &str, occurrence: usize) -> DedupeKey {
        identity(&FilePath::from(file), symbol, evidence, Category::Bug, occurrence)
    }

    /// 002-027
    #[test]
    fn identity_survives_reindenting_and_nothing_else() {
        let first = key("a.py", Some("f"), "  x = 1\n  y = 2", 0);
        assert_eq!(first, key("a.py", Some("f"), "x = 1\ny = 2", 0));
        assert_eq!(first.as_str().len(), 16);
        for other in [
            key("b.py", Some("f"), "x = 1\ny = 2", 0),
            key("a.py", Some("g"), "x = 1\ny = 2", 0),
            key("a.py", None, "x = 1\ny = 2", 0),
            key("a.py", Some("f"), "x = 1\ny = 3", 0),
            key("a.py", Some("f"), "x = 1\ny = 2", 1),
        ] {
            assert_ne!(first, other);
        }
    }
}
