//! A file: its footer ("FileMetaData"), and the columns that it has.

use std::cell::Cell;

use ferrocdf_bytes::Result;

use super::column::Column;
use super::pages::{ColumnReader, PageFormat};
use super::thrift::{MAX_METADATA, Struct, ThriftValue};
use super::{MAGIC, damaged, repetition, unsupported};

/// Bytes of the length of the footer and of the signature, at the end of a file.
const TAIL: usize = 8;

/// A file whose footer is parsed.
pub(in crate::references) struct ParquetFile<'a> {
    bytes: &'a [u8],
    footer: Struct<'a>,
    rows: usize,
    /// Bytes that the decoded pages may still take.
    budget: Cell<usize>,
}

impl<'a> ParquetFile<'a> {
    /// Parses the footer of a file, of whose columns the first `max_rows` rows are wanted. Their pages may take `budget` bytes in all.
    ///
    /// # Errors
    /// `NC_EZARRMETA` for bytes that are no such file, and for a file with an encrypted footer.
    pub(in crate::references) fn parse(
        bytes: &'a [u8],
        max_rows: usize,
        budget: usize,
    ) -> Result<ParquetFile<'a>> {
        let (front, tail) = bytes
            .split_at_checked(bytes.len().saturating_sub(TAIL))
            .filter(|(front, tail)| front.starts_with(MAGIC) && tail.ends_with(MAGIC))
            .ok_or_else(|| {
                damaged(format!("{} bytes without the signature PAR1 at both ends", bytes.len()))
            })?;
        let len = tail.first_chunk().map_or(0, |len| u32::from_le_bytes(*len)) as usize;
        let footer =
            front.len().checked_sub(len).filter(|_| len <= MAX_METADATA).and_then(|at| front.get(at..));
        // Bytes that happen to begin like a footer do not end with it.
        let footer =
            footer.and_then(Struct::parse).filter(|(_, rest)| rest.is_empty()).map(|(footer, _)| footer);
        let footer = footer.ok_or_else(|| damaged(format!("its footer of {len} bytes cannot be parsed")))?;
        let rows = footer.size(3).ok_or_else(|| damaged("its footer has no number of rows"))?;
        Ok(ParquetFile { bytes, footer, rows: rows.min(max_rows), budget: Cell::new(budget) })
    }

    /// Returns the number of rows that columns have: those of the file, or those that are wanted.
    pub(in crate::references) fn rows(&self) -> usize {
        self.rows
    }

    /// Reads a column; `None` if the file has none of this name.
    ///
    /// # Errors
    /// `NC_ENOTBUILT` for types, encodings and codecs that are not supported; `NC_EZARRMETA` for a damaged file.
    pub(in crate::references) fn column(&self, name: &str) -> Result<Option<Column>> {
        let Some(is_optional) = self.is_optional(name).map_err(|error| error.at(name))? else {
            return Ok(None);
        };
        let mut column = Column::default();
        for group in self.footer.list(4) {
            if column.rows.len() >= self.rows {
                break;
            }
            let read =
                group.structure().ok_or_else(|| damaged("a row group is no structure")).and_then(|group| {
                    let (chunk, format) = self.column_chunk(group, name, is_optional)?;
                    let rows = group.size(3).ok_or_else(|| damaged("a row group has no number of rows"))?;
                    let wanted = rows.min(self.rows - column.rows.len());
                    ColumnReader { pages: chunk, format, budget: &self.budget }.read(wanted, &mut column)
                });
            read.map_err(|error| error.at(name))?;
        }
        match column.rows.len() == self.rows {
            true => Ok(Some(column)),
            false => Err(damaged(format!("{} rows of {}", column.rows.len(), self.rows)).at(name)),
        }
    }

    /// Returns whether a column has rows without a value; `None` if there is no such column ("SchemaElement").
    fn is_optional(&self, name: &str) -> Result<Option<bool>> {
        let own = |element: &&Struct<'_>| element.binary(4) == Some(name.as_bytes());
        // The first element is the root.
        let elements = self.footer.list(2).iter().skip(1).filter_map(ThriftValue::structure);
        let Some(element) = elements.into_iter().find(own) else { return Ok(None) };
        match element.integer(3) {
            Some(repetition::REQUIRED) => Ok(Some(false)),
            Some(repetition::OPTIONAL) => Ok(Some(true)),
            other => {
                Err(unsupported("repetition", other.unwrap_or(-1), &["REQUIRED", "OPTIONAL", "REPEATED"]))
            }
        }
    }

    /// Returns the bytes of the pages of a column in a row group, and how they are to be read ("ColumnMetaData").
    fn column_chunk(
        &self,
        group: &Struct<'a>,
        name: &str,
        is_optional: bool,
    ) -> Result<(&'a [u8], PageFormat)> {
        let is_own =
            |path: &[ThriftValue<'_>]| matches!(path, [ThriftValue::Binary(own)] if *own == name.as_bytes());
        let chunks = group.list(1).iter().filter_map(ThriftValue::structure);
        let mut chunks = chunks.filter_map(|chunk| Some((chunk.binary(1), chunk.structure(3)?)));
        let found = chunks.find(|(_, chunk)| is_own(chunk.list(3)));
        let (other_file, chunk) = found.ok_or_else(|| damaged("a row group lacks the column"))?;
        if other_file.is_some() {
            return Err(damaged("its pages are in another file"));
        }
        let start = match (chunk.size(11).filter(|&at| at > 0), chunk.size(9)) {
            (Some(dictionary), Some(data)) => Some(dictionary.min(data)),
            (dictionary, data) => dictionary.or(data),
        };
        let pages = start.and_then(|start| self.bytes.get(start..start.checked_add(chunk.size(7)?)?));
        let pages = pages.ok_or_else(|| damaged("its pages are not in the file"))?;
        let (Some(physical), Some(codec)) = (chunk.integer(1), chunk.integer(4)) else {
            return Err(damaged("it has no type or no codec"));
        };
        Ok((pages, PageFormat { physical, codec, is_optional }))
    }
}
