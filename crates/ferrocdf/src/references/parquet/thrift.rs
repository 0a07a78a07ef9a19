//! The compact protocol of Apache Thrift ("Thrift Compact protocol encoding"), in which Parquet stores its metadata.

/// Most bytes of a footer or of the header of a page: its values take up to 32 times the memory of its text.
pub(super) const MAX_METADATA: usize = 1 << 20;

/// Greatest depth of values within values.
const MAX_DEPTH: usize = 16;

/// Types of values ("Struct encoding").
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const I8: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;

/// A value. Each takes a byte of the text at least, so that a text cannot stand for more values than it has bytes.
#[derive(Debug)]
pub(super) enum ThriftValue<'a> {
    /// An integer, or a boolean as 0 or 1.
    Integer(i64),
    Binary(&'a [u8]),
    List(Vec<ThriftValue<'a>>),
    Struct(Struct<'a>),
    /// A value that Parquet has no need of: a floating-point number, a map.
    Other,
}

/// A structure: its fields by their ids.
#[derive(Debug, Default)]
pub(super) struct Struct<'a>(Vec<(i16, ThriftValue<'a>)>);

impl<'a> Struct<'a> {
    /// Parses the structure at the begin of a text. Returns it and the text behind it; `None` for a text that is damaged or too short.
    pub(super) fn parse(text: &'a [u8]) -> Option<(Struct<'a>, &'a [u8])> {
        let mut parser = ThriftParser(text);
        let parsed = parser.structure(0)?;
        Some((parsed, parser.0))
    }

    fn get(&self, id: i16) -> Option<&ThriftValue<'a>> {
        self.0.iter().find(|(own, _)| *own == id).map(|(_, value)| value)
    }

    /// Returns a field that is an integer or a boolean.
    pub(super) fn integer(&self, id: i16) -> Option<i64> {
        match self.get(id)? {
            ThriftValue::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns a field that is a length or a position.
    pub(super) fn size(&self, id: i16) -> Option<usize> {
        self.integer(id)?.try_into().ok()
    }

    /// Returns a field of bytes.
    pub(super) fn binary(&self, id: i16) -> Option<&'a [u8]> {
        match self.get(id)? {
            ThriftValue::Binary(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Returns a field that is a list; an empty one if there is no such field.
    pub(super) fn list(&self, id: i16) -> &[ThriftValue<'a>] {
        match self.get(id) {
            Some(ThriftValue::List(list)) => list,
            _ => &[],
        }
    }

    /// Returns a field that is a structure.
    pub(super) fn structure(&self, id: i16) -> Option<&Struct<'a>> {
        self.get(id)?.structure()
    }
}

impl<'a> ThriftValue<'a> {
    /// Returns the structure that the value is.
    pub(super) fn structure(&self) -> Option<&Struct<'a>> {
        match self {
            ThriftValue::Struct(fields) => Some(fields),
            _ => None,
        }
    }
}

/// Takes the variable-length integer at the begin of a text ("Integer encoding"). `None` for one that has no end or more than 64 bits.
pub(super) fn varint(text: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = text.split_first()?;
        *text = rest;
        let bits = u64::from(byte & 0x7f);
        number |= bits.checked_mul(1 << shift)?;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// The text that is still to be parsed.
struct ThriftParser<'a>(&'a [u8]);

impl<'a> ThriftParser<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn len(&mut self) -> Option<usize> {
        varint(&mut self.0)?.try_into().ok()
    }

    fn integer(&mut self) -> Option<i64> {
        let number = varint(&mut self.0)?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    fn structure(&mut self, depth: usize) -> Option<Struct<'a>> {
        let (mut fields, mut id) = (vec![], 0i16);
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(Struct(fields));
            }
            id = match head >> 4 {
                0 => self.integer()?.try_into().ok()?,
                step => id.checked_add(step.into())?,
            };
            let value = match head & 0xf {
                kind @ (TRUE | FALSE) => ThriftValue::Integer((kind == TRUE).into()),
                kind => self.value(kind, depth)?,
            };
            fields.push((id, value));
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Option<ThriftValue<'a>> {
        if depth > MAX_DEPTH {
            return None;
        }
        Some(match kind {
            // Of lists; those of structures are in the field header.
            TRUE | FALSE => ThriftValue::Integer((self.byte()? == TRUE).into()),
            I8 => ThriftValue::Integer(self.byte()?.cast_signed().into()),
            I16 | I32 | I64 => ThriftValue::Integer(self.integer()?),
            DOUBLE => self.take(8).map(|_| ThriftValue::Other)?,
            BINARY => {
                let len = self.len()?;
                ThriftValue::Binary(self.take(len)?)
            }
            LIST | SET => {
                let head = self.byte()?;
                let len = if head >> 4 == 15 { self.len()? } else { (head >> 4).into() };
                // Allocates with the elements, and not what the text claims.
                let mut list = vec![];
                for _ in 0..len {
                    list.push(self.value(head & 0xf, depth + 1)?);
                }
                ThriftValue::List(list)
            }
            MAP => {
                let len = self.len()?;
                let kinds = if len == 0 { 0 } else { self.byte()? };
                for _ in 0..len {
                    self.value(kinds >> 4, depth + 1)?;
                    self.value(kinds & 0xf, depth + 1)?;
                }
                ThriftValue::Other
            }
            STRUCT => ThriftValue::Struct(self.structure(depth + 1)?),
            _ => return None,
        })
    }
}

