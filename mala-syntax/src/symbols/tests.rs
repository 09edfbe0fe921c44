//! Hostile input, and the function around a line.

use super::*;
use crate::source::Source;
use mala_domain::language::Language;
use proptest::prelude::*;
use std::time::{Duration, Instant};

/// Reads everything there is to read off a text.
fn read_all(language: Language, text: &str) -> usize {
    let Some(source) = Source::parse(language, text) else { return 0 };
    let outline = FileOutline::of(&source);
    let names: Vec<&str> = outline.definitions.iter().take(5).map(|d| d.name.as_str()).collect();
    outline.definitions.len() + uses(&source, &names).len()
}

#[test]
fn deep_nesting_costs_neither_stack_nor_patience() {
    let started = Instant::now();
    for (language, unit) in [
        (Language::Python, "class A:\n"),
        (Language::JavaScript, "class A { m() { new (class "),
        (Language::JavaScript, "x = { a: "),
        (Language::TypeScript, "namespace A { "),
        (Language::Rust, "mod a { "),
        (Language::Java, "class A { "),
        (Language::Cpp, "namespace a { "),
        (Language::Go, "f(func() { "),
        (Language::Ruby, "module A; "),
        (Language::CSharp, "class A { "),
        (Language::Php, "<?php function a() { "),
        (Language::C, "int (*"),
    ] {
        read_all(language, &unit.repeat(3_000));
    }
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_text_makes_it_panic(
        at in 0..Language::ALL.len(),
        parts in proptest::collection::vec(
            prop_oneof![
                Just("class A"), Just("def f(a, *, b=1):\n"), Just("fn f(a: T) {"), Just("}"),
                Just("import x from './y'"), Just("use a::{b, c::*};"), Just("f(1, *x)"), Just("é"),
                Just("("), Just(")"), Just("\n  "), Just("enum E { A,"), Just("self.f"), Just(" = "),
                Just("func (s *S) M("), Just("int f(void"), Just("::"), Just("."), Just("<?php "),
                Just("switch (x) { case A:"), Just("module.exports = {"), Just("mod x;"), Just("\0"),
            ],
            0..40,
        ),
    ) {
        read_all(Language::ALL[at], &parts.concat());
    }
}

#[test]
fn the_innermost_function_or_class_is_around_a_line() {
    let text = "X = 1\nclass A:\n    y = 2\n\n    @dec\n    def m(self):\n        pass\n";
    let source = Source::parse(Language::Python, text).expect("parses");
    for (line, expected) in [
        (1, None),
        (3, Some(("A", 2, 7))),
        (5, Some(("A.m", 5, 7))),
        (7, Some(("A.m", 5, 7))),
        (9, None),
    ] {
        let found = enclosing(&source, line);
        let found = found.as_ref().map(|e| (e.symbol.as_str(), e.span.start(), e.span.end()));
        assert_eq!(found, expected, "line {line}");
    }
}
