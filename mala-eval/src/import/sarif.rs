//! SARIF 2.1.0: the results of a tool are the known problems of the change that the user names. Only results
//! on added lines count.

use super::draft::{CaseDraft, DraftCode, DraftLocation, DraftProblem, ProblemFilter};
use super::mapping;
use super::outline::JsonPart;
use super::{ImportFile, ImportedDrafts, RecordLocation};
use crate::case::CaseMeta;
use mala_domain::change::{FilePath, LineSpan};
use mala_domain::finding::{Category, Severity};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// Roots that addresses may start at; a run has one or two.
const MAX_BASES: usize = 16;

pub(super) fn read(files: &[ImportFile]) -> ImportedDrafts {
    let mut imported = ImportedDrafts::default();
    let Some(first) = files.first() else { return imported };
    let mut draft = CaseDraft::new(RecordLocation::new(first, 1), "", DraftCode::Named);
    draft.keep = ProblemFilter::OnChangedLines;
    let mut tools: Vec<String> = Vec::new();
    for file in files {
        match runs(file) {
            Ok(runs) => {
                for run in runs {
                    let shown = ImportedRun::read(run);
                    tools.extend(shown.tool.clone());
                    shown.take(&mut imported, &mut draft, (file, run));
                }
            }
            Err((line, why)) => imported.skip(&RecordLocation::new(file, line), why),
        }
    }
    if !tools.is_empty() {
        tools.dedup();
        draft.meta = CaseMeta::default()
            .with("source", format!("SARIF of {}", tools.join(", ")))
            .with("licence", "that of the repository");
        imported.drafts.push(draft);
    }
    imported
}

fn runs(file: &ImportFile) -> Result<Vec<JsonPart<'_>>, (usize, String)> {
    let whole = JsonPart::whole(file)?;
    let version: Option<String> = whole.field("version").and_then(|version| version.read().ok());
    if version.as_deref() != Some("2.1.0") {
        return Err((1, "not a SARIF 2.1.0 file".to_owned()));
    }
    whole.field("runs").and_then(JsonPart::items).ok_or((1, "no list of runs".to_owned()))
}

/// The data of a run besides its results.
struct ImportedRun {
    tool: Option<String>,
    rules: Vec<(String, ImportedRule)>,
    by_id: HashMap<String, usize>,
    bases: BTreeMap<String, String>,
    artifacts: Vec<String>,
}

/// The data of a rule.
#[derive(Clone, Default)]
struct ImportedRule {
    category: Option<Category>,
    severity: Option<Severity>,
}

impl ImportedRun {
    fn read(run: JsonPart<'_>) -> Self {
        let value = |name: &str| -> Value {
            run.field(name).and_then(|part| part.read().ok()).unwrap_or_default()
        };
        let driver = &value("tool")["driver"];
        let rules = list(&driver["rules"]).iter().map(|rule| {
            let id = text(&rule["id"]).unwrap_or_default();
            (id.to_owned(), ImportedRule::read(rule))
        });
        let rules: Vec<(String, ImportedRule)> = rules.collect();
        let by_id = rules.iter().enumerate().rev().map(|(at, (id, _))| (id.clone(), at)).collect();
        let bases = value("originalUriBaseIds");
        let bases = bases
            .as_object()
            .into_iter()
            .flatten()
            .filter_map(|(name, base)| Some((name.clone(), text(&base["uri"])?.to_owned())));
        let artifacts = value("artifacts");
        let artifacts = list(&artifacts).iter();
        Self {
            tool: Some(text(&driver["name"]).unwrap_or("an unnamed tool").to_owned()),
            rules,
            by_id,
            bases: bases.take(MAX_BASES).collect(),
            artifacts: artifacts
                .map(|artifact| text(&artifact["location"]["uri"]).unwrap_or_default().to_owned())
                .collect(),
        }
    }

