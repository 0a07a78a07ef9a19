//! The coder: one description of a structure, run in four directions.
//!
//! The decision that shaped it: a field is passed as `&mut`, a decoder fills it in, the others only look at it. Lists
//! are read one element at a time, so that a count that lies runs out of bytes before it can allocate.

use std::ops::Range;

use smallvec::SmallVec;

use crate::{Code, Error, Result, ToUsize};

/// Byte order of the numbers in a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

/// An on-disk structure.
pub trait Record {
    /// Names every field in the order they are stored.
    fn fields<C: Coder>(&mut self, coder: &mut C) -> Result<()>;
}

/// A list of bytes that a field can be kept in.
pub trait Bytes: AsRef<[u8]> {
    /// A list of these bytes.
    fn of(bytes: &[u8]) -> Self;
}

impl Bytes for Vec<u8> {
    fn of(bytes: &[u8]) -> Self {
        bytes.to_vec()
    }
}

impl<const N: usize> Bytes for SmallVec<[u8; N]> {
    #[inline]
    fn of(bytes: &[u8]) -> Self {
        SmallVec::from_slice(bytes)
    }
}

/// What runs over the fields of a [`Record`].
pub trait Coder: Sized {
    /// Whether fields are filled in, so that what is made of them has to be made now.
    const READS: bool = false;

    /// An unsigned integer of `width` bytes (1 to 8).
    fn uint(&mut self, name: &'static str, width: usize, value: &mut u64) -> Result<()>;

    /// `len` raw bytes, kept in a `Vec<u8>` or anything like it.
    fn bytes<B: Bytes>(&mut self, name: &'static str, len: u64, value: &mut B) -> Result<()>;

    /// A position in the file, or something that leads to one: an unsigned integer that people read in hexadecimal.
    #[inline]
    fn position(&mut self, name: &'static str, width: usize, value: &mut u64) -> Result<()> {
        self.uint(name, width, value)
    }

    /// `len` raw bytes that readers do not copy: `place` tells where they are, counted from the start of the structure. Writers write
    /// `bytes`, and zeros behind them up to `len`.
    fn place(&mut self, name: &'static str, len: u64, bytes: &[u8], place: &mut Range<usize>) -> Result<()> {
        let start = self.offset().to_usize(name)?;
        let mut value = bytes.to_vec();
        value.resize(len.to_usize(name)?, 0);
        self.bytes(name, len, &mut value)?;
        *place = start..self.offset().to_usize(name)?;
        Ok(())
    }

    /// Bytes with a NUL behind them, which is not one of them. Coders that read have a method of their own.
    fn until_nul<B: Bytes>(&mut self, name: &'static str, value: &mut B) -> Result<()> {
        self.bytes(name, value.as_ref().len() as u64, value)?;
        self.uint(name, 1, &mut 0)
    }

    /// Bytes up to the next multiple of `unit`, counted from the start of the structure; zero when written, and not
    /// looked at when read (the reference accepts any).
    fn pad(&mut self, unit: usize) -> Result<()>;

    /// `count` items, each of which has `fields`.
    fn list<T: Default>(
        &mut self,
        name: &'static str,
        count: u64,
        items: &mut Vec<T>,
        fields: impl FnMut(&mut T, &mut Self) -> Result<()>,
    ) -> Result<()>;

    /// Where the next field lies, in bytes from the start of the structure.
    fn offset(&self) -> u64;

    /// An error about the field just coded, or about to be.
    #[cold]
    fn error(&self, code: Code, what: String) -> Error {
        Error::new(code, format!("at byte {}: {what}", self.offset()))
    }
}

/// Reads a structure from a slice.
pub struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
    order: Order,
    end_is_real: bool,
    ran_out: bool,
    skims: bool,
}

impl<'a> Decoder<'a> {
    /// A decoder at the start of `bytes`. `end_is_real` says that no bytes exist behind the slice, so that running
    /// out means a truncated structure and not too short a read.
    pub fn new(bytes: &'a [u8], order: Order, end_is_real: bool) -> Self {
        Decoder { bytes, at: 0, order, end_is_real, ran_out: false, skims: false }
    }

    /// A decoder that goes over the structure and keeps no lists and no raw bytes of it: a cheap way to learn whether
    /// the slice holds it whole.
    pub fn skimming(bytes: &'a [u8], order: Order, end_is_real: bool) -> Self {
        Decoder { skims: true, ..Self::new(bytes, order, end_is_real) }
    }

