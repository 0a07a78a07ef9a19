//! References in parquet: a folder with the metadata of a Zarr store, and tables of the places of its chunks.
//!
//! Source: `LazyReferenceMapper` of fsspec, which kerchunk and VirtualiZarr write with. `.zmetadata` has the documents of all nodes and the
//! number of rows of a table, `record_size`. Row `i` of `ARRAY/refs.N.parq` is for chunk `N * record_size + i` of an array, last
//! dimension fastest: `raw` has the bytes of the chunk, else `path`, `offset` and `size` the place where they are. The decision that shaped
//! it: a table is read when one of its chunks is asked for, so that opening takes as long for a billion chunks as for ten.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::{ByteRange, Store};
use ferrocdf_zarr::within;

use super::json::inline_bytes;
use super::parquet::{Column, ParquetFile};
use super::{Reference, checked_end};
use crate::nczarr::TableLayout;

/// Names of the columns.
pub(super) const PATH: &str = "path";
pub(super) const OFFSET: &str = "offset";
pub(super) const SIZE: &str = "size";
pub(super) const RAW: &str = "raw";

/// Most rows of a table: each takes about 40 bytes of memory.
pub(super) const MAX_ROWS: usize = 1 << 22;

/// Most bytes of a table, and of its decoded pages.
pub(super) const MAX_FILE: u64 = 128 << 20;
pub(super) const MAX_DECODED: usize = 256 << 20;

/// Tables that are requested together.
const AT_ONCE: usize = 8;

/// Bytes of memory that the tables which are kept may take. The last one that was used is kept whatever it takes.
const KEPT: usize = 64 << 20;

/// Returns the key of a table of an array.
pub(super) fn table_key(array: &str, number: u64) -> String {
    within(array, &format!("refs.{number}.parq"))
}

/// The tables of a folder.
pub(super) struct Records {
    /// The store that has the folder.
    store: Arc<dyn Store>,
    layout: RwLock<TableLayout>,
    kept: Mutex<Kept>,
}

/// The table and the row that have the reference to a chunk.
struct TablePlace {
    /// The key of the table.
    table: String,
    row: usize,
    /// The rows that the table needs; files have more behind the last chunk of an array.
    rows: usize,
}

/// A table that chunks are asked of.
struct WantedTable {
    /// The rows that it needs.
    rows: usize,
    /// The numbers of the requests, and their rows.
    chunks: Vec<(usize, usize)>,
}

/// The columns of a table. One that the file does not have is empty.
#[derive(Default)]
struct ReferenceTable {
    path: Column,
    offset: Column,
    size: Column,
    raw: Column,
}

/// Tables that were used last, by their keys.
#[derive(Default)]
struct Kept {
    tables: HashMap<String, (Arc<ReferenceTable>, u64)>,
    bytes: usize,
    /// Number of uses.
    clock: u64,
}

impl Records {
    /// The tables of the arrays in a store.
    ///
    /// # Errors
    /// `NC_EZARRMETA` for tables without rows.
    pub(super) fn new(store: Arc<dyn Store>, layout: TableLayout) -> Result<Records> {
        let layout = RwLock::new(checked(layout)?);
        Ok(Records { store, layout, kept: Mutex::default() })
    }

    /// Returns the store that has the folder.
    pub(super) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Forgets the tables, after the metadata was read anew.
    ///
    /// # Errors
    /// Those of [`Records::new`].
    pub(super) fn refresh(&self, layout: TableLayout) -> Result<()> {
        let layout = checked(layout)?;
        *self.layout.write().unwrap_or_else(PoisonError::into_inner) = layout;
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Kept::default();
        Ok(())
    }

    /// Returns the references of chunks by their keys, in the order of the keys; `None` for chunks that are missing. A table that cannot be
    /// read does not affect the others.
    pub(super) fn find(&self, keys: &[&str]) -> Vec<Result<Option<Reference>>> {
        let mut found: Vec<Result<Option<Reference>>> = keys.iter().map(|_| Ok(None)).collect();
        let mut tables = HashMap::<String, WantedTable>::new();
        {
            let layout = self.layout.read().unwrap_or_else(PoisonError::into_inner);
            for (number, key) in keys.iter().enumerate() {
                if let Some(TablePlace { table, row, rows }) = layout.place(key) {
                    let wanted = tables.entry(table).or_insert_with(|| WantedTable { rows, chunks: vec![] });
                    wanted.chunks.push((number, row));
                }
            }
        }
        let tables: Vec<(String, WantedTable)> = tables.into_iter().collect();
        for some in tables.chunks(AT_ONCE) {
            let wanted: Vec<(&str, usize)> = some.iter().map(|(key, wanted)| (&**key, wanted.rows)).collect();
            for ((key, wanted), table) in some.iter().zip(self.tables(&wanted)) {
                for &(number, row) in &wanted.chunks {
                    let table = table.as_ref().map_err(Clone::clone);
                    let reference = table.and_then(|table| {
                        table.reference(row).map_err(|error| error.at(format!("row {row}")))
                    });
                    found[number] = reference.map_err(|error| error.at(key));
                }
            }
        }
        found
    }

