//! The pages of a column ("PageHeader"): codecs, definition levels, and values.

use std::borrow::Cow;
use std::cell::Cell;

use ferrocdf_bytes::Result;
use ferrocdf_codec::{FilterId, built_in, decode_snappy};
use ferrocdf_model::Filter;

use super::column::{Column, Values, values_of};
use super::thrift::{MAX_METADATA, Struct};
use super::{codec, damaged, encoding, page, physical, runs, unsupported};

/// How the pages of a column are to be read.
pub(super) struct PageFormat {
    /// The physical type.
    pub(super) physical: i64,
    /// The codec of the pages.
    pub(super) codec: i64,
    /// True if rows may have no value.
    pub(super) is_optional: bool,
}

/// The pages of a column in a row group, to be read from the first one on.
pub(super) struct ColumnReader<'a, 'b> {
    /// The bytes of the pages with their headers.
    pub(super) pages: &'a [u8],
    pub(super) format: PageFormat,
    /// Bytes that decoded pages may still take.
    pub(super) budget: &'b Cell<usize>,
}

/// A data page of either version.
struct DataPage<'a> {
    /// The number of rows.
    count: usize,
    encoding: i64,
    /// Runs of definition levels; `None` if each row has a value.
    levels: Option<&'a [u8]>,
    values: &'a [u8],
}

/// The values of a column, and those among them that are the dictionary of the row group.
struct Dictionary {
    first: usize,
    len: usize,
}

impl<'a> ColumnReader<'a, '_> {
    /// Adds the first rows of a row group to a column.
    ///
    /// # Errors
    /// Those of [`ParquetFile::column`](super::ParquetFile::column).
    pub(super) fn read(mut self, mut rows: usize, into: &mut Column) -> Result<()> {
        if into.values == Values::None {
            into.values = values_of(self.format.physical);
        }
        let mut dictionary = Dictionary { first: into.values.len(), len: 0 };
        while rows > 0 {
            let start = &self.pages[..self.pages.len().min(MAX_METADATA)];
            let (header, rest) = Struct::parse(start).ok_or_else(|| damaged("a page has no header"))?;
            let rest = &self.pages[start.len() - rest.len()..];
            let (Some(size), Some(len)) = (header.size(2), header.size(3)) else {
                return Err(damaged("a page has no size"));
            };
            let (stored, rest) = rest.split_at_checked(len).ok_or_else(|| damaged("a page has no end"))?;
            self.pages = rest;
            match header.integer(1) {
                Some(page::INDEX) => {}
                Some(page::DICTIONARY) => {
                    let about = header.structure(7).ok_or_else(|| damaged("a dictionary has no header"))?;
                    check_plain(about.integer(2))?;
                    let count = about.size(1).ok_or_else(|| damaged("a dictionary has no size"))?;
                    let decoded = self.decoded(stored, size)?;
                    dictionary.first = into.values.len();
                    plain(self.format.physical, &decoded, count, &mut into.values)?;
                    dictionary.len = into.values.len() - dictionary.first;
                }
                Some(page::DATA) => {
                    let about = header.structure(5).ok_or_else(|| damaged("a data page has no header"))?;
                    let decoded = self.decoded(stored, size)?;
                    rows -= self.version_1(about, &decoded)?.read(rows, (&self.format, &dictionary), into)?;
                }
                Some(page::DATA_V2) => {
                    let about = header.structure(8).ok_or_else(|| damaged("a data page has no header"))?;
                    rows -= self.version_2(about, (stored, size), &dictionary, rows, into)?;
                }
                other => return Err(unsupported("page type", other.unwrap_or(-1), &[])),
            }
        }
        Ok(())
    }

    /// Takes bytes of a decoded page from the budget. The values of the column take about as many, also those of pages that are not encoded.
    fn charge(&self, size: usize) -> Result<()> {
        let left = self.budget.get().checked_sub(size);
        let too_large = || damaged(format!("with {size} bytes of a page it takes too much memory"));
        self.budget.set(left.ok_or_else(too_large)?);
        Ok(())
    }

    /// Returns the decoded bytes of a page, of which there are `size`.
    fn decoded(&self, stored: &'a [u8], size: usize) -> Result<Cow<'a, [u8]>> {
        self.charge(size)?;
        let mut decoded = vec![];
        let filter = match self.format.codec {
            codec::UNCOMPRESSED if stored.len() != size => {
                return Err(damaged(format!("a page of {size} bytes has {}", stored.len())));
            }
            codec::UNCOMPRESSED => return Ok(Cow::Borrowed(stored)),
            codec::SNAPPY => {
                decoded = crate::elements::zeros(size)?;
                decode_snappy(stored, &mut decoded)?;
                return Ok(Cow::Owned(decoded));
            }
            codec::GZIP => built_in(&FilterId::named("gzip"), &[1]),
            codec::ZSTD => built_in(&Filter::ZSTD.into(), &[]),
            other => return Err(unsupported("codec", other, codec::NAMES)),
        };
        let filter = filter.ok_or_else(|| unsupported("codec", self.format.codec, codec::NAMES))??;
        // Not more than this is allocated for what is damaged.
        filter.decode(stored, &mut decoded, Some(size), size)?;
        match decoded.len() == size {
            true => Ok(Cow::Owned(decoded)),
            false => Err(damaged(format!("a page of {size} bytes has {}", decoded.len()))),
        }
    }

    /// Returns a data page of version 1 ("DataPageHeader"): levels and values are encoded together.
    fn version_1<'p>(&self, about: &Struct<'_>, decoded: &'p [u8]) -> Result<DataPage<'p>> {
        let too_short = || damaged("a data page ends within its levels");
        let (levels, values) = match self.format.is_optional {
            false => (None, decoded),
            true => {
                match about.integer(3) {
                    Some(encoding::RLE) => {}
                    other => return Err(unsupported("encoding", other.unwrap_or(-1), encoding::NAMES)),
                }
                let (len, rest) = decoded.split_first_chunk().ok_or_else(too_short)?;
                let (levels, values) =
                    rest.split_at_checked(u32::from_le_bytes(*len) as usize).ok_or_else(too_short)?;
                (Some(levels), values)
            }
        };
        let (count, encoding) = about
            .size(1)
            .zip(about.integer(2))
            .ok_or_else(|| damaged("a data page has no number of values or no encoding"))?;
        Ok(DataPage { count, encoding, levels, values })
    }

    /// Reads a data page of version 2 ("DataPageHeaderV2"): levels are stored before the encoded values. Returns the number of rows.
    fn version_2(
        &self,
        about: &Struct<'_>,
        (stored, size): (&'a [u8], usize),
        dictionary: &Dictionary,
        rows: usize,
        into: &mut Column,
    ) -> Result<usize> {
        let (Some(count), Some(encoding), Some(levels), Some(0)) =
            (about.size(1), about.integer(4), about.size(5), about.size(6))
        else {
            return Err(damaged("a data page has no sizes, or nested values"));
        };
        let too_short = || damaged("a data page ends within its levels");
        let (levels, values) = stored.split_at_checked(levels).ok_or_else(too_short)?;
        let size = size.checked_sub(levels.len()).ok_or_else(too_short)?;
        let values = match about.integer(7) {
            // Not encoded if all rows are null.
            Some(0) => {
                self.charge(values.len())?;
                Cow::Borrowed(values)
            }
            _ if values.is_empty() => Cow::Borrowed(values),
            _ => self.decoded(values, size)?,
        };
        let levels = self.format.is_optional.then_some(levels);
        DataPage { count, encoding, levels, values: &values }.read(rows, (&self.format, dictionary), into)
    }
}

impl DataPage<'_> {
    /// Adds the rows of the page to a column, up to `rows`. Returns how many there are.
    fn read(
        &self,
        rows: usize,
        (format, dictionary): (&PageFormat, &Dictionary),
        into: &mut Column,
    ) -> Result<usize> {
        let count = self.count.min(rows);
        let levels = self.levels.map(|levels| runs::decode(levels, 1, count)).transpose()?;
        let is_present = |row: usize| levels.as_ref().is_none_or(|levels| levels[row] == 1);
        let present = (0..count).filter(|&row| is_present(row)).count();
        let first = into.values.len() as u32;
        let indexes: Option<Vec<u32>> = match self.encoding {
            _ if present == 0 => None,
            encoding::PLAIN => {
                plain(format.physical, self.values, present, &mut into.values)?;
                None
            }
            encoding::PLAIN_DICTIONARY | encoding::RLE_DICTIONARY => {
                let (&width, runs) =
                    self.values.split_first().ok_or_else(|| damaged("a data page has no values"))?;
                if width > 32 {
                    return Err(damaged(format!("indexes of {width} bits")));
                }
                let indexes = runs::decode(runs, width.into(), present)?;
                if let Some(index) = indexes.iter().find(|&&index| index as usize >= dictionary.len) {
                    let what = format!("index {index} of a dictionary of {} values", dictionary.len);
                    return Err(damaged(what));
                }
                Some(indexes.into_iter().map(|index| dictionary.first as u32 + index).collect())
            }
            other => return Err(unsupported("encoding", other, encoding::NAMES)),
        };
        let mut next = 0;
        for row in 0..count {
            into.rows.push(match is_present(row) {
                false => Column::NULL,
                true => {
                    next += 1;
                    indexes.as_ref().map_or(first + next - 1, |indexes| indexes[next as usize - 1])
                }
            });
        }
        Ok(count)
    }
}

