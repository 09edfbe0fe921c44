//! Checks that understand Python: its classes, default arguments and formatted texts.

mod calls;
mod code;
mod containers;
mod cookies;
mod defaults;
mod formats;
mod module;
mod names;
mod signature;
mod undefined;

use super::{CheckFamily, CheckMatch, NativeCheck, NativeMatch};
use crate::source::Source;
use module::Module;
use tree_sitter::Node;

/// Looks at a file for one check.
type PythonCheckRun = fn(&Module<'_>) -> Vec<NativeMatch>;

/// Lists checks with the functions that make them.
macro_rules! checks {
    ($($module:ident :: $check:ident => $run:ident,)*) => {
        const CHECKS: &[NativeCheck] = &[$($module::$check,)*];
        const RUNS: &[PythonCheckRun] = &[$($module::$run,)*];
    };
}

checks! {
    calls::NO_VALUE => no_values,
    calls::WRONG_ARGUMENTS => wrong_arguments,
    defaults::MODIFIED_DEFAULT => modified_defaults,
    formats::LOGGING => log_calls,
    formats::PERCENT => percent_formats,
    containers::CHANGED_CONTAINER => changed_containers,
    cookies::COOKIE => open_cookies,
    containers::MISSING_COMMA => missing_commas,
    undefined::EXPORT => undefined_exports,
    undefined::UNDEFINED => undefined_names,
}

/// They need whole files: the cause of a problem is often far from the line.
pub(super) const FAMILY: CheckFamily = CheckFamily { checks: CHECKS, kinds: &[], run };

fn run(source: &Source, _: &[Node<'_>]) -> Vec<CheckMatch> {
    let module = Module::of(source);
    let of_check = |(check, run): (&NativeCheck, &PythonCheckRun)| {
        let name = check.name;
        run(&module).into_iter().map(move |found| CheckMatch { check: name, found })
    };
    CHECKS.iter().zip(RUNS).flat_map(of_check).collect()
}
