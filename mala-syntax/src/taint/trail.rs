//! Where tainted values come from and which way they go, so that a report can tell.

use super::ir::{Place, number};
use super::value::{Bits, Taint};
use std::collections::HashMap;

/// A place where a value comes from outside.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source {
    pub(crate) place: Place,
}

/// A place that a value passes through.
#[derive(Debug, Clone, Copy)]
struct Step {
    place: Place,
    previous: u32,
    length: u8,
}

/// Longer ways are told by their beginning and their end.
const MAX_LENGTH: u8 = 10;
const MAX_STEPS: usize = 100_000;

/// All sources and steps met so far. Step 0 is the beginning of every way.
pub(crate) struct Trail {
    sources: Vec<Source>,
    by_place: HashMap<(u32, u32), u32>,
    steps: Vec<Step>,
    known_steps: HashMap<(u32, u32), u32>,
}

impl Default for Trail {
    fn default() -> Self {
        let start = Step { place: Place::default(), previous: 0, length: 0 };
        Self {
            sources: Vec::new(),
            by_place: HashMap::new(),
            steps: vec![start],
            known_steps: HashMap::new(),
        }
    }
}

impl Trail {
    /// The taint of a value that comes from outside here.
    pub(crate) fn start(&mut self, place: Place, kinds: Bits) -> Taint {
        let next = number(self.sources.len());
        let source = *self.by_place.entry((place.start, place.end)).or_insert(next);
        if source == next {
            self.sources.push(Source { place });
        }
        Taint { source, kinds, clean: 0, step: 0, chose: false }
    }

    /// The same taint, one step on.
    pub(crate) fn pass(&mut self, taint: Taint, place: Place) -> Taint {
        let previous = self.steps.get(taint.step as usize).copied();
        let length = previous.map_or(0, |step| step.length);
        let repeated = previous.is_some_and(|step| step.place == place);
        if length >= MAX_LENGTH || self.steps.len() >= MAX_STEPS || repeated {
            return taint;
        }
        let next = number(self.steps.len());
        let step = *self.known_steps.entry((taint.step, place.start)).or_insert(next);
        if step == next {
            self.steps.push(Step { place, previous: taint.step, length: length + 1 });
        }
        Taint { step, ..taint }
    }

    pub(crate) fn source(&self, taint: Taint) -> Option<Source> {
        self.sources.get(taint.source as usize).copied()
    }

    /// The places on the way, the first one first.
    pub(crate) fn way(&self, taint: Taint) -> Vec<Place> {
        let mut way = Vec::new();
        let mut current = taint.step;
        while let Some(step) = self.steps.get(current as usize).filter(|_| current != 0) {
            way.push(step.place);
            current = step.previous;
        }
        way.reverse();
        way
    }
}