/// A structure that is being written.
#[derive(Clone, Default)]
pub(super) struct StructWriter {
    text: Vec<u8>,
    last: i16,
}

impl StructWriter {
    /// Adds an integer of 32 bits, or an enumeration.
    pub(super) fn i32(self, id: i16, number: i64) -> StructWriter {
        self.field(id, I32, |text| put_integer(text, number))
    }

    /// Adds an integer of 64 bits.
    pub(super) fn i64(self, id: i16, number: i64) -> StructWriter {
        self.field(id, I64, |text| put_integer(text, number))
    }

    /// Adds a text.
    pub(super) fn binary(self, id: i16, bytes: &[u8]) -> StructWriter {
        self.field(id, BINARY, |text| put_binary(text, bytes))
    }

    /// Adds a structure.
    pub(super) fn structure(self, id: i16, value: StructWriter) -> StructWriter {
        self.field(id, STRUCT, |text| text.extend(value.finish()))
    }

    /// Adds a list of structures.
    pub(super) fn structures(
        self,
        id: i16,
        list: impl ExactSizeIterator<Item = StructWriter>,
    ) -> StructWriter {
        self.field(id, LIST, |text| {
            put_list(text, STRUCT, list.len());
            list.for_each(|value| text.extend(value.finish()));
        })
    }

    /// Adds a list of integers of 32 bits.
    pub(super) fn integers(self, id: i16, list: &[i64]) -> StructWriter {
        self.field(id, LIST, |text| {
            put_list(text, I32, list.len());
            list.iter().for_each(|&number| put_integer(text, number));
        })
    }

    /// Adds a list of one text.
    pub(super) fn only_binary(self, id: i16, bytes: &[u8]) -> StructWriter {
        self.field(id, LIST, |text| {
            put_list(text, BINARY, 1);
            put_binary(text, bytes);
        })
    }

    /// Adds a field; its id is up to 15 above that of the last one.
    fn field(mut self, id: i16, kind: u8, put: impl FnOnce(&mut Vec<u8>)) -> StructWriter {
        let step = id.wrapping_sub(self.last).to_le_bytes()[0];
        self.text.push(step << 4 | kind);
        put(&mut self.text);
        StructWriter { last: id, ..self }
    }

    /// Returns the bytes of the structure.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.text.push(0);
        self.text
    }
}

/// Adds a variable-length integer.
pub(super) fn put_varint(text: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        text.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    text.push(number.to_le_bytes()[0]);
}

fn put_integer(text: &mut Vec<u8>, number: i64) {
    put_varint(text, ((number << 1) ^ (number >> 63)).cast_unsigned());
}

fn put_binary(text: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(text, bytes.len() as u64);
    text.extend(bytes);
}

/// Adds the head of a list of fewer than 15 elements.
fn put_list(text: &mut Vec<u8>, kind: u8, len: usize) {
    text.push(len.to_le_bytes()[0] << 4 | kind);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structure_is_read_as_it_was_written_and_never_beyond_its_bytes() {
        let inner = StructWriter::default().i32(1, -7).binary(3, b"abc");
        let written = StructWriter::default()
            .i64(1, i64::MIN)
            .integers(4, &[1, 300, -1])
            .structure(5, inner)
            .structures(7, [StructWriter::default().i64(2, i64::MAX), StructWriter::default()].into_iter())
            .only_binary(9, b"path")
            .finish();
        let (read, rest) = Struct::parse(&written).unwrap();
        assert!(rest.is_empty());
        assert_eq!(read.integer(1), Some(i64::MIN));
        assert!(matches!(
            read.list(4),
            [ThriftValue::Integer(1), ThriftValue::Integer(300), ThriftValue::Integer(-1)]
        ));
        let inner = read.structure(5).unwrap();
        assert_eq!((inner.integer(1), inner.size(1), inner.binary(3)), (Some(-7), None, Some(&b"abc"[..])));
        assert_eq!(read.list(7)[0].structure().unwrap().integer(2), Some(i64::MAX));
        assert!(matches!(read.list(9), [ThriftValue::Binary(b"path")]));
        for len in 0..written.len() {
            assert!(Struct::parse(&written[..len]).is_none(), "{len}");
        }
    }

    #[test]
    fn depth_and_counts_of_a_hostile_text_are_limited() {
        // A field of a list of lists of lists, at the end an integer.
        let lists = |depth| [&vec![0x19; depth][..], &[0x15, 0, 0]].concat();
        assert!(Struct::parse(&lists(10)).is_some());
        assert!(Struct::parse(&lists(100)).is_none());
        // A list that claims 2^32 structures, and a number of more than 64 bits.
        assert!(Struct::parse(&[0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0]).is_none());
        assert!(
            Struct::parse(&[0x16, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0]).is_none()
        );
    }
}
