//! Printing of attributes.

use ferrocdf_model::{Attr, Class, Owner, Type, Value, Values, each_numbers};

use super::cells::{PrintedNumber, put_time};
use super::escape::{Place, quoted, trimmed};
use super::float::Point;
use super::user::{self, Digits};
use super::{PrintFailure, Printer};
use crate::times::TimeAxis;

/// Variable names that, before a colon, would be read as the start of a section.
const KEYWORDS: [&[u8]; 5] = [b"variables", b"dimensions", b"data", b"group", b"types"];

impl Printer<'_> {
    /// Prints an attribute.
    pub(super) fn attr(&mut self, owner: Owner, attr: &Attr) -> Result<(), PrintFailure> {
        let (owner_name, group) = match owner {
            Owner::Group(id) => (&b""[..], id),
            Owner::Var(id) => (self.model.var(id).name.as_bytes(), self.model.var(id).group),
        };
        self.indent();
        self.out.put("\t\t");
        let typed = matches!(attr.value, Values::User(..) | Values::String(_))
            || (self.options.fill_type && matches!(owner, Owner::Var(_)) && attr.name == "_FillValue");
        if typed {
            self.type_name(attr.value.ty(), group)?;
            self.out.put(" ");
        }
        self.name(owner_name)?;
        self.out.put(if KEYWORDS.contains(&owner_name) { " :" } else { ":" });
        // The only special attribute that is stored in files.
        match attr.name.as_bytes() {
            b"_FillValue" => self.out.put("_FillValue"),
            name => self.name(name)?,
        }
        self.out.put(" = ");
        self.attr_values(&attr.value);
        self.out.put(" ;");
        if let (Some(separator), Owner::Var(id)) = (self.options.times, owner) {
            if let Some(axis) = self.time_axis(id, None) {
                self.attr_times(&attr.value, &axis, separator);
            }
            if attr.name == "bounds" {
                let bounds = match &attr.value {
                    Values::Char(text) => Some(&text[..]),
                    Values::String(list) => list.first().and_then(Option::as_deref),
                    _ => None,
                };
                self.bounds.extend(bounds.map(|name| (super::escape::c_text(name).to_vec(), id)));
            }
        }
        self.out.put("\n");
        Ok(())
    }

    fn digits(&self) -> Digits {
        Digits { float: self.options.float_digits, double: self.options.double_digits }
    }

    fn attr_values(&mut self, values: &Values) {
        let lines = !self.model.format().is_enhanced();
        let place = if lines { Place::AttributeLines } else { Place::OnePiece };
        let digits = self.digits();
        let out = &mut self.out.text;
        if values.is_empty() {
            return out.extend_from_slice(b"\"\"");
        }
        match values {
            Values::Char(text) => quoted(trimmed(text), place, out),
            Values::String(list) => {
                for (at, item) in list.iter().enumerate() {
                    comma(at, out);
                    user::string(item.as_deref(), out);
                }
            }
            Values::User(id, list) => match self.model.user_type(*id).class {
                Class::Vlen(_) | Class::Compound { .. } => self.tree_values(values.ty(), list),
                Class::Opaque(_) | Class::Enum { .. } => {
                    for (at, item) in list.iter().enumerate() {
                        comma(at, out);
                        user::value(self.model, values.ty(), item, digits, out);
                    }
                }
            },
            _ => {
                let suffix = match values {
                    Values::Byte(_) => "b",
                    Values::Short(_) => "s",
                    Values::Ubyte(_) => "UB",
                    Values::Ushort(_) => "US",
                    Values::Uint(_) => "U",
                    Values::Int64(_) => "LL",
                    Values::Uint64(_) => "ULL",
                    Values::Float(_) => "f",
                    _ => "",
                };
                each_numbers!(values, list => for (at, &number) in list.iter().enumerate() {
                    comma(at, out);
                    number.plain(digits, Point::Always, out);
                    // The words for infinities and NaN include the suffix.
                    if number.not_finite().is_none() {
                        out.extend_from_slice(suffix.as_bytes());
                    }
                }, _ => ());
            }
        }
    }

    /// Prints values of user-defined types, broken into lines from the current position on.
    fn tree_values(&mut self, ty: Type, list: &[Value]) {
        let digits = self.digits();
        for (at, item) in list.iter().enumerate() {
            let mut piece = vec![];
            user::value(self.model, ty, item, digits, &mut piece);
            if at + 1 < list.len() {
                piece.extend_from_slice(b", ");
            }
            self.line.put(&piece, &mut self.out.text);
        }
    }

    /// Prints numbers as times in a comment, with empty text for numbers that are not a date: up to two on the same
    /// line, more on lines of their own.
    fn attr_times(&mut self, values: &Values, axis: &TimeAxis, separator: u8) {
        const START: &[u8] = b"// ";
        let count = values.len();
        let mut position = 0;
        let mut put = |at: usize, mut piece: Vec<u8>, printer: &mut Self| {
            if at + 1 < count {
                piece.push(b',');
            }
            position += 1 + piece.len();
            let breaks = count > 2 && (at == 0 || position > printer.options.line_length);
            if breaks {
                printer.out.put("\n");
                printer.indent();
                printer.out.put("\t\t  ");
                position = 18 + piece.len();
            } else {
                printer.out.put(" ");
            }
            if at == 0 || breaks {
                printer.out.put(START);
                position += START.len();
            }
            printer.out.put(piece);
        };
        each_numbers!(values, list => for (at, &number) in list.iter().enumerate() {
            let mut piece = vec![];
            put_time(number, axis, separator, &mut piece, |out| out.extend_from_slice(b"\"\""));
            put(at, piece, self);
        }, _ => ());
    }
}

fn comma(at: usize, out: &mut Vec<u8>) {
    if at > 0 {
        out.extend_from_slice(b", ");
    }
}
