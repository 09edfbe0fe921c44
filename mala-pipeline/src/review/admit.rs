//! Admits claims: reads the files that they cite outside the change, finds their evidence, and applies
//! suppression comments. `mala_domain::review::admit` decides which claims are admitted.

use super::context;
use mala_domain::agent::claims::ground_evidence;
use mala_domain::change::{AddedLines, FilePath};
use mala_domain::finding::{Finding, ReviewClaim};
use mala_domain::ports::{ScopeError, Side};
use mala_domain::review::admit::{Admission, SymbolIndex, admit as admit_claims};
use mala_domain::review::suppress::{
    SuppressedFinding, SuppressionPolicy, apply_suppressions, suppression_warnings,
};
use mala_domain::review::{Opinions, ReviewContext, ReviewPlan};
use mala_syntax::parsed::parsed;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The admitted findings, the suppressed ones, and the dropped claims.
pub(super) struct AdmittedClaims {
    pub(super) admission: Admission,
    pub(super) suppressed: Vec<SuppressedFinding>,
    pub(super) warnings: Vec<String>,
    /// The context, with the files that claims cite outside the change.
    pub(super) context: ReviewContext,
}

pub(super) async fn admit(
    opinions: &Opinions,
    context: &ReviewContext,
    plan: &ReviewPlan,
) -> Result<AdmittedClaims, ScopeError> {
    let mut claims = opinions.claims();
    for claim in claims.iter_mut().filter(|claim| !context.texts.head.contains_key(&claim.file)) {
        claim.file = context.change.resolve_path(&claim.file);
    }
    let context = with_cited(&claims, context).await?;
    let (change, texts) = (&context.change, &context.texts);
    let grounded = claims.into_iter().map(|claim| match claim.rule {
        Some(_) => claim,
        None => ground_evidence(claim, change, texts),
    });
    let admission = admit_claims(grounded.collect(), change, texts, &HeadSymbols(&context));
    let added: HashMap<&FilePath, AddedLines> =
        change.files.iter().map(|file| (&file.path, file.added())).collect();
    let is_added = |finding: &Finding, line: u32| {
        added.get(&finding.file).is_some_and(|added| added.contains(line))
    };
    let suppression_warnings = match plan.suppressions {
        SuppressionPolicy::Off => Vec::new(),
        _ => suppression_warnings(change, texts, &admission.findings, &plan.rule_ids),
    };
    let remaining = apply_suppressions(admission.findings, texts, plan.suppressions, &is_added);
    let dropped = admission.dropped.iter();
    let dropped = dropped.map(|it| format!("{}: dropped a finding: {}", it.reviewer, it.why));
    let warnings = opinions.warnings().into_iter().chain(dropped);
    let warnings = warnings.chain(remaining.warnings).chain(suppression_warnings).collect();
    Ok(AdmittedClaims {
        admission: Admission { findings: remaining.findings, dropped: admission.dropped },
        suppressed: remaining.suppressed,
        warnings,
        context,
    })
}

/// The context with the files that claims cite and the change does not have.
async fn with_cited(
    claims: &[ReviewClaim],
    context: &ReviewContext,
) -> Result<ReviewContext, ScopeError> {
    let cited: BTreeSet<&FilePath> = claims
        .iter()
        .map(|claim| &claim.file)
        .filter(|file| file.stays_inside() && !context.texts.head.contains_key(file))
        .collect();
    let mut context = context.clone();
    if !cited.is_empty() {
        let cited = cited.into_iter().cloned().collect();
        let read = context::read(context.tree.as_ref(), Side::Head, cited).await?;
        Arc::make_mut(&mut context.texts).head.extend(read);
    }
    Ok(context)
}

/// The symbols around the lines of the files at head.
struct HeadSymbols<'c>(&'c ReviewContext);

impl SymbolIndex for HeadSymbols<'_> {
    fn symbol_at(&self, file: &FilePath, line: u32) -> Option<String> {
        let parsed = parsed(self.0, Side::Head, file)?;
        parsed.outline().enclosing(line).map(|enclosing| enclosing.symbol)
    }
}
