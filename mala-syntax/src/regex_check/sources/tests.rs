//! Where patterns are found, with which flags, and where their bytes lie in the source.

use super::*;

fn occurrences(language: Language, text: &str) -> Vec<Occurrence> {
    find(&Source::parse(language, text).expect("parses"))
}

/// Patterns, flags that are on, and uses, one line each.
fn summary(language: Language, text: &str) -> String {
    let mut lines = String::new();
    for found in occurrences(language, text) {
        let Flags { ignore_case, multi_line, dot_all, verbose, unicode_sets, anchoring } =
            found.flags;
        let letters = [ignore_case, multi_line, dot_all, verbose, unicode_sets];
        let letters: String =
            letters.iter().zip("imsxv".chars()).filter(|(on, _)| **on).map(|(_, c)| c).collect();
        lines += &format!("{} /{letters} {anchoring:?}", found.pattern);
        for use_ in &found.uses {
            let subject = use_.subject.clone().map_or("-", |bytes| &text[bytes]);
            lines += &format!(" {:?}({subject})", use_.role);
        }
        lines += "\n";
    }
    lines
}

#[test]
fn javascript_patterns_are_found() {
    let text = r#"
        const word = /\w+[/]/giy, parts = new RegExp("a\\d" + `b`, "ms");
        if (word.test(name)) { text.replace(/x+/g, ""); line.split(parts); }
        url.match("^https://"); s.search(unknown); window.RegExp(`${dynamic}`);
        class Lexer { token = /t/v; next() { return this.token.exec(this.input); } }
        const schema = { type: "string", pattern: "p+", patternProperties: { "k.": {} } };
        const part = /part/.source;
    "#;
    insta::assert_snapshot!(summary(Language::JavaScript, text), @r#"
    \w+[/] /i Start Match(name)
    a\db /ms Search Split(line)
    x+ / Search Replace(text)
    ^https:// / Search Match(url)
    t /v Search Match(this.input)
    p+ / Search
    k. / Search
    "#);
}

#[test]
fn python_patterns_are_found() {
    let text = r##"
import re, os
import re as regexes
from re import compile as build, fullmatch
WORD = r"\w+"
LINE = "a\\d" 'b\n' + WORD
NUMBER = re.compile(r"""
    \d+  # digits
""", re.VERBOSE | re.I)

def run(text, other):
    re.match(WORD, text)
    regexes.sub(LINE, "", text, flags=re.S)
    fullmatch(pattern=r"f", string=text)
    build(rb"bytes", flags=re.MULTILINE)
    re.search(f"{other}", text)
    re.split(unknown, text)
    return NUMBER.sub("#", other)
"##;
    insta::assert_snapshot!(summary(Language::Python, text), @r#"
    \w+ / Start Match(text)
    a\db
    \w+ /s Search Replace(text)

        \d+  # digits
     /ix Search Replace(other)
    f / Full Match(text)
    bytes /m Search
    "#);
}

#[test]
fn patterns_of_other_languages_are_found() {
    let java = r#"class A {
        static final Pattern P = Pattern.compile("a\\d+", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
        boolean f(String s) { return P.matcher(s).matches() && s.matches("[a-z]" + "+"); }
        String g(String s) { return s.replaceAll("x", "y"); }
    }"#;
    insta::assert_snapshot!(summary(Language::Java, java), @r#"
    a\d+ /is Full Match(s)
    [a-z]+ / Full Match(s)
    x / Search Replace(s)
    "#);
    let go = "package p\nconst base = `^a`\nvar re = regexp.MustCompile(base + \"b\\\\d\")\n\
              func f(s string) { re.MatchString(s); regexp.MatchString(`c`, s) }";
    insta::assert_snapshot!(summary(Language::Go, go), @r#"
    ^ab\d / Search Match(s)
    c / Search Match(s)
    "#);
    let rust = r###"static RE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#"a"b"#).unwrap());
        fn f(s: &str) { RE.is_match(s); let x = regex::Regex::new("c\\d").unwrap(); x.replace(s, ""); }"###;
    insta::assert_snapshot!(summary(Language::Rust, rust), @r#"
    a"b / Search Match(s)
    c\d / Search Replace(s)
    "#);
    assert_eq!(summary(Language::Ruby, "x =~ /a/"), "");
}

#[test]
fn problems_point_into_the_source() {
    for (language, text, expected) in [
        (Language::JavaScript, r#"x = new RegExp("id:" + "\\w(a+)+$")"#, "(a+)+"),
        (Language::JavaScript, r"x = /é(a+)+$/", "(a+)+"),
        (Language::Python, "import re\nre.match('\\n' r'(a+)+$', s)", "(a+)+"),
        (Language::Java, r#"class A { Pattern p = Pattern.compile("\\d\u0041[A-z]"); }"#, "A-z"),
    ] {
        let found = occurrences(language, text);
        let problems = found[0].problems();
        assert_eq!(&text[found[0].bytes_of(&problems[0])], expected, "{text}");
    }
}

#[test]
fn escapes_that_a_literal_swallows_are_found() {
    for (language, text, expected) in [
        (Language::JavaScript, r#"RegExp("\d\w\\.\.[\.]\a")"#, vec![r"\d", r"\w", r"\."]),
        (Language::JavaScript, r#"RegExp("\bword\n")"#, vec![r"\b"]),
        (Language::JavaScript, r"x = /\d\.\b/", vec![]),
        (Language::Python, "import re\nre.search('\\bword', s)", vec![r"\b"]),
        (Language::Python, "import re\nre.search('\\d.\\b', s)", vec![]),
        (Language::Go, "package p\nvar r = regexp.MustCompile(\"\\astart\")", vec![r"\a"]),
    ] {
        let found = occurrences(language, text);
        let lost: Vec<&str> =
            found[0].lost_escapes.iter().map(|lost| &text[lost.bytes.clone()]).collect();
        assert_eq!(lost, expected, "{text}");
    }
}

#[test]
fn replacing_a_text_by_itself_is_found() {
    for (language, text, expected) in [
        (Language::JavaScript, r#"s.replace(/"/g, '\"')"#, 1),
        (Language::JavaScript, r#"const q = /[\\]$/; s.replace(q, "\\")"#, 1),
        (Language::JavaScript, r#"s.replaceAll("a", "a")"#, 1),
        (Language::JavaScript, r#"s.replace(/a/i, "a"); s.replace(/a+/, "a")"#, 0),
        (Language::JavaScript, r#"s.replace(/\$/, "$")"#, 0),
        (Language::Python, "import re\nre.sub('a', 'a', s)\ns.replace('b', 'b')", 2),
        (Language::Python, "import re\nre.sub('a', 'b', s)", 0),
    ] {
        let source = Source::parse(language, text).expect("parses");
        assert_eq!(identity_replacements(&source).len(), expected, "{text}");
    }
}

#[test]
fn uses_decide_whether_anchors_matter() {
    use RegexProblemKind::{MissingAnchor, SemiAnchoredAlternation};
    for (text, expected) in [
        (r"/https?:\/\/example\.com/.test(url)", vec![MissingAnchor]),
        (r"url.replace(/https?:\/\/example\.com/, '')", vec![]),
        (r"/^ab|cd/.test(x)", vec![SemiAnchoredAlternation]),
        (r"x.split(/^ab|cd/)", vec![]),
    ] {
        let problems = occurrences(Language::JavaScript, text)[0].problems();
        assert_eq!(problems.iter().map(|p| p.kind).collect::<Vec<_>>(), expected, "{text}");
    }
}
