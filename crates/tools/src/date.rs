//! The date as it is written into files.

use std::time::{SystemTime, UNIX_EPOCH};

use chrono::DateTime;

/// Returns the date and time in UTC: `Sun Nov 29 03:10:00 2026`.
pub(crate) fn now() -> String {
    text(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs().cast_signed()))
}

fn text(seconds: i64) -> String {
    DateTime::from_timestamp(seconds, 0).unwrap_or_default().format("%a %b %e %H:%M:%S %Y").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_as_c_writes_them() {
        for (seconds, wanted) in [
            (0, "Thu Jan  1 00:00:00 1970"),
            (951_782_400, "Tue Feb 29 00:00:00 2000"),
            (978_307_199, "Sun Dec 31 23:59:59 2000"),
            (1_795_921_800, "Sun Nov 29 03:10:00 2026"),
        ] {
            assert_eq!(text(seconds), wanted);
        }
    }
}
