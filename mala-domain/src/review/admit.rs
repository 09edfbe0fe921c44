//! Admission: a claim becomes a finding only if its file, lines and evidence exist at head. In a deleted
//! file, the removed lines are the evidence. Other claims are dropped and counted, never reported.

use crate::change::{AddedLines, Change, ChangedFile, FilePath, Hunk, LineSpan};
use crate::finding::{
    CodeLines, DedupeKey, Finding, Priority, ReviewClaim, Verification, VerificationOutcome,
    identity, occurrence,
};
use crate::language::Language;
use crate::review::FileTexts;
use crate::secrets;
use std::collections::HashMap;

/// How many lines of evidence are quoted.
const MAX_EVIDENCE_LINES: u32 = 12;
/// How many characters of one line are quoted.
const MAX_EVIDENCE_WIDTH: usize = 400;

/// The result of admission.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Admission {
    /// The admitted findings, by location.
    pub findings: Vec<Finding>,
    /// The dropped claims.
    pub dropped: Vec<DroppedClaim>,
}

/// A claim whose location or evidence does not exist.
#[derive(Debug, Clone, PartialEq)]
pub struct DroppedClaim {
    /// The reviewer that made it.
    pub reviewer: String,
    /// The reason.
    pub why: String,
    /// The claim.
    pub claim: ReviewClaim,
}

impl DroppedClaim {
    /// The claim as a finding that does not count, marked with the reason.
    pub fn to_refuted_finding(&self) -> Finding {
        let claim = ReviewClaim {
            verification: Verification::refuted(format!("it cannot be placed: {}", self.why)),
            ..self.claim.clone()
        };
        let quoted = claim.evidence.as_deref().unwrap_or_default();
        let evidence = quote(quoted.lines().take(quote_length(claim.span)));
        let place = CodeLocation {
            span: claim.span,
            quoted: claim.span,
            evidence,
            copies_before: Vec::new(),
        };
        finding(claim, place, &NoSymbols, &mut IdentityCounts::new())
    }

    /// Whether a check of the reviewer's own refuted it.
    pub fn is_refuted(&self) -> bool {
        self.claim.verification.outcome == VerificationOutcome::Refuted
    }

    /// The priority of the claim; P2 if it states none.
    pub fn priority(&self) -> Priority {
        self.claim.priority.unwrap_or(Priority::P2)
    }
}

/// A claim as a finding that was not checked yet.
pub fn unchecked(claim: ReviewClaim) -> Finding {
    let quoted = claim.evidence.as_deref().unwrap_or_default();
    let evidence = quote(quoted.lines().take(quote_length(claim.span)));
    let place =
        CodeLocation { span: claim.span, quoted: claim.span, evidence, copies_before: Vec::new() };
    finding(claim, place, &NoSymbols, &mut IdentityCounts::new())
}

/// An index without symbols, for claims without a location.
struct NoSymbols;

impl SymbolIndex for NoSymbols {
    fn symbol_at(&self, _: &FilePath, _: u32) -> Option<String> {
        None
    }
}

/// Tells the enclosing function or class of a line at head.
pub trait SymbolIndex {
    /// The qualified name, when there is one.
    fn symbol_at(&self, file: &FilePath, line: u32) -> Option<String>;
}

