//! Writing a file of one row group.

use ferrocdf_bytes::Result;
use ferrocdf_codec::built_in;
use ferrocdf_model::Filter;

use super::thrift::StructWriter;
use super::{MAGIC, codec, encoding, page, physical, repetition, runs};

/// Level of Zstandard.
const LEVEL: u32 = 3;

/// "ConvertedType" of texts.
const UTF8: i64 = 0;

/// A column to be written.
pub(in crate::references) enum NewColumn<'a> {
    /// Integers of 64 bits.
    Integers(Vec<i64>),
    /// Bytes; `None` for rows without.
    Bytes(Vec<Option<&'a [u8]>>),
    /// The number of a text in each row; `None` for rows without. Few texts are stored many times.
    Texts(&'a [&'a str], Vec<Option<u32>>),
}

/// The encoded pages of a column, and the sizes of them that the footer has.
struct Pages {
    bytes: Vec<u8>,
    /// Bytes of the dictionary page.
    dictionary: usize,
    /// Bytes of the decoded pages, with headers.
    decoded: usize,
}

/// Returns a file with columns of `rows` rows, and the bytes that its decoded pages take.
///
/// # Errors
/// Those of the codec.
pub(in crate::references) fn write(
    rows: usize,
    columns: &[(&str, NewColumn<'_>)],
) -> Result<(Vec<u8>, usize)> {
    let mut file = MAGIC.to_vec();
    let (mut chunks, mut decoded) = (vec![], 0);
    for (name, column) in columns {
        let pages = column.pages()?;
        let at = file.len();
        let data = at + pages.dictionary;
        let about = StructWriter::default()
            .i32(1, column.physical())
            .integers(2, column.encodings())
            .only_binary(3, name.as_bytes())
            .i32(4, codec::ZSTD)
            .i64(5, rows as i64)
            .i64(6, pages.decoded as i64)
            .i64(7, pages.bytes.len() as i64)
            .i64(9, data as i64);
        let about = if pages.dictionary > 0 { about.i64(11, at as i64) } else { about };
        // Without "Statistics" that count no nulls, fastparquet reads integers as floating-point numbers, even if each row must have one.
        let about = match column.is_optional() {
            true => about,
            false => about.structure(12, StructWriter::default().i64(3, 0)),
        };
        chunks.push(StructWriter::default().i64(2, at as i64).structure(3, about));
        decoded += pages.decoded;
        file.extend(pages.bytes);
    }
    let root = StructWriter::default().binary(4, b"schema").i32(5, columns.len() as i64);
    let elements = columns.iter().map(|(name, column)| {
        let element = StructWriter::default()
            .i32(1, column.physical())
            .i32(3, if column.is_optional() { repetition::OPTIONAL } else { repetition::REQUIRED })
            .binary(4, name.as_bytes());
        if matches!(column, NewColumn::Texts(..)) { element.i32(6, UTF8) } else { element }
    });
    let elements: Vec<StructWriter> = std::iter::once(root).chain(elements).collect();
    let group =
        StructWriter::default().structures(1, chunks.into_iter()).i64(2, decoded as i64).i64(3, rows as i64);
    let footer = StructWriter::default()
        .i32(1, 1)
        .structures(2, elements.into_iter())
        .i64(3, rows as i64)
        .structures(4, std::iter::once(group))
        .binary(6, concat!("ferrocdf version ", env!("CARGO_PKG_VERSION")).as_bytes())
        .finish();
    file.extend(&footer);
    file.extend((footer.len() as u32).to_le_bytes());
    file.extend(MAGIC);
    Ok((file, decoded))
}

impl NewColumn<'_> {
    fn physical(&self) -> i64 {
        match self {
            NewColumn::Integers(_) => physical::INT64,
            NewColumn::Bytes(_) | NewColumn::Texts(..) => physical::BYTE_ARRAY,
        }
    }

    fn is_optional(&self) -> bool {
        !matches!(self, NewColumn::Integers(_))
    }

    /// Those of the values and of the levels.
    fn encodings(&self) -> &'static [i64] {
        match self {
            NewColumn::Integers(_) => &[encoding::PLAIN],
            NewColumn::Bytes(_) => &[encoding::PLAIN, encoding::RLE],
            NewColumn::Texts(..) => &[encoding::PLAIN, encoding::RLE, encoding::RLE_DICTIONARY],
        }
    }

    /// Returns the pages: one of data, and a dictionary before it of texts.
    fn pages(&self) -> Result<Pages> {
        let mut pages = Pages { bytes: vec![], dictionary: 0, decoded: 0 };
        match self {
            NewColumn::Integers(numbers) => {
                let values = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
                pages.push_data(numbers.len(), encoding::PLAIN, values)?;
            }
            NewColumn::Bytes(rows) => {
                let mut values = levels(rows);
                rows.iter().flatten().for_each(|value| put_plain(&mut values, value));
                pages.push_data(rows.len(), encoding::PLAIN, values)?;
            }
            NewColumn::Texts(texts, rows) => {
                let mut dictionary = vec![];
                texts.iter().for_each(|text| put_plain(&mut dictionary, text.as_bytes()));
                let about = StructWriter::default().i32(1, texts.len() as i64).i32(2, encoding::PLAIN);
                pages.push(page::DICTIONARY, (7, about), &dictionary)?;
                pages.dictionary = pages.bytes.len();
                let indexes: Vec<u32> = rows.iter().flatten().copied().collect();
                // A width of 0 bits is more than some readers know.
                let width = runs::width(texts.len().saturating_sub(1)).max(1);
                let mut values = levels(rows);
                values.push(width.to_le_bytes()[0]);
                values.extend(runs::encode(&indexes, width));
                pages.push_data(rows.len(), encoding::RLE_DICTIONARY, values)?;
            }
        }
        Ok(pages)
    }
}

impl Pages {
    /// Adds a data page of version 1.
    fn push_data(&mut self, rows: usize, own: i64, values: Vec<u8>) -> Result<()> {
        let about = StructWriter::default()
            .i32(1, rows as i64)
            .i32(2, own)
            .i32(3, encoding::RLE)
            .i32(4, encoding::RLE);
        self.push(page::DATA, (5, about), &values)
    }

    /// Adds a page whose own header has a number.
    fn push(&mut self, kind: i64, (id, about): (i16, StructWriter), decoded: &[u8]) -> Result<()> {
        let mut encoded = vec![];
        if let Some(zstd) = built_in(&Filter::ZSTD.into(), &[LEVEL]) {
            // It encodes whatever bytes there are.
            zstd?.encode(decoded, &mut encoded)?;
        }
        let header = StructWriter::default()
            .i32(1, kind)
            .i32(2, decoded.len() as i64)
            .i32(3, encoded.len() as i64)
            .structure(id, about)
            .finish();
        self.decoded += header.len() + decoded.len();
        self.bytes.extend(header);
        self.bytes.extend(encoded);
        Ok(())
    }
}

/// Returns the definition levels of rows with their length, as a data page begins.
fn levels<T>(rows: &[Option<T>]) -> Vec<u8> {
    let levels: Vec<u32> = rows.iter().map(|row| row.is_some().into()).collect();
    let runs = runs::encode(&levels, 1);
    let mut values = (runs.len() as u32).to_le_bytes().to_vec();
    values.extend(runs);
    values
}

/// Adds a plain value of bytes.
fn put_plain(values: &mut Vec<u8>, value: &[u8]) {
    values.extend((value.len() as u32).to_le_bytes());
    values.extend(value);
}
