//! Which calls a function takes, compared with the calls there are.

use super::code::{Function, Parameter, ParameterKind, arguments, spreads_arguments};
use crate::source::Source;
use tree_sitter::Node;

/// What a function can be called with, without what the binding to an object fills in.
pub(super) struct Signature<'t> {
    parameters: Vec<Parameter<'t>>,
}

/// What is wrong with a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mismatch {
    /// More arguments by place than there are places.
    TooMany { given: usize, taken: usize },
    /// A parameter gets nothing.
    Missing(String),
    /// A name that no parameter has.
    Unknown(String),
    /// A parameter gets two values.
    Twice(String),
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooMany { given, taken } => {
                write!(f, "{given} arguments are given by place and {taken} are taken")
            }
            Self::Missing(name) => write!(f, "`{name}` gets no value"),
            Self::Unknown(name) => write!(f, "there is no parameter `{name}`"),
            Self::Twice(name) => write!(f, "`{name}` gets two values"),
        }
    }
}

impl<'t> Signature<'t> {
    /// The signature of a function, or of a method without `self`; `None` for a method that takes
    /// not even that.
    pub(super) fn of(function: &Function<'t>, n_bound: usize) -> Option<Self> {
        let parameters = &function.parameters;
        let n_places = parameters.iter().take(n_bound).filter(|it| is_placed(it)).count();
        let has_rest = parameters.iter().any(|it| it.kind == ParameterKind::Rest);
        if n_places < n_bound && !has_rest {
            return None;
        }
        Some(Self { parameters: parameters.iter().skip(n_places).copied().collect() })
    }

    /// The fewest arguments by place that satisfy it when nothing is given by name.
    pub(super) fn least(&self) -> usize {
        self.placed().filter(|it| it.default.is_none()).count()
    }

    /// The most arguments by place; `None` without a limit.
    pub(super) fn most(&self) -> Option<usize> {
        let is_open = self.parameters.iter().any(|it| it.kind == ParameterKind::Rest);
        (!is_open).then(|| self.placed().count())
    }

    fn placed(&self) -> impl Iterator<Item = &Parameter<'t>> {
        self.parameters.iter().filter(|it| is_placed(it))
    }

    /// What is wrong with a call; `None` when it fits or cannot be told.
    pub(super) fn mismatch(&self, source: &Source, call: Node<'_>) -> Option<Mismatch> {
        if spreads_arguments(call) {
            return None;
        }
        let is_comprehension = call
            .child_by_field_name("arguments")
            .is_some_and(|it| it.kind() == "generator_expression");
        let mut n_placed = usize::from(is_comprehension);
        let mut given = Vec::new();
        for argument in arguments(call) {
            match argument.child_by_field_name("name") {
                Some(name) if argument.kind() == "keyword_argument" => {
                    given.push(source.slice(name))
                }
                _ => n_placed += 1,
            }
        }
        self.place_mismatch(n_placed).or_else(|| self.name_mismatch(n_placed, &given))
    }

    fn place_mismatch(&self, given: usize) -> Option<Mismatch> {
        let taken = self.most().filter(|most| given > *most)?;
        Some(Mismatch::TooMany { given, taken })
    }

    fn name_mismatch(&self, n_placed: usize, given: &[&str]) -> Option<Mismatch> {
        let takes_any = self.parameters.iter().any(|it| it.kind == ParameterKind::Keywords);
        let by_name =
            |it: &&Parameter<'_>| matches!(it.kind, ParameterKind::Plain | ParameterKind::Named);
        for name in given {
            let known = self.parameters.iter().filter(by_name).any(|it| it.name == *name);
            if !known && !takes_any {
                return Some(Mismatch::Unknown((*name).to_owned()));
            }
            if self.placed().take(n_placed).any(|it| it.name == *name) && known {
                return Some(Mismatch::Twice((*name).to_owned()));
            }
        }
        let mut place = 0;
        for parameter in &self.parameters {
            let filled_by_place = is_placed(parameter) && {
                place += 1;
                place <= n_placed
            };
            let is_needed = parameter.default.is_none()
                && matches!(
                    parameter.kind,
                    ParameterKind::Placed | ParameterKind::Plain | ParameterKind::Named
                );
            let named = parameter.kind != ParameterKind::Placed && given.contains(&parameter.name);
            if is_needed && !filled_by_place && !named {
                return Some(Mismatch::Missing(parameter.name.to_owned()));
            }
        }
        None
    }
}

fn is_placed(parameter: &Parameter<'_>) -> bool {
    matches!(parameter.kind, ParameterKind::Placed | ParameterKind::Plain)
}
