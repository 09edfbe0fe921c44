//! The markers in a source: the comments `$ Alert`, `BAD`, `NOT OK`, `GOOD` and `OK`.

use mala_domain::change::FilePath;

/// The meaning of a marker for its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InlineMarker {
    /// There is a problem.
    Alert,
    /// A query reports a problem that is none.
    Spurious,
    /// There is a problem, marked in prose.
    Bad,
}

/// A source with its markers beside it.
#[derive(Debug, Default)]
pub(super) struct MarkedLines {
    /// The text without its markers, line by line the same otherwise.
    pub(super) text: String,
    /// Line, marker, and the rule that it names.
    pub(super) marks: Vec<(u32, InlineMarker, Option<String>)>,
    /// Whether a comment marks something as correct.
    pub(super) says_good: bool,
}

/// Words in front of a comment, and whether they mean a problem.
const WORDS: &[(&str, bool)] = &[
    ("NOT OK", true),
    ("Not OK", true),
    ("not OK", true),
    ("not ok", true),
    ("BAD", true),
    ("Bad", true),
    ("bad", true),
    ("GOOD", false),
    ("Good", false),
    ("good", false),
    ("OK", false),
    ("ok", false),
];

impl MarkedLines {
    pub(super) fn read(path: &FilePath, text: &str) -> Self {
        let sign = match path.extension() {
            Some("py" | "pyi" | "rb") => "#",
            _ => "//",
        };
        let mut marked = Self::default();
        for (at, line) in text.split_inclusive('\n').enumerate() {
            let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
            match marked.take(number, line, sign) {
                Some(kept) => {
                    marked.text.push_str(kept.trim_end());
                    marked.text.extend(line.ends_with('\n').then_some('\n'));
                }
                None => marked.text.push_str(line),
            }
        }
        marked
    }

    /// The lines with this marker.
    pub(super) fn lines_with(&self, wanted: InlineMarker) -> impl Iterator<Item = u32> {
        self.marks.iter().filter(move |(_, mark, _)| *mark == wanted).map(|(line, ..)| *line)
    }

    /// Records the markers of a line; returns the text before the first one.
    fn take<'l>(&mut self, number: u32, line: &'l str, sign: &str) -> Option<&'l str> {
        let mut cut = None;
        for (at, _) in line.match_indices(sign) {
            let comment = line.get(at + sign.len()..).unwrap_or_default().trim();
            let is_marker = match comment.strip_prefix('$') {
                Some(tags) => self.tags(number, tags.split(sign).next().unwrap_or_default()),
                None => self.word(number, comment),
            };
            if is_marker && cut.is_none() {
                cut = line.get(..at);
            }
        }
        cut
    }

    /// Parses tags separated by spaces. Tags after `MISSING:` are problems that no query reports;
    /// those after `SPURIOUS:` are reported, but no problems.
    fn tags(&mut self, number: u32, tags: &str) -> bool {
        let mut mark = InlineMarker::Alert;
        for tag in tags.split_whitespace() {
            let name = tag.split(['[', '=', ':', ',']).next().unwrap_or_default();
            match name {
                "SPURIOUS" => mark = InlineMarker::Spurious,
                "MISSING" => mark = InlineMarker::Alert,
                "Alert" => {
                    let rule = tag.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
                    self.marks.push((number, mark, rule.map(|(rule, _)| rule.to_owned())));
                }
                _ => {}
            }
        }
        true
    }

    fn word(&mut self, number: u32, comment: &str) -> bool {
        let found = WORDS.iter().find_map(|(word, is_bad)| {
            let rest = comment.strip_prefix(word)?;
            let ends =
                !rest.starts_with(|next: char| next.is_alphanumeric() || "_.-/".contains(next));
            ends.then_some(*is_bad)
        });
        match found {
            Some(true) => self.marks.push((number, InlineMarker::Bad, None)),
            Some(false) => self.says_good = true,
            None => {}
        }
        found.is_some()
    }
}
