//! What holds for every embedded rule, and what a wrong rule file is told.

mod record;
mod refusals;
mod runs;
mod topics;

use super::builtin::{self, languages_of};
use super::*;
use ast_grep_core::Matcher;
use mala_domain::language::Language;
use std::sync::Arc;

#[test]
fn every_embedded_rule_is_sound() {
    let mut complaints = Vec::new();
    for (name, yaml) in builtin::files(&Language::ALL) {
        let rule = match Rule::parse(name, yaml) {
            Ok(rule) => Arc::new(rule),
            Err(error) => {
                complaints.push(error.to_string());
                continue;
            }
        };
        let (folder, _) = name.split_once('/').expect("in a folder");
        if format!("{}.yaml", rule.id) != name {
            complaints.push(format!("{name}: its id is {}", rule.id));
        }
        if rule.languages.iter().any(|language| !languages_of(folder).contains(language)) {
            complaints.push(format!("{name}: looks at languages outside its folder"));
        }
        if rule.examples.bad.len() < 2 || rule.examples.good.len() < 2 {
            complaints.push(format!("{name}: needs two bad and two good examples"));
        }
        if let Detector::Shape(matchers) = &rule.detector
            && matchers.iter().any(|(_, core)| core.potential_kinds().is_none())
        {
            complaints.push(format!("{name}: may match any kind of node, give it a `kind`"));
        }
        complaints.extend(check_examples(&rule).iter().map(ToString::to_string));
    }
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

/// Words that say when something happens.
const CONDITIONS: [&str; 10] =
    ["when", "whenever", "whatever", "whether", "if", "once", "after", "while", "until", "unless"];

#[test]
fn every_message_says_when_what_happens() {
    let mut complaints = Vec::new();
    for (name, yaml) in builtin::files(&Language::ALL) {
        let rule = Rule::parse(name, yaml).expect("sound");
        let message = rule.message.to_string();
        let lower = message.to_lowercase();
        let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
        if !CONDITIONS.iter().any(|condition| words.contains(condition)) {
            complaints.push(format!("{name}: no condition in {message:?}"));
        }
        let message = message.replace("../", "");
        let doubled = ["..", ",.", ".,", ",,", " .", " ,"];
        if doubled.iter().any(|pair| message.contains(pair)) && !message.contains("...") {
            complaints.push(format!("{name}: doubled punctuation in {message:?}"));
        }
    }
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn embedded_rules_load_as_they_are() {
    for language in Language::ALL {
        assert!(builtin::load(&[language]).refused.is_empty(), "{language}");
    }
}

#[test]
fn rule_sets_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<RuleSet>();
    shared::<RuleMatch>();
}
