//! Calls that no longer fit.

use super::Scene;
use super::sights::sights;
use crate::cross_file::contract::{Called, Signature, Symbol};
use crate::cross_file::fit::{Misfit, misfit};
use crate::cross_file::report::{self, Refitted};
use crate::symbols::Makes;
use mala_domain::finding::Candidate;
use mala_domain::language::Language;

/// One finding for every call that fitted and does not.
pub(super) fn candidates(
    scene: &Scene<'_>,
    symbol: &Symbol,
    signature: &Signature,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    for user in scene.users() {
        let mut last_line = 0;
        for sight in sights(scene, user, symbol) {
            let Some(call) = &sight.found.call else { continue };
            let makes_it = match symbol.language {
                Language::Python => true,
                _ => (call.makes == Makes::Object) == (signature.called == Called::Class),
            };
            if !makes_it || sight.found.line == last_line {
                continue;
            }
            let language = user.outline.language;
            let Some(misfit) = misfit(signature, call, sight.before, language) else { continue };
            // A line less in a call leaves no mark on the lines that stay.
            let was_looked_at =
                matches!(misfit, Misfit::Shifted { .. }) && scene.is_changed(&user.path);
            if was_looked_at {
                continue;
            }
            last_line = sight.found.line;
            let refitted = Refitted { symbol, signature, misfit: &misfit };
            found.push(report::does_not_fit(
                &refitted,
                user,
                (sight.found, call),
                sight.link.evidence,
            ));
        }
    }
    found
}
