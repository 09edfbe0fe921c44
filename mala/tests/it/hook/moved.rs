//! Branches that are moved between two stops: work that did not pass stays work, whatever is merged, pushed
//! or checked out, and what others published does not become work.

use super::bench::{BAD, Bench, GOOD, blocks, message};

const NONE: &str = "{}";

fn commit(bench: &Bench, file: &str, text: &str) {
    bench.repo.write(file, text);
    bench.repo.commit(file);
}

fn checkout(bench: &Bench, args: &[&str]) {
    bench.repo.git(&[&["checkout", "-q"], args].concat());
}

fn assert_blocks(bench: &Bench, is_continued: bool, said: &str) {
    let answer = bench.stop(is_continued);
    assert!(blocks(&answer) && message(&answer).contains(said), "{said}: {answer}");
}

fn assert_goes(bench: &Bench, is_continued: bool, said: &str) {
    let answer = bench.stop(is_continued);
    let told = if said == NONE { answer.to_string() } else { message(&answer).to_owned() };
    assert!(!blocks(&answer) && told.contains(said), "{said}: {answer}");
}

/// Others publish a bad file.
fn others_publish(bench: &Bench, file: &str) {
    let other = bench.repo.beside(file);
    let origin = bench.repo.beside("origin.git");
    let other = other.to_str().unwrap();
    bench.repo.git(&["clone", "-q", origin.to_str().unwrap(), other]);
    std::fs::write(std::path::Path::new(other).join(file), BAD).unwrap();
    bench.repo.git(&["-C", other, "add", "."]);
    bench.repo.git(&["-C", other, "commit", "-qm", "theirs"]);
    bench.repo.git(&["-C", other, "push", "-q", "origin", "HEAD:main"]);
}

#[test]
fn a_pass_of_other_work_accepts_nothing_else() {
    let bench = Bench::new("judge");
    checkout(&bench, &["-b", "first"]);
    commit(&bench, "a.py", BAD);
    assert_blocks(&bench, false, "block 1 of 3");
    checkout(&bench, &["-b", "second", "main"]);
    commit(&bench, "a.py", GOOD);
    assert_goes(&bench, true, "passes (judge); EARLIER WORK DID NOT PASS and is still on first");
    checkout(&bench, &["main"]);
    assert_goes(&bench, false, "nothing to review here; EARLIER WORK DID NOT PASS");
    bench.repo.git(&["merge", "-q", "first"]);
    checkout(&bench, &["first"]);
    assert_blocks(&bench, false, "1 finding");
    commit(&bench, "a.py", GOOD);
    assert_goes(&bench, true, "this work passes (judge)");
    checkout(&bench, &["main"]);
    assert_blocks(&bench, false, "1 finding");
}

#[test]
fn work_that_is_mended_in_place_is_not_told_of() {
    let bench = Bench::new("judge");
    checkout(&bench, &["-b", "first"]);
    commit(&bench, "a.py", BAD);
    assert_blocks(&bench, false, "block 1 of 3");
    bench.repo.write("a.py", GOOD);
    bench.repo.git(&["commit", "-q", "--amend", "-am", "good"]);
    let answer = bench.stop(true);
    assert_eq!(message(&answer), "mala: this work passes (judge)");
}

#[test]
fn letting_go_is_not_undone_by_a_branch_that_was_changed_before() {
    let bench = Bench::new("judge");
    commit(&bench, "a.py", GOOD);
    assert_goes(&bench, false, "this work passes");
    commit(&bench, "a.py", BAD);
    assert_blocks(&bench, false, "block 1 of 3");
    checkout(&bench, &["-b", "topic"]);
    commit(&bench, "a.py", &format!("{BAD}# bad too\n"));
    assert_blocks(&bench, true, "block 2 of 3");
    assert_blocks(&bench, true, "block 3 of 3");
    for is_continued in [true, false, true, true] {
        assert_goes(&bench, is_continued, "LET GO");
    }
}

