//! Prints and writes a report. A file that cannot be written is an error after all other outputs are
//! written.

use super::ReviewOptions;
use super::outputs::ReportSink;
use crate::console;
use crate::environment::Environment;
use crate::failure::{Failure, FailureKind};
use crate::wiring::write_output;
use mala_domain::config::ReviewPolicy;
use mala_domain::render::{self, ReportView, fix_prompt, terminal};
use mala_pipeline::review::ReviewOutput;

pub(in crate::cli) fn show(
    reviewed: &ReviewOutput,
    sinks: &[ReportSink],
    policy: &ReviewPolicy,
    args: &ReviewOptions,
    here: &Environment,
) -> anyhow::Result<()> {
    let view = ReportView { report: &reviewed.report, sources: &reviewed.sources };
    let mut failed = None;
    for sink in sinks {
        let Some(output) = render::output(sink.format) else { continue };
        match &sink.file {
            Some(file) => {
                let path = here.folder.join(file);
                if let Err(why) = write_output(&path, &output(&view)) {
                    let what = format!("cannot write {}: {why}", file.display());
                    failed = failed.or(Some(Failure::new(FailureKind::CouldNotReview, what)));
                }
            }
            None if args.fix_prompt => {
                console::data(&fix_prompt::render(&reviewed.report))?;
            }
            None => {
                let is_text = sink.format == "text";
                let shown = match is_text {
                    true => terminal::render(&view, &options(policy, args, here)),
                    false => output(&view),
                };
                let is_runner = here.text("GITHUB_ACTIONS") == Some("true");
                let shown = match is_runner && sink.format != "github" {
                    true => console::without_runner_commands(&shown),
                    false => shown,
                };
                match is_text {
                    true => console::data(&shown)?,
                    false => console::bytes(shown.as_bytes())?,
                }
            }
        }
    }
    failed.map_or(Ok(()), |failure| Err(failure.into()))
}

fn options(
    policy: &ReviewPolicy,
    args: &ReviewOptions,
    here: &Environment,
) -> terminal::TerminalOptions {
    let terminal = here.terminal();
    let wanted = policy.max_findings.value.and_then(|number| usize::try_from(number).ok());
    terminal::TerminalOptions {
        verbose: args.verbose,
        all: args.all,
        max_findings: wanted.unwrap_or(terminal.max_findings),
        ..terminal
    }
}
