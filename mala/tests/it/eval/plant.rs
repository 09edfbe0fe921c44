//! `mala eval plant` from the outside: what it plants compiles, is found by a perfect reviewer, and leaves
//! the repository alone.

use super::*;
use mala_testkit::TestRepo;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

const SAMPLES: [(&str, &str); 6] = [
    ("src/orders.py", include_str!("samples/orders.py")),
    ("src/orders.js", include_str!("samples/orders.js")),
    ("src/orders.ts", include_str!("samples/orders.ts")),
    ("src/orders.go", include_str!("samples/orders.go")),
    ("src/orders.rs", include_str!("samples/orders.rs.txt")),
    ("src/Orders.java", include_str!("samples/Orders.java")),
];

/// A repository whose last commit adds a sample in every language.
fn sample_repository() -> (TestRepo, World) {
    let repo = TestRepo::with_files(&[("README.md", "# Orders\n")]);
    for (path, text) in SAMPLES {
        repo.write(path, text);
    }
    repo.commit("Add orders\n\nThey are kept in a file.");
    let world = world().in_folder(repo.root());
    (repo, world)
}

/// The cases that a command plants.
fn planted(world: &World, repo: &TestRepo, args: &[&str]) -> Vec<Value> {
    let mut all = vec!["eval", "plant", "--output", "set.jsonl"];
    all.extend(args);
    let shown = world.run(&all);
    assert!(shown.starts_with("[exit 0]"), "{shown}");
    let text = std::fs::read_to_string(repo.path("set.jsonl")).unwrap();
    std::fs::remove_file(repo.path("set.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The file with the defect: its path and its text.
fn defective(case: &Value) -> (&str, &str) {
    let file = text(case, "/ground_truth/0/file");
    (file, case["files"][file].as_str().unwrap())
}

#[test]
fn what_is_planted_compiles_in_every_language() {
    let (repo, world) = sample_repository();
    let cases = planted(&world, &repo, &["--count", "500"]);
    let mut by_ending: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for case in &cases {
        let (file, text) = defective(case);
        let before = SAMPLES.iter().find(|(path, _)| *path == file).unwrap().1;
        assert_ne!(text, before, "{case:#}");
        by_ending.entry(file.rsplit('.').next().unwrap()).or_default().push((case_id(case), text));
    }
    let folder = tempfile::tempdir().unwrap();
    for (ending, mutants) in &by_ending {
        let own = folder.path().join(ending);
        std::fs::create_dir(&own).unwrap();
        compile(ending, &own, mutants);
    }
    assert_eq!(by_ending.len(), SAMPLES.len());
    assert_documented(&cases);
}

fn case_id(case: &Value) -> &'static str {
    // Names of files outlive the cases that they are made from.
    Box::leak(text(case, "/id").replace('-', "_").into_boxed_str())
}

/// Compiles every mutated file. For Go, only the syntax is checked.
fn compile(ending: &str, folder: &Path, mutants: &[(&str, &str)]) {
    let files: Vec<String> = mutants
        .iter()
        .map(|(id, text)| {
            let file = folder.join(format!("m{id}.{ending}"));
            // Every class has a name of its own, so that one compiler takes them all.
            let text = text.replace("Orders", &format!("Orders{id}"));
            std::fs::write(&file, text).unwrap();
            file.display().to_string()
        })
        .collect();
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(".tools");
    match ending {
        "py" => check(Command::new("python3").args(["-m", "py_compile"]).args(&files)),
        "js" => files.iter().for_each(|file| check(Command::new("node").arg("--check").arg(file))),
        "ts" => {
            let tsc = tools.join("node_modules/.bin/tsc");
            assert!(tsc.exists(), "tsc is missing: run scripts/install-tools");
            let options = ["--noEmit", "--strict", "--target", "es2022", "--types", ""];
            check(Command::new(tsc).args(options).args(&files));
        }
        "rs" => {
            for file in &files {
                let options = ["--edition", "2024", "--crate-type", "lib", "--emit=metadata"];
                let mut rustc = Command::new("rustc");
                check(rustc.args(options).args(["--cap-lints", "allow", file]).current_dir(folder));
            }
        }
        "java" if Command::new("javac").arg("-version").output().is_ok() => {
            check(Command::new("javac").arg("-d").arg(folder).args(&files));
        }
        _ => {}
    }
}

fn check(command: &mut Command) {
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&said));
}

