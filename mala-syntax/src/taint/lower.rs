//! Turns a syntax tree into the small language of `ir`. Each language has its own reader below; what
//! they share is here: ids, scopes, and the limits that keep hostile files cheap.

mod javascript;
mod python;

use super::ir::{
    Argument, ExprId, Expression, Function, FunctionId, Node, Operator, Pattern, Place, Program,
    Statement, Sym, VarId, Variable, number,
};
use crate::source::Source;
use mala_domain::language::Language;
use std::collections::HashMap;
use std::rc::Rc;

type Tree<'t> = tree_sitter::Node<'t>;

/// Deeper nesting than this is not looked at: no person writes it, and reading it recursively would
/// need an unbounded stack.
const MAX_DEPTH: u32 = 100;
/// Programs are cut off after this many expressions.
const MAX_EXPRESSIONS: usize = 400_000;

/// The program of a file; `None` when its language has no reader.
pub(crate) fn lower(source: &Source) -> Option<Program> {
    let read: fn(&mut Builder<'_>, Tree<'_>) = match source.language() {
        Language::JavaScript | Language::TypeScript | Language::Tsx => javascript::read,
        Language::Python => python::read,
        _ => return None,
    };
    let mut builder = Builder::new(source.text());
    read(&mut builder, source.tree().root_node());
    Some(builder.program)
}

/// Names visible at one level.
struct Scope {
    names: HashMap<Sym, VarId>,
    function: FunctionId,
}

/// A program in the making.
struct Builder<'s> {
    text: &'s str,
    program: Program,
    scopes: Vec<Scope>,
    /// What `this` is, innermost last; `None` outside of any method.
    receivers: Vec<Option<VarId>>,
    /// The instance variable of each class or constructor, by its name.
    instances: HashMap<Sym, VarId>,
    depth: u32,
}

impl<'s> Builder<'s> {
    fn new(text: &'s str) -> Self {
        let mut program = Program::default();
        program.functions.push(Function::default());
        let scope = Scope { names: HashMap::new(), function: FunctionId(0) };
        Self {
            text,
            program,
            scopes: vec![scope],
            receivers: vec![None],
            instances: HashMap::new(),
            depth: 0,
        }
    }

    fn slice(&self, node: Tree<'_>) -> &'s str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    fn sym(&mut self, text: &str) -> Sym {
        self.program.names.intern(text)
    }

    fn sym_of(&mut self, node: Tree<'_>) -> Sym {
        let text = self.slice(node);
        self.sym(text)
    }

    fn add(&mut self, expression: Expression, node: Tree<'_>) -> ExprId {
        self.add_at(expression, place_of(node))
    }

    fn add_at(&mut self, expression: Expression, place: Place) -> ExprId {
        let id = ExprId(number(self.program.expressions.len()));
        self.program.expressions.push(Node { expression, place });
        id
    }

    fn opaque(&mut self, node: Tree<'_>) -> ExprId {
        self.add(Expression::Opaque(Vec::new()), node)
    }

    fn text_at(&mut self, text: &str, node: Tree<'_>) -> ExprId {
        self.add(Expression::Text(Rc::from(text)), node)
    }

    fn binary(&mut self, operator: Operator, sides: (ExprId, ExprId), node: Tree<'_>) -> ExprId {
        self.add(Expression::Binary(operator, sides.0, sides.1), node)
    }

    /// Runs `read` one level deeper, or not at all when that is too deep or the file is too big.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= MAX_DEPTH || self.program.expressions.len() >= MAX_EXPRESSIONS {
            return None;
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        Some(result)
    }

    fn current_function(&self) -> FunctionId {
        self.scopes.last().map_or(FunctionId(0), |scope| scope.function)
    }

    /// A variable of the innermost scope; the same one when it is declared twice.
    fn declare(&mut self, name: Sym) -> VarId {
        let level = self.scopes.len().saturating_sub(1);
        self.declare_at(level, name)
    }

    /// A variable of the enclosing function's outermost scope.
    fn declare_in_function(&mut self, name: Sym) -> VarId {
        let function = self.current_function();
        let level = self.scopes.iter().position(|scope| scope.function == function).unwrap_or(0);
        self.declare_at(level, name)
    }

    fn declare_at(&mut self, level: usize, name: Sym) -> VarId {
        if let Some(known) = self.scopes.get(level).and_then(|scope| scope.names.get(&name)) {
            return *known;
        }
        let owner = self.scopes.get(level).map_or(FunctionId(0), |scope| scope.function);
        let variable = self.fresh(name, owner);
        if let Some(scope) = self.scopes.get_mut(level) {
            scope.names.insert(name, variable);
        }
        variable
    }

