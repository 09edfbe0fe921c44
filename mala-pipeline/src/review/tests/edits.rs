//! A file under review, with planted findings that keep their place when the file is edited.

use fastrand::Rng;
use std::collections::BTreeSet;

/// A file whose lines have numbers that no edit changes.
#[derive(Clone)]
pub(super) struct EditedFile {
    pub(super) path: String,
    pub(super) lines: Vec<EditedLine>,
    next_id: usize,
}

#[derive(Clone)]
pub(super) struct EditedLine {
    pub(super) id: usize,
    pub(super) text: String,
}

/// The edits that keep every problem where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FileEdit {
    InsertLines,
    Reindent,
    MoveBlock,
    RenameElsewhere,
    RenameFile,
    WrapLines,
}

impl FileEdit {
    pub(super) const ALL: [Self; 6] = [
        Self::InsertLines,
        Self::Reindent,
        Self::MoveBlock,
        Self::RenameElsewhere,
        Self::RenameFile,
        Self::WrapLines,
    ];
}

impl EditedFile {
    pub(super) fn new(path: &str, text: &str) -> Self {
        let lines: Vec<EditedLine> = text
            .lines()
            .enumerate()
            .map(|(id, text)| EditedLine { id, text: text.to_owned() })
            .collect();
        Self { path: path.to_owned(), next_id: lines.len(), lines }
    }

