//! Admits claims: reads the files that they cite outside the change, finds the enclosing symbols,
//! and sets aside what comments excuse. What holds is decided by `mala_domain::review::admit`.

use super::Ask;
use super::ask::Heard;
use super::context::{self, Read};
use mala_domain::change::{AddedLines, FilePath};
use mala_domain::finding::{Candidate, Finding};
use mala_domain::language::Language;
use mala_domain::ports::{ScopeError, Scoped, Side};
use mala_domain::report::Suppressed;
use mala_domain::review::Texts;
use mala_domain::review::admit::{Dropped, SymbolIndex, admit as admit_claims};
use mala_domain::review::merge::merged;
use mala_domain::review::suppress::{SuppressionPolicy, doubts, sift};
use mala_domain::review::worst::worst;
use mala_domain::secrets;
use mala_domain::verdict::Threshold;
use mala_syntax::source::Source;
use mala_syntax::symbols::FileOutline;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What stands, and what does not.
pub(super) struct Admitted {
    pub(super) findings: Vec<Finding>,
    pub(super) suppressed: Vec<Suppressed>,
    pub(super) dropped: Vec<Dropped>,
    pub(super) warnings: Vec<String>,
    pub(super) sources: BTreeMap<FilePath, String>,
    /// Findings that stand and are not reported.
    pub(super) n_left_out: usize,
}

impl Admitted {
    /// Keeps the worst findings and all that block; how many are left out is said.
    pub(super) fn keep_worst(&mut self, max: usize, fail_on: Threshold) {
        let (kept, n_left_out) = worst(std::mem::take(&mut self.findings), max, fail_on);
        self.findings = kept;
        self.n_left_out = n_left_out;
        if n_left_out > 0 {
            self.warnings.push(format!(
                "{n_left_out} less urgent findings left out: at most {max} are reported, and all that block"
            ));
        }
    }
}

pub(super) async fn admit(
    heard: &Heard,
    scoped: &Scoped,
    read: Read,
    ask: &Ask,
) -> Result<Admitted, ScopeError> {
    let candidates: Vec<Candidate> = heard
        .hearings
        .iter()
        .filter_map(|(_, heard)| heard.as_ref().ok())
        .flat_map(|hearing| hearing.candidates.iter().cloned())
        .collect();
    let mut texts = std::sync::Arc::unwrap_or_clone(read.texts);
    read_cited(&candidates, scoped, &mut texts).await?;
    let admission = {
        let symbols = ParsedSymbols::of(&texts);
        admit_claims(candidates, &scoped.change, &texts, &symbols)
    };
    let added: HashMap<&FilePath, AddedLines> =
        scoped.change.files.iter().map(|file| (&file.path, file.added())).collect();
    let is_added = |finding: &Finding, line: u32| {
        added.get(&finding.file).is_some_and(|added| added.contains(line))
    };
    let doubts = match ask.suppressions {
        SuppressionPolicy::Off => Vec::new(),
        _ => doubts(&scoped.change, &texts, &admission.findings, &ask.rule_ids),
    };
    let sifted = sift(admission.findings, &texts, ask.suppressions, &is_added);
    let findings = merged(sifted.findings);
    let sources = quoted(&findings, &texts);
    Ok(Admitted {
        findings,
        suppressed: sifted.suppressed,
        dropped: admission.dropped,
        warnings: sifted.warnings.into_iter().chain(doubts).collect(),
        sources,
        n_left_out: 0,
    })
}

/// The texts that outputs quote from, with secrets redacted.
fn quoted(findings: &[Finding], texts: &Texts) -> BTreeMap<FilePath, String> {
    let files: BTreeSet<&FilePath> = findings.iter().map(|finding| &finding.file).collect();
    files
        .into_iter()
        .filter_map(|file| {
            let text = texts.at_head(file)?;
            Some((file.clone(), secrets::redact(text).into_owned()))
        })
        .collect()
}

/// Reads the files that claims cite and the change does not have.
pub(crate) async fn read_cited(
    candidates: &[Candidate],
    scoped: &Scoped,
    texts: &mut Texts,
) -> Result<(), ScopeError> {
    let cited: BTreeSet<&FilePath> = candidates
        .iter()
        .map(|candidate| &candidate.file)
        .filter(|file| file.stays_inside() && !texts.head.contains_key(file))
        .collect();
    let cited = cited.into_iter().cloned().collect();
    texts.head.extend(context::read(scoped, Side::Head, cited).await?);
    Ok(())
}

/// Enclosing symbols, each file outlined once, when a claim cites it.
pub(crate) struct ParsedSymbols<'t> {
    texts: &'t Texts,
    outlines: RefCell<HashMap<FilePath, Option<FileOutline>>>,
}

impl<'t> ParsedSymbols<'t> {
    /// The symbols of these texts at head.
    pub(crate) fn of(texts: &'t Texts) -> Self {
        Self { texts, outlines: RefCell::default() }
    }
}

impl SymbolIndex for ParsedSymbols<'_> {
    fn symbol_at(&self, file: &FilePath, line: u32) -> Option<String> {
        let mut outlines = self.outlines.borrow_mut();
        let outline = outlines.entry(file.clone()).or_insert_with(|| {
            let text = self.texts.at_head(file)?;
            let source = Source::parse(Language::of(file, text)?, text)?;
            Some(FileOutline::of(&source))
        });
        outline.as_ref()?.enclosing(line).map(|enclosing| enclosing.symbol)
    }
}
