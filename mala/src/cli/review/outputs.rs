//! The outputs of a report: one to stdout, any number to files.

use crate::failure::Failure;
use mala_domain::render;
use std::path::{Path, PathBuf};

/// One output of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct ReportSink {
    pub(super) format: &'static str,
    /// `None` is stdout.
    pub(super) file: Option<PathBuf>,
}

/// The sinks of `--format` and `--output`. An output is `FORMAT=FILE`, or a file whose format comes from
/// `--format`, in order, or from its extension; the file `-` is stdout. A remaining `--format` goes to
/// stdout; by default, stdout gets text.
pub(super) fn sinks(formats: &[String], outputs: &[String]) -> Result<Vec<ReportSink>, Failure> {
    let mut formats = formats.iter().map(|name| known(name)).collect::<Result<Vec<_>, _>>()?;
    formats.reverse();
    let mut sinks = Vec::new();
    for output in outputs {
        sinks.push(match output.split_once('=') {
            Some((name, file)) if render::output(name).is_some() => to_file(known(name)?, file),
            _ => {
                let format = formats.pop().or_else(|| by_extension(output)).ok_or_else(|| {
                    Failure::usage(format!("cannot determine the format of '{output}'"))
                        .hint("use --output FORMAT=FILE, such as --output sarif=review.out")
                })?;
                to_file(format, output)
            }
        });
    }
    sinks.extend(formats.into_iter().map(|format| ReportSink { format, file: None }));
    match sinks.iter().filter(|sink| sink.file.is_none()).count() {
        0 => sinks.push(ReportSink { format: "text", file: None }),
        1 => {}
        _ => {
            return Err(Failure::usage("only one format can go to stdout")
                .hint("write the others to files, such as --output sarif=review.sarif"));
        }
    }
    Ok(sinks)
}

fn to_file(format: &'static str, file: &str) -> ReportSink {
    ReportSink { format, file: (file != "-").then(|| PathBuf::from(file)) }
}

fn known(name: &str) -> Result<&'static str, Failure> {
    let mut names = render::OUTPUTS.iter().map(|(known, _)| *known);
    let known = names.find(|known| *known == name);
    known.ok_or_else(|| Failure::usage(format!("unknown format '{name}'")))
}

fn by_extension(file: &str) -> Option<&'static str> {
    let name = Path::new(file).file_name()?.to_str()?.to_ascii_lowercase();
    let extensions = [
        (".sarif.json", "sarif"),
        (".sarif", "sarif"),
        (".rdjson", "rdjson"),
        (".json", "json"),
        (".md", "markdown"),
        (".markdown", "markdown"),
        (".xml", "junit"),
        (".txt", "text"),
    ];
    extensions
        .into_iter()
        .find(|(extension, _)| name.ends_with(extension))
        .map(|(_, format)| format)
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
    fn formats_and_outputs_give_sinks() {
        type OutputRow<'a> = (&'a [&'a str], &'a [&'a str], Result<&'a str, &'a str>);
        let rows: &[OutputRow<'_>] = &[
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
            (&[], &["-"], Err("cannot determine the format of '-'")),
            (&[], &["report"], Err("cannot determine the format of 'report'")),
            (&["yaml"], &[], Err("unknown format 'yaml'")),
        ];
        for (formats, outputs, expected) in rows {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(shown(formats, outputs), expected, "{formats:?} {outputs:?}");
        }
    }
}
