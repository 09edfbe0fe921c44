//! Recognizes private keys in text. Markers alone are not enough: redaction must not hide code
//! between them. The lines of a key are recognized without markers too, for example in a part of a
//! diff.

use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Minimum length of the lines of a key, except for the last one.
const MIN_LINE: usize = 20;

/// Maximum number of headers before the lines of a key.
const MAX_HEADERS: usize = 6;

static LINE_ESCAPE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\\+[nr]").ok());

static HEADER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^(?:Proc-Type: ?4,ENCRYPTED|DEK-Info: ?[A-Z0-9-]{3,20},[0-9A-Fa-f]{0,64}|(?:Version|Comment|Hash|Charset|MessageID): ?[A-Za-z0-9 ,.:@/<>+-]{0,80})$",
    )
    .ok()
});

/// Whether a block between markers is a key: headers, then only base64.
pub(super) fn is_key(block: &str) -> bool {
    let Some(inside) = block.splitn(3, "-----").nth(2) else { return false };
    let body = inside.rfind("-----END").and_then(|at| inside.get(..at)).unwrap_or(inside);
    let Some(escape) = LINE_ESCAPE.as_ref() else { return true };
    let body = escape.replace_all(body, "\n");
    let mut pieces: Vec<&str> = Vec::new();
    let mut n_headers = 0;
    for line in body.lines().map(bare) {
        let is_header = HEADER.as_ref().is_some_and(|header| header.is_match(line));
        if pieces.is_empty() && n_headers < MAX_HEADERS && is_header {
            n_headers += 1;
            continue;
        }
        pieces.extend(line.split_whitespace().map(bare).filter(|piece| !piece.is_empty()));
    }
    // A PGP key ends with a checksum on its own line.
    if pieces.last().is_some_and(|last| last.len() == 5 && last.starts_with('=')) {
        pieces.pop();
    }
    let Some((last, others)) = pieces.split_last() else { return false };
    let long = |piece: &&str| piece.len() >= MIN_LINE;
    pieces.iter().all(|piece| is_base64(piece))
        && others.iter().all(long)
        && (!others.is_empty() || long(last))
        && is_mixed(&pieces.concat())
}

/// A line without the characters that a language, a diff or a quotation adds.
fn bare(line: &str) -> &str {
    let line = line.trim().trim_start_matches("//");
    line.trim_matches(|c: char| c.is_whitespace() || "\"'`+-|>#*,;\\.()[]".contains(c))
}

fn is_base64(piece: &str) -> bool {
    let body = piece.trim_end_matches('=');
    piece.len() - body.len() <= 2 && !body.is_empty() && body.bytes().all(is_digit)
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/'
}

/// Whether the text has upper-case and lower-case letters and digits. Prose has no digits, a hex
/// hash no mix of cases.
fn is_mixed(text: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| text.as_bytes().iter().any(kind);
    has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit)
}

/// Line lengths of keys: PEM, OpenSSH, MIME.
const WIDTHS: [usize; 3] = [64, 70, 76];

/// Maximum distance between the lines of a key, for line numbers, diff signs and authors.
const MAX_GAP: usize = 60;

/// The byte ranges of key lines: two or more consecutive lines of full width, and the shorter last
/// line before the end marker.
pub(super) fn key_lines(text: &str) -> Vec<Range<usize>> {
    let public = public_blocks(text);
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut waiting: Option<Range<usize>> = None;
    let mut in_key = false;
    let secret = |run: &Range<usize>| {
        let next = public.partition_point(|block| block.end <= run.start);
        !public.get(next).is_some_and(|block| block.contains(&run.start))
    };
    for run in Base64Runs::of(text).filter(secret).filter(|run| !is_argument(text, run)) {
        let follows = |before: &Range<usize>| {
            let gap = text.get(before.end..run.start).unwrap_or_default();
            gap.len() <= MAX_GAP && (gap.contains('\n') || gap.contains("\\n"))
        };
        if is_full(text, &run) {
            match waiting.take().filter(follows) {
                Some(before) => {
                    if !in_key {
                        found.push(before);
                    }
                    found.push(run.clone());
                    in_key = true;
                }
                None => in_key = false,
            }
            waiting = Some(run);
        } else if in_key
            && run.len() >= 4
            && waiting.as_ref().is_some_and(follows)
            && ends_key(text, run.end)
        {
            found.push(run);
            waiting = None;
            in_key = false;
        }
    }
    found
}

/// Whether a run is the only argument of a call, such as `exec(decode("..."))`. That is code, not a line
/// of a key.
fn is_argument(text: &str, run: &Range<usize>) -> bool {
    let quote = ['"', '\'', '`'];
    let before = text.get(..run.start).unwrap_or_default().trim_end_matches(quote);
    let before = before.strip_suffix(['b', 'r', 'f', 'u']).unwrap_or(before);
    let called = before.strip_suffix('(');
    let is_call =
        called.is_some_and(|name| name.ends_with(|c: char| c == '_' || c.is_alphanumeric()));
    let after = text.get(run.end..).unwrap_or_default().trim_start_matches(quote);
    is_call && after.starts_with(')')
}

static BLOCK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"-----BEGIN ([A-Z0-9 ]{3,40})-----[^-]*-----END ([A-Z0-9 ]{3,40})-----").ok()
});

/// Blocks that are not secret.
const PUBLIC: [&str; 5] =
    ["CERTIFICATE", "CERTIFICATE REQUEST", "PUBLIC KEY", "RSA PUBLIC KEY", "X509 CRL"];