/// Admits the claims that exist at head, by location. Duplicates are merged later, by
/// [`merge_duplicates`](crate::review::merge::merge_duplicates), so that a suppression affects only one of them.
pub fn admit(
    claims: Vec<ReviewClaim>,
    change: &Change,
    texts: &FileTexts,
    symbols: &dyn SymbolIndex,
) -> Admission {
    let mut admission = Admission::default();
    let mut lines = LineCache::new(texts);
    let changed: HashMap<&FilePath, AddedLinesOfFile<'_>> =
        change.files.iter().map(|file| (&file.path, AddedLinesOfFile::of(file))).collect();
    let mut anchored = Vec::with_capacity(claims.len());
    for claim in claims {
        let file = changed.get(&claim.file).map(|changed| changed.file);
        match anchor(&claim, file, &mut lines) {
            Ok(place) => anchored.push((claim, place)),
            Err(why) => {
                let reviewer = claim.reviewer.clone();
                admission.dropped.push(DroppedClaim { reviewer, why, claim });
            }
        }
    }
    anchored
        .sort_by(|(a, at), (b, bt)| (&a.file, at.span, &a.rule).cmp(&(&b.file, bt.span, &b.rule)));
    let mut seen = HashMap::new();
    for (claim, place) in anchored {
        let changed = changed.get(&claim.file);
        let touches = changed.is_some_and(|changed| changed.added.overlaps(place.span));
        let mut finding = finding(claim, place, symbols, &mut seen);
        finding.on_changed_lines = touches;
        finding.language = finding.language.or(changed.and_then(|changed| changed.file.script));
        admission.findings.push(finding);
    }
    admission
}

/// Why each of these claims cannot be placed; `None` for claims that can.
pub fn unplaced_reasons(
    claims: &[ReviewClaim],
    change: &Change,
    texts: &FileTexts,
) -> Vec<Option<String>> {
    let mut lines = LineCache::new(texts);
    let files: HashMap<&FilePath, &ChangedFile> =
        change.files.iter().map(|file| (&file.path, file)).collect();
    let mut why =
        |claim: &ReviewClaim| anchor(claim, files.get(&claim.file).copied(), &mut lines).err();
    claims.iter().map(&mut why).collect()
}

/// The first reason if no claim can be placed; `None` if one can, or if there are no claims.
pub fn reason_none_placed(
    claims: &[ReviewClaim],
    change: &Change,
    texts: &FileTexts,
) -> Option<String> {
    let why: Option<Vec<String>> = unplaced_reasons(claims, change, texts).into_iter().collect();
    why?.into_iter().next()
}

/// A changed file with an index of its added lines.
struct AddedLinesOfFile<'c> {
    file: &'c ChangedFile,
    added: AddedLines,
}

impl<'c> AddedLinesOfFile<'c> {
    fn of(file: &'c ChangedFile) -> Self {
        Self { file, added: file.added() }
    }
}

/// The location of a claim at head, with the lines as evidence.
struct CodeLocation {
    span: LineSpan,
    /// The lines that the evidence quotes.
    quoted: LineSpan,
    evidence: String,
    /// The lines at which equal code starts earlier in the file.
    copies_before: Vec<u32>,
}

fn anchor(
    claim: &ReviewClaim,
    file: Option<&ChangedFile>,
    lines: &mut LineCache<'_>,
) -> Result<CodeLocation, String> {
    let name = &claim.file;
    if !name.stays_inside() {
        return Err(format!("{name}: a finding outside the reviewed tree"));
    }
    match (lines.of(name), file) {
        (Some(text), _) => {
            let mut place = anchor_in(&text.lines, claim)?;
            place.copies_before = text.copies_before(place.quoted);
            Ok(place)
        }
        (None, Some(file)) if !file.exists_at_head() => {
            let gone = file.hunks.iter().flat_map(|hunk| hunk.removed_lines());
            anchor_in(&gone.map(|(_, text)| text).collect::<Vec<_>>(), claim)
        }
        (None, _) => anchor_in_hunks(claim, file),
    }
}

fn anchor_in(text: &[&str], claim: &ReviewClaim) -> Result<CodeLocation, String> {
    let name = &claim.file;
    let shown = match &claim.evidence {
        Some(quoted) => find_quoted(text, claim.span, quoted)
            .ok_or_else(|| format!("{name}:{}: the quoted evidence is not there", claim.span))?,
        None => claim.span,
    };
    let n_lines = u32::try_from(text.len()).unwrap_or(u32::MAX);
    if shown.start() > n_lines {
        return Err(format!("{name}:{shown}: the file has {n_lines} lines"));
    }
    let span = range_around(shown, claim.span);
    let span = LineSpan::between(span.start(), span.end().min(n_lines));
    let quoted = text.iter().skip(index(shown.start())).take(quote_length(shown)).copied();
    Ok(CodeLocation { span, quoted: shown, evidence: quote(quoted), copies_before: Vec::new() })
}

