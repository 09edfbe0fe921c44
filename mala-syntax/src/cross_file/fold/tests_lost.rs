//! Deleted tests of code that stays.

use super::Scene;
use crate::cross_file::report;
use mala_domain::finding::Candidate;

/// Who deletes more files of tests than this at once means to.
const MAX_BY_MISTAKE: usize = 3;

/// One finding for every deleted file of tests, at the code that it tested.
pub(super) fn candidates(scene: &Scene<'_>) -> Vec<Candidate> {
    let world = scene.world;
    let exists = |path: &&String| {
        world.existing.contains(path.as_str()) || world.outlines.contains_key(path.as_str())
    };
    if scene.plan.tests_lost.len() > MAX_BY_MISTAKE {
        return Vec::new();
    }
    let lost = scene.plan.tests_lost.iter();
    lost.filter_map(|lost| Some(report::lost_tests(lost, lost.tested.iter().find(exists)?)))
        .collect()
}
