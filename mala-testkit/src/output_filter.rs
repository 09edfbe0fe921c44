//! Makes output the same on every run: temporary paths, times and hashes become placeholders.

use std::path::Path;

/// What to replace in output.
#[derive(Debug, Default, Clone)]
pub struct OutputFilter {
    paths: Vec<(String, &'static str)>,
    words: Vec<(String, &'static str)>,
}

impl OutputFilter {
    /// Shows this path as `name`, also where it is written without links.
    pub fn path(&mut self, path: &Path, name: &'static str) {
        let resolved = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        for form in [resolved.as_path(), path] {
            self.paths.push((form.display().to_string(), name));
        }
        self.paths.sort_by_key(|(form, _)| std::cmp::Reverse(form.len()));
    }

    /// Shows this word as `name`, where no letter or digit is next to it.
    pub fn word(&mut self, word: &str, name: &'static str) {
        assert!(!word.is_empty(), "{name} needs a word");
        self.words.push((word.to_owned(), name));
    }

    /// The text with everything replaced.
    pub fn clean(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (form, name) in &self.paths {
            text = text.replace(form, name);
        }
        text = replace_words(&hide_run_facts(&text));
        for (word, name) in &self.words {
            text = replace_word(&text, word, name);
        }
        text
    }
}

/// Hides how long a run took, and whether this computer can confine its coders.
fn hide_run_facts(text: &str) -> String {
    let shown = |line: &str| match line.split(" · ").collect::<Vec<_>>()[..] {
        [run, _, cost, coders] if coders.starts_with("coders: ") => {
            format!("{run} · [DURATION] · {cost} · [CODERS]")
        }
        _ => line.to_owned(),
    };
    text.split('\n').map(shown).collect::<Vec<_>>().join("\n")
}

fn replace_word(text: &str, word: &str, name: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut parts = text.split(word).peekable();
    while let Some(part) = parts.next() {
        out.push_str(part);
        let Some(next) = parts.peek() else { break };
        let is_inside = out.ends_with(|c: char| c.is_ascii_alphanumeric())
            || next.starts_with(|c: char| c.is_ascii_alphanumeric());
        out.push_str(if is_inside { word } else { name });
    }
    out
}

/// Replaces hashes, run folders, dates and durations, word by word.
fn replace_words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut word = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '_') {
            word.push(c);
            continue;
        }
        push_word(&mut out, &word);
        word.clear();
        out.push(c);
    }
    push_word(&mut out, &word);
    out
}

/// Where a decimal number and a space at the end of the text start, as in `0.3 s`.
fn start_of_decimal(text: &str) -> Option<usize> {
    let number = text.strip_suffix(' ')?;
    let start = number.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').len();
    number[start..].contains('.').then_some(start)
}

fn push_word(out: &mut String, word: &str) {
    let core = word.trim_end_matches(['.', ':', '-']);
    let tail = &word[core.len()..];
    if let ("s", Some(start)) = (core, start_of_decimal(out)) {
        out.truncate(start);
        out.push_str("[DURATION]");
        return out.push_str(tail);
    }
    // `mala.yaml at ce7839a6f1cb:1:17`
    let (start, place) = core.split_at_checked(12).unwrap_or((core, ""));
    let is_place = place.starts_with(':') && place.bytes().all(|b| b == b':' || b.is_ascii_digit());
    let (core, place) = if is_place { (start, place) } else { (core, "") };
    out.push_str(name_of(core).unwrap_or(core));
    out.push_str(place);
    out.push_str(tail);
}