/// The ranges of complete certificates and public keys, including markers.
fn public_blocks(text: &str) -> Vec<Range<usize>> {
    let blocks = BLOCK.as_ref().into_iter().flat_map(|block| block.captures_iter(text));
    let public = blocks.filter_map(|found| {
        let (begin, end) = (found.get(1)?.as_str(), found.get(2)?.as_str());
        (begin == end && PUBLIC.contains(&begin)).then(|| found.get(0).map(|all| all.range()))?
    });
    public.collect()
}

fn is_full(text: &str, run: &Range<usize>) -> bool {
    WIDTHS.contains(&run.len()) && text.get(run.clone()).is_some_and(is_mixed)
}

fn ends_key(text: &str, at: usize) -> bool {
    let end = text.floor_char_boundary(at.saturating_add(MAX_GAP));
    text.get(at..end).is_some_and(|after| after.contains("-----END"))
}

/// Iterates over the runs of base64 digits in a text.
struct Base64Runs<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Base64Runs<'t> {
    fn of(text: &'t str) -> Self {
        Self { text: text.as_bytes(), at: 0 }
    }
}

impl Iterator for Base64Runs<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.text.get(self.at..)?;
        let mut start = self.at + rest.iter().position(|byte| is_digit(*byte))?;
        let run = self.text.get(start..)?;
        let length = run.iter().position(|byte| !is_digit(*byte)).unwrap_or(run.len());
        let mut end = start + length;
        self.at = end;
        let before = start.checked_sub(1).and_then(|before| self.text.get(before));
        // The letter of an escaped line break is not part of the key.
        if before == Some(&b'\\') && matches!(self.text.get(start), Some(b'n' | b'r')) {
            start += 1;
        }
        // The sign of an added line is not part of the key.
        if before.is_none_or(|byte| *byte == b'\n')
            && self.text.get(start) == Some(&b'+')
            && WIDTHS.contains(&(end - start - 1))
        {
            start += 1;
        }
        let padding = self.text.get(end..).unwrap_or_default();
        end += padding.iter().take(2).take_while(|byte| **byte == b'=').count();
        self.at = self.at.max(end);
        Some(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8PbnGy0AHB7MhgwMbRvI0MBZhpJ";

    #[test]
    fn markers_alone_are_not_a_key() {
        let block = |body: &str| {
            format!("-----BEGIN RSA PRIVATE KEY-----{body}-----END RSA PRIVATE KEY-----")
        };
        for newline in ["\n", "\r\n", "\n+", "\\n", "\\\\n", "\n# ", "\n// ", "\" +\n  \"", " "] {
            let body = format!("{newline}{}{newline}", [LINE; 5].join(newline));
            assert!(is_key(&block(&body)), "{newline:?}");
        }
        let headers = format!("\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00FF\n\n{LINE}\n");
        assert!(is_key(&block(&headers)));
        assert!(is_key(&block(&format!("\nVersion: GnuPG v2\n\n{LINE}\n{LINE}\nAbC1\n=aB3d\n"))));
        for body in [
            "\nfunction steal() { return fetch('https://evil.example'); }\n// ",
            &format!("\n{LINE}\nexec(request.body)\n{LINE}\n"),
            &format!("\nComment: exec(1)\n{LINE}\n"),
            "\nisAdmin=true\n",
            "\ndestroyEverything\nreallyEverything\n",
            "\n...\n",
            "\n",
            "",
        ] {
            assert!(!is_key(&block(body)), "{body:?}");
        }
    }

    #[test]
    fn key_lines_are_recognized_without_markers() {
        let three = format!("{LINE}\n{LINE}\n{LINE}\n");
        assert_eq!(key_lines(&three).len(), 3);
        let shown = format!("  12| {LINE}\n+ 13| {LINE}\n");
        assert_eq!(key_lines(&shown).len(), 2);
        assert_eq!(key_lines(&format!("+{LINE}\n-{LINE}\n")).len(), 2);
        assert_eq!(key_lines(&format!("\"{LINE}\\n{LINE}\\n\"")).len(), 2);
        let end = format!("{LINE}\n{LINE}\nab3dEf==\n-----END X-----\n");
        assert_eq!(key_lines(&end).len(), 3);
        for (begin, end) in [("CERTIFICATE", "X"), ("PRIVATE KEY", "PRIVATE KEY")] {
            let block = format!("-----BEGIN {begin}-----\n{three}-----END {end}-----\n");
            assert_eq!(key_lines(&block).len(), 3, "{begin} {end}");
        }
        let half = format!("-----BEGIN CERTIFICATE-----\n{three}");
        assert_eq!(key_lines(&half).len(), 3);
        for text in [
            LINE.to_owned(),
            format!("exec(b64decode(\"{LINE}\"))\nexec(b64decode(b'{LINE}'))\n"),
            format!("-----BEGIN CERTIFICATE-----\n{LINE}\n{LINE}\n-----END CERTIFICATE-----\n"),
            format!("{LINE}\n\n{}\n{LINE}", "words between them ".repeat(5)),
            format!("{LINE} {LINE}"),
            format!("{}\n{}\n", "0a".repeat(32), "1b".repeat(32)),
            format!("{}\n{}\n", "word".repeat(16), "text".repeat(16)),
            format!("{LINE}x\n{LINE}x\n"),
        ] {
            assert!(key_lines(&text).is_empty(), "{text}");
        }
    }
}
