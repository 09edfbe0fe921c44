//! Findings keep their identity through edits of real files, and no two of them become one.

use super::edits::{EditedFile, FileEdit, identifiers};
use super::problems::{PROBLEM_KINDS, ProblemKind};
use fastrand::Rng;
use mala_domain::change::{Change, FilePath, LineSpan, parse};
use mala_domain::finding::{Category, Finding, FindingState, Priority, ReviewClaim, Verification};
use mala_domain::language::Language;
use mala_domain::ledger::delta::{Delta, ReviewedLines};
use mala_domain::ledger::matching::{KnownFindings, MatchDecision, match_all};
use mala_domain::ledger::{FindingId, LedgerFinding, Standing};
use mala_domain::ports::Blob;
use mala_domain::review::FileTexts;
use mala_domain::review::admit::{SymbolIndex, admit};
use mala_syntax::parsed::ParsedFile;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Real files of several languages: sources of this repository and samples of its tests.
const MATERIAL: [&str; 14] = [
    "mala/tests/it/eval/samples/orders.py",
    "mala/tests/it/eval/samples/orders.js",
    "mala/tests/it/eval/samples/orders.ts",
    "mala/tests/it/eval/samples/orders.go",
    "mala/tests/it/eval/samples/Orders.java",
    "eval/data/starter/py-billing-proration/head/billing/invoices.py",
    "eval/data/starter/py-upload-storage/head/attachments/views.py",
    "eval/data/starter/ts-session-tokens/head/src/auth/session.ts",
    "eval/data/starter/js-csv-export/head/lib/export.js",
    "mala/tests/it/real_model/server.py",
    "mala-domain/src/change/path.rs",
    "mala-domain/src/finding/scale.rs",
    "mala-domain/src/change/line.rs",
    "mala-syntax/src/parsed.rs",
];

/// A problem on lines of a file, as one reviewer reports it.
#[derive(Clone)]
struct Planted {
    lines: Vec<usize>,
    kind: &'static ProblemKind,
    wording: usize,
    category: Category,
    name: String,
    reviewer: &'static str,
}

/// One review: the file, its lines as the ledger stores them, and the admitted findings by their number.
struct PlantedReview {
    texts: FileTexts,
    lines: ReviewedLines,
    findings: BTreeMap<usize, Finding>,
}

struct Symbols(Option<ParsedFile>);

impl Symbols {
    fn of(file: &EditedFile) -> Self {
        let language = Language::of_path(&path(file)).unwrap();
        Self(ParsedFile::of(language, &file.text()))
    }
}

impl SymbolIndex for Symbols {
    fn symbol_at(&self, _: &FilePath, line: u32) -> Option<String> {
        self.0.as_ref()?.outline().enclosing(line).map(|it| it.symbol)
    }
}

#[derive(Default)]
struct Tally {
    n_kept: usize,
    n_strangers: usize,
    merged: Vec<String>,
    lost: Vec<String>,
}

#[test]
fn edits_keep_findings_apart_and_recognisable() {
    let files = MATERIAL.map(|path| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        EditedFile::new(path, &std::fs::read_to_string(root.join(path)).unwrap())
    });
    let mut tally = Tally::default();
    for seed in 0..220 {
        let mut rng = Rng::with_seed(seed);
        let file = rng.choice(&files).unwrap();
        play(file, &mut rng, seed, &mut tally);
    }
    let n_known = tally.n_kept + tally.lost.len();
    let n_trials = n_known + tally.n_strangers;
    assert!(tally.merged.is_empty(), "{} merged:\n{}", tally.merged.len(), tally.merged.join("\n"));
    let lost = tally.lost.join("\n");
    assert!(tally.lost.len() * 100 <= n_known, "{} of {n_known} lost:\n{lost}", tally.lost.len());
    assert!(n_trials >= 10_000, "{n_trials} trials");
}

/// A review of a file, edits, and a few ways to review it again.
fn play(original: &EditedFile, rng: &mut Rng, seed: u64, tally: &mut Tally) {
    let mut file = original.clone();
    for _ in 0..rng.usize(..6) {
        file.copy_line(rng);
    }
    let planted = plant(&file, rng);
    let n_first = rng.usize(1..=planted.len());
    let first = review(&file, &Symbols::of(&file), planted[..n_first].iter().enumerate());
    let has_delta = rng.u8(..4) > 0;
    let (edited, edits, gone) = edit(&file, &planted[..n_first], has_delta, rng);
    let symbols = Symbols::of(&edited);
    for _ in 0..3 {
        let mut reported: Vec<(usize, Planted)> = Vec::new();
        for (number, it) in planted.iter().enumerate() {
            if !gone.contains(&number) && rng.u8(..8) > 0 {
                reported.push((number, reported_again(it, rng)));
            }
        }
        let second = review(&edited, &symbols, reported.iter().map(|(number, it)| (*number, it)));
        let story = format!("seed {seed} {edits:?} delta {has_delta}");
        compare(&first, second, has_delta, &story, tally);
    }
}

