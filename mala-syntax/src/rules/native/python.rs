//! Checks that know what Python code means: its classes, its default arguments, its texts with
//! values in them.

mod built;
mod calls;
mod class;
mod classes;
mod code;
mod debug;
mod defaults;
mod exceptions;
mod formats;
mod iteration;
mod methods;
mod module;
mod names;
mod placeholders;
mod secret_names;
mod sensitive;
mod shape;
mod signature;
mod statements;
mod undefined;

use super::{CheckMatch, Family, NativeCheck, NativeMatch};
use crate::source::Source;
use module::Module;
use tree_sitter::Node;

/// Looks at a file for one check.
type Run = fn(&Module<'_>) -> Vec<NativeMatch>;

/// Lists checks with the functions that make them.
macro_rules! checks {
    ($($module:ident :: $check:ident => $run:ident,)*) => {
        const CHECKS: &[NativeCheck] = &[$($module::$check,)*];
        const RUNS: &[Run] = &[$($module::$run,)*];
    };
}

checks! {
    built::SHELL => built_commands,
    built::SQL => built_queries,
    calls::NOT_AWAITED => not_awaited,
    calls::NO_VALUE => no_values,
    calls::WRONG_ARGUMENTS => wrong_arguments,
    classes::EQUALITY => unequal_methods,
    classes::ORDERING => incomplete_orderings,
    classes::OVERRIDE => overrides,
    classes::SHADOWED_METHOD => shadowed_methods,
    classes::WRONG_SUPER => wrong_supers,
    debug::FLASK_DEBUG => flask_debug,
    defaults::KEPT_DEFAULT => kept_defaults,
    defaults::MODIFIED_DEFAULT => modified_defaults,
    exceptions::NOT_RAISED => not_raised,
    exceptions::ORDER => orders,
    formats::FORMAT => format_calls,
    formats::LOGGING => log_calls,
    formats::PERCENT => percent_formats,
    formats::UNUSED_VALUE => unused_values,
    iteration::CHANGED_CONTAINER => changed_containers,
    iteration::CLOSURE => loop_closures,
    iteration::ELSE_WITHOUT_BREAK => elses,
    iteration::NEXT_ELEMENT => next_elements,
    methods::INIT_RESULT => init_results,
    methods::ITER_NOT_SELF => iter_not_self,
    methods::MISSING_SELF => missing_selves,
    methods::NO_RESULT => no_results,
    methods::SPECIAL_METHOD => special_methods,
    sensitive::COOKIE => open_cookies,
    sensitive::SHOWN => shown_secrets,
    sensitive::STORED => stored_secrets,
    sensitive::WEAK_HASH => weak_hashes,
    statements::CHANGED_LOCALS => changed_locals,
    statements::MISSING_COMMA => missing_commas,
    statements::MISSING_F => missing_f,
    statements::TUPLE_SIZES => tuple_sizes,
    statements::UNCALLED => uncalled,
    undefined::EXPORT => undefined_exports,
    undefined::UNDEFINED => undefined_names,
}

/// They look at whole files: what makes a line wrong is often far from it.
pub(super) const FAMILY: Family = Family { checks: CHECKS, kinds: &[], run };

fn run(source: &Source, _: &[Node<'_>]) -> Vec<CheckMatch> {
    let module = Module::of(source);
    let of_check = |(check, run): (&NativeCheck, &Run)| {
        let name = check.name;
        run(&module).into_iter().map(move |found| CheckMatch { check: name, found })
    };
    CHECKS.iter().zip(RUNS).flat_map(of_check).collect()
}
