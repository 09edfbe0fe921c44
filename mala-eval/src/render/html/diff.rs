//! The change of a case, to open.

use super::markup::{Markup, tag};
use mala_domain::render::at_most;

/// The most characters and lines of a change.
const MAX_CHARS: usize = 16_000;
const MAX_LINES: usize = 400;

/// The change; nothing when it is not kept.
pub(super) fn change(diff: &str) -> Option<Markup> {
    if diff.trim().is_empty() {
        return None;
    }
    let cut = at_most(diff, MAX_CHARS);
    let mut text = Markup::default();
    let mut piece = String::new();
    let mut class = "";
    for line in cut.lines().take(MAX_LINES) {
        let kind = kind(line);
        if kind != class {
            text.push(span(class, &piece));
            piece.clear();
            class = kind;
        }
        piece.push_str(line);
        piece.push('\n');
    }
    text.push(span(class, &piece));
    let is_cut = cut.len() < diff.len() || diff.lines().nth(MAX_LINES).is_some();
    let cut = is_cut.then(|| tag("p").class("note").text("The change goes on: it is cut here."));
    let summary = tag("summary").text("The change");
    let pre = tag("pre").attr("tabindex", "0").child(text);
    Some(tag("details").class("change").child(summary).child(pre).children(cut).into())
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

fn span(class: &str, text: &str) -> Markup {
    match (text, class) {
        ("", _) => Markup::default(),
        (text, "same") => Markup::text(text),
        (text, class) => tag("span").class(class).text(text).into(),
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
                shown.contains("it is cut here") && shown.len() < MAX_CHARS * 2,
                "{}",
                shown.len()
            );
        }
        let short = change("+x\n").unwrap_or_default().into_string();
        assert!(!short.contains("it is cut here"));
    }
}
