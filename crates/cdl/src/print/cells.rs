//! Formatting of the values of one block.
//!
//! [`Cells`] formats one value. Its method `rows` arranges values in rows; it is compiled for each kind of cell, so the
//! inner loop has no indirect call.

use ferrocdf_model::{Atomic, Model, Type, Value, Values};

use super::escape::{Place, quoted, trimmed};
use super::float::{Point, general, signed, unsigned};
use super::layout::{Block, Layout};
use super::printf::Format;
use super::user::{self, Digits};
use crate::times::TimeAxis;

/// Text of a block.
#[derive(Default)]
pub(super) struct Piece {
    /// Whole rows in their final form, or the values of a part of a row without line breaks.
    pub(super) text: Vec<u8>,
    /// Length of each value of a part of a row, for later line breaks.
    pub(super) widths: Vec<u32>,
}

/// Form in which the values of a variable are printed.
pub(super) struct Look<'a> {
    pub(super) model: &'a Model,
    pub(super) ty: Type,
    /// List of the one value that is printed as `_`.
    pub(super) fill: Option<Values>,
    pub(super) style: Style,
    pub(super) digits: Digits,
}

/// Form of values of atomic types.
pub(super) enum Style {
    /// Default form of the type.
    Plain,
    /// Format in the attribute `C_format`.
    Printf(Format),
    /// Times, with this byte between date and time of day.
    Time(TimeAxis, u8),
}

impl Look<'_> {
    /// True if rows are printed as text.
    pub(super) fn is_text(&self) -> bool {
        self.ty == Type::Atomic(Atomic::Char) && !matches!(self.style, Style::Printf(_))
    }

    /// Returns the cells of a block.
    pub(super) fn cells<'v>(&'v self, values: &'v Values) -> Box<dyn Cells + 'v> {
        macro_rules! numbers {
            ($($variant:ident)*) => {
                match (values, &self.fill) {
                    $(
                        (Values::$variant(values), Some(Values::$variant(fill))) => {
                            Box::new(Numbers { values, fill: fill.first().copied(), look: self })
                        }
                        (Values::$variant(values), _) => Box::new(Numbers { values, fill: None, look: self }),
                    )*
                    (Values::String(values), fill) => {
                        let fill = match fill {
                            Some(Values::String(fill)) => fill.first(),
                            _ => None,
                        };
                        Box::new(Strings { values, fill })
                    }
                    (Values::User(_, values), fill) => {
                        let fill = match fill {
                            Some(Values::User(_, fill)) => fill.first(),
                            _ => None,
                        };
                        Box::new(Trees { values, fill, look: self })
                    }
                    (Values::Char(values), _) if self.is_text() => Box::new(Text { values }),
                    (Values::Char(values), fill) => {
                        let fill = match fill {
                            Some(Values::Char(fill)) => fill.first().copied(),
                            _ => None,
                        };
                        Box::new(Characters { values, fill, look: self })
                    }
                }
            };
        }
        numbers!(Byte Short Int Float Double Ubyte Ushort Uint Int64 Uint64)
    }
}

/// Printable values of a block.
pub(super) trait Cells {
    /// Appends the value at a position.
    fn put(&self, at: usize, out: &mut Vec<u8>);

    /// Appends all rows of the block, or the values of its part of a row.
    fn rows(&self, layout: &Layout<'_>, block: &Block, piece: &mut Piece) {
        let (columns, full) = (block.columns(), layout.options.full_comments);
        let first = if block.part { block.start.last().copied().unwrap_or(0) } else { 0 };
        let ends = first + columns as u64 == layout.columns();
        let Piece { text, widths } = piece;
        text.reserve(block.len().min(1 << 20) * 12);
        block.each_row(|number, row| {
            let mut line = layout.line(row);
            if !block.part || (full && first == 0) {
                layout.row_start(row, &mut line, text);
            }
            let at = number * columns;
            let last = at + columns - 1;
            let followed = if ends { last } else { last + 1 };
            if full {
                for at in at..followed {
                    self.put(at, text);
                    text.extend_from_slice(b", ");
                    layout.full_comment(row, first + (at - number * columns) as u64, text);
                }
            } else {
                for at in at..followed {
                    let start = text.len();
                    self.put(at, text);
                    text.extend_from_slice(b", ");
                    if block.part {
                        widths.push((text.len() - start) as u32);
                    } else {
                        line.fit(start, text);
                    }
                }
            }
            if ends {
                let start = text.len();
                self.put(last, text);
                layout.close(row, text);
                match (full, block.part) {
                    (true, _) => {}
                    (false, true) => widths.push((text.len() - start) as u32),
                    (false, false) => line.fit(start, text),
                }
                if full || !block.part {
                    layout.row_end(row, &mut line, text);
                }
            }
        });
    }
}

