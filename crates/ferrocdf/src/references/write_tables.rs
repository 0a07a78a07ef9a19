//! Writing references in parquet, in the layout that `records.rs` reads.

use std::borrow::Cow;
use std::collections::HashMap;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::Store;
use ferrocdf_zarr::{Json, within};

use super::json::guarded;
use super::parquet::{NewColumn, write};
use super::records::{MAX_DECODED, MAX_FILE, MAX_ROWS, OFFSET, PATH, RAW, SIZE, chunk_number, table_key};
use super::{Reference, References};
use crate::location::Location;
use crate::nczarr::new_store;
use crate::options::CreateOptions;

/// Documents of nodes, which `.zmetadata` has.
const DOCUMENTS: [&str; 3] = [".zgroup", ".zarray", ".zattrs"];

/// The references to the chunks of a table.
struct NewTable<'a> {
    /// The URLs, each once.
    urls: Vec<&'a str>,
    /// The number of each URL.
    numbers: HashMap<&'a str, u32>,
    path: Vec<Option<u32>>,
    offset: Vec<i64>,
    size: Vec<i64>,
    raw: Vec<Option<Cow<'a, [u8]>>>,
}

/// The references to the chunks of an array, in the order of the chunks' numbers.
struct ArrayChunks<'a> {
    /// The key of the array.
    array: &'a str,
    /// The number of chunks that it may have.
    all: u64,
    found: Vec<(u64, &'a Reference)>,
}

impl References {
    /// Rows of a table in parquet, unless the caller asks for others: as many as in kerchunk.
    pub const RECORD_SIZE: u64 = 100_000;

    /// Checks that tables can have so many rows.
    ///
    /// # Errors
    /// `NC_EINVAL` if they cannot.
    pub fn check_record_size(record_size: u64) -> Result<()> {
        if !(1..=MAX_ROWS as u64).contains(&record_size) {
            let what = format!("a record size of {record_size}: tables have 1 to {MAX_ROWS} rows");
            return Err(Error::new(Code::EINVAL, what));
        }
        Ok(())
    }

    /// Writes the references as a folder of tables in parquet, which [`File::open`](crate::File::open), fsspec and kerchunk read. References that
    /// are at the location, or a Zarr store, are removed first. A table is `record_size` chunks of an array; readers keep it in memory. The
    /// metadata comes last, so that a folder that is not complete is no dataset.
    ///
    /// # Errors
    /// `NC_EINVAL` for a number of rows that no table has, and for keys that are no chunks of an array; `ENOTEMPTY` for a folder of other
    /// files; those of the system or the store.
    pub fn write_parquet(&self, location: &Location, record_size: u64) -> Result<()> {
        References::check_record_size(record_size)?;
        let metadata = self.documents()?;
        // What is at the location stays there if these references cannot be written.
        let arrays = metadata.iter().filter_map(|(key, document)| {
            key.strip_suffix("/.zarray").map(|array| self.chunks_of(array, document))
        });
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        let location = &*location.resolved()?;
        let written =
            new_store(location, true, CreateOptions::default().durable).and_then(|(store, folder)| {
                arrays.iter().try_for_each(|chunks| chunks.write(record_size, (&*store, &folder)))?;
                let metadata = metadata.iter().map(|(key, document)| (*key, document.clone())).collect();
                let text = Json::object(vec![
                    ("metadata", Json::object(metadata)),
                    ("record_size", Json::integer(record_size)),
                    ("zarr_consolidated_format", Json::integer(1)),
                ]);
                store.put(&within(&folder, ".zmetadata"), text.to_string().as_bytes())?;
                store.commit()
            });
        written.map_err(|error| error.at(location.name().display()))
    }

    /// Returns the documents of the nodes.
    ///
    /// # Errors
    /// `NC_EINVAL` for keys that are neither documents nor chunks of an array; `NC_EZARRMETA` for documents that are no JSON.
    fn documents(&self) -> Result<Vec<(&str, Json)>> {
        let mut documents = vec![];
        for (key, reference) in self.iter() {
            let (folder, name) = key.rsplit_once('/').unwrap_or(("", key));
            match reference {
                // Consolidated metadata is made anew.
                _ if key == ".zmetadata" => {}
                Reference::Inline(text) if DOCUMENTS.contains(&name) => {
                    documents.push((key, Json::parse(text).map_err(|error| error.at(key))?));
                }
                _ if !folder.is_empty() && self.get(&within(folder, ".zarray")).is_some() => {}
                _ => return Err(no_chunk(key)),
            }
        }
        Ok(documents)
    }

