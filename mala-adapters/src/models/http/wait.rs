//! How long to wait before the next try: what the provider says, or longer each time with jitter, so
//! that many callers do not come back at once.

use crate::models::endpoint::Timings;
use std::time::{Duration, SystemTime};

/// The time that a `Retry-After` names: seconds, or a date.
pub(crate) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = jiff::fmt::rfc2822::parse(value).ok()?;
    let at = SystemTime::from(date.timestamp());
    Some(at.duration_since(now).unwrap_or_default())
}

/// The wait before try number `next`, the second one being 2; `luck` is between 0 and 1.
pub(crate) fn back_off(timings: &Timings, next: u32, luck: f64) -> Duration {
    let doublings = next.saturating_sub(2).min(16);
    let whole = timings.first_wait.saturating_mul(1 << doublings).min(timings.longest_wait);
    whole.mul_f64(0.5 + luck.clamp(0.0, 1.0) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_read() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_445_412_480);
        for (value, expected) in [
            ("2", Some(2_000)),
            (" 0.5 ", Some(500)),
            ("Wed, 21 Oct 2015 07:28:30 GMT", Some(30_000)),
            ("Wed, 21 Oct 2015 07:27:00 GMT", Some(0)),
            ("-1", None),
            ("NaN", None),
            ("1e300", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(retry_after(value, now), expected.map(Duration::from_millis), "{value:?}");
        }
    }

    #[test]
    fn waits_grow_to_a_limit_and_differ() {
        let timings = Timings {
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(5),
            ..Timings::default()
        };
        let waits = |luck| [2, 3, 4, 5, 90].map(|next| back_off(&timings, next, luck).as_millis());
        assert_eq!(waits(1.0), [1_000, 2_000, 4_000, 5_000, 5_000]);
        assert_eq!(waits(0.0), [500, 1_000, 2_000, 2_500, 2_500]);
    }
}
