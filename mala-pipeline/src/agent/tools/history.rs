//! `git_log`, `git_show` and `git_blame`: the history that leads to the reviewed state.

use super::arguments::{Arguments, missing};
use super::diff::PrintedDiff;
use super::files::lines_of;
use super::page::{n_lines, plain, short};
use super::{ToolAnswer, ToolLimits, Toolbox};
use super::{ToolRefusal, quoted};
use mala_domain::agent::line_format;
use mala_domain::change::ChangedFile;
use mala_domain::ports::{
    BlamedLine, Commit, CommitPrefix, CommitWithDiff, History, LogQuery, Side,
};
use mala_domain::review::FileTexts;
use mala_domain::secrets;
use std::collections::HashMap;

/// The most commits of one answer.
const MAX_COMMITS: u32 = 50;

/// The default number of commits.
const COMMITS: u32 = 10;

/// The most lines of a message that are shown.
const MAX_MESSAGE: usize = 40;

impl Toolbox {
    pub(super) async fn git_log(&self, arguments: &Arguments) -> ToolAnswer {
        let path = arguments.path("path")?;
        let max = arguments.number("max")?.unwrap_or(COMMITS).min(MAX_COMMITS);
        let query = LogQuery { path, max: usize::try_from(max).unwrap_or_default() };
        let commits =
            self.history()?.log(&query).await.map_err(|error| ToolRefusal::broken(&error))?;
        if commits.is_empty() {
            return Ok("no commit".to_owned());
        }
        Ok(commits.iter().map(one_line).collect::<Vec<_>>().join("\n"))
    }

    pub(super) async fn git_show(&self, arguments: &Arguments) -> ToolAnswer {
        let written = arguments.text("commit", 64)?.ok_or_else(|| missing("commit"))?;
        let path = arguments.path("path")?;
        let Some(prefix) = CommitPrefix::parse(written) else {
            return Err(ToolRefusal::new(
                format!("commit {} is no id", quoted(written)),
                format!(
                    "pass {} or more hexadecimal digits of an id from git_log",
                    CommitPrefix::MIN_DIGITS
                ),
            ));
        };
        let shown = self.history()?.show(&prefix, path.as_ref()).await;
        match shown.map_err(|error| ToolRefusal::broken(&error))? {
            Some(shown) => Ok(self.print(&shown)),
            None => Err(ToolRefusal::new(
                format!("no commit {} leads to the reviewed state", prefix.as_str()),
                "pass an id from git_log",
            )),
        }
    }

    pub(super) async fn git_blame(&self, arguments: &Arguments) -> ToolAnswer {
        let path = arguments.file("path")?;
        let lines = arguments.lines()?;
        let history = self.history()?;
        let text = self.text_of(Side::Head, &path).await?;
        let wanted = lines_of(&path, &text, lines)?;
        let asked = self.one_page(wanted);
        let blamed =
            history.blame(&path, asked).await.map_err(|error| ToolRefusal::broken(&error))?;
        let by_line: HashMap<u32, &BlamedLine> = blamed.iter().map(|it| (it.line, it)).collect();
        let lines = plain(&text, asked).into_iter().map(|(number, line)| {
            let commit = by_line.get(&number).and_then(|it| it.commit.as_ref());
            let who = commit.map_or_else(|| "not committed".to_owned(), by_whom);
            line_format::blame_line(number, &who, &line)
        });
        let page = self.paged(Side::Head, &path, wanted, lines.collect())?;
        Ok(format!("path: {path}\nline_count: {}\n{page}", n_lines(&text)))
    }

    fn history(&self) -> Result<&dyn History, ToolRefusal> {
        self.request.tree.history().ok_or_else(|| {
            ToolRefusal::new(
                "a patch without a repository has no history",
                "go on with git_diff and read_file",
            )
        })
    }

    fn print(&self, shown: &CommitWithDiff) -> String {
        let commit = &shown.commit;
        let message = secrets::redact(&shown.message);
        let mut lines: Vec<String> = vec![
            format!("commit: {}", commit.id),
            format!("by: {}, {}", commit.author, commit.date),
        ];
        lines.extend(message.trim_end().lines().take(MAX_MESSAGE).map(short));
        lines.push(String::new());
        let head = lines.join("\n");
        let Some(change) = &shown.change else {
            return format!("{head}\nits diff is too large to show; pass a path");
        };
        let files: Vec<&ChangedFile> = change.files.iter().collect();
        let limits = ToolLimits {
            max_lines: self.limits.max_lines.saturating_sub(lines.len()),
            max_bytes: self.limits.max_bytes.saturating_sub(head.len() + 1),
            ..self.limits
        };
        match files.is_empty() {
            true => format!("{head}\nno file differs from its first parent"),
            false => {
                // The full files of an older commit are not read, so secrets are searched in the
                // diff lines alone.
                let printed = PrintedDiff::of(&files, &FileTexts::default(), 0, limits);
                format!("{head}\n{}", printed.text)
            }
        }
    }
}

fn one_line(commit: &Commit) -> String {
    format!("{} {}: {}", by_whom(commit), commit.author, short(&secrets::redact(&commit.subject)))
}

fn by_whom(commit: &Commit) -> String {
    let id = commit.id.get(..10).unwrap_or(&commit.id);
    format!("{id} {}", commit.date)
}