    /// Whether decoding failed only because the slice ended before the structure did, and more bytes exist.
    pub fn needs_more(&self) -> bool {
        self.ran_out && !self.end_is_real
    }

    /// The bytes that no field has taken yet.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    #[inline]
    fn take(&mut self, name: &'static str, len: u64) -> Result<&'a [u8]> {
        let left = &self.bytes[self.at..];
        if len > left.len() as u64 {
            return Err(self.ends_early(name, len));
        }
        // At most the length of a slice.
        let len = len.saturate();
        self.at += len;
        Ok(&left[..len])
    }

    #[cold]
    #[inline(never)]
    fn ends_early(&mut self, name: &'static str, len: u64) -> Error {
        self.ran_out = true;
        let left = self.rest().len();
        self.error(Code::ETRUNC, format!("{name} needs {len} bytes, the file has {left} more"))
    }
}

impl Coder for Decoder<'_> {
    const READS: bool = true;

    #[inline]
    fn uint(&mut self, name: &'static str, width: usize, value: &mut u64) -> Result<()> {
        let bytes = self.take(name, width as u64)?;
        *value = match (bytes, self.order) {
            // The common widths, each in one load.
            (&[a], _) => a.into(),
            (&[a, b], Order::Little) => u16::from_le_bytes([a, b]).into(),
            (&[a, b, c, d], Order::Big) => u32::from_be_bytes([a, b, c, d]).into(),
            (&[a, b, c, d], Order::Little) => u32::from_le_bytes([a, b, c, d]).into(),
            (&[a, b, c, d, e, f, g, h], Order::Little) => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            _ => join(bytes, self.order),
        };
        Ok(())
    }

    #[inline]
    fn bytes<B: Bytes>(&mut self, name: &'static str, len: u64, value: &mut B) -> Result<()> {
        let bytes = self.take(name, len)?;
        if !self.skims {
            *value = B::of(bytes);
        }
        Ok(())
    }

    #[inline]
    fn place(&mut self, name: &'static str, len: u64, _bytes: &[u8], place: &mut Range<usize>) -> Result<()> {
        let start = self.at;
        self.take(name, len)?;
        *place = start..self.at;
        Ok(())
    }

    fn until_nul<B: Bytes>(&mut self, name: &'static str, value: &mut B) -> Result<()> {
        let rest = self.rest();
        let Some(len) = rest.iter().position(|&byte| byte == 0) else {
            self.ran_out = true;
            return Err(self.error(Code::ETRUNC, format!("{name} has no end")));
        };
        self.at += len + 1;
        if !self.skims {
            *value = B::of(&rest[..len]);
        }
        Ok(())
    }

    #[inline]
    fn pad(&mut self, unit: usize) -> Result<()> {
        self.take("padding", padding(self.at as u64, unit)).map(drop)
    }

    #[inline]
    fn list<T: Default>(
        &mut self,
        name: &'static str,
        count: u64,
        items: &mut Vec<T>,
        mut fields: impl FnMut(&mut T, &mut Self) -> Result<()>,
    ) -> Result<()> {
        if !self.skims {
            // Room for what the count promises, but for no more than a little on its word alone.
            let room = count.min(RESERVED) as usize;
            match items.capacity() {
                0 => *items = Vec::with_capacity(room),
                _ => items.reserve_exact(room),
            }
        }
        for index in 0..count {
            let mut item = T::default();
            fields(&mut item, self).map_err(|error| error.at(format_args!("{name} {index}")))?;
            if !self.skims {
                items.push(item);
            }
        }
        Ok(())
    }

    #[inline]
    fn offset(&self) -> u64 {
        self.at as u64
    }
}

/// Returns the integer of bytes of a width for which Rust has no type, such as 3.
fn join(bytes: &[u8], order: Order) -> u64 {
    let join = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
    match (order, bytes.first_chunk::<4>().zip(bytes.last_chunk::<4>())) {
        (Order::Big, _) => bytes.iter().fold(0, join),
        // Both words have the bytes in the middle.
        (Order::Little, Some((low, high))) if bytes.len() <= 8 => {
            let [low, high] = [low, high].map(|word| u64::from(u32::from_le_bytes(*word)));
            low | high << (8 * (bytes.len() - 4))
        }
        (Order::Little, _) => bytes.iter().rev().fold(0, join),
    }
}

/// The most items that room is made for before any is read.
const RESERVED: u64 = 64;

/// Writes a structure to a vector.
pub struct Encoder {
    bytes: Vec<u8>,
    /// The byte where the structure begins.
    start: usize,
    order: Order,
}

impl Encoder {
    /// An encoder with room for `capacity` bytes.
    pub fn new(order: Order, capacity: usize) -> Self {
        Self::behind(Vec::with_capacity(capacity), order)
    }

