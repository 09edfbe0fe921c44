//! Comments find their regions.

use super::*;
use mala_domain::change::parse;

const DIFF: &str = "diff --git a/cart.py b/cart.py\n--- a/cart.py\n+++ b/cart.py\n@@ -1,3 +1,5 @@\n def total(items):\n+    sum_of_items = 0\n+    for item in items:\n     return sum_of_items\n \ndiff --git a/member.py b/member.py\n--- a/member.py\n+++ b/member.py\n@@ -7,1 +7,3 @@\n import sum_of_items\n+    member = load_member(user, item)\n+    member.has_access\n@@ -20,2 +22,1 @@\n-gone\n stop_here\n";

#[test]
fn rare_words_of_code_say_where_a_comment_belongs() {
    let change = Change { files: parse(DIFF.as_bytes()).unwrap() };
    for (comment, expected) in [
        ("has_access is read of a member that may be None", Some("member.py:8-9")),
        ("`load_member` may give nothing", Some("member.py:8-9")),
        ("sum_of_items starts at zero", Some("cart.py:2-3")),
        ("`stop_here` is too late", Some("member.py:22")),
        ("`item` is in two places", None),
        ("`item` of member.py is in two places", Some("member.py:8-9")),
        ("this is wrong", None),
        ("an unknown_name", None),
        ("", None),
    ] {
        let found =
            AnchorRegions::of(&change).place(comment).map(|(file, span)| format!("{file}:{span}"));
        assert_eq!(found.as_deref(), expected, "{comment}");
    }
    assert_eq!(AnchorRegions::of(&Change::default()).place("`item`"), None);
}

#[test]
fn code_is_told_from_prose() {
    for (word, expected) in [
        ("snake_case", true),
        ("camelCase", true),
        ("TypeError", true),
        ("OPTIONS", true),
        ("None", false),
        ("API", false),
        ("word", false),
    ] {
        assert_eq!(looks_like_code(word), expected, "{word}");
    }
}