    /// Returns the path or URL of one chunk of an array each, of few arrays.
    pub(super) fn some_urls(&self) -> Vec<Arc<str>> {
        let layout = self.layout.read().unwrap_or_else(PoisonError::into_inner);
        let firsts = layout.grids.iter().filter_map(|(array, grid)| {
            let zeros = vec!["0"; grid.len().max(1)].join(".");
            layout.place(&within(array, &zeros))
        });
        let firsts: Vec<TablePlace> = firsts.take(AT_ONCE).collect();
        drop(layout);
        let wanted: Vec<(&str, usize)> = firsts.iter().map(|place| (&*place.table, place.rows)).collect();
        let url = |table: Result<Arc<ReferenceTable>>| table.ok()?.path.text(0).ok()?.map(Into::into);
        self.tables(&wanted).into_iter().filter_map(url).collect()
    }

    /// Returns tables with the numbers of rows that they need; empty ones for those that do not exist.
    fn tables(&self, wanted: &[(&str, usize)]) -> Vec<Result<Arc<ReferenceTable>>> {
        let mut tables: Vec<Option<Result<Arc<ReferenceTable>>>> = {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            wanted.iter().map(|(key, _)| kept.get(key).map(Ok)).collect()
        };
        let missing: Vec<usize> = (0..wanted.len()).filter(|&number| tables[number].is_none()).collect();
        let range = ByteRange::Bounded { start: 0, len: MAX_FILE };
        let requests: Vec<_> = missing.iter().map(|&number| (wanted[number].0, range)).collect();
        for (&number, answer) in missing.iter().zip(self.store.get_many(&requests)) {
            let (key, rows) = wanted[number];
            let table = answer.and_then(|found| match found {
                None => Ok(ReferenceTable::default()),
                Some(found) if found.total > MAX_FILE => Err(Error::new(
                    Code::EZARRMETA,
                    format!("a table of {} bytes, more than {MAX_FILE}: make the references with fewer rows in each", found.total),
                )),
                Some(found) => found.check(key, range).and_then(|found| ReferenceTable::parse(&found.bytes, rows)),
            });
            tables[number] = Some(table.map(|table| {
                let table = Arc::new(table);
                self.kept.lock().unwrap_or_else(PoisonError::into_inner).insert(key, table.clone());
                table
            }));
        }
        tables.into_iter().flatten().collect()
    }
}

/// Checks that tables have rows.
fn checked(layout: TableLayout) -> Result<TableLayout> {
    match layout.record_size {
        0 => Err(Error::new(Code::EZARRMETA, ".zmetadata: \"record_size\" is not a positive integer")),
        _ => Ok(layout),
    }
}

impl TableLayout {
    /// Returns the table and the row that have the reference to the chunk with a key; `None` if no array has such a chunk.
    fn place(&self, key: &str) -> Option<TablePlace> {
        let (array, chunk) = key.rsplit_once('/')?;
        let grid = self.grids.get(array)?;
        let number = chunk_number(chunk, grid)?;
        let all = grid.iter().fold(1u64, |all, &count| all.saturating_mul(count));
        let (table, row) = (number / self.record_size, number % self.record_size);
        let rows = self.record_size.min(all - (number - row));
        let [row, rows] = [row, rows].map(usize::try_from);
        Some(TablePlace { table: table_key(array, table), row: row.ok()?, rows: rows.ok()? })
    }
}

/// Returns the number of the chunk with a name like `0.3.1` among those of a grid; `None` if it is none of them.
pub(super) fn chunk_number(name: &str, grid: &[u64]) -> Option<u64> {
    if grid.is_empty() {
        return (name == "0").then_some(0);
    }
    let mut lens = grid.iter();
    let number = name.split('.').try_fold(0u64, |number, at| {
        let (&len, at) = (lens.next()?, at.parse::<u64>().ok()?);
        (at < len).then_some(())?;
        number.checked_mul(len)?.checked_add(at)
    });
    number.filter(|_| lens.next().is_none())
}

