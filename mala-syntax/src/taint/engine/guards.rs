//! Conditions that check a value, so that it is harmless in their branch.

use super::Engine;
use super::calls::CallSite;
use crate::taint::model::PathRole;
use crate::taint::syntax::{ConditionView, ExpressionView};
use crate::taint::value::Bits;
use tree_sitter::Node;

impl<'t> Engine<'t, '_> {
    /// Records the values that are checked if a condition is `holds`.
    pub(super) fn check(&mut self, condition: Node<'t>, holds: bool) {
        match self.view.condition(condition) {
            ConditionView::Not(inner) => self.check(inner, !holds),
            ConditionView::And(left, right) if holds => {
                self.check(left, true);
                self.check(right, true);
            }
            ConditionView::Or(left, right) if !holds => {
                self.check(left, false);
                self.check(right, false);
            }
            ConditionView::Equal(left, right, is_equal) if is_equal == holds => {
                for (side, other) in [(left, right), (right, left)] {
                    if !self.view.is_plain(other) || self.evaluate(other).taints.is_empty() {
                        self.clear_place(side, Bits::MAX);
                    }
                }
            }
            // `list.indexOf(x) === -1` is the negation of `list.includes(x)`.
            ConditionView::Equal(left, right, is_equal) if self.view.text(right) == "-1" => {
                self.check_call(left, is_equal != holds);
            }
            ConditionView::Contains(value, is_inside) if is_inside == holds => {
                self.clear_place(value, Bits::MAX);
            }
            ConditionView::Other => self.check_call(condition, holds),
            _ => {}
        }
    }

    /// A call of a guard, such as `allowed.includes(x)`.
    fn check_call(&mut self, node: Node<'t>, holds: bool) {
        let node = match self.view.expression(node) {
            ExpressionView::Same(inner) => inner,
            _ => node,
        };
        let ExpressionView::Call { callee, arguments } = self.view.expression(node) else { return };
        if !self.view.is_plain(callee) {
            return;
        }
        // The arguments were evaluated with the condition: only their positions are needed here.
        let site: CallSite<'t> = self.unevaluated_site(node, callee, &arguments);
        let model = self.model;
        for role in self.all_roles(&site.paths) {
            let PathRole::Guard(at) = role else { continue };
            let Some(guard) = model.guards.get(at) else { continue };
            if guard.when_false == holds {
                continue;
            }
            let checked: Vec<Node<'t>> = guard
                .selectors
                .iter()
                .flat_map(|it| site.selected(it))
                .map(|(_, node)| node)
                .collect();
            checked.into_iter().for_each(|node| self.clear_place(node, guard.clears));
        }
    }

    fn clear_place(&mut self, node: Node<'t>, classes: Bits) {
        match self.view.expression(node) {
            ExpressionView::Same(inner) => self.clear_place(inner, classes),
            ExpressionView::Name(_) | ExpressionView::Field(..) | ExpressionView::Element(..) => {
                let text = self.view.text(node);
                self.frame().checked.push((text, classes));
            }
            // `allowed.includes(x.toLowerCase())` checks `x`.
            ExpressionView::Call { callee, .. } => {
                if let ExpressionView::Field(object, _) = self.view.expression(callee) {
                    self.clear_place(object, classes);
                }
            }
            _ => {}
        }
    }
}
