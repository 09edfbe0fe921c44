//! Regular expressions that can hang.

use super::{CheckFamily, CheckMatch, NativeCheck, NativeMatch};
use crate::regex_check::sources::{PATTERN_KINDS, pattern_at};
use crate::regex_check::{StepGrowth, slow_loop};
use crate::source::Source;
use tree_sitter::Node;

/// Loops that take exponential time.
pub(super) const EXPONENTIAL: CheckFamily = CheckFamily {
    checks: &[NativeCheck { name: "regex-exponential", captures: CAPTURES }],
    kinds: PATTERN_KINDS,
    run: |source, nodes| slow_patterns(source, nodes, StepGrowth::Exponential),
};

/// Loops that take polynomial time. A separate family, because testing them takes longer.
pub(super) const POLYNOMIAL: CheckFamily = CheckFamily {
    checks: &[NativeCheck { name: "regex-polynomial", captures: CAPTURES }],
    kinds: PATTERN_KINDS,
    run: |source, nodes| slow_patterns(source, nodes, StepGrowth::Polynomial),
};

const CAPTURES: &[&str] = &["PART", "WITNESS"];

fn slow_patterns(source: &Source, nodes: &[Node<'_>], growth: StepGrowth) -> Vec<CheckMatch> {
    let check = match growth {
        StepGrowth::Exponential => "regex-exponential",
        StepGrowth::Polynomial => "regex-polynomial",
    };
    let found = |node: &Node<'_>| {
        let file_pattern = pattern_at(source, *node)?;
        let (pattern, flavour, flags) =
            (&file_pattern.pattern, file_pattern.flavour, file_pattern.flags);
        let slow = slow_loop(pattern, flavour, flags, growth)?;
        // A pattern that is exponential is not reported again.
        let worse = StepGrowth::Exponential;
        if growth != worse && slow_loop(pattern, flavour, flags, worse).is_some() {
            return None;
        }
        let captures = vec![("PART", slow.part), ("WITNESS", shown(&slow.pump))];
        let found = NativeMatch { bytes: file_pattern.bytes, because: None, captures };
        Some(CheckMatch { check, found })
    };
    nodes.iter().filter_map(found).collect()
}

/// Makes blanks visible.
fn shown(text: &str) -> String {
    let escaped = text.escape_debug().to_string();
    if escaped.trim().is_empty() { escaped.replace(' ', "\\x20") } else { escaped }
}
