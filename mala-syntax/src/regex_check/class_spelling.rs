//! Classes that do not say what they seem to: ranges that swallow punctuation, ranges that
//! overlap or run backwards, `\b` that means backspace, and the class that matches nothing.

use super::ast::{Ast, Class, ClassItem, ItemKind};
use super::charset::CharSet;
use super::{Flavour, RegexProblem, RegexProblemKind};

/// Shorter ranges are read at a glance.
const WIDE: u32 = 10;
/// Characters by which a range may outgrow the digits or letters it ends with.
const MARGIN: u32 = 8;

/// The blocks that people mean when they write a range.
const BLOCKS: [(u32, u32); 3] = [(48, 57), (65, 90), (97, 122)];

/// The problems of all classes of a pattern.
pub(super) fn find(ast: &Ast, pattern: &str, flavour: Flavour) -> Vec<RegexProblem> {
    ast.classes.iter().flat_map(|class| class_problems(class, pattern, flavour)).collect()
}

fn class_problems(class: &Class, pattern: &str, flavour: Flavour) -> Vec<RegexProblem> {
    let mut problems = Vec::new();
    if class.items.is_empty() && !class.negated && flavour == Flavour::JavaScript {
        problems.push(RegexProblem::at(RegexProblemKind::EmptyClass, class.start, class.end));
    }
    for (index, item) in class.items.iter().enumerate() {
        let kind = match &item.kind {
            ItemKind::Backspace if !names_controls(class) => RegexProblemKind::BackspaceInClass,
            ItemKind::Range(low, high) if low > high => RegexProblemKind::ReversedRange,
            ItemKind::Range(low, high) if is_too_wide(*low, *high, item, pattern) => {
                RegexProblemKind::OverlyWideRange
            }
            ItemKind::Range(..) if overlaps_another(class, index, pattern) => {
                RegexProblemKind::OverlappingRange
            }
            _ => continue,
        };
        let mut problem = RegexProblem::at(kind, item.start, item.end);
        problem.witness = surprise(&item.kind);
        problems.push(problem);
    }
    problems
}

/// Whether the class lists control characters, so that a backspace among them is meant.
fn names_controls(class: &Class) -> bool {
    class.items.iter().any(|item| match item.kind {
        ItemKind::Char(point) | ItemKind::Range(point, _) => point < 32,
        _ => false,
    })
}

fn is_too_wide(low: u32, high: u32, item: &ClassItem, pattern: &str) -> bool {
    if high > 126 || high - low + 1 < WIDE || thought_through(item, pattern) {
        return false;
    }
    // From the first printable character or to the last one is a way to say "printable".
    if low <= u32::from('!') || high == u32::from('~') {
        return false;
    }
    if BLOCKS.iter().any(|(first, last)| *first <= low && high <= *last) {
        return false;
    }
    let reaches_into = |(first, last): &(u32, u32)| low <= *last && high >= *first;
    let blocks = BLOCKS.iter().filter(|block| reaches_into(block)).count();
    blocks > 1 || !extends_one_block(low, high)
}

/// `[0-?]`, `[@-Z]`, `[/-9]`: a whole block and a few neighbours on one side.
fn extends_one_block(low: u32, high: u32) -> bool {
    BLOCKS.iter().any(|(first, last)| {
        let before = low < *first && first - low <= MARGIN && high == *last;
        let after = high > *last && high - last <= MARGIN && low == *first;
        before || after
    })
}

/// Whether a bound is written as `\x41` or `\u0041`, or both are escaped: such ranges are thought
/// through, or made by a program.
fn thought_through(item: &ClassItem, pattern: &str) -> bool {
    let text = pattern.get(item.start..item.end).unwrap_or_default();
    let numbered = ["\\x", "\\u", "\\U", "\\0", "\\1"].iter().any(|escape| text.contains(escape));
    numbered || (text.starts_with('\\') && text.contains("-\\"))
}

/// Whether the range shares characters with another range, or repeats a shorthand. Each pair is
/// reported at its second range.
fn overlaps_another(class: &Class, index: usize, pattern: &str) -> bool {
    let ItemKind::Range(low, high) = class.items[index].kind else { return false };
    if high > 126 || thought_through(&class.items[index], pattern) {
        return false;
    }
    class.items.iter().enumerate().any(|(other, item)| match &item.kind {
        ItemKind::Range(first, last) => {
            let identical = (*first, *last) == (low, high);
            let meet = low <= *last && *first <= high;
            other < index && meet && !identical && !thought_through(item, pattern)
        }
        ItemKind::Set(set) => *set == CharSet::digits() && set.contains(low) && set.contains(high),
        ItemKind::Char(_) | ItemKind::Backspace => false,
    })
}

/// A character that a wide range matches and that its bounds do not suggest.
fn surprise(kind: &ItemKind) -> Option<String> {
    let ItemKind::Range(low, high) = kind else { return None };
    let between = (low + 1)..*high;
    let odd = between.filter_map(char::from_u32).find(|c| c.is_ascii_punctuation());
    odd.map(String::from)
}
