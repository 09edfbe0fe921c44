//! The walk over a tree: collects patterns, the names they are bound to, and the calls that use
//! these names.

use std::collections::HashMap;
use std::ops::Range;

use mala_domain::language::Language;
use tree_sitter::Node;

use super::constant::Constant;
use super::decode::decode;
use super::tree::{assignment, is_transparent, preorder, scope_of, unwrapped};
use super::{Anchoring, Occurrence, PatternUse, Scanned};
use crate::regex_check::{Flags, Flavour};
use crate::source::Source;

/// Names that are followed one after the other to reach a string.
const HOPS: usize = 16;
/// Operands of one concatenation.
const OPERANDS: usize = 200;

/// What a language does at each node.
pub(super) type Visit = for<'t> fn(&mut Scan<'t>, Node<'t>);

/// A walk over one file.
pub(super) struct Scan<'t> {
    source: &'t Source,
    /// The one value that a name is given in this file, if there is only one.
    values: HashMap<&'t str, Option<Node<'t>>>,
    found: Vec<Found<'t>>,
    /// Uses of an expression where it stands, by its node.
    direct: HashMap<usize, PatternUse>,
    named: Vec<NamedUse<'t>>,
    identities: Vec<Range<usize>>,
    /// What the language's visitor remembers: imported names and what they stand for.
    pub(super) imports: HashMap<&'t str, &'t str>,
}

/// A pattern with the expression that yields it.
struct Found<'t> {
    constant: Constant,
    flavour: Flavour,
    flags: Flags,
    binding: Option<Binding<'t>>,
    uses: Vec<PatternUse>,
}

/// A name for a pattern and where it is known.
struct Binding<'t> {
    name: &'t str,
    scope: Range<usize>,
}

struct NamedUse<'t> {
    name: &'t str,
    use_: PatternUse,
}

impl<'t> Scan<'t> {
    /// Walks the file and returns what it finds.
    pub(super) fn of(source: &'t Source, visit: Visit) -> Scanned {
        let mut scan = Self {
            source,
            values: HashMap::new(),
            found: Vec::new(),
            direct: HashMap::new(),
            named: Vec::new(),
            identities: Vec::new(),
            imports: HashMap::new(),
        };
        let nodes = preorder(source.tree().root_node());
        nodes.iter().for_each(|node| scan.remember_value(*node));
        nodes.iter().for_each(|node| visit(&mut scan, *node));
        scan.finish()
    }

    pub(super) fn language(&self) -> Language {
        self.source.language()
    }

