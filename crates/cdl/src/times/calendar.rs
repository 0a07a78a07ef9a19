//! Calendars: conversion between dates and hours since the start of 1970.

/// Calendar of the CF conventions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Calendar {
    /// Julian up to 1582-10-04, Gregorian from 1582-10-15 on.
    Mixed,
    /// Gregorian for all years.
    Gregorian,
    Julian,
    /// Years of 365 days.
    NoLeap,
    /// Years of 366 days.
    AllLeap,
    /// Months of 30 days.
    Days360,
    /// One year of 365 days, without a year number.
    Climate,
}

/// Date and time of day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Moment {
    pub(super) year: i64,
    pub(super) month: i16,
    pub(super) day: i16,
    /// Hours since midnight, with a fraction.
    pub(super) hour: f64,
}

/// End (exclusive) of the Julian part of the mixed calendar, and start of the Gregorian part.
const SWITCH_JULIAN: Moment = Moment { year: 1582, month: 10, day: 5, hour: 0.0 };
const SWITCH_GREGORIAN: Moment = Moment { year: 1582, month: 10, day: 15, hour: 0.0 };

/// Origin of differences; the choice gives the rounding of `ncdump`.
const MIDDLE: Moment = Moment { year: 1979, month: 1, day: 1, hour: 0.0 };

/// Largest distances from 1970, in days and years, for which dates are computed.
const MOST_DAYS: f64 = 2_147_483_647.0;
const MOST_YEARS: i64 = 5_000_000;

const DAYS_BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

impl Calendar {
    /// Returns the calendar with this name, which may be abbreviated and in any case; the mixed one if there is none.
    pub(super) fn named(name: &[u8]) -> Calendar {
        const NAMES: [(&str, Calendar); 12] = [
            ("gregorian", Calendar::Mixed),
            ("standard", Calendar::Mixed),
            ("proleptic_gregorian", Calendar::Gregorian),
            ("noleap", Calendar::NoLeap),
            ("no_leap", Calendar::NoLeap),
            ("365_day", Calendar::NoLeap),
            ("allleap", Calendar::AllLeap),
            ("all_leap", Calendar::AllLeap),
            ("366_day", Calendar::AllLeap),
            ("360_day", Calendar::Days360),
            ("julian", Calendar::Julian),
            ("none", Calendar::Climate),
        ];
        let text = name.split(|&byte| byte == 0).next().unwrap_or_default();
        let ended = text.len() < name.len();
        let fits = |known: &str| {
            let known = known.as_bytes();
            known.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text))
                && (!ended || known.len() == text.len())
        };
        if name.is_empty() {
            return Calendar::Mixed;
        }
        NAMES.iter().find(|(known, _)| fits(known)).map_or(Calendar::Mixed, |&(_, calendar)| calendar)
    }

    /// Returns the calendar in which months are counted: the Gregorian one for the mixed one.
    pub(super) fn without_switch(self) -> Calendar {
        if self == Calendar::Mixed { Calendar::Gregorian } else { self }
    }

    fn is_leap(self, year: i64) -> bool {
        match self {
            Calendar::Mixed | Calendar::Gregorian => year % 4 == 0 && (year % 100 != 0 || year % 400 == 0),
            Calendar::Julian => year % 4 == 0,
            Calendar::AllLeap => true,
            Calendar::NoLeap | Calendar::Days360 | Calendar::Climate => false,
        }
    }

    /// Returns the days from the start of the year 0 to the start of this year.
    fn days_to_year(self, year: i64) -> i64 {
        let before = year - 1;
        match self {
            Calendar::Mixed | Calendar::Gregorian => {
                365 * year + before.div_euclid(4) - before.div_euclid(100) + before.div_euclid(400)
            }
            Calendar::Julian => 365 * year + before.div_euclid(4),
            Calendar::NoLeap => 365 * year,
            Calendar::AllLeap => 366 * year,
            Calendar::Days360 => 360 * year,
            Calendar::Climate => 0,
        }
    }

    /// Returns the hours since the start of 1970. A day beyond the end of its month counts into the next month.
    pub(super) fn hours(self, moment: &Moment) -> f64 {
        let month = if (1..=12).contains(&moment.month) { i64::from(moment.month) } else { 1 };
        let leap_day = i64::from(month > 2 && self.is_leap(moment.year));
        let in_year = match self {
            Calendar::Days360 => 30 * (month - 1),
            _ => DAYS_BEFORE[month as usize - 1] + leap_day,
        };
        let days =
            self.days_to_year(moment.year) - self.days_to_year(1970) + in_year + i64::from(moment.day) - 1;
        days as f64 * 24.0 + moment.hour
    }

    /// Returns the date and time at a number of hours since the start of 1970; `None` if it is too far away.
    pub(super) fn moment(self, hours: f64) -> Option<Moment> {
        let mut days = (hours / 24.0).floor();
        if days.abs() >= MOST_DAYS || days.is_nan() {
            return None;
        }
        let mut hour = hours - days * 24.0;
        if hour >= 24.0 {
            days += 1.0;
            hour -= 24.0;
        }
        let days = days as i64;
        let (year, in_year) = match self {
            Calendar::Climate => (0, days.rem_euclid(365)),
            _ => {
                let days = days + self.days_to_year(1970);
                let mut year = days.div_euclid(if days < 0 { 360 } else { 366 }) - 2;
                // Each step reduces the distance to about a year for every few hundred years.
                loop {
                    let behind = days - self.days_to_year(year + 1);
                    if behind < 0 {
                        break;
                    }
                    year += 1 + behind / 366;
                }
                (year, days - self.days_to_year(year))
            }
        };
        let (month, day) = self.month_and_day(year, in_year);
        Some(Moment { year, month, day, hour })
    }

    fn month_and_day(self, year: i64, in_year: i64) -> (i16, i16) {
        if self == Calendar::Days360 {
            return ((in_year / 30 + 1) as i16, (in_year % 30 + 1) as i16);
        }
        let leap_day = i64::from(self.is_leap(year));
        let start = |month: usize| DAYS_BEFORE[month] + if month >= 2 { leap_day } else { 0 };
        let month = (0..12).rev().find(|&month| start(month) <= in_year).unwrap_or(0);
        (month as i16 + 1, (in_year - start(month) + 1) as i16)
    }

    /// Returns the start of the month `months` after the month of `from`.
    pub(super) fn first_of_month(self, from: Moment, months: i64) -> Option<Moment> {
        let months = months.checked_add(i64::from(from.month) - 1)?;
        let year = from.year.checked_add(months.div_euclid(12))?;
        if year.abs() > MOST_YEARS {
            return None;
        }
        let month = (months.rem_euclid(12) + 1) as i16;
        self.moment(self.hours(&Moment { year, month, day: 1, hour: 0.0 }))
    }

    /// Returns the hours since [`MIDDLE`].
    fn since_middle(self, moment: &Moment) -> f64 {
        self.hours(moment) - self.hours(&MIDDLE)
    }

    fn between(self, later: &Moment, earlier: &Moment) -> f64 {
        self.since_middle(later) - self.since_middle(earlier)
    }

    fn add(self, moment: &Moment, hours: f64) -> Option<Moment> {
        self.moment(self.hours(&MIDDLE) + (self.since_middle(moment) + hours))
    }
}

