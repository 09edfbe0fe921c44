//! Admission: a claim becomes a finding only when the file and the lines it cites are there at head,
//! and with the lines that show it. In a file that the change deletes, the lines that went are the
//! evidence. What is not there is dropped and counted, never reported.

mod evidence;

use crate::change::{AddedLines, Change, ChangedFile, FilePath, Hunk, LineSpan};
use crate::finding::{
    CodeLines, DedupeKey, Finding, Priority, ReviewClaim, Verification, VerificationOutcome,
    identity, occurrence,
};
use crate::language::Language;
use crate::review::Texts;
use crate::secrets;
use std::collections::HashMap;

/// How many lines of evidence are quoted.
const MAX_EVIDENCE_LINES: u32 = 12;
/// How many characters of one line are quoted.
const MAX_EVIDENCE_WIDTH: usize = 400;

/// What admission made of the claims.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Admission {
    /// What holds, by place.
    pub findings: Vec<Finding>,
    /// What was dropped, and why.
    pub dropped: Vec<Dropped>,
}

/// A claim that does not hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Dropped {
    /// Who made it.
    pub reviewer: String,
    /// Why it was dropped, in words.
    pub why: String,
    /// What it said.
    pub claim: ReviewClaim,
}

impl Dropped {
    /// The claim as a finding that does not count, marked with the reason.
    pub fn marked(&self) -> Finding {
        let claim = ReviewClaim {
            verification: Verification::refuted(format!("it cannot be placed: {}", self.why)),
            ..self.claim.clone()
        };
        let quoted = claim.evidence.as_deref().unwrap_or_default();
        let evidence = quote(quoted.lines().take(quote_length(claim.span)));
        let place = CodeLocation { span: claim.span, evidence, copies_before: Vec::new() };
        finding(claim, place, &Nowhere, &mut Seen::new())
    }

    /// Whether a check of the reviewer's own refuted it.
    pub fn is_refuted(&self) -> bool {
        self.claim.verification.outcome == VerificationOutcome::Refuted
    }

    /// How urgent it says to be; none counts as P2.
    pub fn priority(&self) -> Priority {
        self.claim.priority.unwrap_or(Priority::P2)
    }
}

/// Nothing encloses what is not there.
struct Nowhere;

impl SymbolIndex for Nowhere {
    fn symbol_at(&self, _: &FilePath, _: u32) -> Option<String> {
        None
    }
}

/// Tells the enclosing function or class of a line at head.
pub trait SymbolIndex {
    /// The qualified name, when there is one.
    fn symbol_at(&self, file: &FilePath, line: u32) -> Option<String>;
}

/// Admits the claims that hold at head, by place. What says the same is merged later, by
/// [`merged`](crate::review::merge::merged): a comment that sets one of them aside excuses no other.
pub fn admit(
    candidates: Vec<ReviewClaim>,
    change: &Change,
    texts: &Texts,
    symbols: &dyn SymbolIndex,
) -> Admission {
    let mut admission = Admission::default();
    let mut lines = LineCache::new(texts);
    let changed: HashMap<&FilePath, Changed<'_>> =
        change.files.iter().map(|file| (&file.path, Changed::of(file))).collect();
    let mut anchored = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let file = changed.get(&candidate.file).map(|changed| changed.file);
        match anchor(&candidate, file, &mut lines) {
            Ok(place) => anchored.push((candidate, place)),
            Err(why) => {
                let reviewer = candidate.reviewer.clone();
                admission.dropped.push(Dropped { reviewer, why, claim: candidate });
            }
        }
    }
    anchored
        .sort_by(|(a, at), (b, bt)| (&a.file, at.span, &a.rule).cmp(&(&b.file, bt.span, &b.rule)));
    let mut seen = HashMap::new();
    for (candidate, place) in anchored {
        let changed = changed.get(&candidate.file);
        let touches = changed.is_some_and(|changed| changed.added.overlaps(place.span));
        let mut finding = finding(candidate, place, symbols, &mut seen);
        finding.on_changed_lines = touches;
        finding.language = finding.language.or(changed.and_then(|changed| changed.file.script));
        admission.findings.push(finding);
    }
    admission
}

