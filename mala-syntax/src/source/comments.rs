//! Works around a slow case of the Python grammar: at each comment of a run, it scans all following
//! comments for the next indentation, so that a run of thousands takes minutes. Long runs are
//! blanked, without moving other text.

use std::borrow::Cow;

/// Runs of comment lines up to this long are left as they are.
const MAX_RUN: usize = 200;

/// The text with the lines of long runs of comments blanked, byte for byte.
pub(super) fn without_long_runs(text: &str) -> Cow<'_, str> {
    let mut blanked: Vec<std::ops::Range<usize>> = Vec::new();
    let mut run: Vec<std::ops::Range<usize>> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let range = at..at + line.trim_end_matches(['\n', '\r']).len();
        at += line.len();
        let start = line.trim_start();
        if start.starts_with('#') {
            run.push(range);
        } else if !start.is_empty() {
            take_long(&mut run, &mut blanked);
        }
    }
    take_long(&mut run, &mut blanked);
    if blanked.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for range in blanked {
        out.push_str(text.get(from..range.start).unwrap_or_default());
        out.extend(std::iter::repeat_n(' ', range.len()));
        from = range.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(out)
}

fn take_long(run: &mut Vec<std::ops::Range<usize>>, blanked: &mut Vec<std::ops::Range<usize>>) {
    if run.len() > MAX_RUN {
        blanked.append(run);
    }
    run.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_runs_are_blanked_and_every_byte_keeps_its_place() {
        let short = "x = 1\n# a\n\n# b\ny = 2\n";
        assert_eq!(without_long_runs(short), short);
        let long = format!("x = 1\n{}y = 2  # kept\n", "  # ä\r\n".repeat(300));
        let blanked = without_long_runs(&long);
        assert_eq!(blanked.len(), long.len());
        assert_eq!(blanked.lines().count(), long.lines().count());
        assert!(blanked.starts_with("x = 1\n      \r\n"));
        assert!(blanked.ends_with("\r\ny = 2  # kept\n") && !blanked.contains('ä'));
    }
}
