//! One answer of a tool: numbered lines, without secrets, cut to the size limit.

use super::ToolLimits;
use mala_domain::agent::line_format;
use mala_domain::change::LineSpan;
use mala_domain::secrets;

/// How much of one line is shown: a compressed script may be one line of a megabyte.
const MAX_LINE: usize = 400;

/// Number of lines around the shown ones that are searched for secrets of several lines, such as
/// keys.
const MARGIN: u32 = 100;

/// Bytes of an answer that are reserved for text around the lines.
const FRAME: usize = 600;

/// How many lines a text has.
pub(super) fn n_lines(text: &str) -> u32 {
    u32::try_from(text.lines().count()).unwrap_or(u32::MAX)
}

/// These lines of a text, without secrets, each with its number and cut when it is long.
pub(super) fn numbered(text: &str, span: LineSpan) -> Vec<String> {
    let width = span.end().to_string().len();
    let lines = plain(text, span);
    lines.into_iter().map(|(number, line)| line_format::tool_line(number, width, &line)).collect()
}

/// These lines of a text, without secrets, each with its number.
pub(super) fn plain(text: &str, span: LineSpan) -> Vec<(u32, String)> {
    let first = span.start().saturating_sub(MARGIN).max(1);
    let n_around = (span.end().saturating_sub(first)).saturating_add(MARGIN + 1);
    let skipped = usize::try_from(first - 1).unwrap_or(usize::MAX);
    let around: Vec<&str> =
        text.lines().skip(skipped).take(usize::try_from(n_around).unwrap_or(usize::MAX)).collect();
    let around = around.join("\n");
    let clean = secrets::redact(&around);
    let lines = (first..).zip(clean.split('\n'));
    lines
        .filter(|(number, _)| span.contains(*number))
        .map(|(number, line)| (number, short(line)))
        .collect()
}

/// A line, cut when it is long.
pub(super) fn short(line: &str) -> String {
    let line = line.strip_suffix('\r').unwrap_or(line);
    match line.char_indices().nth(MAX_LINE) {
        None => line.to_owned(),
        Some((at, _)) => {
            let n_more = line[at..].chars().count();
            format!("{} …{}{n_more} more characters]", &line[..at], line_format::CUT_MARK)
        }
    }
}

/// How many of these lines fit into one answer.
pub(super) fn n_fitting(lines: &[String], limits: ToolLimits) -> usize {
    let mut n_bytes = FRAME.min(limits.max_bytes / 4);
    let fits = |line: &&String| {
        n_bytes = n_bytes.saturating_add(line.len() + 1);
        n_bytes <= limits.max_bytes
    };
    lines.iter().take(limits.max_lines).take_while(fits).count()
}

/// The start of a text, at most `max_bytes` long, cut at a character boundary.
pub(super) fn cut_at(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_key_is_hidden_although_its_first_line_is_not_shown() {
        let body = "MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8PbnGy0AHB7MhgwMbRvI0MBZhpJ\n".repeat(20);
        let (begin, end) = ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----");
        let text = format!("x = 1\n{begin}\n{body}{end}\ny = 2\n");
        for (number, line) in plain(&text, LineSpan::between(10, 24)) {
            assert!(!line.contains("MIIE"), "{number}: {line}");
        }
        assert_eq!(plain(&text, LineSpan::line(24)), [(24, "y = 2".to_owned())]);
    }

    #[test]
    fn long_lines_are_cut_at_a_character() {
        let line = short(&"é".repeat(500));
        assert!(line.ends_with("…[cut: 100 more characters]"), "{line}");
        assert_eq!(cut_at("aé", 2), "a");
    }
}