/// Looks the findings of the second review up among those of the first one.
fn compare(
    first: &PlantedReview,
    second: PlantedReview,
    has_delta: bool,
    story: &str,
    tally: &mut Tally,
) {
    // The file is new in the change: no diff of git has its renames.
    let renames = first.lines.renamed_in(&second.lines, |_| true);
    let delta = Delta::between(&first.lines, &second.lines, &renames);
    let known: Vec<LedgerFinding> =
        first.findings.iter().map(|(number, finding)| stored(*number, finding)).collect();
    let known = KnownFindings {
        findings: &known,
        renames: &renames,
        delta: has_delta.then_some(&delta),
        added: &second.lines,
        texts: &second.texts,
    };
    let (numbers, findings): (Vec<usize>, Vec<Finding>) = second.findings.into_iter().unzip();
    for ((number, finding), decision) in
        numbers.into_iter().zip(&findings).zip(match_all(&findings, &known))
    {
        let what = || {
            let id = decision.id.as_ref().map_or(number, |id| id.0.parse().unwrap());
            format!("{story} {decision:?}\n{finding:#?}\n{:#?}", first.findings.get(&id))
        };
        count(first.findings.contains_key(&number), number, &decision, tally, &what);
    }
}

fn count(
    is_known: bool,
    number: usize,
    decision: &MatchDecision,
    tally: &mut Tally,
    what: &dyn Fn() -> String,
) {
    let expected = is_known.then(|| FindingId(number.to_string()));
    match (&expected, &decision.id) {
        (Some(expected), Some(id)) if id == expected => tally.n_kept += 1,
        (None, None) => tally.n_strangers += 1,
        (Some(_), None) => tally.lost.push(what()),
        (_, Some(_)) => tally.merged.push(what()),
    }
}

/// Plants problems on lines of a file. Some are next to each other, on equal lines, or of the same kind; two
/// on the same line are of different kinds.
fn plant(file: &EditedFile, rng: &mut Rng) -> Vec<Planted> {
    let is_code = |index: &usize| identifiers(&file.lines[*index].text).nth(1).is_some();
    let candidates: Vec<usize> = (0..file.lines.len()).filter(is_code).collect();
    let same_kind = rng.choice(&PROBLEM_KINDS).unwrap();
    let mut used = BTreeSet::new();
    let mut planted: Vec<Planted> = Vec::new();
    for _ in 0..rng.usize(16..40) {
        let start = *rng.choice(&candidates).unwrap();
        let indexes: Vec<usize> =
            (start..file.lines.len()).take(*rng.choice(&[1, 1, 1, 2, 3]).unwrap()).collect();
        if indexes.iter().any(|index| !used.insert(*index)) {
            continue;
        }
        let kind = if rng.bool() { same_kind } else { rng.choice(&PROBLEM_KINDS).unwrap() };
        planted.push(claim_on(file, &indexes, kind, rng));
        let is_other = |it: &&ProblemKind| is_other_kind(it, kind);
        let others: Vec<&ProblemKind> = PROBLEM_KINDS.iter().filter(is_other).collect();
        if let Some(other) = rng.choice(&others).filter(|_| rng.u8(..4) == 0) {
            planted.push(claim_on(file, &indexes, other, rng));
        }
    }
    rng.shuffle(&mut planted);
    planted
}

/// Whether reviewers give two kinds of problems different kinds of categories.
fn is_other_kind(one: &ProblemKind, other: &ProblemKind) -> bool {
    let wrong =
        |it: &Category| matches!(it, Category::Bug | Category::Logic | Category::ErrorHandling);
    !one.categories
        .iter()
        .any(|it| other.categories.iter().any(|its| it == its || (wrong(it) && wrong(its))))
}

