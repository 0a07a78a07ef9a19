//! Times in the form of `ncdump`: numbers with units such as `days since 2000-01-01`, in the calendars of the CF
//! conventions.
//!
//! Sums are computed in hours from a fixed day in double precision, in the order in which `ncdump` computes them, since
//! the last digit of a second depends on the order. Years and days are computed in closed form instead of year by year.
//! Time zones in the units are ignored, as by `ncdump`.

mod calendar;
mod scan;

use calendar::{Calendar, Moment};
use scan::Scan;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Unit {
    /// Units of fixed length.
    Second,
    Minute,
    Hour,
    Day,
    Week,
    /// Unit of this number of months.
    Months(f64),
}

/// Meaning of the numbers of a time variable.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeAxis {
    calendar: Calendar,
    unit: Unit,
    base: Moment,
}

impl TimeAxis {
    /// Parses the attributes `units` and `calendar`; `None` if the units are not those of time.
    pub fn parse(units: &[u8], calendar: Option<&[u8]>) -> Option<TimeAxis> {
        let calendar = calendar.map_or(Calendar::Mixed, Calendar::named);
        let c_text = units.split(|&byte| byte == 0).next().unwrap_or_default();
        let mut scan = Scan::new(c_text);
        let word = scan.word()?;
        scan.spaces();
        if !scan.literal(b"since") {
            return None;
        }
        scan.spaces();
        let behind = scan;
        let first = scan.word()?;
        let second = scan.word();
        let unit = unit(word)?;
        if calendar == Calendar::Climate && unit == Unit::Months(12.0) {
            return None;
        }
        // A `T` may replace the blank between date and time of day.
        let base = match first.iter().position(|&byte| byte == b'T') {
            None => [first, b" ", second.unwrap_or_default()].concat(),
            Some(0) if calendar == Calendar::Climate => b"1".to_vec(),
            Some(0) => b"1979".to_vec(),
            Some(at) => {
                let mut rest = behind;
                rest.skip(at + 1);
                [&first[..at], b" ", rest.word().unwrap_or_default()].concat()
            }
        };
        Some(TimeAxis { calendar, unit, base: base_moment(&base, calendar) })
    }

    /// Returns the time of a number in the shortest ISO 8601 form with `separator` between date and time of day; `None`
    /// if the number is not finite or too far away for the calendar.
    pub fn text(&self, value: f64, separator: u8) -> Option<String> {
        if !value.is_finite() {
            return None;
        }
        let calendar = self.calendar;
        let hours = match self.unit {
            Unit::Second => value / 3600.0,
            Unit::Minute => value / 60.0,
            Unit::Hour => value,
            Unit::Day => 24.0 * value,
            Unit::Week => 168.0 * value,
            Unit::Months(months) => {
                let calendar = calendar.without_switch();
                let whole = (months * value + if value < 0.0 { -1e-10 } else { 1e-10 }) as i64;
                let moment = match value == 0.0 {
                    true => self.base,
                    false => calendar.first_of_month(calendar.moment(calendar.hours(&self.base))?, whole)?,
                };
                return iso(calendar, &moment, separator);
            }
        };
        let moment = match calendar {
            Calendar::Mixed => calendar::add_mixed(&self.base, hours)?,
            _ => calendar.moment(calendar.hours(&self.base) + hours)?,
        };
        iso(calendar, &moment, separator)
    }
}

fn unit(word: &[u8]) -> Option<Unit> {
    let is = |short: &str| word.eq_ignore_ascii_case(short.as_bytes());
    let begins =
        |stem: &str| word.get(..stem.len()).is_some_and(|start| start.eq_ignore_ascii_case(stem.as_bytes()));
    Some(match () {
        () if begins("sec") || is("s") => Unit::Second,
        () if begins("min") || is("mn") => Unit::Minute,
        () if begins("hour") || is("hr") => Unit::Hour,
        () if begins("day") || is("dy") => Unit::Day,
        () if begins("week") || is("wk") => Unit::Week,
        () if begins("month") || is("mo") => Unit::Months(1.0),
        () if begins("season") => Unit::Months(3.0),
        () if begins("year") || is("yr") => Unit::Months(12.0),
        () => return None,
    })
}

/// Parses as much of `1970-01-01 00:00:00` as there is; missing and wrong parts keep the default.
fn base_moment(text: &[u8], calendar: Calendar) -> Moment {
    let mut moment = Moment { year: 0, month: 1, day: 1, hour: 0.0 };
    let mut scan = Scan::new(text);
    let mut date = || {
        if calendar != Calendar::Climate {
            moment.year = scan.integer()?;
            scan.literal(b"-").then_some(())?;
        }
        moment.month = scan.integer()? as i16;
        scan.literal(b"-").then_some(())?;
        moment.day = scan.integer()? as i16;
        scan.spaces();
        let hour = scan.integer().filter(|hour| (0..24).contains(hour))?;
        moment.hour = hour as f64;
        scan.literal(b":").then_some(())?;
        let minute = scan.integer().filter(|minute| (0..60).contains(minute))?;
        moment.hour += minute as f64 / 60.0;
        scan.literal(b":").then_some(())?;
        let second = scan.real().filter(|second| (0.0..=60.0).contains(second))?;
        moment.hour += second / 3600.0;
        Some(())
    };
    // Parsing stops at the first missing or wrong part, which is not an error.
    let _: Option<()> = date();
    moment
}