/// The lines of a finding whose evidence is at `shown`: the cited lines, or as many where the evidence is.
fn range_around(shown: LineSpan, cited: LineSpan) -> LineSpan {
    if cited.contains(shown.start()) && cited.contains(shown.end()) {
        return cited;
    }
    let length = shown.n_lines().max(cited.n_lines());
    LineSpan::between(shown.start(), shown.start().saturating_add(length - 1))
}

/// With no text at head (a patch without its repository), the hunks themselves are the evidence.
fn anchor_in_hunks(
    claim: &ReviewClaim,
    file: Option<&ChangedFile>,
) -> Result<CodeLocation, String> {
    let name = &claim.file;
    let hunks = file.map(|file| file.hunks.as_slice()).unwrap_or_default();
    let place = match &claim.evidence {
        Some(quoted) if !hunks.is_empty() => find_in_hunks(hunks, claim.span, quoted)
            .ok_or_else(|| format!("{name}:{}: the quoted evidence is not there", claim.span))?,
        _ => claim.span,
    };
    let shown: Vec<&str> = hunks
        .iter()
        .flat_map(|hunk| hunk.head_lines())
        .filter(|(line, _)| place.contains(*line))
        .map(|(_, text)| text)
        .take(quote_length(place))
        .collect();
    if shown.is_empty() {
        return Err(format!("{name}:{place}: no such file or lines at head"));
    }
    let span = range_around(place, claim.span);
    let evidence = quote(shown.into_iter());
    Ok(CodeLocation { span, quoted: place, evidence, copies_before: Vec::new() })
}

/// Finds the quoted text in the hunks: near the cited lines, else in the only hunk that contains
/// it.
fn find_in_hunks(hunks: &[Hunk], cited: LineSpan, quoted: &str) -> Option<LineSpan> {
    let found: Vec<LineSpan> = hunks
        .iter()
        .filter_map(|hunk| {
            let text: Vec<&str> = hunk.head_lines().map(|(_, text)| text).collect();
            let before = hunk.new_start.max(1) - 1;
            let shifted = |line: u32| line.saturating_sub(before).max(1);
            let within = LineSpan::between(shifted(cited.start()), shifted(cited.end()));
            let place = find_quoted(&text, within, quoted)?;
            let at = |line: u32| line.saturating_add(before);
            Some(LineSpan::between(at(place.start()), at(place.end())))
        })
        .collect();
    let near = found.iter().filter(|place| is_near(place.start(), cited));
    let nearest = near.min_by_key(|place| distance(place.start(), cited));
    nearest.or(found.first().filter(|_| found.len() == 1)).copied()
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

/// The number of earlier findings of one category on the same code, by the identity of the first
/// one.
type IdentityCounts = HashMap<DedupeKey, usize>;

fn finding(
    claim: ReviewClaim,
    place: CodeLocation,
    symbols: &dyn SymbolIndex,
    seen: &mut IdentityCounts,
) -> Finding {
    let symbol = symbols.symbol_at(&claim.file, place.span.start());
    let nth = |occurrence| {
        let (symbol, category) = (symbol.as_deref(), claim.category);
        identity(&claim.file, symbol, &place.evidence, category, occurrence)
    };
    let is_same_symbol = |line: &&u32| symbols.symbol_at(&claim.file, **line) == symbol;
    let copy = place.copies_before.iter().filter(is_same_symbol).count();
    let n_before = seen.entry(nth(occurrence(copy, 0))).or_default();
    let dedupe_key = nth(occurrence(copy, *n_before));
    *n_before += 1;
    Finding {
        line_start: place.span.start(),
        line_end: place.span.end(),
        priority: claim.priority,
        severity: claim.priority.unwrap_or(Priority::P2).severity(),
        category: claim.category,
        title: secrets::redact(&claim.title).into_owned(),
        body: secrets::redact(&claim.body).into_owned(),
        suggestion: claim.suggestion.map(|text| secrets::redact(&text).into_owned()),
        evidence_snippet: place.evidence,
        confidence: claim.confidence.clamp(0.0, 1.0),
        language: Language::of_path(&claim.file).map(Language::reported),
        reviewer: claim.reviewer,
        rule: claim.rule,
        dedupe_key,
        symbol,
        verification: claim.verification,
        state: Default::default(),
        first_seen: None,
        also_reported_by: Vec::new(),
        on_changed_lines: false,
        also_at: Vec::new(),
        is_note: false,
        file: claim.file,
    }
}

/// Further copies of the same code are numbered by their order in the review.
const MAX_COPIES: usize = 200;

/// The lines of each text, split once.
struct LineCache<'t> {
    texts: &'t FileTexts,
    split: HashMap<FilePath, Option<TextLines<'t>>>,
}

