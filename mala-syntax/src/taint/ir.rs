//! The small language that every supported language is lowered to. Data flow is followed over it, so
//! that what a language looks like and how values move are two separate questions.

use std::collections::HashMap;
use std::rc::Rc;

/// A name, as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Sym(pub(crate) u32);

/// A variable: one declaration, whatever it is called elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct VarId(pub(crate) u32);

/// An expression in `Program::expressions`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ExprId(pub(crate) u32);

/// A function in `Program::functions`; the file itself is the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FunctionId(pub(crate) u32);

/// Names and the numbers that stand for them.
#[derive(Default)]
pub(crate) struct Names {
    texts: Vec<Rc<str>>,
    numbers: HashMap<Rc<str>, Sym>,
}

impl Names {
    pub(crate) fn intern(&mut self, text: &str) -> Sym {
        if let Some(sym) = self.numbers.get(text) {
            return *sym;
        }
        let sym = Sym(number(self.texts.len()));
        let text: Rc<str> = Rc::from(text);
        self.texts.push(Rc::clone(&text));
        self.numbers.insert(text, sym);
        sym
    }

    pub(crate) fn text(&self, sym: Sym) -> &str {
        self.texts.get(sym.0 as usize).map_or("", |text| text)
    }
}

/// Where a piece of a program is: bytes and 0-based rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Place {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) first_row: u32,
    pub(crate) last_row: u32,
}

/// A whole file.
#[derive(Default)]
pub(crate) struct Program {
    pub(crate) names: Names,
    pub(crate) expressions: Vec<Node>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) functions: Vec<Function>,
}

/// An expression and where it is.
pub(crate) struct Node {
    pub(crate) expression: Expression,
    pub(crate) place: Place,
}

/// A declared variable.
pub(crate) struct Variable {
    pub(crate) name: Sym,
    pub(crate) owner: FunctionId,
}

/// A function, a method, or the file's own statements.
#[derive(Default)]
pub(crate) struct Function {
    pub(crate) name: Option<Sym>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Vec<Statement>,
    pub(crate) place: Place,
    /// The variable that stands for all arguments, where the language has one.
    pub(crate) all_arguments: Option<VarId>,
    /// The instance that a method works on: one variable for a whole class.
    pub(crate) receiver: Option<VarId>,
    /// Decorators or annotations.
    pub(crate) decorators: Vec<ExprId>,
    /// Whether the file offers it to others by its own syntax (Go's capital letters, Java's `public`).
    pub(crate) offered: bool,
    pub(crate) inside: Option<FunctionId>,
}

/// A parameter.
pub(crate) struct Parameter {
    pub(crate) place: Place,
    pub(crate) pattern: Pattern,
    pub(crate) name: Option<Sym>,
    pub(crate) default: Option<ExprId>,
    /// The declared type, as a path of names.
    pub(crate) declared: Option<ExprId>,
    pub(crate) annotations: Vec<Sym>,
    pub(crate) rest: bool,
}

/// What a value is bound to.
#[derive(Clone)]
pub(crate) enum Pattern {
    Variable(VarId),
    /// A field or an element of something.
    Target(ExprId),
    Fields(Vec<FieldPattern>),
    Elements(Vec<Pattern>),
    Rest(Box<Pattern>),
    /// A pattern with a value for when there is none.
    Default(Box<Pattern>, ExprId),
    Ignore,
}

/// One field of a destructured object.
#[derive(Clone)]
pub(crate) struct FieldPattern {
    pub(crate) name: Option<Sym>,
    pub(crate) pattern: Pattern,
}

/// An argument of a call or an item of a list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Argument {
    pub(crate) value: ExprId,
    pub(crate) name: Option<Sym>,
    pub(crate) spread: bool,
}

/// How two values are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Arithmetic,
    Remainder,
    Divide,
    Equal,
    NotEqual,
    Less,
    Greater,
    In,
    NotIn,
    InstanceOf,
    And,
    Or,
    Coalesce,
}

/// The key of an entry of an object.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Key {
    Name(Sym),
    Computed(ExprId),
    Spread,
}

