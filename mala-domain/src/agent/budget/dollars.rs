//! Money in whole millionths of a dollar, so that sums are exact.

/// An amount of dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dollars {
    millionths: u64,
}

impl Dollars {
    /// Zero dollars.
    pub const ZERO: Self = Self { millionths: 0 };

    /// An amount in millionths of a dollar.
    pub const fn millionths(millionths: u64) -> Self {
        Self { millionths }
    }

    /// The amount, rounded up; infinity and NaN become the largest amount.
    pub fn at_least(dollars: f64) -> Self {
        if !dollars.is_finite() {
            return Self { millionths: u64::MAX };
        }
        // A float that is too large for the integer becomes the largest one, and a negative one 0.
        let millionths = (dollars * 1e6).ceil() as u64;
        Self { millionths }
    }

    /// The sum.
    pub fn plus(self, other: Self) -> Self {
        Self { millionths: self.millionths.saturating_add(other.millionths) }
    }

    /// The difference, at least zero.
    pub fn less(self, other: Self) -> Self {
        Self { millionths: self.millionths.saturating_sub(other.millionths) }
    }

    /// As a number of dollars.
    pub fn as_f64(self) -> f64 {
        self.millionths as f64 / 1e6
    }
}

impl std::fmt::Display for Dollars {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let decimals = if self.millionths.is_multiple_of(10_000) { 2 } else { 4 };
        write!(f, "${:.decimals$}", self.as_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_up_and_never_wraps() {
        for (dollars, millionths) in [
            (0.5, 500_000),
            (0.000_000_1, 1),
            (0.0, 0),
            (-3.0, 0),
            (1e300, u64::MAX),
            (f64::INFINITY, u64::MAX),
            (f64::NAN, u64::MAX),
        ] {
            assert_eq!(Dollars::at_least(dollars), Dollars::millionths(millionths), "{dollars}");
        }
        let most = Dollars::millionths(u64::MAX);
        assert_eq!(most.plus(most), most);
        assert_eq!(Dollars::ZERO.less(most), Dollars::ZERO);
    }

    #[test]
    fn prints_as_people_write_it() {
        for (millionths, text) in [(500_000, "$0.50"), (1_234, "$0.0012"), (5_000_000, "$5.00")] {
            assert_eq!(Dollars::millionths(millionths).to_string(), text);
        }
    }
}
