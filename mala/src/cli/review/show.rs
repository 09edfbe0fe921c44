//! Shows a report in all its places. A file that cannot be written keeps none of the others from
//! getting it, and is an error in the end.

use super::ReviewArgs;
use super::outputs::Sink;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::console;
use crate::surroundings::Surroundings;
use mala_adapters::store::write_output;
use mala_domain::config::ReviewPolicy;
use mala_domain::render::{self, ReportView, fix_prompt, terminal};
use mala_pipeline::review::Reviewed;

pub(super) fn show(
    reviewed: &Reviewed,
    sinks: &[Sink],
    policy: &ReviewPolicy,
    args: &ReviewArgs,
    here: &Surroundings,
) -> anyhow::Result<()> {
    let view = ReportView { report: &reviewed.report, sources: &reviewed.sources };
    let mut trouble = None;
    for sink in sinks {
        let Some(output) = render::output(sink.format) else { continue };
        match &sink.file {
            Some(file) => {
                let path = here.folder.join(file);
                if let Err(error) = write_output(&path, output(&view).as_bytes()) {
                    // The path in the error is that of the draft.
                    let why = match error.kind() {
                        std::io::ErrorKind::NotFound => "there is no such folder".to_owned(),
                        kind => kind.to_string(),
                    };
                    let what = format!("writing {}: {why}", file.display());
                    trouble = trouble.or(Some(Failure::new(Exit::CouldNotReview, what)));
                }
            }
            None if args.fix_prompt => {
                console::data(&fix_prompt::render(&reviewed.report))?;
            }
            None if sink.format == "text" => {
                console::data(&terminal::render(&view, &options(policy, args, here)))?;
            }
            None => console::bytes(output(&view).as_bytes())?,
        }
    }
    trouble.map_or(Ok(()), |failure| Err(failure.into()))
}

fn options(
    policy: &ReviewPolicy,
    args: &ReviewArgs,
    here: &Surroundings,
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
