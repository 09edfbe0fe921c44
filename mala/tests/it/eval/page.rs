//! The page of a run, opened in a real browser.

use super::*;
use std::process::{Command, Stdio};

const TOOLS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../.tools/browser");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/eval/page.mjs");
const PLOTS: [&str; 4] = ["cost", "precision-recall", "reliability", "trend"];
const HOSTILE: &str = "<script>alert(1)</script></style></details><img src=http://127.0.0.1:9/x onerror=alert(2)> \
    \"' onmouseover=alert(3) \u{202e}gnirts\u{2066} \u{1b}[31m `${1}` &lt;b&gt; ";

/// What a browser sees of a page, view by view.
fn opened(world: &World, file: &str) -> Vec<Value> {
    let missing = "the browser is not there: run scripts/install-tools";
    assert!(std::path::Path::new(TOOLS).join("installed").is_file(), "{missing}");
    let output = Command::new("node")
        .args([SCRIPT, TOOLS])
        .arg(world.folder().join(file))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let views: Vec<Value> = serde_json::from_str(&text)
        .unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(views.len(), 5);
    views
}

/// What holds for every page in every view.
fn is_sound(view: &Value) {
    let name = &view["name"];
    assert_eq!((&view["said"], &view["asked"]), (&json!([]), &json!([])), "{name}");
    for state in ["closed", "open"] {
        let seen = &view[state];
        assert_eq!(seen["scripts"], 0, "{name} {state}");
        assert_eq!(seen["unnamed"], 0, "{name} {state}: a plot or table without a name");
        assert_eq!(seen["cut"], json!([]), "{name} {state}: words beyond a plot");
        assert_eq!(seen["faint"], json!([]), "{name} {state}: too little contrast");
        assert!(seen["overflow"].as_i64().unwrap() <= 0, "{name} {state}: {}", seen["overflow"]);
    }
}

fn has_plots(view: &Value) {
    let plots = view["closed"]["plots"].as_object().unwrap();
    assert_eq!(plots.keys().collect::<Vec<_>>(), PLOTS, "{}", view["name"]);
    for (id, plot) in plots {
        let at_least = |key: &str, least: f64| {
            let value = plot[key].as_f64().unwrap();
            assert!(value >= least, "{} {id}: {key} {value}", view["name"]);
        };
        at_least("width", 280.0);
        at_least("height", 180.0);
        at_least("marks", 1.0);
    }
    let bars = view["closed"]["bars"].as_array().unwrap();
    assert!(!bars.is_empty(), "{}", view["name"]);
    for bar in bars {
        assert!(bar["width"].as_f64().unwrap() > 60.0 && bar["height"].as_f64().unwrap() > 8.0);
    }
}

