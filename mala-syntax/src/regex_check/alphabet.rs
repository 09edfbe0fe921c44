//! The characters of a pattern, grouped into classes that no set of the pattern can tell apart.
//! A set of such classes is a small bit mask, which makes the automaton work cheap.

use std::collections::HashMap;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Not};

use super::Flavour;
use super::ast::{Ast, NodeKind};
use super::charset::CharSet;

/// Classes a pattern may have; one more bit stands for an end of the text.
const CLASS_LIMIT: usize = 255;
/// Bound on the work of finding the classes: sets times ranges.
const WORK_LIMIT: usize = 400_000;

/// Characters that make readable examples, best first.
const READABLE: &str = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ\
                        -_.,:;!?/#@%&=+*|~^$<>(){}[]'\"`\\ \t\n\r";

/// A set of classes of characters, and possibly the end of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Mask([u64; 4]);

impl Mask {
    pub(super) const NONE: Self = Self([0; 4]);
    pub(super) const ALL: Self = Self([u64::MAX; 4]);
    /// The end of the text as the next thing, or its start as the thing before.
    pub(super) const EDGE: Self = Self([0, 0, 0, 1 << 63]);

    pub(super) fn class(class: usize) -> Self {
        let mut mask = Self::NONE;
        mask.0[(class / 64) % 4] |= 1 << (class % 64);
        mask
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == [0; 4]
    }

    pub(super) fn meets(self, other: Self) -> bool {
        !(self & other).is_empty()
    }

    pub(super) fn without_edge(self) -> Self {
        self & !Self::EDGE
    }

    /// The classes of the set in order; the edge is not among them.
    pub(super) fn classes(self) -> impl Iterator<Item = usize> {
        let words = self.without_edge().0;
        (0..4).flat_map(move |index| {
            let mut word = words[index];
            std::iter::from_fn(move || {
                if word == 0 {
                    return None;
                }
                let bit = word.trailing_zeros() as usize;
                word &= word - 1;
                Some(index * 64 + bit)
            })
        })
    }
}

impl BitAnd for Mask {
    type Output = Self;
    fn bitand(mut self, other: Self) -> Self {
        self &= other;
        self
    }
}

impl BitAndAssign for Mask {
    fn bitand_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine &= theirs);
    }
}

impl BitOr for Mask {
    type Output = Self;
    fn bitor(mut self, other: Self) -> Self {
        self |= other;
        self
    }
}

impl BitOrAssign for Mask {
    fn bitor_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine |= theirs);
    }
}

impl Not for Mask {
    type Output = Self;
    fn not(self) -> Self {
        Self(self.0.map(|word| !word))
    }
}

/// The classes of one pattern, the most readable first.
#[derive(Debug)]
pub(super) struct Alphabet {
    examples: Vec<char>,
    masks: HashMap<CharSet, Mask>,
    pub(super) word: Mask,
    pub(super) newline: Mask,
}

impl Alphabet {
    /// Nothing if the pattern has too many different sets.
    pub(super) fn of(ast: &Ast, flavour: Flavour) -> Option<Self> {
        let word = CharSet::ascii_word();
        let newline = CharSet::newlines(flavour.breaks());
        let mut sets = vec![word.clone(), newline.clone()];
        let mut known: HashMap<CharSet, usize> = HashMap::new();
        known.insert(word.clone(), 0);
        known.insert(newline.clone(), 1);
        for node in &ast.nodes {
            if let NodeKind::Chars { set, .. } = &node.kind
                && !known.contains_key(set)
            {
                known.insert(set.clone(), sets.len());
                sets.push(set.clone());
            }
        }
        let signatures = signatures(&sets)?;
        let mut masks = vec![Mask::NONE; sets.len()];
        for (class, (_, signature)) in signatures.iter().enumerate() {
            for (index, mask) in masks.iter_mut().enumerate() {
                if signature[index / 64] & (1 << (index % 64)) != 0 {
                    *mask |= Mask::class(class);
                }
            }
        }
        let examples = signatures.iter().map(|(example, _)| *example).collect();
        let masks: HashMap<CharSet, Mask> =
            known.into_iter().map(|(set, index)| (set, masks[index])).collect();
        let of = |set: &CharSet| masks.get(set).copied().unwrap_or_default();
        let (word, newline) = (of(&word), of(&newline));
        Some(Self { examples, masks, word, newline })
    }

    /// The classes of a set that occurs in the pattern.
    pub(super) fn mask(&self, set: &CharSet) -> Mask {
        self.masks.get(set).copied().unwrap_or_default()
    }

    /// All classes, without the edge.
    pub(super) fn all(&self) -> Mask {
        (0..self.examples.len()).fold(Mask::NONE, |mask, class| mask | Mask::class(class))
    }

    pub(super) fn len(&self) -> usize {
        self.examples.len()
    }

    /// A readable member of a class.
    pub(super) fn example(&self, class: usize) -> char {
        self.examples.get(class).copied().unwrap_or('a')
    }

    /// The text that a word over the classes stands for.
    pub(super) fn spell(&self, word: &[usize]) -> String {
        word.iter().map(|class| self.example(*class)).collect()
    }
}

type Signature = Vec<u64>;

/// One example and the containing sets of every class.
fn signatures(sets: &[CharSet]) -> Option<Vec<(char, Signature)>> {
    // 0xE000 is the first character after the surrogates, which have no example.
    let mut bounds: Vec<u32> = vec![0, 0xE000];
    for (low, high) in sets.iter().flat_map(CharSet::ranges) {
        bounds.extend([*low, high.saturating_add(1)]);
    }
    bounds.sort_unstable();
    bounds.dedup();
    bounds.retain(|bound| *bound <= super::charset::MAX);
    if bounds.len().saturating_mul(sets.len()) > WORK_LIMIT {
        return None;
    }
    let mut classes: Vec<(char, Signature)> = Vec::new();
    let mut index: HashMap<Signature, usize> = HashMap::new();
    let readable = READABLE.chars().map(u32::from);
    for point in readable.chain(bounds) {
        let Some(example) = char::from_u32(point) else {
            // A lone surrogate cannot be written in a string: its class has no example.
            continue;
        };
        let mut signature = vec![0_u64; sets.len().div_ceil(64)];
        for (set, contents) in sets.iter().enumerate() {
            if contents.contains(point) {
                signature[set / 64] |= 1 << (set % 64);
            }
        }
        if !index.contains_key(&signature) {
            index.insert(signature.clone(), classes.len());
            classes.push((example, signature));
        }
    }
    (classes.len() <= CLASS_LIMIT).then_some(classes)
}
