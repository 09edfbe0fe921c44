//! `mala init --hooks`: into files that have other settings, and out of them again.

use crate::world;
use insta::assert_snapshot;
use mala_testkit::World;

fn project() -> World {
    let world = world();
    world.git(&["init", "-q", "-b", "main"]).write("a.py", "x = 1\n");
    world.git(&["add", "."]).git(&["commit", "-qm", "start"]);
    world.with_only_programs(&["git"]).with_program("mala", "")
}

/// The settings that `init` wrote, committed.
fn commit_panel(world: &World) {
    assert_eq!(world.read("mala.yaml"), "gate:\n  panel: [builtin]\n");
    world.git(&["add", "mala.yaml"]).git(&["commit", "-qm", "settings"]);
}

fn assert_clean(world: &World) {
    let status = world.command("git").args(["status", "--short"]).output().unwrap();
    assert_eq!(String::from_utf8(status.stdout).unwrap(), "", "all is as it was");
}

#[test]
fn a_project_gets_the_hooks() {
    let world = project();
    assert_snapshot!(world.run(&["init", "--hooks"]), @"
    [exit 0]
    [stderr]
    wrote [WORK]/.claude/settings.json
    wrote [WORK]/.codex/hooks.json
    reviewers: builtin, since no other one is usable here (wrote mala.yaml)
    warning: mala.yaml is not committed: hooks read it from the commit that work starts from, and for a push from the remote; commit and push it first
    codex runs the hook after you trust it: /hooks in codex
    ");
    assert_snapshot!(world.read(".codex/hooks.json"), @r#"
    {
      "hooks": {
        "SessionStart": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "mala hook start",
                "timeout": 30
              }
            ]
          }
        ],
        "Stop": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "mala hook stop",
                "timeout": 600
              }
            ]
          }
        ]
      }
    }
    "#);
    assert_eq!(world.read(".codex/hooks.json"), world.read(".claude/settings.json"));
}

