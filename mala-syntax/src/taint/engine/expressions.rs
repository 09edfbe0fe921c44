//! Evaluates expressions to abstract values.

use super::Engine;
use crate::taint::model::PathRole;
use crate::taint::syntax::{ExpressionView, ValuePart};
use crate::taint::value::{AbstractValue, Closure};
use tree_sitter::Node;

impl<'t> Engine<'t, '_> {
    /// The value of an expression, without taint that a condition has checked.
    pub(super) fn evaluate(&mut self, node: Node<'t>) -> AbstractValue<'t> {
        self.n_steps += 1;
        if self.is_exhausted() {
            return AbstractValue::default();
        }
        self.depth += 1;
        let view = self.view.expression(node);
        let is_place = matches!(
            view,
            ExpressionView::Name(_) | ExpressionView::Field(..) | ExpressionView::Element(..)
        );
        let mut value = self.evaluate_view(view, node);
        self.depth -= 1;
        if is_place && !value.taints.is_empty() {
            let text = self.view.text(node);
            let checked = self.frame().checked.iter();
            let cleared = checked.filter(|(known, _)| *known == text).map(|(_, bits)| *bits);
            let cleared = cleared.fold(0, |all, bits| all | bits);
            value.clear(cleared);
        }
        value
    }

    fn evaluate_view(&mut self, view: ExpressionView<'t>, node: Node<'t>) -> AbstractValue<'t> {
        match view {
            ExpressionView::Name(name) => self.variable(name, node),
            ExpressionView::Constant(text) => AbstractValue::of_text(&text),
            ExpressionView::Module(path) => self.reached(vec![path.into()], node),
            ExpressionView::Join(pieces) => self.joined(&pieces),
            ExpressionView::Field(object, name) => {
                let holder = self.evaluate(object);
                self.field(&holder, object, name, node)
            }
            ExpressionView::Element(object, index) => {
                let holder = self.evaluate(object);
                self.element(&holder, object, index, node)
            }
            ExpressionView::Call { callee, arguments } => self.call(node, callee, &arguments),
            ExpressionView::Function => {
                let closure = Closure { node, frame: self.current };
                self.pending.push(closure);
                AbstractValue { closure: Some(closure), ..AbstractValue::default() }
            }
            ExpressionView::Class => self.class(node),
            ExpressionView::Object(entries) => self.object(&entries),
            ExpressionView::List(items) => self.list(&items),
            ExpressionView::Assign { target, value, appends } => {
                let new = match appends {
                    true => self.joined(&[target, value]),
                    false => self.evaluate(value),
                };
                self.assign(target, new.clone(), node);
                new
            }
            ExpressionView::Choice { condition, values } => self.choice(condition, &values),
            ExpressionView::Comprehension { loops, element } => {
                for (target, iterated) in loops {
                    let items = self.evaluate(iterated);
                    self.assign(target, AbstractValue::of_taints(items.deep_taints()), iterated);
                }
                let element = self.evaluate(element);
                AbstractValue::of_taints(element.deep_taints())
            }
            ExpressionView::Same(inner) => self.evaluate(inner),
            ExpressionView::Markup { tag, attributes, children } => {
                for attribute in attributes {
                    let value = self.evaluate(attribute.value);
                    let name = attribute.name.unwrap_or_default();
                    self.written(&[format!("tag:{tag}.{name}").into()], &value, attribute.value);
                }
                children.into_iter().for_each(|child| drop(self.evaluate(child)));
                AbstractValue::default()
            }
            ExpressionView::Other(parts) => {
                parts.into_iter().for_each(|part| drop(self.evaluate(part)));
                AbstractValue::default()
            }
        }
    }

    /// The value of a variable, or of a global with that name.
    fn variable(&mut self, name: &'t str, node: Node<'t>) -> AbstractValue<'t> {
        let mut at = Some(self.current);
        while let Some(frame) = at {
            if let Some(value) = self.frames[frame].variables.get(name) {
                return value.clone();
            }
            at = self.frames[frame].parent;
        }
        self.reached(vec![name.into()], node)
    }

    /// Pieces joined to one text. A piece decides the beginning when all before it is constant and
    /// ends before a host name is complete.
    fn joined(&mut self, pieces: &[Node<'t>]) -> AbstractValue<'t> {
        let mut joined = AbstractValue::default();
        let mut before = Some(String::new());
        for piece in pieces {
            let piece = self.evaluate(*piece);
            let mut taints = piece.deep_taints();
            let at_start = before.as_deref().is_some_and(leaves_start_open);
            taints.iter_mut().for_each(|taint| taint.at_start &= at_start);
            joined.add_taints(&taints);
            before = match (before, &piece.text) {
                (Some(before), Some(text)) => Some(before + text),
                _ => None,
            };
        }
        joined.text = before.map(Into::into);
        joined
    }

    /// A field of a value.
    pub(super) fn field(
        &mut self,
        holder: &AbstractValue<'t>,
        object: Node<'t>,
        name: &str,
        node: Node<'t>,
    ) -> AbstractValue<'t> {
        if let Some(known) = holder.field(name) {
            return known.clone();
        }
        let paths = holder.extended(&format!(".{name}"));
        let mut value = self.reached(paths, node);
        if !self.model.safe_fields.iter().any(|safe| safe == name) {
            let mut taints = holder.taints.clone();
            for taint in &mut taints {
                taint.cleared &= !taint.clean_as_whole;
                taint.clean_as_whole = 0;
                // The source is the longest chain of fields, such as `req.query.name`.
                if taint.source == object.byte_range() {
                    taint.source = node.byte_range();
                }
            }
            if value.taints.is_empty() {
                value.add_taints(&taints);
            }
        }
        for role in self.all_roles(&value.paths) {
            if let PathRole::CleanField(clears) = role {
                value.clear(clears);
            }
        }
        value
    }

    fn element(
        &mut self,
        holder: &AbstractValue<'t>,
        object: Node<'t>,
        index: Node<'t>,
        node: Node<'t>,
    ) -> AbstractValue<'t> {
        let at = self.evaluate(index);
        let name = at.text.clone();
        if let (None, Some(fields)) = (&name, &holder.fields) {
            let all = fields.values().fold(AbstractValue::default(), |all, field| all.or(field));
            return AbstractValue { text: None, ..all };
        }
        let name = name.as_deref().unwrap_or("[]");
        let mut value = self.field(holder, object, name, node);
        for path in holder.extended(".[]") {
            for role in self.roles_of(&path).iter() {
                if let PathRole::Propagator(kinds) = role {
                    let taints = at.taints.iter().filter(|taint| taint.kinds & kinds != 0).cloned();
                    value.add_taints(&taints.collect::<Vec<_>>());
                }
            }
        }
        value
    }

    fn object(&mut self, entries: &[ValuePart<'t>]) -> AbstractValue<'t> {
        let mut object = AbstractValue::default();
        for entry in entries {
            let value = self.evaluate(entry.value);
            match &entry.name {
                Some(name) if !entry.is_spread => {
                    self.named(name, &value, entry.value);
                    object.set_field(name, value);
                }
                _ => object = object.or(&AbstractValue { paths: Vec::new(), ..value }),
            }
        }
        object
    }

    fn list(&mut self, items: &[ValuePart<'t>]) -> AbstractValue<'t> {
        let mut list = AbstractValue::default();
        for (at, item) in items.iter().enumerate() {
            let value = self.evaluate(item.value);
            if item.is_spread {
                list.add_taints(&value.deep_taints());
            } else {
                list.set_field(&at.to_string(), value);
            }
        }
        list
    }

    fn choice(&mut self, condition: Option<Node<'t>>, values: &[Node<'t>]) -> AbstractValue<'t> {
        if let Some(condition) = condition {
            self.evaluate(condition);
        }
        let n_checked = self.frame().checked.len();
        let mut chosen: Option<AbstractValue<'t>> = None;
        for (at, value) in values.iter().enumerate() {
            if let Some(condition) = condition {
                self.check(condition, at == 0);
            }
            let value = self.evaluate(*value);
            self.frame().checked.truncate(n_checked);
            chosen = Some(match chosen {
                Some(chosen) => chosen.or(&value),
                None => value,
            });
        }
        chosen.unwrap_or_default()
    }
}

/// Whether the text after a prefix still decides where a URL or a path leads.
fn leaves_start_open(before: &str) -> bool {
    let after_scheme = before.split_once("//").map_or(before, |(_, host)| host);
    before.is_empty()
        || before == "/"
        || (before.contains("//") && !after_scheme.contains(['/', '?', '#']))
}