/// Adds hours to a date and time of the mixed calendar.
pub(super) fn add_mixed(moment: &Moment, hours: f64) -> Option<Moment> {
    let key = |moment: &Moment| (moment.year, moment.month, moment.day, moment.hour);
    if key(moment) < key(&SWITCH_GREGORIAN) {
        let left = Calendar::Julian.between(&SWITCH_JULIAN, moment);
        match hours <= left {
            true => Calendar::Julian.add(moment, hours),
            false => Calendar::Gregorian.add(&SWITCH_GREGORIAN, hours - left),
        }
    } else {
        let left = Calendar::Gregorian.between(&SWITCH_GREGORIAN, moment);
        match hours > left {
            true => Calendar::Gregorian.add(moment, hours),
            false => Calendar::Julian.add(&SWITCH_JULIAN, hours - left),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_hours_are_inverse() {
        use Calendar::*;
        for calendar in [Gregorian, Julian, NoLeap, AllLeap, Days360] {
            for day in (-800_000..800_000).step_by(37) {
                let moment = calendar.moment(f64::from(day) * 24.0 + 6.0).unwrap();
                assert_eq!(calendar.hours(&moment), f64::from(day) * 24.0 + 6.0, "{calendar:?} {moment:?}");
                assert!((1..=12).contains(&moment.month) && (1..=31).contains(&moment.day));
            }
        }
    }

    #[test]
    fn calendars_by_name() {
        assert_eq!(Calendar::named(b"NoLeap"), Calendar::NoLeap);
        assert_eq!(Calendar::named(b"noleap\0"), Calendar::NoLeap);
        assert_eq!(Calendar::named(b"nolea\0"), Calendar::Mixed);
        assert_eq!(Calendar::named(b"proleptic"), Calendar::Gregorian);
        assert_eq!(Calendar::named(b"360_days"), Calendar::Mixed);
        assert_eq!(Calendar::named(b""), Calendar::Mixed);
    }
}