#[test]
fn the_page_of_a_run_opens_without_a_fault() {
    let world = world();
    for reviewer in ["builtin", "silent", "builtin"] {
        let shown = world.run(&["eval", "run", "--reviewer", reviewer]);
        assert!(shown.starts_with("[exit 0]"), "{shown}");
    }
    let shown = world.run(&["eval", "report", "--output", "report.html"]);
    insta::assert_snapshot!(shown, @r"
    [exit 0]
    [stderr]
    wrote report.html
    ");
    let views = opened(&world, "report.html");
    for view in &views {
        is_sound(view);
        has_plots(view);
    }
    let background = |at: usize| &views[at]["closed"]["background"];
    assert_ne!(background(0), background(1), "dark is dark");
    let text = views[0]["open"]["text"].as_str().unwrap();
    for words in ["builtin on starter", "this run", "Missed", "Known problem", "floor"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let shown = &views[0]["shown"];
    assert_eq!(
        (&shown["all"], &shown["clean"], &shown["unreviewed"]),
        (&json!(12), &json!(2), &json!(0))
    );
}

#[test]
fn a_page_of_hostile_cases_is_a_page() {
    let world = world();
    let long = "W".repeat(4_000);
    let mut one = case(&HOSTILE.replace('\u{1b}', ""), 30, &[(4, "bug"), (20, "security")]);
    one["language"] = json!(HOSTILE.replace('\u{1b}', ""));
    one["pr_title"] = json!(format!("{HOSTILE}{long}"));
    one["tags"] = json!([HOSTILE, long]);
    one["ground_truth"][0]["title"] = json!(format!("{long}{HOSTILE}"));
    one["ground_truth"][0]["description"] = json!(format!("{HOSTILE}{long}"));
    let file = format!("{long}/{}.py", HOSTILE.replace("//", "/"));
    one["files"][&file] = one["files"]["app.py"].clone();
    one["ground_truth"][1]["file"] = json!(file);
    world.write("hostile.jsonl", lines(&[one, case("clean", 10, &[])]));
    for reviewer in ["hunks", "perfect"] {
        let args = ["eval", "run", "--set", "hostile.jsonl", "--reviewer", reviewer];
        let shown = world.run(&args);
        assert!(shown.starts_with("[exit 0]"), "{shown}");
    }
    let shown = world.run(&["eval", "report", "--format", "html", "--output", "page.html"]);
    assert!(shown.starts_with("[exit 0]"), "{shown}");
    for view in opened(&world, "page.html") {
        is_sound(&view);
        has_plots(&view);
        let text = view["open"]["text"].as_str().unwrap();
        assert!(text.contains("<script>alert(1)</script>"), "{text}");
        assert!(text.contains("<U+202E>gnirts") && !text.contains('\u{202e}'), "{text}");
    }
}

#[test]
fn a_page_is_about_the_first_run_with_the_others_beside_it() {
    let world = world();
    world.write("a.jsonl", lines(&[case("one", 30, &[(4, "bug")])]));
    world.write("b.jsonl", lines(&[case("two", 30, &[(4, "bug")])]));
    let run = |set: &str, reviewer: &str| {
        let (_, result) = ran(&world, &["--set", set, "--reviewer", reviewer]);
        result["run"]["run_id"].as_str().unwrap().to_owned()
    };
    let (first, second) = (run("a.jsonl", "hunks"), run("a.jsonl", "perfect"));
    let (third, other) = (run("a.jsonl", "silent"), run("b.jsonl", "hunks"));
    let page = |args: &[&str]| {
        let args: Vec<&str> =
            ["eval", "report", "--format", "html"].iter().chain(args).copied().collect();
        world.run(&args)
    };
    let alone = page(&[&first]);
    assert!(alone.contains("<h1><bdi>hunks on a</bdi></h1>"), "{alone}");
    assert!(alone.contains(&second) && alone.contains(&third) && !alone.contains(&other));
    let both = page(&[&first, &second]);
    assert!(both.contains(&second) && !both.contains(&third));
    let refused = page(&[&first, &other]).replace(&first, "[FIRST]").replace(&other, "[OTHER]");
    insta::assert_snapshot!(refused, @"
    [exit 64]
    [stderr]
    error: [OTHER] and [FIRST] have different cases
    hint: choose runs over the same sets and selection
    ");
    // Plain forms show one after the other.
    let (_, results) = eval(&world, &["report", &first, &second, "--format", "json"]);
    assert_eq!((&results[0]["f1"], &results[1]["f1"]), (&json!(1.0), &json!(1.0)));
    let text = world.run(&["eval", "report", &first, &second]);
    assert!(text.find("hunks on a").unwrap() < text.find("perfect on a").unwrap());
}

#[test]
fn a_file_that_cannot_be_written_is_an_error() {
    let world = world();
    world.write("a.jsonl", lines(&[case("one", 30, &[(4, "bug")])]));
    let args =
        ["eval", "run", "--set", "a.jsonl", "--reviewer", "hunks", "--output", "no/page.html"];
    let shown = world.run(&args);
    insta::assert_snapshot!(shown, @r"
    [exit 2]
    [stderr]
    error: cannot write no/page.html: no such folder
    hint: the run is kept; run `mala eval report --output FILE` to write it again
    ");
    let shown = world.run(&["eval", "report", "-o", "result.json"]);
    assert!(shown.starts_with("[exit 0]"), "{shown}");
    let kept: Value = serde_json::from_str(&world.read("result.json")).unwrap();
    assert_eq!(kept["is_complete"], true);
}
