//! What parses, what does not, and into what.

use super::super::ast::{ItemKind, NodeKind};
use super::*;

fn tree(pattern: &str, flavour: Flavour) -> Option<Ast> {
    parse(pattern, flavour, Flags::default())
}

#[test]
fn what_engines_reject_has_no_tree() {
    for pattern in ["(", ")", "a)", "[a", "*a", "(?:+)", "a{3,2}", "(?<n", "a\\"] {
        assert!(tree(pattern, Flavour::JavaScript).is_none(), "{pattern}");
    }
    let deep = format!("{}a{}", "(".repeat(200), ")".repeat(200));
    assert!(tree(&deep, Flavour::Python).is_none());
}

#[test]
fn constructs_of_all_engines_parse() {
    for (flavour, pattern) in [
        (Flavour::Python, r"(?P<q>['\x22])(?P=q)(?i:a)(?#note)(?(q)b|c)\Z[]a]"),
        (Flavour::Python, r"a{,3}b*?c++(?>d|e)\U0001F600\N"),
        (Flavour::JavaScript, r"(?<y>\d{4})\k<y>[^](?<!x)(?<=y)\u{1F600}\cA\/{"),
        (Flavour::Java, r"\Qa.b*\E[a-z&&[^m-p]]\p{Lu}\h\R{2,}+"),
        (Flavour::Go, r"[[:alpha:]]\pL\x{10FFFF}(?s).\z"),
        (Flavour::Rust, r"(?x) a # note\n [\w--\d] (?<n>b)"),
    ] {
        assert!(tree(pattern, flavour).is_some(), "{pattern}");
    }
}

#[test]
fn braces_that_do_not_count_are_literals() {
    for (pattern, repeats) in [("a{", 0), ("a{x}", 0), ("a{,2}", 0), ("a{2}", 1), ("a{2,}?", 1)] {
        let ast = tree(pattern, Flavour::JavaScript).expect(pattern);
        let found = ast.nodes.iter().filter(|n| matches!(n.kind, NodeKind::Repeat { .. })).count();
        assert_eq!(found, repeats, "{pattern}");
    }
}

#[test]
fn groups_are_numbered_and_named() {
    let ast = tree(r"(a)(?:b)(?<word>c(d))\k<word>\3", Flavour::JavaScript).expect("parses");
    assert_eq!(ast.groups.len(), 3);
    assert_eq!(ast.groups[1].name.as_deref(), Some("word"));
    let references = ast.nodes.iter().filter_map(|node| match &node.kind {
        NodeKind::Backref(reference) => ast.capture_of(reference),
        _ => None,
    });
    assert_eq!(references.collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn classes_keep_their_members_and_places() {
    let ast = tree(r"x[a-c\d\b\--]", Flavour::JavaScript).expect("parses");
    let class = &ast.classes[0];
    assert_eq!((class.start, class.end, class.items.len()), (1, 13, 5));
    assert_eq!(class.items[0].kind, ItemKind::Range(97, 99));
    assert_eq!(class.items[2].kind, ItemKind::Backspace);
    assert_eq!(class.items[3].kind, ItemKind::Char(45));
}

#[test]
fn inline_flags_end_with_their_group() {
    let ast = tree("(a(?i)b)c", Flavour::Python).expect("parses");
    let folded = ast.nodes.iter().filter_map(|node| match &node.kind {
        NodeKind::Chars { set, .. } => Some(set.ranges().len() > 1),
        _ => None,
    });
    assert_eq!(folded.collect::<Vec<_>>(), [false, true, false]);
}

#[test]
fn verbose_patterns_ignore_space_and_comments() {
    let flags = Flags { verbose: true, ..Flags::default() };
    let ast = parse("a b # (\n [ ] \\ c", Flavour::Python, flags).expect("parses");
    let consumed = ast.nodes.iter().filter(|n| matches!(n.kind, NodeKind::Chars { .. })).count();
    assert_eq!(consumed, 5);
}