    pub(super) fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{}\n", line.text)).collect()
    }

    /// Where the line with this id is, from 1: its first and last line, if it is wrapped.
    pub(super) fn lines_of(&self, id: usize) -> Option<(u32, u32)> {
        let first = self.lines.iter().position(|line| line.id == id)?;
        let last = self.lines.iter().rposition(|line| line.id == id)?;
        Some((u32::try_from(first + 1).ok()?, u32::try_from(last + 1).ok()?))
    }

    /// Applies an edit. Lines of `kept` stay next to each other and keep their words.
    pub(super) fn apply(&mut self, edit: FileEdit, kept: &BTreeSet<usize>, rng: &mut Rng) {
        match edit {
            FileEdit::InsertLines => self.insert_lines(kept, rng),
            FileEdit::Reindent => self.reindent(rng),
            FileEdit::MoveBlock => self.move_block(kept, rng),
            FileEdit::RenameElsewhere => self.rename_elsewhere(kept, rng),
            FileEdit::WrapLines => self.wrap_lines(rng),
            FileEdit::RenameFile => {
                let (folder, name) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
                self.path = format!("{folder}/moved/{name}");
            }
        }
    }

    /// Puts a copy of a line somewhere else in the file.
    pub(super) fn copy_line(&mut self, rng: &mut Rng) {
        let text = self.lines[rng.usize(..self.lines.len())].text.clone();
        let at = rng.usize(..=self.lines.len());
        self.insert(at, text);
    }

    /// Removes the lines with these ids, or edits them.
    pub(super) fn remove(&mut self, ids: &BTreeSet<usize>, rng: &mut Rng) {
        if rng.bool() {
            self.lines.retain(|line| !ids.contains(&line.id));
            return;
        }
        for line in self.lines.iter_mut().filter(|line| ids.contains(&line.id)) {
            line.text = format!("{} fixed({})", line.text, rng.u8(..));
        }
    }

    fn insert(&mut self, at: usize, text: String) {
        self.lines.insert(at, EditedLine { id: self.next_id, text });
        self.next_id += 1;
    }

    fn insert_lines(&mut self, kept: &BTreeSet<usize>, rng: &mut Rng) {
        for _ in 0..rng.usize(1..8) {
            let at = rng.usize(..=self.lines.len());
            let is_inside = at > 0
                && self.lines.get(at).is_some_and(|line| kept.contains(&line.id))
                && kept.contains(&self.lines[at - 1].id);
            if !is_inside {
                self.insert(at, format!("added_{} = {}", rng.u16(..), rng.u8(..)));
            }
        }
    }

    fn reindent(&mut self, rng: &mut Rng) {
        let unit = *rng.choice(&["\t", "  ", "        "]).unwrap_or(&"\t");
        for line in &mut self.lines {
            let code = line.text.trim_start();
            let depth = line.text.len() - code.len();
            line.text = format!("{}{code}", unit.repeat(depth.div_ceil(4)));
        }
    }

    /// Breaks calls into two lines, as a formatter does.
    fn wrap_lines(&mut self, rng: &mut Rng) {
        let lines = std::mem::take(&mut self.lines);
        for EditedLine { id, text } in lines {
            let is_plain = !text.contains(['"', '\'', '`', '#', '/']);
            let call = text.split_once('(').filter(|(_, rest)| {
                is_plain && rest.contains(')') && !rest.starts_with(')') && rng.bool()
            });
            match call {
                Some((before, rest)) => {
                    let indentation = before.len() - before.trim_start().len() + 4;
                    let rest = format!("{}{rest}", " ".repeat(indentation));
                    self.lines.push(EditedLine { id, text: format!("{before}(") });
                    self.lines.push(EditedLine { id, text: rest });
                }
                None => self.lines.push(EditedLine { id, text }),
            }
        }
    }

    /// Moves a block of the top level, with what it encloses, to the end of the file.
    fn move_block(&mut self, kept: &BTreeSet<usize>, rng: &mut Rng) {
        let is_start = |index: &usize| {
            let is_top = self.lines[*index].text.starts_with(|c: char| c.is_alphabetic());
            is_top && (*index == 0 || self.lines[index - 1].text.trim().is_empty())
        };
        let starts: Vec<usize> = (0..self.lines.len()).filter(is_start).collect();
        let Some(chosen) = (starts.len() > 1).then(|| rng.usize(..starts.len() - 1)) else {
            return;
        };
        let block = starts[chosen]..starts[chosen + 1];
        let is_cut = |at: usize| {
            at > 0 && kept.contains(&self.lines[at - 1].id) && kept.contains(&self.lines[at].id)
        };
        if !is_cut(block.start) && !is_cut(block.end) {
            let moved: Vec<EditedLine> = self.lines.drain(block).collect();
            self.insert(self.lines.len(), String::new());
            self.lines.extend(moved);
        }
    }

    /// Renames an identifier that the kept lines do not mention.
    fn rename_elsewhere(&mut self, kept: &BTreeSet<usize>, rng: &mut Rng) {
        let (mine, others): (Vec<&EditedLine>, Vec<&EditedLine>) =
            self.lines.iter().partition(|line| kept.contains(&line.id));
        let mine: BTreeSet<&str> = mine.iter().flat_map(|line| identifiers(&line.text)).collect();
        let free: BTreeSet<&str> = others
            .iter()
            .flat_map(|line| identifiers(&line.text))
            .filter(|name| name.len() > 3 && !mine.contains(name) && !KEYWORDS.contains(name))
            .collect();
        let free: Vec<&str> = free.into_iter().collect();
        let Some(name) = rng.choice(&free).map(|name| (*name).to_owned()) else { return };
        let renamed = format!("{name}_renamed");
        for line in &mut self.lines {
            line.text = replace_word(&line.text, &name, &renamed);
        }
    }
}

const KEYWORDS: [&str; 24] = [
    "class", "const", "else", "enum", "export", "false", "from", "func", "function", "impl",
    "import", "match", "package", "private", "public", "return", "self", "static", "struct",
    "this", "true", "type", "while", "void",
];

/// The identifiers of a line.
pub(super) fn identifiers(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}

fn replace_word(text: &str, word: &str, with: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (before, after) = (&rest[..at], &rest[at + word.len()..]);
        let is_whole = !before.ends_with(is_part) && !after.starts_with(is_part);
        result.push_str(before);
        result.push_str(if is_whole { with } else { word });
        rest = after;
    }
    result + rest
}