/// Returns the text of a date and time; `None` if it is not a valid date.
fn iso(calendar: Calendar, moment: &Moment, separator: u8) -> Option<String> {
    // Half a microsecond in seconds, minutes and hours.
    const SECOND: f64 = 0.5e-6;
    const MINUTE: f64 = SECOND / 60.0;
    const HOUR: f64 = MINUTE / 60.0;
    let valid = (1..=12).contains(&moment.month)
        && (1..=31).contains(&moment.day)
        && (0.0..=24.0).contains(&moment.hour);
    if !valid {
        return None;
    }
    let hour = (moment.hour + HOUR) as i32;
    let minutes = 60.0 * (moment.hour - f64::from(hour));
    let minute = (minutes + MINUTE) as i32;
    let seconds = 60.0 * (minutes - f64::from(minute));
    let second = (seconds + SECOND) as i32;
    let mut text = match calendar {
        Calendar::Climate => String::new(),
        _ if moment.year < 0 => format!("-{:04}-", moment.year.unsigned_abs()),
        _ => format!("{:04}-", moment.year),
    };
    text += &format!("{:02}-{:02}", moment.month, moment.day);
    let between = char::from(separator);
    if seconds - f64::from(second) >= SECOND {
        text += &format!("{between}{hour:02}:{minute:02}:{seconds:.6}");
    } else if second != 0 {
        text += &format!("{between}{hour:02}:{minute:02}:{second:02}");
    } else if minute != 0 {
        text += &format!("{between}{hour:02}:{minute:02}");
    } else if hour != 0 {
        text += &format!("{between}{hour:02}");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(units: &str, calendar: &str, value: f64) -> Option<String> {
        let calendar = Some(calendar.as_bytes()).filter(|name| !name.is_empty());
        TimeAxis::parse(units.as_bytes(), calendar)?.text(value, b' ')
    }

    #[test]
    fn times_as_the_reference_prints_them() {
        for (units, calendar, value, expected) in [
            ("days since 2000-1-1", "", 1.5, "2000-01-02 12"),
            ("days since 2000-01-01T06:00:00Z", "standard", 0.0, "2000-01-01 06"),
            ("seconds since 1970-01-01 00:00:00", "gregorian", 1e9, "2001-09-09 01:46:40"),
            // The instant of the switch to the Gregorian calendar is printed as a Julian date.
            ("hours since 1582-10-04 00:00", "", 24.0, "1582-10-05"),
            ("hours since 1582-10-04 00:00", "", 25.0, "1582-10-15 01"),
            ("hours since 1582-10-04 00:00", "proleptic_gregorian", 24.0, "1582-10-05"),
            ("days since 1582-10-15", "", -1.0, "1582-10-04"),
            ("days since 1900-2-28", "julian", 1.0, "1900-02-29"),
            ("days since 2000-2-28", "noleap", 1.0, "2000-03-01"),
            ("days since 2001-2-28", "366_day", 1.0, "2001-02-29"),
            ("days since 2001-2-30", "360_day", 1.0, "2001-03-01"),
            ("months since 2000-01-15", "", 1.0, "2000-02-01"),
            ("months since 2000-01-15", "", 0.0, "2000-01-15"),
            ("years since 2000-1-1", "", -1.0, "1999-01-01"),
            ("season since 2000-1-1", "", 2.0, "2000-07-01"),
            ("min since 2000-1-1", "", 0.25, "2000-01-01 00:00:15"),
            ("s since 2000-1-1", "", 0.25, "2000-01-01 00:00:0.250000"),
            ("days since -5-3-1", "proleptic_gregorian", 0.0, "-0005-03-01"),
            ("days since 3-1", "none", 1.0, "03-02"),
            ("weeks since 2000-1-1", "", 1.0, "2000-01-08"),
        ] {
            assert_eq!(text(units, calendar, value).as_deref(), Some(expected), "{value} {units} {calendar}");
        }
    }

    #[test]
    fn what_is_not_a_time() {
        for units in ["", "days", "days since", "metres since 2000-1-1", "days after 2000-1-1", "K"] {
            assert!(TimeAxis::parse(units.as_bytes(), None).is_none(), "{units}");
        }
        assert_eq!(text("years since 1-1", "none", 0.0), None);
        assert_eq!(text("days since 2000-1-1", "", 1e30), None);
        assert_eq!(text("months since 2000-1-1", "", 1e30), None);
    }
}
