//! What is made from the code and kept in the repository is what the code makes. To write it anew:
//! `MALA_UPDATE_SCHEMAS=1 cargo test -p mala --test it drift`.

use clap::ValueEnum;
use mala::cli::schema::SchemaName;
use std::fs;
use std::path::Path;

/// Compares a file of the repository with what it should hold, or writes it when asked to.
fn keep(path: &str, content: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    if std::env::var_os("MALA_UPDATE_SCHEMAS").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, content).unwrap();
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == content, "{path} is stale; write it anew with MALA_UPDATE_SCHEMAS=1");
}

/// The schema that the type of a document gives.
fn schema_of(name: SchemaName) -> impl serde::Serialize {
    match name {
        SchemaName::ReviewResult => mala_domain::report::schema(),
        SchemaName::Rule => mala_syntax::rules::schema::json_schema(),
        SchemaName::GateSpawned => mala_domain::render::gate::spawn_schema(),
        SchemaName::GateWaited => mala_domain::render::gate::result_schema(),
        SchemaName::Task => mala_domain::task::schema(),
        SchemaName::EvalCase => mala_eval::case::schema(),
        SchemaName::EvalRecord => mala_eval::record::schema(),
        SchemaName::EvalResult => mala_eval::result::schema(),
        SchemaName::EvalCaseView => mala_eval::view::schema(),
        SchemaName::EvalComparison => mala_eval::compare::schema(),
        SchemaName::MalaConfig => mala_domain::config::Config::schema(),
    }
}

#[test]
fn the_schemas_are_those_of_the_types() {
    for name in SchemaName::value_variants() {
        let word = name.to_possible_value().unwrap().get_name().to_owned();
        let schema = serde_json::to_string_pretty(&schema_of(*name)).unwrap() + "\n";
        keep(&format!("schemas/{word}.schema.json"), &schema);
    }
}

#[test]
fn the_configuration_reference_is_that_of_the_types() {
    keep("docs/configuration.md", &mala_domain::config::reference());
}

#[test]
fn the_command_line_reference_is_that_of_the_command_line() {
    keep("docs/cli.md", &mala::cli::reference::reference());
}

/// The words in backticks of a text that look like paths of the repository. `{a,b}` stands for two paths.
fn paths_in(text: &str) -> Vec<String> {
    let outside_fences: String = text.split("```").step_by(2).collect();
    let words = outside_fences.split('`').skip(1).step_by(2).map(str::to_owned);
    let is_path = |word: &String| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/_-.{},".contains(c);
        let starts_here = word.starts_with("mala") || word.ends_with(".rs");
        starts_here && word.contains('/') && word.chars().all(is_plain)
    };
    let expanded = words.filter(is_path).flat_map(|word| match word.split_once('{') {
        Some((start, rest)) => {
            let (inside, end) = rest.split_once('}').unwrap_or((rest, ""));
            inside.split(',').map(|part| format!("{start}{part}{end}")).collect()
        }
        None => vec![word],
    });
    expanded.collect()
}

/// All files and folders with code, from the root of the repository.
fn code_paths() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    let mut folders =
        Vec::from(["mala", "mala-adapters", "mala-domain", "mala-eval", "mala-pipeline"]);
    folders.extend(["mala-syntax", "mala-testkit"]);
    let mut folders: Vec<String> = folders.into_iter().map(str::to_owned).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                folders.push(name.clone());
            }
            found.push(name);
        }
        found.push(folder);
    }
    found
}

#[test]
fn paths_in_the_documents_for_maintainers_exist() {
    let all = code_paths();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut missing = Vec::new();
    let documents = ["ARCHITECTURE.md", "CONTRIBUTING.md", "mala-syntax/rules/README.md"];
    for document in documents {
        let text = fs::read_to_string(root.join(document)).unwrap();
        for path in paths_in(&text) {
            let path = path.trim_end_matches('/');
            let ending = format!("/{path}");
            let module = format!("{ending}.rs");
            let exists = root.join(path).exists()
                || all.iter().any(|it| it.ends_with(&ending) || it.ends_with(&module));
            if !exists {
                missing.push(format!("{document}: {path}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn paths_are_told_from_other_words() {
    let text =
        "`mala-domain/src/{a,b}.rs` and `git/copy.rs`, `mala::cli`, `mala review`, `x/<n>.rs`";
    let expected = ["mala-domain/src/a.rs", "mala-domain/src/b.rs", "git/copy.rs"];
    assert_eq!(paths_in(text), expected);
}
