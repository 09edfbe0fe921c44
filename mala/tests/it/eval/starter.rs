//! The cases in the binary are what they say they are.

use mala::wiring::eval::starter;
use mala_domain::change::{Change, parse};
use mala_eval::trees::CaseTrees;
use mala_eval::{BaseOrigin, EvalCase};

fn cases() -> Vec<EvalCase> {
    starter().unwrap().cases().map(Result::unwrap).collect()
}

#[test]
fn there_are_enough_of_each_kind() {
    let cases = cases();
    let count = |languages: &[&str], is_clean: bool| {
        let of = |case: &&EvalCase| {
            languages.contains(&case.language.as_str()) && case.is_clean() == is_clean
        };
        cases.iter().filter(of).count()
    };
    assert!(count(&["python"], false) >= 6);
    assert!(count(&["javascript", "typescript"], false) >= 4);
    assert!(count(&["python"], true) >= 1 && count(&["javascript", "typescript"], true) >= 1);
    for case in &cases {
        assert_eq!(case.meta.licence(), Some("MIT OR Apache-2.0"), "{}", case.id);
        assert!(case.meta.source().is_some() && !case.pr_description.is_empty(), "{}", case.id);
    }
}

#[test]
fn every_diff_leads_to_the_files() {
    for case in cases() {
        let trees = CaseTrees::of(&case);
        assert_eq!((trees.origin, trees.notes), (BaseOrigin::Reverted, vec![]), "{}", case.id);
        let change = Change { files: parse(case.diff.as_bytes()).unwrap() };
        assert!(change.files.len() > 1, "{} changes one file only", case.id);
        for file in change.files.iter().filter(|file| file.exists_at_head()) {
            let text = &case.files[&file.path];
            let at_head: Vec<&str> = text.lines().collect();
            for (line, added) in file.added_lines() {
                assert_eq!(at_head[line as usize - 1], added, "{} {}", case.id, file.path);
            }
        }
    }
}

#[test]
fn every_problem_is_on_changed_lines_that_show_it() {
    for case in cases() {
        let change = Change { files: parse(case.diff.as_bytes()).unwrap() };
        for truth in &case.ground_truth {
            let place = format!("{} {}:{}", case.id, truth.file, truth.line_start);
            let lines: Vec<&str> = case.files[&truth.file].lines().collect();
            let span = truth.span();
            let meant = &lines[span.start() as usize - 1..span.end() as usize];
            let evidence = truth.evidence.as_deref().unwrap();
            assert!(meant.iter().any(|line| line.contains(evidence)), "{place}: {evidence}");
            let file = change.file(&truth.file).unwrap();
            let is_added = |line: u32| file.added_lines().any(|(added, _)| added == line);
            assert!((span.start()..=span.end()).any(is_added), "{place} is not changed");
            assert!(truth.title.is_some() && truth.severity.is_some(), "{place}");
        }
    }
}