    /// An encoder of a structure that begins behind these bytes.
    pub fn behind(bytes: Vec<u8>, order: Order) -> Self {
        Encoder { start: bytes.len(), bytes, order }
    }

    /// The encoded structure, behind what was before it.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

impl Coder for Encoder {
    fn uint(&mut self, name: &'static str, width: usize, value: &mut u64) -> Result<()> {
        if width < 8 && *value >> (8 * width) != 0 {
            return Err(self.error(Code::ERANGE, format!("{name} is {value}, more than {width} bytes hold")));
        }
        match self.order {
            Order::Big => self.bytes.extend_from_slice(&value.to_be_bytes()[8 - width..]),
            Order::Little => self.bytes.extend_from_slice(&value.to_le_bytes()[..width]),
        }
        Ok(())
    }

    fn bytes<B: Bytes>(&mut self, _name: &'static str, len: u64, value: &mut B) -> Result<()> {
        debug_assert_eq!(len, value.as_ref().len() as u64);
        self.bytes.extend_from_slice(value.as_ref());
        Ok(())
    }

    fn until_nul<B: Bytes>(&mut self, name: &'static str, value: &mut B) -> Result<()> {
        if value.as_ref().contains(&0) {
            return Err(self.error(Code::ERANGE, format!("{name} has a NUL in it")));
        }
        self.bytes(name, value.as_ref().len() as u64, value)?;
        self.uint(name, 1, &mut 0)
    }

    fn pad(&mut self, unit: usize) -> Result<()> {
        let padded = (self.bytes.len() - self.start).next_multiple_of(unit);
        self.bytes.resize(self.start + padded, 0);
        Ok(())
    }

    fn list<T: Default>(
        &mut self,
        _name: &'static str,
        _count: u64,
        items: &mut Vec<T>,
        mut fields: impl FnMut(&mut T, &mut Self) -> Result<()>,
    ) -> Result<()> {
        items.iter_mut().try_for_each(|item| fields(item, self))
    }

    fn offset(&self) -> u64 {
        (self.bytes.len() - self.start) as u64
    }
}

/// Measures a structure.
#[derive(Default)]
pub struct Sizer {
    size: u64,
}

impl Sizer {
    /// The encoded size of `record` in bytes.
    pub fn size_of<T: Record>(record: &mut T) -> Result<u64> {
        let mut sizer = Sizer::default();
        record.fields(&mut sizer)?;
        Ok(sizer.size)
    }
}

impl Coder for Sizer {
    fn uint(&mut self, _name: &'static str, width: usize, _value: &mut u64) -> Result<()> {
        self.size += width as u64;
        Ok(())
    }

    fn bytes<B: Bytes>(&mut self, _name: &'static str, len: u64, _value: &mut B) -> Result<()> {
        self.size += len;
        Ok(())
    }

    fn pad(&mut self, unit: usize) -> Result<()> {
        self.size += padding(self.size, unit);
        Ok(())
    }

    fn list<T: Default>(
        &mut self,
        _name: &'static str,
        _count: u64,
        items: &mut Vec<T>,
        mut fields: impl FnMut(&mut T, &mut Self) -> Result<()>,
    ) -> Result<()> {
        items.iter_mut().try_for_each(|item| fields(item, self))
    }

    fn offset(&self) -> u64 {
        self.size
    }
}

/// Prints a structure while it reads it, a field a line, with byte offsets: the view for debugging a format. What was read before
/// an error is printed too.
pub struct Dumper<'a> {
    decoder: Decoder<'a>,
    depth: usize,
    /// True inside the items of a list that are not printed.
    is_silent: bool,
    text: String,
}

impl<'a> Dumper<'a> {
    /// Bytes of a field that are printed at most.
    const SHOWN: usize = 32;
    /// Items of a list that are printed at most.
    const ITEMS: u64 = 4096;

    /// A dumper at the start of `bytes`.
    pub fn new(bytes: &'a [u8], order: Order) -> Self {
        Dumper { decoder: Decoder::new(bytes, order, true), depth: 0, is_silent: false, text: String::new() }
    }