/// The documentation says which kinds each language has: a row per kind, a column per language.
fn assert_documented(cases: &[Value]) {
    let found: BTreeSet<(&str, &str)> =
        cases.iter().map(|case| (text(case, "/meta/kind"), text(case, "/language"))).collect();
    let kinds = [
        "off-by-one",
        "dropped-await",
        "swapped-arguments",
        "removed-check",
        "widened-exception",
        "leaked-handle",
        "inverted-condition",
    ];
    let languages = ["python", "javascript", "typescript", "go", "rust", "java"];
    let mut table =
        String::from("| kind | Python | JavaScript | TypeScript | Go | Rust | Java |\n");
    table.push_str("|---|---|---|---|---|---|---|\n");
    for kind in kinds {
        let cells =
            languages.map(|language| if found.contains(&(kind, language)) { "yes" } else { "-" });
        table.push_str(&format!("| `{kind}` | {} |\n", cells.join(" | ")));
    }
    let docs = include_str!("../../../../docs/eval.md");
    assert!(docs.contains(&table), "docs/eval.md does not have this table:\n{table}");
}

#[test]
fn the_seed_decides_and_nothing_is_touched() {
    let (repo, world) = sample_repository();
    let head = repo.head();
    let one = planted(&world, &repo, &["--count", "8", "--seed", "1"]);
    assert_eq!(one, planted(&world, &repo, &["--count", "8", "--seed", "1"]));
    assert_ne!(one, planted(&world, &repo, &["--count", "8", "--seed", "2"]));
    assert_eq!((one.len(), repo.head()), (8, head));
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    for case in &one {
        let truth = &case["ground_truth"][0];
        let (file, head) = defective(case);
        let line = truth["line_start"].as_u64().unwrap() as usize;
        let evidence = text(truth, "/evidence");
        assert_eq!(head.lines().nth(line - 1).unwrap().trim(), evidence, "{truth}");
        assert!(text(case, "/diff").contains(&format!("+++ b/{file}")), "{case:#}");
        assert_eq!(text(case, "/pr_title"), "Add orders");
        assert!(text(case, "/meta/source").starts_with("commit "), "{case:#}");
        assert!(case["base_files"].get(file).is_none(), "the commit adds the file");
    }
}

