//! Times with units such as `days since 2000-01-01`, in the calendars of the CF conventions, with exact arithmetic: whole nanoseconds.

use ferrocdf_model::{Model, Owner, Values, VarId};

use super::attribute_values::text;
use super::coordinates::parent_of_bounds;

/// A calendar of the CF conventions whose years have known lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Calendar {
    /// Julian up to 1582-10-04, Gregorian from 1582-10-15 on.
    Standard,
    Gregorian,
    Julian,
    NoLeap,
    AllLeap,
    Days360,
}

const SECOND: i128 = 1_000_000_000;
const DAY: i128 = 86_400 * SECOND;

/// Units of fixed length in nanoseconds, by all their names.
const UNITS: [(&[&str], i128); 8] = [
    (&["nanosecond", "nanoseconds", "nanosec", "nanosecs"], 1),
    (&["microsecond", "microseconds", "microsec", "microsecs"], 1_000),
    (&["millisecond", "milliseconds", "millisec", "millisecs", "msec", "msecs", "ms"], 1_000_000),
    (&["second", "seconds", "sec", "secs", "s"], SECOND),
    (&["minute", "minutes", "min", "mins"], 60 * SECOND),
    (&["hour", "hours", "hr", "hrs", "h"], 3_600 * SECOND),
    (&["day", "days", "d"], DAY),
    (&["week", "weeks"], 7 * DAY),
];

/// The largest year that is known.
const MAX_YEAR: i64 = 9_999_999;

/// The meaning of the numbers of a time variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeUnits {
    calendar: Calendar,
    /// Nanoseconds of one.
    unit: i128,
    /// Nanoseconds from the start of the year 0 of the calendar, of the Gregorian one for the standard one, to the reference date.
    reference: i128,
}

impl TimeUnits {
    /// Returns the units of a variable, or those of the coordinate whose bounds it has; `None` if they are not those of time, or are months or years,
    /// whose lengths are not fixed.
    pub(crate) fn of(model: &Model, var: VarId) -> Option<TimeUnits> {
        let own = |var: VarId, name: &[u8]| {
            text(&model.find_attr(Owner::Var(var), name)?.value)
                .map(|text| String::from_utf8_lossy(text).into_owned())
        };
        let var = match own(var, b"units") {
            Some(_) => var,
            None => parent_of_bounds(model, var)?,
        };
        TimeUnits::parse(&own(var, b"units")?, own(var, b"calendar").as_deref())
    }

    fn parse(units: &str, calendar: Option<&str>) -> Option<TimeUnits> {
        let calendar = Calendar::named(calendar.unwrap_or("standard"))?;
        let (unit, date) = units.trim().split_once(" since ")?;
        let unit = unit.trim().to_ascii_lowercase();
        let (_, unit) = *UNITS.iter().find(|(names, _)| names.contains(&&*unit))?;
        Some(TimeUnits { calendar, unit, reference: instant(date.trim(), calendar)? })
    }

    /// True if both are of one calendar.
    pub(crate) fn has_calendar_of(&self, other: &TimeUnits) -> bool {
        self.calendar == other.calendar
    }

    /// Returns the conversion to other units of the same calendar.
    pub(crate) fn conversion_to(&self, other: &TimeUnits) -> Option<TimeConversion> {
        self.has_calendar_of(other).then(|| TimeConversion {
            from: self.unit,
            to: other.unit,
            offset: self.reference - other.reference,
        })
    }
}

impl Calendar {
    fn named(name: &str) -> Option<Calendar> {
        Some(match &*name.trim().to_ascii_lowercase() {
            "standard" | "gregorian" => Calendar::Standard,
            "proleptic_gregorian" => Calendar::Gregorian,
            "julian" => Calendar::Julian,
            "noleap" | "365_day" => Calendar::NoLeap,
            "all_leap" | "366_day" => Calendar::AllLeap,
            "360_day" => Calendar::Days360,
            _ => return None,
        })
    }

