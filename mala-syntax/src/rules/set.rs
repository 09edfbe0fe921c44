//! The rules of a run, and running them over a file.

use super::ecmascript::ScriptFile;
use super::flows::FlowRules;
use super::index::{KindIndex, RuleEntry};
use super::matching::{LineStarts, MatchedPlace, RuleMatch};
use super::native::{CheckMatch, FAMILIES, NativeMatch};
use super::rule::{Detector, Rule};
use super::template::Captures;
use super::test_path::{is_built, is_sample, is_showcase};
use super::walk::walk;
use super::{builtin, is_test_path};
use crate::grammar::Grammar;
use crate::source::Source;
use ast_grep_core::Node;
use ast_grep_core::matcher::{MatcherExt, NodeMatch};
use ast_grep_core::meta_var::MetaVariable;
use ast_grep_core::tree_sitter::StrDoc;
use mala_domain::change::{FilePath, LineSpan};
use mala_domain::finding::Category;
use mala_domain::language::Language;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A file with more matches than this is not read any better for having them all.
const MAX_MATCHES: usize = 20_000;

/// The matches of a search, and the lines that were not searched.
#[derive(Default)]
pub struct Searched {
    /// The matches, by place.
    pub matches: Vec<RuleMatch>,
    /// Lines with code that is too deep or too long to search.
    pub missed: Vec<LineSpan>,
}

/// How much of a file its text shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// Some of its lines. What a rule does not see there may still exist, so only rules about single
    /// places and about security run.
    Part,
}

/// The rules of a run.
pub struct RuleSet {
    rules: Vec<Arc<Rule>>,
    /// Per language, made when its first file is searched.
    indexes: BTreeMap<Language, OnceLock<KindIndex>>,
    flows: BTreeMap<Language, OnceLock<Option<FlowRules>>>,
}

impl RuleSet {
    /// The embedded rules for these languages, the extended ones too.
    pub fn builtin(languages: &[Language]) -> Self {
        Self::of(builtin::rules(languages))
    }

    /// A set of given rules.
    pub fn of(rules: impl IntoIterator<Item = Arc<Rule>>) -> Self {
        let rules: Vec<_> = rules.into_iter().collect();
        let languages: BTreeSet<_> = rules.iter().flat_map(|rule| &rule.languages).collect();
        let indexes = languages.iter().map(|language| (**language, OnceLock::new())).collect();
        let flows = languages.iter().map(|language| (**language, OnceLock::new())).collect();
        Self { rules, indexes, flows }
    }

    /// The same set with more rules; a rule with a known id replaces the other one.
    #[must_use]
    pub fn with(self, further: impl IntoIterator<Item = Arc<Rule>>) -> Self {
        let mut rules = self.rules;
        for rule in further {
            match rules.iter_mut().find(|known| known.id == rule.id) {
                Some(known) => *known = rule,
                None => rules.push(rule),
            }
        }
        Self::of(rules)
    }

    /// The rules of the set that should run: `only(Rule::is_default)` leaves out the extended ones.
    #[must_use]
    pub fn only(self, keep: impl Fn(&Rule) -> bool) -> Self {
        Self::of(self.rules.into_iter().filter(|rule| keep(rule)))
    }

    /// All rules of the set, ordered by id.
    pub fn catalogue(&self) -> Vec<&Arc<Rule>> {
        let mut rules: Vec<_> = self.rules.iter().collect();
        rules.sort_by(|a, b| a.id.cmp(&b.id));
        rules
    }

    /// The matches of the rules in a file.
    pub fn run(&self, source: &Source, path: &FilePath) -> Vec<RuleMatch> {
        self.search(source, path, None).matches
    }

    /// The matches of the rules on some lines of a file.
    pub fn run_in(
        &self,
        source: &Source,
        path: &FilePath,
        lines: &[LineSpan],
        extent: Extent,
    ) -> Searched {
        let mut searched = self.search(source, path, Some(lines));
        if extent == Extent::Part {
            searched.matches.retain(|found| found.rule.holds_in_a_part());
        }
        searched
    }

