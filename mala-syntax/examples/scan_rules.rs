//! Runs the embedded rules over folders, to read what they say on real code:
//! `cargo run -p mala-syntax --example scan_rules -- [--rule ID-PREFIX]... PATH...`

use mala_domain::change::FilePath;
use mala_domain::language::Language;
use mala_syntax::rules::{Rule, RuleSet};
use mala_syntax::source::Source;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn main() -> std::io::Result<()> {
    let (mut prefixes, mut paths) = (Vec::new(), Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--rule" {
            prefixes.extend(arguments.next());
        } else {
            paths.push(PathBuf::from(argument));
        }
    }
    let wanted = |rule: &Rule| match prefixes.as_slice() {
        [] => rule.is_default(),
        prefixes => prefixes.iter().any(|prefix| rule.id.starts_with(prefix.as_str())),
    };
    let rules = RuleSet::builtin(&Language::ALL).only(wanted);
    let mut scan = Scan {
        rules,
        out: std::io::stdout().lock(),
        counts: BTreeMap::new(),
        n_files: 0,
        spent: Duration::ZERO,
    };
    for path in paths {
        scan.visit(&path)?;
    }
    let counts = std::mem::take(&mut scan.counts);
    for (rule, count) in &counts {
        writeln!(scan.out, "{count:6} {rule}")?;
    }
    writeln!(scan.out, "{} files in {:?}", scan.n_files, scan.spent)?;
    for language in Language::ALL {
        let started = Instant::now();
        let n_rules = RuleSet::builtin(&[language]).catalogue().len();
        writeln!(scan.out, "{language}: {n_rules} rules loaded in {:?}", started.elapsed())?;
    }
    Ok(())
}

struct Scan<W> {
    rules: RuleSet,
    out: W,
    counts: BTreeMap<String, usize>,
    n_files: usize,
    spent: Duration,
}

impl<W: Write> Scan<W> {
    fn visit(&mut self, path: &Path) -> std::io::Result<()> {
        if path.is_symlink() {
            return Ok(());
        }
        if path.is_dir() {
            let mut entries: Vec<_> = std::fs::read_dir(path)?.collect::<Result<_, _>>()?;
            entries.sort_by_key(std::fs::DirEntry::file_name);
            return entries.iter().try_for_each(|entry| self.visit(&entry.path()));
        }
        let file = FilePath::from(path.to_string_lossy().as_ref());
        let Some(language) = Language::of_path(&file) else {
            return Ok(());
        };
        let text = String::from_utf8_lossy(&std::fs::read(path)?).into_owned();
        let Some(source) = Source::parse(language, &text) else {
            return Ok(());
        };
        self.n_files += 1;
        let started = Instant::now();
        let found = self.rules.run(&source, &file);
        self.spent += started.elapsed();
        for found in found {
            let first = text.lines().nth(found.span.start() as usize - 1).unwrap_or_default();
            writeln!(self.out, "{}:{} {}", path.display(), found.span, found.rule.id)?;
            writeln!(self.out, "    {}\n    | {}", found.message, first.trim())?;
            *self.counts.entry(found.rule.id.clone()).or_default() += 1;
        }
        Ok(())
    }
}
