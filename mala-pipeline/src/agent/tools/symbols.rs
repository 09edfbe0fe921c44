//! `get_function_context` and `find_references`: code by its names, as its grammar has them.

mod references;

use super::arguments::Arguments;
use super::files::head_of;
use super::page::{n_fitting, n_lines, numbered};
use super::reading::ShownImports;
use super::{ToolAnswer, ToolLimits, Toolbox, off_thread};
use super::{ToolRefusal, quoted};
use mala_domain::change::{FilePath, LineSpan};
use mala_domain::language::Language;
use mala_domain::ports::Side;
use mala_syntax::source::Source;
use mala_syntax::symbols::{Definition, DefinitionRole, FileOutline};

/// The longest name.
const MAX_NAME: usize = 200;

/// The number of lines to show around a line without a known definition.
const AROUND: u32 = 20;

/// The most lines of imports that are shown.
const MAX_IMPORTS: usize = 30;

/// The most names that are offered for one that is unknown.
const MAX_OFFERED: usize = 20;

/// The requested place.
enum ContextRequest {
    Symbol(String),
    Line(u32),
}

/// The result for a file.
enum ContextResult {
    Definition { title: String, span: LineSpan, imports: Vec<LineSpan> },
    Around { note: String, span: LineSpan },
    Nothing { offered: Vec<String> },
}

impl Toolbox {
    /// A function, and its file's imports if this is the first call of the conversation about the file.
    pub(super) async fn get_function_context(
        &self,
        arguments: &Arguments,
        shown: &ShownImports,
    ) -> ToolAnswer {
        let (path, side) = (arguments.file("path")?, arguments.side()?);
        // Decided before anything is read: calls of one answer run side by side.
        let is_first = shown.is_first(side, &path);
        let answer = self.function(arguments, is_first).await;
        if is_first && !answer.as_ref().is_ok_and(|text| text.contains("\nimports:\n")) {
            shown.forget(side, &path);
        }
        answer
    }

    async fn function(&self, arguments: &Arguments, with_imports: bool) -> ToolAnswer {
        let (path, side) = (arguments.file("path")?, arguments.side()?);
        let wanted = match (arguments.text("symbol", MAX_NAME)?, arguments.number("line")?) {
            (Some(symbol), _) => ContextRequest::Symbol(symbol.replace("::", ".")),
            (None, Some(line)) => ContextRequest::Line(line),
            (None, None) => {
                return Err(ToolRefusal::new("symbol and line are missing", "pass one of them"));
            }
        };
        let text = self.text_of(side, &path).await?;
        let language = Language::of(&path, &text);
        let (text, found) = off_thread(move || {
            let found = find_context(&text, language, &wanted);
            (text, found)
        })
        .await?;
        let head = head_of(&path, &text);
        match found? {
            ContextResult::Definition { title, span, imports } => {
                let imports = if with_imports { imports } else { Vec::new() };
                let page = self.with_imports(side, &path, &text, (span, &imports))?;
                let place = format!("start_line: {}\nend_line: {}", span.start(), span.end());
                Ok(format!("{head}\nsymbol: {title}\n{place}\n{page}"))
            }
            ContextResult::Around { note, span } => {
                let page = self.page(side, &path, &text, span)?;
                Ok(format!("{head}\nnote: {note}\n{page}"))
            }
            ContextResult::Nothing { offered } => Err(ToolRefusal::new(
                format!("{path} has no such name"),
                match offered.is_empty() {
                    true => "pass a name that search_code finds in this file".to_owned(),
                    false => format!("pass one of {}", offered.join(", ")),
                },
            )),
        }
    }

    /// The lines of a definition after those of the imports, which get a quarter of the space.
    fn with_imports(
        &self,
        side: Side,
        path: &FilePath,
        text: &str,
        (span, imports): (LineSpan, &[LineSpan]),
    ) -> ToolAnswer {
        let quarter = ToolLimits { max_bytes: self.limits.max_bytes / 4, ..self.limits };
        let mut above: Vec<(u32, String)> = imports
            .iter()
            .take(MAX_IMPORTS)
            .flat_map(|import| import.start()..=import.end())
            .take(MAX_IMPORTS)
            .flat_map(|line| {
                numbered(text, LineSpan::line(line)).into_iter().map(move |it| (line, it))
            })
            .collect();
        let lines: Vec<String> = above.iter().map(|(_, line)| line.clone()).collect();
        above.truncate(n_fitting(&lines, quarter));
        let n_bytes: usize = above.iter().map(|(_, line)| line.len() + 1).sum();
        let room = ToolLimits {
            max_lines: self.limits.max_lines.saturating_sub(above.len()),
            max_bytes: self.limits.max_bytes.saturating_sub(n_bytes),
            ..self.limits
        };
        let lines = numbered(text, self.one_page(span));
        let page = self.paged_within(side, path, span, (lines, room))?;
        above.retain(|(line, _)| self.reading.claim(side, path, LineSpan::line(*line)).is_ok());
        let above: Vec<String> = above.into_iter().map(|(_, line)| line).collect();
        Ok(match above.is_empty() {
            true => format!("definition, {page}"),
            false => format!("imports:\n{}\ndefinition, {page}", above.join("\n")),
        })
    }
}