    fn search(&self, source: &Source, path: &FilePath, only: Option<&[LineSpan]>) -> Searched {
        if is_sample(path) {
            return Searched::default();
        }
        let Some(made) = self.indexes.get(&source.language()) else {
            return Searched::default();
        };
        let index = made.get_or_init(|| KindIndex::new(&self.rules, source.language()));
        let lines = LineStarts::of(source.text());
        let in_tests = is_test_path(path);
        let (in_showcase, in_build) = (is_showcase(path), is_built(path));
        let is_silent = |category| in_build || in_showcase && category == Category::Security;
        let (places, mut missed) = self.places(index, source, only);
        let mut matches: Vec<_> = places
            .into_iter()
            .filter(|place| !(in_tests && place.rule.skip_tests))
            .filter(|place| !is_silent(place.rule.category))
            .filter(|place| !is_garbled(source, &place.bytes))
            .filter(|place| !is_bundled(source, &place.bytes))
            .filter(|place| only.is_none_or(|spans| place.meets(spans, &lines)))
            .take(MAX_MATCHES + 1)
            .map(|place| RuleMatch::new(place, &lines))
            .collect();
        if matches.len() > MAX_MATCHES {
            missed.push(LineSpan::between(1, u32::MAX));
        }
        matches.sort_by(|a, b| a.order().cmp(&b.order()));
        matches.dedup_by(|a, b| a.says_the_same_as(b));
        Searched { matches, missed }
    }

    /// The matches from one walk over the nodes on the requested lines, and the lines that were not
    /// searched.
    fn places(
        &self,
        index: &KindIndex,
        source: &Source,
        only: Option<&[LineSpan]>,
    ) -> (Vec<MatchedPlace<'_>>, Vec<LineSpan>) {
        let mut places = self.whole_file_places(index, source);
        places.extend(self.flow_places(source));
        let mut for_families: BTreeMap<usize, Vec<_>> = BTreeMap::new();
        let ast = source.ast();
        let missed = walk(ast.root().get_inner_node(), only, |node| {
            let kind = node.kind_id();
            let mut entries = index.of_kind(kind).peekable();
            if entries.peek().is_some() {
                let node = ast.adopt(node);
                places.extend(entries.filter_map(|entry| self.shape_place(entry, node.clone())));
            }
            for family in index.families_of_kind(kind) {
                for_families.entry(*family).or_default().push(node);
            }
        });
        for (family, rules) in &index.families {
            let nodes = for_families.remove(family).unwrap_or_default();
            places.extend(self.family_places(*family, rules, source, &nodes));
        }
        (places, missed)
    }

    fn shape_place(
        &self,
        entry: RuleEntry,
        node: Node<'_, StrDoc<Grammar>>,
    ) -> Option<MatchedPlace<'_>> {
        let rule = self.rules.get(entry.rule)?;
        let Detector::Shape(matchers) = &rule.detector else {
            return None;
        };
        let (_, matcher) = matchers.get(entry.matcher)?;
        let found = matcher.match_node(node)?;
        let at = rule.at.as_deref().and_then(|name| range_of(&found, name));
        let bytes = at.unwrap_or_else(|| found.range());
        Some(MatchedPlace { rule, bytes, because: None, captures: captures(&found) })
    }

    fn flow_places(&self, source: &Source) -> Vec<MatchedPlace<'_>> {
        let Some(made) = self.flows.get(&source.language()) else { return Vec::new() };
        let flows = made.get_or_init(|| FlowRules::new(&self.rules, source.language()));
        flows.as_ref().map(|flows| flows.places(&self.rules, source)).unwrap_or_default()
    }

    fn whole_file_places(&self, index: &KindIndex, source: &Source) -> Vec<MatchedPlace<'_>> {
        let rules = index.whole_file.iter().filter_map(|position| self.rules.get(*position));
        let program = OnceCell::new();
        rules.flat_map(|rule| whole_file_places(rule, source, &program)).collect()
    }

    /// The matches of a family of native checks, for each rule that names one of them.
    fn family_places(
        &self,
        family: usize,
        rules: &[usize],
        source: &Source,
        nodes: &[tree_sitter::Node<'_>],
    ) -> Vec<MatchedPlace<'_>> {
        let Some(family) = FAMILIES.get(family) else {
            return Vec::new();
        };
        if nodes.is_empty() && !family.kinds.is_empty() {
            return Vec::new();
        }
        let mut places = Vec::new();
        for CheckMatch { check, found } in (family.run)(source, nodes) {
            let rules = rules.iter().filter_map(|rule| self.rules.get(*rule));
            let named = rules.filter(|rule| rule.is_native(check));
            places.extend(named.map(|rule| native_place(rule, found.clone())));
        }
        places
    }
}

