//! Patterns and what is wrong with them. JavaScript unless a row says otherwise.

use super::super::{Flavour, RegexProblemKind};
use super::kinds;
use RegexProblemKind::*;

/// Patterns with an exponential loop, and their flags.
pub(super) const EXPONENTIAL: &[(&str, &str)] = &[
    (r"^(x+)+$", ""),
    (r"^(x*)*$", ""),
    (r"(?:x+y?)+z", ""),
    (r"^(?:\w+\s?)*!$", ""),
    (r"(\d+|\w)+;", ""),
    (r"(?:p|pp)+q", ""),
    (r"(?:m?n?)*o", ""),
    (r"^(?:ab|[a-c]{2})*d$", ""),
    (r"(?:\.|[^,])*\.json,", ""),
    (r"^([a-z]|[k-p])*:", ""),
    (r"(key|KEY)*=", "i"),
    (r"(.|\n)*#", "s"),
    (r"(?=(y+)+z)y", ""),
    (r"^(?:(?:u+)?v?)*w", ""),
    (r#""(?:[^"]|\\.)*""#, ""),
    (r"(?:[^/]+/*)+;", ""),
    (r"^(\w+[-.]?)*@", ""),
    (r"('[^']*'|[^\s]+)+$", ""),
    (r"(h+){2,60}i", ""),
    (r"(?:ab?|b?a)+c", ""),
    (r"(?:a|a)*?b", ""),
    (r"^(?:(?:r|s)+|t*)*$", ""),
    (r"^(?:\r\n|\n|\r)+$", ""),
];

/// Patterns that look alike and are fine, or at least not exponential.
const NOT_EXPONENTIAL: &[(&str, &str)] = &[
    (r"^(?:x+y)+$", ""),
    (r"(x+)+", ""),
    (r"^(?:\w+\s)*\w+$", ""),
    (r"(key|KEY)*=", ""),
    (r"(?:[^,\\]|\\.)*,", ""),
    (r"^(?:a|b)*$", ""),
    (r"(?:\s|\S)*$", ""),
    (r"(.|\n)*#", ""),
    (r"^(?:[a-z]+\.)+[a-z]+$", ""),
    (r"(?>x+)+y", ""),
    (r"(?:x++)+y", ""),
    (r"^(?:\d{3}-?)+$", ""),
    (r"(?:(?!-)[a-z-]|-)*!", ""),
    (r"(\b\w+\b\s*)+$", ""),
    (r"(?:a(?=b)|a(?=c)|[bc])+d", ""),
    (r"^(a{1,4})?$", ""),
    (r"(?:one|two|three)+four", ""),
    (r"(?:\r\n|\n|\r)+", ""),
    (r"(?:[^']|'')*'", ""),
    (r"^[\w.]+@(?:\w+\.)+\w{2,}$", ""),
];

#[test]
fn exponential_loops_are_found() {
    for (pattern, letters) in EXPONENTIAL {
        let found = kinds(pattern, Flavour::JavaScript, letters);
        assert!(found.contains(&ExponentialBacktracking), "{pattern}: {found:?}");
    }
}

#[test]
fn unambiguous_loops_are_not_exponential() {
    for (pattern, letters) in NOT_EXPONENTIAL {
        // Python has atomic groups and possessive quantifiers.
        let found = kinds(pattern, Flavour::Python, letters);
        assert!(!found.contains(&ExponentialBacktracking), "{pattern}: {found:?}");
    }
}

#[test]
fn polynomial_loops_are_found() {
    for pattern in [
        r"\s+$",
        r"^\s+|\s+$",
        r" *, *",
        r"^.*a.*b$",
        r"\d+\.\d+",
        r"<[^>]*>",
        r"^a*b?a*$",
        r"(?:ab)*x",
        r"^(?:ab)*(?:abab)*$",
        r"/\*[^]*?\*/",
        r"^\w+\d+x",
        r"[^@]+@example",
        r"(.*)\n",
    ] {
        assert_eq!(kinds(pattern, Flavour::JavaScript, ""), [PolynomialBacktracking], "{pattern}");
    }
}

#[test]
fn harmless_patterns_have_no_problem() {
    for pattern in [
        r"^\s+",
        r"^[a-z]+$",
        r"^\d{4}-\d\d-\d\d$",
        r"\s+",
        r"a*",
        r"^a+b+c+$",
        r"\bfoo\b",
        r"[a-zA-Z0-9_-]",
        r"^#[0-9a-f]{6}$",
        r"\w{1,64}",
        r"^(?:https?|ftp)://[^/?#]+/",
        r"^https://www\.example\.com/",
        r"(a)(b)\2\1",
        r"^(?:a|b)$",
        r"[ -~]",
        r"[\x00-\x7f]",
        r"[\b\f\n\r\t]",
        r"[+\-*/]",
        r"[0-?]",
        r"\$\{\w+\}",
        r"plain text",
        r"",
        r"$^",
        r"(?!)",
        r"[^]",
        r"^.*$",
        r"^([^,]*),([^,]*)$",
    ] {
        assert_eq!(kinds(pattern, Flavour::JavaScript, "i"), [], "{pattern}");
    }
}

#[test]
fn wrong_spellings_are_found() {
    for (pattern, kind) in [
        (r"[A-z]", OverlyWideRange),
        (r"[a-zA-z0-9]", OverlyWideRange),
        (r"^[.-_]$", OverlyWideRange),
        (r"[\w.,-:;]\[[*-]]|[$-_]", OverlyWideRange),
        (r"[5-D]", OverlyWideRange),
        (r"[0-94-6]", OverlappingRange),
        (r"[\d0-9]", OverlappingRange),
        (r"[f-a]", ReversedRange),
        (r"x[\b]y", BackspaceInClass),
        (r"abc[]def", EmptyClass),
        (r"abc^def", UnmatchableCaret),
        (r"(?:x|y)^z;;", UnmatchableCaret),
        (r"abc$def", UnmatchableDollar),
        (r"(foo$|bar$)baz", UnmatchableDollar),
        (r"\1(abc)", BackreferenceBeforeGroup),
        (r"(ab\1)", BackreferenceBeforeGroup),
        (r"\k<later>(?<later>.)", BackreferenceBeforeGroup),
        (r"(?:ab)\1x", BackreferenceToMissingGroup),
        (r"(?<a>b)\k<c>", BackreferenceToMissingGroup),
        (r"a(?!(b)c)\1", BackreferenceIntoNegativeLookahead),
        (r"^https?://www.example.com/", IncompleteHostname),
        (r"^(?:https?:)?//(?:api|web).example\.org$", IncompleteHostname),
        (r"^https://.*\.example\.com/", IncompleteHostname),
        (r"^https://cdn.(?:one|two).com/", IncompleteHostname),
        (r"^(?:(?:www|beta).)?example.com/", IncompleteHostname),
        (r"https?://example\.com/path", MissingAnchor),
        (r"example\.com", MissingAnchor),
        (r"^one|two", SemiAnchoredAlternation),
        (r"\.png|\.jpg|\.gif$", SemiAnchoredAlternation),
        (r"^one|two|three$", SemiAnchoredAlternation),
    ] {
        let found = kinds(pattern, Flavour::JavaScript, "");
        assert!(found.contains(&kind), "{pattern}: {found:?} lacks {kind:?}");
    }
}

#[test]
fn deliberate_spellings_are_left_alone() {
    for pattern in [
        r"(?:\2b|(a)(c))+",
        r"(?<=\1(.))a",
        r"^one|^two",
        r"^$|x",
        r"^pre|post$",
        r"one|^two",
        r"^(?:one|two)|three",
        r"foo\.community",
        r"[@-Z]",
        r"[!-/:-@\[-`{-~]",
        r"(?:^|;)x",
        r"a(?:$|;b)",
        r"see https://example\.com/ for more",
        r"\.com$",
        r"(\d)(?!\1)x",
    ] {
        assert_eq!(kinds(pattern, Flavour::JavaScript, ""), [], "{pattern}");
    }
}

#[test]
fn filters_of_scripts_must_find_all_of_them() {
    for (pattern, letters, bad) in [
        (r"<script>[\s\S]*?</script>", "gi", true),
        (r"<script[^>]*>[\s\S]*?</script[^>]*>", "g", true),
        (r"<script[^>]*>.*?</script[^>]*>", "gi", true),
        (r"<script[^>]*>[\s\S]*?</script[^>]*>", "gi", false),
        (r"<!--.*?-->", "", true),
        (r"<!--[\s\S]*?-->", "", false),
        (r"javascript:", "", false),
        (r"<script[^>]*>", "", false),
        (r"(?<url>[^,]\S*[^,])\s*(?<descriptor>\w)?", "", false),
    ] {
        let found = kinds(pattern, Flavour::JavaScript, letters).contains(&BadTagFilter);
        assert_eq!(found, bad, "{pattern}");
    }
}

#[test]
fn flavours_differ_where_engines_do() {
    for (pattern, flavour, expected) in [
        (r"[]a]", Flavour::Python, vec![]),
        (r"^(?:\A(x+)+\Z)$", Flavour::Python, vec![ExponentialBacktracking]),
        (r"^[a-z&&[^q]]+$", Flavour::Java, vec![]),
        (r"^\Q(a+)+\E$", Flavour::Java, vec![]),
        (r"^(?:[[:alpha:]]+)+$", Flavour::Go, vec![]),
        (r"\p{L}[a-z]$", Flavour::Java, vec![]),
        (r"^(\p{L}|\p{Nd})+$", Flavour::Java, vec![]),
        (r"^(\p{L}|\p{L})+$", Flavour::Java, vec![ExponentialBacktracking]),
        (r"^(?:\n+)+$", Flavour::Python, vec![ExponentialBacktracking]),
        (r"^(?:[^x]+)*$", Flavour::Java, vec![ExponentialBacktracking]),
        ("x$\\n?y$\\n", Flavour::Python, vec![UnmatchableDollar]),
    ] {
        assert_eq!(kinds(pattern, flavour, ""), expected, "{pattern}");
    }
}
