//! `search_code`: finds lines with a text or a regular expression. Git finds the lines with the
//! literal parts of an expression, which is fast and gives git no pattern of a model. The
//! expression itself runs here, in linear time.

mod literals;

use super::arguments::{Arguments, missing};
use super::catalogue::LANGUAGES;
use super::files::no_search;
use super::page::{n_fitting, plain};
use super::{ToolAnswer, Toolbox, off_thread};
use super::{ToolRefusal, quoted};
use mala_domain::change::{FilePath, LineSpan};
use mala_domain::language::Language;
use mala_domain::ports::{Blob, CaseSensitivity, FoundLines, Side, TextQuery, WordHit};
use regex::{Regex, RegexBuilder};
use std::time::Instant;

/// The longest query.
const MAX_QUERY: usize = 300;

/// The most matches of one answer.
const MAX_MATCHES: usize = 50;

/// Maximum memory of a compiled expression.
const MAX_PROGRAM: usize = 256 << 10;

/// Maximum nesting of an expression.
const MAX_NESTING: u32 = 50;

/// A search.
struct SearchRequest {
    query: TextQuery,
    pattern: Option<Regex>,
}

impl Toolbox {
    pub(super) async fn search_code(&self, arguments: &Arguments) -> ToolAnswer {
        let wanted = read(arguments)?;
        let Some(search) = self.request.tree.search() else { return Err(no_search()) };
        let found = search.find_texts(&wanted.query).await;
        let found = found.map_err(|error| ToolRefusal::broken(&error))?;
        let until = Instant::now() + self.limits.timeout / 2;
        let mut matches =
            off_thread(move || matching(found, wanted.pattern.as_ref(), until)).await?;
        matches.lines.sort_by_key(|hit| !is_code(&hit.file));
        let n_all = matches.lines.len();
        let shown: Vec<WordHit> = matches.lines.into_iter().take(MAX_MATCHES).collect();
        let lines = self.snippets(&shown).await?;
        let lines: Vec<String> = lines
            .into_iter()
            .map(|(hit, text)| format!("{}:{}: {text}", hit.file, hit.line))
            .collect();
        let n_shown = n_fitting(&lines, self.limits);
        let more = if matches.is_cut { " or more" } else { "" };
        let mut answer = vec![format!("matches: {n_all}{more}")];
        answer.extend(lines.into_iter().take(n_shown));
        if n_shown < n_all || matches.is_cut {
            answer.push(format!(
                "cut: {} are shown; pass a longer query, a path or a language",
                n_shown
            ));
        }
        Ok(answer.join("\n"))
    }

    /// The text of each line, taken from its file, so that a line of a secret of several lines is
    /// known as such. Lines of files that cannot be read are left out.
    pub(super) async fn snippets<'h>(
        &self,
        hits: &'h [WordHit],
    ) -> Result<Vec<(&'h WordHit, String)>, ToolRefusal> {
        let mut snippets = Vec::new();
        for of_file in hits.chunk_by(|a, b| a.file == b.file) {
            let Some(file) = of_file.first().map(|hit| &hit.file) else { continue };
            let text = match self.blob_of(file).await? {
                Blob::Text(text) => text,
                Blob::TooLarge(_) => {
                    let note = "(the file is too large to show)".to_owned();
                    snippets.extend(of_file.iter().map(|hit| (hit, note.clone())));
                    continue;
                }
                Blob::Binary | Blob::Missing => continue,
            };
            for hit in of_file {
                let line = plain(&text, LineSpan::line(hit.line)).into_iter().next();
                snippets.extend(line.map(|(_, line)| (hit, line.trim().to_owned())));
            }
        }
        Ok(snippets)
    }

    pub(super) async fn blob_of(&self, file: &FilePath) -> Result<Blob, ToolRefusal> {
        let blobs = self.request.tree.read(Side::Head, std::slice::from_ref(file)).await;
        let blobs = blobs.map_err(|error| ToolRefusal::broken(&error))?;
        Ok(blobs.into_iter().next().unwrap_or(Blob::Missing))
    }
}

