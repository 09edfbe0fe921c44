//! The change of a case, collapsed.

use mala_domain::render::at_most;
use maud::{Markup, html};

/// The most characters and lines of a change.
const MAX_CHARS: usize = 16_000;
const MAX_LINES: usize = 400;

/// The change; `None` if it is not stored.
pub(super) fn change(diff: &str) -> Option<Markup> {
    if diff.trim().is_empty() {
        return None;
    }
    let cut = at_most(diff, MAX_CHARS);
    let mut pieces: Vec<(&'static str, String)> = Vec::new();
    for line in cut.lines().take(MAX_LINES) {
        let kind = kind(line);
        match pieces.last_mut() {
            Some((last, text)) if *last == kind => text.push_str(line),
            _ => pieces.push((kind, line.to_owned())),
        }
        if let Some((_, text)) = pieces.last_mut() {
            text.push('\n');
        }
    }
    let is_cut = cut.len() < diff.len() || diff.lines().nth(MAX_LINES).is_some();
    Some(html! {
        details class="change" {
            summary { "The change" }
            pre tabindex="0" {
                @for (class, text) in &pieces {
                    @if *class == "same" { (text) } @else { span class=(class) { (text) } }
                }
            }
            @if is_cut { p class="note" { "The change is cut here." } }
        }
    })
}

fn kind(line: &str) -> &'static str {
    match line.as_bytes().first() {
        Some(b'@') => "hunk",
        Some(b'+') if !line.starts_with("+++ ") => "added",
        Some(b'-') if !line.starts_with("--- ") => "removed",
        Some(b'+' | b'-' | b'd' | b'i' | b'n' | b'r' | b's') => "meta",
        _ => "same",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_one_kind_are_one_piece() {
        let shown = change("@@ -1 +1,2 @@\n same\n-<old>\n+new\n+more\n").unwrap_or_default();
        assert!(
            shown.into_string().contains(
                "<span class=\"hunk\">@@ -1 +1,2 @@\n</span> same\n\
                 <span class=\"removed\">-&lt;old&gt;\n</span><span class=\"added\">+new\n+more\n</span>"
            )
        );
        assert!(change(" \n").is_none());
    }

    #[test]
    fn a_long_change_is_cut_and_says_so() {
        for long in ["+x\n".repeat(MAX_LINES + 1), "+".repeat(MAX_CHARS * 3)] {
            let shown = change(&long).unwrap_or_default().into_string();
            assert!(
                shown.contains("is cut here") && shown.len() < MAX_CHARS * 2,
                "{}",
                shown.len()
            );
        }
        let short = change("+x\n").unwrap_or_default().into_string();
        assert!(!short.contains("is cut here"));
    }
}
