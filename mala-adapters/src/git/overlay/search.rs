//! Search and history of a tree with overlaid files.

use super::{FileContent, Overlay};
use crate::git::tree::is_text;
use aho_corasick::AhoCorasickBuilder;
use mala_domain::change::{EntryKind, FilePath, LineSpan};
use mala_domain::ports::{
    BlamedLine, BoxFuture, CaseSensitivity, Commit, CommitPrefix, CommitWithDiff,
    CommitWithMessage, FoundLines, History, LogQuery, RepositoryError, Search, Side, TextQuery,
    TreeEntry, WordHit,
};
use std::collections::BTreeMap;

/// The longest part of a line that is kept, in bytes.
const MAX_LINE: usize = 2000;

impl Overlay {
    async fn all_entries(
        &self,
        side: Side,
        below: &FilePath,
    ) -> Result<Vec<TreeEntry>, RepositoryError> {
        let under = match &self.under {
            Some(tree) => tree.entries(side, below).await?,
            None => Vec::new(),
        };
        let mut found: BTreeMap<_, _> =
            under.into_iter().map(|entry| (entry.path, entry.kind)).collect();
        let laid = self.files.iter().filter(|((of, path), _)| *of == side && below.holds(path));
        for ((_, path), content) in laid {
            match content {
                FileContent::Missing => found.remove(path),
                _ => found.insert(path.clone(), EntryKind::File),
            };
        }
        Ok(found.into_iter().map(|(path, kind)| TreeEntry { path, kind }).collect())
    }

    async fn all_texts(&self, query: &TextQuery) -> Result<FoundLines, RepositoryError> {
        let mut found = match &self.under {
            Some(tree) => tree.find_texts(query).await?,
            None => FoundLines::default(),
        };
        found.lines.retain(|line| !self.files.contains_key(&(Side::Head, line.file.clone())));
        let texts = AhoCorasickBuilder::new()
            .ascii_case_insensitive(query.case == CaseSensitivity::Ignored)
            .build(query.texts.iter().filter(|text| !text.is_empty()))
            .map_err(|error| RepositoryError {
                what: "invalid search texts".to_owned(),
                source: Some(Box::new(error)),
            })?;
        for ((side, path), content) in &self.files {
            let (Side::Head, FileContent::File(bytes)) = (side, content) else { continue };
            if !is_text(bytes) || !query.looks_in(path) {
                continue;
            }
            for (line, text) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
                if query.texts.is_empty() || texts.is_match(text) {
                    let text = text.get(..MAX_LINE).unwrap_or(text);
                    let text = String::from_utf8_lossy(text).into_owned();
                    found.lines.push(WordHit { file: path.clone(), line, text });
                }
            }
        }
        found.lines.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        Ok(found)
    }

    fn below(&self) -> Result<&dyn History, RepositoryError> {
        match &self.under {
            Some(tree) => Ok(tree),
            None => Err(unknown("a patch has no history")),
        }
    }
}

impl Search for Overlay {
    fn entries<'a>(
        &'a self,
        side: Side,
        below: &'a FilePath,
    ) -> BoxFuture<'a, Result<Vec<TreeEntry>, RepositoryError>> {
        Box::pin(self.all_entries(side, below))
    }

    fn find_texts<'a>(
        &'a self,
        query: &'a TextQuery,
    ) -> BoxFuture<'a, Result<FoundLines, RepositoryError>> {
        Box::pin(self.all_texts(query))
    }
}

impl History for Overlay {
    fn log<'a>(
        &'a self,
        query: &'a LogQuery,
    ) -> BoxFuture<'a, Result<Vec<Commit>, RepositoryError>> {
        Box::pin(async move { self.below()?.log(query).await })
    }

    fn show<'a>(
        &'a self,
        commit: &'a CommitPrefix,
        path: Option<&'a FilePath>,
    ) -> BoxFuture<'a, Result<Option<CommitWithDiff>, RepositoryError>> {
        Box::pin(async move { self.below()?.show(commit, path).await })
    }

    fn reviewed(
        &self,
        max: usize,
    ) -> BoxFuture<'_, Result<Vec<CommitWithMessage>, RepositoryError>> {
        Box::pin(async move {
            let newest = self.commits.len().saturating_sub(max);
            match (&self.under, self.commits.get(newest..)) {
                (Some(tree), Some(ids)) => tree.with_message(ids).await,
                _ => Ok(Vec::new()),
            }
        })
    }

    fn blame<'a>(
        &'a self,
        file: &'a FilePath,
        lines: LineSpan,
    ) -> BoxFuture<'a, Result<Vec<BlamedLine>, RepositoryError>> {
        Box::pin(async move {
            if self.files.contains_key(&(Side::Head, file.clone())) {
                return Err(unknown("the patch changes this file, so it is not in any commit"));
            }
            self.below()?.blame(file, lines).await
        })
    }
}

fn unknown(what: &str) -> RepositoryError {
    RepositoryError { what: what.to_owned(), source: None }
}
