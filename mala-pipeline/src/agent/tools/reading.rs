//! Records which lines and hunks the tools showed to the agent, and enforces the limits on files outside
//! the change.

use super::ToolLimits;
use super::ToolRefusal;
use mala_domain::change::{Change, FilePath, LineSpan};
use mala_domain::ports::Side;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The lines that were shown so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinesRead {
    /// Lines at head, in order and without overlap.
    pub lines: BTreeMap<FilePath, Vec<LineSpan>>,
    /// Completely shown hunks of the change, as indices into the file's hunks.
    pub hunks: BTreeMap<FilePath, BTreeSet<usize>>,
}

/// The files whose imports one conversation was shown. Another conversation does not see them.
#[derive(Debug, Default)]
pub struct ShownImports(Mutex<HashSet<(Side, FilePath)>>);

impl ShownImports {
    /// Whether this is the first call about a file.
    pub(super) fn is_first(&self, side: Side, path: &FilePath) -> bool {
        let key = (side, path.clone());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key)
    }

    /// A call about a file showed no imports after all.
    pub(super) fn forget(&self, side: Side, path: &FilePath) {
        let key = (side, path.clone());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
    }
}

/// Records the lines that tools show.
pub(super) struct ReadingLog {
    changed: HashSet<FilePath>,
    limits: ToolLimits,
    shown: Mutex<ReadingState>,
}

#[derive(Default)]
struct ReadingState {
    so_far: LinesRead,
    /// Lines of files outside the change, on either side.
    extra: BTreeMap<FilePath, BTreeMap<bool, Vec<LineSpan>>>,
}

impl ReadingLog {
    pub(super) fn of(change: &Change, limits: ToolLimits) -> Self {
        let paths = change.files.iter().flat_map(|file| [&file.path, file.base_path()]);
        Self { changed: paths.cloned().collect(), limits, shown: Mutex::default() }
    }

    pub(super) fn lines_read(&self) -> LinesRead {
        self.shown().so_far.clone()
    }

    /// Whether a path is part of the change.
    pub(super) fn is_changed(&self, path: &FilePath) -> bool {
        self.changed.contains(path)
    }

    /// Records lines that are about to be shown. Returns the allowed ones; they start where the
    /// wanted lines do.
    pub(super) fn claim(
        &self,
        side: Side,
        path: &FilePath,
        wanted: LineSpan,
    ) -> Result<LineSpan, ToolRefusal> {
        let mut shown = self.shown();
        let allowed = match self.is_changed(path) {
            true => wanted,
            false => self.claim_extra(&mut shown, side, path, wanted)?,
        };
        if side == Side::Head {
            add(shown.so_far.lines.entry(path.clone()).or_default(), allowed);
        }
        Ok(allowed)
    }

    /// Notes that a hunk was shown from its first line to its last.
    pub(super) fn note_hunk(&self, path: &FilePath, hunk: usize) {
        self.shown().so_far.hunks.entry(path.clone()).or_default().insert(hunk);
    }

    fn claim_extra(
        &self,
        shown: &mut ReadingState,
        side: Side,
        path: &FilePath,
        wanted: LineSpan,
    ) -> Result<LineSpan, ToolRefusal> {
        let is_new = !shown.extra.contains_key(path);
        if let Some(max) = self.limits.max_extra_files
            && is_new
            && shown.extra.len() >= max
        {
            return Err(ToolRefusal::new(
                format!("{max} files outside the change were read, and no more may be"),
                "read files of the change, or search_code for single lines",
            ));
        }
        let known = shown.extra.get(path);
        let here = known.and_then(|sides| sides.get(&is_base(side)));
        let n_read: u32 =
            known.into_iter().flatten().flat_map(|(_, s)| s).map(|s| s.n_lines()).sum();
        let Some(allowed) = self.within_lines(here.map_or(&[], Vec::as_slice), n_read, wanted)
        else {
            return Err(ToolRefusal::new(
                format!("{n_read} lines of {path} were read, and no more of it may be"),
                "go on with what was read, or search_code for single lines",
            ));
        };
        let sides = shown.extra.entry(path.clone()).or_default();
        add(sides.entry(is_base(side)).or_default(), allowed);
        Ok(allowed)
    }

    /// The start of the wanted lines, up to the limit; lines that were already shown do not count.
    fn within_lines(&self, known: &[LineSpan], n_read: u32, wanted: LineSpan) -> Option<LineSpan> {
        let Some(max) = self.limits.max_lines_per_extra_file else { return Some(wanted) };
        let mut left = max.saturating_sub(n_read);
        let mut end = None;
        for line in wanted.start()..=wanted.end() {
            if !known.iter().any(|span| span.contains(line)) {
                match left.checked_sub(1) {
                    Some(rest) => left = rest,
                    None => break,
                }
            }
            end = Some(line);
        }
        LineSpan::new(wanted.start(), end?)
    }

    fn shown(&self) -> MutexGuard<'_, ReadingState> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_base(side: Side) -> bool {
    side == Side::Base
}

/// Adds a span to spans that are sorted and disjoint.
fn add(spans: &mut Vec<LineSpan>, new: LineSpan) {
    let touches = |span: &LineSpan| {
        span.start() <= new.end().saturating_add(1) && new.start() <= span.end().saturating_add(1)
    };
    let (touching, mut apart): (Vec<LineSpan>, Vec<LineSpan>) =
        spans.iter().copied().partition(touches);
    let start = touching.iter().map(|span| span.start()).fold(new.start(), u32::min);
    let end = touching.iter().map(|span| span.end()).fold(new.end(), u32::max);
    apart.push(LineSpan::between(start, end));
    apart.sort();
    *spans = apart;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(max_extra_files: usize, max_lines: u32) -> ReadingLog {
        let limits = ToolLimits {
            max_extra_files: Some(max_extra_files),
            max_lines_per_extra_file: Some(max_lines),
            ..ToolLimits::default()
        };
        ReadingLog::of(&Change::default(), limits)
    }

    fn claim(reading: &ReadingLog, path: &str, start: u32, end: u32) -> Option<String> {
        let claimed = reading.claim(Side::Head, &path.into(), LineSpan::between(start, end));
        claimed.ok().map(|span| span.to_string())
    }

    #[test]
    fn lines_that_were_shown_are_free_and_others_are_counted() {
        let reading = reading(1, 10);
        for (start, end, allowed) in [
            (1, 6, Some("1-6")),
            (4, 9, Some("4-9")),
            (5, 20, Some("5-10")),
            (11, 12, None),
            (2, 3, Some("2-3")),
        ] {
            assert_eq!(claim(&reading, "a", start, end).as_deref(), allowed, "{start}-{end}");
        }
        assert_eq!(reading.lines_read().lines[&"a".into()], [LineSpan::between(1, 10)]);
    }

    #[test]
    fn a_second_extra_file_is_one_too_many() {
        let reading = reading(1, 10);
        assert!(claim(&reading, "a", 1, 1).is_some());
        assert_eq!(claim(&reading, "b", 1, 1), None);
        assert!(!reading.lines_read().lines.contains_key(&"b".into()));
    }

    #[test]
    fn spans_are_kept_apart_and_in_order() {
        let mut spans = Vec::new();
        for (start, end) in [(10, 12), (1, 2), (5, 6), (3, 3), (12, 20)] {
            add(&mut spans, LineSpan::between(start, end));
        }
        let shown: Vec<_> = spans.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["1-3", "5-6", "10-20"]);
    }
}