/// Why each of these claims does not hold at head; `None` for one that does.
pub fn objections(claims: &[ReviewClaim], change: &Change, texts: &Texts) -> Vec<Option<String>> {
    let mut lines = LineCache::new(texts);
    let files: HashMap<&FilePath, &ChangedFile> =
        change.files.iter().map(|file| (&file.path, file)).collect();
    let mut why =
        |claim: &ReviewClaim| anchor(claim, files.get(&claim.file).copied(), &mut lines).err();
    claims.iter().map(&mut why).collect()
}

/// Why none of these claims holds, by the first of them; `None` when one does, or when there are none.
pub fn none_holds(claims: &[ReviewClaim], change: &Change, texts: &Texts) -> Option<String> {
    let why: Option<Vec<String>> = objections(claims, change, texts).into_iter().collect();
    why?.into_iter().next()
}

/// A changed file, with its added lines ready for many questions.
struct Changed<'c> {
    file: &'c ChangedFile,
    added: AddedLines,
}

impl<'c> Changed<'c> {
    fn of(file: &'c ChangedFile) -> Self {
        Self { file, added: file.added() }
    }
}

/// Where a claim stands at head, with the lines that show it.
struct CodeLocation {
    span: LineSpan,
    evidence: String,
    /// The lines at which equal code starts earlier in the file.
    copies_before: Vec<u32>,
}

fn anchor(
    candidate: &ReviewClaim,
    file: Option<&ChangedFile>,
    lines: &mut LineCache<'_>,
) -> Result<CodeLocation, String> {
    let name = &candidate.file;
    if !name.stays_inside() {
        return Err(format!("{name}: a finding outside the reviewed tree"));
    }
    match (lines.of(name), file) {
        (Some(text), _) => {
            let mut place = anchor_in(&text.lines, candidate)?;
            place.copies_before = text.copies_before(place.span);
            Ok(place)
        }
        (None, Some(file)) if !file.exists_at_head() => {
            let gone = file.hunks.iter().flat_map(|hunk| hunk.removed_lines());
            anchor_in(&gone.map(|(_, text)| text).collect::<Vec<_>>(), candidate)
        }
        (None, _) => anchor_in_hunks(candidate, file),
    }
}

fn anchor_in(text: &[&str], candidate: &ReviewClaim) -> Result<CodeLocation, String> {
    let name = &candidate.file;
    let span = match &candidate.evidence {
        Some(quoted) => evidence::find(text, candidate.span, quoted).ok_or_else(|| {
            format!("{name}:{}: the quoted evidence is not there", candidate.span)
        })?,
        None => candidate.span,
    };
    let n_lines = u32::try_from(text.len()).unwrap_or(u32::MAX);
    if span.start() > n_lines {
        return Err(format!("{name}:{span}: the file has {n_lines} lines"));
    }
    let span = LineSpan::between(span.start(), span.end().min(n_lines));
    let quoted = text.iter().skip(index(span.start())).take(quote_length(span)).copied();
    Ok(CodeLocation { span, evidence: quote(quoted), copies_before: Vec::new() })
}

/// With no text at head (a patch without its repository), the hunks themselves are the evidence.
fn anchor_in_hunks(
    candidate: &ReviewClaim,
    file: Option<&ChangedFile>,
) -> Result<CodeLocation, String> {
    let name = &candidate.file;
    let hunks = file.map(|file| file.hunks.as_slice()).unwrap_or_default();
    let span = match &candidate.evidence {
        Some(quoted) if !hunks.is_empty() => find_in_hunks(hunks, candidate.span, quoted)
            .ok_or_else(|| {
                format!("{name}:{}: the quoted evidence is not there", candidate.span)
            })?,
        _ => candidate.span,
    };
    let shown: Vec<&str> = hunks
        .iter()
        .flat_map(|hunk| hunk.head_lines())
        .filter(|(line, _)| span.contains(*line))
        .map(|(_, text)| text)
        .take(quote_length(span))
        .collect();
    if shown.is_empty() {
        return Err(format!("{name}:{span}: no such file or lines at head"));
    }
    Ok(CodeLocation { span, evidence: quote(shown.into_iter()), copies_before: Vec::new() })
}

