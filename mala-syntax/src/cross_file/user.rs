//! A file at head that may use what the change breaks.

use super::plan::LookupPlan;
use crate::source::Source;
use crate::symbols::{FileOutline, ImportedItem, RustMatch, SymbolUse, rust_matches, uses};
use mala_domain::change::FilePath;
use mala_domain::language::Language;
use std::collections::HashSet;

/// A file at head that was found.
#[derive(Debug, Clone)]
pub struct UserFile {
    /// Its path.
    pub(crate) file: FilePath,
    /// The same as text.
    pub(crate) path: String,
    /// What it defines and imports.
    pub(crate) outline: FileOutline,
    /// Where it uses the names that were looked for.
    pub(crate) uses: Vec<SymbolUse>,
    /// Those of the names that are imported from it which it has nowhere.
    pub(crate) lacking: HashSet<String>,
    /// Whether it exports by statements alone: JavaScript and TypeScript only.
    pub(crate) is_plain_module: bool,
    /// Its matches, in Rust.
    pub(crate) matches: Vec<RustMatch>,
}

impl UserFile {
    /// Reads a file; `None` when no grammar reads it.
    pub fn of(file: &FilePath, text: &str, plan: &LookupPlan) -> Option<Self> {
        let source = Source::parse(Language::of_path(file)?, text)?;
        let outline = FileOutline::of(&source);
        let names = names_to_find(&outline, plan);
        let uses = if is_compiled(text) { Vec::new() } else { uses(&source, &names) };
        let matches = if plan.asks_for_matches() { rust_matches(&source) } else { Vec::new() };
        let path = file.to_text().into_owned();
        let wanted = plan.names_imported_from(&path);
        let lacking = lacking(text, &wanted);
        let is_plain_module = !wanted.is_empty() && !text.contains("exports");
        let file = file.clone();
        Some(Self { file, path, outline, uses, lacking, is_plain_module, matches })
    }
}

/// Whether a compiler wrote a script: it is made again when what it was made of changes.
fn is_compiled(text: &str) -> bool {
    let mark = "Object.defineProperty(exports, \"__esModule\"";
    text.lines().take(30).any(|line| line.starts_with(mark))
}

/// Those of the names that a text does not have as a word.
fn lacking(text: &str, wanted: &[&str]) -> HashSet<String> {
    let mut lacking: HashSet<&str> = wanted.iter().copied().collect();
    if !lacking.is_empty() {
        for word in text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$') {
            lacking.remove(word);
        }
    }
    lacking.into_iter().map(str::to_owned).collect()
}

/// The names that the plan asks for, those they have in this file, and those they are reached
/// through.
fn names_to_find(outline: &FileOutline, plan: &LookupPlan) -> Vec<String> {
    let asked = plan.names();
    let mut names: HashSet<String> = asked.iter().map(|name| (*name).to_owned()).collect();
    for import in &outline.imports {
        let renames = import.name().is_some_and(|name| asked.contains(name));
        let whole = matches!(import.imported, ImportedItem::Module | ImportedItem::Default)
            || import.name().is_some_and(|name| name.starts_with(char::is_lowercase));
        if renames || whole {
            names.insert(import.local.rsplit('.').next().unwrap_or_default().to_owned());
            names.insert(import.local.split('.').next().unwrap_or_default().to_owned());
        }
    }
    names.remove("");
    names.remove("*");
    names.into_iter().collect()
}
