//! Shows a report: files first, so that what stdout says is true of them.

use super::ReviewArgs;
use super::outputs::Sink;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::console;
use crate::surroundings::Surroundings;
use mala_adapters::store::write_atomically;
use mala_domain::config::ReviewPolicy;
use mala_domain::render::{self, View, terminal};
use mala_pipeline::review::Reviewed;

pub(super) fn show(
    reviewed: &Reviewed,
    sinks: &[Sink],
    policy: &ReviewPolicy,
    args: &ReviewArgs,
    here: &Surroundings,
) -> anyhow::Result<()> {
    let view = View { report: &reviewed.report, sources: &reviewed.sources };
    for sink in sinks {
        let Some(output) = render::output(sink.format) else { continue };
        match &sink.file {
            Some(file) => {
                let path = here.folder.join(file);
                write_atomically(&path, output(&view).as_bytes()).map_err(|error| {
                    Failure::new(Exit::Internal, format!("writing {}: {error}", file.display()))
                })?;
            }
            None if sink.format == "text" => {
                console::data(&terminal::render(&view, &options(policy, args, here)))?;
            }
            None => console::bytes(output(&view).as_bytes())?,
        }
    }
    Ok(())
}

fn options(policy: &ReviewPolicy, args: &ReviewArgs, here: &Surroundings) -> terminal::Options {
    let terminal = here.terminal();
    let wanted = policy.max_findings.value.and_then(|number| usize::try_from(number).ok());
    terminal::Options {
        verbose: args.verbose,
        max_findings: wanted.unwrap_or(terminal.max_findings),
        ..terminal
    }
}