    /// Returns the days from the start of the year 0 to a date; `None` if the calendar has no such date.
    fn days(self, (year, month, day): (i64, i64, i64)) -> Option<i64> {
        let has_year_0 = !matches!(self, Calendar::Standard | Calendar::Julian);
        if !(i64::from(!has_year_0)..=MAX_YEAR).contains(&year) || !(1..=12).contains(&month) {
            return None;
        }
        let (is_leap, before) = match self {
            Calendar::Standard => {
                return match (year, month, day) {
                    date if date >= (1582, 10, 15) => Calendar::Gregorian.days(date),
                    // The days of the Julian calendar up to this date are two more.
                    date if date <= (1582, 10, 4) => Some(Calendar::Julian.days(date)? - 2),
                    _ => None,
                };
            }
            Calendar::Gregorian => {
                let leap_years = (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400;
                (year % 4 == 0 && (year % 100 != 0 || year % 400 == 0), 365 * year + leap_years)
            }
            Calendar::Julian => (year % 4 == 0, 365 * year + (year + 3) / 4),
            Calendar::NoLeap => (false, 365 * year),
            Calendar::AllLeap => (true, 366 * year),
            Calendar::Days360 => {
                return (1..=30).contains(&day).then(|| 360 * year + 30 * (month - 1) + day - 1);
            }
        };
        let lens = [31, if is_leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let (months, rest) = lens.split_at(month as usize - 1);
        let is_there = rest.first().is_some_and(|len| (1..=*len).contains(&day));
        is_there.then(|| before + months.iter().sum::<i64>() + day - 1)
    }
}

/// Returns the nanoseconds to an instant such as `2000-01-01`, `2000-1-1 6:30`, `2000-01-01T06:30:00.5Z` and `2000-01-01 06:30:00 +1:00`.
fn instant(date: &str, calendar: Calendar) -> Option<i128> {
    let end = date.find(['T', 't', ' ']).unwrap_or(date.len());
    let (day, rest) = date.split_at(end);
    let mut parts = day.split('-');
    let mut next = || number(parts.next()?);
    let day = (next()?, next()?, next()?);
    if parts.next().is_some() {
        return None;
    }
    let days = calendar.days(day)?;
    let rest = rest.strip_prefix(['T', 't']).unwrap_or(rest).trim();
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == ':' || c == '.')).unwrap_or(rest.len());
    let (time, zone) = rest.split_at(end);
    Some(i128::from(days) * DAY + time_of_day(time)? - zone_offset(zone.trim())?)
}

