//! A ledger that cannot be used, that is written by many, and whose writers die.

use super::{commit, ids, json, ledger_file, repo, review};
use insta::assert_snapshot;
use mala_testkit::World;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

#[test]
fn a_damaged_ledger_is_moved_aside_and_the_review_goes_on() {
    let world = repo();
    review(&world, &[]);
    std::fs::write(ledger_file(&world), "not a database, but long enough to look like a file")
        .unwrap();
    let (code, report) = review(&world, &[]);
    assert_eq!(code, 1);
    assert_snapshot!(world.clean(&report["warnings"].to_string()), @r#"["the ledger [WORK]/.git/mala/ledger.db was damaged: it was moved to [WORK]/.git/mala/ledger.db.damaged-1, and a new one is used: the whole change is reviewed as in a first review"]"#);
    assert!(ledger_file(&world).with_extension("db.damaged-1").exists());
    assert_eq!(ids(&world).len(), 1);
}

/// A lost ledger waives nothing, and nothing is late without it.
#[test]
fn a_review_without_its_ledger_is_a_full_first_round() {
    type Damage = fn(&mut Vec<u8>);
    let damages: [Damage; 2] = [
        |bytes| bytes.truncate(100),
        |bytes| {
            for page in bytes.chunks_mut(4096).skip(1) {
                page[..200].fill(0xa5);
            }
        },
    ];
    let mut warnings = String::new();
    for damage in damages {
        let world = repo();
        review(&world, &[]);
        let id = ids(&world).remove(0);
        world.output(&["findings", "waive", &id, "--reason", "x"], b"");
        assert_eq!(review(&world, &[]).0, 0);
        let mut bytes = std::fs::read(ledger_file(&world)).unwrap();
        damage(&mut bytes);
        std::fs::write(ledger_file(&world), bytes).unwrap();
        let (code, report) = review(&world, &[]);
        assert_eq!(code, 1, "{report:#}");
        warnings.push_str(&world.clean(&format!("{}\n", report["warnings"])));
        assert!(ledger_file(&world).with_extension("db.damaged-1").exists());
        assert_eq!(review(&world, &[]).0, 1);
        assert_eq!(ids(&world).len(), 1, "there is a new one");
        assert_sound(&world);
    }
    assert_snapshot!(warnings, @r#"
    ["the ledger [WORK]/.git/mala/ledger.db was damaged: it was moved to [WORK]/.git/mala/ledger.db.damaged-1, and a new one is used: the whole change is reviewed as in a first review"]
    ["ledger [WORK]/.git/mala/ledger.db: database disk image is malformed: it was moved to [WORK]/.git/mala/ledger.db.damaged-1: the whole change is reviewed as in a first review, and this review is not stored"]
    "#);
}

/// What `mala doctor` says about the ledger.
#[track_caller]
fn assert_sound(world: &World) {
    let shown = world.run(&["doctor"]);
    let line = shown.lines().find(|line| line.starts_with("ledger "));
    assert_eq!(line, Some("ledger         ok      sound"), "{shown}");
}

#[test]
fn a_ledger_of_a_newer_version_is_left_alone() {
    let world = repo();
    review(&world, &[]);
    let before = set_version(&world, 99);
    let (code, report) = review(&world, &[]);
    assert_eq!(code, 1);
    assert_snapshot!(world.clean(&report["warnings"].to_string()), @r#"["[WORK]/.git/mala/ledger.db has format 99, and this version of mala reads up to 4: the whole change is reviewed as in a first review, and this review is not stored"]"#);
    assert_snapshot!(world.run(&["findings"]), @"
    [exit 2]
    [stderr]
    error: [WORK]/.git/mala/ledger.db has format 99, and this version of mala reads up to 4
    hint: update mala; reviews work without the ledger until then
    ");
    assert_eq!(std::fs::read(ledger_file(&world)).unwrap(), before);
}

/// Writes the version into the header of the file, where SQLite keeps it.
fn set_version(world: &mala_testkit::World, version: u8) -> Vec<u8> {
    let mut bytes = std::fs::read(ledger_file(world)).unwrap();
    bytes[60..64].copy_from_slice(&[0, 0, 0, version]);
    std::fs::write(ledger_file(world), &bytes).unwrap();
    bytes
}

#[test]
fn a_ledger_that_cannot_be_written_is_a_warning_and_never_a_pass() {
    let world = repo();
    review(&world, &[]);
    let id = ids(&world).remove(0);
    world.output(&["findings", "waive", &id, "--reason", "x"], b"");
    assert_eq!(review(&world, &[]).0, 0);
    // A folder in place of the file stands for every disk that cannot be written: root writes anywhere.
    let folder = ledger_file(&world).parent().unwrap().to_owned();
    let aside = folder.with_extension("aside");
    std::fs::rename(&folder, &aside).unwrap();
    std::fs::write(&folder, "").unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o444)).unwrap();
    let (code, report) = review(&world, &[]);
    assert_eq!(code, 1, "without the ledger, nothing is waived");
    assert_snapshot!(world.clean(&report["warnings"].to_string()), @r#"["ledger [WORK]/.git/mala/ledger.db: cannot create its folder: File exists (os error 17): the whole change is reviewed as in a first review, and this review is not stored"]"#);
    assert_snapshot!(world.run(&["findings"]), @"
    [exit 2]
    [stderr]
    error: ledger [WORK]/.git/mala/ledger.db: cannot create its folder: File exists (os error 17)
    ");
    std::fs::remove_file(&folder).unwrap();
    std::fs::rename(&aside, &folder).unwrap();
    assert_eq!(review(&world, &[]).0, 0);
}

#[test]
fn eight_reviews_at_once_leave_a_consistent_ledger() {
    let world = repo();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(review(&world, &[]).0, 1));
        }
    });
    let id = ids(&world);
    assert_eq!(id.len(), 1, "one finding, however many report it");
    let (_, shown) = json(&world, &["findings", "show", &id[0], "--format", "json"]);
    assert_eq!(shown["occurrences"].as_array().unwrap().len(), 8);
    assert_eq!(shown["finding"]["n_occurrences"], 8);
    let (_, stats) = json(&world, &["stats", "--format", "json"]);
    assert_eq!(stats["n_reviews"], 8);
}

