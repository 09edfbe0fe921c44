//! The types of operators.

use super::Types;
use crate::rules::ecmascript::program::ScriptFile;
use tree_sitter::Node;

impl<'t> ScriptFile<'t> {
    /// The operator of an expression.
    pub(in crate::rules::ecmascript) fn operator(&self, node: Node<'t>) -> &'t str {
        node.child_by_field_name("operator").map_or("", |operator| self.text(operator))
    }

    pub(super) fn types_of_unary(&self, node: Node<'t>) -> Types {
        match self.operator(node) {
            "typeof" => Types::STRING,
            "!" | "delete" => Types::BOOLEAN,
            "void" => Types::UNDEFINED,
            "+" => Types::NUMBER,
            "-" | "~" => Types::NUMERIC,
            _ => Types::ANY,
        }
    }

    pub(super) fn types_of_binary(&self, node: Node<'t>, depth: usize) -> Types {
        let side = |field| {
            node.child_by_field_name(field)
                .map_or(Types::ANY, |side| self.types_within(side, depth - 1))
        };
        let falsy = Types::NOTHING | Types::BOOLEAN | Types::NUMERIC | Types::STRING;
        match self.operator(node) {
            "==" | "!=" | "===" | "!==" | "<" | ">" | "<=" | ">=" | "in" | "instanceof" => {
                Types::BOOLEAN
            }
            "+" | "+=" => sum(side("left"), side("right")),
            "-" | "*" | "/" | "%" | "**" | "<<" | ">>" | "&" | "|" | "^" | "-=" | "*=" | "/="
            | "%=" | "**=" | "<<=" | ">>=" | "&=" | "|=" | "^=" => {
                let both = side("left") | side("right");
                if both.apart(Types::BIGINT) { Types::NUMBER } else { Types::NUMERIC }
            }
            ">>>" | ">>>=" => Types::NUMBER,
            "&&" | "&&=" => (side("left") & falsy) | side("right"),
            "||" | "||=" | "??" | "??=" => side("left").without(Types::NOTHING) | side("right"),
            _ => Types::ANY,
        }
    }
}

/// `+` adds numbers and concatenates everything else.
fn sum(left: Types, right: Types) -> Types {
    let joins = Types::STRING | Types::OBJECT | Types::FUNCTION | Types::REGEXP | Types::DATE;
    if left.within(Types::STRING) || right.within(Types::STRING) {
        return Types::STRING;
    }
    if left.apart(joins) && right.apart(joins) {
        let both = left | right;
        return if both.apart(Types::BIGINT) { Types::NUMBER } else { Types::NUMERIC };
    }
    Types::STRING | Types::NUMERIC
}
