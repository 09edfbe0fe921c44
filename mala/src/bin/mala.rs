//! The `mala` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    mala::cli::main()
}