/// Checks that a dictionary has plain values.
fn check_plain(own: Option<i64>) -> Result<()> {
    match own {
        Some(encoding::PLAIN | encoding::PLAIN_DICTIONARY) => Ok(()),
        other => Err(unsupported("encoding", other.unwrap_or(-1), encoding::NAMES)),
    }
}

/// Adds the first `count` plain values to those of a column.
fn plain(physical: i64, mut text: &[u8], count: usize, into: &mut Values) -> Result<()> {
    let too_short = || damaged(format!("a page ends before value {count}"));
    match (physical, into) {
        (physical::INT32, Values::Integers(numbers)) => {
            for _ in 0..count {
                let (number, rest) = text.split_first_chunk().ok_or_else(too_short)?;
                numbers.push(i32::from_le_bytes(*number).into());
                text = rest;
            }
        }
        (physical::INT64, Values::Integers(numbers)) => {
            for _ in 0..count {
                let (number, rest) = text.split_first_chunk().ok_or_else(too_short)?;
                numbers.push(i64::from_le_bytes(*number));
                text = rest;
            }
        }
        (physical::BYTE_ARRAY, Values::Bytes(bytes, ends)) => {
            for _ in 0..count {
                let (len, rest) = text.split_first_chunk().ok_or_else(too_short)?;
                let (value, rest) =
                    rest.split_at_checked(u32::from_le_bytes(*len) as usize).ok_or_else(too_short)?;
                bytes.extend(value);
                let end = u32::try_from(bytes.len()).map_err(|_| damaged("2^32 bytes of values"))?;
                ends.push(end);
                text = rest;
            }
        }
        _ if count == 0 => {}
        _ => {
            let names = &[
                "BOOLEAN",
                "INT32",
                "INT64",
                "INT96",
                "FLOAT",
                "DOUBLE",
                "BYTE_ARRAY",
                "FIXED_LEN_BYTE_ARRAY",
            ];
            return Err(unsupported("type", physical, names));
        }
    }
    Ok(())
}