    /// A new variable of the innermost scope that hides an older one of the same name.
    fn redeclare(&mut self, name: Sym) -> VarId {
        let owner = self.current_function();
        let variable = self.fresh(name, owner);
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(name, variable);
        }
        variable
    }

    fn fresh(&mut self, name: Sym, owner: FunctionId) -> VarId {
        let id = VarId(number(self.program.variables.len()));
        self.program.variables.push(Variable { name, owner });
        id
    }

    fn resolve(&self, name: Sym) -> Option<VarId> {
        self.scopes.iter().rev().find_map(|scope| scope.names.get(&name)).copied()
    }

    fn name_expression(&mut self, name: Sym, node: Tree<'_>) -> ExprId {
        let expression = match self.resolve(name) {
            Some(variable) => Expression::Variable(variable),
            None => Expression::Global(name),
        };
        self.add(expression, node)
    }

    /// Where an assignment to a bare name goes.
    fn name_target(&mut self, name: Sym) -> Pattern {
        match self.resolve(name) {
            Some(variable) => Pattern::Variable(variable),
            None => Pattern::Variable(self.declare_at(0, name)),
        }
    }

    fn in_scope<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let function = self.current_function();
        self.scopes.push(Scope { names: HashMap::new(), function });
        let result = read(self);
        self.scopes.pop();
        result
    }

    /// Makes a function; `read` fills it in, inside its own scope.
    fn function(
        &mut self,
        node: Tree<'_>,
        receiver: Option<VarId>,
        read: impl FnOnce(&mut Self, &mut Function),
    ) -> FunctionId {
        let id = FunctionId(number(self.program.functions.len()));
        let inside = Some(self.current_function());
        self.program.functions.push(Function::default());
        self.scopes.push(Scope { names: HashMap::new(), function: id });
        self.receivers.push(receiver);
        let mut function =
            Function { place: place_of(node), receiver, inside, ..Function::default() };
        read(self, &mut function);
        self.receivers.pop();
        self.scopes.pop();
        if let Some(slot) = self.program.functions.get_mut(id.0 as usize) {
            *slot = function;
        }
        id
    }

    /// The variable for instances of the class or constructor of this name.
    fn instance_of(&mut self, name: Sym) -> VarId {
        if let Some(known) = self.instances.get(&name) {
            return *known;
        }
        let variable = self.fresh(name, FunctionId(0));
        self.instances.insert(name, variable);
        variable
    }

    fn assign(&mut self, pattern: Pattern, value: ExprId) -> Statement {
        let place = self.program.node(value).place;
        Statement::Expression(self.add_at(Expression::Assign(Box::new(pattern), value), place))
    }

    fn finish(&mut self, body: Vec<Statement>) {
        if let Some(file) = self.program.functions.first_mut() {
            file.body = body;
        }
    }
}

fn argument(value: ExprId) -> Argument {
    Argument { value, name: None, spread: false }
}

fn place_of(node: Tree<'_>) -> Place {
    Place {
        start: number(node.start_byte()),
        end: number(node.end_byte()),
        first_row: number(node.start_position().row),
        last_row: number(node.end_position().row),
    }
}

/// The named children that are not comments.
fn children<'t>(node: Tree<'t>) -> Vec<Tree<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| !child.is_extra()).collect()
}

fn field<'t>(node: Tree<'t>, name: &str) -> Option<Tree<'t>> {
    node.child_by_field_name(name)
}

/// The parts of a sum, first to last: `a + b + c` nests to the left, as deep as it is long. `kind` is
/// what the grammar calls an operation with two sides.
fn summands<'t>(b: &Builder<'_>, node: Tree<'t>, kind: &str) -> Vec<Tree<'t>> {
    let mut parts = Vec::new();
    let mut current = node;
    loop {
        let plus = current.kind() == kind
            && field(current, "operator").is_some_and(|operator| b.slice(operator) == "+");
        let (true, Some(left), Some(right)) =
            (plus, field(current, "left"), field(current, "right"))
        else {
            parts.push(current);
            break;
        };
        parts.push(right);
        current = left;
    }
    parts.reverse();
    parts
}

/// What a quoted text stands for, as far as flow rules care: common escapes are resolved.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('0') => out.push('\0'),
            Some('\n') | None => {}
            Some(other) => out.push(other),
        }
    }
    out
}