#[test]
fn work_that_is_pushed_between_two_stops_is_work() {
    let bench = Bench::published("judge");
    assert_goes(&bench, false, NONE);
    commit(&bench, "a.py", BAD);
    bench.repo.git(&["push", "-q", "origin", "main"]);
    assert_blocks(&bench, false, "1 finding");
    commit(&bench, "a.py", GOOD);
    bench.repo.git(&["push", "-q", "origin", "main"]);
    assert_goes(&bench, true, "this work passes");
    assert_goes(&bench, false, NONE);
}

#[test]
fn work_that_is_pushed_before_the_first_stop_is_work() {
    for is_told in [true, false] {
        let bench = Bench::published("judge");
        if is_told {
            bench.begin();
        }
        commit(&bench, "a.py", BAD);
        bench.repo.git(&["push", "-q", "origin", "main"]);
        bench.begin();
        match is_told {
            true => assert_blocks(&bench, false, "1 finding"),
            false => assert_goes(&bench, false, NONE),
        }
    }
}

#[test]
fn a_branch_that_is_made_merged_and_deleted_before_the_first_stop_is_work() {
    let bench = Bench::published("judge");
    bench.begin();
    checkout(&bench, &["-b", "topic"]);
    commit(&bench, "a.py", BAD);
    checkout(&bench, &["main"]);
    bench.repo.git(&["merge", "-q", "--no-ff", "-m", "merge", "topic"]);
    bench.repo.git(&["branch", "-qD", "topic"]);
    bench.repo.git(&["push", "-q", "origin", "main"]);
    assert_blocks(&bench, false, "1 finding");
}

#[test]
fn what_others_published_is_not_the_agents_work() {
    for pull in [&["pull", "-q", "--rebase"][..], &["pull", "-q", "--no-rebase", "--no-edit"]] {
        let bench = Bench::published("judge");
        bench.begin();
        others_publish(&bench, "theirs.py");
        bench.repo.git(&["pull", "-q", "--ff-only"]);
        assert_goes(&bench, false, NONE);
        commit(&bench, "a.py", GOOD);
        others_publish(&bench, "more.py");
        bench.repo.git(pull);
        bench.repo.git(&["push", "-q", "origin", "main"]);
        assert_goes(&bench, false, "this work passes");
        assert_eq!(bench.sessions().len(), 1, "{pull:?}");
    }
}

#[test]
fn what_others_published_hides_no_push() {
    let bench = Bench::published("judge");
    bench.begin();
    commit(&bench, "a.py", BAD);
    bench.repo.git(&["push", "-q", "origin", "main"]);
    others_publish(&bench, "theirs.py");
    bench.repo.git(&["pull", "-q", "--ff-only"]);
    let answer = bench.stop(false);
    assert!(answer["reason"].as_str().is_some_and(|it| it.contains("a.py:2")), "{answer}");
}

#[test]
fn a_base_that_is_taken_in_is_not_work() {
    for is_on_main in [true, false] {
        let bench = Bench::published("judge");
        if !is_on_main {
            checkout(&bench, &["-b", "topic"]);
        }
        bench.begin();
        commit(&bench, "a.py", GOOD);
        assert_goes(&bench, false, "this work passes");
        others_publish(&bench, "theirs.py");
        bench.repo.git(&["pull", "-q", "--no-rebase", "--no-edit", "origin", "main"]);
        // Nobody accounts for another file.
        assert_goes(&bench, false, "this work passes");
        assert_eq!(bench.sessions().len(), 1, "its own work, which passed");
    }
}

#[test]
fn a_base_that_was_not_updated_here_does_not_count() {
    let bench = Bench::published("judge");
    others_publish(&bench, "theirs.py");
    bench.repo.git(&["fetch", "-q"]);
    checkout(&bench, &["-q", "-b", "topic", "origin/main"]);
    commit(&bench, "a.py", GOOD);
    assert_goes(&bench, false, "this work passes");
}

