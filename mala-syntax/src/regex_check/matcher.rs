//! A backtracking matcher that counts its steps, in the way of the engines of Python, JavaScript and
//! Java.

use super::charset::CharacterSet;
use super::parse::{RegexNode, TextAssertion};

/// Larger programs are not run.
const MAX_INSTRUCTIONS: usize = 6_000;

#[derive(Clone, Debug)]
enum Instruction {
    Characters(CharacterSet),
    Assertion(TextAssertion),
    /// Goes on at the first place and, if that fails, at the second.
    Split(usize, usize),
    Jump(usize),
    /// Notes the position in a slot.
    Save(usize),
    /// Fails when nothing was consumed since the slot was saved.
    Progress(usize),
    Backreference(usize),
    /// Runs the program after it, up to `Match`, on its own; continues at `next`.
    Inner {
        negated: bool,
        consumes: bool,
        next: usize,
    },
    Match,
}

/// A pattern that can be run.
pub(super) struct RegexProgram {
    instructions: Vec<Instruction>,
    n_slots: usize,
}

impl RegexProgram {
    /// `None` when the pattern is too large.
    pub(super) fn new(root: &RegexNode) -> Option<Self> {
        let mut program = Self { instructions: Vec::new(), n_slots: 200 };
        program.add(root)?;
        program.push(Instruction::Match)?;
        Some(program)
    }

    fn push(&mut self, instruction: Instruction) -> Option<usize> {
        self.instructions.push(instruction);
        (self.instructions.len() < MAX_INSTRUCTIONS).then_some(self.instructions.len() - 1)
    }

    fn next(&self) -> usize {
        self.instructions.len()
    }

    fn add(&mut self, node: &RegexNode) -> Option<()> {
        match node {
            RegexNode::Empty | RegexNode::Lookbehind => {}
            RegexNode::Characters(set) => {
                self.push(Instruction::Characters(set.clone()))?;
            }
            RegexNode::Assertion(assertion) => {
                self.push(Instruction::Assertion(*assertion))?;
            }
            RegexNode::Backreference(number) => {
                self.push(Instruction::Backreference(*number))?;
            }
            RegexNode::Capture(number, body) => {
                self.push(Instruction::Save((number * 2).min(198)))?;
                self.add(body)?;
                self.push(Instruction::Save((number * 2 + 1).min(199)))?;
            }
            RegexNode::Concatenation(parts) => {
                parts.iter().try_for_each(|part| self.add(part))?;
            }
            RegexNode::Alternation(branches) => self.add_branches(branches)?,
            RegexNode::Lookahead { body, negated } => self.add_inner(body, *negated, false)?,
            RegexNode::Atomic(body) => self.add_inner(body, false, true)?,
            RegexNode::Repetition(repeated) => {
                for _ in 0..repeated.min.min(20) {
                    self.add(&repeated.body)?;
                }
                match repeated.max {
                    None => self.add_loop(&repeated.body, repeated.is_lazy)?,
                    // Long bounded loops behave like unbounded ones on the inputs that are tried.
                    Some(max) if max >= 16 && max > repeated.min => {
                        self.add_loop(&repeated.body, repeated.is_lazy)?;
                    }
                    Some(max) => {
                        let mut splits = Vec::new();
                        for _ in repeated.min..max.min(20) {
                            splits.push(self.push(Instruction::Jump(0))?);
                            self.add(&repeated.body)?;
                        }
                        let end = self.next();
                        for at in splits {
                            self.instructions[at] = split(at + 1, end, repeated.is_lazy);
                        }
                    }
                }
            }
        }
        Some(())
    }

    fn add_branches(&mut self, branches: &[RegexNode]) -> Option<()> {
        let mut jumps = Vec::new();
        for (at, branch) in branches.iter().enumerate() {
            if at + 1 == branches.len() {
                self.add(branch)?;
                continue;
            }
            let choice = self.push(Instruction::Jump(0))?;
            self.add(branch)?;
            jumps.push(self.push(Instruction::Jump(0))?);
            self.instructions[choice] = Instruction::Split(choice + 1, self.next());
        }
        let end = self.next();
        jumps.into_iter().for_each(|jump| self.instructions[jump] = Instruction::Jump(end));
        Some(())
    }

    fn add_loop(&mut self, body: &RegexNode, is_lazy: bool) -> Option<()> {
        let slot = self.n_slots;
        self.n_slots += 1;
        let start = self.push(Instruction::Jump(0))?;
        self.push(Instruction::Save(slot))?;
        self.add(body)?;
        self.push(Instruction::Progress(slot))?;
        self.push(Instruction::Jump(start))?;
        self.instructions[start] = split(start + 1, self.next(), is_lazy);
        Some(())
    }

    fn add_inner(&mut self, body: &RegexNode, negated: bool, consumes: bool) -> Option<()> {
        let start = self.push(Instruction::Match)?;
        self.add(body)?;
        self.push(Instruction::Match)?;
        let next = self.next();
        self.instructions[start] = Instruction::Inner { negated, consumes, next };
        Some(())
    }

