//! Query tests of CodeQL: a folder with sources, a `.qlref` per query and an `.expected` file with its
//! results. Sources mark their problems themselves (`// $ Alert`), or the `.expected` files do. Markers are
//! removed from the code without changing line numbers.

mod expected;
mod markers;
#[cfg(test)]
mod tests;

use super::draft::{CaseDraft, DraftCode, DraftLocation, DraftProblem};
use super::{ImportFile, ImportedDrafts, RecordLocation};
use crate::case::CaseMeta;
use crate::case::language_word;
use expected::ExpectedRow;
use mala_domain::change::{FilePath, LineSpan};
use mala_domain::finding::{Category, Severity};
use mala_domain::language::Language;
use markers::{InlineMarker, MarkedLines};
use std::collections::{BTreeMap, BTreeSet};

/// Prefixes of path components, in lower case, and the category of queries below them; the first
/// match counts.
const FOLDERS: &[(&str, Category)] = &[
    ("security", Category::Security),
    ("cwe-", Category::Security),
    ("exceptions", Category::ErrorHandling),
    ("performance", Category::Performance),
    ("declarations", Category::Style),
    ("redundantcode", Category::Style),
    ("maintainability", Category::Style),
];

/// Whether a file may be part of a query test.
pub(super) fn wants(path: &FilePath) -> bool {
    matches!(path.extension(), Some("expected" | "qlref" | "swift"))
        || Language::of_path(path).is_some()
}

/// A query in a folder with tests.
#[derive(Default)]
struct CodeqlQuery<'a> {
    /// The path among the queries, such as `Security/CWE-117/LogInjection`.
    path: String,
    /// Whether the sources mark its results.
    is_inline: bool,
    /// Its results, by the file that they are in.
    rows: BTreeMap<Vec<u8>, Vec<(&'a ImportFile, ExpectedRow)>>,
}

/// The queries of every folder, by its path.
type CodeqlTests<'a> = BTreeMap<Vec<u8>, BTreeMap<String, CodeqlQuery<'a>>>;

pub(super) fn read(files: &[ImportFile]) -> ImportedDrafts {
    let mut imported = ImportedDrafts::default();
    let tests = tests(files);
    let mut found: BTreeSet<&[u8]> = BTreeSet::new();
    let is_test = |file: &&ImportFile| matches!(file.path.extension(), Some("expected" | "qlref"));
    for file in files.iter().filter(|file| !is_test(file)) {
        found.insert(file.path.as_bytes());
        match draft(file, &tests) {
            Ok(draft) => imported.drafts.push(draft),
            Err(why) => imported.skip(&RecordLocation::new(file, 1), why),
        }
    }
    for (path, rows) in tests.values().flat_map(BTreeMap::values).flat_map(|query| &query.rows) {
        if !found.contains(path.as_slice()) {
            let why = format!("{} was not read", String::from_utf8_lossy(path));
            for (source, row) in rows {
                imported.skip(&RecordLocation::new(source, row.line), why.as_str());
            }
        }
    }
    imported
}

fn tests(files: &[ImportFile]) -> CodeqlTests<'_> {
    let mut tests = CodeqlTests::new();
    for file in files.iter().filter(|file| file.path.extension() == Some("qlref")) {
        let (folder, name) = split(&file.path);
        let query = file.text.lines().find_map(|line| {
            let line = line.trim();
            line.strip_prefix("query:").unwrap_or(line).trim().strip_suffix(".ql")
        });
        let query = CodeqlQuery {
            path: query.unwrap_or(name.as_str()).to_owned(),
            is_inline: file.text.contains("InlineExpectations"),
            rows: BTreeMap::new(),
        };
        tests.entry(folder).or_default().insert(name, query);
    }
    for file in files.iter().filter(|file| file.path.extension() == Some("expected")) {
        let (folder, name) = split(&file.path);
        // Without a query of the same name, it is another kind of table.
        if let Some(query) = tests.get_mut(&folder).and_then(|queries| queries.get_mut(&name)) {
            for row in expected::rows(&file.text) {
                query.rows.entry(within(&folder, &row.file)).or_default().push((file, row));
            }
        }
    }
    tests
}

/// A folder with its slash, and a name without its ending.
fn split(path: &FilePath) -> (Vec<u8>, String) {
    let bytes = path.as_bytes();
    let start = bytes.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    let name = path.file_name();
    let name = name.rsplit_once('.').map_or(name, |(name, _)| name);
    (bytes.get(..start).unwrap_or_default().to_vec(), name.to_owned())
}

fn within(folder: &[u8], file: &str) -> Vec<u8> {
    [folder, file.as_bytes()].concat()
}

