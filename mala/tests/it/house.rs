//! Rules for the source of the whole repository: what ARCHITECTURE.md promises, checked.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const CRATES: [&str; 7] = [
    "mala-domain",
    "mala-syntax",
    "mala-adapters",
    "mala-pipeline",
    "mala-eval",
    "mala",
    "mala-testkit",
];
const MAX_LINES: usize = 500;
/// A file with fewer lines belongs in its parent module.
const MIN_LINES: usize = 50;
/// Lists of words may be longer: they are only data.
const DATA: [&str; 1] = ["mala-syntax/src/cross_file/words.rs"];

struct SourceFile {
    name: String,
    text: String,
}

impl SourceFile {
    /// The code without its tests, which sit at the end of a file.
    fn code(&self) -> &str {
        self.text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default()
    }

    fn is_test(&self) -> bool {
        self.name.contains("/tests/") || self.name.ends_with("/tests.rs")
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn sources(of: &str) -> Vec<SourceFile> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(of).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let name = path.strip_prefix(root()).unwrap().display().to_string();
                found.push(SourceFile { name, text: fs::read_to_string(path).unwrap() });
            }
        }
    }
    assert!(!found.is_empty(), "{of} has no sources");
    found
}

fn offences(crates: &[&str], offends: impl Fn(&SourceFile) -> Option<String>) -> Vec<String> {
    let files = crates.iter().flat_map(|name| sources(name));
    let mut found: Vec<String> = files
        .filter_map(|file| offends(&file).map(|what| format!("{}: {what}", file.name)))
        .collect();
    found.sort();
    found
}

#[test]
fn every_file_says_what_it_is() {
    let silent = offences(&CRATES, |file| {
        (!file.text.starts_with("//!")).then(|| "does not open with //!".to_owned())
    });
    assert!(silent.is_empty(), "{silent:#?}");
}

#[test]
fn files_can_be_read_in_one_sitting() {
    let long = offences(&CRATES, |file| {
        let lines = file.code().lines().count();
        let is_data = DATA.contains(&file.name.as_str());
        (!file.is_test() && !is_data && lines > MAX_LINES).then(|| format!("{lines} lines"))
    });
    assert!(long.is_empty(), "{long:#?}");
}

/// Small files that stand alone: a rule, an adapter, a command or a table each.
const SMALL: [&str; 19] = [
    "mala-adapters/src/bounded_read.rs",
    "mala-adapters/src/lanes/variables.rs",
    "mala-adapters/src/reviewers/review_gate/range.rs",
    "mala-adapters/src/sessions/trees.rs",
    "mala-domain/src/gate/client/aggregated.rs",
    "mala-domain/src/task/own_work.rs",
    "mala-pipeline/src/agent/tools/lint.rs",
    "mala-pipeline/src/agent/tools/search/literals.rs",
    "mala-pipeline/src/gate/canary.rs",
    "mala-syntax/src/coded_check.rs",
    "mala-syntax/src/cross_file/checks.rs",
    "mala-syntax/src/cross_file/resolve/ignored.rs",
    "mala-syntax/src/parsed.rs",
    "mala-syntax/src/rules/ecmascript/react.rs",
    "mala-syntax/src/source/comments.rs",
    "mala/src/cli/init/gitignore.rs",
    "mala/src/gate/clean.rs",
    "mala/src/hook/input.rs",
    "mala/src/hook/place.rs",
];

/// A reader should not have to jump: a file with little in it belongs in its parent module. A file that
/// only explains and re-exports its children is fine.
#[test]
fn small_files_are_part_of_their_parent() {
    let small = offences(&CRATES, |file| {
        let lines = file.code().lines().count();
        let is_root = file.name.ends_with("/lib.rs")
            || file.name.ends_with("/main.rs")
            || file.name.contains("/src/bin/");
        let has_children = root().join(file.name.trim_end_matches(".rs")).is_dir();
        let is_listed = SMALL.contains(&file.name.as_str());
        let stands_alone = file.is_test() || is_root || has_children || is_listed;
        (lines < MIN_LINES && !stands_alone).then(|| format!("{lines} lines"))
    });
    assert!(small.is_empty(), "{small:#?}");
    for name in SMALL {
        let file = CRATES.iter().flat_map(|name| sources(name)).find(|file| file.name == name);
        let lines = file.map(|file| file.code().lines().count());
        let is_needed = lines.is_some_and(|lines| lines < MIN_LINES);
        assert!(is_needed, "{name} does not need an exception: {lines:?} lines");
    }
}