    /// The number of steps of a search in `text` from every position; at most `limit`.
    pub(super) fn count_steps(&self, text: &[char], limit: usize) -> usize {
        let mut run = MatchRun {
            program: self,
            text,
            slots: vec![usize::MAX; self.n_slots],
            n_steps: 0,
            limit,
        };
        for start in 0..=text.len() {
            if run.run(0, start, 0).is_some() || run.n_steps >= limit {
                break;
            }
            run.slots.fill(usize::MAX);
        }
        run.n_steps.min(limit)
    }
}

fn split(body: usize, end: usize, is_lazy: bool) -> Instruction {
    if is_lazy { Instruction::Split(end, body) } else { Instruction::Split(body, end) }
}

/// What to do when an alternative fails.
enum Retry {
    At(usize, usize),
    Restore(usize, usize),
}

struct MatchRun<'r> {
    program: &'r RegexProgram,
    text: &'r [char],
    slots: Vec<usize>,
    n_steps: usize,
    limit: usize,
}

impl MatchRun<'_> {
    /// The end of a match that begins here.
    fn run(&mut self, start: usize, from: usize, depth: usize) -> Option<usize> {
        let mut retries: Vec<Retry> = Vec::new();
        let (mut at, mut position) = (start, from);
        loop {
            self.n_steps += 1;
            if self.n_steps >= self.limit {
                return None;
            }
            let next = self.step(at, position, depth, &mut retries);
            match next {
                StepOutcome::Continue(to, new) => (at, position) = (to, new),
                StepOutcome::Matched => return Some(position),
                StepOutcome::Failed => loop {
                    match retries.pop()? {
                        Retry::At(to, new) => {
                            (at, position) = (to, new);
                            break;
                        }
                        Retry::Restore(slot, old) => self.slots[slot] = old,
                    }
                },
            }
        }
    }

    fn step(
        &mut self,
        at: usize,
        position: usize,
        depth: usize,
        retries: &mut Vec<Retry>,
    ) -> StepOutcome {
        let holds = match &self.program.instructions[at] {
            Instruction::Match => return StepOutcome::Matched,
            Instruction::Jump(to) => return StepOutcome::Continue(*to, position),
            Instruction::Split(first, second) => {
                retries.push(Retry::At(*second, position));
                return StepOutcome::Continue(*first, position);
            }
            Instruction::Characters(set) => {
                return match self.text.get(position) {
                    Some(character) if set.contains(*character) => {
                        StepOutcome::Continue(at + 1, position + 1)
                    }
                    _ => StepOutcome::Failed,
                };
            }
            Instruction::Save(slot) => {
                retries.push(Retry::Restore(*slot, self.slots[*slot]));
                self.slots[*slot] = position;
                true
            }
            Instruction::Progress(slot) => self.slots[*slot] != position,
            Instruction::Assertion(assertion) => self.asserts(*assertion, position),
            Instruction::Backreference(number) => {
                let (from, to) = (self.slots.get(number * 2), self.slots.get(number * 2 + 1));
                let group = match (from, to) {
                    (Some(from), Some(to)) if from <= to => self.text.get(*from..*to),
                    _ => None,
                };
                let group = group.unwrap_or_default();
                let here = self.text.get(position..position + group.len());
                return match here == Some(group) {
                    true => StepOutcome::Continue(at + 1, position + group.len()),
                    false => StepOutcome::Failed,
                };
            }
            Instruction::Inner { negated, consumes, next } => {
                let (negated, consumes, next) = (*negated, *consumes, *next);
                let end = if depth < 8 { self.run(at + 1, position, depth + 1) } else { None };
                return match (end, negated) {
                    (Some(end), false) => {
                        StepOutcome::Continue(next, if consumes { end } else { position })
                    }
                    (None, true) => StepOutcome::Continue(next, position),
                    _ => StepOutcome::Failed,
                };
            }
        };
        if holds { StepOutcome::Continue(at + 1, position) } else { StepOutcome::Failed }
    }

    fn asserts(&self, assertion: TextAssertion, position: usize) -> bool {
        let before = position.checked_sub(1).and_then(|at| self.text.get(at));
        let after = self.text.get(position);
        let is_word = |c: Option<&char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || *c == '_');
        match assertion {
            TextAssertion::TextStart => before.is_none(),
            TextAssertion::TextEnd => after.is_none(),
            TextAssertion::LineStart => before.is_none_or(|c| *c == '\n'),
            TextAssertion::LineEnd => after.is_none_or(|c| *c == '\n'),
            TextAssertion::WordBoundary { negated } => {
                (is_word(before) != is_word(after)) != negated
            }
        }
    }
}

enum StepOutcome {
    Continue(usize, usize),
    Matched,
    Failed,
}
