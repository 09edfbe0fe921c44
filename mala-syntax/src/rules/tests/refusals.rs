//! What a wrong rule file is told, and that no file at all stops the program.

use crate::rules::{Rule, RuleSet, check_examples};
use crate::source::Source;
use insta::assert_snapshot;
use mala_domain::language::Language;
use std::sync::Arc;

const SOUND: &str = "\
id: own/no-eval
languages: [python]
title: Code is made from text
message: When `{{CODE}}` comes from outside, it runs.
suggestion: Parse `{{CODE}}`.
category: security
priority: 1
confidence: 0.9
set: default
rule:
  pattern: eval($CODE)
examples:
  bad: ['eval(x)', 'eval(y)']
  good: ['literal_eval(x)', 'evaluate(x)']
";

fn refusal(from: &str, to: &str) -> String {
    assert!(SOUND.contains(from), "{from}");
    match Rule::parse("own.yaml", &SOUND.replace(from, to)) {
        Ok(_) => "accepted".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_sound_rule_is_accepted_and_its_examples_hold() {
    let rule = Rule::parse("own.yaml", SOUND).expect("sound");
    assert_eq!(check_examples(&Arc::new(rule)), []);
}

#[test]
fn examples_that_do_not_hold_are_named() {
    let yaml = SOUND
        .replace("'eval(y)'", "'f(y)', 'f(', 'eval(a)\n\n      eval(b) # !'")
        .replace("literal_", "");
    let rule = Rule::parse("own.yaml", &yaml).expect("sound");
    let failures: Vec<_> =
        check_examples(&Arc::new(rule)).iter().map(ToString::to_string).collect();
    assert_snapshot!(failures.join("\n"), @r#"
    own/no-eval: bad example 2 (python): it does not match
    own/no-eval: bad example 3: it does not parse in any language of the rule
    own/no-eval: bad example 4 (python): it matches on line 1, 2, not on line 2
    own/no-eval: good example 1 (python): it matches on line 1
    "#);
}

const PATTERN: &str = "pattern: eval($CODE)";

const WRONG: &[(&str, &str)] = &[
    ("title:", "titel:"),
    ("priority: 1\n", ""),
    ("priority: 1", "priority: 7"),
    ("category: security", "category: securty"),
    ("languages: [python]", "languages: [pyton]"),
    ("set: default", "set: maybe"),
    ("confidence: 0.9", "confidence: 9"),
    ("no-eval", "No Eval"),
    ("from text", "from text."),
    ("{{CODE}}` comes", "{{COD}}` comes"),
    ("set: default", "set: default\nat: KODE"),
    (PATTERN, "patern: eval($CODE)"),
    (PATTERN, "pattern: eval($CODE)\n  inside:\n    stopby: end\n    kind: module"),
    (PATTERN, "pattern: eval($CODE)\n  inside: {kind: modul}"),
    (PATTERN, "pattern: 'eval($CODE) ]['"),
    (PATTERN, "pattern: 'a; eval($CODE)'"),
    (PATTERN, "pattern: {contxt: eval($CODE), selector: call}"),
    (PATTERN, "pattern: eval($CODE)\n  regex: '(a'"),
    (PATTERN, "pattern: eval($CODE)\n  has: {stopBy: {regex: 'a{9999}{9999}'}, kind: call}"),
    (PATTERN, "pattern: eval($CODE)\n  has: {field: nme, kind: call}"),
    (PATTERN, "pattern: eval($CODE)\n  matches: unknown"),
    (PATTERN, "kind: call\nnative: nothing"),
    ("rule:\n  pattern: eval($CODE)", "native: nothing"),
    (
        "rule:\n  pattern: eval($CODE)",
        "taint: {sources: [remote], class: code, sinks: [{call: [a..b], args: ['0']}]}",
    ),
    ("id: own", "id: [own"),
    ("id: own", "&a id: *a"),
];

#[test]
fn a_wrong_file_is_told_what_and_where() {
    let refusals: Vec<_> = WRONG.iter().map(|(from, to)| refusal(from, to)).collect();
    assert_snapshot!(refusals.join("\n"), @r#"
    own.yaml:3:1: unknown key `titel`; did you mean `title`?
    own.yaml: key `priority` is missing
    own.yaml:7:11: priority 7 is not between 0 and 3
    own.yaml:6:11: unknown value `securty`, it is one of `security`, `bug`, `error_handling`, `performance`, `style`, `logic`; did you mean `security`?
    own.yaml:2:13: unknown value `pyton`, it is one of `python`, `javascript`, `typescript`, `tsx`, `rust`, `go`, `java`, `c`, `cpp`, `ruby`, `csharp`, `php`; did you mean `python`?
    own.yaml:9:6: unknown value `maybe`, it is one of `default`, `extended`
    own.yaml:8:1: confidence is 0 to 1
    own.yaml:1:1: an id has small letters, digits, `-` and `/` only
    own.yaml:3:1: a title is one line with no period at its end
    own.yaml:4:18: `COD` is captured by no part of the rule; did you mean `CODE`?
    own.yaml:10:5: `KODE` is captured by no part of the rule; did you mean `CODE`?
    own.yaml:11:3: unknown key `patern`; did you mean `pattern`?
    own.yaml:13:5: unknown key `stopby`; did you mean `stopBy`?
    own.yaml:12:18: `modul` is no node kind of python; did you mean `module`?
    own.yaml:11:13: the pattern is no python: it does not parse
    own.yaml:11:13: the pattern does not work in python: Multiple AST nodes are detected. Please check the pattern source `a; eval($CODE)`
    own.yaml:11:13: unknown key `contxt`; did you mean `context`?
    own.yaml:12:11: regex does not compile: unclosed group
    own.yaml:12:26: regex does not compile: Compiled regex exceeds size limit of 1048576 bytes.
    own.yaml:12:16: `nme` is no field of python; did you mean `name`?
    own.yaml:10:1: the rule does not work in python: Rule `unknown` is not defined
    own.yaml: exactly one of `rule`, `taint`, `native` is needed
    own.yaml:10:1: there is no check `nothing`
    own.yaml:10:57: `a..b` is not a valid path: a name is missing
    own.yaml:2:10: illegal placement of ':' indicator
    own.yaml:1:4: budget breached: Anchors { anchors: 1 }
    "#);
}

#[test]
fn deep_and_large_files_are_refused() {
    let deep = format!(
        "pattern: eval($CODE)\n  not: {}{{kind: call}}{}",
        "{not: ".repeat(30),
        "}".repeat(30)
    );
    let wide = format!("any: [{}]", "{pattern: eval($CODE)}, ".repeat(500));
    let related = format!(
        "pattern: eval($CODE)\n  has: {}{{kind: call}}{}",
        "{has: ".repeat(8),
        "}".repeat(8)
    );
    let large = format!("pattern: eval($CODE)\n  # {}", "x".repeat(70_000));
    let nested = format!("pattern: {}{}", "[".repeat(20_000), "]".repeat(20_000));
    let refusals =
        [deep, wide, related, large, nested].map(|text| refusal("pattern: eval($CODE)", &text));
    assert_snapshot!(refusals.join("\n"), @r#"
    own.yaml:10:1: too large: at most 400 parts, 16 levels and 5 relations in one another
    own.yaml:10:1: too large: at most 400 parts, 16 levels and 5 relations in one another
    own.yaml:10:1: too large: at most 400 parts, 16 levels and 5 relations in one another
    own.yaml: the file has 70327 bytes, the limit is 65536
    own.yaml:11:52: recursion limit exceeded
    "#);
}

#[test]
fn no_rule_file_panics() {
    bolero::check!().with_iterations(500).with_type::<Vec<(u16, u8, u8)>>().for_each(|edits| {
        let mut yaml = SOUND.as_bytes().to_vec();
        for (at, action, byte) in edits.iter().take(12) {
            let at = usize::from(*at) % yaml.len();
            match action % 3 {
                0 => yaml[at] = *byte,
                1 => yaml.insert(at, *byte),
                _ => drop(yaml.remove(at)),
            }
        }
        let Ok(rule) = Rule::parse("own.yaml", &String::from_utf8_lossy(&yaml)) else {
            return;
        };
        let source = Source::parse(Language::Python, "eval(x)\nprint(eval(y))\n").expect("parses");
        RuleSet::of([Arc::new(rule)]).run(&source, &"a.py".into());
    });
}
