//! Measures how much a string reads like words, by how common its letter pairs are. From about
//! twelve letters on, the scores of words and of random strings do not overlap.

/// How common each pair of letters (first letter: row, second letter: column) is in words, 0 to 9;
/// 6 is the expected value for random letters. Counted in identifiers and comments of a large code
/// base.
const PAIRS: [&[u8; 26]; 26] = [
    b"36761350504767060878443340",
    b"75547232751844750664713162",
    b"71537327507643831647621040",
    b"74459431821534731665621240",
    b"63675541302657353887244630",
    b"61457731900633831766602040",
    b"63439256700646630774632012",
    b"82349202803544820646511040",
    b"55665560101669750577050405",
    b"80548300605302850563902030",
    b"64459452701626542485436040",
    b"72459311802723740266521060",
    b"85249211703453770264500030",
    b"72777582604434631278541020",
    b"45662450404668560866656300",
    b"82448414602722760856523050",
    b"33243202210515440563913000",
    b"73559341704455740576432050",
    b"52638336704533662378623150",
    b"73548407802543640766523152",
    b"56546540600768460777100000",
    b"93409311800243620443103100",
    b"83457416801536732774224300",
    b"64757524701553480459332553",
    b"45657443600667580587345243",
    b"72349403700433740344302034",
];

/// The mean frequency class of the letter pairs in `text`, 0 to 9, and the number of pairs. Random
/// letters score about 3.8, words and identifiers about 6.9.
pub(super) fn score(text: &str) -> (f64, usize) {
    let mut sum = 0_u32;
    let mut n_pairs = 0;
    for pair in text.as_bytes().windows(2) {
        if let (Some(first), Some(second)) = (letter(pair[0]), letter(pair[1])) {
            sum += u32::from(PAIRS[first][second] - b'0');
            n_pairs += 1;
        }
    }
    let mean = if n_pairs == 0 { 0.0 } else { f64::from(sum) / n_pairs as f64 };
    (mean, n_pairs)
}

fn letter(byte: u8) -> Option<usize> {
    byte.is_ascii_alphabetic().then(|| usize::from(byte.to_ascii_lowercase() - b'a'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_random_letters_have_different_scores() {
        for words in
            ["getUserAccessToken", "CONNECTION_TIMEOUT", "my-awesome-password", "Bearer realm"]
        {
            assert!(score(words).0 > 5.8, "{words}: {:?}", score(words));
        }
        for random in ["qZx7Kw2mVbTnRfPj", "xkqjzvwpmbgt", "hQ3kZpXw9vLm2TbN"] {
            assert!(score(random).0 < 5.0, "{random}: {:?}", score(random));
        }
    }

    #[test]
    fn a_text_without_letters_has_no_pairs() {
        assert_eq!(score("12-34"), (0.0, 0));
        assert_eq!(score("é"), (0.0, 0));
    }
}
