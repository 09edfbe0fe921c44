//! Properties of scanning and redacting arbitrary text.

use super::samples;
use crate::secrets::{redact, rules, scan};
use proptest::prelude::*;

/// Texts that combine keywords, delimiters and arbitrary characters.
fn texts() -> impl Strategy<Value = String> {
    let keywords: Vec<&'static str> =
        rules().iter().flat_map(|rule| rule.keywords.iter().map(String::as_str)).collect();
    let samples: Vec<String> = samples::all().into_iter().map(|(_, _, text)| text).collect();
    let piece = prop_oneof![
        2 => prop::sample::select(samples),
        3 => prop::sample::select(keywords).prop_map(str::to_owned),
        3 => "[A-Za-z0-9]{1,64}",
        1 => "[0-9a-f]{32,64}",
        2 => "[ =:\"'`,;/@.\n\\\\{}()<>_-]{1,3}",
        1 => "[redact:\\[\\]-]{1,12}",
        1 => "\\PC{0,6}",
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn redaction_is_idempotent(text in texts()) {
        let once = redact(&text).into_owned();
        let twice = redact(&once).into_owned();
        prop_assert_eq!(twice, once);
    }

    #[test]
    fn matches_lie_on_characters_in_order_without_overlap(text in texts()) {
        let mut last = 0;
        for found in scan("src/a.py", &text) {
            prop_assert!(last <= found.start && found.start < found.end);
            prop_assert_eq!(text.get(found.start..found.end), Some(found.secret()));
            last = found.end;
        }
    }

    #[test]
    fn what_is_reported_is_hidden(text in texts()) {
        let hidden = redact(&text);
        for found in scan("src/a.py", &text) {
            let count = |text: &str| text.matches(found.secret()).count();
            prop_assert!(count(&hidden) < count(&text), "{:?}", found);
        }
    }

    #[test]
    fn any_path_is_fine(path in any::<String>(), text in "\\PC{0,80}") {
        scan(&path, &text);
    }
}
