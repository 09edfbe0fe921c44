//! Dummy reviewers without a model or an analyzer. They are baselines for scores, and test the scoring.

use super::case::{EvalCase, KnownProblem};
use super::random::SeededRandom;
use super::record::{ChangedRegion, Prediction};
use mala_domain::change::{Change, FilePath};
use mala_domain::finding::{Category, Severity, VerificationOutcome};

/// How many changed lines there are for one finding at random.
const LINES_PER_FINDING: usize = 25;

/// A reviewer that only pretends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DummyReviewer {
    /// Reports exactly the known problems.
    Perfect,
    /// Reports random claims in the change.
    Random,
    /// Reports nothing.
    Silent,
    /// Reports the known problems at random places of the change.
    Shuffled,
    /// Says "bug" of every changed region: the floor.
    Hunks,
}

impl DummyReviewer {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Perfect, Self::Random, Self::Silent, Self::Shuffled, Self::Hunks];

    /// The name that users write.
    pub fn name(self) -> &'static str {
        match self {
            Self::Perfect => "perfect",
            Self::Random => "random",
            Self::Silent => "silent",
            Self::Shuffled => "shuffled",
            Self::Hunks => "hunks",
        }
    }

    /// Its claims about a case with this change.
    pub fn review(
        self,
        case: &EvalCase,
        change: &Change,
        random: &mut SeededRandom,
    ) -> Vec<Prediction> {
        match self {
            Self::Perfect => case.ground_truth.iter().map(|truth| self.repeat(truth)).collect(),
            Self::Silent => Vec::new(),
            Self::Random => self.guess(change, random),
            Self::Shuffled => self.shuffle(case, change, random),
            Self::Hunks => {
                let regions = ChangedRegion::all(change).into_iter();
                regions.map(|region| self.whole(region)).collect()
            }
        }
    }

    fn repeat(self, truth: &KnownProblem) -> Prediction {
        let span = truth.span();
        Prediction {
            severity: truth.severity.unwrap_or(Severity::Medium),
            category: truth.category,
            line_end: span.end(),
            title: truth.title.clone().unwrap_or_default(),
            body: truth.description.clone(),
            ..self.at(&truth.file, span.start())
        }
    }

    fn guess(self, change: &Change, random: &mut SeededRandom) -> Vec<Prediction> {
        let lines = changed_lines(change);
        let number = lines.len().div_ceil(LINES_PER_FINDING);
        let guesses = (0..number).filter_map(|_| {
            let (file, line) = lines.get(random.below(lines.len()))?;
            let category = *Category::ALL.get(random.below(Category::ALL.len()))?;
            Some(Prediction { category, confidence: random.unit(), ..self.at(file, *line) })
        });
        guesses.collect()
    }

    fn shuffle(
        self,
        case: &EvalCase,
        change: &Change,
        random: &mut SeededRandom,
    ) -> Vec<Prediction> {
        let lines = changed_lines(change);
        let moved = case.ground_truth.iter().filter_map(|truth| {
            let (file, line) = lines.get(random.below(lines.len()))?;
            let length = truth.span().n_lines();
            Some(Prediction {
                file: (*file).clone(),
                line_start: *line,
                line_end: line.saturating_add(length - 1),
                ..self.repeat(truth)
            })
        });
        moved.collect()
    }

    fn whole(self, region: ChangedRegion) -> Prediction {
        Prediction { line_end: region.line_end, ..self.at(&region.file, region.line_start) }
    }

    fn at(self, file: &FilePath, line: u32) -> Prediction {
        Prediction {
            file: file.clone(),
            line_start: line,
            line_end: line,
            category: Category::Bug,
            severity: Severity::Medium,
            confidence: 1.0,
            title: String::new(),
            body: String::new(),
            reviewer: self.name().to_owned(),
            rule: None,
            verification: VerificationOutcome::Unverified,
        }
    }
}

impl std::str::FromStr for DummyReviewer {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|dummy| dummy.name() == text).ok_or(())
    }
}

/// The added lines at head; if nothing is added, the lines around removed ones.
fn changed_lines(change: &Change) -> Vec<(&FilePath, u32)> {
    let files = change.files.iter().filter(|file| file.exists_at_head());
    let added: Vec<(&FilePath, u32)> = files
        .clone()
        .flat_map(|file| file.added_lines().map(|(line, _)| (&file.path, line)))
        .collect();
    if !added.is_empty() {
        return added;
    }
    let spans = files.flat_map(|file| file.hunks.iter().map(move |hunk| (&file.path, hunk)));
    spans.flat_map(|(path, hunk)| hunk.head_lines().map(move |(line, _)| (path, line))).collect()
}
