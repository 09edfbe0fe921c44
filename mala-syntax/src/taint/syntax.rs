//! One view of the syntax trees of all supported languages: the parts of expressions, statements,
//! functions and assignment targets that the engine needs.

mod javascript;
mod python;

use crate::source::Source;
use mala_domain::language::Language;
use tree_sitter::Node;

/// An argument of a call, an item of a list or an entry of an object.
#[derive(Debug, Clone)]
pub(super) struct ValuePart<'t> {
    pub(super) name: Option<String>,
    pub(super) value: Node<'t>,
    pub(super) is_spread: bool,
}

/// An expression.
#[derive(Debug)]
pub(super) enum ExpressionView<'t> {
    Name(&'t str),
    Constant(String),
    Module(String),
    /// Pieces that are joined to one text.
    Join(Vec<Node<'t>>),
    Field(Node<'t>, &'t str),
    Element(Node<'t>, Node<'t>),
    Call {
        callee: Node<'t>,
        arguments: Vec<ValuePart<'t>>,
    },
    Function,
    Class,
    Object(Vec<ValuePart<'t>>),
    List(Vec<ValuePart<'t>>),
    Assign {
        target: Node<'t>,
        value: Node<'t>,
        appends: bool,
    },
    /// One of several values; `condition` is tested first.
    Choice {
        condition: Option<Node<'t>>,
        values: Vec<Node<'t>>,
    },
    /// Loops inside an expression, and the value of each round.
    Comprehension {
        loops: Vec<(Node<'t>, Node<'t>)>,
        element: Node<'t>,
    },
    /// The same value in another notation.
    Same(Node<'t>),
    /// An element of markup.
    Markup {
        tag: &'t str,
        attributes: Vec<ValuePart<'t>>,
        children: Vec<Node<'t>>,
    },
    /// Parts that are evaluated; the result is unknown.
    Other(Vec<Node<'t>>),
}

/// The test of a condition.
#[derive(Debug)]
pub(super) enum ConditionView<'t> {
    Not(Node<'t>),
    And(Node<'t>, Node<'t>),
    Or(Node<'t>, Node<'t>),
    /// Two sides, and whether they are equal if the condition is true.
    Equal(Node<'t>, Node<'t>, bool),
    /// `x in y`, and whether it is true.
    Contains(Node<'t>, bool),
    Other,
}

/// A statement.
#[derive(Debug)]
pub(super) enum StatementView<'t> {
    Expressions(Vec<Node<'t>>),
    Bind(Vec<(Node<'t>, Option<Node<'t>>)>),
    If {
        condition: Node<'t>,
        then: Node<'t>,
        otherwise: Option<Node<'t>>,
    },
    Loop {
        over: Option<(Node<'t>, Node<'t>)>,
        parts: Vec<Node<'t>>,
        body: Option<Node<'t>>,
    },
    Switch {
        subject: Node<'t>,
        cases: Vec<Vec<Node<'t>>>,
    },
    Try {
        body: Option<Node<'t>>,
        handlers: Vec<Node<'t>>,
        finally: Option<Node<'t>>,
    },
    Return(Option<Node<'t>>),
    /// Leaves the block: `throw`, `break`, `continue`.
    Leave(Vec<Node<'t>>),
    Block(Vec<Node<'t>>),
    Declare {
        name: &'t str,
        definition: Node<'t>,
    },
    /// Local names and their paths.
    Import(Vec<(&'t str, String)>),
}

/// The target of a binding.
#[derive(Debug)]
pub(super) enum TargetView<'t> {
    Name(&'t str),
    Fields(Vec<(Option<&'t str>, Node<'t>)>),
    Items(Vec<Node<'t>>),
    Default(Node<'t>, Node<'t>),
    Rest(Node<'t>),
    /// A field or an element.
    Place,
    Nothing,
}

/// A parameter of a function.
#[derive(Debug)]
pub(super) struct ParameterView<'t> {
    pub(super) target: Node<'t>,
    pub(super) declared_type: Option<Node<'t>>,
    pub(super) default: Option<Node<'t>>,
    pub(super) is_rest: bool,
}

/// A function.
#[derive(Debug)]
pub(super) struct FunctionView<'t> {
    pub(super) parameters: Vec<ParameterView<'t>>,
    pub(super) decorators: Vec<Node<'t>>,
    pub(super) body: Node<'t>,
    /// Whether the body is the returned expression.
    pub(super) is_expression: bool,
}

/// A class.
#[derive(Debug)]
pub(super) struct ClassView<'t> {
    pub(super) bases: Vec<Node<'t>>,
    /// Methods with their decorators, and other statements.
    pub(super) methods: Vec<Node<'t>>,
    pub(super) others: Vec<Node<'t>>,
}

/// The tree of one file.
#[derive(Clone, Copy)]
pub(super) struct SyntaxView<'t> {
    source: &'t Source,
    is_python: bool,
}

impl<'t> SyntaxView<'t> {
    pub(super) fn new(source: &'t Source) -> Self {
        Self { source, is_python: source.language() == Language::Python }
    }

    pub(super) fn root(self) -> Node<'t> {
        self.source.tree().root_node()
    }

    pub(super) fn is_python(self) -> bool {
        self.is_python
    }

    pub(super) fn text(self, node: Node<'t>) -> &'t str {
        self.source.slice(node)
    }

    pub(super) fn expression(self, node: Node<'t>) -> ExpressionView<'t> {
        if self.is_python {
            python::expression(self, node)
        } else {
            javascript::expression(self, node)
        }
    }

    pub(super) fn condition(self, node: Node<'t>) -> ConditionView<'t> {
        if self.is_python {
            python::condition(self, node)
        } else {
            javascript::condition(self, node)
        }
    }

    pub(super) fn statement(self, node: Node<'t>) -> StatementView<'t> {
        if self.is_python {
            python::statement(self, node)
        } else {
            javascript::statement(self, node)
        }
    }

    pub(super) fn target(self, node: Node<'t>) -> TargetView<'t> {
        if self.is_python { python::target(self, node) } else { javascript::target(self, node) }
    }

    pub(super) fn function(self, node: Node<'t>) -> Option<FunctionView<'t>> {
        if self.is_python { python::function(self, node) } else { javascript::function(self, node) }
    }

    pub(super) fn class(self, node: Node<'t>) -> ClassView<'t> {
        if self.is_python { python::class(self, node) } else { javascript::class(self, node) }
    }

    /// Whether an expression is a name or a chain of fields: evaluating it has no side effects.
    pub(super) fn is_plain(self, node: Node<'t>) -> bool {
        match self.expression(node) {
            ExpressionView::Name(_) | ExpressionView::Constant(_) => true,
            ExpressionView::Field(object, _) | ExpressionView::Same(object) => {
                self.is_plain(object)
            }
            _ => false,
        }
    }

    /// The last name of an expression such as `this.db`, which hints at its type.
    pub(super) fn written_name(self, node: Node<'t>) -> Option<&'t str> {
        match self.expression(node) {
            ExpressionView::Name(name) | ExpressionView::Field(_, name) => Some(name),
            ExpressionView::Same(inner) => self.written_name(inner),
            ExpressionView::Call { callee, .. } => self.written_name(callee),
            _ => None,
        }
    }
}

/// The children that are not comments.
fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| child.kind() != "comment").collect()
}

fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}