/// Numbers of one type.
struct Numbers<'a, T> {
    values: &'a [T],
    fill: Option<T>,
    look: &'a Look<'a>,
}

impl<T: PrintedNumber> Cells for Numbers<'_, T> {
    #[inline]
    fn put(&self, at: usize, out: &mut Vec<u8>) {
        let value = self.values[at];
        if self.fill.is_some_and(|fill| value.same(fill)) {
            return out.push(b'_');
        }
        match &self.look.style {
            Style::Plain => value.plain(self.look.digits, Point::IfNeeded, out),
            Style::Printf(format) => match value.not_finite() {
                Some(word) => out.extend_from_slice(word.as_bytes()),
                None => value.formatted(format, out),
            },
            // A number that is not a date is printed as a number, so that no value is lost.
            Style::Time(axis, separator) => put_time(value, axis, *separator, out, |out| {
                value.plain(self.look.digits, Point::IfNeeded, out);
            }),
        }
    }
}

/// Appends a time as quoted text; calls `no_date` for a number that is not a date of the calendar.
pub(super) fn put_time<T: PrintedNumber>(
    value: T,
    axis: &TimeAxis,
    separator: u8,
    out: &mut Vec<u8>,
    no_date: impl FnOnce(&mut Vec<u8>),
) {
    let number = value.as_f64();
    if let Some(word) = number.not_finite() {
        return out.extend_from_slice(word.as_bytes());
    }
    match axis.text(number, separator) {
        Some(text) => {
            out.push(b'"');
            out.extend_from_slice(text.as_bytes());
            out.push(b'"');
        }
        None => no_date(out),
    }
}

/// Numeric type of netCDF.
pub(super) trait PrintedNumber: Copy {
    /// Appends the number in the default form of its type.
    fn plain(self, digits: Digits, point: Point, out: &mut Vec<u8>);
    /// Appends the number, which is finite, in a format.
    fn formatted(self, format: &Format, out: &mut Vec<u8>);
    /// True if the number is the fill value: for floating-point numbers, within one part in 2^23 or 2^52.
    fn same(self, fill: Self) -> bool;
    /// Returns the number in double precision.
    fn as_f64(self) -> f64;
    /// Returns the word for an infinity or NaN; `None` for finite numbers.
    fn not_finite(self) -> Option<&'static str>;
}

macro_rules! integers {
    ($put:ident $wide:ty: $($integer:ty)*) => { $(
        impl PrintedNumber for $integer {
            #[inline]
            fn plain(self, _: Digits, _: Point, out: &mut Vec<u8>) {
                $put(<$wide>::from(self), out);
            }
            fn formatted(self, format: &Format, out: &mut Vec<u8>) {
                format.integer(i128::from(self), out);
            }
            #[inline]
            fn same(self, fill: Self) -> bool {
                self == fill
            }
            fn as_f64(self) -> f64 {
                self as f64
            }
            fn not_finite(self) -> Option<&'static str> {
                None
            }
        }
    )* };
}

integers!(signed i64: i8 i16 i32 i64);
integers!(unsigned u64: u8 u16 u32 u64);

