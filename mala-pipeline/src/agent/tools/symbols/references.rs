//! `find_references`: finds the uses of a name. git finds the word in the whole tree; the syntax
//! tree of each file tells how the line uses it.

use super::super::arguments::{Arguments, missing};
use super::super::catalogue::LANGUAGES;
use super::super::page::n_fitting;
use super::super::search::endings;
use super::super::{ToolAnswer, Toolbox, off_thread};
use super::super::{ToolRefusal, quoted};
use super::{MAX_NAME, last_name};
use mala_domain::language::Language;
use mala_domain::ports::{WordHit, WordQuery};
use mala_syntax::source::Source;
use mala_syntax::symbols::{FileOutline, UseKind, uses};
use std::collections::HashMap;

/// Maximum number of lines to search for.
const MAX_HITS: usize = 2000;

/// Files beyond this many are not parsed.
const MAX_FILES: usize = 40;

/// The most references of one answer.
const MAX_SHOWN: usize = 60;

/// How a line uses the name, the most important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ReferenceKind {
    Call,
    Use,
    Import,
    Definition,
    Mention,
}

/// How a line uses the name, and the enclosing definition.
type ReferenceRole = (ReferenceKind, Option<String>);

impl Toolbox {
    pub(in super::super) async fn find_references(&self, arguments: &Arguments) -> ToolAnswer {
        let symbol = arguments.text("symbol", MAX_NAME)?.ok_or_else(|| missing("symbol"))?;
        let dotted = symbol.replace("::", ".");
        let word = last_name(&dotted).to_owned();
        if word.is_empty() || !word.chars().all(|c| c.is_alphanumeric() || "_$?!".contains(c)) {
            return Err(ToolRefusal::new(
                format!("symbol {} is no name", quoted(symbol)),
                "pass a name such as run or Server.run; search_code finds other texts",
            ));
        }
        let (below, language) = (arguments.path("path")?, arguments.choice("language", LANGUAGES)?);
        let globs = endings(language).iter().map(|ending| format!("*{ending}")).collect();
        let query = WordQuery { words: vec![word.clone()], globs, max_hits: MAX_HITS };
        let hits = self.request.tree.find_words(&query).await;
        let mut hits = hits.map_err(|error| ToolRefusal::broken(&error))?;
        let is_cut = hits.len() >= MAX_HITS;
        hits.retain(|hit| below.as_ref().is_none_or(|below| below.holds(&hit.file)));
        let found = self.with_roles(hits, &word).await?;
        self.show(&found, is_cut).await
    }

    /// The lines with how they use the name, the most important first.
    async fn with_roles(
        &self,
        hits: Vec<WordHit>,
        word: &str,
    ) -> Result<Vec<(ReferenceRole, WordHit)>, ToolRefusal> {
        let mut found = Vec::new();
        for (n_files, of_file) in hits.chunk_by(|a, b| a.file == b.file).enumerate() {
            let Some(file) = of_file.first().map(|hit| &hit.file) else { continue };
            let mut roles = HashMap::new();
            if let Some(language) = Language::of_path(file)
                && n_files < MAX_FILES
                && let Some(text) = self.blob_of(file).await?.text()
            {
                let (text, word) = (text.to_owned(), word.to_owned());
                roles = off_thread(move || roles_in(language, &text, &word)).await?;
            }
            for hit in of_file {
                let role = roles.remove(&hit.line).unwrap_or((ReferenceKind::Mention, None));
                found.push((role, hit.clone()));
            }
        }
        found.sort_by(|(a, x), (b, y)| (a.0, &x.file, x.line).cmp(&(b.0, &y.file, y.line)));
        Ok(found)
    }

    async fn show(&self, found: &[(ReferenceRole, WordHit)], is_cut: bool) -> ToolAnswer {
        let shown: Vec<WordHit> =
            found.iter().take(MAX_SHOWN).map(|(_, hit)| hit.clone()).collect();
        let snippets = self.snippets(&shown).await?;
        let by_place: HashMap<_, _> =
            snippets.iter().map(|(hit, text)| ((&hit.file, hit.line), text)).collect();
        let lines: Vec<String> = found
            .iter()
            .take(MAX_SHOWN)
            .filter_map(|(role, hit)| {
                let text = by_place.get(&(&hit.file, hit.line))?;
                Some(format!("{}:{}: [{}] {text}", hit.file, hit.line, describe(role)))
            })
            .collect();
        let n_shown = n_fitting(&lines, self.limits);
        let more = if is_cut { " or more" } else { "" };
        let mut answer = vec![format!("references: {}{more}", found.len())];
        answer.extend(lines.into_iter().take(n_shown));
        if n_shown < found.len() || is_cut {
            answer.push(format!("cut: {n_shown} are shown; pass a path or a language"));
        }
        Ok(answer.join("\n"))
    }
}

fn describe((kind, within): &ReferenceRole) -> String {
    let kind = match kind {
        ReferenceKind::Call => "call",
        ReferenceKind::Use => "use",
        ReferenceKind::Import => "import",
        ReferenceKind::Definition => "definition",
        ReferenceKind::Mention => "mention",
    };
    match within {
        Some(within) => format!("{kind} in {within}"),
        None => kind.to_owned(),
    }
}

/// How each line of a file uses the name.
fn roles_in(language: Language, text: &str, word: &str) -> HashMap<u32, ReferenceRole> {
    let mut roles: HashMap<u32, ReferenceRole> = HashMap::new();
    let Some(source) = Source::parse(language, text) else { return roles };
    let mut add = |line: u32, role: ReferenceRole| {
        let known = roles.entry(line).or_insert_with(|| role.clone());
        if role.0 < known.0 {
            *known = role;
        }
    };
    let outline = FileOutline::of(&source);
    for definition in outline.definitions.iter().filter(|definition| definition.name == word) {
        add(definition.name_line, (ReferenceKind::Definition, definition.container.clone()));
    }
    for one in uses(&source, &[word]) {
        let kind = match (one.kind, &one.call) {
            (UseKind::Binds, _) => ReferenceKind::Definition,
            (_, Some(_)) => ReferenceKind::Call,
            (_, None) => ReferenceKind::Use,
        };
        add(one.line, (kind, one.within));
    }
    for import in &outline.imports {
        if import.local == word || import.name() == Some(word) {
            add(import.line, (ReferenceKind::Import, None));
        }
    }
    roles
}
