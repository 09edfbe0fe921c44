//! A backtracking matcher that counts its steps and stops at a limit. It confirms what the
//! automaton suspects with the semantics that real engines have: priorities, lookaround,
//! back-references and atomic groups.

use super::ast::{Assertion, Look};
use super::charset::CharSet;
use super::program::{Op, Program};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Matched up to this place.
    Match(usize),
    NoMatch,
    /// The step limit was reached.
    Exhausted,
}

/// What a run did and what it cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) outcome: Outcome,
    pub(super) steps: u64,
}

/// Something to come back to.
enum Undo {
    Branch { at: usize, position: usize },
    Slot { slot: usize, old: Option<usize> },
    Register { register: usize, old: usize },
}

struct Machine<'p> {
    program: &'p Program,
    text: &'p [u32],
    word: CharSet,
    slots: Vec<Option<usize>>,
    registers: Vec<usize>,
    steps: u64,
    limit: u64,
}

impl Program {
    /// One match attempt that starts at `from`.
    pub(super) fn attempt(&self, text: &[u32], from: usize, limit: u64) -> Run {
        let mut machine = Machine::new(self, text, limit);
        let outcome = machine.run(0, from, &mut Vec::new());
        Run { outcome, steps: machine.steps }
    }

    /// Which groups take part in the match at the start of `text`.
    pub(super) fn groups(&self, text: &[u32], limit: u64) -> Vec<bool> {
        let mut machine = Machine::new(self, text, limit);
        match machine.run(0, 0, &mut Vec::new()) {
            Outcome::Match(_) => machine.slots.iter().skip(2).map(Option::is_some).collect(),
            Outcome::NoMatch | Outcome::Exhausted => Vec::new(),
        }
    }

    /// Attempts from every place in turn until one matches.
    pub(super) fn search(&self, text: &[u32], limit: u64) -> Run {
        let mut steps = 0;
        for from in 0..=text.len() {
            let run = self.attempt(text, from, limit - steps);
            steps += run.steps;
            if run.outcome != Outcome::NoMatch || steps >= limit {
                let outcome = match run.outcome {
                    Outcome::NoMatch => Outcome::Exhausted,
                    outcome => outcome,
                };
                return Run { outcome, steps };
            }
        }
        Run { outcome: Outcome::NoMatch, steps }
    }
}

impl<'p> Machine<'p> {
    fn new(program: &'p Program, text: &'p [u32], limit: u64) -> Self {
        Self {
            program,
            text,
            word: CharSet::ascii_word(),
            slots: vec![None; program.n_slots],
            registers: vec![usize::MAX; program.n_registers],
            steps: 0,
            limit,
        }
    }

    /// Runs from instruction `at` to the next [`Op::Done`]. `undo` keeps what must be taken back
    /// if the caller backtracks over this run.
    fn run(&mut self, at: usize, position: usize, undo: &mut Vec<Undo>) -> Outcome {
        let floor = undo.len();
        let (mut at, mut position) = (at, position);
        loop {
            self.steps += 1;
            if self.steps > self.limit {
                return Outcome::Exhausted;
            }
            let next = match &self.program.code[at] {
                Op::Done => {
                    keep_values(undo, floor);
                    return Outcome::Match(position);
                }
                Op::Jump(to) => Some((*to, position)),
                Op::Split(first, second) => {
                    undo.push(Undo::Branch { at: *second, position });
                    Some((*first, position))
                }
                Op::Look(..) | Op::Atomic(_) => match self.enclosed(at, position, undo) {
                    Ok(next) => next,
                    Err(()) => return Outcome::Exhausted,
                },
                op => self.simple(op, at, position, undo),
            };
            match next.or_else(|| self.back(undo, floor)) {
                Some(place) => (at, position) = place,
                None => return Outcome::NoMatch,
            }
        }
    }

    /// Instructions that neither branch nor nest.
    fn simple(
        &mut self,
        op: &Op,
        at: usize,
        position: usize,
        undo: &mut Vec<Undo>,
    ) -> Option<(usize, usize)> {
        match op {
            Op::Chars(set) => {
                let point = *self.text.get(position)?;
                self.program.sets[*set].contains(point).then_some((at + 1, position + 1))
            }
            Op::Assert(assertion) => self.holds(*assertion, position).then_some((at + 1, position)),
            Op::Save(slot) => {
                undo.push(Undo::Slot { slot: *slot, old: self.slots[*slot] });
                self.slots[*slot] = Some(position);
                Some((at + 1, position))
            }
            Op::Mark(register) => {
                undo.push(Undo::Register { register: *register, old: self.registers[*register] });
                self.registers[*register] = position;
                Some((at + 1, position))
            }
            Op::Progress(register) => {
                (self.registers[*register] != position).then_some((at + 1, position))
            }
            Op::Backref(number) => self.repeated(*number, position).map(|end| (at + 1, end)),
            Op::Done | Op::Jump(_) | Op::Split(..) | Op::Look(..) | Op::Atomic(_) => None,
        }
    }

