//! The context of a change besides its lines: the functions and classes around them, the
//! definitions that changed, and their uses elsewhere.
//!
//! [`FileView::of`] analyses one file, [`query`] returns the words to search for, [`files_to_read`]
//! selects the files to read from the results, and [`assemble`] combines everything. Nothing is
//! fetched here.

mod callers;
mod links;
mod regions;

pub use callers::{Caller, files_to_read, query};
pub use regions::ContextRegion;

use crate::source::Source;
use crate::symbols::{Definition, DefinitionKind, FileOutline, Visibility};
use mala_domain::change::{ChangedFile, FilePath, LineSpan};
use mala_domain::language::Language;
use mala_domain::ports::WordHit;
use std::collections::{BTreeMap, HashMap};

/// The context of a change besides its lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SymbolContext {
    /// The changed files with the regions around their hunks.
    pub files: Vec<FileContext>,
    /// The definitions that changed.
    pub changed_symbols: Vec<ChangedSymbol>,
    /// The uses of those definitions in other places.
    pub callers: Vec<Caller>,
}

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileContext {
    /// Its path at head.
    pub path: FilePath,
    /// Its language.
    pub language: Option<Language>,
    /// The regions around its hunks, in the order of the file.
    pub regions: Vec<ContextRegion>,
}

/// A definition that the change touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedSymbol {
    /// The file, at head or, when it is gone, at base.
    pub file: FilePath,
    /// `Class.method`, or the unqualified name.
    pub symbol: String,
    /// The kind of definition.
    pub kind: DefinitionKind,
    /// Its lines, at head unless it is gone.
    pub span: LineSpan,
    /// How it changed.
    pub change: SymbolChange,
}

/// How a definition changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolChange {
    /// It is new.
    Added,
    /// Its text differs.
    Modified,
    /// It is gone.
    Removed,
}

/// One changed file, looked at by itself.
#[derive(Debug, Clone)]
pub struct FileView {
    context: FileContext,
    symbols: Vec<ChangedSymbol>,
}

impl FileView {
    /// Looks at a changed file with its texts at base and at head.
    pub fn of(file: &ChangedFile, base: Option<&str>, head: Option<&str>) -> Self {
        let outline = |text: Option<&str>| {
            let source = Source::parse(file.language()?, text?)?;
            Some(FileOutline::of(&source))
        };
        Self::of_outlines(file, head, outline(base).as_ref(), outline(head).as_ref())
    }

    /// Looks at a changed file with its text at head and its outlines at base and at head.
    pub fn of_outlines(
        file: &ChangedFile,
        head: Option<&str>,
        before: Option<&FileOutline>,
        after: Option<&FileOutline>,
    ) -> Self {
        let regions = head.map(|text| regions::around(file, text, after)).unwrap_or_default();
        let language = file.language();
        let context = FileContext { path: file.path.clone(), language, regions };
        Self { context, symbols: changed_symbols(file, before, after) }
    }
}

/// Combines the views of the changed files with the search results; `texts` are the files that were
/// read.
pub fn assemble(
    views: Vec<FileView>,
    hits: &[WordHit],
    texts: &BTreeMap<FilePath, String>,
) -> SymbolContext {
    let callers = callers::callers(&views, hits, texts);
    let mut context = SymbolContext { callers, ..SymbolContext::default() };
    for view in views {
        context.files.push(view.context);
        context.changed_symbols.extend(view.symbols);
    }
    context
}

/// The definitions with changed lines in them, and those that only one side has.
fn changed_symbols(
    file: &ChangedFile,
    base: Option<&FileOutline>,
    head: Option<&FileOutline>,
) -> Vec<ChangedSymbol> {
    let added = file.added();
    let before = base.map(by_name).unwrap_or_default();
    let after = head.map(by_name).unwrap_or_default();
    let symbol = |path: &FilePath, definition: &Definition, change| ChangedSymbol {
        file: path.clone(),
        symbol: definition.qualified(),
        kind: definition.kind,
        span: definition.span,
        change,
    };
    let at_head = head.into_iter().flat_map(|head| &head.definitions).filter_map(|definition| {
        let change = match before.get(&definition.qualified()) {
            None if base.is_some() || !file.existed_at_base() => SymbolChange::Added,
            Some(old)
                if old.fingerprint != definition.fingerprint || added.overlaps(definition.span) =>
            {
                SymbolChange::Modified
            }
            _ => return None,
        };
        is_named(definition).then(|| symbol(&file.path, definition, change))
    });
    let gone = base
        .into_iter()
        .filter(|_| head.is_some() || !file.exists_at_head())
        .flat_map(|base| &base.definitions)
        .filter(|definition| !after.contains_key(&definition.qualified()))
        .filter(|definition| is_named(definition))
        .map(|definition| symbol(file.base_path(), definition, SymbolChange::Removed));
    at_head.chain(gone).collect()
}

fn is_named(definition: &Definition) -> bool {
    definition.visibility != Visibility::Local
        && !matches!(definition.kind, DefinitionKind::Variable | DefinitionKind::Module)
}

fn by_name(outline: &FileOutline) -> HashMap<String, &Definition> {
    outline.definitions.iter().map(|definition| (definition.qualified(), definition)).collect()
}

#[cfg(test)]
mod tests;
