//! Decides whether a call fits the parameters of a function.

use super::contract::SignatureChange;
use crate::symbols::{
    ArgumentCount, CallShape, FunctionParameter, ParameterPassing, ParameterPresence,
};
use mala_domain::language::Language;

/// Why a call does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// It leaves these out.
    Missing(Vec<String>),
    /// It passes more than are taken.
    TooMany {
        /// The number of positional parameters.
        takes: usize,
        /// How many are passed.
        given: usize,
    },
    /// It names a parameter that does not exist.
    Unknown(String),
    /// It names a parameter that an argument by position already reaches.
    Twice(String),
    /// An argument reaches another parameter than intended.
    Shifted {
        /// The intended parameter.
        meant: String,
        /// The parameter it reaches.
        reaches: String,
    },
}

/// The expression before the name in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallReceiver {
    /// An object: it is the receiver.
    Object,
    /// The type: the receiver is an argument.
    Type,
}

/// Why a call that fitted at base does not fit at head; `None` if it fits, did not fit before
/// either, or cannot be decided.
pub(crate) fn misfit(
    signature: &SignatureChange,
    call: &CallShape,
    before: CallReceiver,
    language: Language,
) -> Option<Misfit> {
    if call.arguments == ArgumentCount::Uncounted {
        return None;
    }
    let fits = |lists: &[Vec<FunctionParameter>]| {
        lists.iter().any(|list| check(list, call, before, language).is_none())
    };
    if !fits(&signature.before) {
        return None;
    }
    if fits(&signature.after) {
        return shifted(signature, call, before);
    }
    signature.after.first().and_then(|list| check(list, call, before, language))
}

fn check(
    list: &[FunctionParameter],
    call: &CallShape,
    before: CallReceiver,
    language: Language,
) -> Option<Misfit> {
    let slots = slots(list, before);
    let has = |kind: ParameterPassing| list.iter().any(|parameter| parameter.kind == kind);
    let given = call.n_positional;
    let ignores_more = language == Language::JavaScript;
    if given > slots.len() && !has(ParameterPassing::Variadic) && !ignores_more {
        return Some(Misfit::TooMany { takes: slots.len(), given });
    }
    let by_name = |name: &String| {
        list.iter().any(|parameter| {
            parameter.name == *name
                && matches!(
                    parameter.kind,
                    ParameterPassing::Positional | ParameterPassing::KeywordOnly
                )
        })
    };
    if !has(ParameterPassing::Keywords)
        && let Some(unknown) = call.keywords.iter().find(|name| !by_name(name))
    {
        return Some(Misfit::Unknown(unknown.clone()));
    }
    if language == Language::JavaScript {
        return None;
    }
    let named_only = list.iter().filter(|p| p.kind == ParameterPassing::KeywordOnly);
    let missing: Vec<String> = slots
        .iter()
        .skip(given)
        .copied()
        .chain(named_only)
        .filter(|parameter| parameter.presence == ParameterPresence::Required)
        .filter(|parameter| !call.keywords.contains(&parameter.name))
        .map(|parameter| parameter.name.clone())
        .collect();
    if !missing.is_empty() {
        return Some(Misfit::Missing(missing));
    }
    let reached = slots.iter().take(given).filter(|p| p.kind == ParameterPassing::Positional);
    let mut twice = reached.filter(|parameter| call.keywords.contains(&parameter.name));
    twice.next().map(|parameter| Misfit::Twice(parameter.name.clone()))
}

/// The parameters that arguments reach by position.
fn slots(list: &[FunctionParameter], before: CallReceiver) -> Vec<&FunctionParameter> {
    list.iter()
        .filter(|parameter| match parameter.kind {
            ParameterPassing::Positional | ParameterPassing::PositionalOnly => true,
            ParameterPassing::Receiver => before == CallReceiver::Type,
            _ => false,
        })
        .collect()
}

/// The first argument that reaches another parameter than intended.
fn shifted(signature: &SignatureChange, call: &CallShape, before: CallReceiver) -> Option<Misfit> {
    let ([old], [new]) = (signature.before.as_slice(), signature.after.as_slice()) else {
        return None;
    };
    let (old, new) = (slots(old, before), slots(new, before));
    old.iter().zip(&new).take(call.n_positional).find_map(|(meant, reaches)| {
        let moved = meant.name != reaches.name
            && !meant.name.is_empty()
            && !is_new_name_for(&meant.name, reaches, &old)
            && (new.iter().any(|parameter| parameter.name == meant.name) || only_loses(&old, &new));
        moved.then(|| Misfit::Shifted { meant: meant.name.clone(), reaches: reaches.name.clone() })
    })
}

/// Whether a list of parameters only loses some of those it had.
fn only_loses(old: &[&FunctionParameter], new: &[&FunctionParameter]) -> bool {
    let mut rest = old.iter();
    new.iter().all(|kept| rest.any(|parameter| parameter.name == kept.name))
}

/// Whether a parameter may be a renamed one: `shapeOrOptions` replaces `shape`.
fn is_new_name_for(name: &str, now: &FunctionParameter, old: &[&FunctionParameter]) -> bool {
    let (name, other) = (name.to_lowercase(), now.name.to_lowercase());
    !old.iter().any(|parameter| parameter.name == now.name)
        && (other.contains(&name) || name.contains(&other))
}

