//! Names of categories and severities in public formats. `docs/eval.md` has the same tables.

#[cfg(test)]
mod tests;

use mala_domain::finding::{Category, Severity};

/// A category, and its names: in lower case, with `_` between words.
pub const CATEGORIES: &[(Category, &[&str])] = &[
    (Category::Security, &["security", "security_vulnerability", "vulnerability"]),
    (
        Category::ErrorHandling,
        &["error_handling", "error_handling_bug", "exceptions", "error_conditions"],
    ),
    (Category::Performance, &["performance", "efficiency"]),
    (Category::Logic, &["logic", "logic_bug", "logic_error"]),
    (
        Category::Bug,
        &[
            "bug",
            "code_defect",
            "correctness",
            "data_corruption",
            "race_condition",
            "reliability",
            "runtime_error",
            "test_bug",
        ],
    ),
    (
        Category::Style,
        &[
            "style",
            "dead_code",
            "documentation",
            "maintainability",
            "maintainability_and_readability",
            "readability",
        ],
    ),
];

/// A severity, and its names.
pub const SEVERITIES: &[(Severity, &[&str])] = &[
    (Severity::Critical, &["critical", "blocker", "p0"]),
    (Severity::High, &["high", "error", "major", "p1"]),
    (Severity::Medium, &["medium", "moderate", "warning", "p2"]),
    (Severity::Low, &["low", "minor", "note", "info", "nit", "p3"]),
];

/// The category with this name.
pub(super) fn category(word: &str) -> Option<Category> {
    let word = plain(word);
    CATEGORIES.iter().find(|(_, words)| words.contains(&word.as_str())).map(|(found, _)| *found)
}

/// The severity with this name.
pub(super) fn severity(word: &str) -> Option<Severity> {
    let word = plain(word);
    SEVERITIES.iter().find(|(_, words)| words.contains(&word.as_str())).map(|(found, _)| *found)
}

fn plain(word: &str) -> String {
    word.trim().to_ascii_lowercase().replace(['-', ' '], "_")
}