#[test]
fn hooks_are_installed_once_and_removed() {
    let world = project();
    world.run(&["init", "--hooks"]);
    commit_panel(&world);
    assert_snapshot!(world.run(&["init", "--hooks"]), @"
    [exit 0]
    [stderr]
    [WORK]/.claude/settings.json: the hook is already there
    [WORK]/.codex/hooks.json: the hook is already there
    reviewers: builtin
    codex runs the hook after you trust it: /hooks in codex
    ");
    assert_snapshot!(world.run(&["init", "--hooks", "--remove"]), @"
    [exit 0]
    [stderr]
    removed [WORK]/.claude/settings.json: nothing else was in it
    removed [WORK]/.codex/hooks.json: nothing else was in it
    ");
    assert_snapshot!(world.run(&["init", "--hooks", "--remove"]), @"
    [exit 0]
    [stderr]
    [WORK]/.claude/settings.json: no such file
    [WORK]/.codex/hooks.json: no such file
    ");
    assert_clean(&world);
}

#[test]
fn settings_that_do_not_count_yet_are_told() {
    let world = project().with_program("codex", "").with_env("CODEX_API_KEY", "k");
    world.write("mala.yaml", "gate: {consensus: any}\n");
    assert_snapshot!(world.run(&["init", "--hooks=claude"]), @"
    [exit 0]
    [stderr]
    wrote [WORK]/.claude/settings.json
    reviewers: codex (a second opinion: gate.panel: [codex, builtin] in mala.yaml)
    warning: mala.yaml is not committed: hooks read it from the commit that work starts from, and for a push from the remote; commit and push it first
    ");
    world.git(&["add", "mala.yaml"]).git(&["commit", "-qm", "settings"]);
    assert_snapshot!(world.run(&["init", "--hooks=claude"]), @"
    [exit 0]
    [stderr]
    [WORK]/.claude/settings.json: the hook is already there
    reviewers: codex (a second opinion: gate.panel: [codex, builtin] in mala.yaml)
    ");
}

#[test]
fn one_host_is_enough_and_what_it_has_stays() {
    let world = project();
    let settings = "{\n    // ours\n    \"model\": \"opus\",\n    \"hooks\": {\"Stop\": [{\"hooks\": []}]}\n}\n";
    world.write(".claude/settings.json", settings);
    assert_snapshot!(world.run(&["init", "--hooks=claude"]), @"
    [exit 0]
    [stderr]
    wrote [WORK]/.claude/settings.json
    reviewers: builtin, since no other one is usable here (wrote mala.yaml)
    warning: mala.yaml is not committed: hooks read it from the commit that work starts from, and for a push from the remote; commit and push it first
    ");
    assert!(!world.folder().join(".codex").exists());
    assert_snapshot!(world.read(".claude/settings.json"), @r#"
    {
        // ours
        "model": "opus",
        "hooks": {
            "Stop": [{"hooks": []},
                {
                    "hooks": [
                        {
                            "type": "command",
                            "command": "mala hook stop",
                            "timeout": 600
                        }
                    ]
                }],
            "SessionStart": [
                {
                    "hooks": [
                        {
                            "type": "command",
                            "command": "mala hook start",
                            "timeout": 30
                        }
                    ]
                }
            ]
        }
    }
    "#);
    world.run(&["init", "--hooks", "--remove"]);
    assert_eq!(world.read(".claude/settings.json"), settings);
}

#[test]
fn what_was_empty_a_link_or_read_only_is_so_again() {
    use std::os::unix::fs::PermissionsExt;
    let world = project();
    let at = |path: &str| world.folder().join(path);
    world.write(".claude/settings.json", "{}\n").write(".codex/keep", "");
    std::os::unix::fs::symlink("elsewhere.json", at(".codex/hooks.json")).unwrap();
    let read_only = std::fs::Permissions::from_mode(0o444);
    std::fs::set_permissions(at(".claude/settings.json"), read_only).unwrap();
    world.run(&["init", "--hooks"]);
    assert!(world.read(".claude/settings.json").contains("mala hook stop"));
    assert!(world.read(".codex/elsewhere.json").contains("mala hook stop"));
    assert!(at(".codex/hooks.json").is_symlink());
    world.run(&["init", "--hooks", "--remove"]);
    assert_eq!(world.read(".claude/settings.json"), "{}\n");
    let mode = std::fs::metadata(at(".claude/settings.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o444);
    assert!(at(".codex/hooks.json").is_symlink() && !at(".codex/elsewhere.json").exists());
}

#[test]
fn what_cannot_be_understood_is_left_alone() {
    let world = project();
    world.write(".codex/hooks.json", "{\"hooks\": {\n");
    assert_snapshot!(world.run(&["init", "--hooks"]), @"
    [exit 2]
    [stderr]
    error: [WORK]/.codex/hooks.json: unterminated object on line 1 column 11
    hint: nothing was changed: repair the file first
    ");
    assert!(!world.folder().join(".claude").exists(), "nothing is half done");
    assert_eq!(world.read(".codex/hooks.json"), "{\"hooks\": {\n");
    assert_snapshot!(world.run(&["init", "--remove"]), @"
    [exit 64]
    [stderr]
    error: the following required arguments were not provided:
      --hooks[=<HOST>]

    Usage: mala init --hooks[=<HOST>] --remove

    For more information, try '--help'.
    ");
    assert_snapshot!(crate::world().run(&["init", "--hooks"]), @"
    [exit 64]
    [stderr]
    error: not in a git repository
    hint: hooks review the work in one
    ");
}

#[test]
fn a_link_out_of_the_work_tree_is_not_followed() {
    let mut refused = String::new();
    for (link, target) in
        [(".claude", "../other"), (".claude/settings.json", "../../other/new.json")]
    {
        let world = project();
        let at = |path: &str| world.folder().join(path);
        let other = world.folder().parent().unwrap().join("other");
        std::fs::create_dir_all(&other).unwrap();
        std::fs::create_dir_all(at(link).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, at(link)).unwrap();
        for args in [&["init", "--hooks"][..], &["init", "--hooks", "--remove"]] {
            refused.push_str(&world.run(args));
        }
        assert_eq!(std::fs::read_dir(&other).unwrap().count(), 0, "{link}");
        assert!(!at(".codex").exists(), "nothing is half done");
        std::fs::remove_dir_all(&other).unwrap();
    }
    assert_snapshot!(refused, @"
    [exit 2]
    [stderr]
    error: [WORK]/.claude/settings.json: the link leads out of the work tree
    hint: nothing was changed
    [exit 2]
    [stderr]
    error: [WORK]/.claude/settings.json: the link leads out of the work tree
    hint: nothing was changed
    [exit 2]
    [stderr]
    error: [WORK]/.claude/../../other/new.json: the link leads out of the work tree
    hint: nothing was changed
    [exit 2]
    [stderr]
    error: [WORK]/.claude/../../other/new.json: the link leads out of the work tree
    hint: nothing was changed
    ");
}

#[test]
fn a_hook_written_by_hand_stays() {
    let world = project();
    let own = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mala hook stop --timeout 60"}]}]}}"#;
    world.write(".claude/settings.json", own);
    world.run(&["init", "--hooks=claude"]);
    let both = world.read(".claude/settings.json");
    assert_eq!(both.matches("mala hook stop").count(), 1, "{both}");
    assert_eq!(both.matches("mala hook start").count(), 1, "{both}");
    world.run(&["init", "--hooks", "--remove"]);
    assert_eq!(world.read(".claude/settings.json"), own);
    assert_snapshot!(world.run(&["init", "--hooks", "--remove"]), @"
    [exit 0]
    [stderr]
    [WORK]/.claude/settings.json: its hook was not written by mala init, and stays
    [WORK]/.codex/hooks.json: no such file
    ");
}

/// Without any CLI, with one, and with only a key: what is set up, what is said, and what is written.
#[test]
fn init_sets_up_what_is_usable_and_says_so() {
    const BOTH: &[&str] = &[".claude/settings.json", ".codex/hooks.json"];
    let mut said = String::new();
    for (cli, key, hosts, panel) in [
        ("", "", BOTH, "gate:\n  panel: [builtin]\n"),
        ("", "ANTHROPIC_API_KEY", BOTH, "gate:\n  panel: [agent]\n"),
        ("codex", "CODEX_API_KEY", &[".codex/hooks.json"][..], ""),
        ("claude", "ANTHROPIC_API_KEY", &[".claude/settings.json"], ""),
    ] {
        let mut world = project();
        if !cli.is_empty() {
            world = world.with_program(cli, "");
        }
        if !key.is_empty() {
            world = world.with_env(key, "k");
        }
        let shown = world.run(&["init", "--hooks"]);
        said.push_str(&shown);
        for host in BOTH {
            let is_there = world.folder().join(host).exists();
            assert_eq!(is_there, hosts.contains(host), "{cli} {key} {host}: {shown}");
        }
        let written = std::fs::read_to_string(world.folder().join("mala.yaml"));
        assert_eq!(written.unwrap_or_default(), panel, "{cli} {key}");
    }
    assert_snapshot!(said, @"
    [exit 0]
    [stderr]
    wrote [WORK]/.claude/settings.json
    wrote [WORK]/.codex/hooks.json
    reviewers: builtin, since no other one is usable here (wrote mala.yaml)
    warning: mala.yaml is not committed: hooks read it from the commit that work starts from, and for a push from the remote; commit and push it first
    codex runs the hook after you trust it: /hooks in codex
    [exit 0]
    [stderr]
    wrote [WORK]/.claude/settings.json
    wrote [WORK]/.codex/hooks.json
    reviewers: agent, since no other one is usable here (wrote mala.yaml)
    warning: mala.yaml is not committed: hooks read it from the commit that work starts from, and for a push from the remote; commit and push it first
    codex runs the hook after you trust it: /hooks in codex
    [exit 0]
    [stderr]
    wrote [WORK]/.codex/hooks.json
    reviewers: codex (a second opinion: gate.panel: [codex, builtin] in mala.yaml)
    codex runs the hook after you trust it: /hooks in codex
    [exit 0]
    [stderr]
    wrote [WORK]/.claude/settings.json
    reviewers: claude (a second opinion: gate.panel: [claude, agent] in mala.yaml)
    ");
}
