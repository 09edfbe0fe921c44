//! Sets of cases: how they are found, chosen from, and refused.

use super::*;

#[test]
fn a_set_is_a_file_a_compressed_file_a_folder_or_a_name() {
    let world = world();
    let all = lines(&[case("one", 9, &[(4, "bug")]), case("two", 9, &[])]);
    world.write("set.jsonl", &all).write(".mala/eval/sets/kept.jsonl", &all);
    world.write("folder/b.json", case("two", 9, &[]).to_string());
    world.write("folder/a.json", format!("{:#}", case("one", 9, &[(4, "bug")])));
    let zipped = world.command("gzip").args(["-k", "set.jsonl"]).status().unwrap();
    assert!(zipped.success());
    let mut scores = Vec::new();
    for (set, name) in
        [("set.jsonl", "set"), ("set.jsonl.gz", "set"), ("folder", "folder"), ("kept", "kept")]
    {
        let (code, result) = ran(&world, &["--set", set, "--reviewer", "perfect"]);
        assert_eq!((code, &result["recall"]), (0, &json!(1.0)), "{set}");
        assert_eq!(result["run"]["sets"][0]["name"], name);
        scores
            .push((result["run"]["sets"][0]["sha256"].clone(), result["scores"]["cases"].clone()));
    }
    assert!(scores.windows(2).all(|two| two[0] == two[1]), "{scores:?}");
}

