//! `mala eval import`: every format, from files in its shape to a set that `mala eval run` takes.

use super::*;
use insta::assert_snapshot;
use mala_testkit::TestRepo;

/// A clone with a change of two commits, `main` and `topic`, and the folder that it is in.
struct Clone {
    repo: TestRepo,
    base: String,
    head: String,
}

impl Clone {
    fn new() -> Self {
        let repo =
            TestRepo::with_files(&[("shop.py", "def total(items):\n    return sum(items)\n")]);
        let base = repo.head();
        repo.branch("topic");
        repo.checkout("topic");
        repo.write(
            "shop.py",
            "def total(items, seen=[]):\n    seen.append(items)\n    return sum(items)\n",
        );
        let head = repo.commit("Remember the carts\n\nSo that they can be shown.");
        repo.checkout("main");
        repo.git(&["update-ref", "refs/pull/7/head", &head]);
        Self { repo, base, head }
    }

    fn folder(&self) -> String {
        self.repo.root().parent().unwrap().display().to_string()
    }
}

/// Imports, then has the perfect reviewer look at the set; gives what it printed and the cases.
fn imported(world: &World, args: &[&str]) -> (Value, Vec<Value>) {
    let args: Vec<&str> = ["import"]
        .into_iter()
        .chain(args.iter().copied())
        .chain(["--output", "set.jsonl", "--format", "json"])
        .collect();
    let (code, made) = eval(world, &args);
    assert_eq!(code, 0, "{made:#}");
    let cases: Vec<Value> =
        world.read("set.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(made["cases"], cases.len());
    for case in &cases {
        assert!(case["meta"]["source"].is_string() && case["meta"]["licence"].is_string());
    }
    let (code, result) = ran(world, &["--set", "set.jsonl", "--reviewer", "perfect"]);
    assert_eq!((code, &result["scores"]["cases"]["reviewed"]), (0, &json!(cases.len())));
    let is_found = result["recall"] == json!(1.0) || made["problems"] == 0;
    assert!(is_found, "{result:#}");
    (made, cases)
}

fn truths(case: &Value) -> Vec<String> {
    let truths = case["ground_truth"].as_array().unwrap().iter();
    let truth = |truth: &Value| {
        let text = |name: &str| truth[name].as_str().unwrap_or("-").to_owned();
        let lines = format!("{}-{}", truth["line_start"], truth["line_end"]);
        format!("{}:{lines} {} {}", text("file"), text("category"), text("severity"))
    };
    truths.map(truth).collect()
}

#[test]
fn humanevalpack_makes_two_cases_of_a_task() {
    let world = world();
    let task = json!({
        "task_id": "Python/9", "prompt": "def last(items):\n    \"\"\"The last item.\"\"\"\n",
        "canonical_solution": "    return items[-1]\n", "buggy_solution": "    return items[0]\n",
        "bug_type": "value misuse", "failure_symptoms": "incorrect output", "entry_point": "last",
    });
    world.write("humanevalpack.jsonl", format!("{task}\n{{}}\n"));
    let (made, cases) = imported(&world, &["humanevalpack", "humanevalpack.jsonl"]);
    assert_eq!((&made["clean"], cases.len()), (&json!(1), 2));
    assert_eq!(truths(&cases[0]), ["src/task_9.py:3-3 logic high"]);
    assert_eq!(made["passed_over"][0]["spot"], json!({"file": "humanevalpack.jsonl", "line": 2}));
}

#[test]
fn codeql_tests_are_read_from_their_folders() {
    let world = world();
    world
        .write(
            "ql/Security/CWE-078/run.py",
            "import os\nos.system(cmd)  # $ Alert\nos.system('ls')  # GOOD\n",
        )
        .write(
            "ql/Security/CWE-078/Run.qlref",
            "query: Security/Run.ql\npostprocess: InlineExpectationsTestQuery.ql\n",
        )
        .write(
            "ql/Security/CWE-078/Run.expected",
            "#select\n| run.py:2:1:2:9 | cmd | It runs $@. | run.py:2:1:2:2 | x | anything |\n",
        );
    let (_, cases) = imported(&world, &["codeql", "ql"]);
    assert_eq!(truths(&cases[0]), ["Security/CWE-078/run.py:2-2 security high"]);
    assert_eq!(cases[0]["ground_truth"][0]["description"], "It runs anything.");
    let code = cases[0]["files"]["Security/CWE-078/run.py"].as_str().unwrap();
    assert_eq!(code, "import os\nos.system(cmd)\nos.system('ls')\n");
}

#[test]
fn aacr_takes_the_code_from_clones() {
    let (world, clone) = (world(), Clone::new());
    let comment = |path: &str| {
        json!({"note": "Shared.", "path": path, "side": "right", "from_line": 2, "to_line": 1,
               "category": "Code Defect", "is_ai_comment": false, "context": "Diff Level"})
    };
    let request = |url: &str, comment: Value| {
        json!({"githubPrUrl": url, "source_commit": clone.base, "target_commit": clone.head,
               "project_main_language": "Python", "comments": [comment]})
    };
    let ours = "https://github.com/o/repo/pull/7";
    let positive = json!([
        request(ours, comment("shop.py")),
        request("https://github.com/o/gone/pull/1", comment("shop.py")),
    ]);
    world.write("data/positive_samples.json", format!("{positive:#}")).write(
        "data/negative_samples.json",
        json!([request(ours, comment("shop.py"))]).to_string(),
    );
    let (made, cases) = imported(&world, &["aacr", "data", "--repos", &clone.folder()]);
    assert_eq!(truths(&cases[0]), ["shop.py:1-2 bug -"]);
    assert_eq!(made["rejected_findings"], 1);
    assert_eq!(made["passed_over"][0]["why"], "no clone of o/gone found");
    let case = &cases[0];
    assert_eq!(
        (&case["pr_title"], &case["language"]),
        (&json!("Remember the carts"), &json!("python"))
    );
    assert_eq!(
        (&case["meta"]["base_sha"], &case["meta"]["head_sha"]),
        (&json!(clone.base), &json!(clone.head))
    );
    assert!(case["diff"].as_str().unwrap().contains("+    seen.append(items)\n"));
    assert!(case["base_files"]["shop.py"].as_str().unwrap().starts_with("def total(items):\n"));
    assert_snapshot!(world.run(&["eval", "import", "aacr", "data", "--output", "other.jsonl"]), @r"
    [exit 64]
    [stderr]
    error: aacr does not contain the code
    hint: add --repos DIR, a folder with clones of its repositories
    ");
}

#[test]
fn bugsinpy_finds_the_commit_that_brought_the_bug() {
    let (world, clone) = (world(), Clone::new());
    let repo = &clone.repo;
    repo.checkout("topic");
    repo.write("notes.txt", "later\n");
    let buggy = repo.commit("Go on");
    repo.write(
        "shop.py",
        "def total(items, seen=None):\n    seen = (seen or []) + [items]\n    return sum(items)\n",
    );
    let fixed = repo.commit("Do not share the carts");
    let patch = repo.git(&["diff", &buggy, &fixed, "--", "shop.py"]);
    world
        .write("bip/projects/shop/project.info", "github_url=\"https://github.com/o/repo/\"\n")
        .write(
            "bip/projects/shop/bugs/1/bug.info",
            format!("buggy_commit_id=\"{buggy}\"\nfixed_commit_id=\"{fixed}\"\n"),
        )
        .write("bip/projects/shop/bugs/1/bug_patch.txt", patch + "\n");
    let (_, cases) = imported(&world, &["bugsinpy", "bip", "--repos", &clone.folder()]);
    assert_eq!(truths(&cases[0]), ["shop.py:1-2 bug high"]);
    assert_eq!(cases[0]["meta"]["head_sha"], json!(clone.head), "not the commit before the fix");
    let description = &cases[0]["ground_truth"][0]["description"];
    assert_eq!(description, "later fixed by: Do not share the carts");
}

#[test]
fn martian_comments_belong_to_a_pull_request() {
    let (world, clone) = (world(), Clone::new());
    let request = |number: u32, comment: &str| {
        json!({"pr_title": "Carts", "url": format!("https://github.com/o/repo/pull/{number}"),
               "comments": [{"comment": comment, "severity": "Medium"}]})
    };
    let golden = json!([request(7, "`seen` is shared by all calls"), request(8, "`seen` is odd")]);
    world.write("golden/shop.json", golden.to_string());
    let (made, cases) = imported(&world, &["martian", "golden", "--repos", &clone.folder()]);
    assert_eq!(truths(&cases[0]), ["shop.py:1-2 bug medium"]);
    assert_eq!(cases[0]["meta"]["places"], "by the words of the comments");
    let why = made["passed_over"][0]["why"].as_str().unwrap();
    assert_eq!(why, "the clone of o/repo lacks refs/pull/8/head or its base");
}

#[test]
fn factory_comments_have_a_manifest() {
    let (world, clone) = (world(), Clone::new());
    let manifest = json!({"destination_org": "org", "projects": {"shop": {
        "source_repo": "https://github.com/src/other.git", "destination_repo": "repo",
        "prs": [{"number": 1, "title": "Carts", "headRefOid": clone.head, "baseRefName": "main"}],
    }}});
    let golden = json!({"version": "2.0", "repos": {"shop": {"prs": [{
        "pr_number": 3, "pr_title": "Carts", "bugs": [{"id": 1, "file": "shop.py", "line": 1,
        "description": "Shared.", "severity": "high", "bug_type": "runtime_error"}],
    }]}}});
    world
        .write("f/manifest.json", manifest.to_string())
        .write("f/results/golden_comments_v2.json", golden.to_string());
    let (_, cases) = imported(&world, &["factory", "f", "--repos", &clone.folder()]);
    assert_eq!(
        (&cases[0]["id"], truths(&cases[0])),
        (&json!("factory-shop-3"), vec!["shop.py:1-1 bug high".to_owned()])
    );
}

#[test]
fn sarif_is_the_truth_about_a_range() {
    let (world, clone) = (world(), Clone::new());
    let result = |line: u32| {
        json!({"ruleId": "shared-default", "level": "warning", "message": {"text": "Shared."},
               "locations": [{"physicalLocation": {"artifactLocation": {"uri": "shop.py"},
               "region": {"startLine": line}}}]})
    };
    let run = json!({"tool": {"driver": {"name": "lint"}}, "results": [result(1), result(3)]});
    world.write("lint.sarif", json!({"version": "2.1.0", "runs": [run]}).to_string());
    let root = clone.repo.root().display().to_string();
    let args = ["sarif", "lint.sarif", "--repo", &root, "--range", "main...topic"];
    let (made, cases) = imported(&world, &args);
    assert_eq!(truths(&cases[0]), ["shop.py:1-1 bug medium"]);
    assert_eq!(made["passed_over"][0]["why"], "not on an added line");
    assert_snapshot!(world.run(&["eval", "import", "sarif", "lint.sarif", "-o", "x.jsonl"]), @"
    [exit 64]
    [stderr]
    error: sarif does not contain the code
    hint: add --repo DIR --range A..B, the change of the results
    ");
}

#[test]
fn nothing_to_read_is_an_error_and_writes_nothing() {
    let world = world();
    world
        .write("humanevalpack.jsonl", "{}\nweather\n")
        .write("empty/x.txt", "")
        .write("set.jsonl", "old");
    assert_snapshot!(world.run(&["eval", "import", "humanevalpack", "humanevalpack.jsonl", "-o", "set.jsonl"]), @"
    [exit 2]
    [stderr]
    warning: skipped 2 records:
      humanevalpack.jsonl:1: missing field `task_id`
      humanevalpack.jsonl:2: expected value
    error: no cases found; nothing was written
    ");
    assert_eq!(world.read("set.jsonl"), "old");
    let left: Vec<_> = std::fs::read_dir(world.folder()).unwrap().collect();
    assert_eq!(left.len(), 3, "{left:?}");
    let import =
        |kind: &str, from: &str, to: &str| world.run(&["eval", "import", kind, from, "-o", to]);
    assert_snapshot!(import("aacr", "empty", "s.jsonl"), @"
    [exit 2]
    [stderr]
    error: no cases found; nothing was written
    ");
    assert_snapshot!(import("aacr", "gone", "s.jsonl"), @"
    [exit 2]
    [stderr]
    error: reading: gone: No such file or directory (os error 2)
    ");
    assert_snapshot!(import("aacr", "empty", "s.json"), @"
    [exit 64]
    [stderr]
    error: invalid file name 's.json'
    hint: a set is a .jsonl or .jsonl.gz file
    ");
    assert_snapshot!(import("weather", "empty", "s.jsonl"), @"
    [exit 64]
    [stderr]
    error: invalid value 'weather' for '<KIND>'
      [possible values: aacr, bugsinpy, codeql, factory, humanevalpack, martian, sarif]

    For more information, try '--help'.
    ");
}

#[test]
fn a_set_may_be_compressed() {
    let world = world();
    let task = json!({"task_id": "Go/1", "prompt": "func F() int {\n", "canonical_solution": "\treturn 1\n}\n",
                      "buggy_solution": "\treturn 2\n}\n", "entry_point": "F"});
    world.write("humanevalpack.jsonl", task.to_string());
    assert_snapshot!(world.run(&["eval", "import", "humanevalpack", ".", "-o", "set.jsonl.gz"]), @"
    [exit 0]
    [stdout]
    set.jsonl.gz: 2 cases, 1 of them clean, with 1 problem and 0 claims judged wrong
    ");
    let (code, result) = ran(&world, &["--set", "set.jsonl.gz", "--reviewer", "builtin"]);
    assert_eq!((code, &result["scores"]["cases"]["reviewed"]), (0, &json!(2)), "{result:#}");
}
