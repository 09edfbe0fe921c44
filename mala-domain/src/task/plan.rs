//! Plans: Markdown in which every checkbox at the start of a line is a task, in a list with bullets or numbers.
//!
//! The indented lines below it are its scope; `Acceptance:` and `Notes:` on a line of their own start the other
//! texts. A heading that starts with `Epic:` is an epic, and the tasks below it are in it. A comment at the end
//! of the line has what Markdown has no form for. All other lines are ignored; a warning names checkboxes among them.

use super::json::ImportedTasks;
use super::{TaskRecord, TaskStatus, clean_label, clean_text, is_id, make_id, one_line};
use crate::run::issue::{IssueId, IssueKind};

const COMMENT: &str = "<!-- mala:";
const COMMENT_END: &str = "-->";
const INDENT: &str = "  ";
const EPIC: &str = "Epic:";
const SECTIONS: [&str; 2] = ["Acceptance:", "Notes:"];

/// Records as a plan. Epics come first, each with its tasks.
pub fn print_plan(tasks: &[TaskRecord]) -> String {
    let is_epic = |task: &TaskRecord| task.kind == IssueKind::Epic;
    let epics: Vec<&TaskRecord> = tasks.iter().filter(|task| is_epic(task)).collect();
    let is_below = |task: &TaskRecord| {
        epics.iter().any(|epic| task.parent.as_ref() == Some(&epic.id)) && !is_epic(task)
    };
    let mut out = String::from("# Plan\n");
    for task in tasks.iter().filter(|task| !is_epic(task) && !is_below(task)) {
        out += &item(task, None);
    }
    for epic in &epics {
        out += &item(epic, None);
        let children = tasks.iter().filter(|task| !is_epic(task));
        for task in children.filter(|task| task.parent.as_ref() == Some(&epic.id)) {
            out += &item(task, Some(&epic.id));
        }
    }
    out
}

fn item(task: &TaskRecord, under: Option<&IssueId>) -> String {
    let comment = comment_of(task, under);
    let mut out = match task.kind {
        IssueKind::Epic => format!("\n## {EPIC} {} {comment}\n", task.title),
        IssueKind::Work => {
            let mark = if task.status == TaskStatus::Complete { 'x' } else { ' ' };
            format!("\n- [{mark}] {} {comment}\n", task.title)
        }
    };
    out += &indented(&task.scope);
    for (section, text) in SECTIONS.iter().zip([&task.acceptance, &task.notes]) {
        if !text.is_empty() {
            out += &format!("{INDENT}{section}\n{}", indented(text));
        }
    }
    out
}

/// Lines that belong to an item. One that would start a section gets a backslash.
fn indented(text: &str) -> String {
    let line = |line: &str| match line {
        "" => "\n".to_owned(),
        line if line.starts_with('\\') || SECTIONS.contains(&line) => format!("{INDENT}\\{line}\n"),
        line => format!("{INDENT}{line}\n"),
    };
    if text.is_empty() { String::new() } else { text.split('\n').map(line).collect() }
}

fn comment_of(task: &TaskRecord, under: Option<&IssueId>) -> String {
    let ids = |ids: &[IssueId]| ids.iter().map(IssueId::as_str).collect::<Vec<_>>().join(",");
    let labels: Vec<String> = task.labels.iter().map(|label| escaped(label)).collect();
    let is_shown = match (task.kind, task.status) {
        (IssueKind::Work, TaskStatus::Pending | TaskStatus::Complete) => false,
        (_, status) => status != TaskStatus::Pending,
    };
    let parent = task.parent.as_ref().filter(|parent| Some(*parent) != under);
    let fields = [
        ("id", Some(task.id.to_string())),
        ("status", is_shown.then(|| task.status.name().to_owned())),
        ("priority", (task.priority != 2).then(|| task.priority.to_string())),
        ("labels", (!labels.is_empty()).then(|| labels.join(","))),
        ("parent", parent.map(ToString::to_string)),
        ("blocked_by", (!task.blocked_by.is_empty()).then(|| ids(&task.blocked_by))),
        ("revisions", (task.revision_count != 0).then(|| task.revision_count.to_string())),
        ("claimed_by", task.claimed_by.as_deref().map(escaped)),
    ];
    let fields = fields.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value?)));
    format!("{COMMENT} {} {COMMENT_END}", fields.collect::<Vec<_>>().join(" "))
}

/// Replaces spaces, commas and the end of a comment in a value.
fn escaped(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '/' | '@' | '+');
    text.chars()
        .map(|c| if is_plain(c) { c.to_string() } else { format!("%{:X};", u32::from(c)) })
        .collect()
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        out += before;
        let code = after.split_once(';').and_then(|(code, rest)| {
            Some((char::from_u32(u32::from_str_radix(code, 16).ok()?)?, rest))
        });
        match code {
            Some((c, after)) => {
                out.push(c);
                rest = after;
            }
            None => {
                out.push('%');
                rest = after;
            }
        }
    }
    out + rest
}

/// Reads a plan.
pub fn parse_plan(text: &str) -> ImportedTasks {
    let mut plan = PlanReader::default();
    let mut fence: Option<&str> = None;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_end();
        let is_own = line.starts_with(INDENT) || line.starts_with('\t');
        // A code block at the left edge is an example and no plan.
        let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => {
                plan.finish_item();
                fence = Some(mark);
            }
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, None) if line.is_empty() => plan.add_line(""),
            (None, None) if is_own => {
                let text = line.strip_prefix('\t').or(line.strip_prefix(INDENT)).unwrap_or(line);
                plan.add_own_line(text, number + 1);
            }
            (None, None) => plan.start_line(line, number + 1),
        }
    }
    plan.finish_item();
    plan.imported
}