fn claim_on(
    file: &EditedFile,
    indexes: &[usize],
    kind: &'static ProblemKind,
    rng: &mut Rng,
) -> Planted {
    let names: Vec<&str> = identifiers(&file.lines[indexes[0]].text).collect();
    Planted {
        lines: indexes.iter().map(|index| file.lines[*index].id).collect(),
        kind,
        wording: rng.usize(..kind.wordings.len()),
        category: kind.categories[0],
        name: (*rng.choice(&names).unwrap()).to_owned(),
        reviewer: "agent",
    }
}

/// The file after a few edits, with the numbers of the findings that were fixed.
fn edit(
    file: &EditedFile,
    known: &[Planted],
    has_delta: bool,
    rng: &mut Rng,
) -> (EditedFile, BTreeSet<FileEdit>, BTreeSet<usize>) {
    let mut edited = file.clone();
    let mut gone = BTreeSet::new();
    let mut fixed = BTreeSet::new();
    if has_delta && rng.bool() {
        let lines = &rng.choice(known).unwrap().lines;
        fixed = lines.iter().copied().collect();
        gone = known
            .iter()
            .enumerate()
            .filter(|(_, it)| it.lines == *lines)
            .map(|(at, _)| at)
            .collect();
    }
    let kept: BTreeSet<usize> = known.iter().flat_map(|it| it.lines.iter().copied()).collect();
    let edits: BTreeSet<FileEdit> =
        (0..rng.usize(1..4)).map(|_| *rng.choice(&FileEdit::ALL).unwrap()).collect();
    for edit in &edits {
        edited.apply(*edit, &kept, rng);
    }
    if !fixed.is_empty() {
        edited.remove(&fixed, rng);
    }
    (edited, edits, gone)
}

/// The same problem as a later review reports it.
fn reported_again(planted: &Planted, rng: &mut Rng) -> Planted {
    let mut again = planted.clone();
    if rng.bool() {
        again.wording = rng.usize(..again.kind.wordings.len());
    }
    if rng.u8(..4) == 0 {
        again.category = again.kind.categories[1];
    }
    if rng.u8(..3) == 0 {
        again.reviewer = "another";
    }
    again
}

/// Reviews a file that the change adds.
fn review<'p>(
    file: &EditedFile,
    symbols: &Symbols,
    planted: impl Iterator<Item = (usize, &'p Planted)>,
) -> PlantedReview {
    let text = file.text();
    let body: String = text.lines().map(|line| format!("+{line}\n")).collect();
    let name = &file.path;
    let n_lines = file.lines.len();
    let diff = format!(
        "diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,{n_lines} @@\n{body}"
    );
    let change = Change { files: parse(diff.as_bytes()).unwrap() };
    let mut texts = FileTexts::default();
    texts.head.insert(path(file), Blob::Text(text));
    let claims: Vec<ReviewClaim> =
        planted.filter_map(|(number, it)| claim(file, number, it)).collect();
    let findings = admit(claims, &change, &texts, symbols).findings;
    let numbered = findings.into_iter().map(|mut finding| {
        let (number, reviewer) = finding.reviewer.split_once(' ').unwrap();
        let number = number.parse().unwrap();
        finding.reviewer = reviewer.to_owned();
        (number, finding)
    });
    PlantedReview { lines: ReviewedLines::of(&change), findings: numbered.collect(), texts }
}

fn claim(file: &EditedFile, number: usize, planted: &Planted) -> Option<ReviewClaim> {
    let (title, body) = planted.kind.wordings[planted.wording];
    let lines: Option<Vec<(u32, u32)>> =
        planted.lines.iter().map(|id| file.lines_of(*id)).collect();
    let lines = lines?;
    Some(ReviewClaim {
        file: path(file),
        span: LineSpan::between(lines.first()?.0, lines.last()?.1),
        priority: Some(Priority::P1),
        category: planted.category,
        title: title.replace("{name}", &planted.name),
        body: body.replace("{name}", &planted.name),
        suggestion: None,
        evidence: None,
        confidence: 0.9,
        reviewer: format!("{number} {}", planted.reviewer),
        rule: None,
        verification: Verification::default(),
    })
}

fn stored(number: usize, finding: &Finding) -> LedgerFinding {
    LedgerFinding {
        id: FindingId(number.to_string()),
        finding: finding.clone(),
        state: FindingState::Open,
        standing: Some(Standing::New),
        subject: String::new(),
        first_seen: String::new(),
        first_seen_at: String::new(),
        last_seen_at: String::new(),
        n_occurrences: 1,
        waiver: None,
        paths: Vec::new(),
        code: None,
    }
}

fn path(file: &EditedFile) -> FilePath {
    FilePath::from(file.path.as_str())
}