/// The type names that a file defines outside its tests. Associated types, which an `impl` defines,
/// carry the name that their trait gives them.
fn type_names(file: &SourceFile) -> Vec<String> {
    let mut names = Vec::new();
    for line in file.code().lines() {
        let unindented = line.trim_start();
        let is_nested = unindented.len() < line.len();
        let visible = match unindented.strip_prefix("pub") {
            Some(rest) => rest.trim_start_matches(|c: char| c != ' ').trim_start(),
            None => unindented,
        };
        let Some((keyword, rest)) = visible.split_once(' ') else { continue };
        let is_definition = match keyword {
            "struct" | "enum" | "trait" | "union" => true,
            "type" => !is_nested,
            _ => false,
        };
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if is_definition && name.starts_with(char::is_uppercase) {
            names.push(name);
        }
    }
    names.sort();
    names.dedup();
    names
}

/// One type name means one thing: at most 2 of 100 names are defined in more than one file.
#[test]
fn type_names_are_defined_once() {
    let mut files_by_name: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in CRATES.iter().flat_map(|name| sources(name)).filter(|file| !file.is_test()) {
        for name in type_names(&file) {
            files_by_name.entry(name).or_default().push(file.name.clone());
        }
    }
    let n_names = files_by_name.len();
    files_by_name.retain(|_, files| files.len() > 1);
    let n_doubled = files_by_name.len();
    assert!(n_names > 1_000, "{n_names} type names were found");
    assert!(n_doubled * 50 <= n_names, "{n_doubled} of {n_names}: {files_by_name:#?}");
}

#[test]
fn type_names_are_read_as_rust_defines_them() {
    let text = "pub struct A;\npub(crate) enum B<'a> {\ntrait C: Send {\n    type Item = u32;\n\
                type D = u8;\n    struct E {\nlet structure = 1;\n#[cfg(test)]\nmod tests {\nstruct F;";
    let file = SourceFile { name: "a.rs".to_owned(), text: text.to_owned() };
    assert_eq!(type_names(&file), ["A", "B", "C", "D", "E"]);
}

/// Words for people that say nothing about code. They are split here, so that this file has none.
const BANNED: [&str; 6] = [
    concat!("no", "body"),
    concat!("some", "body"),
    concat!("any", "body"),
    concat!("every", "body"),
    concat!("who", "ever"),
    concat!("no", " one"),
];

/// Folders without text of the project: build results, installed tools, cases of the evaluation.
const THIRD_PARTY: [&str; 4] = ["target", ".tools", ".git", "eval/data"];

fn is_written_here(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    let is_script = ending.is_none() && path.parent().is_some_and(|it| it.ends_with("scripts"));
    let endings = ["rs", "md", "yaml", "yml", "toml", "json", "sh", "py", "snap"];
    is_script || ending.is_some_and(|ending| endings.contains(&ending))
}

/// Every text file of the repository that the project wrote itself, by its path from the root.
fn own_texts() -> Vec<SourceFile> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root()).unwrap().display().to_string();
            if path.is_dir() && !path.is_symlink() && !THIRD_PARTY.contains(&name.as_str()) {
                folders.push(path);
            } else if path.is_file() && is_written_here(&path) {
                let text = fs::read_to_string(path).unwrap_or_default();
                found.push(SourceFile { name, text });
            }
        }
    }
    found
}

/// Whether a text has a word by itself, in any case.
fn has_word(text: &str, word: &str) -> bool {
    let lower = text.to_lowercase();
    let is_inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    lower.match_indices(word).any(|(at, _)| {
        let (before, after) = (&lower[..at], &lower[at + word.len()..]);
        !is_inside(before.chars().next_back()) && !is_inside(after.chars().next())
    })
}