    /// The bytes that no field has taken yet.
    pub fn rest(&self) -> &'a [u8] {
        self.decoder.rest()
    }

    /// The lines so far.
    pub fn finish(self) -> String {
        self.text
    }

    fn line(&mut self, at: u64, text: std::fmt::Arguments<'_>) {
        use std::fmt::Write;
        if !self.is_silent {
            let _ = writeln!(self.text, "{at:8} {:indent$}{text}", "", indent = 2 * self.depth);
        }
    }

    fn line_of_bytes(&mut self, at: u64, name: &str, value: &[u8]) {
        let more = if value.len() > Self::SHOWN { "..." } else { "" };
        let shown = value[..value.len().min(Self::SHOWN)].escape_ascii();
        self.line(at, format_args!("{name} = \"{shown}\"{more} ({} bytes)", value.len()));
    }
}

impl Coder for Dumper<'_> {
    const READS: bool = true;

    fn uint(&mut self, name: &'static str, width: usize, value: &mut u64) -> Result<()> {
        let at = self.offset();
        self.decoder.uint(name, width, value)?;
        self.line(at, format_args!("{name} = {value}"));
        Ok(())
    }

    fn position(&mut self, name: &'static str, width: usize, value: &mut u64) -> Result<()> {
        let at = self.offset();
        self.decoder.uint(name, width, value)?;
        self.line(at, format_args!("{name} = {value:#x}"));
        Ok(())
    }

    fn bytes<B: Bytes>(&mut self, name: &'static str, len: u64, value: &mut B) -> Result<()> {
        let at = self.offset();
        self.decoder.bytes(name, len, value)?;
        self.line_of_bytes(at, name, value.as_ref());
        Ok(())
    }

    fn place(&mut self, name: &'static str, len: u64, bytes: &[u8], place: &mut Range<usize>) -> Result<()> {
        let (at, rest) = (self.offset(), self.rest());
        self.decoder.place(name, len, bytes, place)?;
        self.line_of_bytes(at, name, &rest[..place.len()]);
        Ok(())
    }

    fn until_nul<B: Bytes>(&mut self, name: &'static str, value: &mut B) -> Result<()> {
        let at = self.offset();
        self.decoder.until_nul(name, value)?;
        self.line_of_bytes(at, name, value.as_ref());
        Ok(())
    }

    fn pad(&mut self, unit: usize) -> Result<()> {
        self.decoder.pad(unit)
    }

    fn list<T: Default>(
        &mut self,
        name: &'static str,
        count: u64,
        items: &mut Vec<T>,
        mut fields: impl FnMut(&mut T, &mut Self) -> Result<()>,
    ) -> Result<()> {
        let outer = self.is_silent;
        for index in 0..count {
            if index == Self::ITEMS {
                self.line(self.offset(), format_args!("{name} {index} to {} are not shown", count - 1));
                self.is_silent = true;
            }
            let mut item = T::default();
            self.line(self.offset(), format_args!("{name} {index}"));
            self.depth += 1;
            let result = fields(&mut item, self);
            self.depth -= 1;
            result.map_err(|error| error.at(format_args!("{name} {index}")))?;
            items.push(item);
        }
        self.is_silent = outer;
        Ok(())
    }

    fn offset(&self) -> u64 {
        self.decoder.offset()
    }
}