macro_rules! floats {
    ($($float:ident $digits:ident $nan:literal $plus:literal $minus:literal;)*) => { $(
        impl PrintedNumber for $float {
            #[inline]
            fn plain(self, digits: Digits, point: Point, out: &mut Vec<u8>) {
                match self.not_finite() {
                    Some(word) => out.extend_from_slice(word.as_bytes()),
                    None => general(f64::from(self), digits.$digits, point, out),
                }
            }
            fn formatted(self, format: &Format, out: &mut Vec<u8>) {
                format.float(f64::from(self), out);
            }
            #[inline]
            fn same(self, fill: Self) -> bool {
                if self == fill {
                    return true;
                }
                if (self > 0.0) != (fill > 0.0) {
                    return false;
                }
                if self.is_finite() && fill.is_finite() {
                    return (fill - self).abs() <= ($float::EPSILON * self).abs();
                }
                (self.is_nan() && fill.is_nan()) || (self.is_infinite() && fill.is_infinite())
            }
            fn as_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline]
            fn not_finite(self) -> Option<&'static str> {
                if self.is_finite() {
                    None
                } else if self.is_nan() {
                    Some($nan)
                } else {
                    Some(if self > 0.0 { $plus } else { $minus })
                }
            }
        }
    )* };
}

floats! {
    f32 float "NaNf" "Infinityf" "-Infinityf";
    f64 double "NaN" "Infinity" "-Infinity";
}

/// Characters that are printed one by one in a format.
struct Characters<'a> {
    values: &'a [u8],
    fill: Option<u8>,
    look: &'a Look<'a>,
}

impl Cells for Characters<'_> {
    fn put(&self, at: usize, out: &mut Vec<u8>) {
        let value = self.values[at];
        match &self.look.style {
            _ if self.fill == Some(value) => out.push(b'_'),
            // `char` is signed on x86-64, as `ncdump` prints it.
            Style::Printf(format) => format.integer(i128::from(value as i8), out),
            _ => quoted(&[value], Place::Row, out),
        }
    }
}

/// Rows of text.
struct Text<'a> {
    values: &'a [u8],
}

impl Cells for Text<'_> {
    fn put(&self, at: usize, out: &mut Vec<u8>) {
        quoted(trimmed(&self.values[at..=at]), Place::Row, out);
    }

    fn rows(&self, layout: &Layout<'_>, block: &Block, piece: &mut Piece) {
        let (columns, out) = (block.columns(), &mut piece.text);
        block.each_row(|number, row| {
            let mut line = layout.line(row);
            layout.row_start(row, &mut line, out);
            quoted(trimmed(&self.values[number * columns..][..columns]), Place::Row, out);
            // As in `ncdump`, the length of text does not add to the position in the line.
            let start = out.len();
            layout.close(row, out);
            if out.len() > start && !layout.options.full_comments {
                line.fit(start, out);
            }
            layout.row_end(row, &mut line, out);
        });
    }
}

/// Strings.
struct Strings<'a> {
    values: &'a [Option<Vec<u8>>],
    fill: Option<&'a Option<Vec<u8>>>,
}

impl Cells for Strings<'_> {
    fn put(&self, at: usize, out: &mut Vec<u8>) {
        let value = &self.values[at];
        if self.fill == Some(value) {
            return out.push(b'_');
        }
        user::string(value.as_deref(), out);
    }
}

/// Values of user-defined types.
struct Trees<'a> {
    values: &'a [Value],
    fill: Option<&'a Value>,
    look: &'a Look<'a>,
}

impl Cells for Trees<'_> {
    fn put(&self, at: usize, out: &mut Vec<u8>) {
        let value = &self.values[at];
        if self.fill.is_some_and(|fill| user::same(value, fill)) {
            return out.push(b'_');
        }
        user::value(self.look.model, self.look.ty, value, self.look.digits, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fill_values_are_compared_with_care() {
        let fill = f32::from_bits(0x7CF0_0000);
        assert!(fill.same(fill));
        assert!(f32::from_bits(0x7CF0_0001).same(fill));
        assert!(!f32::from_bits(0x7CF0_0003).same(fill));
        assert!(f32::NAN.same(-f32::NAN));
        assert!(!f32::NAN.same(1.0));
        assert!(f64::INFINITY.same(f64::INFINITY));
        assert!(!f64::INFINITY.same(f64::NEG_INFINITY));
        assert!(!1.0f64.same(-1.0));
        assert!((-0.0f64).same(0.0));
        assert!(!(f32::MAX).same(-f32::MAX));
    }
}
