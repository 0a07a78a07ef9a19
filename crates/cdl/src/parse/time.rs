//! The function `time("1979-01-01 12:30:00")` of CDL: hours since 1970, in the calendar that changes from Julian to
//! Gregorian in October 1582.

/// Returns the hours from the start of 1970 to a time given as year, month, day, hour, minute, second, with any
/// separators. A missing year is 1970, a missing month or day is 1, other missing parts are 0.
pub(super) fn hours_since_1970(text: &[u8]) -> f64 {
    let negative = text.first() == Some(&b'-');
    let mut parts = text
        .split(|byte| !(byte.is_ascii_digit() || *byte == b'.'))
        .filter(|part| !part.is_empty())
        .map(|part| fast_float2::parse::<f64, _>(part).unwrap_or(0.0));
    let mut part = |missing: f64| parts.next().unwrap_or(missing);
    let year = part(1970.0) as i64;
    let (month, day) = (part(1.0) as i64, part(1.0) as i64);
    let (hour, minute, second) = (part(0.0), part(0.0), part(0.0));
    let year = if negative { -year } else { year };
    let days =
        day_number(year.clamp(-1_000_000, 1_000_000), month.clamp(1, 12), day) - day_number(1970, 1, 1);
    days as f64 * 24.0 + hour + minute / 60.0 + second / 3600.0
}

/// Returns the number of days since a fixed day.
fn day_number(year: i64, month: i64, day: i64) -> i64 {
    // Months are counted from March, so that the leap day is the last of the year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year.div_euclid(4) + (153 * month + 2) / 5 + day;
    let gregorian = (year, month, day) >= (1582, 7, 15);
    if gregorian { days - year.div_euclid(100) + year.div_euclid(400) } else { days - 2 }
}

#[cfg(test)]
mod tests {
    use super::hours_since_1970;

    #[test]
    fn moments() {
        assert_eq!(hours_since_1970(b"1970-01-01"), 0.0);
        assert_eq!(hours_since_1970(b"1970-01-02 00:30:36"), 24.51);
        assert_eq!(hours_since_1970(b"1969-12-31T12:00"), -12.0);
        assert_eq!(hours_since_1970(b"2000-03-01"), 11017.0 * 24.0);
        assert_eq!(hours_since_1970(b"1582-10-15") - hours_since_1970(b"1582-10-04"), 24.0);
    }
}
