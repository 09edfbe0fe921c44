//! The `review-gate` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    mala::gate::main()
}