fn find_context(
    text: &str,
    language: Option<Language>,
    wanted: &ContextRequest,
) -> Result<ContextResult, ToolRefusal> {
    let n = n_lines(text);
    if let ContextRequest::Line(line) = wanted
        && *line > n
    {
        return Err(ToolRefusal::new(
            format!("the file has {n} lines, and line {line} is after them"),
            format!("pass a line from 1 to {n}"),
        ));
    }
    let source = language.and_then(|language| Source::parse(language, text));
    let outline = source.as_ref().map(FileOutline::of);
    let definition = outline.as_ref().and_then(|outline| defined(outline, wanted));
    if let (Some(outline), Some(definition)) = (&outline, definition) {
        return Ok(ContextResult::Definition {
            title: format!("{} ({})", definition.qualified(), definition.kind.name()),
            span: definition.span,
            imports: import_lines(outline),
        });
    }
    let line = match wanted {
        ContextRequest::Line(line) => Some(*line),
        ContextRequest::Symbol(name) => line_with(text, last_name(name)),
    };
    Ok(match line {
        Some(line) => {
            let span =
                LineSpan::between(line.saturating_sub(AROUND), line.saturating_add(AROUND).min(n));
            ContextResult::Around { note: note(outline.is_some(), line), span }
        }
        None => ContextResult::Nothing { offered: outline.as_ref().map(names).unwrap_or_default() },
    })
}

fn note(is_parsed: bool, line: u32) -> String {
    let why = match is_parsed {
        true => "no definition is around or has this name",
        false => "this file has no known grammar",
    };
    format!("{why}; these are the lines around line {line}")
}

/// The requested definition. Real definitions are preferred to mere declarations.
fn defined<'o>(outline: &'o FileOutline, wanted: &ContextRequest) -> Option<&'o Definition> {
    let all = outline.definitions.iter();
    match wanted {
        ContextRequest::Symbol(name) => {
            let ends = |whole: &str| {
                whole.strip_suffix(name.as_str()).is_some_and(|start| start.ends_with('.'))
            };
            let is_meant = |definition: &&Definition| {
                let qualified = definition.qualified().replace("::", ".");
                qualified == *name || ends(&qualified)
            };
            all.filter(is_meant)
                .min_by_key(|definition| definition.role == DefinitionRole::Declares)
        }
        ContextRequest::Line(line) => {
            let enclosing = outline.enclosing(*line)?;
            all.clone().find(|it| it.span == enclosing.span && it.qualified() == enclosing.symbol)
        }
    }
}

/// The lines of the import statements, in order.
fn import_lines(outline: &FileOutline) -> Vec<LineSpan> {
    let mut spans: Vec<LineSpan> = Vec::new();
    for import in outline.imports.iter().filter(|import| import.scope.is_none()) {
        let span = LineSpan::between(import.statement_line, import.line);
        match spans.last_mut() {
            Some(last) if last.overlaps(span) => {
                *last = LineSpan::between(last.start(), last.end().max(span.end()));
            }
            _ => spans.push(span),
        }
    }
    spans
}

fn names(outline: &FileOutline) -> Vec<String> {
    let named = outline
        .definitions
        .iter()
        .filter(|definition| definition.kind.is_callable() || definition.kind.is_type());
    let mut names: Vec<_> = named.map(|definition| quoted(&definition.qualified())).collect();
    names.dedup();
    names.truncate(MAX_OFFERED);
    names
}

/// The first line with this word.
fn line_with(text: &str, word: &str) -> Option<u32> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let has = |line: &str| line.split(|c| !is_word(c)).any(|found| found == word);
    (1..).zip(text.lines()).find(|(_, line)| has(line)).map(|(number, _)| number)
}

/// `run` of `Server.run`.
fn last_name(symbol: &str) -> &str {
    symbol.rsplit('.').next().unwrap_or(symbol)
}
