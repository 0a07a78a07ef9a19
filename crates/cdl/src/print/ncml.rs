//! Printing of the header as NcML, for the classic model.
//!
//! Names are written without escapes, as by `ncdump`: NcML readers expect names that XML allows unchanged, and could
//! never read the others.

use ferrocdf_model::{Attr, DimId, GroupId, Owner, Values, each_numbers};

use super::Printer;
use super::cells::PrintedNumber;
use super::escape::{c_text, trimmed};
use super::float::Point;
use super::user::Digits;

impl Printer<'_> {
    /// Prints the whole header.
    pub(super) fn ncml(&mut self) {
        let model = self.model;
        self.out.put("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        self.out.put("<netcdf xmlns=\"https://www.unidata.ucar.edu/namespaces/netcdf/ncml-2.2\" location=\"");
        self.out.put(&self.options.name);
        self.out.put("\">\n");
        for (at, dim) in model.dims().iter().enumerate() {
            self.out.put("  <dimension name=\"");
            self.out.put(c_text(dim.name.as_bytes()));
            let unlimited = if self.is_unlimited(DimId(at as u32)) { " isUnlimited=\"true\"" } else { "" };
            self.out.put(format!("\" length=\"{}\"{unlimited} />\n", dim.len));
        }
        for attr in model.attrs(Owner::Group(GroupId::ROOT)) {
            let provenance = attr.name == "_NCProperties";
            if !provenance || (self.options.special && !self.options.no_provenance) {
                self.ncml_attr("  ", attr);
            }
        }
        for id in model.var_ids() {
            let var = model.var(id);
            self.out.put("  <variable name=\"");
            self.out.put(c_text(var.name.as_bytes()));
            self.out.put("\"");
            for (at, &dim) in var.dims.iter().enumerate() {
                self.out.put(if at == 0 { " shape=\"" } else { " " });
                self.out.put(c_text(model.dim(dim).name.as_bytes()));
            }
            if !var.dims.is_empty() {
                self.out.put("\"");
            }
            self.out.put(format!(" type=\"{}\"", model.type_name(var.ty)));
            let no_records = model.is_record(id) && model.dim(var.dims[0]).len == 0;
            let bare = self.options.header_only
                || !self.selection.has_var(id)
                || (self.options.coordinates_only && !self.is_coordinate(id))
                || no_records;
            if var.attrs.is_empty() && bare {
                self.out.put(" />\n");
                continue;
            }
            self.out.put(">\n");
            for attr in &var.attrs {
                self.ncml_attr("    ", attr);
            }
            self.out.put("  </variable>\n");
        }
        self.out.put("</netcdf>\n");
    }

    fn ncml_attr(&mut self, indent: &str, attr: &Attr) {
        let digits = Digits { float: self.options.float_digits, double: self.options.double_digits };
        let out = &mut self.out.text;
        out.extend_from_slice(indent.as_bytes());
        out.extend_from_slice(b"<attribute name=\"");
        out.extend_from_slice(c_text(attr.name.as_bytes()));
        out.push(b'"');
        match &attr.value {
            Values::Char(text) => {
                out.extend_from_slice(b" value=\"");
                xml_text(trimmed(text), out);
            }
            values => {
                let ty = values.atomic().map_or("", |atomic| atomic.cdl_name());
                out.extend_from_slice(format!(" type=\"{ty}\" value=\"").as_bytes());
                let by_double = through_double(values);
                each_numbers!(by_double.as_ref().unwrap_or(values), list => for (at, &number) in list.iter().enumerate() {
                    if at > 0 {
                        out.push(b' ');
                    }
                    match number.not_finite() {
                        None => number.plain(digits, Point::Always, out),
                        Some(_) => not_finite(number.as_f64(), out),
                    }
                }, _ => ());
            }
        }
        out.extend_from_slice(b"\" />\n");
    }
}

/// Converts 64-bit integers to double precision and back, as `ncdump` does for NcML, with the results of C casts on
/// x86-64: integers beyond 2^53 are rounded, and a rounded value that is out of range becomes the least number of the
/// type.
fn through_double(values: &Values) -> Option<Values> {
    match values {
        Values::Int64(list) => {
            let back = |number: f64| if number >= 2f64.powi(63) { i64::MIN } else { number as i64 };
            Some(Values::Int64(list.iter().map(|&number| back(number as f64)).collect()))
        }
        Values::Uint64(list) => {
            let back = |number: f64| if number >= 2f64.powi(64) { 0 } else { number as u64 };
            Some(Values::Uint64(list.iter().map(|&number| back(number as f64)).collect()))
        }
        _ => None,
    }
}

/// Appends the word of C's `printf` for an infinity or NaN.
fn not_finite(number: f64, out: &mut Vec<u8>) {
    if number.is_sign_negative() {
        out.push(b'-');
    }
    out.extend_from_slice(if number.is_nan() { b"nan" } else { b"inf" });
}

fn xml_text(text: &[u8], out: &mut Vec<u8>) {
    for &byte in text {
        match byte {
            b'"' => out.extend_from_slice(b"&quot;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'&' => out.extend_from_slice(b"&amp;"),
            b'\n' => out.extend_from_slice(b"&#xA;"),
            b'\r' => out.extend_from_slice(b"&#xD;"),
            b'\t' => out.extend_from_slice(b"&#x9;"),
            _ if byte.is_ascii_control() => out.extend_from_slice(format!("&#{byte};").as_bytes()),
            _ => out.push(byte),
        }
    }
}
