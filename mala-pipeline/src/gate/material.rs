//! What the lanes are told, gathered once for all of them.

use crate::agent::prepare::{enclosing, references};
use crate::review::context::{Surroundings, gather, look_around};
use mala_domain::agent::brief::{Briefs, Enclosing, Material, Style, Width, briefs};
use mala_domain::agent::fence::{Fence, Nonce};
use mala_domain::change::{Change, FilePath};
use mala_domain::gate::answer::Binding;
use mala_domain::gate::session::Session;
use mala_domain::ports::{ScopeError, Scoped};
use mala_domain::review::Texts;
use mala_domain::scope::Head;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How much of a change a prompt shows: so much fits into what the known lanes read at once. What is longer
/// does not pass.
pub(super) const MAX_BYTES: usize = 500_000;

/// What the lanes are told.
pub(super) struct Told {
    pub(super) binding: Binding,
    pub(super) briefs: Briefs,
    pub(super) texts: Arc<Texts>,
    enclosing: BTreeMap<FilePath, Vec<Option<Enclosing>>>,
    fence: Fence,
    target: String,
}

pub(super) async fn gather_for(session: &Session, scoped: &Scoped) -> Result<Told, ScopeError> {
    let texts = gather(scoped).await?.texts;
    let around = look_around(scoped).await?;
    let binding = binding(session, scoped, &around);
    let enclosing = enclosing(&scoped.change, &texts);
    let fence = Fence::new(binding.nonce.clone());
    let references = references(&around);
    let material = Material {
        change: &scoped.change,
        texts: &texts,
        enclosing: &enclosing,
        target: &session.scope.target,
        tasks: &session.tasks,
        rules: &around.rules,
        references: &references,
        hints: &[],
    };
    let briefs = briefs(&material, &style(&fence));
    Ok(Told { binding, briefs, texts, enclosing, fence, target: session.scope.target.clone() })
}

impl Told {
    /// A brief of only these files.
    pub(super) fn brief_of(&self, change: &Change, files: &[&FilePath]) -> String {
        let named = change.files.iter().filter(|file| files.contains(&&file.path));
        let change = Change { files: named.cloned().collect() };
        let material = Material {
            change: &change,
            texts: &self.texts,
            enclosing: &self.enclosing,
            target: &self.target,
            tasks: &[],
            rules: &[],
            references: &[],
            hints: &[],
        };
        briefs(&material, &style(&self.fence)).briefs.into_iter().map(|brief| brief.text).collect()
    }
}

fn style(fence: &Fence) -> Style<'_> {
    Style { fence, width: Width::STANDARD, max_bytes: MAX_BYTES, max_briefs: 1 }
}

/// The nonce holds the session's secret and all that is reviewed: nobody guesses it, no text has it.
fn binding(session: &Session, scoped: &Scoped, around: &Surroundings) -> Binding {
    let head = match &scoped.scope.head {
        Head::Commit(sha) => sha.clone(),
        _ => String::new(),
    };
    let own = [&session.secret, &session.key, &head, &scoped.scope.diff_hash];
    let tasks = session.tasks.iter().flat_map(|(name, text)| [name, text]);
    let parts = own.into_iter().chain(tasks).map(String::as_bytes);
    let rules = around.rules.iter().map(|(_, text)| text.as_bytes());
    let parts: Vec<&[u8]> = parts.chain(rules).collect();
    Binding { nonce: Nonce::over(&parts), head }
}
