//! A hostile repository: its configuration names commands, its options change the output, its
//! revisions look like options. Nothing runs, and the change is the same.

use super::*;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A repository with a change, and a program that leaves a trace if it runs.
fn armed() -> (TestRepo, PathBuf) {
    let repo = TestRepo::with_files(&[
        (".gitattributes", "*.txt filter=evil diff=evil merge=evil\n*.cfg filter=a=b.c\n"),
        ("a.txt", "one\ntwo\n"),
        ("b.cfg", "one\n"),
        ("src/c.py", "one\n"),
    ]);
    let trace = repo.beside("trace");
    let program = repo.beside("evil");
    std::fs::write(&program, format!("#!/bin/sh\necho \"$0 $@\" >> {}\ncat\n", trace.display()))
        .unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    repo.write("a.txt", "one\nTWO\n");
    repo.write("b.cfg", "ONE\n");
    repo.write("new.txt", "new\n");
    let program = program.to_str().unwrap();
    let settings = [
        ("core.fsmonitor", program),
        ("core.hooksPath", repo.root().parent().unwrap().to_str().unwrap()),
        ("core.pager", program),
        ("core.sshCommand", program),
        ("core.askPass", program),
        ("core.editor", program),
        ("core.gitProxy", program),
        ("core.alternateRefsCommand", program),
        ("credential.helper", program),
        ("diff.external", program),
        ("diff.evil.command", program),
        ("diff.evil.textconv", program),
        ("filter.evil.clean", program),
        ("filter.evil.smudge", program),
        ("filter.evil.process", program),
        ("filter.evil.required", "true"),
        ("filter.a=b.c.clean", program),
        ("gpg.program", program),
        ("log.showSignature", "true"),
        ("pager.diff", "true"),
        ("pager.grep", "true"),
        ("alias.diff", "!false"),
        ("uploadpack.packObjectsHook", program),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", "ext::sh -c 'touch /tmp/never'"),
        ("remote.origin.promisor", "true"),
        ("protocol.ext.allow", "always"),
    ];
    for (key, value) in settings {
        repo.git(&["config", key, value]);
    }
    for hook in ["post-index-change", "pre-auto-gc", "post-checkout", "fsmonitor-watchman"] {
        std::fs::copy(program, repo.beside(hook)).unwrap();
    }
    (repo, trace)
}

#[test]
fn nothing_that_the_configuration_names_runs() {
    let (repo, trace) = armed();
    let expected = "M a.txt -2:two +2:TWO\nM b.cfg -1:one +1:ONE\nA new.txt +1:new";
    let scoped = scope(&repo, ReviewTarget::WorkingTree);
    assert_eq!(show(&scoped), expected);
    assert_eq!(read(&scoped, Side::Head, "a.txt"), text("one\nTWO\n"));
    assert_eq!(words(&scoped, &["one", "TWO"], &[]).len(), 3);
    let targets = [
        ReviewTarget::Staged,
        range("HEAD", "HEAD"),
        ReviewTarget::Commits(vec!["HEAD".to_owned()]),
    ];
    for target in targets {
        let scoped = scope(&repo, target);
        words(&scoped, &["one"], &["*.txt"]);
        read(&scoped, Side::Head, "a.txt");
        history::look_at_all(&scoped, "a.txt");
        search::texts(&scoped, &["one"]);
    }
    history::look_at_all(&scoped, "a.txt");
    search::texts(&scoped, &["one"]);
    assert!(try_scope(&repo, range("no-such", "HEAD"), &[]).is_err());
    let traced = std::fs::read_to_string(&trace).unwrap_or_default();
    assert_eq!(traced, "");
}

#[test]
fn the_same_configuration_does_run_with_git_alone() {
    let (repo, trace) = armed();
    repo.try_git(&["diff", "HEAD"]);
    assert!(trace.exists(), "the test above would not see a command that runs");
}

