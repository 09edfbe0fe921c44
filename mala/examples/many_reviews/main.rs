//! Many reviews at once in one process: `many_reviews RANGE...` in a repository. Prints a line for
//! each as it comes, then how long all of them took.

#![expect(clippy::print_stdout, reason = "it prints what it measures")]

mod reviews;

use mala::environment::Environment;
use std::time::Instant;

fn main() -> anyhow::Result<()> {
    let ranges: Vec<String> = std::env::args().skip(1).collect();
    let here = Environment::of_process()?;
    // As many threads for checks as the machine has cores: more only hold memory.
    let cores = std::thread::available_parallelism()?.get();
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().max_blocking_threads(cores).build()?;
    let started = Instant::now();
    runtime.block_on(reviews::all(&here, &ranges, |range, told| println!("{range}\t{told}")))?;
    println!("{:.1} s", started.elapsed().as_secs_f64());
    Ok(())
}
