//! Headers of special elements (Specification, chapter 10, "Extended Tags").
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Code, Coder, Record, Result};
use ferrocdf_codec::{FilterId, Step};

use crate::NumberType;
use crate::wire::{MAX_RANK, bad};

/// Codes of special elements that files have.
pub const LINKED: u64 = 1;
pub const EXTERNAL: u64 = 2;
pub const COMPRESSED: u64 = 3;
pub const CHUNKED: u64 = 5;

/// Bytes of the largest header without text and without chunks: a compressed element with szip.
pub const HEADER: usize = 64;

/// The code that begins the header of a special element.
#[derive(Debug, Default)]
pub struct Special {
    pub code: u64,
}

impl Record for Special {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.uint("special tag", 2, &mut self.code)
    }
}

/// "SPECIAL_LINKED": blocks of one length, but for the first, and tables that list them.
#[derive(Debug, Default)]
pub struct Linked {
    pub code: u64,
    pub length: u64,
    pub block_length: u64,
    pub blocks_per_table: u64,
    pub table: u64,
}

impl Record for Linked {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.uint("special tag", 2, &mut self.code)?;
        c.uint("length", 4, &mut self.length)?;
        c.uint("block length", 4, &mut self.block_length)?;
        c.uint("blocks of a table", 4, &mut self.blocks_per_table)?;
        c.uint("reference of the first table", 2, &mut self.table)
    }
}

/// A table of linked blocks.
#[derive(Debug, Default)]
pub struct LinkTable {
    /// Number of blocks, which the file does not repeat.
    pub count: u64,
    pub next: u64,
    pub blocks: Vec<u64>,
}

impl Record for LinkTable {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.uint("next table", 2, &mut self.next)?;
        c.list("block", self.count, &mut self.blocks, |block, c| c.uint("reference", 2, block))
    }
}

/// "SPECIAL_EXT": a range of another file.
#[derive(Debug, Default)]
pub struct External {
    pub code: u64,
    pub length: u64,
    pub offset: u64,
    pub name_length: u64,
    pub name: Vec<u8>,
}

impl Record for External {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.uint("special tag", 2, &mut self.code)?;
        c.uint("length", 4, &mut self.length)?;
        c.uint("offset", 4, &mut self.offset)?;
        c.uint("length of the file name", 4, &mut self.name_length)?;
        c.bytes("file name", self.name_length, &mut self.name)
    }
}

/// "SPECIAL_COMP": bytes that a coder compressed, in an object of their own.
#[derive(Debug, Default)]
pub struct CompressedHeader {
    pub code: u64,
    pub version: u64,
    pub length: u64,
    pub reference: u64,
    pub compression: StoredCompression,
}

impl Record for CompressedHeader {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.uint("special tag", 2, &mut self.code)?;
        c.uint("version", 2, &mut self.version)?;
        c.uint("length", 4, &mut self.length)?;
        c.uint("reference of the compressed bytes", 2, &mut self.reference)?;
        self.compression.fields(c)
    }
}

/// Model and coder of compressed bytes, with the parameters of the coder.
#[derive(Debug, Default)]
pub struct StoredCompression {
    pub model: u64,
    pub coder: u64,
    pub params: [u64; 5],
}

/// The fields of the parameters of a coder: names and widths in bytes. `None` for an unknown coder.
fn params(coder: u64) -> Option<&'static [(&'static str, usize)]> {
    Some(match coder {
        0 | 1 => &[],
        2 => {
            &[("number type", 4), ("sign extension", 2), ("fill with ones", 2), ("first bit", 4), ("bits", 4)]
        }
        3 => &[("skip size", 4), ("compressed size", 4)],
        4 => &[("level", 2)],
        5 => &[
            ("pixels", 4),
            ("pixels of a scanline", 4),
            ("options", 4),
            ("bits of a pixel", 1),
            ("block", 1),
        ],
        _ => return None,
    })
}

impl Record for StoredCompression {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.uint("model type", 2, &mut self.model)?;
        c.uint("coder type", 2, &mut self.coder)?;
        let Some(fields) = params(self.coder) else { return Ok(()) };
        fields.iter().zip(&mut self.params).try_for_each(|((name, width), value)| c.uint(name, *width, value))
    }
}