#[test]
fn a_planted_set_measures_a_reviewer() {
    let (_repo, world) = sample_repository();
    let shown = world.run(&["eval", "plant", "--count", "14", "--with-clean"]);
    insta::assert_snapshot!(shown, @r"
    [exit 0]
    [stdout]
    planted 14 defects into 1 change: [WORK]/.mala/eval/sets/planted.jsonl.gz

    kind                planted
    off-by-one                2
    dropped-await             2
    swapped-arguments         2
    removed-check             2
    widened-exception         2
    leaked-handle             2
    inverted-condition        2

    language    planted
    go                3
    java              2
    javascript        2
    python            2
    rust              3
    typescript        2
    ");
    let (code, perfect) = ran(&world, &["--set", "planted", "--reviewer", "perfect"]);
    assert_eq!((code, &perfect["recall"]), (0, &json!(1.0)));
    assert_eq!(perfect["scores"]["cases"]["clean"], 1, "the change without a defect");
    let tags = perfect["scores"]["grouped"]["by_tag"].as_object().unwrap();
    assert_eq!(tags["leaked-handle"]["recall"], json!(1.0), "{tags:?}");
    assert!(tags.contains_key("planted") && tags.contains_key("clean-twin"), "{tags:?}");
    let (_, silent) = ran(&world, &["--set", "planted", "--reviewer", "silent"]);
    assert_eq!(silent["recall"], json!(0.0));
    let (code, builtin) = ran(&world, &["--set", "planted", "--reviewer", "builtin"]);
    assert_eq!((code, &builtin["scores"]["cases"]["could_not_review"]), (0, &json!(0)));
    let shown = world.run(&["eval", "report"]);
    let (_, planted) = shown.split_once("planted (grouped)").unwrap();
    assert!(planted.contains("inverted-condition"), "{shown}");
}

#[test]
fn the_change_can_be_named() {
    let (repo, world) = sample_repository();
    let added = repo.head();
    repo.write("src/later.py", "def take(rows, count):\n    return rows[:count]\n");
    let later = repo.commit("Add take");
    let files = |args: &[&str]| -> BTreeSet<String> {
        let args: Vec<&str> = ["--count", "9"].into_iter().chain(args.iter().copied()).collect();
        planted(&world, &repo, &args).iter().map(|case| defective(case).0.to_owned()).collect()
    };
    let only_later = BTreeSet::from(["src/later.py".to_owned()]);
    assert_eq!(files(&["HEAD~1..HEAD"]), only_later);
    assert_eq!(files(&["--commit", &later]), only_later);
    assert!(!files(&["--commit", &added]).contains("src/later.py"));
    repo.git(&["branch", "start", &added]);
    assert_eq!(files(&["--base", "start"]), only_later);
    assert!(files(&[]).len() > 1, "the newest commits, by turns");
    let kinds = planted(&world, &repo, &["--kind", "removed-check", "--count", "3"]);
    assert!(kinds.iter().all(|case| text(case, "/meta/kind") == "removed-check"), "{kinds:#?}");
}

#[test]
fn nothing_is_planted_into_tests_or_generated_files() {
    let code = "def take(rows, count):\n    return rows[:count]\n";
    let repo = TestRepo::with_files(&[("README.md", "# Nothing\n")]);
    for path in ["tests/test_take.py", "vendor/take.py", "node_modules/a/take.js", "take.md"] {
        repo.write(path, code);
    }
    repo.write("made.pb.go", "// Code generated by x. DO NOT EDIT.\npackage p\n\nfunc f(n int) { for i := 0; i < n; i++ {} }\n");
    repo.commit("Add what is left alone");
    let world = world().in_folder(repo.root());
    insta::assert_snapshot!(world.run(&["eval", "plant"]), @r"
    [exit 2]
    [stderr]
    error: no defect can be planted into these changes
    hint: defects need added lines of Python, JavaScript, TypeScript, Go, Rust or Java
    ");
    insta::assert_snapshot!(world.run(&["eval", "plant", "--kind", "typo"]), @r"
    [exit 64]
    [stderr]
    error: invalid value 'typo' for '--kind <KIND>'
      [possible values: off-by-one, dropped-await, swapped-arguments, removed-check, widened-exception, leaked-handle, inverted-condition]

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(world.run(&["eval", "plant", "HEAD"]), @r"
    [exit 64]
    [stderr]
    error: `HEAD` is not a range
    hint: write it as A..B
    ");
}

/// A repository whose last commit imports a module that exists and one that does not.
fn repository_with_imports() -> TestRepo {
    let repo = TestRepo::with_files(&[
        ("shop/__init__.py", ""),
        ("shop/cart/__init__.py", ""),
        ("shop/tax.py", "def tax(net):\n    return net * 1.2\n"),
    ]);
    repo.write(
        "shop/cart/total.py",
        "from ..tax import tax\nfrom shop.gone import rounded\n\n\n\
         def total(net, limit):\n    if net > limit:\n        raise ValueError(net)\n    \
         return rounded(tax(net))\n",
    );
    repo.commit("Add the total of a cart");
    repo
}

/// The unresolved imports that the built-in reviewer reports in the planted set.
fn unresolved(world: &World, args: &[&str]) -> Vec<String> {
    let args: Vec<&str> =
        ["--reviewer", "builtin"].into_iter().chain(args.iter().copied()).collect();
    let (code, result) = ran(world, &args);
    assert_eq!(code, 0, "{result:#}");
    let run = result["run"]["run_id"].as_str().unwrap();
    let records = world.read(&format!(".mala/eval/{run}/results.jsonl"));
    let records = records.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let found = records.flat_map(|record| record["predictions"].as_array().unwrap().clone());
    found
        .filter(|finding| finding["rule"] == "cross-file/unresolved-import")
        .map(|finding| format!("{}:{}", text(&finding, "/file"), finding["line_start"]))
        .collect()
}

#[test]
fn a_planted_case_is_reviewed_in_its_real_tree() {
    let repo = repository_with_imports();
    let inside = world().in_folder(repo.root());
    let planted = inside.run(&["eval", "plant", "--count", "1", "--output", "set.jsonl"]);
    assert!(planted.starts_with("[exit 0]"), "{planted}");
    let expected = ["shop/cart/total.py:2"];
    assert_eq!(unresolved(&inside, &["--set", "set.jsonl"]), expected, "the real tree");
    // Elsewhere, the case is only a part of the tree: a missing file means nothing.
    let outside = world();
    outside.write("set.jsonl", std::fs::read(repo.path("set.jsonl")).unwrap());
    assert_eq!(unresolved(&outside, &["--set", "set.jsonl"]), [""; 0], "a part of the tree");
    let whole = outside.read("set.jsonl").replace("{\"schema", "{\"complete_tree\":true,\"schema");
    outside.write("whole.jsonl", whole);
    let missing = ["shop/cart/total.py:1"];
    assert_eq!(unresolved(&outside, &["--set", "whole.jsonl"]), missing, "taken for complete");
    let name = repo.root().file_name().unwrap();
    let clones = outside.folder().join("clones");
    std::fs::create_dir(&clones).unwrap();
    std::os::unix::fs::symlink(repo.root(), clones.join(name)).unwrap();
    let args = ["--set", "set.jsonl", "--repos", "clones"];
    assert_eq!(unresolved(&outside, &args), expected, "the tree of a clone");
}