fn whole_file_places<'r, 't>(
    rule: &'r Arc<Rule>,
    source: &'t Source,
    program: &OnceCell<ScriptFile<'t>>,
) -> Vec<MatchedPlace<'r>> {
    let found = match &rule.detector {
        Detector::ScriptFile(check) => {
            check.matches(program.get_or_init(|| ScriptFile::of(source)))
        }
        Detector::Shape(_) | Detector::Taint(_) | Detector::Native { .. } => return Vec::new(),
    };
    found.into_iter().map(|found| native_place(rule, found)).collect()
}

fn native_place(rule: &Arc<Rule>, found: NativeMatch) -> MatchedPlace<'_> {
    MatchedPlace {
        rule,
        bytes: found.bytes,
        because: found.because,
        captures: found.captures.into_iter().map(|(k, v)| (k.to_owned(), v)).collect(),
    }
}

fn captures(found: &NodeMatch<'_, StrDoc<Grammar>>) -> Captures {
    let env = found.get_env();
    let names = env.get_matched_variables().filter_map(|variable| match variable {
        MetaVariable::Capture(name, _) | MetaVariable::MultiCapture(name) => Some(name),
        MetaVariable::Dropped(_) | MetaVariable::Multiple => None,
    });
    let text = found.get_doc().src.as_str();
    names
        .filter_map(|name| {
            let matched = text.get(range_of(found, &name)?)?.to_owned();
            Some((name, matched))
        })
        .collect()
}

/// A line longer than this was not typed: a tool put code together.
const LONG_LINE: usize = 500;

/// Whether a place starts on a line of a bundled script. Only for scripts: other languages are not
/// bundled.
fn is_bundled(source: &Source, bytes: &Range<usize>) -> bool {
    if source.language() != Language::JavaScript {
        return false;
    }
    let text = source.text();
    let (before, after) = text.split_at_checked(bytes.start).unwrap_or((text, ""));
    let start = before.rfind('\n').map_or(before.len(), |at| before.len() - at);
    start + after.find('\n').unwrap_or(after.len()) > LONG_LINE
}

/// Whether a place contains, or is next to, a syntax error, so that its meaning is unknown.
fn is_garbled(source: &Source, bytes: &Range<usize>) -> bool {
    let root = source.tree().root_node();
    if !root.has_error() {
        return false;
    }
    let Some(place) = root.descendant_for_byte_range(bytes.start, bytes.end) else { return false };
    let is_error = |node: tree_sitter::Node<'_>| node.is_error();
    place.has_error()
        || place.prev_sibling().is_some_and(is_error)
        || place.next_sibling().is_some_and(is_error)
}

/// The bytes that a metavariable matched.
fn range_of(found: &NodeMatch<'_, StrDoc<Grammar>>, name: &str) -> Option<Range<usize>> {
    let env = found.get_env();
    if let Some(node) = env.get_match(name) {
        return Some(node.range());
    }
    let nodes = env.get_multiple_matches(name);
    Some(nodes.first()?.range().start..nodes.last()?.range().end)
}
