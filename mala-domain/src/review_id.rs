//! The id of a review: the same inputs give the same id.

use sha2::{Digest, Sha256};

/// What a review depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewInputs<'a> {
    /// The repository, by its remote or its folder's name.
    pub repo: &'a str,
    /// The pull request's number; for a local change, the base sha and the diff hash.
    pub subject: &'a str,
    /// The head sha, or what stands for it.
    pub head: &'a str,
    /// The version of the prompts or of the built-in rules.
    pub prompt_version: &'a str,
    /// The model, or the reviewer's name when it has none.
    pub model: &'a str,
    /// The limits.
    pub budget_profile: &'a str,
}

/// 16 hexadecimal digits that name the review.
pub fn review_id(inputs: &ReviewInputs<'_>) -> String {
    let parts = [
        inputs.repo,
        inputs.subject,
        inputs.head,
        inputs.prompt_version,
        inputs.model,
        inputs.budget_profile,
    ];
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const INPUTS: ReviewInputs<'static> = ReviewInputs {
        repo: "acme/shop",
        subject: "7",
        head: "abc",
        prompt_version: "v1",
        model: "builtin",
        budget_profile: "standard",
    };

    #[test]
    fn same_inputs_same_id_and_any_other_input_another() {
        let id = review_id(&INPUTS);
        assert_eq!(id.len(), 16);
        assert_eq!(id, review_id(&INPUTS));
        let others = [
            ReviewInputs { repo: "acme/shops", ..INPUTS },
            ReviewInputs { subject: "8", ..INPUTS },
            ReviewInputs { head: "abd", ..INPUTS },
            ReviewInputs { prompt_version: "v2", ..INPUTS },
            ReviewInputs { model: "m", ..INPUTS },
            ReviewInputs { budget_profile: "quick", ..INPUTS },
            ReviewInputs { repo: "acme/shop7", subject: "", ..INPUTS },
        ];
        for other in &others {
            assert_ne!(id, review_id(other), "{other:?}");
        }
    }
}