#[cfg(test)]
mod tests {
    use super::super::contract::Called;
    use super::*;
    use crate::source::Source;
    use crate::symbols::{FileOutline, uses};

    fn takes(language: Language, text: &str) -> Vec<Vec<FunctionParameter>> {
        let source = Source::parse(language, text).expect("parses");
        FileOutline::of(&source).definitions.into_iter().filter_map(|d| d.parameters).collect()
    }

    fn check(language: Language, before: &str, after: &str, call: &str) -> Option<Misfit> {
        let signature = SignatureChange {
            before: takes(language, before),
            after: takes(language, after),
            line: 1,
            file: String::new(),
            called: Called::Function,
        };
        let source = Source::parse(language, call).expect("parses");
        let found = uses(&source, &["f"]);
        let call = found.iter().find_map(|found| found.call.as_ref()).expect("calls");
        misfit(&signature, call, CallReceiver::Object, language)
    }

    #[test]
    fn calls_that_fitted_and_do_not() {
        let missing = |names: &[&str]| {
            Some(Misfit::Missing(names.iter().map(|name| (*name).to_owned()).collect()))
        };
        let unknown = |name: &str| Some(Misfit::Unknown(name.to_owned()));
        let too_many = |takes, given| Some(Misfit::TooMany { takes, given });
        let shifted = |meant: &str, reaches: &str| {
            Some(Misfit::Shifted { meant: meant.to_owned(), reaches: reaches.to_owned() })
        };
        let python = |before, after, call, expected| {
            assert_eq!(check(Language::Python, before, after, call), expected, "{after} {call}");
        };
        python("def f(a): 1", "def f(a, b): 1", "f(1)", missing(&["b"]));
        python("def f(a): 1", "def f(a, b=1): 1", "f(1)", None);
        python("def f(a): 1", "def f(a, *b): 1", "f(1)", None);
        python("def f(a): 1", "def f(a, *, b): 1", "f(1)", missing(&["b"]));
        python("def f(a, b): 1", "def f(a): 1", "f(1, 2)", too_many(1, 2));
        python("def f(a, b): 1", "def f(a, *b): 1", "f(1, 2)", None);
        python("def f(a, b): 1", "def f(a, c): 1", "f(1, b=2)", unknown("b"));
        python("def f(a, b): 1", "def f(a, **c): 1", "f(1, b=2)", None);
        python("def f(a, b=1): 1", "def f(a, b): 1", "f(1)", missing(&["b"]));
        python("def f(a, b): 1", "def f(b, a): 1", "f(1, 2)", shifted("a", "b"));
        python("def f(a, b): 1", "def f(b, a): 1", "f(a=1, b=2)", None);
        python("def f(a): 1", "def f(a, b): 1", "f(*x)", None);
        python("def f(a): 1", "def f(a, b, c): 1", "f(1, 2)", None);
        python("def f(a, b): 1", "def f(a, *, b): 1", "f(1, 2)", too_many(1, 2));
        let twice = Some(Misfit::Twice("b".to_owned()));
        python("def f(a, s, b=1): 1", "def f(a, b=1): 1", "f(1, 2, b=3)", twice);
        python("def f(a, s, b=1): 1", "def f(a, b=1): 1", "f(1, 2)", shifted("s", "b"));
        python("def f(a, s, b=1): 1", "def f(a, t, b=1): 1", "f(1, 2)", None);
    }

    #[test]
    fn languages_differ_in_what_they_forgive() {
        for (language, before, after, call, expected) in [
            (Language::JavaScript, "function f(a) {}", "function f(a, b) {}", "f(1)", None),
            (Language::JavaScript, "function f(a, b) {}", "function f(a) {}", "f(1, 2)", None),
            (
                Language::TypeScript,
                "function f(a: A) {}",
                "function f(a: A, b: B) {}",
                "f(1)",
                Some(Misfit::Missing(vec!["b".to_owned()])),
            ),
            (
                Language::TypeScript,
                "function f(a: A) {}",
                "function f(a: A, b?: B) {}",
                "f(1)",
                None,
            ),
            (
                Language::Go,
                "package p\nfunc f(a int) {}",
                "package p\nfunc f(c C, a int) {}",
                "package p\nfunc g() { f(1) }",
                Some(Misfit::Missing(vec!["a".to_owned()])),
            ),
            (
                Language::Rust,
                "fn f(a: A, b: B) {}",
                "fn f(a: A) {}",
                "fn g() { f(1, 2) }",
                Some(Misfit::TooMany { takes: 1, given: 2 }),
            ),
            (
                Language::Ruby,
                "def f(a, k: 1); end",
                "def f(a, j: 1); end",
                "f(1, k: 2)",
                Some(Misfit::Unknown("k".to_owned())),
            ),
            (Language::Ruby, "def f(a); end", "def f(a, b = 1); end", "f(k: 2)", None),
        ] {
            assert_eq!(check(language, before, after, call), expected, "{after} {call}");
        }
    }
}