fn padding(at: u64, unit: usize) -> u64 {
    at.next_multiple_of(unit as u64) - at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default, Debug, PartialEq)]
    struct Pair {
        tag: u64,
        text: Vec<u8>,
    }

    impl Record for Pair {
        fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
            c.uint("tag", 2, &mut self.tag)?;
            let mut len = self.text.len() as u64;
            c.uint("length", 1, &mut len)?;
            c.bytes("text", len, &mut self.text)?;
            c.pad(4)
        }
    }

    #[test]
    fn four_directions_agree() {
        for order in [Order::Big, Order::Little] {
            let mut pair = Pair { tag: 0x102, text: b"abc".to_vec() };
            let mut encoder = Encoder::new(order, 0);
            pair.fields(&mut encoder).unwrap();
            let bytes = encoder.finish();
            assert_eq!(bytes.len() as u64, Sizer::size_of(&mut pair).unwrap());
            let tag: &[u8] = if order == Order::Big { &[1, 2] } else { &[2, 1] };
            assert_eq!(bytes, [tag, &[3], b"abc", &[0, 0]].concat());
            let mut back = Pair::default();
            back.fields(&mut Decoder::new(&bytes, order, true)).unwrap();
            assert_eq!(back, pair);
        }
    }

    #[test]
    fn dumps_show_what_was_read_before_an_error() {
        let mut dumper = Dumper::new(&[7, 0, 1, b'x', 9, 0, 4, b'y'], Order::Little);
        Pair::default().fields(&mut dumper).unwrap();
        assert!(Pair::default().fields(&mut dumper).is_err());
        let whole = "       0 tag = 7\n       2 length = 1\n       3 text = \"x\" (1 bytes)\n";
        assert_eq!(dumper.finish(), format!("{whole}       4 tag = 9\n       6 length = 4\n"));
    }

    #[test]
    fn places_are_told_and_filled_up() {
        let mut encoder = Encoder::new(Order::Little, 0);
        encoder.uint("tag", 1, &mut 9).unwrap();
        encoder.place("text", 4, b"ab", &mut (0..0)).unwrap();
        let bytes = encoder.finish();
        assert_eq!(bytes, b"\x09ab\0\0");
        let (mut decoder, mut dumper) =
            (Decoder::new(&bytes, Order::Little, true), Dumper::new(&bytes, Order::Little));
        let (mut place, mut shown) = (0..0, 0..0);
        decoder.uint("tag", 1, &mut 0).and_then(|()| decoder.place("text", 4, b"", &mut place)).unwrap();
        dumper.uint("tag", 1, &mut 0).and_then(|()| dumper.place("text", 4, b"", &mut shown)).unwrap();
        assert_eq!((place, shown), (1..5, 1..5));
        assert!(decoder.place("text", 1, b"", &mut (0..0)).is_err());
        assert!(dumper.finish().ends_with("1 text = \"ab\\x00\\x00\" (4 bytes)\n"));
    }

    #[test]
    fn texts_end_with_a_nul() {
        let mut text = b"ab".to_vec();
        let mut encoder = Encoder::new(Order::Little, 0);
        encoder.until_nul("text", &mut text).unwrap();
        assert!(encoder.until_nul("text", &mut b"a\0".to_vec()).is_err());
        assert_eq!(encoder.finish(), b"ab\0");
        let mut behind = Encoder::behind(b"x".to_vec(), Order::Little);
        behind.until_nul("text", &mut text).unwrap();
        behind.pad(4).unwrap();
        assert_eq!(behind.finish(), b"xab\0\0");
        let mut decoder = Decoder::new(b"ab\0cd", Order::Little, true);
        let mut found = vec![];
        decoder.until_nul("text", &mut found).unwrap();
        assert_eq!((found, decoder.rest()), (text, &b"cd"[..]));
        assert!(decoder.until_nul("text", &mut vec![]).is_err());
    }

    #[test]
    fn numbers_of_all_widths_are_read_as_they_were_written() {
        for order in [Order::Little, Order::Big] {
            for width in 1..=8 {
                let number = 0xf1e2_d3c4_b5a6_9788_u64 >> (64 - 8 * width);
                let mut encoder = Encoder::new(order, 0);
                encoder.uint("number", width, &mut { number }).unwrap();
                encoder.uint("behind", 8, &mut { u64::MAX }).unwrap();
                let bytes = encoder.finish();
                let mut found = 0;
                Decoder::new(&bytes, order, true).uint("number", width, &mut found).unwrap();
                assert_eq!(found, number, "{width} bytes, {order:?}");
            }
        }
    }

    #[test]
    fn running_out_says_where_and_whether_more_may_help() {
        for end_is_real in [false, true] {
            let mut decoder = Decoder::new(&[0, 1, 9, b'a'], Order::Big, end_is_real);
            let error = Pair::default().fields(&mut decoder).unwrap_err();
            assert_eq!(error.code, Code::ETRUNC);
            assert_eq!(&*error.what, "at byte 3: text needs 9 bytes, the file has 1 more");
            assert_eq!(decoder.needs_more(), !end_is_real);
        }
    }

    #[test]
    fn a_value_too_wide_is_not_cut() {
        let mut pair = Pair { tag: 1 << 16, text: vec![] };
        assert_eq!(pair.fields(&mut Encoder::new(Order::Big, 0)).unwrap_err().code, Code::ERANGE);
    }
}
