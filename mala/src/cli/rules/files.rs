//! Reads rule files.

use mala_syntax::rules::{Rule, RuleError};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The folder of the rules of a repository.
pub(super) const FOLDER: &str = ".mala/rules";
const MAX_DEPTH: usize = 4;
const MAX_BYTES: u64 = 1 << 20;

/// The rules in a file or a folder, with names relative to `here`; empty if it does not exist.
pub(super) fn read(here: &Path, path: &Path) -> io::Result<Vec<(String, Result<Rule, RuleError>)>> {
    let mut files = Vec::new();
    collect(path, MAX_DEPTH, &mut files)?;
    files.sort();
    files.into_iter().map(|file| read_one(here, &file)).collect()
}

fn collect(path: &Path, depth: usize, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if metadata.is_file() {
        files.push(path.to_owned());
    } else if metadata.is_dir() && depth > 0 {
        for entry in fs::read_dir(path)? {
            let below = entry?.path();
            let is_yaml = below.extension().is_some_and(|end| end == "yaml" || end == "yml");
            if is_yaml || below.is_dir() {
                collect(&below, depth - 1, files)?;
            }
        }
    }
    Ok(())
}

fn read_one(here: &Path, path: &Path) -> io::Result<(String, Result<Rule, RuleError>)> {
    let name = path.strip_prefix(here).unwrap_or(path).display().to_string();
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
    let rule = match std::str::from_utf8(&bytes) {
        Ok(text) => Rule::parse(&name, text),
        Err(_) => Err(RuleError {
            file: name.clone(),
            line: 0,
            column: 0,
            what: "not valid UTF-8".to_owned(),
            hint: None,
        }),
    };
    Ok((name, rule))
}