/// What a command acknowledged by its exit code is in the ledger, whenever another writer is killed: at moments from
/// the opening of the ledger to after the end of a command.
#[test]
fn a_writer_that_is_killed_at_any_moment_loses_nothing_acknowledged() {
    let world = repo();
    review(&world, &[]);
    let id = ids(&world).remove(0);
    let started = |number: u32| -> Child {
        let mut command = world.command(env!("CARGO_BIN_EXE_mala"));
        command.args(["findings", "dispute", &id, "--reason", &format!("number {number}")]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // SQLite creates this file when the ledger is read first, and removes it when it is closed.
        let opened = ledger_file(&world).with_extension("db-wal");
        while !opened.exists() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child
    };
    let duration = (0..3).map(|number| {
        let mut child = started(number);
        let opened = Instant::now();
        assert!(child.wait().unwrap().success());
        opened.elapsed()
    });
    let (duration, mut acknowledged, mut n_done) = (duration.max().unwrap(), 3, 0);
    for number in 0..100 {
        let mut child = started(number);
        std::thread::sleep(duration * number / 80);
        child.kill().unwrap_or_default();
        let is_done = child.wait().unwrap().success();
        n_done += u32::from(is_done);
        let (code, shown) = json(&world, &["findings", "show", &id, "--format", "json"]);
        assert_eq!(code, 0, "it opens");
        let changes = shown["state_changes"].as_array().unwrap().len();
        assert!(changes >= acknowledged + usize::from(is_done), "{number}: something was lost");
        assert_eq!(shown["finding"]["state"], "disputed", "{number}");
        acknowledged = changes;
    }
    assert!(n_done < 100, "no command was killed before its end");
    assert_sound(&world);
}

#[test]
fn a_review_that_is_killed_at_any_moment_loses_nothing_acknowledged() {
    let world = repo();
    let mut acknowledged = 0;
    for number in 0..20u64 {
        let mut child = world
            .command(env!("CARGO_BIN_EXE_mala"))
            .args(["review", "--base", "main", "--reviewer", "builtin"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(number * 48_611 % 400_000));
        child.kill().unwrap_or_default();
        let is_done = child.wait().unwrap().code() == Some(1);
        let (code, stats) = json(&world, &["stats", "--format", "json"]);
        assert_eq!(code, 0, "it opens");
        let stored = stats["n_reviews"].as_u64().unwrap();
        assert!(stored >= acknowledged + u64::from(is_done), "{number}: a review was lost");
        let n_findings = u64::from(stored > 0);
        assert_eq!(stats["n_findings"], n_findings, "{number}: a review is stored as a whole");
        acknowledged = stored;
    }
    assert_eq!(review(&world, &[]).0, 1);
    assert_sound(&world);
}

#[test]
fn the_worktrees_of_a_repository_share_the_ledger() {
    let world = repo();
    review(&world, &[]);
    let other = world.home().join("other");
    world.git(&["worktree", "add", "-q", "--detach", other.to_str().unwrap()]);
    let shown =
        world.command(env!("CARGO_BIN_EXE_mala")).current_dir(&other).args(["findings"]).output();
    assert!(String::from_utf8_lossy(&shown.unwrap().stdout).contains("debug/python-breakpoint"));
}

#[test]
fn nothing_is_stored_without_saving_and_the_order_survives_a_clock_that_is_set_back() {
    let world = repo();
    review(&world, &["--no-save"]);
    assert!(ids(&world).is_empty());
    review(&world, &[]);
    let export = String::from_utf8(world.output(&["findings", "export"], b"").stdout).unwrap();
    let year = |line: &str| line.split("\"at\":\"").nth(1).unwrap()[..4].to_owned();
    world.write("future.jsonl", export.replace(&format!("\"{}-", year(&export)), "\"2999-"));
    assert!(world.run(&["findings", "import", "future.jsonl"]).starts_with("[exit 0]"));
    world.write("other.py", "x = 1\n");
    commit(&world, "more");
    assert_eq!(review(&world, &[]).0, 1);
    let (_, list) = json(&world, &["findings", "--format", "json"]);
    assert!(list["findings"][0]["last_seen_at"].as_str().unwrap().starts_with("2999-"));
}
