//! What running a set of rules reports, and where.

use crate::rules::{Extent, Rule, RuleSet, schema};
use crate::rules::{builtin, inspect};
use crate::source::Source;
use insta::assert_snapshot;
use mala_domain::change::LineSpan;
use mala_domain::finding::{Category, Priority, ReviewClaim, Verification};
use mala_domain::language::Language;
use std::sync::Arc;

const RULES: [&str; 3] = [
    "
id: own/print
languages: [python]
title: Output
message: Prints `{{ARGS}}`.
suggestion: ''
category: style
priority: 3
confidence: 1
set: extended
skip_tests: true
rule: {pattern: print($$$ARGS)}
examples: {bad: [], good: []}
",
    "
id: own/class
languages: [python]
title: A class
message: Class `{{NAME}}`.
suggestion: Drop {{NAME}}.
category: style
priority: 3
confidence: 1
rule: {kind: class_definition, has: {field: name, pattern: $NAME}}
examples: {bad: [], good: []}
",
    "
id: own/nested
languages: [python]
title: A call in a class
message: In `{{NAME}}`.
suggestion: ''
category: style
priority: 3
confidence: 1
at: F
rule:
  pattern: $F(1)
  inside: {stopBy: end, kind: class_definition, has: {field: name, pattern: $NAME}}
examples: {bad: [], good: []}
",
];

const CODE: &str = "\
class A:
    def f(self):
        print(1, 2)
        print(
            3)



print(1)
";

fn rules() -> RuleSet {
    RuleSet::of([]).with(RULES.map(|yaml| Arc::new(Rule::parse("own.yaml", yaml).expect("sound"))))
}

fn report(set: &RuleSet, path: &str, code: &str, lines: Option<LineSpan>) -> String {
    let source = Source::parse(Language::Python, code).expect("parses");
    let path = path.into();
    let found = match lines {
        Some(span) => set.run_in(&source, &path, &[span], Extent::Whole).matches,
        None => set.run(&source, &path),
    };
    let lines = found.iter().map(|it| format!("{} {}: {}", it.span, it.rule.id, it.message));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn matches_come_in_order_with_their_names_filled_in() {
    let code = CODE.replace("3)", "1)");
    assert_snapshot!(report(&rules(), "a.py", &code, None), @r#"
    1-5 own/class: Class `A`.
    3 own/print: Prints `1, 2`.
    4 own/nested: In `A`.
    4-5 own/print: Prints `1`.
    9 own/print: Prints `1`.
    "#);
}

#[test]
fn only_the_lines_asked_for_are_reported() {
    for (line, expected) in [
        (1, "1-5 own/class: Class `A`."),
        (5, "1-5 own/class: Class `A`.\n4-5 own/print: Prints `3`."),
        (7, ""),
        (9, "9 own/print: Prints `1`."),
    ] {
        assert_eq!(report(&rules(), "a.py", CODE, Some(LineSpan::line(line))), expected, "{line}");
    }
}

#[test]
fn tests_and_unselected_rules_are_left_out() {
    assert_eq!(report(&rules(), "tests/a.py", "print(2)", None), "");
    assert_eq!(report(&rules().only(Rule::is_default), "a.py", "print(2)", None), "");
    assert_eq!(report(&rules(), "a.py", "print(2)", None), "1 own/print: Prints `2`.");
}

#[test]
fn a_rule_with_a_known_id_takes_the_place_of_the_other() {
    let changed = RULES[0].replace("Prints", "Shows");
    let set = rules().with([Arc::new(Rule::parse("own.yaml", &changed).expect("sound"))]);
    assert_eq!(set.catalogue().len(), 3);
    assert_eq!(report(&set, "a.py", "print(2)", None), "1 own/print: Shows `2`.");
}

#[test]
fn a_match_becomes_a_candidate() {
    let source = Source::parse(Language::Python, "\nclass A: pass\n").expect("parses");
    let path = "src/a.py".into();
    let found = rules().run(&source, &path);
    let expected = ReviewClaim {
        file: path.clone(),
        span: LineSpan::line(2),
        priority: Some(Priority::P3),
        category: Category::Style,
        title: "A class".to_owned(),
        body: "Class `A`.".to_owned(),
        suggestion: Some("Drop A.".to_owned()),
        evidence: None,
        confidence: 1.0,
        reviewer: "builtin".to_owned(),
        rule: Some("own/class".to_owned()),
        verification: Verification::verified("syntax rule own/class".to_owned()),
    };
    assert_eq!(found[0].candidate(&path), expected);
}

#[test]
fn code_beside_what_cannot_be_read_is_left_alone() {
    let set = RuleSet::builtin(&[Language::Python]);
    for (code, expected) in [("asert a() == True\n", 0), ("a() == True\n\ndef :\n", 1)] {
        let source = Source::parse(Language::Python, code).expect("a tree");
        let found = set.run(&source, &"a.py".into());
        let compared = found.iter().filter(|it| it.rule.id == "python/comparison-as-statement");
        assert_eq!(compared.count(), expected, "{code}");
    }
}

#[test]
fn generated_lines_are_left_alone() {
    let set = RuleSet::builtin(&[Language::JavaScript, Language::TypeScript]);
    for (language, filler, expected) in [
        (Language::JavaScript, 10, 1),
        (Language::JavaScript, 200, 0),
        (Language::TypeScript, 200, 1),
    ] {
        let code = format!("{}total = total;\n", "f();".repeat(filler));
        let source = Source::parse(language, &code).expect("a tree");
        let found = set.run(&source, &"a.js".into());
        let assigned = found.iter().filter(|it| it.rule.id == "javascript/self-assignment");
        assert_eq!(assigned.count(), expected, "{language:?} {filler}");
    }
}

#[test]
fn hostile_sources_end() {
    let set = RuleSet::builtin(&Language::ALL);
    for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("a(", ")"), ("if x:", ""), ("!", "")]
    {
        let code = format!("{}x{}", open.repeat(1_000), close.repeat(1_000));
        for language in Language::ALL {
            let Some(source) = Source::parse(language, &code) else { continue };
            set.run(&source, &"a".into());
        }
    }
    let table = format!("x = [{}]", "1, ".repeat(50_000));
    let source = Source::parse(Language::Python, &table).expect("parses");
    set.run(&source, &"a.py".into());
}

#[test]
fn embedded_rules_fit_the_json_schema() {
    let schema = schema::json_schema().to_value();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for (name, yaml) in builtin::files(&Language::ALL) {
        let file: serde_json::Value =
            serde_saphyr::from_str_with_options(yaml, inspect::yaml_options()).expect("YAML");
        let errors: Vec<_> = validator.iter_errors(&file).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
    }
    assert!(!validator.is_valid(&serde_json::json!({"id": "a/b", "titel": "x"})));
}
