//! The values of variables at one point of the program. Branches are layers on top of what was
//! before, so that joining them costs what they changed and not what there is.

use super::ir::VarId;
use super::value::Value;
use std::collections::HashMap;

/// What one branch changed.
pub(crate) type Changes = HashMap<VarId, Value>;

/// Values by variable.
#[derive(Default)]
pub(crate) struct State {
    bottom: Changes,
    layers: Vec<Changes>,
}

impl State {
    pub(crate) fn get(&self, variable: VarId) -> Option<&Value> {
        let in_layers = self.layers.iter().rev().find_map(|layer| layer.get(&variable));
        in_layers.or_else(|| self.bottom.get(&variable))
    }

    pub(crate) fn set(&mut self, variable: VarId, value: Value) {
        self.layers.last_mut().unwrap_or(&mut self.bottom).insert(variable, value);
    }

    /// How many layers there are.
    pub(crate) fn depth(&self) -> usize {
        self.layers.len()
    }

    pub(crate) fn push(&mut self) {
        self.layers.push(Changes::new());
    }

    pub(crate) fn pop(&mut self) -> Changes {
        self.layers.pop().unwrap_or_default()
    }

    /// What the layers from `depth` on change together.
    pub(crate) fn changes_since(&self, depth: usize) -> Changes {
        let mut all = Changes::new();
        for layer in self.layers.iter().skip(depth) {
            all.extend(layer.iter().map(|(variable, value)| (*variable, value.clone())));
        }
        all
    }

    pub(crate) fn apply(&mut self, changes: Changes) {
        for (variable, value) in changes {
            self.set(variable, value);
        }
    }

    /// Goes on with what holds after either of the branches.
    pub(crate) fn merge(&mut self, mut branches: Vec<Changes>) {
        let Some(first) = branches.pop() else { return };
        if branches.is_empty() {
            self.apply(first);
            return;
        }
        let mut variables: Vec<VarId> = branches.iter().flat_map(HashMap::keys).copied().collect();
        variables.extend(first.keys());
        variables.sort_unstable();
        variables.dedup();
        for variable in variables {
            let before = self.get(variable).cloned().unwrap_or_default();
            let mut joined = first.get(&variable).unwrap_or(&before).clone();
            for branch in &branches {
                joined = joined.join(branch.get(&variable).unwrap_or(&before));
            }
            self.set(variable, joined);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::value::Known;
    use super::*;

    #[test]
    fn branches_join_what_either_leaves() {
        let variable = VarId(1);
        let mut state = State::default();
        state.set(variable, Value::of_known(Known::Bool(true)));
        state.push();
        state.set(variable, Value::of_known(Known::Texts(vec!["a".into()])));
        let then = state.pop();
        state.merge(vec![then.clone(), then.clone()]);
        assert_eq!(state.get(variable).and_then(Value::text).map(|text| &**text), Some("a"));
        state.merge(vec![then, Changes::from([(variable, Value::of_known(Known::Null))])]);
        assert_eq!(state.get(variable).map(Value::known), Some(&Known::Nothing));
    }
}
