//! Inputs that may be slow: a text that leads to a loop, many repetitions of the loop's match, and
//! a text after it that does not match.

use super::matcher::RegexProgram;
use super::parse::{ParsedRegex, RegexNode, RepeatedNode};
use super::{SlowLoop, StepGrowth};

const MAX_LOOPS: usize = 24;
const MAX_WORDS: usize = 32;
const MAX_SAMPLES: usize = 12;
const SUFFIXES: [&str; 4] = ["\u{1}", "", "!", "\n\u{1}"];
/// Steps of one search at most, and in total for a pattern.
const MAX_STEPS: usize = 250_000;
const MAX_TOTAL_STEPS: usize = 6_000_000;

/// The first loop for which the steps grow so.
pub(super) fn find(regex: &ParsedRegex<'_>, growth: StepGrowth) -> Option<SlowLoop> {
    let mut loops = Vec::new();
    collect(&regex.root, String::new(), &mut loops);
    if growth == StepGrowth::Exponential {
        loops.retain(|(repeated, _)| is_ambiguous(&repeated.body));
    }
    if loops.is_empty() {
        return None;
    }
    let program = RegexProgram::new(&regex.root)?;
    let mut n_left = MAX_TOTAL_STEPS;
    for (repeated, prefix) in loops.into_iter().take(MAX_LOOPS) {
        // A match at the start of the text would end the search; the second prefix prevents it.
        let prefixes = [prefix.clone(), format!("\u{1}{prefix}")];
        let prefixes = if growth == StepGrowth::Exponential { &prefixes[..1] } else { &prefixes };
        for pump in words(&repeated.body) {
            let inputs = prefixes.iter().flat_map(|prefix| SUFFIXES.map(|it| (prefix, it)));
            for (prefix, suffix) in inputs {
                let input = RepeatedInput { prefix, pump: &pump, suffix };
                let is_slow = match growth {
                    StepGrowth::Exponential => input.is_exponential(&program, &mut n_left),
                    StepGrowth::Polynomial => input.is_polynomial(&program, &mut n_left),
                };
                if is_slow {
                    let part = regex.pattern.get(repeated.bytes.clone())?.to_owned();
                    return Some(SlowLoop { part, pump });
                }
                if n_left == 0 {
                    return None;
                }
            }
        }
    }
    None
}

/// An input with a part that is repeated.
struct RepeatedInput<'i> {
    prefix: &'i str,
    pump: &'i str,
    suffix: &'i str,
}

impl RepeatedInput<'_> {
    fn n_steps(&self, program: &RegexProgram, n_pumps: usize, n_left: &mut usize) -> usize {
        let text = format!("{}{}{}", self.prefix, self.pump.repeat(n_pumps), self.suffix);
        let text: Vec<char> = text.chars().collect();
        let n_steps = program.count_steps(&text, MAX_STEPS);
        *n_left = n_left.saturating_sub(n_steps);
        n_steps
    }

    /// Four more repetitions multiply the steps, again and again.
    fn is_exponential(&self, program: &RegexProgram, n_left: &mut usize) -> bool {
        let mut before = self.n_steps(program, 8, n_left);
        let mut n_growths = 0;
        for n_pumps in [12, 16, 20, 24] {
            let steps = self.n_steps(program, n_pumps, n_left);
            if steps < before * 9 / 2 && steps < MAX_STEPS {
                return false;
            }
            n_growths += 1;
            if steps >= MAX_STEPS {
                // If few repetitions are already too slow, the growth is measured with fewer ones.
                return n_growths > 1 || self.n_steps(program, 4, n_left) * 5 < before;
            }
            before = steps;
        }
        true
    }

    /// Whether twice the length takes about four times the steps, or more.
    fn is_polynomial(&self, program: &RegexProgram, n_left: &mut usize) -> bool {
        let short = self.n_steps(program, 40, n_left);
        let longer = self.n_steps(program, 80, n_left);
        if longer < short * 3 {
            return false;
        }
        let longest = self.n_steps(program, 160, n_left);
        longest >= longer * 3 || longest >= MAX_STEPS
    }
}

