//! `run_linter`: one of the project's linters over one file.

use super::ToolRefusal;
use super::arguments::{Arguments, missing};
use super::catalogue::LINTERS;
use super::page::{n_fitting, short};
use super::{ToolAnswer, Toolbox};
use mala_domain::config::LinterName;
use mala_domain::ports::Side;
use mala_domain::secrets;

impl Toolbox {
    pub(super) async fn run_linter(&self, arguments: &Arguments) -> ToolAnswer {
        let name = arguments.choice("linter", LINTERS)?.ok_or_else(|| missing("linter"))?;
        let path = arguments.file("path")?;
        let linter = LinterName::ALL.into_iter().find(|linter| linter.name() == name);
        let (Some(linters), Some(linter)) = (&self.linters, linter) else {
            return Err(ToolRefusal::new("no linter can be run here", "go on without it"));
        };
        self.text_of(Side::Head, &path).await?;
        let messages = linters.lint(&self.request, linter, &path).await.map_err(|trouble| {
            ToolRefusal::new(trouble.to_string(), "go on without it, or try another linter")
        })?;
        let lines: Vec<String> = messages
            .iter()
            .map(|it| format!("line {} {} {}: {}", it.line, it.severity, it.rule, it.message))
            .map(|line| short(&secrets::redact(&line)))
            .collect();
        let n_shown = n_fitting(&lines, self.limits);
        let mut shown = vec![format!("path: {path}\nlinter: {name}\nfindings: {}", lines.len())];
        shown.extend(lines.iter().take(n_shown).cloned());
        if n_shown < lines.len() {
            shown.push(format!("cut: {} more findings", lines.len() - n_shown));
        }
        Ok(shown.join("\n"))
    }
}