/// How bytes are compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compression {
    /// The coder as the only step of a chain of filters; no step for bytes that are stored as they are.
    pub steps: Vec<Step>,
}

impl TryFrom<&StoredCompression> for Compression {
    type Error = ferrocdf_bytes::Error;

    fn try_from(stored: &StoredCompression) -> Result<Compression> {
        // All parameters have at most four bytes.
        let [a, b, c, d, e] = stored.params.map(|value| value as u32);
        let step =
            |id: FilterId, params: Vec<u32>| vec![Step { id, name: String::new(), optional: false, params }];
        let steps = match stored.coder {
            0 => vec![],
            1 => step(FilterId::named("hdf4_rle"), vec![]),
            2 => {
                let size = NumberType::of_code(a as u16)?.size();
                step(FilterId::named("hdf4_nbit"), vec![size as u32, b, c, d, e])
            }
            3 => step(FilterId::named("hdf4_skphuff"), vec![a]),
            4 => step(FilterId::Hdf5(1), vec![a]),
            5 => step(FilterId::named("hdf4_szip"), vec![c, e, d, b, a]),
            coder => return Err(bad(format!("compressed bytes of coder {coder}, which is not known"))),
        };
        Ok(Compression { steps })
    }
}

/// "SPECIAL_CHUNKED": what chunks the element is cut into, and the Vdata that lists them.
#[derive(Debug, Default)]
pub struct ChunkedHeader {
    pub code: u64,
    pub header_length: u64,
    pub version: u64,
    pub flag: u64,
    pub length: u64,
    pub chunk_size: u64,
    pub number_size: u64,
    pub table_tag: u64,
    pub table_reference: u64,
    pub special_tag: u64,
    pub special_reference: u64,
    pub rank: u64,
    pub dims: Vec<ChunkedDim>,
    pub fill_length: u64,
    pub fill: Vec<u8>,
    pub compression: Option<StoredCompression>,
}

/// A dimension of a chunked element.
#[derive(Debug, Default)]
pub struct ChunkedDim {
    pub flag: u64,
    pub length: u64,
    pub chunk_length: u64,
}

/// The version of chunked elements that files have.
const CHUNKED_VERSION: u64 = 0;

impl Record for ChunkedHeader {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.uint("special tag", 2, &mut self.code)?;
        c.uint("length of the header", 4, &mut self.header_length)?;
        c.uint("version", 1, &mut self.version)?;
        if self.version != CHUNKED_VERSION {
            return Err(c.error(Code::EHDFERR, format!("version {} is not known", self.version)));
        }
        c.uint("flag", 4, &mut self.flag)?;
        c.uint("length in elements", 4, &mut self.length)?;
        c.uint("chunk size", 4, &mut self.chunk_size)?;
        c.uint("size of a number", 4, &mut self.number_size)?;
        c.uint("tag of the chunk table", 2, &mut self.table_tag)?;
        c.uint("reference of the chunk table", 2, &mut self.table_reference)?;
        c.uint("special table tag", 2, &mut self.special_tag)?;
        c.uint("special table reference", 2, &mut self.special_reference)?;
        c.uint("rank", 4, &mut self.rank)?;
        if self.rank > MAX_RANK as u64 {
            return Err(c.error(Code::EHDFERR, format!("{} dimensions, more than {MAX_RANK}", self.rank)));
        }
        c.list("dimension", self.rank, &mut self.dims, |dim, c| {
            c.uint("flag", 4, &mut dim.flag)?;
            c.uint("length", 4, &mut dim.length)?;
            c.uint("chunk length", 4, &mut dim.chunk_length)
        })?;
        c.uint("length of the fill value", 4, &mut self.fill_length)?;
        c.bytes("fill value", self.fill_length, &mut self.fill)?;
        if self.flag & 0xff == COMPRESSED {
            let (mut code, mut length) = (COMPRESSED, 0);
            c.uint("special tag of chunks", 2, &mut code)?;
            c.uint("length of the compression header", 4, &mut length)?;
            self.compression.get_or_insert_default().fields(c)?;
        }
        Ok(())
    }
}
