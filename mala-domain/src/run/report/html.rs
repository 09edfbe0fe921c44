//! The report of a run as one HTML page, without scripts.

use super::markdown::{duration, review};
use super::{RunReport, WorkEntry};
use crate::run::filing::one_line;

const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
<title>mala run</title>\n<style>body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;\
padding:0 1rem}table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3rem .6rem;\
border-bottom:1px solid #ccc}code{background:#eee;padding:0 .3rem}</style>\n</head>\n<body>\n";

/// The report as HTML. All texts are escaped.
pub fn html(report: &RunReport) -> String {
    let mut page = String::from(HEAD);
    page.push_str(&format!("<h1>mala run: {} succeeded, {} failed</h1>\n<p>Run <code>{}</code> · {} · ${:.2} · coders: {}</p>\n",
        report.succeeded,
        report.failed,
        escaped(&report.run_id),
        duration(report.seconds),
        report.cost_usd,
        escaped(&report.confinement)));
    if let Some(reason) = &report.aborted {
        page.push_str(&format!("<p><strong>Aborted</strong>: {}</p>\n", escaped(reason)));
    }
    table(&mut page, "Issues", &report.issues);
    table(&mut page, "Triggers", &report.triggers);
    list(&mut page, "Waiting", report.waiting.iter().map(|line| escaped(line)).collect());
    list(&mut page, "Deadlocks", report.deadlocks.iter().map(|line| escaped(line)).collect());
    let steps = report
        .next_steps
        .iter()
        .map(|step| format!("{}: <code>{}</code>", escaped(&step.reason), escaped(&step.command)));
    list(&mut page, "Needs a person", steps.collect());
    page.push_str("</body>\n</html>\n");
    page
}

fn table(page: &mut String, title: &str, entries: &[WorkEntry]) {
    if entries.is_empty() {
        return;
    }
    page.push_str(&format!("<h2>{title}</h2>\n<table>\n<tr><th></th><th>status</th><th>review</th><th>found</th><th>fixed</th><th>cost</th></tr>\n"));
    for entry in entries {
        let reason = entry.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        page.push_str(&format!("<tr><td>{} {}</td><td>{}{}</td><td>{}</td><td>{}</td><td>{}</td><td>${:.2}</td></tr>\n",
            escaped(&entry.name),
            escaped(&entry.title),
            entry.status,
            escaped(&reason),
            escaped(&review(entry)),
            entry.findings,
            entry.fixed,
            entry.cost_usd));
    }
    page.push_str("</table>\n");
    for entry in entries {
        for failed in &entry.command_failures {
            let name = escaped(&entry.name);
            let (command, reason) = (escaped(&failed.name), escaped(&failed.reason));
            page.push_str(&format!("<p>{name}: command {command}: {reason}</p>\n<pre>"));
            for line in failed.output.lines() {
                page.push_str(&format!("{}\n", escaped(line)));
            }
            page.push_str("</pre>\n");
        }
        for warning in &entry.warnings {
            page.push_str(&format!("<p>{}: {}</p>\n", escaped(&entry.name), escaped(warning)));
        }
    }
}

fn list(page: &mut String, title: &str, lines: Vec<String>) {
    if lines.is_empty() {
        return;
    }
    page.push_str(&format!("<h2>{title}</h2>\n<ul>\n"));
    for line in lines {
        page.push_str(&format!("<li>{line}</li>\n"));
    }
    page.push_str("</ul>\n");
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in one_line(text, 500).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}
