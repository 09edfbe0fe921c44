//! The cases of a real change: one with the planted defect, and its twin without.

use super::DefectKind;
use crate::case::{CaseMeta, EvalCase, KnownProblem, SCHEMA_VERSION};
use mala_domain::change::{FilePath, LineSpan};
use std::collections::BTreeMap;

/// The tag of all cases with a planted defect.
pub const PLANTED: &str = "planted";

/// The tag of a change as it is, without a planted defect.
pub const CLEAN_TWIN: &str = "clean-twin";

/// A real change, as far as a case shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlantSite {
    /// The repository, as a person would name it.
    pub repo: String,
    /// A description of the change, such as `commit 1a2b3c`.
    pub source: String,
    /// The subject of its last commit.
    pub title: String,
    /// The rest of the commit messages.
    pub description: String,
    /// The change as a unified diff.
    pub diff: String,
    /// The files at base.
    pub base: BTreeMap<FilePath, String>,
    /// The files at head.
    pub head: BTreeMap<FilePath, String>,
    /// The commit before the change.
    pub base_commit: Option<String>,
    /// The last commit of the change, when it is committed.
    pub head_commit: Option<String>,
}

/// A planted defect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlantedDefect {
    /// Its kind.
    pub kind: DefectKind,
    /// The file that it is in.
    pub file: FilePath,
    /// The language of that file.
    pub language: String,
    /// The whole file with the defect.
    pub text: String,
    /// The lines of the defect in it.
    pub lines: LineSpan,
    /// A title in one line.
    pub title: String,
    /// The change that was made.
    pub description: String,
    /// The change with the defect, as a unified diff.
    pub diff: String,
}

impl PlantedDefect {
    /// The defect as a known problem.
    pub fn truth(&self) -> KnownProblem {
        let first = self.text.lines().nth(self.lines.start().saturating_sub(1) as usize);
        KnownProblem {
            file: self.file.clone(),
            line_start: self.lines.start(),
            line_end: Some(self.lines.end()),
            category: self.kind.category(),
            severity: Some(self.kind.severity()),
            title: Some(self.title.clone()),
            description: self.description.clone(),
            source_type: Some(self.kind.name().to_owned()),
            evidence: first.map(|line| line.trim().to_owned()),
        }
    }
}

impl PlantSite {
    /// The change with the defect.
    pub fn planted(&self, defect: &PlantedDefect, (number, seed): (usize, u64)) -> EvalCase {
        let mut files = self.head.clone();
        files.insert(defect.file.clone(), defect.text.clone());
        EvalCase {
            id: format!("{number:04}-{}", defect.kind),
            diff: defect.diff.clone(),
            files,
            ground_truth: vec![defect.truth()],
            tags: vec![PLANTED.to_owned(), defect.kind.name().to_owned()],
            meta: self.meta(seed).with("kind", defect.kind.name()),
            ..self.case(&defect.language)
        }
    }

    /// The change without the defect. It is clean only as far as its authors know.
    pub fn twin(&self, defect: &PlantedDefect, (number, seed): (usize, u64)) -> EvalCase {
        EvalCase {
            id: format!("{number:04}-{CLEAN_TWIN}"),
            diff: self.diff.clone(),
            files: self.head.clone(),
            tags: vec![CLEAN_TWIN.to_owned()],
            meta: self.meta(seed),
            ..self.case(&defect.language)
        }
    }

    fn meta(&self, seed: u64) -> CaseMeta {
        CaseMeta::default()
            .with("source", self.source.as_str())
            .with("licence", "that of the repository")
            .with("seed", seed)
            .with_commits(self.base_commit.as_deref(), self.head_commit.as_deref())
    }

    fn case(&self, language: &str) -> EvalCase {
        EvalCase {
            schema_version: SCHEMA_VERSION,
            id: String::new(),
            repo: self.repo.clone(),
            language: language.to_owned(),
            pr_title: self.title.clone(),
            pr_description: self.description.clone(),
            diff: String::new(),
            files: BTreeMap::new(),
            base_files: Some(self.base.clone()),
            complete_tree: false,
            ground_truth: Vec::new(),
            rejected_findings: Vec::new(),
            tags: Vec::new(),
            meta: CaseMeta::default(),
        }
    }
}
