//! `mala man`: the manual, as one page on stdout or as a folder with a page per command.

use super::exit::Exit;
use crate::console;
use anyhow::Context;
use clap::Args;
use std::path::{Path, PathBuf};

/// Print the manual page, or write one page per command
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Write a page per command into this folder, which is made when it is not there
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(super) fn run(args: &ManArgs) -> anyhow::Result<Exit> {
    match &args.dir {
        Some(folder) => write_pages(folder)?,
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(super::command()).render(&mut page)?;
            console::bytes(&page)?;
        }
    }
    Ok(Exit::Passed)
}

fn write_pages(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    clap_mangen::generate_to(super::command(), folder)
        .with_context(|| format!("writing into {}", folder.display()))?;
    console::say(&format!("wrote the manual pages into {}", folder.display()));
    Ok(())
}
