//! The tables mean one thing each, and the docs have them.

use super::*;

#[test]
fn a_word_means_one_thing_however_it_is_written() {
    assert_eq!(category("Maintainability and Readability"), Some(Category::Style));
    assert_eq!(category(" logic-bug"), Some(Category::Logic));
    assert_eq!(category("weather"), None);
    assert_eq!((severity("High"), severity("none")), (Some(Severity::High), None));
    for (meant, words) in CATEGORIES {
        assert!(words.iter().all(|word| category(word) == Some(*meant)), "{words:?}");
    }
    for (meant, words) in SEVERITIES {
        assert!(words.iter().all(|word| severity(word) == Some(*meant)), "{words:?}");
    }
}

#[test]
fn the_docs_have_the_tables() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/eval.md");
    let docs = std::fs::read_to_string(path).unwrap();
    let rows = CATEGORIES.iter().map(|(meant, words)| (meant.name(), words));
    let rows = rows.chain(SEVERITIES.iter().map(|(meant, words)| (meant.name(), words)));
    for (name, words) in rows {
        let words: Vec<String> = words.iter().map(|word| word.replace('_', " ")).collect();
        let row = format!("| `{name}` | {} |", words.join(", "));
        assert!(docs.contains(&row), "docs/eval.md lacks: {row}");
    }
}
