//! A pattern as instructions for the backtracking matcher.

use super::Flavour;
use super::ast::{Assertion, Ast, Greed, Look, NodeId, NodeKind};
use super::charset::CharSet;

/// Instructions a program may have.
const SIZE_LIMIT: usize = 20_000;

/// One instruction.
#[derive(Clone, Debug)]
pub(super) enum Op {
    /// Consume one character of the set with this number.
    Chars(usize),
    /// Go on at the first place, and at the second if that fails.
    Split(usize, usize),
    Jump(usize),
    Save(usize),
    Assert(Assertion),
    /// Run the code up to the number without consuming, then go on after it.
    Look(Look, usize),
    /// Run the code up to the number, keep its first match only, then go on after it.
    Atomic(usize),
    Backref(usize),
    /// Remember the position in a register.
    Mark(usize),
    /// Fail unless the position has moved since the register was marked.
    Progress(usize),
    Done,
}

/// A compiled pattern or part of one.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) code: Vec<Op>,
    pub(super) sets: Vec<CharSet>,
    pub(super) n_slots: usize,
    pub(super) n_registers: usize,
    /// What ends a line.
    pub(super) newlines: CharSet,
    /// Whether a reference to a group that took no part matches the empty string.
    pub(super) unset_is_empty: bool,
}

impl Program {
    /// The program of the part of `ast` below `root`; nothing if it grows too large.
    pub(super) fn compile(ast: &Ast, root: NodeId, flavour: Flavour) -> Option<Self> {
        let program = Self {
            code: Vec::new(),
            sets: Vec::new(),
            n_slots: 2 * (ast.groups.len() + 1),
            n_registers: 0,
            newlines: CharSet::newlines(flavour.breaks()),
            unset_is_empty: flavour == Flavour::JavaScript,
        };
        let mut compiler = Compiler { ast, program };
        compiler.node(root)?;
        compiler.push(Op::Done)?;
        Some(compiler.program)
    }
}

struct Compiler<'a> {
    ast: &'a Ast,
    program: Program,
}

impl Compiler<'_> {
    fn push(&mut self, op: Op) -> Option<usize> {
        let at = self.program.code.len();
        self.program.code.push(op);
        (at < SIZE_LIMIT).then_some(at)
    }

    fn here(&self) -> usize {
        self.program.code.len()
    }

    fn patch(&mut self, at: usize, op: Op) {
        if let Some(place) = self.program.code.get_mut(at) {
            *place = op;
        }
    }

    fn node(&mut self, id: NodeId) -> Option<()> {
        let ast = self.ast;
        match ast.kind(id) {
            NodeKind::Empty => {}
            NodeKind::Chars { set, .. } => {
                self.program.sets.push(set.clone());
                self.push(Op::Chars(self.program.sets.len() - 1))?;
            }
            NodeKind::Concat(parts) => parts.iter().try_for_each(|part| self.node(*part))?,
            NodeKind::Alternate(parts) => self.alternatives(parts)?,
            NodeKind::Group { capture: None, body } => self.node(*body)?,
            NodeKind::Group { capture: Some(number), body } => {
                self.push(Op::Save(2 * number))?;
                self.node(*body)?;
                self.push(Op::Save(2 * number + 1))?;
            }
            NodeKind::Atomic(body) => self.enclosed(*body, Op::Atomic)?,
            NodeKind::Look { look, body } => self.look(*look, *body)?,
            NodeKind::Assert(assertion) => {
                self.push(Op::Assert(*assertion))?;
            }
            NodeKind::Backref(reference) => {
                if let Some(number) = ast.capture_of(reference) {
                    self.push(Op::Backref(number))?;
                }
            }
            NodeKind::Repeat { greed: Greed::Possessive, .. } => {
                let at = self.push(Op::Done)?;
                self.repeat(id)?;
                self.push(Op::Done)?;
                self.patch(at, Op::Atomic(self.here()));
            }
            NodeKind::Repeat { .. } => self.repeat(id)?,
        }
        Some(())
    }

    fn look(&mut self, look: Look, body: NodeId) -> Option<()> {
        let at = self.push(Op::Done)?;
        self.node(body)?;
        if matches!(look, Look::Behind | Look::NotBehind) {
            // The matcher cuts the text at the place that is looked back from.
            self.push(Op::Assert(Assertion::TextEnd))?;
        }
        self.push(Op::Done)?;
        self.patch(at, Op::Look(look, self.here()));
        Some(())
    }

    fn enclosed(&mut self, body: NodeId, op: impl Fn(usize) -> Op) -> Option<()> {
        let at = self.push(Op::Done)?;
        self.node(body)?;
        self.push(Op::Done)?;
        self.patch(at, op(self.here()));
        Some(())
    }

    fn alternatives(&mut self, parts: &[NodeId]) -> Option<()> {
        let mut exits = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            if index + 1 == parts.len() {
                self.node(*part)?;
                break;
            }
            let split = self.push(Op::Done)?;
            self.node(*part)?;
            exits.push(self.push(Op::Done)?);
            self.patch(split, Op::Split(split + 1, self.here()));
        }
        let end = self.here();
        exits.into_iter().for_each(|exit| self.patch(exit, Op::Jump(end)));
        Some(())
    }

    fn repeat(&mut self, id: NodeId) -> Option<()> {
        let NodeKind::Repeat { body, min, max, greed } = self.ast.kind(id) else { return None };
        for _ in 0..*min {
            self.node(*body)?;
        }
        match max {
            None => self.endless(*body, *greed),
            Some(max) => self.optional(*body, max.saturating_sub(*min), *greed),
        }
    }

    fn endless(&mut self, body: NodeId, greed: Greed) -> Option<()> {
        let split = self.push(Op::Done)?;
        self.guarded(body)?;
        self.push(Op::Jump(split))?;
        self.patch(split, branch(greed, split + 1, self.here()));
        Some(())
    }

    fn optional(&mut self, body: NodeId, rounds: u32, greed: Greed) -> Option<()> {
        let mut splits = Vec::new();
        for _ in 0..rounds {
            splits.push(self.push(Op::Done)?);
            self.guarded(body)?;
        }
        let end = self.here();
        splits.into_iter().for_each(|split| self.patch(split, branch(greed, split + 1, end)));
        Some(())
    }

    /// A round of a repetition; rounds that consume nothing end it.
    fn guarded(&mut self, body: NodeId) -> Option<()> {
        if !self.ast.nullable(body) {
            return self.node(body);
        }
        let register = self.program.n_registers;
        self.program.n_registers += 1;
        self.push(Op::Mark(register))?;
        self.node(body)?;
        self.push(Op::Progress(register))?;
        Some(())
    }
}

fn branch(greed: Greed, round: usize, exit: usize) -> Op {
    match greed {
        Greed::Lazy => Op::Split(exit, round),
        Greed::Greedy | Greed::Possessive => Op::Split(round, exit),
    }
}