fn name_of(word: &str) -> Option<&'static str> {
    let is_hex = |n: usize| word.len() == n && word.bytes().all(|b| b.is_ascii_hexdigit());
    let has_digit_and_letter = word.bytes().any(|b| b.is_ascii_digit());
    if is_hex(40) {
        Some("[SHA]")
    } else if is_hex(64) {
        Some("[SHA256]")
    } else if is_hex(16) && has_digit_and_letter {
        Some("[ID]")
    } else if is_hex(12) && has_digit_and_letter {
        Some("[COMMIT]")
    } else if is_run_folder(word) {
        Some("[RUN]")
    } else if is_session_key(word) {
        Some("[KEY]")
    } else if word.starts_with(".writing-") {
        Some("[PART]")
    } else if is_time(word) {
        Some("[TIME]")
    } else if is_duration(word) {
        Some("[DURATION]")
    } else {
        None
    }
}

/// `{timestamp}_{review_id}`.
fn is_run_folder(word: &str) -> bool {
    word.split_once('_').is_some_and(|(time, id)| {
        is_time(time) && id.len() == 16 && id.bytes().all(|b| b.is_ascii_hexdigit())
    })
}

/// `e3ea662f-33ab-4349-bfb4-832dbc342ee7`.
fn is_session_key(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    let is_hex = |part: &&str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12]) && parts.iter().all(is_hex)
}

/// `20260102T030405Z`, `2026-01-02T03:04:05Z` and the same with fractions.
fn is_time(word: &str) -> bool {
    let Some((date, clock)) = word.split_once('T') else { return false };
    let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
    let only = |text: &str, others: &[u8]| {
        text.bytes().all(|byte| byte.is_ascii_digit() || others.contains(&byte))
    };
    digits(date) == 8 && only(date, b"-") && digits(clock) >= 4 && only(clock, b":.Z-")
}

/// `12ms`, `0.3s`, `1.25s`.
fn is_duration(word: &str) -> bool {
    let number = word.strip_suffix("ms").or_else(|| word.strip_suffix('s'));
    number.is_some_and(|number| {
        number.starts_with(|c: char| c.is_ascii_digit())
            && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
            && (word.ends_with("ms") || number.contains('.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_between_runs_becomes_a_word_and_the_rest_stays() {
        let mut filter = OutputFilter::default();
        filter.path(Path::new("/tmp/w/work"), "[WORK]");
        filter.path(Path::new("/tmp/w/work/inner"), "[INNER]");
        filter.word("k2x9f", "[ONE]");
        for (text, clean) in [
            ("/tmp/w/work/a.py:3", "[WORK]/a.py:3"),
            ("/tmp/w/work/inner/a", "[INNER]/a"),
            ("at ce7839a6f1cbf1a2b3c4d5e6f708192a3b4c5d6e.", "at [SHA]."),
            ("\"review_id\": \"0123456789abcdef\"", "\"review_id\": \"[ID]\""),
            (".mala/runs/20260102T030405Z_0123456789abcdef/", ".mala/runs/[RUN]/"),
            ("at 2026-01-02T03:04:05Z", "at [TIME]"),
            (".mala/gate/e3ea662f-33ab-4349-bfb4-832dbc342ee7/x", ".mala/gate/[KEY]/x"),
            ("took 0.3 s, at most 5 s", "took [DURATION], at most 5 s"),
            ("took 0.31s, then 12ms", "took [DURATION], then [DURATION]"),
            ("timeout 600 s, 3 tests, 5s", "timeout 600 s, 3 tests, 5s"),
            (".mala/runs/.writing-rnYwJr/review.md", ".mala/runs/[PART]/review.md"),
            ("since ce7839a6f1cb, of effacedfaced", "since [COMMIT], of effacedfaced"),
            ("at ce7839a6f1cb:1:17: x", "at [COMMIT]:1:17: x"),
            ("deadbeef", "deadbeef"),
            ("Run `r` · 1 min 5 s · $0.75 · coders: x", "Run `r` · [DURATION] · $0.75 · [CODERS]"),
            ("k2x9f bd-k2x9f: ak2x9f k2x9f7", "[ONE] bd-[ONE]: ak2x9f k2x9f7"),
        ] {
            assert_eq!(filter.clean(text), clean);
        }
    }
}