#[test]
fn a_case_in_a_folder_may_keep_its_trees_beside_it() {
    let world = world();
    world.write("set/x/case.json", r#"{"id": "x", "language": "python", "ground_truth": [{"file": "a.py", "line_start": 2, "category": "bug"}]}"#);
    world.write("set/x/base/a.py", "one = 1\n").write("set/x/head/a.py", "one = 1\ntwo = 2\n");
    let (code, result) = ran(&world, &["--set", "set", "--reviewer", "perfect"]);
    assert_eq!((code, &result["f1"]), (0, &json!(1.0)));
    let (_, view) = eval(&world, &["show", "x", "--format", "json"]);
    let record = &view[0]["record"];
    assert_eq!(record["hunks"], json!([{"file": "a.py", "line_start": 2, "line_end": 2}]));
    assert_eq!(record["changed_lines"], json!({"added": 1, "removed": 0}));
    let (_, result) = ran(&world, &["--set", "set", "--reviewer", "builtin"]);
    assert_eq!(result["scores"]["cases"]["reviewed"], 1);
    let (_, view) = eval(&world, &["show", "x", "--format", "json"]);
    assert_eq!(view[0]["record"]["base"], "given");
}

#[test]
fn a_case_of_two_trees_is_shown_with_its_change() {
    let world = world();
    let old: String = (1..=9).map(|n| format!("line_{n} = {n}\n")).collect();
    let trees = json!({
        "id": "x", "language": "python", "diff": "",
        "files": {"a.py": old.replace("line_5 = 5", "line_5 = 6"), "new.py": "a = 1\n", "moved.py": old},
        "base_files": {"a.py": old, "gone.py": "b = 2\n"},
        "ground_truth": [{"file": "a.py", "line_start": 5, "category": "bug"}],
    });
    world.write("set.jsonl", lines(&[trees]));
    for reviewer in ["silent", "builtin"] {
        ran(&world, &["--set", "set.jsonl", "--reviewer", reviewer]);
        insta::assert_snapshot!(format!("trees_by_{reviewer}"), world.run(&["eval", "show", "x"]));
        world.run(&["eval", "report", "--output", "page.html"]);
        assert!(world.read("page.html").contains("line_5 = 6"), "{reviewer}");
    }
}

#[test]
fn typescript_is_one_language_with_and_without_markup() {
    let world = world();
    let mut cases = [case("plain", 9, &[]), case("markup", 9, &[])];
    cases[0]["language"] = "typescript".into();
    cases[1]["language"] = "tsx".into();
    world.write("set.jsonl", lines(&cases));
    for name in ["typescript", "tsx", "TypeScript"] {
        let args = ["--set", "set.jsonl", "--reviewer", "silent", "--language", name];
        let (_, result) = ran(&world, &args);
        assert_eq!(result["scores"]["cases"]["cases"], 2, "{name}");
        let languages = result["scores"]["strict"]["by_language"].as_object().unwrap();
        assert!(!languages.contains_key("tsx"), "{languages:?}");
    }
}

#[test]
fn cases_are_chosen_by_language_tag_id_and_number() {
    let world = world();
    for (args, n_cases) in [
        (&["--language", "Python"][..], 7),
        (&["--language", "typescript", "--language", "javascript"], 5),
        (&["--tag", "clean"], 2),
        (&["--tag", "clean", "--language", "python"], 1),
        (&["--case", "js-csv-export"], 1),
        (&["--limit", "3"], 3),
    ] {
        let args: Vec<&str> = ["--reviewer", "silent"].iter().chain(args).copied().collect();
        let (_, result) = ran(&world, &args);
        assert_eq!(result["scores"]["cases"]["cases"], n_cases, "{args:?}");
    }
    let none = world.run(&["eval", "run", "--reviewer", "silent", "--language", "cobol"]);
    insta::assert_snapshot!(none, @r"
    [exit 64]
    [stderr]
    error: no case matches the selection
    ");
}

/// A world with a set for every mistake.
fn broken_sets() -> World {
    let world = world();
    let good = case("one", 9, &[]).to_string();
    world.write("typo.jsonl", format!("{good}\n\n{}\n", good.replace("python\"", "python\",")));
    world.write("twice.jsonl", format!("{good}\n{good}\n"));
    let truth = |change: &dyn Fn(&mut Value)| {
        let mut wrong = case("one", 9, &[(4, "bug")]);
        change(&mut wrong);
        wrong.to_string()
    };
    world.write("nodiff.jsonl", truth(&|case| case["diff"] = "garbage".into()));
    world.write("nofile.jsonl", truth(&|case| case["ground_truth"][0]["file"] = "zz.py".into()));
    world.write("noline.jsonl", truth(&|case| case["ground_truth"][0]["line_end"] = 10.into()));
    world.write("moved.jsonl", truth(&|case| case["ground_truth"][0]["evidence"] = "other".into()));
    world.write("list.jsonl", format!("[{good}]\n"));
    world.write("empty.jsonl", "\n");
    world.write("copies/a.json", &good).write("copies/b/case.json", &good);
    world.write("escape.jsonl", good.replace("\"app.py\":", "\"../app.py\":"));
    world.write("folder/x/case.json", "{\n  \"id\": \"x\",\n  \"language\": 7\n}\n");
    world
}

#[test]
fn a_broken_set_is_refused_with_its_place_before_anything_runs() {
    let world = broken_sets();
    let mut shown = String::new();
    for set in [
        "typo.jsonl",
        "twice.jsonl",
        "copies",
        "nodiff.jsonl",
        "nofile.jsonl",
        "noline.jsonl",
        "moved.jsonl",
        "list.jsonl",
        "empty.jsonl",
        "escape.jsonl",
        "folder",
        "nowhere.jsonl",
    ] {
        shown += &world.run(&["eval", "run", "--set", set, "--reviewer", "perfect"]);
    }
    insta::assert_snapshot!(shown, @r#"
    [exit 64]
    [stderr]
    error: [WORK]/typo.jsonl:3:424: key must be a string
    [exit 64]
    [stderr]
    error: [WORK]/twice.jsonl:2:1: case "one": duplicate id, also used at [WORK]/twice.jsonl:1
    [exit 64]
    [stderr]
    error: [WORK]/copies/b/case.json:1:1: case "one": duplicate id, also used at [WORK]/copies/a.json:1
    [exit 64]
    [stderr]
    error: [WORK]/nodiff.jsonl:1:1: case "one": the diff cannot be read: no diff found in the input
    [exit 64]
    [stderr]
    error: [WORK]/nofile.jsonl:1:1: case "one": ground_truth: zz.py:4: the file is neither in `files` nor in the diff
    [exit 64]
    [stderr]
    error: [WORK]/noline.jsonl:1:1: case "one": ground_truth: app.py:4-10: the file has 9 lines
    [exit 64]
    [stderr]
    error: [WORK]/moved.jsonl:1:1: case "one": ground_truth: app.py:4: evidence "other" not found on these lines
    [exit 64]
    [stderr]
    error: [WORK]/list.jsonl:1:1: expected an object, found a list
    [exit 64]
    [stderr]
    error: [WORK]/empty.jsonl has no cases
    [exit 64]
    [stderr]
    error: [WORK]/escape.jsonl:1:1: case "one": the path ../app.py leaves the tree
    [exit 64]
    [stderr]
    error: [WORK]/folder/x/case.json:3:15: invalid type: integer `7`, expected a string
    [exit 64]
    [stderr]
    error: set 'nowhere.jsonl' not found
    hint: --set starter is always available
    "#);
    assert!(!world.folder().join(".mala/eval").exists(), "nothing began");
}

#[test]
fn no_name_of_a_case_leaves_the_run_s_folder() {
    let world = world();
    let cases = [case("../../../escaped", 9, &[(3, "bug")]), case("a\u{1b}[31mred", 9, &[])];
    // An id with control characters is refused; one with slashes is only a name.
    world.write("one.jsonl", lines(&cases[..1])).write("two.jsonl", lines(&cases[1..]));
    let (code, _) = ran(&world, &["--set", "one.jsonl", "--reviewer", "builtin"]);
    assert_eq!(code, 0);
    let shown = world.run(&["eval", "run", "--set", "two.jsonl", "--reviewer", "perfect"]);
    assert!(shown.starts_with("[exit 64]"), "{shown}");
    let top: Vec<String> = std::fs::read_dir(world.folder().join(".."))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert!(top.iter().all(|name| name == "home" || name == "work"), "{top:?}");
}