    /// Returns the references to the chunks of an array with a document.
    fn chunks_of<'a>(&'a self, array: &'a str, document: &Json) -> Result<ArrayChunks<'a>> {
        let lengths = |name: &str| -> Option<Vec<u64>> {
            document.get(name)?.as_array()?.iter().map(Json::as_u64).collect()
        };
        let (Some(shape), Some(chunks)) = (lengths("shape"), lengths("chunks")) else {
            return Err(Error::new(Code::EZARRMETA, "its metadata has no shape").at(array));
        };
        let grid: Vec<u64> =
            shape.iter().zip(&chunks).map(|(len, chunk)| len.div_ceil((*chunk).max(1))).collect();
        let all = grid.iter().fold(1u64, |all, &count| all.saturating_mul(count));
        let prefix = format!("{array}/");
        let mut found = vec![];
        for (key, reference) in self.iter_from(prefix.clone()) {
            let name = &key[prefix.len()..];
            if DOCUMENTS.contains(&name) {
                continue;
            }
            if let Reference::Range { start, len, .. } = reference
                && i64::try_from(start.saturating_add(*len)).is_err()
            {
                let what = format!(
                    "{len} bytes at byte {start}: beyond 2^63, up to which references in parquet count"
                );
                return Err(Error::new(Code::EINVAL, what).at(key));
            }
            found.push((chunk_number(name, &grid).ok_or_else(|| no_chunk(key))?, reference));
        }
        found.sort_unstable_by_key(|(number, _)| *number);
        Ok(ArrayChunks { array, all, found })
    }
}

impl ArrayChunks<'_> {
    /// Writes the tables of the array to a folder, without those of which all chunks are missing.
    fn write(&self, record_size: u64, (store, folder): (&dyn Store, &str)) -> Result<()> {
        for chunks in self.found.chunk_by(|(one, _), (other, _)| one / record_size == other / record_size) {
            let number = chunks[0].0 / record_size;
            let first = number * record_size;
            // Not more than `MAX_ROWS`.
            let rows = record_size.min(self.all - first) as usize;
            let mut table = NewTable::new(rows);
            for (chunk, reference) in chunks {
                table.set((chunk - first) as usize, reference);
            }
            let (bytes, decoded) = table.finish(rows)?;
            if bytes.len() as u64 > MAX_FILE || decoded > MAX_DECODED {
                let what = format!(
                    "table {number} of its chunks would have {} bytes, {decoded} when it is read, more than readers hold: give a smaller \
                     --record-size, or a smaller --inline",
                    bytes.len()
                );
                return Err(Error::new(Code::EINVAL, what).at(self.array));
            }
            store.put(&within(folder, &table_key(self.array, number)), &bytes)?;
        }
        Ok(())
    }
}

fn no_chunk(key: &str) -> Error {
    Error::new(Code::EINVAL, "it is no chunk of an array, and references in parquet hold no others").at(key)
}

impl<'a> NewTable<'a> {
    fn new(rows: usize) -> NewTable<'a> {
        let (urls, numbers) = Default::default();
        let (path, raw) = (vec![None; rows], vec![None; rows]);
        NewTable { urls, numbers, path, offset: vec![0; rows], size: vec![0; rows], raw }
    }

    /// Sets the reference in a row.
    fn set(&mut self, row: usize, reference: &'a Reference) {
        let (url, start, len) = match reference {
            Reference::Inline(bytes) => {
                self.raw[row] = Some(guarded(bytes));
                return;
            }
            // Offset and size 0 stand for all bytes.
            Reference::Range { start: 0, len: 0, .. } => {
                self.raw[row] = Some(Cow::Borrowed(&[]));
                return;
            }
            Reference::Whole { url } => (url, 0, 0),
            Reference::Range { url, start, len } => (url, *start, *len),
        };
        let next = self.urls.len() as u32;
        let number = *self.numbers.entry(url).or_insert(next);
        if number == next {
            self.urls.push(url);
        }
        self.path[row] = Some(number);
        // Both are below 2^63: see `chunks_of`.
        self.offset[row] = start as i64;
        self.size[row] = len as i64;
    }

    /// Returns the bytes of the table, and how many its decoded pages take.
    fn finish(self, rows: usize) -> Result<(Vec<u8>, usize)> {
        let columns = [
            (PATH, NewColumn::Texts(&self.urls, self.path)),
            (OFFSET, NewColumn::Integers(self.offset)),
            (SIZE, NewColumn::Integers(self.size)),
            (RAW, NewColumn::Bytes(self.raw.iter().map(Option::as_deref).collect())),
        ];
        write(rows, &columns)
    }
}
