//! Tables of patterns with what is wrong with them, and properties that hold for all patterns.

mod backtracker;
mod tables;

use super::*;
use proptest::prelude::*;

/// Flags as JavaScript spells them, with `x` for verbose.
fn flags(letters: &str) -> Flags {
    Flags {
        ignore_case: letters.contains('i'),
        multi_line: letters.contains('m'),
        dot_all: letters.contains('s'),
        verbose: letters.contains('x'),
        unicode_sets: letters.contains('v'),
        anchoring: Anchoring::Search,
    }
}

fn kinds(pattern: &str, flavour: Flavour, letters: &str) -> Vec<RegexProblemKind> {
    check(pattern, flavour, flags(letters)).into_iter().map(|problem| problem.kind).collect()
}

#[test]
fn every_exponential_attack_makes_a_plain_backtracker_explode() {
    let mut n_attacks = 0;
    for (pattern, letters) in tables::EXPONENTIAL {
        for problem in check(pattern, Flavour::JavaScript, flags(letters)) {
            let Some(attack) = problem.attack else { continue };
            let ast = parse::parse(pattern, Flavour::JavaScript, flags(letters)).expect(pattern);
            let cost = |rounds| backtracker::steps(&ast, &attack.input(rounds));
            let costs: Vec<u64> =
                (1..=12).map(cost).take_while(|cost| *cost < backtracker::LIMIT).collect();
            let [few, .., some, _, many] = costs.as_slice() else { panic!("{pattern}: {costs:?}") };
            assert!(*many > 1_000 && *few < 1_000, "{pattern}: {attack:?} costs {costs:?}");
            assert!(many >= &(some * 3), "{pattern}: {costs:?}");
            n_attacks += 1;
        }
    }
    assert!(n_attacks >= tables::EXPONENTIAL.len());
}

#[test]
fn polynomial_attacks_state_their_degree() {
    for (pattern, degree) in [(r"\s+$", 2), (r"^a*a*$", 2), (r"a*a*b", 3)] {
        let problems = check(pattern, Flavour::Python, Flags::default());
        let degrees: Vec<_> = problems.iter().map(|problem| problem.degree).collect();
        assert_eq!(degrees, [Some(degree)], "{pattern}");
    }
}

#[test]
fn places_are_those_of_the_loop() {
    let pattern = r"^id:(?:\w+\s?)+;$";
    let problems = check(pattern, Flavour::JavaScript, Flags::default());
    let place = &pattern[problems[0].start..problems[0].end];
    assert_eq!(place, r"(?:\w+\s?)+");
}

#[test]
fn anchoring_of_the_call_counts() {
    let anchored = |anchoring| Flags { anchoring, ..Flags::default() };
    let slow =
        |pattern, anchoring| !check(pattern, Flavour::Python, anchored(anchoring)).is_empty();
    assert!(slow(r"\d+x", Anchoring::Search));
    assert!(!slow(r"\d+x", Anchoring::Start));
    assert!(!slow(r"(a+)+", Anchoring::Start));
    assert!(slow(r"(a+)+", Anchoring::Full));
}

#[test]
fn engines_without_backtracking_are_never_slow() {
    for flavour in [Flavour::Go, Flavour::Rust] {
        assert_eq!(kinds("(a+)+$", flavour, ""), [], "{flavour:?}");
        assert_eq!(kinds("[A-z]", flavour, ""), [RegexProblemKind::OverlyWideRange]);
    }
}

#[test]
fn huge_patterns_end_soon_and_say_nothing_wrong() {
    let words: Vec<String> = (0..900).map(|n| format!("word{n}")).collect();
    let nested = (0..40).fold("a".to_owned(), |inner, _| format!("(?:{inner}|b?)*"));
    for pattern in [
        format!("(?:{})*x", words.join("|")),
        format!("^(?:{})$", words.join("|")),
        nested,
        "(a?){500}b".to_owned(),
        "((((a{9}){9}){9}){9}){9}".to_owned(),
        "(?=".repeat(60) + &")".repeat(60),
        "a{4000000000,}".to_owned(),
        format!("(a){}", "{1}".repeat(3_000)),
        (1..99).fold("(a)".to_owned(), |chain, n| format!("{chain}(\\{n})")) + "*b",
        format!("({})*c", "|".repeat(8_000)),
        format!("(?:{}b)*c", "a?".repeat(600)),
    ] {
        let problems = check(&pattern, Flavour::JavaScript, Flags::default());
        assert!(problems.iter().all(|problem| problem.end <= pattern.len()));
    }
}

/// Pieces of pattern syntax, so that random patterns are often well formed.
fn piece() -> impl Strategy<Value = String> {
    let fixed = proptest::sample::select(vec![
        "a",
        "b",
        ".",
        "\\w",
        "\\d",
        "\\s",
        "\\b",
        "^",
        "$",
        "|",
        "(",
        ")",
        "(?:",
        "(?=",
        "(?!",
        "(?<=",
        "(?>",
        "*",
        "+",
        "?",
        "{2,}",
        "{1,3}",
        "*?",
        "++",
        "[ab]",
        "[^a]",
        "[a-",
        "]",
        "\\1",
        "\\k<n>",
        "(?<n>",
        "(?i)",
        "<script>",
        "www.example.com",
        "é",
        "\\u{1F600}",
        "\\",
    ]);
    fixed.prop_map(str::to_owned)
}

fn any_flavour() -> impl Strategy<Value = Flavour> {
    use Flavour::{Go, Java, JavaScript, Python, Rust};
    proptest::sample::select(vec![Python, JavaScript, Java, Go, Rust])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_text_is_checked_without_panic(pattern in ".{0,80}", flavour in any_flavour()) {
        for problem in check(&pattern, flavour, Flags::default()) {
            prop_assert!(pattern.get(problem.start..problem.end).is_some());
        }
    }

    #[test]
    fn any_syntax_is_checked_in_bounded_time(
        pieces in proptest::collection::vec(piece(), 0..30),
        flavour in any_flavour(),
        letters in "[imsxv]{0,3}",
    ) {
        let pattern = pieces.concat();
        let begun = std::time::Instant::now();
        for problem in check(&pattern, flavour, flags(&letters)) {
            prop_assert!(pattern.get(problem.start..problem.end).is_some());
        }
        prop_assert!(begun.elapsed() < std::time::Duration::from_secs(5), "{pattern}");
    }
}