impl ReferenceTable {
    /// Parses the first rows of a table.
    ///
    /// # Errors
    /// Those of parquet; `NC_EZARRMETA` for more than [`MAX_ROWS`] rows.
    fn parse(file: &[u8], rows: usize) -> Result<ReferenceTable> {
        if rows > MAX_ROWS {
            let what = format!(
                "a table of {rows} rows, more than {MAX_ROWS}: make the references with fewer rows in each"
            );
            return Err(Error::new(Code::EZARRMETA, what));
        }
        let file = ParquetFile::parse(file, rows, MAX_DECODED)?;
        if file.rows() < rows {
            let what = format!(
                "parquet: {} rows of the {rows} that the metadata says: the table is of other references",
                file.rows()
            );
            return Err(Error::new(Code::EZARRMETA, what));
        }
        let (path, raw) = (file.column(PATH)?, file.column(RAW)?);
        if path.is_none() && raw.is_none() {
            let what = "parquet: it has neither a column \"path\" nor \"raw\", so it holds no references";
            return Err(Error::new(Code::EZARRMETA, what));
        }
        let column = |name| file.column(name).map(Option::unwrap_or_default);
        Ok(ReferenceTable {
            path: path.unwrap_or_default(),
            offset: column(OFFSET)?,
            size: column(SIZE)?,
            raw: raw.unwrap_or_default(),
        })
    }

    /// Returns the reference in a row; `None` for a chunk that is missing.
    fn reference(&self, row: usize) -> Result<Option<Reference>> {
        let wrong = |what: &str| Error::new(Code::EZARRMETA, what.to_string());
        if let Some(index) = self.raw.index(row) {
            let raw = self.raw.bytes(index).ok_or_else(|| wrong("\"raw\" has no bytes"))?;
            return inline_bytes(raw).map(|bytes| Some(Reference::Inline(bytes)));
        }
        let Some(url) = self.path.text(row)? else { return Ok(None) };
        // Files whose references are all to whole objects may lack the columns.
        let number = |column: &Column| match column.rows.is_empty() {
            true => Ok(0),
            false => {
                let number = column.index(row).and_then(|index| u64::try_from(column.integer(index)?).ok());
                number.ok_or_else(|| wrong("\"offset\" or \"size\" is no number of bytes"))
            }
        };
        let (url, start, len) = (url.into(), number(&self.offset)?, number(&self.size)?);
        checked_end(start, len)?;
        Ok(Some(match (start, len) {
            (0, 0) => Reference::Whole { url },
            _ => Reference::Range { url, start, len },
        }))
    }

    /// Returns the bytes of memory that the table takes.
    fn memory(&self) -> usize {
        [&self.path, &self.offset, &self.size, &self.raw].into_iter().map(Column::memory).sum()
    }
}

impl Column {
    /// Returns the text in a row; `None` for a row without one.
    fn text(&self, row: usize) -> Result<Option<&str>> {
        let Some(index) = self.index(row) else { return Ok(None) };
        let text = self.bytes(index).and_then(|bytes| std::str::from_utf8(bytes).ok());
        text.map(Some).ok_or_else(|| Error::new(Code::EZARRMETA, "\"path\" is no text of UTF-8"))
    }
}

impl Kept {
    /// Returns a table, if it is kept.
    fn get(&mut self, key: &str) -> Option<Arc<ReferenceTable>> {
        self.clock += 1;
        let (table, used) = self.tables.get_mut(key)?;
        *used = self.clock;
        Some(table.clone())
    }

    /// Keeps a table, and forgets those that were not used for the longest time if all take too much memory.
    fn insert(&mut self, key: &str, table: Arc<ReferenceTable>) {
        self.clock += 1;
        self.bytes = self.bytes.saturating_add(table.memory());
        self.remove(key);
        self.tables.insert(key.to_string(), (table, self.clock));
        while self.bytes > KEPT && self.tables.len() > 1 {
            let oldest = self.tables.iter().min_by_key(|(_, (_, used))| *used).map(|(key, _)| key.clone());
            oldest.iter().for_each(|key| self.remove(key));
        }
    }

    fn remove(&mut self, key: &str) {
        if let Some((table, _)) = self.tables.remove(key) {
            self.bytes = self.bytes.saturating_sub(table.memory());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parquet::{NewColumn, write};
    use super::*;

    #[test]
    fn row_with_a_path_and_no_offset_is_an_error() {
        let path = || (PATH, NewColumn::Texts(&["a"], vec![Some(0), None]));
        let missing = || NewColumn::Bytes(vec![None, None]);
        let parse = |columns: &[(&str, NewColumn<'_>)]| {
            ReferenceTable::parse(&write(2, columns).unwrap().0, 2).unwrap()
        };
        let numbers = |numbers: [i64; 2]| NewColumn::Integers(numbers.into());
        let table = parse(&[path(), (OFFSET, numbers([0, 0])), (SIZE, missing())]);
        assert_eq!(table.reference(0).unwrap_err().code, Code::EZARRMETA);
        assert!(table.reference(1).unwrap().is_none(), "without a path nothing else counts");
        let table = parse(&[path(), (OFFSET, numbers([-1, 0])), (SIZE, numbers([4, 0]))]);
        assert_eq!(table.reference(0).unwrap_err().code, Code::EZARRMETA);
        // Without the columns, all references are to whole objects.
        assert!(matches!(parse(&[path()]).reference(0), Ok(Some(Reference::Whole { .. }))));
    }
}