/// All long loops with a text that leads to them, outermost first.
fn collect<'r>(node: &'r RegexNode, prefix: String, loops: &mut Vec<(&'r RepeatedNode, String)>) {
    match node {
        RegexNode::Repetition(repeated) => {
            if repeated.max.is_none_or(|max| max >= 16) {
                loops.push((repeated, prefix.clone()));
            }
            collect(&repeated.body, prefix, loops);
        }
        RegexNode::Concatenation(parts) => {
            let mut prefix = prefix;
            for part in parts {
                collect(part, prefix.clone(), loops);
                prefix.push_str(&shortest(part));
            }
        }
        RegexNode::Alternation(branches) => {
            branches.iter().for_each(|branch| collect(branch, prefix.clone(), loops));
        }
        RegexNode::Capture(_, body)
        | RegexNode::Lookahead { body, .. }
        | RegexNode::Atomic(body) => collect(body, prefix, loops),
        _ => {}
    }
}

/// Whether a body may match one text in two ways.
fn is_ambiguous(body: &RegexNode) -> bool {
    match body {
        RegexNode::Repetition(repeated) => repeated.max != Some(repeated.min),
        RegexNode::Alternation(_) => true,
        RegexNode::Concatenation(parts) => parts.iter().any(is_ambiguous),
        RegexNode::Capture(_, body) => is_ambiguous(body),
        _ => false,
    }
}

/// Texts to repeat: single characters of the body, and whole texts that it matches.
fn words(body: &RegexNode) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut add = |word: String| {
        if !word.is_empty() && !words.contains(&word) && words.len() < MAX_WORDS {
            words.push(word);
        }
    };
    samples(body).into_iter().for_each(&mut add);
    let mut characters = Vec::new();
    alphabet(body, &mut characters);
    characters.into_iter().for_each(|character| add(character.to_string()));
    words
}

fn alphabet(node: &RegexNode, found: &mut Vec<char>) {
    match node {
        RegexNode::Characters(set) => found.extend(set.examples()),
        RegexNode::Concatenation(parts) | RegexNode::Alternation(parts) => {
            parts.iter().for_each(|part| alphabet(part, found));
        }
        RegexNode::Repetition(repeated) => alphabet(&repeated.body, found),
        RegexNode::Capture(_, body) | RegexNode::Atomic(body) => alphabet(body, found),
        _ => {}
    }
}

/// Some texts that a part matches.
fn samples(node: &RegexNode) -> Vec<String> {
    match node {
        RegexNode::Characters(set) => {
            set.examples().into_iter().take(3).map(String::from).collect()
        }
        RegexNode::Concatenation(parts) => {
            let mut all = vec![String::new()];
            for part in parts {
                let endings = samples(part);
                let joined = all
                    .iter()
                    .flat_map(|start| endings.iter().map(move |ending| format!("{start}{ending}")));
                all = spread(joined.collect());
            }
            all
        }
        RegexNode::Alternation(branches) => {
            let each: Vec<Vec<String>> = branches.iter().map(samples).collect();
            let longest = each.iter().map(Vec::len).max().unwrap_or(0);
            let rounds = (0..longest).flat_map(|at| each.iter().filter_map(move |it| it.get(at)));
            rounds.take(MAX_SAMPLES).cloned().collect()
        }
        RegexNode::Repetition(repeated) => {
            let once = samples(&repeated.body);
            let n_rounds = repeated.min.clamp(1, 8);
            let mut all: Vec<String> = once.iter().map(|text| text.repeat(n_rounds)).collect();
            if repeated.min == 0 {
                all.insert(1.min(all.len()), String::new());
            }
            all
        }
        RegexNode::Capture(_, body) | RegexNode::Atomic(body) => samples(body),
        _ => vec![String::new()],
    }
}

/// Some of many texts, from all over the list.
fn spread(texts: Vec<String>) -> Vec<String> {
    let step = texts.len().div_ceil(MAX_SAMPLES).max(1);
    texts.into_iter().step_by(step).collect()
}

fn shortest(node: &RegexNode) -> String {
    match node {
        RegexNode::Repetition(repeated) if repeated.min == 0 => String::new(),
        RegexNode::Repetition(repeated) => shortest(&repeated.body).repeat(repeated.min.min(20)),
        RegexNode::Concatenation(parts) => parts.iter().map(shortest).collect(),
        RegexNode::Alternation(branches) => {
            branches.iter().map(shortest).min_by_key(String::len).unwrap_or_default()
        }
        RegexNode::Capture(_, body) | RegexNode::Atomic(body) => shortest(body),
        RegexNode::Characters(set) => {
            set.examples().first().map(char::to_string).unwrap_or_default()
        }
        _ => String::new(),
    }
}