#[derive(Default)]
struct PlanReader {
    imported: ImportedTasks,
    epic: Option<IssueId>,
    item: Option<PlanItem>,
}

/// An item whose lines are being read.
struct PlanItem {
    task: TaskRecord,
    line: usize,
    /// Whether mala wrote it.
    is_exported: bool,
    /// Scope, acceptance criteria and notes.
    texts: [String; 3],
    section: usize,
}

impl PlanReader {
    /// Parses a line without indentation: a task, an epic, another heading, or other text.
    fn start_line(&mut self, line: &str, number: usize) {
        self.finish_item();
        if let Some((mark, title)) = checkbox(line) {
            let status = match mark {
                "" | " " => TaskStatus::Pending,
                "x" | "X" => TaskStatus::Complete,
                _ => {
                    let warning = format!("line {number}: `[{mark}]` is neither `[ ]` nor `[x]`");
                    return self.imported.warnings.push(format!("{warning}: no task was added"));
                }
            };
            let parent = self.epic.clone();
            self.start_item(title, number, |task| (task.status, task.parent) = (status, parent));
        } else if line.starts_with('#') {
            self.epic = None;
            let title = line.trim_start_matches('#').trim();
            if let Some(title) = title.strip_prefix(EPIC) {
                self.start_item(title.trim(), number, |task| task.kind = IssueKind::Epic);
                self.epic = self.item.as_ref().map(|item| item.task.id.clone());
            }
        }
    }

    fn start_item(&mut self, title: &str, line: usize, set: impl FnOnce(&mut TaskRecord)) {
        let (title, comment) = split_comment(title);
        let title = one_line(title);
        if title.is_empty() {
            self.imported.warnings.push(format!("line {line}: the title is empty"));
            return;
        }
        let is_taken = |id: &IssueId| self.imported.tasks.iter().any(|task| task.id == *id);
        let mut task = TaskRecord::new(make_id(&title, is_taken), &title);
        set(&mut task);
        for field in comment.split_whitespace() {
            if let Some((name, value)) = field.split_once('=') {
                set_field(&mut task, name, value);
            }
        }
        let is_exported = !comment.is_empty();
        let texts = Default::default();
        self.item = Some(PlanItem { task, line, is_exported, texts, section: 0 });
    }

    /// An indented line. A checkbox in it is a step of the task above, and no task.
    fn add_own_line(&mut self, line: &str, number: usize) {
        let is_exported = self.item.as_ref().is_some_and(|item| item.is_exported);
        if !is_exported && checkbox(line.trim_start()).is_some() {
            let warning = match self.item {
                Some(_) => "the checkbox is a step of the task above, and no task of its own",
                None => "the checkbox is indented: no task was added",
            };
            self.imported.warnings.push(format!("line {number}: {warning}"));
        }
        self.add_line(line);
    }

    fn add_line(&mut self, line: &str) {
        let Some(item) = &mut self.item else { return };
        if let Some(section) = SECTIONS.iter().position(|section| *section == line) {
            item.section = section + 1;
            return;
        }
        if let Some(text) = item.texts.get_mut(item.section) {
            *text += line.strip_prefix('\\').unwrap_or(line);
            text.push('\n');
        }
    }

    fn finish_item(&mut self) {
        let Some(item) = self.item.take() else { return };
        let [scope, acceptance, notes] = item.texts.map(|text| clean_text(&text));
        self.imported.add(TaskRecord { scope, acceptance, notes, ..item.task }, item.line);
    }
}

/// The mark in a checkbox, which is at most one character, and the text after it. A link is no checkbox.
fn checkbox(line: &str) -> Option<(&str, &str)> {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = match digits.len() < line.len() {
        true => digits.strip_prefix(['.', ')'])?,
        false => line.strip_prefix(['-', '*', '+'])?,
    };
    let (mark, title) = rest.trim_start().strip_prefix('[')?.split_once(']')?;
    let is_text = title.is_empty() || title.starts_with(char::is_whitespace);
    (mark.chars().count() <= 1 && is_text).then_some((mark, title))
}

/// Splits a title from the comment after it.
fn split_comment(title: &str) -> (&str, &str) {
    let found = title.trim_end().strip_suffix(COMMENT_END).and_then(|it| it.rsplit_once(COMMENT));
    found.unwrap_or((title, ""))
}

fn set_field(task: &mut TaskRecord, name: &str, value: &str) {
    let ids = || value.split(',').filter(|id| is_id(id)).map(IssueId::new);
    match name {
        "id" if is_id(value) => task.id = IssueId::new(value),
        "status" => {
            let known = TaskStatus::ALL.into_iter().find(|status| status.name() == value);
            task.status = known.unwrap_or(task.status);
        }
        "priority" => task.priority = value.parse().map_or(task.priority, |it: u8| it.min(4)),
        "labels" => {
            task.labels = value.split(',').filter_map(|it| clean_label(&unescaped(it))).collect();
        }
        "parent" => task.parent = ids().next(),
        "blocked_by" => task.blocked_by = ids().collect(),
        "revisions" => task.revision_count = value.parse().unwrap_or_default(),
        "claimed_by" => task.claimed_by = Some(one_line(&unescaped(value))),
        _ => {}
    }
}
