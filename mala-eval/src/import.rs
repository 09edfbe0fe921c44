//! Imports public benchmarks. A format is parsed into drafts, with the known problems and the
//! location of the code; a draft becomes a case if its code is found. Unusable records are skipped
//! with their location and a reason, and never guessed.

mod aacr;
mod anchor;
mod bugsinpy;
mod build_case;
mod clones;
mod codeql;
mod draft;
mod factory;
mod gather;
mod humanevalpack;
mod mapping;
mod martian;
mod outline;
mod sarif;
#[cfg(test)]
mod tests;

pub(crate) use build_case::language_of;
pub use build_case::{
    ChangeSides, DraftOutcome, build_case, case_of_added_files, choose_introducing_commit,
};
pub(crate) use clones::texts;
pub use clones::{CloneFolder, clone_paths};
pub use draft::{CaseDraft, DraftCode, DraftLocation, DraftProblem, DraftRevisions, ProblemFilter};
pub use gather::{ImportFiles, gather};
pub use mapping::{CATEGORIES, SEVERITIES};

use mala_domain::change::FilePath;
use outline::JsonPart;
use serde::Serialize;

/// A public format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportFormat {
    /// `positive_samples.json` and `negative_samples.json` of AACR-Bench.
    Aacr,
    /// `projects/*/bugs/*/bug.info` and `bug_patch.txt` of BugsInPy.
    BugsInPy,
    /// Query tests of CodeQL, with their inline markers and `.expected` files.
    CodeQl,
    /// `golden_comments_v2.json` and `manifest.json` of Factory's review benchmark.
    Factory,
    /// `humanevalpack.jsonl`.
    HumanEvalPack,
    /// Files of golden comments of Martian's code review benchmark.
    Martian,
    /// SARIF 2.1.0 results.
    Sarif,
}

impl ImportFormat {
    /// All of them, by name.
    pub const ALL: [Self; 7] = [
        Self::Aacr,
        Self::BugsInPy,
        Self::CodeQl,
        Self::Factory,
        Self::HumanEvalPack,
        Self::Martian,
        Self::Sarif,
    ];

    /// The name that users write.
    pub fn name(self) -> &'static str {
        match self {
            Self::Aacr => "aacr",
            Self::BugsInPy => "bugsinpy",
            Self::CodeQl => "codeql",
            Self::Factory => "factory",
            Self::HumanEvalPack => "humanevalpack",
            Self::Martian => "martian",
            Self::Sarif => "sarif",
        }
    }

    /// Whether a file of a folder belongs to the format.
    pub fn wants(self, path: &FilePath) -> bool {
        let name = path.file_name();
        match self {
            Self::Aacr => name.ends_with("_samples.json"),
            Self::BugsInPy => ["bug.info", "bug_patch.txt", "project.info"].contains(&name),
            Self::CodeQl => codeql::wants(path),
            Self::Factory => name == "manifest.json" || name == "golden_comments_v2.json",
            Self::HumanEvalPack => name.ends_with("humanevalpack.jsonl"),
            Self::Martian => name.ends_with(".json"),
            Self::Sarif => name.ends_with(".sarif") || name.ends_with(".sarif.json"),
        }
    }

    /// Parses its files.
    pub fn read(self, files: &[ImportFile]) -> ImportedDrafts {
        match self {
            Self::Aacr => aacr::read(files),
            Self::BugsInPy => bugsinpy::read(files),
            Self::CodeQl => codeql::read(files),
            Self::Factory => factory::read(files),
            Self::HumanEvalPack => humanevalpack::read(files),
            Self::Martian => martian::read(files),
            Self::Sarif => sarif::read(files),
        }
    }
}

impl std::str::FromStr for ImportFormat {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|format| format.name() == text).ok_or(())
    }
}

/// A file to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportFile {
    /// The name for messages.
    pub name: String,
    /// The path below the given folder; for a given file, its name.
    pub path: FilePath,
    /// The content.
    pub text: String,
}

/// The drafts and skipped records of the files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportedDrafts {
    /// The drafts of cases.
    pub drafts: Vec<CaseDraft>,
    /// The skipped records.
    pub passed_over: Vec<SkippedRecord>,
}

impl ImportedDrafts {
    /// The items of a file that contains a list. Without a list, the file is skipped with a reason.
    fn items<'s>(&mut self, file: &'s ImportFile, of: &str) -> Vec<JsonPart<'s>> {
        match JsonPart::whole(file).map(JsonPart::items) {
            Ok(Some(items)) => return items,
            Ok(None) => {
                self.skip(&RecordLocation::new(file, 1), format!("expected a list of {of}"))
            }
            Err((line, why)) => self.skip(&RecordLocation::new(file, line), why),
        }
        Vec::new()
    }

    fn skip(&mut self, location: &RecordLocation, why: impl Into<String>) {
        self.passed_over.push(SkippedRecord { location: location.clone(), why: why.into() });
    }
}

/// The location of a record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RecordLocation {
    /// The file.
    pub file: String,
    /// The 1-based line.
    pub line: usize,
}

impl RecordLocation {
    fn new(source: &ImportFile, line: usize) -> Self {
        Self { file: source.name.clone(), line }
    }
}

/// A record that is not part of any case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedRecord {
    /// The location.
    #[serde(rename = "spot")]
    pub location: RecordLocation,
    /// Why.
    pub why: String,
}

impl std::fmt::Display for SkippedRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.location.file, self.location.line, self.why)
    }
}
