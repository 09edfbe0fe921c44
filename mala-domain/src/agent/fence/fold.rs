//! Folds text to what an inattentive reader sees: letters and digits only, in lower case,
//! look-alikes replaced. White space, hyphens and invisible characters are ignored.

/// The folded form.
pub(super) fn folded(text: &str) -> String {
    text.chars().flat_map(fold).collect()
}

/// Finds the wanted words in the folded text. For each match, returns the offset in `text` after
/// the first letter of the word, in order.
pub(super) fn first_ends(text: &str, wanted: &[String]) -> Vec<usize> {
    let mut seen = String::with_capacity(text.len());
    // For each byte of the folded text, the end of its character in `text`.
    let mut ends: Vec<usize> = Vec::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        for letter in fold(c) {
            seen.push(letter);
            ends.extend(std::iter::repeat_n(at + c.len_utf8(), letter.len_utf8()));
        }
    }
    let mut found: Vec<usize> = wanted
        .iter()
        .flat_map(|word| places(&seen, word))
        .filter_map(|at| ends.get(at).copied())
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The offsets of a word, including overlapping ones.
fn places<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let step = word.chars().next().map_or(1, char::len_utf8);
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + text.get(from..)?.find(word)?;
        from = at + step;
        Some(at)
    })
    .take(if word.is_empty() { 0 } else { usize::MAX })
}

fn fold(c: char) -> impl Iterator<Item = char> {
    let plain = if c.is_ascii() { c } else { plain(c) };
    plain.to_lowercase().filter(|c| c.is_alphanumeric())
}

/// The ASCII letter or digit that a character looks like, for commonly abused alphabets.
fn plain(c: char) -> char {
    const LOOKS: [(&str, &str); 3] = [
        ("аАеЕсСӏіІоОрРхХуУкКмМтТнНвВԁԛѕЅјЈ", "aaeeccliiooppxxyykkmmttnnbbdqssjj"),
        ("αΑεΕνΝοΟρΡτΤυΥχΧιΙκΚμΜηΗβΒ", "aaeennoopPttyyxxiikkmmnnbb"),
        ("ıɑɡⅼⅿⅽⅾℯℓ", "iaglmcdel"),
    ];
    let code = u32::from(c);
    let shifted = |first: u32, base: char| char::from_u32(u32::from(base) + code - first);
    let styled = match code {
        0xFF21..=0xFF3A => shifted(0xFF21, 'A'),
        0xFF41..=0xFF5A => shifted(0xFF41, 'a'),
        0xFF10..=0xFF19 => shifted(0xFF10, '0'),
        0x24B6..=0x24CF => shifted(0x24B6, 'A'),
        0x24D0..=0x24E9 => shifted(0x24D0, 'a'),
        // Mathematical alphabets: 26 upper-case letters, then 26 lower-case letters, and so on.
        0x1D400..=0x1D6A3 => char::from_u32(u32::from('a') + (code - 0x1D400) % 26),
        0x1D7CE..=0x1D7FF => char::from_u32(u32::from('0') + (code - 0x1D7CE) % 10),
        _ => None,
    };
    styled.unwrap_or_else(|| {
        LOOKS
            .iter()
            .find_map(|(from, to)| {
                let index = from.chars().position(|known| known == c)?;
                to.chars().filter(|c| *c != ' ').nth(index)
            })
            .unwrap_or(c)
    })
}
