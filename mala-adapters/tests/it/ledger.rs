//! The ledger's database, where it differs from what its callers see.

use crate::git::wait;
use mala_adapters::ledger::SqliteLedger;
use mala_domain::change::FilePath;
use mala_domain::ports::{FindingFilter, Ledger};

/// The baseline of a large repository asks for all of its files at once.
#[test]
fn findings_are_looked_up_in_more_files_than_a_statement_has_variables() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = SqliteLedger::open(&folder.path().join("ledger.db")).unwrap();
    let files = (0..40_000).map(|number| FilePath::from(format!("d/f{number}.py").as_str()));
    let filter = FindingFilter { files: files.collect(), ..FindingFilter::default() };
    assert_eq!(wait(ledger.findings(&filter)).unwrap(), []);
}

#[test]
fn several_processes_can_create_the_ledger_at_the_same_time() {
    for _ in 0..40 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let start = std::sync::Barrier::new(8);
        let open = || {
            start.wait();
            SqliteLedger::open(&path).map(drop).map_err(|error| error.to_string())
        };
        let opened: Vec<Result<(), String>> = std::thread::scope(|scope| {
            let running: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            running.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert!(opened.iter().all(Result::is_ok), "{opened:?}");
    }
}
