//! What a person starts and stops: it has a worker do the run, and hands on how that ended. Killed at any
//! moment, it leaves a worker that keeps the answers to the calls under way, and is gone.

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::interrupt::Interrupts;
use crate::console;
use crate::surroundings::Surroundings;
use crate::wiring::eval::start_worker;
use anyhow::Context;

/// Does the run in a worker, which knows by this flag what it is.
pub(super) fn run(here: &Surroundings, flag: &str) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("starting the runtime")?;
    let exit = runtime.block_on(attend(here, flag));
    // What the worker started ends with it, and is not waited for here.
    runtime.shutdown_background();
    exit
}

async fn attend(here: &Surroundings, flag: &str) -> anyhow::Result<Exit> {
    let mut interrupts = Interrupts::listen()?;
    let mut worker = start_worker(here, flag)?;
    let mut n_interrupts = 0;
    let status = loop {
        tokio::select! {
            ended = worker.wait() => break ended?,
            () = interrupts.next() => n_interrupts += 1,
        }
        match n_interrupts {
            1 => {
                console::say(
                    "interrupted: the answers to the model calls under way are waited for and kept; \
                     once more, and they are lost",
                );
                worker.ask_to_exit().await;
            }
            2 => worker.terminate(),
            _ => worker.kill(),
        }
    };
    status.code().and_then(Exit::of).ok_or_else(|| {
        Failure::new(Exit::CouldNotReview, format!("the worker of the run is gone: {status}"))
            .hint("go on with: mala eval run --resume latest")
            .into()
    })
}
