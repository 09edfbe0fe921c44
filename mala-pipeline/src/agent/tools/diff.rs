//! `git_diff`: the reviewed change, from the parsed diff; git is not called again.

use super::ToolRefusal;
use super::arguments::Arguments;
use super::page::short;
use super::{ToolAnswer, ToolLimits, Toolbox};
use mala_domain::agent::line_format;
use mala_domain::agent::redacted_file::RedactedFile;
use mala_domain::change::{ChangedFile, FileClass, FilePath, FileStatus, Hunk, LineKind};
use mala_domain::review::FileTexts;
use mala_domain::secrets;

impl Toolbox {
    pub(super) fn git_diff(&self, arguments: &Arguments) -> ToolAnswer {
        let (below, hunk) = (arguments.path("path")?, arguments.number("hunk")?);
        let files: Vec<&ChangedFile> = self
            .request
            .change
            .files
            .iter()
            .filter(|file| {
                below
                    .as_ref()
                    .is_none_or(|below| below.holds(&file.path) || below.holds(file.base_path()))
            })
            .collect();
        if files.is_empty() {
            let paths = self.request.change.files.iter().map(|file| file.path.to_string());
            let paths: Vec<_> = paths.take(20).collect();
            return Err(ToolRefusal::new(
                "no changed file is there",
                format!("pass one of {}", paths.join(", ")),
            ));
        }
        if hunk.is_some() && files.len() > 1 {
            return Err(ToolRefusal::new(
                "hunk is given, and path is not one file",
                "pass the path of one changed file, or no hunk",
            ));
        }
        let first = hunk.map_or(0, |hunk| usize::try_from(hunk - 1).unwrap_or(usize::MAX));
        let printed = PrintedDiff::of(&files, &self.request.texts, first, self.limits);
        for (path, hunk) in &printed.whole {
            self.reading.note_hunk(path, *hunk);
        }
        Ok(printed.text)
    }
}

/// A diff, cut to the size limit.
pub(super) struct PrintedDiff {
    pub(super) text: String,
    /// The hunks that are in it from their first line to their last.
    whole: Vec<(FilePath, usize)>,
}

impl PrintedDiff {
    /// Prints files, starting at a hunk of the first one. The texts of the files are needed to find
    /// secrets.
    pub(super) fn of(
        files: &[&ChangedFile],
        texts: &FileTexts,
        first_hunk: usize,
        limits: ToolLimits,
    ) -> Self {
        let mut buffer = AnswerBuffer { lines: Vec::new(), n_bytes: 0, limits };
        let mut whole = Vec::new();
        for (n_done, file) in files.iter().enumerate() {
            if !buffer.write(header(file)) {
                let n_more = files.len() - n_done;
                return buffer.end(whole, format!("cut: {n_more} more files; pass a path"));
            }
            let first = if n_done == 0 { first_hunk } else { 0 };
            let clean = RedactedFile::of(file, texts);
            let hunks = file.hunks.iter().zip(&clean.hunks).enumerate().skip(first);
            for (number, (hunk, shown)) in hunks {
                if hunk_lines(hunk, shown).into_iter().all(|line| buffer.write(line)) {
                    whole.push((file.path.clone(), number));
                    continue;
                }
                let (number, n_all, path) = (number + 1, file.hunks.len(), &file.path);
                let n_files = files.len() - n_done - 1;
                let rest =
                    format!("cut in hunk {number} of {n_all} of {path}, {n_files} more files");
                let hint = match number - 1 == first && n_done == 0 {
                    true => {
                        "this hunk is longer than an answer: read_file has its lines".to_owned()
                    }
                    false => format!("pass path {path} and hunk {number}"),
                };
                return buffer.end(whole, format!("{rest}; {hint}"));
            }
        }
        buffer.end(whole, String::new())
    }
}

/// An answer that is being written.
struct AnswerBuffer {
    lines: Vec<String>,
    n_bytes: usize,
    limits: ToolLimits,
}

impl AnswerBuffer {
    /// Writes a line; false when there is no room for it.
    fn write(&mut self, line: String) -> bool {
        let n_bytes = self.n_bytes + line.len() + 1;
        let fits = n_bytes + 300 <= self.limits.max_bytes.max(400)
            && self.lines.len() < self.limits.max_lines;
        if fits {
            self.n_bytes = n_bytes;
            self.lines.push(line);
        }
        fits
    }

    fn end(mut self, whole: Vec<(FilePath, usize)>, last: String) -> PrintedDiff {
        if !last.is_empty() {
            self.lines.push(last);
        }
        PrintedDiff { text: self.lines.join("\n"), whole }
    }
}

fn header(file: &ChangedFile) -> String {
    let status = match file.status {
        FileStatus::Added => "added",
        FileStatus::Deleted => "deleted",
        FileStatus::Modified => "modified",
        FileStatus::Renamed => "renamed",
        FileStatus::Copied => "copied",
        FileStatus::TypeChanged => "type changed",
    };
    let from = file.old_path.as_ref().map(|old| format!(" from {old}")).unwrap_or_default();
    let class = match file.class {
        FileClass::Source => "",
        FileClass::Binary => ", binary",
        FileClass::Garbled => ", with bytes that are no text",
        FileClass::Generated => ", generated",
        FileClass::Vendored => ", vendored",
        FileClass::Lock => ", lock file",
        FileClass::Minified => ", minified",
        FileClass::TooLarge => ", too large",
        FileClass::Ignored => ", ignored",
    };
    format!("file: {} ({status}{from}{class}, {} hunks)", file.path, file.hunks.len())
}

/// The line above a hunk that git shows with it. It is looked at with the lines that follow: a line of
/// a key is known by them.
fn section(hunk: &Hunk) -> String {
    let lines = hunk.lines.iter().take(3).map(|line| line.text.as_str());
    let all: Vec<&str> = std::iter::once(hunk.section.as_str()).chain(lines).collect();
    let all = all.join("\n");
    secrets::redact(&all).lines().next().unwrap_or_default().to_owned()
}

/// `@@ ... @@`, then every line with its number at base or at head.
fn hunk_lines(hunk: &Hunk, clean: &[String]) -> Vec<String> {
    let (mut old, mut new) = (hunk.old_start, hunk.new_start);
    let mut lines = vec![format!(
        "@@ -{},{} +{},{} @@ {}",
        hunk.old_start,
        hunk.old_lines,
        hunk.new_start,
        hunk.new_lines,
        short(&section(hunk))
    )];
    for (line, text) in hunk.lines.iter().zip(clean) {
        let text = short(text);
        let (number, mark) = match line.kind {
            LineKind::Added => (new, '+'),
            LineKind::Removed => (old, '-'),
            LineKind::Context => (new, ' '),
        };
        lines.push(line_format::diff_line(mark, number, &text));
        old = old.saturating_add(u32::from(line.kind != LineKind::Added));
        new = new.saturating_add(u32::from(line.kind != LineKind::Removed));
    }
    lines
}
