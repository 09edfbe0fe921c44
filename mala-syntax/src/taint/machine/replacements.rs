//! Replacing and splitting: what a text can no longer contain afterwards.

use super::super::value::{Known, Taint, Value};
use super::Machine;
use super::calls::Site;
use mala_domain::language::Language;

impl<'p> Machine<'p> {
    /// `x.replace(pattern, with)`: the result, with what the pattern removes taken into account.
    pub(super) fn replaced(
        &mut self,
        site: &Site<'p>,
        name: &str,
        holder: &Value,
    ) -> Option<Value> {
        let (pattern, with) = (site.values.first()?, site.values.get(1)?);
        let removed = self.removed(name, pattern, with);
        let mut classes = 0;
        for (class, chars) in CLASSES {
            if chars.chars().all(|c| removed.covers(c)) {
                classes |= self.model.class(class);
            }
        }
        if removed.covers('\\') {
            classes |= self.classes.slashes;
        }
        if removed.covers('/') {
            classes |= self.classes.path;
        }
        if removed.covers('.') || removed.upwards {
            classes |= self.classes.contained;
        }
        let mut taints: Vec<Taint> = self.carried_deep(holder);
        taints.retain_mut(|taint| {
            let leading = removed.leading_upwards && taint.clean & self.classes.normal != 0;
            taint.clean |= classes | if leading { self.classes.contained } else { 0 };
            true
        });
        let mut value = Value::of_taints(taints);
        let mut inserted = self.carried_deep(with);
        if site.values.get(1).is_some_and(|with| !with.functions().is_empty()) {
            let callback = with.clone();
            let matched = Value::of_taints(self.carried_deep(holder));
            inserted = self.run_with(&callback, &[Some(matched)], site).taints().to_vec();
            inserted.retain(|taint| !taint.chose);
            inserted.iter_mut().for_each(|taint| taint.clean |= classes);
        }
        value.add_taints(&inserted);
        Some(value)
    }

    /// `re.sub(pattern, with, text)` and `pattern.sub(with, text)`.
    pub(super) fn substituted(&mut self, site: &Site<'p>, holder: &Value) -> Option<Value> {
        let (pattern, with, text) = match (holder.known(), site.values.as_slice()) {
            (Known::Pattern(..), [with, text, ..]) => (holder.clone(), with, text),
            (_, [pattern, with, text, ..]) => {
                let body = pattern.text()?.clone();
                (Value::of_known(Known::Pattern(body, "".into())), with, text)
            }
            _ => return None,
        };
        let inner = Site {
            values: vec![pattern, with.clone()],
            apis: Vec::new(),
            receiver: None,
            callee: Value::default(),
            ..*site
        };
        self.replaced(&inner, "sub", text)
    }

    fn removed(&self, name: &str, pattern: &Value, with: &Value) -> Removed {
        let kept = with.text().map(|text| text.to_string());
        let escapes = !with.functions().is_empty();
        let every = name == "replaceAll" || !self.is_script();
        match pattern.known() {
            Known::Pattern(body, flags) => {
                let global = flags.contains('g') || flags.contains('?') || !self.is_script();
                let kept = kept.as_deref().filter(|_| !escapes).unwrap_or_default();
                if global { Removed::everywhere(body, kept) } else { Removed::once(body) }
            }
            // Without `every`, only the first one goes, which makes nothing certain.
            Known::Texts(texts) if every => {
                Removed::of_text(texts.first().map_or("", |text| text), kept.as_deref())
            }
            _ => Removed::default(),
        }
    }

    fn is_script(&self) -> bool {
        matches!(self.language, Language::JavaScript | Language::TypeScript | Language::Tsx)
    }
}

/// Characters whose absence makes a text harmless for a class.
const CLASSES: [(&str, &str); 9] = [
    ("html", "<"),
    ("sql", "'"),
    ("shell", ";|&$`"),
    ("log", "\n"),
    ("header", "\n"),
    ("prototype", "_"),
    ("code", "()"),
    ("regex", "*+("),
    ("url", "/:"),
];

/// What a replacement leaves no trace of.
#[derive(Debug, Default)]
struct Removed {
    single: Vec<CharSet>,
    /// Every `..` goes.
    upwards: bool,
    /// `../` at the beginning goes.
    leading_upwards: bool,
}

impl Removed {
    fn covers(&self, c: char) -> bool {
        self.single.iter().any(|set| set.contains(c))
    }