fn draft(file: &ImportFile, tests: &CodeqlTests<'_>) -> Result<CaseDraft, String> {
    let marked = MarkedLines::read(&file.path, &file.text);
    let mut truths = Vec::new();
    let mut rejected = Vec::new();
    let none = BTreeMap::new();
    let queries = nearest(&file.path, tests).unwrap_or(&none);
    let about = QueryMetadata::new(file, queries);
    about.by_markers(&marked, &mut truths, &mut rejected);
    about.by_rows(&mut truths);
    if queries.is_empty() && truths.is_empty() {
        let bad = marked.lines_with(InlineMarker::Bad);
        truths.extend(bad.map(|line| about.claim(LineSpan::line(line), None)));
    }
    let is_named_good = split(&file.path).1.to_ascii_lowercase().ends_with("good");
    if truths.is_empty() && !marked.says_good && !is_named_good {
        return Err("nothing says whether it has problems".to_owned());
    }
    let mut seen = BTreeSet::new();
    truths.retain(|claim| seen.insert((format!("{:?}", claim.place), claim.category)));
    let path = file.path.to_text();
    let code = DraftCode::Added(BTreeMap::from([(file.path.clone(), marked.text)]));
    let id = format!("codeql-{}", path.replace('/', "__"));
    let mut draft = CaseDraft::new(RecordLocation::new(file, 1), id, code);
    draft.repo = "github/codeql".to_owned();
    draft.language = match Language::of_path(&file.path) {
        Some(language) => language_word(language.name()).to_owned(),
        None => file.path.extension().unwrap_or("text").to_owned(),
    };
    draft.title = format!("Add {}", file.path.file_name());
    draft.meta = CaseMeta::default()
        .with("source", "query tests of github/codeql")
        .with("licence", "MIT")
        .with("path", path.into_owned());
    (draft.truths, draft.rejected) = (truths, rejected);
    Ok(draft)
}

/// The queries of the nearest folder around a file that has some.
fn nearest<'t, 'a>(
    path: &FilePath,
    tests: &'t CodeqlTests<'a>,
) -> Option<&'t BTreeMap<String, CodeqlQuery<'a>>> {
    let bytes = path.as_bytes();
    let ends = (1..=bytes.len()).rev().filter(|end| bytes.get(end - 1) == Some(&b'/'));
    ends.chain([0]).find_map(|end| tests.get(bytes.get(..end)?))
}

/// A source, and the queries that it is tested with.
struct QueryMetadata<'a> {
    file: &'a ImportFile,
    queries: &'a BTreeMap<String, CodeqlQuery<'a>>,
    category: Category,
    /// The messages of queries about its lines.
    messages: BTreeMap<u32, &'a str>,
}

impl<'a> QueryMetadata<'a> {
    fn new(file: &'a ImportFile, queries: &'a BTreeMap<String, CodeqlQuery<'a>>) -> Self {
        let rows = queries.values().rev().flat_map(|query| mine(file, query).iter().rev());
        let messages = rows.map(|(_, row)| (row.span.start(), row.message.as_str())).collect();
        Self { file, queries, category: category(&file.path.to_text(), queries), messages }
    }

    fn by_markers(
        &self,
        marked: &MarkedLines,
        truths: &mut Vec<DraftProblem>,
        rejected: &mut Vec<DraftProblem>,
    ) {
        for (line, mark, rule) in &marked.marks {
            let claim = || self.claim(LineSpan::line(*line), rule.as_deref());
            match mark {
                InlineMarker::Alert => truths.push(claim()),
                InlineMarker::Spurious => rejected.push(claim()),
                InlineMarker::Bad => {}
            }
        }
    }

    /// Adds the results of queries that the sources do not mark.
    fn by_rows(&self, truths: &mut Vec<DraftProblem>) {
        let unmarked = self.queries.values().filter(|query| !query.is_inline);
        for query in unmarked {
            for (_, row) in mine(self.file, query) {
                let claim = self.claim(row.span, None);
                let kind = Some(query.path.clone());
                truths.push(DraftProblem { description: row.message.clone(), kind, ..claim });
            }
        }
    }

    fn claim(&self, span: LineSpan, rule: Option<&str>) -> DraftProblem {
        let message = self.messages.get(&span.start()).map(|message| (*message).to_owned());
        let only = self.queries.values().next().filter(|_| self.queries.len() == 1);
        let kind = rule.map(str::to_owned).or_else(|| only.map(|query| query.path.clone()));
        let description = message.or_else(|| kind.clone());
        let is_security = self.category == Category::Security;
        DraftProblem {
            location: RecordLocation::new(self.file, span.start() as usize),
            place: DraftLocation::Lines(self.file.path.clone(), span),
            category: self.category,
            severity: Some(if is_security { Severity::High } else { Severity::Medium }),
            description: description.unwrap_or_else(|| "marked as bad".to_owned()),
            kind,
        }
    }
}

/// The results of a query in a file.
fn mine<'q, 'a>(
    file: &ImportFile,
    query: &'q CodeqlQuery<'a>,
) -> &'q [(&'a ImportFile, ExpectedRow)] {
    query.rows.get(file.path.as_bytes()).map(Vec::as_slice).unwrap_or_default()
}

fn category(path: &str, queries: &BTreeMap<String, CodeqlQuery<'_>>) -> Category {
    let queries = queries.values().map(|query| query.path.as_str());
    let places: Vec<String> =
        queries.chain([path]).map(|place| place.to_ascii_lowercase()).collect();
    let has = |start: &str| {
        places.iter().flat_map(|place| place.split('/')).any(|part| part.starts_with(start))
    };
    let known = FOLDERS.iter().find(|(start, _)| has(start));
    known.map_or(Category::Bug, |(_, category)| *category)
}
