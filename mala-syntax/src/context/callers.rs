//! Unchanged lines that use the definitions that changed.

use super::links::UsingFile;
use super::{ChangedSymbol, FileView, SymbolChange};
use crate::source::Source;
use crate::symbols::{FileOutline, SymbolUse, UseBinding, UseKind, uses};
use mala_domain::change::{FileClass, FilePath, GitAttributes};
use mala_domain::language::Language;
use mala_domain::ports::{WordHit, WordQuery};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Words beyond this many are not looked for.
const MAX_WORDS: usize = 48;

/// Maximum number of hits to search for.
const MAX_HITS: usize = 4_000;

/// Files beyond this many are not read.
const MAX_FILES: usize = 60;

/// Callers of one definition beyond this many are left out.
const MAX_CALLERS: usize = 12;

/// Lines with more bytes are written by a tool.
const MAX_LINE: usize = 1_000;

/// A use of a changed definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The definition that is used.
    pub symbol: String,
    /// The file with the use.
    pub file: FilePath,
    /// The line.
    pub line: u32,
    /// The function or class around it.
    pub within: Option<String>,
    /// The text of the line.
    pub text: String,
}

/// The words to search for: the names of changed definitions that other files may use.
pub fn query(views: &[FileView]) -> Option<WordQuery> {
    let words: BTreeSet<&str> = symbols(views)
        .map(last_name)
        .filter(|name| name.len() > 3 && !crate::cross_file::is_common_word(name))
        .collect();
    let words: Vec<String> = words.into_iter().take(MAX_WORDS).map(str::to_owned).collect();
    (!words.is_empty()).then_some(WordQuery { words, globs: Vec::new(), max_hits: MAX_HITS })
}

/// The files to read, given the search results: those with the fewest hits per word come first.
pub fn files_to_read(views: &[FileView], hits: &[WordHit]) -> Vec<FilePath> {
    let changed: HashSet<&FilePath> = views.iter().map(|view| &view.context.path).collect();
    let mut by_file: BTreeMap<&FilePath, usize> = BTreeMap::new();
    let is_written = |hit: &&WordHit| {
        Language::of_path(&hit.file).is_some()
            && hit.text.len() <= MAX_LINE
            && class(&hit.file, None) == FileClass::Source
    };
    for hit in hits.iter().filter(is_written) {
        *by_file.entry(&hit.file).or_default() += 1;
    }
    let mut files: Vec<(&FilePath, usize)> =
        by_file.into_iter().filter(|(file, _)| !changed.contains(file)).collect();
    files.sort_by_key(|(_, n_hits)| *n_hits);
    files.into_iter().take(MAX_FILES).map(|(file, _)| file.clone()).collect()
}

/// The uses of the changed definitions in the files that were read, calls first.
pub(super) fn callers(
    views: &[FileView],
    hits: &[WordHit],
    texts: &BTreeMap<FilePath, String>,
) -> Vec<Caller> {
    let mut by_name: HashMap<&str, Vec<&ChangedSymbol>> = HashMap::new();
    for symbol in symbols(views) {
        by_name.entry(last_name(symbol)).or_default().push(symbol);
    }
    let names: Vec<&str> = by_name.keys().copied().collect();
    let lines: HashMap<(&FilePath, u32), &str> =
        hits.iter().map(|hit| ((&hit.file, hit.line), hit.text.as_str())).collect();
    let mut found: Vec<(bool, Caller)> = Vec::new();
    for (file, text) in texts {
        let source = Language::of_path(file).and_then(|language| Source::parse(language, text));
        let is_written = class(file, Some(text)) == FileClass::Source;
        let Some(source) = source.filter(|_| is_written) else { continue };
        let outline = FileOutline::of(&source);
        let user =
            UsingFile { path: file, language: source.language(), imports: &outline.imports, text };
        for one in uses(&source, &names).into_iter().filter(is_foreign) {
            let own = by_name.get(one.name.as_str()).into_iter().flatten();
            let meant = own.copied().find(|symbol| user.means(&one, symbol));
            let (Some(symbol), Some(line)) = (meant, lines.get(&(file, one.line))) else {
                continue;
            };
            let caller = Caller {
                symbol: symbol.symbol.clone(),
                file: file.clone(),
                line: one.line,
                within: one.within,
                text: line.trim().to_owned(),
            };
            found.push((one.call.is_none(), caller));
        }
    }
    found.sort_by(|(a, x), (b, y)| (a, &x.file, x.line).cmp(&(b, &y.file, y.line)));
    let mut n_of: HashMap<String, usize> = HashMap::new();
    found
        .into_iter()
        .map(|(_, caller)| caller)
        .filter(|caller| {
            let n = n_of.entry(caller.symbol.clone()).or_default();
            *n += 1;
            *n <= MAX_CALLERS
        })
        .collect()
}

/// The class of a file, by its name and text.
fn class(file: &FilePath, text: Option<&str>) -> FileClass {
    FileClass::of(file, GitAttributes::default(), text)
}

/// Whether a use may refer to a definition of another file.
fn is_foreign(one: &SymbolUse) -> bool {
    one.kind == UseKind::Reads && one.binding != UseBinding::Inside
}

fn symbols(views: &[FileView]) -> impl Iterator<Item = &ChangedSymbol> {
    views
        .iter()
        .flat_map(|view| &view.symbols)
        .filter(|symbol| symbol.change != SymbolChange::Added)
}

fn last_name(symbol: &ChangedSymbol) -> &str {
    symbol.symbol.rsplit('.').next().unwrap_or_default()
}
