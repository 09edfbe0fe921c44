//! Where a report goes: one format to stdout, any number to files.

use crate::cli::failure::Failure;
use mala_domain::render;
use std::path::{Path, PathBuf};

/// Where one report goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sink {
    pub(super) format: &'static str,
    /// `None` is stdout.
    pub(super) file: Option<PathBuf>,
}

/// The sinks that `--format` and `--output` name. An output is `FORMAT=FILE`, or a file that takes
/// its format from `--format`, in order, or from its ending; the file `-` is stdout. What is left of
/// `--format` goes to stdout; when nothing goes there, stdout shows text.
pub(super) fn sinks(formats: &[String], outputs: &[String]) -> Result<Vec<Sink>, Failure> {
    let mut formats = formats.iter().map(|name| known(name)).collect::<Result<Vec<_>, _>>()?;
    formats.reverse();
    let mut sinks = Vec::new();
    for output in outputs {
        sinks.push(match output.split_once('=') {
            Some((name, file)) if render::output(name).is_some() => to_file(known(name)?, file),
            _ => {
                let format = formats.pop().or_else(|| by_ending(output)).ok_or_else(|| {
                    Failure::usage(format!("'{output}' does not tell its format"))
                        .hint("write --output FORMAT=FILE, such as --output sarif=review.out")
                })?;
                to_file(format, output)
            }
        });
    }
    sinks.extend(formats.into_iter().map(|format| Sink { format, file: None }));
    match sinks.iter().filter(|sink| sink.file.is_none()).count() {
        0 => sinks.push(Sink { format: "text", file: None }),
        1 => {}
        _ => {
            return Err(Failure::usage("only one format can go to stdout")
                .hint("give every other one a file, such as --output sarif=review.sarif"));
        }
    }
    Ok(sinks)
}

fn to_file(format: &'static str, file: &str) -> Sink {
    Sink { format, file: (file != "-").then(|| PathBuf::from(file)) }
}

fn known(name: &str) -> Result<&'static str, Failure> {
    render::OUTPUTS.iter().map(|(known, _)| *known).find(|known| *known == name).ok_or_else(|| {
        let names: Vec<&str> = render::OUTPUTS.iter().map(|(name, _)| *name).collect();
        Failure::usage(format!("'{name}' is none of {}", names.join(", ")))
    })
}

fn by_ending(file: &str) -> Option<&'static str> {
    let name = Path::new(file).file_name()?.to_str()?.to_ascii_lowercase();
    let endings = [
        (".sarif.json", "sarif"),
        (".sarif", "sarif"),
        (".rdjson", "rdjson"),
        (".json", "json"),
        (".md", "markdown"),
        (".markdown", "markdown"),
        (".xml", "junit"),
        (".txt", "text"),
    ];
    endings.into_iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, format)| format)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(formats: &[&str], outputs: &[&str]) -> Result<String, String> {
        let owned =
            |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let sinks = sinks(&owned(formats), &owned(outputs)).map_err(|error| error.to_string())?;
        let words = sinks.iter().map(|sink| match &sink.file {
            Some(file) => format!("{}>{}", sink.format, file.display()),
            None => sink.format.to_owned(),
        });
        Ok(words.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn every_report_finds_its_place() {
        type Row<'a> = (&'a [&'a str], &'a [&'a str], Result<&'a str, &'a str>);
        let rows: &[Row<'_>] = &[
            (&[], &[], Ok("text")),
            (&["json"], &[], Ok("json")),
            (&["json"], &["out"], Ok("json>out text")),
            (&["json", "sarif"], &["a"], Ok("json>a sarif")),
            (&[], &["a.sarif", "b.md"], Ok("sarif>a.sarif markdown>b.md text")),
            (&["text"], &["gitlab=cq.json"], Ok("gitlab>cq.json text")),
            (&[], &["x=y.json"], Ok("json>x=y.json text")),
            (&[], &["json=-"], Ok("json")),
            (&["json"], &["-"], Ok("json")),
            (&[], &["json=-", "a.sarif"], Ok("json sarif>a.sarif")),
            (&[], &["json=./-"], Ok("json>./- text")),
            (&["json", "sarif"], &[], Err("only one format can go to stdout")),
            (&["text"], &["json=-"], Err("only one format can go to stdout")),
            (&[], &["json=-", "sarif=-"], Err("only one format can go to stdout")),
            (&[], &["-"], Err("'-' does not tell its format")),
            (&[], &["report"], Err("'report' does not tell its format")),
            (
                &["yaml"],
                &[],
                Err("'yaml' is none of text, markdown, json, sarif, rdjson, gitlab, junit, github"),
            ),
        ];
        for (formats, outputs, expected) in rows {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(shown(formats, outputs), expected, "{formats:?} {outputs:?}");
        }
    }
}