    fn of_text(text: &str, kept: Option<&str>) -> Self {
        let mut removed = Self::default();
        let mut chars = text.chars();
        if let (Some(only), None) = (chars.next(), chars.next())
            && !kept.is_some_and(|kept| kept.contains(only))
        {
            removed.single.push(CharSet { negated: false, ranges: vec![(only, only)] });
        }
        removed.upwards = text == ".." || text == "../";
        removed
    }

    /// Only the first match goes.
    fn once(body: &str) -> Self {
        let leading_upwards = body.contains(r"\.\.") && body.contains('/');
        Self { leading_upwards, ..Self::default() }
    }

    /// Every match goes, and `kept` comes in its place.
    fn everywhere(body: &str, kept: &str) -> Self {
        let mut removed = Self::default();
        for branch in branches(body) {
            if branch == r"\.\." || branch == r"\.\.\/" || branch == r"\.+" || branch == r"\.{2,}" {
                removed.upwards = true;
            }
            removed.single.extend(CharSet::parse(branch.trim_end_matches(['+', '*'])));
        }
        // An escape such as `&lt;` is not the character; a replacement that holds it puts it back.
        let back = |c: char| !c.is_alphanumeric() && c != '&' && c != ';';
        removed.single.retain(|set| !kept.chars().any(|c| back(c) && set.contains(c)));
        removed
    }
}

/// The alternatives of a pattern, at its outermost level.
fn branches(body: &str) -> Vec<&str> {
    let body = body.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(body);
    let mut found = Vec::new();
    let (mut depth, mut start, mut escaped) = (0_i32, 0, false);
    for (at, c) in body.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            '|' if depth == 0 => {
                found.push(&body[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&body[start..]);
    found
}

/// A set of characters, as `[...]` or a single one writes it.
#[derive(Debug)]
struct CharSet {
    negated: bool,
    ranges: Vec<(char, char)>,
}

impl CharSet {
    fn parse(text: &str) -> Option<Self> {
        if let Some(inner) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let (negated, inner) = match inner.strip_prefix('^') {
                Some(inner) => (true, inner),
                None => (false, inner),
            };
            return Some(Self { negated, ranges: class_ranges(inner) });
        }
        let mut chars = text.chars();
        let ranges = match (chars.next()?, chars.next(), chars.next()) {
            ('\\', Some(c), None) => escape_ranges(c),
            ('.' | '^' | '$' | '(' | ')', None, None) => return None,
            (c, None, None) => vec![(c, c)],
            _ => return None,
        };
        Some(Self { negated: false, ranges })
    }

    fn contains(&self, c: char) -> bool {
        self.ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != self.negated
    }
}

fn escape_ranges(c: char) -> Vec<(char, char)> {
    match c {
        'w' => vec![('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')],
        'd' => vec![('0', '9')],
        's' => vec![(' ', ' '), ('\t', '\r')],
        'n' => vec![('\n', '\n')],
        'r' => vec![('\r', '\r')],
        't' => vec![('\t', '\t')],
        'W' => vec![('\0', '/'), (':', '@'), ('[', '^'), ('`', '`'), ('{', char::MAX)],
        'D' => vec![('\0', '/'), (':', char::MAX)],
        'S' => vec![('!', char::MAX)],
        other => vec![(other, other)],
    }
}

fn class_ranges(inner: &str) -> Vec<(char, char)> {
    let mut ranges = Vec::new();
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\\' {
            if let Some(escaped) = chars.next() {
                ranges.extend(escape_ranges(escaped));
            }
            continue;
        }
        if chars.peek() == Some(&'-') {
            let mut ahead = chars.clone();
            ahead.next();
            if let Some(to) = ahead.next().filter(|to| *to != '\\') {
                chars = ahead;
                ranges.push((c, to));
                continue;
            }
        }
        ranges.push((c, c));
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_global_replacement_removes_what_its_pattern_matches() {
        for (body, kept, c, expected) in [
            ("[<>]", "", '<', true),
            ("<", "&lt;", '<', true),
            ("[^a-z0-9]", "", '/', true),
            (r"[^\w.]", "", '.', false),
            (r"\/", "", '/', true),
            (r"\.|\/", "", '/', true),
            ("[abcd]", "", '/', false),
            ("[/]", "/x", '/', false),
            ("ab", "", 'a', false),
        ] {
            assert_eq!(Removed::everywhere(body, kept).covers(c), expected, "{body} {c}");
            assert!(!Removed::once(body).covers(c));
        }
    }
}
