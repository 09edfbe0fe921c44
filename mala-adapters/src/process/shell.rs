//! Runs shell commands of the project, such as its tests, with stdout and stderr together.

use super::{ProcessEnvironment, ProcessError, ProcessLimits, ProcessSpec, run};
use mala_domain::ports::{CommandRun, CommandRunEnd};
use mala_domain::secrets;
use std::path::Path;
use std::time::Duration;

/// Runs a shell command in a folder. Its output has no secrets.
pub async fn run_shell(
    command: &str,
    folder: &Path,
    environment: ProcessEnvironment,
    limit: Duration,
) -> Result<CommandRun, ProcessError> {
    let script = format!("exec 2>&1\n{command}");
    let spec = ProcessSpec::new("sh", folder, environment).args(["-c", &script]);
    let (end, output) = match run(spec, ProcessLimits::within(limit)).await {
        Ok(finished) => {
            let signal = CommandRunEnd::Signal(finished.signal().unwrap_or_default());
            (finished.code().map_or(signal, CommandRunEnd::Exit), finished.output)
        }
        Err(ProcessError::TimedOut { output, .. }) => (CommandRunEnd::TimedOut, *output),
        Err(error) => return Err(error),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(CommandRun { end, output: secrets::redact(&text).into_owned() })
}