    fn take(
        &self,
        imported: &mut ImportedDrafts,
        draft: &mut CaseDraft,
        (file, run): (&ImportFile, JsonPart<'_>),
    ) {
        let results = run.field("results").and_then(JsonPart::items).unwrap_or_default();
        for result in results {
            let location = RecordLocation::new(file, result.line);
            match result.read().and_then(|result| self.claim(&location, &result)) {
                Ok(claim) => draft.truths.push(claim),
                Err(why) => imported.skip(&location, why),
            }
        }
    }

    fn claim(&self, location: &RecordLocation, result: &Value) -> Result<DraftProblem, String> {
        match (text(&result["kind"]), text(&result["baselineState"])) {
            (Some(kind), _) if kind != "fail" => return Err(format!("its kind is {kind:?}")),
            (_, Some("absent")) => return Err("absent since the baseline".to_owned()),
            _ => {}
        }
        let is_suppressed = list(&result["suppressions"]).iter().any(|suppression| {
            text(&suppression["status"]).is_none_or(|status| status == "accepted")
        });
        if is_suppressed {
            return Err("it is suppressed".to_owned());
        }
        let index = result["ruleIndex"].as_u64().or_else(|| result["rule"]["index"].as_u64());
        let at_index = index.and_then(|at| self.rules.get(usize::try_from(at).ok()?));
        let id = text(&result["ruleId"]).or_else(|| text(&result["rule"]["id"]));
        let id = id.or_else(|| at_index.map(|(id, _)| id.as_str()));
        let rule = id.and_then(|id| self.rules.get(*self.by_id.get(id)?)).or(at_index);
        let rule = rule.map(|(_, rule)| rule.clone()).unwrap_or_default();
        let severity = rule.severity.or_else(|| mapping::severity(text(&result["level"])?));
        let description = text(&result["message"]["text"]);
        Ok(DraftProblem {
            location: location.clone(),
            place: self.place(&result["locations"][0]["physicalLocation"])?,
            category: rule.category.unwrap_or(Category::Bug),
            severity: severity.or(Some(Severity::Medium)),
            description: description.or(id).unwrap_or_default().to_owned(),
            kind: id.map(str::to_owned),
        })
    }

    fn place(&self, location: &Value) -> Result<DraftLocation, String> {
        let artifact = &location["artifactLocation"];
        let by_index = || self.artifacts.get(usize::try_from(artifact["index"].as_u64()?).ok()?);
        let uri = text(&artifact["uri"]).or_else(|| by_index().map(String::as_str));
        let uri = uri.filter(|uri| !uri.is_empty()).ok_or("it names no file")?;
        let base = text(&artifact["uriBaseId"]).and_then(|name| self.bases.get(name));
        let path = self.relative(uri, base.map_or("", String::as_str))?;
        let line =
            |name: &str| location["region"][name].as_u64().and_then(|n| u32::try_from(n).ok());
        let start = line("startLine").filter(|start| *start > 0).ok_or("no line given")?;
        Ok(DraftLocation::Lines(path, LineSpan::between(start, line("endLine").unwrap_or(start))))
    }

    /// The path that an address means, below the root of the tree.
    fn relative(&self, uri: &str, base: &str) -> Result<FilePath, String> {
        let uri = uri.strip_prefix(base).unwrap_or(uri);
        let roots = self.bases.values().filter(|root| root.starts_with("file:"));
        let uri = roots.fold(uri, |uri, root| uri.strip_prefix(root.as_str()).unwrap_or(uri));
        let path = FilePath::from_bytes(unescaped(uri.strip_prefix("./").unwrap_or(uri)));
        match path.stays_inside() && !uri.contains("://") && !uri.starts_with("file:") {
            true => Ok(path),
            false => Err(format!("{uri:?} is not below the root of the tree")),
        }
    }
}

impl ImportedRule {
    fn read(rule: &Value) -> Self {
        let properties = &rule["properties"];
        let tags = list(&properties["tags"]).iter().filter_map(Value::as_str);
        let meant = |tag: &str| match tag.contains("cwe") {
            true => Some(Category::Security),
            false => mapping::category(tag),
        };
        let score = match &properties["security-severity"] {
            Value::String(score) => score.trim().parse::<f64>().ok(),
            score => score.as_f64(),
        };
        let level = text(&rule["defaultConfiguration"]["level"]);
        let categories: Vec<Category> = tags.filter_map(meant).collect();
        let is_security = score.is_some() || categories.contains(&Category::Security);
        Self {
            category: is_security.then_some(Category::Security).or(categories.first().copied()),
            severity: score.map(of_score).or_else(|| mapping::severity(level?)),
        }
    }
}

/// The bands of the Common Vulnerability Scoring System.
fn of_score(score: f64) -> Severity {
    match score {
        score if score >= 9.0 => Severity::Critical,
        score if score >= 7.0 => Severity::High,
        score if score >= 4.0 => Severity::Medium,
        _ => Severity::Low,
    }
}

fn text(value: &Value) -> Option<&str> {
    value.as_str()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// An address without its `%20`.
fn unescaped(uri: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), uri.as_bytes());
    while let Some((byte, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let code = code.filter(|_| *byte == b'%').and_then(|two| u8::from_str_radix(two, 16).ok());
        bytes.push(code.unwrap_or(*byte));
        rest = if code.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    bytes
}