/// The lines of a hunk that hold the quoted text: near those cited, else in the only hunk that has it.
fn find_in_hunks(hunks: &[Hunk], cited: LineSpan, quoted: &str) -> Option<LineSpan> {
    let found: Vec<LineSpan> = hunks
        .iter()
        .filter_map(|hunk| {
            let text: Vec<&str> = hunk.head_lines().map(|(_, text)| text).collect();
            let before = hunk.new_start.max(1) - 1;
            let shifted = |line: u32| line.saturating_sub(before).max(1);
            let within = LineSpan::between(shifted(cited.start()), shifted(cited.end()));
            let place = evidence::find(&text, within, quoted)?;
            let at = |line: u32| line.saturating_add(before);
            Some(LineSpan::between(at(place.start()), at(place.end())))
        })
        .collect();
    let near = found.iter().find(|place| evidence::is_near(place.start(), cited));
    near.or(found.first().filter(|_| found.len() == 1)).copied()
}

fn quote<'t>(lines: impl Iterator<Item = &'t str>) -> String {
    let quoted: Vec<String> =
        lines.map(|line| line.chars().take(MAX_EVIDENCE_WIDTH).collect()).collect();
    secrets::redact(&quoted.join("\n")).into_owned()
}

fn quote_length(span: LineSpan) -> usize {
    usize::try_from(span.n_lines().min(MAX_EVIDENCE_LINES)).unwrap_or(1)
}

fn index(line: u32) -> usize {
    usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX)
}

/// What tells findings of one category on the same code apart: how many came before, by the identity of
/// the first.
type Seen = HashMap<DedupeKey, usize>;

fn finding(
    candidate: ReviewClaim,
    place: CodeLocation,
    symbols: &dyn SymbolIndex,
    seen: &mut Seen,
) -> Finding {
    let symbol = symbols.symbol_at(&candidate.file, place.span.start());
    let nth = |occurrence| {
        let (symbol, category) = (symbol.as_deref(), candidate.category);
        identity(&candidate.file, symbol, &place.evidence, category, occurrence)
    };
    let is_same_symbol = |line: &&u32| symbols.symbol_at(&candidate.file, **line) == symbol;
    let copy = place.copies_before.iter().filter(is_same_symbol).count();
    let n_before = seen.entry(nth(occurrence(copy, 0))).or_default();
    let dedupe_key = nth(occurrence(copy, *n_before));
    *n_before += 1;
    Finding {
        line_start: place.span.start(),
        line_end: place.span.end(),
        priority: candidate.priority,
        severity: candidate.priority.unwrap_or(Priority::P2).severity(),
        category: candidate.category,
        title: secrets::redact(&candidate.title).into_owned(),
        body: secrets::redact(&candidate.body).into_owned(),
        suggestion: candidate.suggestion.map(|text| secrets::redact(&text).into_owned()),
        evidence_snippet: place.evidence,
        confidence: candidate.confidence.clamp(0.0, 1.0),
        language: Language::of_path(&candidate.file),
        reviewer: candidate.reviewer,
        rule: candidate.rule,
        dedupe_key,
        symbol,
        verification: candidate.verification,
        state: Default::default(),
        first_seen: None,
        also_reported_by: Vec::new(),
        on_changed_lines: false,
        file: candidate.file,
    }
}

/// The lines of each text, split once.
struct LineCache<'t> {
    texts: &'t Texts,
    split: HashMap<FilePath, Option<TextLines<'t>>>,
}

/// The lines of one text.
struct TextLines<'t> {
    lines: Vec<&'t str>,
    code: CodeLines,
}

impl TextLines<'_> {
    /// Where the code of these lines stands earlier in the file.
    fn copies_before(&self, span: LineSpan) -> Vec<u32> {
        let quoted = self.lines.iter().skip(index(span.start())).take(quote_length(span));
        let starts = self.code.positions(quoted.copied()).into_iter().map(LineSpan::start);
        starts.filter(|line| *line < span.start()).collect()
    }
}

impl<'t> LineCache<'t> {
    fn new(texts: &'t Texts) -> Self {
        Self { texts, split: HashMap::new() }
    }

    fn of(&mut self, file: &FilePath) -> Option<&TextLines<'t>> {
        let texts = self.texts;
        self.split
            .entry(file.clone())
            .or_insert_with(|| {
                let lines: Vec<&str> = texts.at_head(file)?.lines().collect();
                let code = CodeLines::of_lines(lines.iter().copied());
                Some(TextLines { lines, code })
            })
            .as_ref()
    }
}
