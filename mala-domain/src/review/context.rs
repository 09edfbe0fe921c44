//! The context of a review: gathered once, and read by all reviewers and later stages.

use crate::agent::brief::HunkSymbol;
use crate::change::{Change, FilePath};
use crate::ports::{Blob, Repository, ReviewScope, Side};
use crate::scope::ScopeSummary;
use std::any::{Any, TypeId};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// The change and all gathered context. Cloning is cheap.
#[derive(Clone)]
pub struct ReviewContext {
    /// Exactly which states are compared.
    pub scope: ScopeSummary,
    /// The change.
    pub change: Arc<Change>,
    /// The whole change, if `change` is only what is new since an earlier round.
    pub whole_change: Option<Arc<Change>>,
    /// The tree at base and at head.
    pub tree: Arc<dyn Repository>,
    /// The texts of the changed files on both sides.
    pub texts: Arc<FileTexts>,
    /// The code around the change, if a reviewer needs it.
    pub surroundings: Arc<CodeSurroundings>,
    /// Texts about the task: name and content.
    pub tasks: Arc<[(String, String)]>,
    /// Values derived from the changed files, such as their syntax trees.
    pub derived: Arc<DerivedFiles>,
    /// The time limit of a reviewer.
    pub timeout: Duration,
}

impl ReviewContext {
    /// The context of a change with these texts, without surroundings.
    pub fn new(scope: ReviewScope, texts: FileTexts) -> Self {
        Self {
            scope: scope.scope,
            change: scope.change,
            whole_change: None,
            tree: scope.tree,
            texts: Arc::new(texts),
            surroundings: Arc::default(),
            tasks: Arc::from([]),
            derived: Arc::default(),
            timeout: Duration::MAX,
        }
    }

    /// The context of the whole change, for checks that review everything in every round.
    #[must_use]
    pub fn whole(&self) -> Self {
        let change = self.whole_change.clone().unwrap_or_else(|| self.change.clone());
        Self { change, whole_change: None, ..self.clone() }
    }
}

/// The contents of files at base and at head, as far as they were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileTexts {
    /// By the path at base.
    pub base: BTreeMap<FilePath, Blob>,
    /// By the path at head.
    pub head: BTreeMap<FilePath, Blob>,
}

impl FileTexts {
    /// The text at head.
    pub fn at_head(&self, path: &FilePath) -> Option<&str> {
        self.head.get(path).and_then(Blob::text)
    }

    /// The text at base.
    pub fn at_base(&self, path: &FilePath) -> Option<&str> {
        self.base.get(path).and_then(Blob::text)
    }
}

/// The code around a change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CodeSurroundings {
    /// The function around each hunk, by file and hunk.
    pub enclosing: BTreeMap<FilePath, Vec<Option<HunkSymbol>>>,
    /// Uses of the changed definitions in other places, one per line.
    pub references: Vec<String>,
    /// The project's rules for reviewers, as the base has them: file and content.
    pub rules: Vec<(FilePath, String)>,
}

/// Values computed from the files of a review, each at most once, by the first stage that needs it.
#[derive(Default)]
pub struct DerivedFiles {
    values: Mutex<HashMap<DerivedKey, Arc<OnceLock<DerivedValue>>>>,
}

type DerivedKey = (TypeId, Side, FilePath);
type DerivedValue = Arc<dyn Any + Send + Sync>;

impl DerivedFiles {
    /// The value of this type for a file, computed at the first call; `None` is a value too.
    pub fn get_or_compute<T: Any + Send + Sync>(
        &self,
        side: Side,
        file: &FilePath,
        compute: impl FnOnce() -> Option<T>,
    ) -> Option<Arc<T>> {
        let key = (TypeId::of::<T>(), side, file.clone());
        let slot = {
            let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
            values.entry(key).or_default().clone()
        };
        let value = slot.get_or_init(|| Arc::new(compute().map(Arc::new)));
        value.downcast_ref::<Option<Arc<T>>>().cloned().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_computed_once_for_each_file_side_and_type() {
        let derived = DerivedFiles::default();
        let (a, b) = (FilePath::from("a"), FilePath::from("b"));
        let get = |side, file: &FilePath, value: u32| {
            derived.get_or_compute(side, file, || Some(value)).map(|value| *value)
        };
        assert_eq!(get(Side::Head, &a, 1), Some(1));
        assert_eq!(get(Side::Head, &a, 2), Some(1));
        assert_eq!(get(Side::Base, &a, 3), Some(3));
        assert_eq!(get(Side::Head, &b, 4), Some(4));
        assert_eq!(derived.get_or_compute::<u64>(Side::Head, &a, || None), None);
        assert_eq!(derived.get_or_compute::<u64>(Side::Head, &a, || Some(5)), None);
    }
}