/// Returns the nanoseconds of `6`, `6:30` or `06:30:00.5`; 0 of nothing.
fn time_of_day(text: &str) -> Option<i128> {
    if text.is_empty() {
        return Some(0);
    }
    let (clock, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut nanoseconds = 0;
    let mut count = 0;
    for (part, (most, unit)) in clock.split(':').zip([(23, 3600), (59, 60), (59, 1)]) {
        nanoseconds += i128::from(number(part).filter(|part| *part <= most)?) * unit * SECOND;
        count += 1;
    }
    let fraction = fraction.trim_end_matches('0');
    if count != clock.split(':').count() || fraction.len() > 9 || (count < 3 && !fraction.is_empty()) {
        return None;
    }
    let digits = if fraction.is_empty() { 0 } else { number(fraction)? };
    Some(nanoseconds + i128::from(digits) * 10_i128.pow(9 - fraction.len() as u32))
}

/// Returns the nanoseconds that a time zone is ahead of UTC: `Z`, `UTC`, `+1`, `-03:30`, `+0100`.
fn zone_offset(text: &str) -> Option<i128> {
    let (sign, text) = match text.as_bytes().first() {
        None => return Some(0),
        Some(b'+') => (1, &text[1..]),
        Some(b'-') => (-1, &text[1..]),
        Some(_) => return ["z", "utc", "gmt"].contains(&&*text.to_ascii_lowercase()).then_some(0),
    };
    let clock = match text.len() {
        4 if !text.contains(':') => format!("{}:{}", text.get(..2)?, text.get(2..)?),
        0 => return None,
        _ => text.to_string(),
    };
    Some(sign * time_of_day(&clock)?)
}

/// Returns a number of digits only.
fn number(text: &str) -> Option<i64> {
    let is_number = (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

/// A conversion of times between units of one calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeConversion {
    /// Nanoseconds of the units.
    from: i128,
    to: i128,
    /// Nanoseconds from the new reference date to the old one.
    offset: i128,
}

impl TimeConversion {
    /// Converts times, but for those that have one of the values `kept`, which stand for missing ones.
    ///
    /// # Errors
    /// The first number that has no equal in the type and the new units.
    pub(crate) fn convert(&self, values: &Values, kept: &[Values]) -> Result<Values, String> {
        macro_rules! converted {
            ($($whole:ident)*) => {
                match values {
                    $(Values::$whole(list) => {
                        let kept: Vec<_> = kept.iter().filter_map(|kept| match kept {
                            Values::$whole(kept) => Some(kept),
                            _ => None,
                        }).flatten().collect();
                        let convert = |number: &_| match kept.contains(&number) {
                            true => Ok(*number),
                            false => {
                                let made = self.whole(i128::from(*number)).and_then(|made| made.try_into().ok());
                                made.ok_or_else(|| number.to_string())
                            }
                        };
                        list.iter().map(convert).collect::<Result<_, _>>().map(Values::$whole)
                    })*
                    Values::Double(list) => {
                        let is_kept = |number: f64| kept.iter().any(|kept| matches!(kept, Values::Double(kept) if kept.contains(&number)));
                        let convert = |&number: &f64| if is_kept(number) { number } else { self.real(number) };
                        Ok(Values::Double(list.iter().map(convert).collect()))
                    }
                    Values::Float(list) => {
                        let is_kept = |number: f32| kept.iter().any(|kept| matches!(kept, Values::Float(kept) if kept.contains(&number)));
                        let convert = |&number: &f32| {
                            let exact = if is_kept(number) { number.into() } else { self.real(number.into()) };
                            let is_exact = f64::from(exact as f32) == exact || exact.is_nan();
                            is_exact.then_some(exact as f32).ok_or_else(|| number.to_string())
                        };
                        list.iter().map(convert).collect::<Result<_, _>>().map(Values::Float)
                    }
                    _ => Err("text".to_string()),
                }
            };
        }
        converted!(Byte Short Int Int64 Ubyte Ushort Uint Uint64)
    }

    /// Returns a converted integer; `None` if it is between two.
    fn whole(&self, number: i128) -> Option<i128> {
        let nanoseconds = number.checked_mul(self.from)?.checked_add(self.offset)?;
        (nanoseconds % self.to == 0).then(|| nanoseconds / self.to)
    }

    /// Returns a converted number, with one rounding of its fraction.
    fn real(&self, number: f64) -> f64 {
        let whole = number.trunc();
        let exact =
            (whole.abs() < 1e18).then(|| (whole as i128).checked_mul(self.from)?.checked_add(self.offset));
        let Some(nanoseconds) = exact.flatten() else {
            return number * (self.from as f64 / self.to as f64) + self.offset as f64 / self.to as f64;
        };
        let rest = (nanoseconds % self.to) as f64 + (number - whole) * self.from as f64;
        (nanoseconds / self.to) as f64 + rest / self.to as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(units: &str, calendar: &str) -> Option<TimeUnits> {
        TimeUnits::parse(units, Some(calendar).filter(|name| !name.is_empty()))
    }

    #[test]
    fn one_instant_in_all_its_forms() {
        let wanted = units("days since 2000-01-01", "").unwrap();
        for (other, calendar) in [
            ("days since 2000-1-1", "standard"),
            ("day since 2000-01-01 00:00:00", "gregorian"),
            ("days since 2000-01-01T00:00:00Z", "Standard"),
            ("d since 2000-01-01 00:00:00.0 UTC", ""),
            ("days since 2000-01-01 06:00 +06:00", ""),
            ("days since 1999-12-31 20:30:00 -0330", ""),
        ] {
            assert_eq!(units(other, calendar), Some(wanted), "{other}");
        }
        for (other, calendar) in [
            ("days since 2000-01-02", ""),
            ("hours since 2000-01-01", ""),
            ("days since 2000-01-01 00:00:00.000000001", ""),
            ("days since 2000-01-01", "proleptic_gregorian"),
        ] {
            assert_ne!(units(other, calendar).unwrap(), wanted, "{other}");
        }
        for other in [
            "days",
            "days since",
            "days since 2000",
            "days since 2000-01",
            "days since 2000-13-01",
            "days since 2000-02-30",
            "days since 1582-10-10",
            "days since 0000-01-01",
            "days since -1-01-01",
            "days since 2000-01-01 25:00",
            "days since 2000-01-01 1:2:3:4",
            "days since 2000-01-01 later",
            "months since 2000-01-01",
            "K",
        ] {
            assert_eq!(units(other, "standard"), None, "{other}");
        }
        assert_eq!(units("days since 2000-01-01", "lunar"), None);
        assert!(units("days since 0000-01-01", "noleap").is_some());
    }

    #[test]
    fn whole_numbers_are_exact_or_refused() {
        let convert = |from: &str, to: &str, calendar: &str, number: i64| {
            let conversion = units(from, calendar)?.conversion_to(&units(to, calendar)?)?;
            match conversion.convert(&Values::Int64(vec![number, -1]), &[Values::Int64(vec![-1])]) {
                Ok(Values::Int64(list)) if list[1] == -1 => Some(list[0]),
                _ => None,
            }
        };
        let days = |from: &str, calendar: &str| convert(from, "days since 2000-03-01", calendar, 0);
        assert_eq!(days("days since 2000-02-28", "standard"), Some(-2));
        assert_eq!(days("days since 2000-02-28", "noleap"), Some(-1));
        assert_eq!(days("days since 2000-02-28", "360_day"), Some(-3));
        assert_eq!(
            days("days since 1582-10-15", "standard").unwrap()
                - days("days since 1582-10-04", "standard").unwrap(),
            1
        );
        assert_eq!(convert("hours since 2000-01-01", "days since 2000-01-01", "", 48), Some(2));
        assert_eq!(convert("hours since 2000-01-01", "days since 2000-01-01", "", 36), None);
        assert_eq!(
            convert("days since 2000-01-01", "hours since 1900-01-01", "julian", 1),
            Some(36_525 * 24 + 24)
        );
        let far = units("weeks since 9999999-01-01", "")
            .unwrap()
            .conversion_to(&units("nanoseconds since 1-1-1", "").unwrap());
        assert!(far.unwrap().convert(&Values::Int64(vec![i64::MAX]), &[]).is_err());
        assert!(far.unwrap().convert(&Values::Byte(vec![1]), &[]).is_err());
    }

    #[test]
    fn real_numbers_are_rounded_once() {
        let conversion = units("hours since 2000-01-02", "")
            .unwrap()
            .conversion_to(&units("days since 1850-01-01", "").unwrap())
            .unwrap();
        let Ok(Values::Double(made)) = conversion
            .convert(&Values::Double(vec![0.0, 6.0, -1.5, f64::NAN, 9e36]), &[Values::Double(vec![9e36])])
        else {
            panic!()
        };
        assert_eq!(made[..3], [54_787.0, 54_787.25, 54_787.0 - 0.0625]);
        assert!(made[3].is_nan() && made[4] == 9e36);
        assert!(
            matches!(conversion.convert(&Values::Float(vec![6.0]), &[]), Ok(Values::Float(list)) if list == [54_787.25])
        );
        assert!(conversion.convert(&Values::Float(vec![0.1]), &[]).is_err());
    }
}