    /// Takes back changes until there is a branch to go on with.
    fn back(&mut self, undo: &mut Vec<Undo>, floor: usize) -> Option<(usize, usize)> {
        while undo.len() > floor {
            match undo.pop()? {
                Undo::Branch { at, position } => return Some((at, position)),
                Undo::Slot { slot, old } => self.slots[slot] = old,
                Undo::Register { register, old } => self.registers[register] = old,
            }
        }
        None
    }

    /// Lookaround and atomic groups. The error is an exhausted limit.
    fn enclosed(
        &mut self,
        at: usize,
        position: usize,
        undo: &mut Vec<Undo>,
    ) -> Result<Option<(usize, usize)>, ()> {
        let floor = undo.len();
        let (look, end) = match &self.program.code[at] {
            Op::Look(look, end) => (Some(*look), *end),
            Op::Atomic(end) => (None, *end),
            _ => return Ok(None),
        };
        let outcome = match look {
            Some(Look::Behind | Look::NotBehind) => self.behind(at + 1, position, undo),
            _ => self.run(at + 1, position, undo),
        };
        let (found, negative) = match outcome {
            Outcome::Exhausted => return Err(()),
            Outcome::Match(to) => (Some(to), look),
            Outcome::NoMatch => (None, look),
        };
        match (found, negative) {
            (Some(_), Some(Look::NotAhead | Look::NotBehind)) => {
                self.back(undo, floor);
                Ok(None)
            }
            (None, Some(Look::NotAhead | Look::NotBehind)) | (Some(_), Some(_)) => {
                Ok(Some((end, position)))
            }
            (Some(to), None) => Ok(Some((end, to))),
            (None, _) => Ok(None),
        }
    }

    /// Whether the code matches some text that ends at `position`.
    fn behind(&mut self, at: usize, position: usize, undo: &mut Vec<Undo>) -> Outcome {
        let text = self.text;
        self.text = &text[..position];
        let mut found = Outcome::NoMatch;
        for from in (0..=position).rev() {
            let floor = undo.len();
            match self.run(at, from, undo) {
                Outcome::Match(end) if end == position => found = Outcome::Match(end),
                Outcome::Exhausted => found = Outcome::Exhausted,
                _ => {
                    self.back(undo, floor);
                    continue;
                }
            }
            break;
        }
        self.text = text;
        found
    }

    fn repeated(&self, number: usize, position: usize) -> Option<usize> {
        let slot = |index: usize| self.slots.get(index).copied().flatten();
        let (Some(from), Some(to)) = (slot(2 * number), slot(2 * number + 1)) else {
            return self.program.unset_is_empty.then_some(position);
        };
        let copy = self.text.get(from..to)?;
        self.text.get(position..)?.starts_with(copy).then_some(position + copy.len())
    }

    fn holds(&self, assertion: Assertion, position: usize) -> bool {
        let before = position.checked_sub(1).and_then(|index| self.text.get(index));
        let next = self.text.get(position);
        let is_word = |point: Option<&u32>| point.is_some_and(|point| self.word.contains(*point));
        let newline = |point: &u32| self.program.newlines.contains(*point);
        match assertion {
            Assertion::TextStart => before.is_none(),
            Assertion::TextEnd => next.is_none(),
            Assertion::LastLineEnd => {
                next.is_none_or(|point| newline(point) && position + 1 == self.text.len())
            }
            Assertion::LineStart => before.is_none_or(newline),
            Assertion::LineEnd => next.is_none_or(newline),
            Assertion::WordBoundary => is_word(before) != is_word(next),
            Assertion::NotWordBoundary => is_word(before) == is_word(next),
        }
    }
}

/// Drops the branches above `floor` and keeps the values to restore.
fn keep_values(undo: &mut Vec<Undo>, floor: usize) {
    let above = undo.split_off(floor.min(undo.len()));
    undo.extend(above.into_iter().filter(|entry| !matches!(entry, Undo::Branch { .. })));
}
