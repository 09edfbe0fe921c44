//! Reads of environment variables that no file lists any more.

use super::Scene;
use crate::cross_file::keys::{Access, access};
use crate::cross_file::plan::{LostKey, Plan};
use crate::cross_file::report;
use crate::cross_file::words::has_word;
use mala_domain::finding::Candidate;
use mala_domain::ports::WordHit;

/// One finding for every variable: at its first read.
pub(super) fn candidates(scene: &Scene<'_>) -> Vec<Candidate> {
    if Plan::is_cut(&scene.found.hits) {
        return Vec::new();
    }
    scene.plan.keys.iter().filter_map(|lost| first_read(scene, lost)).collect()
}

fn first_read(scene: &Scene<'_>, lost: &LostKey) -> Option<Candidate> {
    let mut first: Option<(&WordHit, &'static str)> = None;
    for hit in scene.found.hits.iter().filter(|hit| has_word(&hit.text, &lost.key)) {
        match access(&hit.file, &hit.text, &lost.key) {
            Access::Sets => return None,
            Access::Reads(happens) if first.is_none() && !is_test(hit) => {
                first = Some((hit, happens))
            }
            Access::Reads(_) | Access::Nothing => {}
        }
    }
    first.map(|(hit, happens)| report::lost_key(lost, hit, happens))
}

fn is_test(hit: &WordHit) -> bool {
    let path = hit.file.to_text();
    path.split('/')
        .any(|part| part.starts_with("test") || part.contains(".test.") || part.contains("_test."))
}