    pub(super) fn text(&self, node: Node<'t>) -> &'t str {
        self.source.slice(node)
    }

    /// The text of any node.
    pub(super) fn text_of(&self, node: Node<'_>) -> &str {
        self.source.slice(node)
    }

    /// A pattern that the expression `holder` yields, or that it applies right there.
    pub(super) fn pattern(
        &mut self,
        constant: Constant,
        flavour: Flavour,
        flags: Flags,
        holder: Node<'t>,
    ) {
        let uses: Vec<PatternUse> = self.direct.remove(&holder.id()).into_iter().collect();
        let binding = if uses.is_empty() { self.binding(holder) } else { None };
        self.found.push(Found { constant, flavour, flags, binding, uses });
    }

    /// The pattern that `expression` yields, or that is bound to its name, is used.
    pub(super) fn used(&mut self, expression: Node<'t>, use_: PatternUse) {
        match self.name_of(expression) {
            Some(name) => self.named.push(NamedUse { name, use_ }),
            None => {
                self.direct.insert(unwrapped(expression).id(), use_);
            }
        }
    }

    /// The pattern that is found next at `holder` is used in place.
    pub(super) fn used_here(&mut self, holder: Node<'t>, use_: PatternUse) {
        self.direct.insert(holder.id(), use_);
    }

    /// A call that replaces a plain string.
    pub(super) fn string_replaced(&mut self, call: Node<'t>, by: (Node<'t>, Node<'t>)) {
        if let (Some(from), Some(to)) = (self.constant(by.0), self.constant(by.1))
            && from.text == to.text
        {
            self.identities.push(call.byte_range());
        }
    }

    /// The text that an argument is known to be, if it stands for itself as a replacement.
    pub(super) fn replacement(&self, argument: Option<Node<'t>>) -> Option<String> {
        let text = self.constant(argument?)?.text;
        // Groups are referred to by `$1` and by `\\1`.
        let refers = match self.language() {
            Language::Python => text.contains('\\'),
            _ => text.contains('$'),
        };
        (!refers).then_some(text)
    }

    /// The last word of a name such as `x`, `this.x` or `a.b.x`.
    pub(super) fn name_of(&self, node: Node<'t>) -> Option<&'t str> {
        let node = unwrapped(node);
        let word = match node.kind() {
            "identifier" => Some(node),
            "member_expression" => node.child_by_field_name("property"),
            "attribute" => node.child_by_field_name("attribute"),
            "field_access" | "selector_expression" | "field_expression" => {
                node.child_by_field_name("field")
            }
            _ => None,
        };
        word.map(|word| self.text(word))
    }

    /// The string that an expression is known to be.
    pub(super) fn constant(&self, node: Node<'t>) -> Option<Constant> {
        self.constant_by(node, HOPS)
    }

    fn constant_by(&self, node: Node<'t>, hops: usize) -> Option<Constant> {
        let hops = hops.checked_sub(1)?;
        let node = unwrapped(node);
        match node.kind() {
            "string"
            | "template_string"
            | "string_literal"
            | "raw_string_literal"
            | "interpreted_string_literal" => {
                let pieces = ["interpolation", "template_substitution", "string_interpolation"];
                let mut cursor = node.walk();
                if node.named_children(&mut cursor).any(|child| pieces.contains(&child.kind())) {
                    return None;
                }
                decode(self.language(), self.text(node), node.start_byte())
            }
            "concatenated_string" => {
                let mut cursor = node.walk();
                let parts = node.named_children(&mut cursor).filter(|c| c.kind() == "string");
                self.joined(parts.collect(), node, hops)
            }
            "binary_expression" | "binary_operator" => {
                self.joined(self.operands(node)?, node, hops)
            }
            "identifier" => {
                let value = self.values.get(self.text(node)).copied().flatten()?;
                self.constant_by(value, hops)
            }
            "expression_list" if node.named_child_count() == 1 => {
                self.constant_by(node.named_child(0)?, hops)
            }
            _ => None,
        }
    }

    fn joined(&self, parts: Vec<Node<'t>>, whole: Node<'t>, hops: usize) -> Option<Constant> {
        let mut all = Constant::new(whole.byte_range());
        for part in parts {
            all.append(self.constant_by(part, hops)?);
        }
        Some(all)
    }

    /// The operands of a chain of `+`, left to right.
    fn operands(&self, node: Node<'t>) -> Option<Vec<Node<'t>>> {
        let mut operands = Vec::new();
        let mut left = node;
        while matches!(left.kind(), "binary_expression" | "binary_operator") {
            let operator = left.child_by_field_name("operator")?;
            if self.text(operator) != "+" || operands.len() >= OPERANDS {
                return None;
            }
            operands.push(left.child_by_field_name("right")?);
            left = unwrapped(left.child_by_field_name("left")?);
        }
        operands.push(left);
        operands.reverse();
        Some(operands)
    }

    /// Notes the value that a declaration or an assignment gives to a name.
    fn remember_value(&mut self, node: Node<'t>) {
        let Some((name, value)) = assignment(node) else { return };
        if name.kind() != "identifier" {
            return;
        }
        let known = self.values.entry(self.text(name)).or_insert(value);
        if *known != value {
            *known = None;
        }
    }

    /// The name that the value of `holder` gets.
    fn binding(&self, holder: Node<'t>) -> Option<Binding<'t>> {
        let mut node = holder;
        while let Some(parent) = node.parent() {
            if let Some((target, value)) = assignment(parent) {
                value?;
                let name = self.name_of(target)?;
                let local = target.kind() == "identifier";
                let scope = if local { scope_of(parent) } else { 0..self.source.text().len() };
                return Some(Binding { name, scope });
            }
            match parent.kind() {
                "pair" | "field_definition" | "public_field_definition" => {
                    let key = parent.child_by_field_name("key");
                    let key = key.or(parent.child_by_field_name("property"));
                    let key = key.or(parent.child_by_field_name("name"))?;
                    let name = self.text(key).trim_matches(['"', '\'']);
                    return Some(Binding { name, scope: 0..self.source.text().len() });
                }
                kind if is_transparent(kind) => node = parent,
                _ => return None,
            }
        }
        None
    }

    fn finish(mut self) -> Scanned {
        for named in std::mem::take(&mut self.named) {
            let at = named.use_.call.start;
            let fits = |found: &&mut Found<'_>| {
                found.binding.as_ref().is_some_and(|binding| {
                    binding.name == named.name && binding.scope.contains(&at)
                })
            };
            // The innermost scope wins, and in it the last binding before the use.
            let best = self.found.iter_mut().filter(fits).min_by_key(|found| {
                let scope = found.binding.as_ref().map_or(0, |binding| binding.scope.len());
                let start = found.constant.bytes.start;
                (scope, start > at, start.abs_diff(at))
            });
            if let Some(found) = best {
                found.uses.push(named.use_);
            }
        }
        let mut occurrences: Vec<Occurrence> =
            self.found.into_iter().map(|found| found.into_occurrence()).collect();
        occurrences.sort_by_key(|occurrence| occurrence.bytes.start);
        occurrences.dedup_by(|later, kept| {
            let same = later.bytes == kept.bytes && later.flags == kept.flags;
            if same {
                kept.uses.append(&mut later.uses);
            }
            same
        });
        Scanned { occurrences, identities: self.identities }
    }
}

impl Found<'_> {
    fn into_occurrence(self) -> Occurrence {
        let mut flags = self.flags;
        if let Some(first) = self.uses.first()
            && self.uses.iter().all(|use_| use_.anchoring == first.anchoring)
            && flags.anchoring == Anchoring::Search
        {
            flags.anchoring = first.anchoring;
        }
        Occurrence {
            pattern: self.constant.text.clone(),
            flavour: self.flavour,
            flags,
            bytes: self.constant.bytes.clone(),
            uses: self.uses,
            lost_escapes: self.constant.lost.clone(),
            constant: self.constant,
        }
    }
}
