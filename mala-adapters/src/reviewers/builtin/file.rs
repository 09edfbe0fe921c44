//! What one changed file shows at head: syntax rules on its changed lines, and secrets in what it
//! adds.

use super::{Settings, secret_lines};
use mala_domain::change::ChangedFile;
use mala_domain::finding::Candidate;
use mala_domain::review::Texts;
use mala_syntax::rules::RuleSet;
use mala_syntax::source::Source;

pub(super) struct FileCheck<'r> {
    pub(super) file: &'r ChangedFile,
    pub(super) texts: &'r Texts,
    pub(super) rules: &'r RuleSet,
    pub(super) settings: &'r Settings,
}

impl FileCheck<'_> {
    pub(super) fn run(&self) -> Vec<Candidate> {
        let mut found = secret_lines::check(self.file);
        found.extend(self.syntax());
        found
    }

    /// Rules look at the whole file and speak of lines that the change added.
    fn syntax(&self) -> Vec<Candidate> {
        let added = self.file.added();
        if added.runs().is_empty() {
            return Vec::new();
        }
        let Some(source) = self.parse() else {
            return Vec::new();
        };
        self.rules
            .run_in(&source, &self.file.path, added.runs())
            .iter()
            .filter(|found| self.settings.runs(&found.rule, &self.file.path))
            .map(|found| found.candidate(&self.file.path))
            .collect()
    }

    fn parse(&self) -> Option<Source> {
        Source::parse(self.file.language()?, self.texts.at_head(&self.file.path)?)
    }
}
