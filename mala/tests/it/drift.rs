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

#[test]
fn the_schemas_are_those_of_the_types() {
    for name in SchemaName::value_variants() {
        let word = name.to_possible_value().unwrap().get_name().to_owned();
        keep(&format!("schemas/{word}.schema.json"), &name.text().unwrap());
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