#[test]
fn what_is_made_here_is_work_however_it_was_published() {
    type Way = (&'static str, fn(&Bench, &str));
    let ways: &[Way] = &[
        ("by address", |bench, origin| {
            bench.repo.git(&["push", "-q", origin, "main"]);
            bench.repo.git(&["fetch", "-q", "origin"]);
        }),
        ("another remote", |bench, origin| {
            bench.repo.git(&["push", "-q", "origin", "main"]);
            bench.repo.git(&["remote", "remove", "origin"]);
            bench.repo.git(&["remote", "add", "origin", origin]);
            bench.repo.git(&["fetch", "-q", "origin"]);
            bench.repo.git(&["branch", "-q", "--set-upstream-to=origin/main"]);
        }),
        ("no reflog", |bench, _| {
            bench.repo.git(&["push", "-q", "origin", "main"]);
            bench.repo.git(&["reflog", "expire", "--expire=now", "--all"]);
            others_publish(bench, "theirs.py");
            bench.repo.git(&["pull", "-q", "--ff-only"]);
        }),
    ];
    for (why, publish) in ways {
        let bench = Bench::published("judge");
        bench.begin();
        commit(&bench, "a.py", BAD);
        publish(&bench, bench.repo.beside("origin.git").to_str().unwrap());
        let answer = bench.stop(false);
        assert!(blocks(&answer), "{why}: {answer}");
    }
}

#[test]
fn what_a_commit_calls_itself_does_not_matter() {
    for subject in ["allow fast-forward", "Fast-forward", "add a (start)", "checkout: reset"] {
        let bench = Bench::published("judge");
        bench.begin();
        bench.repo.write("a.py", BAD);
        bench.repo.commit(subject);
        bench.repo.git(&["push", "-q", "origin", "main"]);
        assert_blocks(&bench, false, "1 finding");
    }
}

#[test]
fn what_is_made_in_another_work_tree_is_work_here() {
    for is_at_a_stop in [true, false] {
        let bench = Bench::published("judge");
        bench.begin();
        let linked = bench.repo.beside("linked");
        let linked = linked.to_str().unwrap();
        bench.repo.git(&["worktree", "add", "-q", "-b", "topic", linked]);
        std::fs::write(std::path::Path::new(linked).join("a.py"), BAD).unwrap();
        bench.repo.git(&["-C", linked, "commit", "-qam", "bad"]);
        bench.repo.git(&["merge", "-q", "topic"]);
        if is_at_a_stop {
            assert_blocks(&bench, false, "1 finding");
            bench.repo.git(&["worktree", "remove", "--force", linked]);
            bench.repo.git(&["branch", "-qD", "topic"]);
        }
        bench.repo.git(&["push", "-q", "origin", "main"]);
        assert_blocks(&bench, true, "1 finding");
    }
}

#[test]
fn what_is_pushed_from_here_is_work_wherever_it_was_made() {
    for is_left in [true, false] {
        let bench = Bench::published("judge");
        bench.begin();
        let linked = bench.repo.beside("linked");
        let linked = linked.to_str().unwrap();
        bench.repo.git(&["worktree", "add", "-q", "--detach", linked]);
        for text in [BAD, &format!("{BAD}# more\n")] {
            std::fs::write(std::path::Path::new(linked).join("a.py"), text).unwrap();
            bench.repo.git(&["-C", linked, "commit", "-qam", "bad"]);
        }
        let made = bench.repo.git(&["-C", linked, "rev-parse", "HEAD"]);
        bench.repo.git(&["merge", "-q", made.trim()]);
        if !is_left {
            bench.repo.git(&["worktree", "remove", "--force", linked]);
        }
        bench.repo.git(&["push", "-q", "origin", "main"]);
        others_publish(&bench, "theirs.py");
        bench.repo.git(&["fetch", "-q"]);
        assert_blocks(&bench, false, "1 finding");
    }
}

#[test]
fn a_branch_of_its_own_that_is_pushed_takes_no_others_along() {
    for is_pushed_before in [true, false] {
        let bench = Bench::published("judge");
        bench.begin();
        checkout(&bench, &["-b", "topic"]);
        commit(&bench, "a.py", GOOD);
        if is_pushed_before {
            bench.repo.git(&["push", "-q", "-u", "origin", "topic"]);
        }
        others_publish(&bench, "theirs.py");
        bench.repo.git(&["fetch", "-q"]);
        bench.repo.git(&["merge", "-q", "--no-edit", "origin/main"]);
        bench.repo.git(&["push", "-q", "-u", "origin", "topic"]);
        assert_goes(&bench, false, "this work passes");
    }
}

#[test]
fn what_passes_on_disk_accepts_no_commit() {
    for is_published in [true, false] {
        let bench = if is_published { Bench::published("judge") } else { Bench::new("judge") };
        bench.begin();
        commit(&bench, "a.py", BAD);
        assert_blocks(&bench, false, "1 finding");
        bench.repo.write("a.py", GOOD);
        assert_goes(&bench, true, "this work passes");
        if is_published {
            bench.repo.git(&["push", "-q", "origin", "main"]);
        }
        bench.repo.git(&["checkout", "-q", "a.py"]);
        assert_blocks(&bench, false, "1 finding");
        bench.repo.write("a.py", GOOD);
        bench.repo.commit("good");
        assert_goes(&bench, true, "this work passes");
        if !is_published {
            assert_goes(&bench, false, NONE);
        }
    }
}

#[test]
fn the_work_does_not_choose_its_base() {
    let bench = Bench::new("judge");
    let config = std::fs::read_to_string(bench.repo.path("mala.yaml")).unwrap();
    bench.repo.write("mala.yaml", format!("{config}review: {{base: trunk}}\n"));
    commit(&bench, "a.py", BAD);
    bench.repo.git(&["branch", "trunk"]);
    assert!(blocks(&bench.stop(false)));
}

#[test]
fn every_branch_with_open_work_is_told() {
    let bench = Bench::new("judge");
    bench.begin();
    for name in ["first", "second"] {
        checkout(&bench, &["-b", name, "main"]);
        commit(&bench, "a.py", &format!("{BAD}# {name}\n"));
        assert_blocks(&bench, false, "1 finding");
    }
    bench.repo.git(&["tag", "kept"]);
    checkout(&bench, &["-b", "third", "main"]);
    bench.repo.git(&["branch", "-qD", "second"]);
    commit(&bench, "a.py", GOOD);
    assert_goes(&bench, false, "EARLIER WORK DID NOT PASS and is still on first, kept");
}

#[test]
fn where_nobody_knows_where_work_starts_branches_have_their_own() {
    let bench = Bench::new("judge");
    // All of it is work, the settings of the repository too.
    let config = bench.world.home().join(".config/mala/config.yaml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(config, "gate: {lanes: {judge: {command: [lane, judge]}}}\n").unwrap();
    std::fs::remove_file(bench.repo.path(".git/mala-hook/baseline")).unwrap();
    commit(&bench, "a.py", BAD);
    assert_blocks(&bench, false, "1 finding");
    checkout(&bench, &["-b", "topic"]);
    bench.repo.write("a.py", BAD.replace("bad", "good"));
    bench.repo.commit("good");
    assert_goes(&bench, false, "passes (judge); EARLIER WORK DID NOT PASS and is still on main");
    checkout(&bench, &["main"]);
    assert_blocks(&bench, false, "1 finding");
}

#[test]
fn a_conversation_begins_where_it_is() {
    let bench = Bench::new("judge");
    commit(&bench, "old.py", BAD);
    std::fs::remove_file(bench.repo.path(".git/mala-hook/baseline")).unwrap();
    bench.begin();
    commit(&bench, "a.py", GOOD);
    assert_goes(&bench, false, "this work passes (judge)");
    commit(&bench, "a.py", BAD);
    checkout(&bench, &["-b", "topic"]);
    assert_blocks(&bench, false, "1 finding");
}

#[test]
fn a_conversation_without_a_repository_or_with_nonsense_begins_all_the_same() {
    let bench = Bench::new("judge");
    for (stdin, said) in
        [(&b"nonsense"[..], "warning: where the work begins is not remembered"), (b"{}", "")]
    {
        let output = bench.world.output(&["hook", "start"], stdin);
        assert_eq!(output.status.code(), Some(0));
        assert!(output.stdout.is_empty());
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains(said) && told.is_empty() == said.is_empty(), "{told}");
    }
    let home = bench.world.home();
    let world = bench.world.in_folder(&home);
    let output = world.output(&["hook", "start"], &super::bench::asking(&home, false));
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
}