/// An expression.
pub(crate) enum Expression {
    Variable(VarId),
    /// A name that the file does not declare.
    Global(Sym),
    /// A module, as imported.
    Module(Rc<str>),
    Text(Rc<str>),
    Number(f64),
    Bool(bool),
    Null,
    Pattern(Rc<str>, Rc<str>),
    /// Pieces joined to one text.
    Join(Vec<ExprId>),
    /// A format text with what is put into it.
    Format(ExprId, Vec<Argument>),
    Binary(Operator, ExprId, ExprId),
    Not(ExprId),
    TypeOf(ExprId),
    Field(ExprId, Sym),
    Element(ExprId, ExprId),
    Call {
        callee: ExprId,
        arguments: Vec<Argument>,
        kind: CallKind,
    },
    Function(FunctionId),
    Class {
        instance: VarId,
        bases: Vec<ExprId>,
        members: Vec<Member>,
    },
    Object(Vec<(Key, ExprId)>),
    List(Vec<Argument>),
    Assign(Box<Pattern>, ExprId),
    /// `x += y` and its kin: joins texts.
    Append(Box<Pattern>, ExprId, ExprId),
    Choice(ExprId, ExprId, ExprId),
    /// What a loop in an expression gives.
    Comprehension(Box<Comprehension>),
    /// An element of markup with its attributes.
    Markup {
        tag: ExprId,
        attributes: Vec<(Option<Sym>, ExprId)>,
        children: Vec<ExprId>,
    },
    Yield(ExprId),
    Remove(ExprId),
    /// Parts that are looked at; the value is unknown.
    Opaque(Vec<ExprId>),
}

/// What a call is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallKind {
    Plain,
    /// `new X()`.
    Creation,
}

/// A member of a class.
pub(crate) struct Member {
    pub(crate) name: Sym,
    pub(crate) value: ExprId,
    pub(crate) constructor: bool,
}

/// `element for pattern in iterated if conditions`.
pub(crate) struct Comprehension {
    pub(crate) loops: Vec<(Pattern, ExprId)>,
    pub(crate) conditions: Vec<ExprId>,
    pub(crate) elements: Vec<ExprId>,
}

/// A statement.
pub(crate) enum Statement {
    Expression(ExprId),
    If(ExprId, Vec<Statement>, Vec<Statement>),
    Loop(Box<Loop>),
    Switch(ExprId, Vec<Case>),
    Try(Box<Try>),
    Return(Option<ExprId>),
    Throw(Option<ExprId>),
    Break,
    Continue,
    Assert(ExprId),
    Block(Vec<Statement>),
}

/// A loop of any kind.
pub(crate) struct Loop {
    /// What each turn is bound to, and from what.
    pub(crate) over: Option<(Pattern, ExprId, Over)>,
    pub(crate) condition: Option<ExprId>,
    pub(crate) update: Option<ExprId>,
    pub(crate) body: Vec<Statement>,
}

/// What a loop hands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    Elements,
    Keys,
}

/// One case of a switch; no values are the default.
pub(crate) struct Case {
    pub(crate) values: Vec<ExprId>,
    pub(crate) body: Vec<Statement>,
}

/// What happens after something was thrown.
pub(crate) struct Catch {
    pub(crate) caught: Option<Pattern>,
    pub(crate) place: Place,
    pub(crate) body: Vec<Statement>,
}

/// `try`, `catch`, `finally`.
pub(crate) struct Try {
    pub(crate) body: Vec<Statement>,
    pub(crate) catches: Vec<Catch>,
    pub(crate) finally: Vec<Statement>,
}

impl Program {
    pub(crate) fn node(&self, id: ExprId) -> &Node {
        &self.expressions[id.0 as usize]
    }

    pub(crate) fn expression(&self, id: ExprId) -> &Expression {
        &self.node(id).expression
    }

    pub(crate) fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    pub(crate) fn variable(&self, id: VarId) -> &Variable {
        &self.variables[id.0 as usize]
    }
}

/// A length as a number for an id.
pub(crate) fn number(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
