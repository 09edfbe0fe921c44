//! Numbers that users write: shares and amounts of money. What is none is refused where it is read, since
//! nothing is below or above NaN.

/// A share, from 0 to 1.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let is_share = |share: &f64| (0.0..=1.0).contains(share);
    text.parse().ok().filter(is_share).ok_or_else(|| "a number from 0 to 1 is expected".to_owned())
}

/// An amount of dollars.
pub(super) fn dollars(text: &str) -> Result<f64, String> {
    let is_amount = |dollars: &f64| dollars.is_finite() && *dollars >= 0.0;
    text.parse().ok().filter(is_amount).ok_or_else(|| "an amount of dollars is expected".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_with_a_meaning_are_taken() {
        for (text, as_share, as_dollars) in [
            ("0", Some(0.0), Some(0.0)),
            ("0.5", Some(0.5), Some(0.5)),
            ("1", Some(1.0), Some(1.0)),
            ("1.5", None, Some(1.5)),
            ("-0.1", None, None),
            ("nan", None, None),
            ("inf", None, None),
            ("-inf", None, None),
            ("1e999", None, None),
            ("$3", None, None),
            ("", None, None),
        ] {
            assert_eq!((share(text).ok(), dollars(text).ok()), (as_share, as_dollars), "{text}");
        }
    }
}
