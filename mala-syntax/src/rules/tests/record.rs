//! Which rules may block a change by default: those whose findings on real commits were right.

use crate::rules::builtin;
use crate::{cross_file, diff_checks};
use mala_domain::finding::Priority;
use mala_domain::language::Language;
use std::collections::HashMap;

/// Every judged cause of a finding: project, commit, rule, and whether the finding was right.
const JUDGEMENTS: &str = include_str!("../../../../docs/history-judgements.tsv");

/// Fewer causes than this say little.
const MIN_CAUSES: usize = 5;

/// A line that starts with seven `<` or `>` in a text file is what the rule says it is.
const EXACT: &str = "diff/conflict-marker";

#[derive(Debug, Default)]
struct Record {
    right: usize,
    wrong: usize,
}

impl Record {
    fn allows_blocking(&self) -> bool {
        let causes = self.right + self.wrong;
        causes >= MIN_CAUSES && self.right * 10 >= causes * 9
    }
}

/// The records of single rules and of the folders that they are in.
fn records() -> HashMap<&'static str, Record> {
    let mut records: HashMap<&str, Record> = HashMap::new();
    for row in JUDGEMENTS.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        let (rule, verdict) = (cells[3], cells[5]);
        let (folder, _) = rule.split_once('/').expect("a folder");
        for kind in [rule, folder] {
            let record = records.entry(kind).or_default();
            match verdict {
                "right" => record.right += 1,
                "wrong" => record.wrong += 1,
                other => panic!("{other:?} is no verdict"),
            }
        }
    }
    records
}

/// The rules that block by default, by id.
fn blocking() -> Vec<String> {
    let rules = builtin::rules(&Language::ALL);
    let embedded = rules.iter().filter(|it| it.is_default()).map(|it| (it.id.clone(), it.priority));
    let lines = diff_checks::line_rules().map(|it| (it.id.clone(), it.priority));
    let checks = [diff_checks::checks(), cross_file::checks()].concat();
    let coded = checks.iter().map(|it| (it.id.to_owned(), it.priority));
    let all = embedded.chain(lines).chain(coded);
    all.filter(|(_, priority)| *priority <= Priority::P1).map(|(id, _)| id).collect()
}

#[test]
fn only_rules_with_a_record_on_real_commits_block_by_default() {
    let records = records();
    let has_record = |kind: &str| records.get(kind).is_some_and(Record::allows_blocking);
    let unproven: Vec<String> = blocking()
        .into_iter()
        .filter(|id| {
            let folder = id.split('/').next().unwrap_or_default();
            id != EXACT && !has_record(id) && !has_record(folder)
        })
        .collect();
    assert!(unproven.is_empty(), "these may have priority 2 at most: {unproven:?}");
}
