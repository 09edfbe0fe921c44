//! Patterns that are slow, and near misses. JavaScript unless a test says otherwise.

use super::*;

fn is_slow(pattern: &str, flavour: RegexFlavour, letters: &str, growth: StepGrowth) -> bool {
    let flags = RegexFlags {
        ignore_case: letters.contains('i'),
        dot_all: letters.contains('s'),
        ..RegexFlags::default()
    };
    slow_loop(pattern, flavour, flags, growth).is_some()
}

#[test]
fn exponential_loops_are_found() {
    for (pattern, letters) in [
        (r"^(x+)+$", ""),
        (r"^(x*)*$", ""),
        (r"(?:x+y?)+z", ""),
        (r"^(?:\w+\s?)*!$", ""),
        (r"(\d+|\w)+;", ""),
        (r"(?:p|pp)+q", ""),
        (r"^(?:ab|[a-c]{2})*d$", ""),
        (r"(?:\.|[^,])*\.json,", ""),
        (r"^([a-z]|[k-p])*:", ""),
        (r"(key|KEY)*=", "i"),
        (r"(.|\n)*#", "s"),
        (r"(?=(y+)+z)y", ""),
        (r#""(?:[^"]|\\.)*""#, ""),
        (r"(?:[^/]+/*)+;", ""),
        (r"^(\w+[-.]?)*@", ""),
        (r"('[^']*'|[^\s]+)+$", ""),
        (r"(?:ab?|b?a)+c", ""),
        (r"(?:a|a)*?b", ""),
        (r"^[a-zA-Z_$][0-9a-zA-Z_$]*(?:\[(?:.+|\d+)\])*?$", ""),
        (r"(?:.*,)*\s*Negotiate", "i"),
    ] {
        let is_slow = is_slow(pattern, RegexFlavour::JavaScript, letters, StepGrowth::Exponential);
        assert!(is_slow, "{pattern}");
    }
}

#[test]
fn unambiguous_loops_are_not_exponential() {
    for (pattern, letters) in [
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
        (r"(?:[^']|'')*'", ""),
        (r"^[\w.]+@(?:\w+\.)+\w{2,}$", ""),
        (r"[unclosed", ""),
        (r"(unclosed+", ""),
    ] {
        // Python has atomic groups and possessive quantifiers.
        let is_slow = is_slow(pattern, RegexFlavour::Python, letters, StepGrowth::Exponential);
        assert!(!is_slow, "{pattern}");
    }
}

#[test]
fn polynomial_loops_are_found() {
    for pattern in [
        r"\s+$",
        r"^\s+|\s+$",
        r"^.*a.*b$",
        r"^a*b?a*$",
        r"(?:ab)*x",
        r"^\w+\d+x",
        r"[^@]+@example",
    ] {
        let is_slow = is_slow(pattern, RegexFlavour::JavaScript, "", StepGrowth::Polynomial);
        assert!(is_slow, "{pattern}");
    }
}

#[test]
fn linear_patterns_are_not_polynomial() {
    for pattern in [r"^\s+", r"^[a-z]+$", r"\s+", r"a*", r"^a+b+c+$", r"\bfoo\b", r"\w{1,8}"] {
        let is_slow = is_slow(pattern, RegexFlavour::JavaScript, "i", StepGrowth::Polynomial);
        assert!(!is_slow, "{pattern}");
    }
}
