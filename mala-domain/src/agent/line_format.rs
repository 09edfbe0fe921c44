//! The formats in which prompts and tools show lines of a file, and how to recover the line from a
//! model's quote. Writing and reading are in one place, so that a quote in any format is
//! recognized.

use crate::agent::fence;

/// A line at head in a brief: its number, a mark, its text.
pub fn brief_line(number: u32, mark: char, text: &str) -> String {
    format!("{number}{mark}{text}")
}

/// A removed line in a brief.
pub fn removed_line(text: &str) -> String {
    format!("-{text}")
}

/// A line of a file that a tool shows, with numbers of this width.
pub fn tool_line(number: u32, width: usize, text: &str) -> String {
    format!("{number:>width$}| {text}")
}

/// A line of a diff that a tool shows.
pub fn diff_line(mark: char, number: u32, text: &str) -> String {
    format!("{mark}{number:>5}| {text}")
}

/// A line with its last author, as a tool shows it.
pub fn blame_line(number: u32, who: &str, text: &str) -> String {
    format!("{number}| {who} | {text}")
}

/// Marks a line whose end is not shown.
pub const CUT_MARK: &str = "[cut: ";

/// All lines that a quoted line may refer to, the quoted line itself first.
pub fn possible_originals(line: &str) -> Vec<String> {
    let whole = line.trim();
    let mut all = vec![whole.to_owned()];
    all.extend(without_quotes(whole).map(str::to_owned));
    let bare = without_number(whole);
    all.extend(bare.iter().map(|text| (*text).to_owned()));
    if let Some((_, after)) = bare.first().and_then(|text| text.split_once(" | ")) {
        all.push(after.trim().to_owned());
    }
    for text in all.clone() {
        if let Some((before, _)) = text.rsplit_once(CUT_MARK) {
            all.push(before.trim_end().trim_end_matches('…').trim_end().to_owned());
        }
    }
    for text in all.clone() {
        if text.contains(fence::IMITATION) {
            all.push(fence::without_imitation_marks(&text));
        }
    }
    all.retain(|text| !text.is_empty());
    all
}

/// The content of a line in quotes or backticks.
fn without_quotes(line: &str) -> Option<&str> {
    let inside = |mark: char| line.strip_prefix(mark)?.strip_suffix(mark).map(str::trim);
    ['`', '"'].into_iter().find_map(inside)
}

/// The line without its number and its mark, wherever the mark is.
fn without_number(line: &str) -> Vec<&str> {
    let marked = |text: &'_ str| -> Option<usize> {
        let rest = text.strip_prefix(['+', '-'])?;
        Some(text.len() - rest.trim_start().len())
    };
    let after = |text: &str| marked(text).unwrap_or(0);
    let unmarked = line.get(after(line)..).unwrap_or_default();
    let numbered = unmarked.trim_start_matches(|c: char| c.is_ascii_digit());
    if numbered.len() == unmarked.len() {
        return if unmarked.len() < line.len() { vec![unmarked] } else { Vec::new() };
    }
    let own = numbered.trim_start().strip_prefix(['|', ':']).unwrap_or(numbered).trim_start();
    let own_unmarked = own.get(after(own)..).unwrap_or_default();
    if own_unmarked.len() < own.len() { vec![own, own_unmarked] } else { vec![own] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_that_is_written_is_read() {
        let text = "    return 1 / n";
        for shown in [
            text.to_owned(),
            brief_line(2, '+', text),
            brief_line(2, ' ', text),
            removed_line(text),
            tool_line(2, 4, text),
            diff_line('+', 2, text),
            diff_line('-', 2, text),
            diff_line(' ', 2, text),
            blame_line(2, "0123456789 2024-01-31 Ada", text),
            format!("2 + {text}"),
            format!("2:{text}"),
            format!("2 | {text}"),
            format!("`{}`", text.trim()),
            format!("+{text}"),
            format!("{text} …{CUT_MARK}400 more characters]"),
            format!("{text} {CUT_MARK}a long line]"),
            "return 1[imitation] / n".to_owned(),
            "2+    return 1[imitation] / n".to_owned(),
        ] {
            assert!(possible_originals(&shown).iter().any(|line| line == text.trim()), "{shown}");
            assert_eq!(possible_originals(&shown)[0], shown.trim(), "what is written comes first");
        }
        for odd in ["", "+", "2", "2|", "-12|  ", "é", "+é| "] {
            possible_originals(odd);
        }
    }
}
