//! The rules of a language that follow values, run together: one pass over a file serves them all.

use super::matching::MatchedPlace;
use super::rule::{Detector, Rule};
use super::template::Captures;
use crate::source::Source;
use crate::taint::{self, TaintFlow, TaintModel, TaintSpec};
use mala_domain::language::Language;
use std::ops::Range;
use std::sync::Arc;

/// All taint rules, combined.
pub(super) struct FlowRules {
    model: TaintModel,
    /// Positions of the rules in the set, in the order of the model.
    rules: Vec<usize>,
}

impl FlowRules {
    /// `None` when no rule follows values in this language. The most urgent rules come first: they
    /// speak where several could.
    pub(super) fn new(rules: &[Arc<Rule>], language: Language) -> Option<Self> {
        let mut found: Vec<(usize, &Arc<Rule>, &TaintSpec)> = rules
            .iter()
            .enumerate()
            .filter(|(_, rule)| rule.languages.contains(&language))
            .filter_map(|(at, rule)| match &rule.detector {
                Detector::Taint(spec) => Some((at, rule, spec)),
                _ => None,
            })
            .collect();
        found.sort_by(|(_, a, _), (_, b, _)| {
            let urgency = a.priority.cmp(&b.priority);
            urgency.then(b.confidence.total_cmp(&a.confidence)).then(a.id.cmp(&b.id))
        });
        if found.is_empty() {
            return None;
        }
        let specs: Vec<&TaintSpec> = found.iter().map(|(_, _, spec)| *spec).collect();
        let model = taint::language_model(language)?.with_rules(&specs).ok()?;
        Some(Self { model, rules: found.into_iter().map(|(at, _, _)| at).collect() })
    }

    /// The matches in a file.
    pub(super) fn places<'r>(
        &self,
        rules: &'r [Arc<Rule>],
        source: &Source,
    ) -> Vec<MatchedPlace<'r>> {
        taint::flows(source, &self.model)
            .into_iter()
            .filter_map(|flow| {
                let rule = self.rules.get(flow.rule).and_then(|at| rules.get(*at))?;
                let captures = captures(&flow, source);
                Some(MatchedPlace { rule, bytes: flow.sink, because: Some(flow.source), captures })
            })
            .collect()
    }
}

fn captures(flow: &TaintFlow, source: &Source) -> Captures {
    let text =
        |bytes: &Range<usize>| source.text().get(bytes.clone()).unwrap_or_default().to_owned();
    let before = source.text().as_bytes().get(..flow.source.start).unwrap_or_default();
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    Captures::from([
        ("SINK".to_owned(), text(&flow.sink)),
        ("SOURCE".to_owned(), text(&flow.source)),
        ("SOURCE_LINE".to_owned(), line.to_string()),
    ])
}