fn read(arguments: &Arguments) -> Result<SearchRequest, ToolRefusal> {
    let text = arguments.text("query", MAX_QUERY)?.ok_or_else(|| missing("query"))?;
    if text.contains(['\n', '\r']) {
        return Err(ToolRefusal::new("query has several lines", "pass a part of one line"));
    }
    let case = match arguments.choice("case", &["exact", "ignore"])? {
        Some("ignore") => CaseSensitivity::Ignored,
        _ => CaseSensitivity::Exact,
    };
    let (texts, pattern) = match arguments.choice("mode", &["literal", "regex"])? {
        Some("regex") => (literals::of(text), Some(compile(text, case)?)),
        _ => (vec![text.to_owned()], None),
    };
    let language = arguments.choice("language", LANGUAGES)?;
    let below = arguments.path("path")?.filter(|path| !path.as_bytes().is_empty());
    let query = TextQuery { texts, case, below, endings: endings(language) };
    Ok(SearchRequest { query, pattern })
}

/// Folders of translated texts.
const TRANSLATIONS: [&[u8]; 6] =
    [b"i18n", b"lang", b"locale", b"locales", b"messages", b"translations"];

/// Whether a file is code. Matches in code are shown before those in data and translations, which can be
/// many.
fn is_code(file: &FilePath) -> bool {
    let mut parts = file.as_bytes().split(|byte| *byte == b'/');
    Language::of_path(file).is_some() && !parts.any(|part| TRANSLATIONS.contains(&part))
}

fn compile(pattern: &str, case: CaseSensitivity) -> Result<Regex, ToolRefusal> {
    let built = RegexBuilder::new(pattern)
        .case_insensitive(case == CaseSensitivity::Ignored)
        .size_limit(MAX_PROGRAM)
        .dfa_size_limit(4 * MAX_PROGRAM)
        .nest_limit(MAX_NESTING)
        .build();
    built.map_err(|error| {
        let why = match error {
            regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
            error => error.to_string().lines().last().unwrap_or_default().trim().to_owned(),
        };
        ToolRefusal::new(
            format!("query {} is no regular expression: {why}", quoted(pattern)),
            "pass one without look-around and back-references, or mode literal",
        )
    })
}

/// The lines that an expression matches; those that there is no time for are cut.
fn matching(mut found: FoundLines, pattern: Option<&Regex>, until: Instant) -> FoundLines {
    let Some(pattern) = pattern else { return found };
    let mut is_late = false;
    found.lines.retain(|line| {
        is_late = is_late || Instant::now() > until;
        !is_late && pattern.is_match(&line.text)
    });
    FoundLines { is_cut: found.is_cut || is_late, ..found }
}

/// The endings of a language's file names.
pub(super) fn endings(language: Option<&str>) -> Vec<String> {
    let of_language = |ending: &&&str| {
        let path = FilePath::from(format!("x{ending}").as_str());
        Language::of_path(&path).map(Language::name) == language
    };
    match language {
        Some(_) => ENDINGS.iter().filter(of_language).map(|ending| (*ending).to_owned()).collect(),
        None => Vec::new(),
    }
}

const ENDINGS: &[&str] = &[
    ".py", ".pyi", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".rs", ".go",
    ".java", ".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".rb", ".rake", ".gemspec",
    ".cs", ".php",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_endings() {
        for language in LANGUAGES {
            assert!(!endings(Some(language)).is_empty(), "{language}");
        }
        assert_eq!(endings(Some("cpp")), [".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx"]);
        assert_eq!(endings(None), Vec::<String>::new());
    }

    #[test]
    fn expressions_that_explode_are_refused_or_linear() {
        for bomb in
            ["(a{1,1000}){1,1000}", "((((((a{9}){9}){9}){9}){9}){9})", "(?=x)", r"(a)\1", "("]
        {
            assert!(compile(bomb, CaseSensitivity::Exact).is_err(), "{bomb}");
        }
        let nested = format!("{}a{}", "(".repeat(100), ")".repeat(100));
        assert!(compile(&nested, CaseSensitivity::Exact).is_err());
        let slow = compile("(a|a)*(a|a)*(a|a)*$", CaseSensitivity::Exact).expect("compiles");
        let line = WordHit { file: "a".into(), line: 1, text: "a".repeat(2000) + "b" };
        let found = FoundLines { lines: vec![line; 200], is_cut: false };
        let until = Instant::now() + std::time::Duration::from_secs(60);
        assert!(!matching(found.clone(), Some(&slow), until).is_cut);
        assert!(matching(found, Some(&slow), Instant::now()).is_cut);
    }
}