#[test]
fn sentences_are_about_code_and_not_about_people() {
    let mut found = Vec::new();
    for file in own_texts() {
        for (number, line) in (1..).zip(file.text.lines()) {
            let words = BANNED.iter().filter(|word| has_word(line, word));
            found.extend(words.map(|word| format!("{}:{number}: {word}", file.name)));
        }
    }
    found.sort();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn modules_have_names() {
    let vague = ["mod", "utils", "util", "common", "helpers", "core", "misc", "imp"];
    let offenders = offences(&CRATES, |file| {
        let stem = Path::new(&file.name).file_stem()?.to_str()?.to_owned();
        vague.contains(&stem.as_str()).then_some(stem)
    });
    assert!(offenders.is_empty(), "{offenders:#?}");
}

#[test]
fn the_pure_crates_do_no_io() {
    let world = [
        "std::fs",
        "std::env",
        "std::process",
        "std::net",
        "std::thread",
        "SystemTime::now",
        "Instant::now",
        "tokio",
        "tracing::",
        "println!",
        "eprintln!",
        "async fn",
        ".await",
    ];
    let impure = offences(&["mala-domain", "mala-syntax"], |file| {
        let code: String = file
            .code()
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .collect::<Vec<_>>()
            .join("\n");
        let found = world.iter().find(|word| code.contains(**word))?;
        (!file.is_test()).then(|| (*found).to_owned())
    });
    assert!(impure.is_empty(), "{impure:#?}");
}

#[test]
fn the_arrows_point_one_way() {
    let allowed: [(&str, &[&str]); 6] = [
        ("mala-domain", &[]),
        ("mala-syntax", &["mala-domain"]),
        ("mala-adapters", &["mala-domain", "mala-syntax"]),
        ("mala-pipeline", &["mala-domain", "mala-syntax"]),
        ("mala-eval", &["mala-domain", "mala-syntax", "mala-pipeline"]),
        ("mala-testkit", &["mala-domain"]),
    ];
    for (name, allowed) in allowed {
        let manifest = fs::read_to_string(root().join(name).join("Cargo.toml")).unwrap();
        let normal = manifest.split("[dev-dependencies]").next().unwrap_or_default();
        for other in CRATES.into_iter().filter(|other| *other != name) {
            let depends = normal.lines().any(|line| line.starts_with(&format!("{other}.")));
            assert!(!depends || allowed.contains(&other), "{name} depends on {other}");
        }
    }
}

/// 002-001
#[test]
fn the_agent_is_built_on_no_framework() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let names = lock.lines().filter_map(|line| line.strip_prefix("name = "));
    let is_framework = |name: &&str| {
        let name = name.trim_matches('"');
        let frameworks = ["rig", "genai", "swiftide", "langchain", "llm-chain", "autoagents"];
        frameworks.iter().any(|it| name.split(['-', '_']).next() == Some(it) || name == *it)
    };
    assert_eq!(names.filter(is_framework).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn only_wiring_and_the_edge_read_the_environment() {
    let readers = offences(&["mala-adapters", "mala-pipeline", "mala-eval"], |file| {
        let mut code = file.code().lines().filter(|line| !line.trim_start().starts_with("//"));
        let reads = code.any(|line| line.contains("env::var"));
        (reads && !file.is_test()).then(|| "reads the environment".to_owned())
    });
    assert!(readers.is_empty(), "{readers:#?}");
}

#[test]
fn only_process_starts_children() {
    let starters = offences(&["mala-adapters", "mala-pipeline", "mala-eval", "mala"], |file| {
        let starts =
            file.code().contains("Command::new(") && !file.code().contains("clap::Command::new(");
        let allowed = file.name.starts_with("mala-adapters/src/process");
        (starts && !allowed && !file.is_test()).then(|| "starts a child".to_owned())
    });
    assert!(starters.is_empty(), "{starters:#?}");
}

/// The code of all crates without their tests, by file.
fn code_with(crates: &[&str], wanted: &str) -> Vec<String> {
    offences(crates, |file| {
        let is_code = |line: &&str| !line.trim_start().starts_with("//");
        let has = file.code().lines().filter(is_code).any(|line| line.contains(wanted));
        (has && !file.is_test()).then(|| wanted.to_owned())
    })
}

/// The modules of the `mala` crate depend on each other in one direction, and only `wiring` names adapters.
#[test]
fn the_modules_of_the_edge_depend_in_one_direction() {
    let outside_wiring = |file: &String| !file.starts_with("mala/src/wiring");
    let adapters: Vec<String> =
        code_with(&["mala"], "mala_adapters").into_iter().filter(outside_wiring).collect();
    assert!(adapters.is_empty(), "adapters are named outside of wiring: {adapters:#?}");
    for (module, forbidden) in [
        ("wiring", "crate::cli"),
        ("wiring", "crate::gate"),
        ("wiring", "crate::hook"),
        ("settings", "crate::cli"),
        ("settings", "crate::wiring"),
        ("failure", "crate::cli"),
        ("hook", "crate::gate"),
        ("hook", "crate::cli"),
        ("gate", "crate::hook"),
        ("gate", "crate::cli"),
        ("exit", "crate::cli"),
        ("interrupt", "crate::cli"),
        ("target", "crate::cli"),
    ] {
        let (file, folder) = (format!("mala/src/{module}.rs"), format!("mala/src/{module}/"));
        let of_module = |user: &String| user.starts_with(&file) || user.starts_with(&folder);
        let users: Vec<String> =
            code_with(&["mala"], forbidden).into_iter().filter(of_module).collect();
        assert!(users.is_empty(), "{module} uses {forbidden}: {users:#?}");
    }
}

/// Where the user's settings are read: in commands, and in the two readers of `mala.yaml` that commands call.
const SETTINGS_READERS: [(&str, usize); 11] = [
    ("mala/src/cli/context.rs", 1),
    ("mala/src/cli/events.rs", 1),
    ("mala/src/cli/findings/decide.rs", 1),
    ("mala/src/cli/models.rs", 1),
    ("mala/src/cli/pr.rs", 2),
    ("mala/src/cli/review/run.rs", 1),
    ("mala/src/cli/task.rs", 1),
    ("mala/src/gate/spawn.rs", 1),
    ("mala/src/gate/supervise.rs", 1),
    ("mala/src/hook.rs", 1),
    ("mala/src/wiring/trusted_settings.rs", 2),
];

/// A command reads the user's settings once and passes them on.
#[test]
fn settings_are_read_by_commands() {
    let calls = |file: &SourceFile| file.code().matches("UserSettings::load(").count();
    let mut found: Vec<(String, usize)> = sources("mala")
        .iter()
        .filter(|file| !file.is_test() && calls(file) > 0)
        .map(|file| (file.name.clone(), calls(file)))
        .collect();
    found.sort();
    let expected = SETTINGS_READERS.map(|(file, count)| (file.to_owned(), count));
    assert_eq!(found, expected);
}

/// The edge gets types of adapters from `wiring`, because its functions return them, and no functions or
/// modules.
#[test]
fn wiring_hands_on_only_types_of_adapters() {
    for file in sources("mala").iter().filter(|file| file.name.starts_with("mala/src/wiring")) {
        for (_, used) in file.code().match_indices("pub use mala_adapters::").map(|(at, start)| {
            let rest = file.code().get(at + start.len()..).unwrap_or_default().to_owned();
            (at, rest.split(';').next().unwrap_or_default().to_owned())
        }) {
            let names = used.rsplit("::").next().unwrap_or_default();
            let mut names = names.split(['{', '}', ',']).map(str::trim).filter(|it| !it.is_empty());
            let has_other = names.any(|name| !name.starts_with(char::is_uppercase));
            assert!(!has_other, "{}: {used}", file.name);
        }
    }
}

/// The files of each stage of a review, and what it must not know: later stages and the report.
const STAGES: [(&[&str], &[&str]); 5] = [
    (
        &[
            "mala-domain/src/review/context.rs",
            "mala-domain/src/review/coverage.rs",
            "mala-domain/src/review/opinion.rs",
            "mala-pipeline/src/review/context.rs",
            "mala-pipeline/src/review/delta.rs",
        ],
        &["verify::", "decide::", "consensus::", "report::", "super::track", "super::record"],
    ),
    (
        &[
            "mala-domain/src/review/admit.rs",
            "mala-domain/src/review/merge.rs",
            "mala-domain/src/review/suppress.rs",
            "mala-pipeline/src/review/admit.rs",
        ],
        &["verify::", "decide::", "consensus::", "report::", "super::track", "super::record"],
    ),
    (
        &["mala-domain/src/review/verify.rs", "mala-pipeline/src/review/verify.rs"],
        &["decide::", "consensus::", "report::", "super::track", "super::record"],
    ),
    (
        &["mala-domain/src/ledger/track.rs", "mala-pipeline/src/review/round.rs"],
        &["decide::", "consensus::", "report::", "super::record", "super::publish"],
    ),
    (
        &["mala-domain/src/review/consensus.rs", "mala-domain/src/review/decide.rs"],
        &["report::", "ledger::", "render::"],
    ),
];

/// Each stage takes the value of the previous one and does not know the next one.
#[test]
fn stages_do_not_know_later_stages() {
    for (files, forbidden) in STAGES {
        for name in files {
            let text = fs::read_to_string(root().join(name)).unwrap();
            let file = SourceFile { name: (*name).to_owned(), text };
            let imports: Vec<&str> =
                file.code().lines().filter(|line| line.trim_start().starts_with("use ")).collect();
            for word in forbidden {
                let user = imports.iter().find(|line| line.contains(word));
                assert_eq!(user, None, "{name} must not use {word}");
            }
        }
    }
}

/// What a file imports from the review pipeline.
fn review_imports(file: &SourceFile) -> Vec<String> {
    let code = file.code();
    let uses = ["use mala_pipeline::review::", "use crate::review::"];
    let imported = uses.iter().flat_map(|start| code.match_indices(*start)).map(|(at, start)| {
        let rest = code.get(at + start.len()..).unwrap_or_default();
        rest.split(';').next().unwrap_or_default().to_owned()
    });
    let names = imported.collect::<Vec<_>>().join(",");
    names.split(['{', '}', ',']).map(|name| name.trim().to_owned()).collect()
}

/// `mala review`, gate sessions, the hook and eval all review a change with `mala_pipeline::review`.
#[test]
fn every_review_goes_through_one_function() {
    let files = |names: &[&str], what: &str| -> Vec<String> {
        names.iter().map(|name| format!("{name}: {what}")).collect()
    };
    // Only one function asks reviewers; the agent asks the built-in checks for hints.
    let asks = files(
        &["mala-pipeline/src/agent/prepare.rs", "mala-pipeline/src/review.rs"],
        "reviewer.review(",
    );
    assert_eq!(code_with(&CRATES, "reviewer.review("), asks);
    let asks_all = files(&["mala-pipeline/src/review.rs"], "ask_all(");
    assert_eq!(code_with(&["mala-pipeline"], "ask_all("), asks_all);
    // Only one function makes a report, once.
    let makes = files(&["mala-pipeline/src/review.rs"], "= assemble(");
    assert_eq!(code_with(&["mala-domain", "mala-pipeline", "mala"], "= assemble("), makes);
    assert_eq!(code_with(&CRATES, "mut report: Report"), [""; 0]);
    assert_eq!(
        code_with(&CRATES, "    Report {"),
        files(&["mala-domain/src/report/assemble.rs"], "    Report {")
    );
    // Every surface calls it, and no other function makes a report of reviewers.
    for surface in [
        "mala/src/cli/review/run.rs",
        "mala/src/wiring/gate/session.rs",
        "mala/src/wiring/run/reviews.rs",
        "mala-eval/src/case_review.rs",
        "mala-pipeline/src/gate/canary.rs",
    ] {
        let text = fs::read_to_string(root().join(surface)).unwrap();
        let file = SourceFile { name: surface.to_owned(), text };
        assert!(review_imports(&file).contains(&"review".to_owned()), "{surface} imports review");
        assert!(file.code().contains("review("), "{surface} calls review");
    }
    let by_job = code_with(&["mala"], "run_job(");
    for command in ["mala/src/cli/pr.rs", "mala/src/cli/review/run.rs"] {
        assert!(by_job.iter().any(|file| file.starts_with(command)), "{command}: {by_job:#?}");
    }
    let rivals = offences(&CRATES, |file| {
        let mut heads = file.code().split("fn ").skip(1).filter_map(|it| it.split('{').next());
        let rival = heads.find(|head| head.contains("dyn Reviewer") && head.contains("Report>"));
        rival.filter(|_| !file.is_test()).map(str::to_owned)
    });
    assert!(rivals.is_empty(), "{rivals:#?}");
    let sessions = code_with(&["mala"], "start_session(");
    assert!(sessions.iter().any(|file| file.starts_with("mala/src/hook/")), "{sessions:#?}");
    // There is one result type.
    let results = offences(&CRATES, |file| {
        let names = type_names(file).into_iter();
        names.into_iter().find(|name| name.starts_with("Waited"))
    });
    assert!(results.is_empty(), "{results:#?}");
}