#[test]
fn options_of_the_repository_do_not_change_what_is_reviewed() {
    let repo = TestRepo::with_files(&[("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n"), ("b.txt", "1\n")]);
    let expected = |repo: &TestRepo| {
        repo.write("a.txt", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n");
        repo.write("b.txt", "");
        repo.remove("b.txt");
        repo.write("c.txt", "1\n");
        scope(repo, ReviewTarget::WorkingTree)
    };
    let plain = expected(&repo);
    for setting in [
        "diff.noprefix=true",
        "diff.mnemonicPrefix=true",
        "diff.srcPrefix=x/",
        "diff.dstPrefix=y/",
        "diff.context=0",
        "diff.interHunkContext=50",
        "diff.renames=false",
        "diff.renameLimit=1",
        "diff.algorithm=patience",
        "diff.orderFile=/no/such/file",
        "diff.relative=true",
        "diff.ignoreSubmodules=all",
        "diff.submodule=log",
        "diff.suppressBlankEmpty=true",
        "diff.colorMoved=zebra",
        "diff.wsErrorHighlight=all",
        "diff.indentHeuristic=false",
        "color.ui=always",
        "color.diff=always",
        "color.grep=always",
        "core.quotePath=true",
        "core.abbrev=5",
        "core.attributesFile=/no/such/file",
        "grep.patternType=perl",
        "grep.column=true",
        "grep.lineNumber=false",
        "grep.fullName=false",
        "status.showUntrackedFiles=no",
        "submodule.recurse=true",
        "blame.ignoreRevsFile=/no/such/file",
    ] {
        let (key, value) = setting.split_once('=').unwrap();
        repo.git(&["config", key, value]);
        let scoped = expected(&repo);
        assert_eq!(scoped.scope, plain.scope, "{setting}");
        assert_eq!(words(&scoped, &["five"], &[]), ["a.txt:5:five"], "{setting}");
        repo.git(&["config", "--unset", key]);
    }
}

#[test]
fn revisions_are_never_options() {
    let repo = TestRepo::with_files(&[("a", "1\n")]);
    let before = files_below(repo.root());
    for revision in [
        "--output=x",
        "-O",
        "--all",
        "-",
        "--",
        "HEAD --output=x",
        "a b",
        "\n",
        "HEAD\nHEAD",
        "\0",
        "..",
        "HEAD..HEAD",
        "HEAD^@",
        "^HEAD",
        ":/no such message",
        "HEAD:a",
        "@{upstream}",
        "~1",
        "*",
    ] {
        for target in [
            range(revision, "HEAD"),
            range("HEAD", revision),
            ReviewTarget::SinceMergeBase { base: revision.to_owned(), head: String::new() },
            ReviewTarget::Commits(vec![revision.to_owned()]),
        ] {
            let error = try_scope(&repo, target, &[]).err();
            let shown = error.map(|error| error.to_string()).unwrap_or_default();
            assert!(shown.starts_with("unknown revision: "), "{revision:?}: {shown}");
        }
    }
    assert!(files_below(repo.root()) == before);
}

#[test]
fn replaced_objects_do_not_change_what_is_reviewed() {
    let repo = TestRepo::with_files(&[("a", "1\n")]);
    repo.write("a", "evil\n");
    let evil = repo.commit("evil");
    repo.git(&["checkout", "-q", "-b", "clean", "HEAD~1"]);
    repo.write("a", "good\n");
    let good = repo.commit("good");
    repo.git(&["replace", &evil, &good]);
    let shown = show(&scope(&repo, range(&format!("{evil}~1"), &evil)));
    assert_eq!(shown, "M a -1:1 +1:evil");
}

#[test]
fn links_lead_nowhere() {
    let repo = TestRepo::with_files(&[("a", "1\n"), ("dir/b", "1\n")]);
    std::fs::write(repo.beside("secret"), "key\n").unwrap();
    std::fs::create_dir(repo.beside("outside")).unwrap();
    std::fs::write(repo.beside("outside/c"), "key\n").unwrap();
    repo.link("up", "..");
    repo.link("file", repo.beside("secret"));
    repo.link("inside", "dir");
    let scoped = scope(&repo, ReviewTarget::WorkingTree);
    for path in ["file", "up/secret", "up", "inside/b", "../secret", "/etc/passwd", "dir/../a", ""]
    {
        assert_eq!(read(&scoped, Side::Head, path), Blob::Missing, "{path}");
    }
    repo.commit("links");
    let scoped = scope(&repo, range("HEAD~1", "HEAD"));
    for path in ["file", "up/secret", "inside/b", "../secret", "dir/../a", "dir//b", ""] {
        assert_eq!(read(&scoped, Side::Head, path), Blob::Missing, "{path}");
    }
    assert_eq!(words(&scoped, &["key"], &[]), [""; 0]);
    // A folder that becomes a link hides its content.
    std::fs::remove_dir_all(repo.path("dir")).unwrap();
    repo.link("dir", repo.beside("outside"));
    let scoped = scope(&repo, ReviewTarget::WorkingTree);
    assert_eq!(read(&scoped, Side::Head, "dir/c"), Blob::Missing);
    assert_eq!(words(&scoped, &["key"], &[]), [""; 0]);
}

#[test]
fn pipes_and_devices_are_no_files() {
    let repo = TestRepo::with_files(&[("a", "1\n")]);
    let made = std::process::Command::new("mkfifo").arg(repo.path("pipe")).status().unwrap();
    assert!(made.success());
    let scoped = scope(&repo, ReviewTarget::WorkingTree);
    assert_eq!(show(&scoped), "");
    assert_eq!(read(&scoped, Side::Head, "pipe"), Blob::Missing);
}