/// The lines of one text.
struct TextLines<'t> {
    lines: Vec<&'t str>,
    code: CodeLines,
}

impl TextLines<'_> {
    /// The lines at which the code of these lines also occurs earlier in the file.
    fn copies_before(&self, span: LineSpan) -> Vec<u32> {
        let quoted = self.lines.iter().skip(index(span.start())).take(quote_length(span));
        self.code.copies_above(quoted.copied(), span.start(), MAX_COPIES)
    }
}

impl<'t> LineCache<'t> {
    fn new(texts: &'t FileTexts) -> Self {
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

/// Finds the quoted text in the file: at the cited lines, else at the only place that contains it.
fn find_quoted(text: &[&str], cited: LineSpan, quoted: &str) -> Option<LineSpan> {
    let wanted: Vec<&str> = quoted.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    place_of(text, cited, &wanted).or_else(|| {
        let bare = |line: &&str| line.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        let (text, wanted): (Vec<String>, Vec<String>) =
            (text.iter().map(bare).collect(), wanted.iter().map(bare).collect());
        let text: Vec<&str> = text.iter().map(String::as_str).collect();
        let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
        place_of(&text, cited, &wanted)
    })
}

fn place_of(text: &[&str], cited: LineSpan, wanted: &[&str]) -> Option<LineSpan> {
    let first = *wanted.first()?;
    let is_cited = text.get(index(cited.start())).is_some_and(|line| line.contains(first));
    if let Some(place) = span_from(text, cited.start(), wanted).filter(|_| is_cited) {
        return Some(place);
    }
    let places = text
        .iter()
        .enumerate()
        .filter(|(_, line)| line.contains(first))
        .filter_map(|(at, _)| span_from(text, u32::try_from(at + 1).ok()?, wanted));
    let mut n_places = 0;
    let (mut nearest, mut only): (Option<LineSpan>, Option<LineSpan>) = (None, None);
    for place in places {
        n_places += 1;
        only = (n_places == 1).then_some(place);
        let closer =
            |best: LineSpan| distance(place.start(), cited) < distance(best.start(), cited);
        if is_near(place.start(), cited) && nearest.is_none_or(closer) {
            nearest = Some(place);
        }
    }
    nearest.or(only)
}

/// Whether a line is one of the cited ones, or close to the first of them.
fn is_near(line: u32, cited: LineSpan) -> bool {
    line.abs_diff(cited.start()) <= 3 || cited.contains(line)
}

/// The distance of a line from the first cited one, for sorting; cited lines come first.
fn distance(line: u32, cited: LineSpan) -> (bool, u32) {
    (!cited.contains(line), line.abs_diff(cited.start()))
}

/// The lines from here on that contain the wanted ones in order, with blank lines allowed between
/// them.
fn span_from(text: &[&str], line: u32, wanted: &[&str]) -> Option<LineSpan> {
    let lines = (line..).zip(text.iter().skip(index(line)));
    let mut here = lines.filter(|(_, line)| !line.trim().is_empty());
    let mut end = line;
    for wanted in wanted {
        let (at, _) = here.next().filter(|(_, line)| line.contains(*wanted))?;
        end = at;
    }
    Some(LineSpan::between(line, end))
}
