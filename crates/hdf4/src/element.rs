//! Elements: the bytes of an object, however the file has them.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::HashSet;

use ferrocdf_bytes::{Context, Error, Result};

use crate::budget::Use;
use crate::chunks::ChunkedElement;
use crate::pieces::{Piece, Place, push};
use crate::special::{self, CompressedHeader, Compression, External, LinkTable, Linked, Special};
use crate::wire::{bad, decode};
use crate::{Descriptor, File, tags};

/// The bytes of an object.
#[derive(Clone, Debug)]
pub struct Element {
    /// Number of bytes, decoded.
    pub len: u64,
    /// Where they are.
    pub storage: Storage,
}

/// Where the bytes of an element are.
#[derive(Clone, Debug)]
pub enum Storage {
    /// Pieces of the file, one behind the other. A file that ends early has fewer bytes than they say.
    Pieces(Vec<Piece>),
    /// A range of another file.
    External {
        /// The name of the file, as this one spells it.
        file_name: Vec<u8>,
        /// Position of the first byte in that file.
        at: u64,
    },
    /// Compressed bytes, in pieces of the file.
    Compressed {
        /// How they are compressed.
        compression: Compression,
        /// The compressed bytes.
        pieces: Vec<Piece>,
    },
    /// Chunks.
    Chunked(ChunkedElement),
}

impl Element {
    /// Reads what a descriptor says of an element, with the header and the block tables of a special one.
    pub(crate) fn read(file: &File, descriptor: &Descriptor) -> Result<Element> {
        let Some((at, len)) = descriptor.place else {
            return Ok(Element { len: 0, storage: Storage::Pieces(vec![]) });
        };
        if !descriptor.is_special {
            return Ok(Element { len, storage: Storage::Pieces(vec![Piece::at(at, len)]) });
        }
        let place = || format!("special element at byte {at}");
        let bytes = file.bytes_at(at, len.min(special::HEADER as u64)).at(place)?;
        let code = decode(Special::default(), "special element", at, &bytes)?.code;
        match code {
            special::LINKED => {
                let header = decode(Linked::default(), "linked-block element", at, &bytes)?;
                linked(file, (descriptor.tag, descriptor.reference), header)
            }
            special::EXTERNAL => {
                let bytes = file.bytes_at(at, len).at(place)?;
                let header = decode(External::default(), "external element", at, &bytes)?;
                let storage = Storage::External { file_name: header.name, at: header.offset };
                Ok(Element { len: header.length, storage })
            }
            special::COMPRESSED => {
                compressed(file, decode(CompressedHeader::default(), "compressed element", at, &bytes)?)
            }
            special::CHUNKED => {
                let bytes = file.bytes_at(at, len).at(place)?;
                let chunked =
                    ChunkedElement::decode(file, (descriptor.tag, descriptor.reference), at, &bytes)?;
                Ok(Element { len: chunked.len(), storage: Storage::Chunked(chunked) })
            }
            _ => Err(bad(format!("special element at byte {at}: special tag {code} is not known"))),
        }
        .at(place)
    }
}

/// Returns an element of linked blocks. Its tables, each of which names the next one, are read one after the other.
/// Each block belongs to one place of one element, so there are at most as many as descriptors. The element ends where its last block does,
/// whatever its header says: the library writes a block there, so only a damaged file has a longer element.
/// A block that the file does not have is an error when its bytes are read; without the first one nobody knows where the others begin.
fn linked(file: &File, (tag, reference): (u16, u16), header: Linked) -> Result<Element> {
    let (mut pieces, mut seen, mut start) = (vec![], HashSet::new(), 0u64);
    let mut table_bytes = 0u64;
    // Two bytes.
    let mut table = header.table as u16;
    while table != 0 && start < header.length {
        if !seen.insert(table) {
            return Err(bad(format!("linked-block table {table} comes again in the chain of tables")));
        }
        let Some((at, len)) = file.descriptor(tags::LINKED, table).and_then(|descriptor| descriptor.place)
        else {
            return Err(bad(format!("linked-block table {table} is not in the file")));
        };
        let stored = len.saturating_sub(2).checked_div(2).unwrap_or(0);
        table_bytes = table_bytes.saturating_add(len);
        file.charge((Use::Tables, tag, reference), table_bytes)?;
        let bytes = file.bytes_at(at, len)?;
        let count = stored.min(header.blocks_per_table);
        let links = decode(LinkTable { count, ..LinkTable::default() }, "linked-block table", at, &bytes)?;
        for block in links.blocks {
            if start >= header.length {
                break;
            }
            // Two bytes; 0 for a block that was never written.
            if block != 0 && !seen.insert(block as u16) {
                return Err(bad(format!("linked block {block} comes again among the blocks of an element")));
            }
            let descriptor = file.descriptor(tags::LINKED, block as u16).filter(|_| block != 0);
            let is_missing = descriptor.is_none() && block != 0;
            if is_missing && start == 0 {
                return Err(bad(format!("linked block {block}, the first one, is not in the file")));
            }
            let place = descriptor.and_then(|descriptor| descriptor.place);
            // The first block may have another length than the rest: what the object was before it grew.
            let len = match (start, place) {
                (0, Some((_, len))) => len,
                _ => header.block_length,
            };
            if len == 0 && start > 0 {
                return Err(bad("linked blocks of 0 bytes"));
            }
            let len = len.min(header.length.saturating_sub(start));
            let stored = place.map_or(0, |(_, stored)| stored).min(len);
            if let Some((at, _)) = place {
                push(&mut pieces, Piece::at(at, stored));
            }
            let rest = if is_missing { Place::Missing(block as u16) } else { Place::Unwritten };
            push(&mut pieces, Piece { place: rest, len: len.saturating_sub(stored) });
            start = start.saturating_add(len);
        }
        table = links.next as u16;
    }
    pieces.pop_if(|last| last.place == Place::Unwritten);
    if pieces.is_empty() && header.length > 0 {
        return Err(bad(format!(
            "linked blocks of {} bytes: the file has none of the blocks",
            header.length
        )));
    }
    let len = pieces.iter().fold(0u64, |sum, piece| sum.saturating_add(piece.len));
    Ok(Element { len, storage: Storage::Pieces(pieces) })
}

/// Returns a compressed element.
fn compressed(file: &File, header: CompressedHeader) -> Result<Element> {
    let compression = Compression::try_from(&header.compression)?;
    // Two bytes.
    let pieces = compressed_pieces(file, header.reference as u16)?;
    if compression.steps.is_empty() {
        return Ok(Element { len: header.length, storage: Storage::Pieces(pieces) });
    }
    Ok(Element { len: header.length, storage: Storage::Compressed { compression, pieces } })
}

/// Returns the pieces of compressed bytes, which may be linked blocks. They end where the file does, and at the first block that was never
/// written: a stream has no holes, and lengths that lie cost a hostile file nothing.
/// Of bytes that begin behind the end of the file one is left, so that a read is an error: without it nothing would tell them from an element
/// that was never written.
pub(crate) fn compressed_pieces(file: &File, reference: u16) -> Result<Vec<Piece>> {
    let mut pieces = stored_pieces(file, reference)?;
    let size = file.blob().size()?;
    let mut end = pieces.len();
    for (number, piece) in pieces.iter_mut().enumerate() {
        let available = match piece.place {
            Place::At(at) => size.saturating_sub(at),
            Place::Unwritten => 0,
            Place::Missing(_) => piece.len,
        };
        if piece.len > available {
            let is_lost = number == 0 && available == 0 && piece.place != Place::Unwritten;
            piece.len = if is_lost { 1 } else { available };
            end = if piece.len == 0 { number } else { number.saturating_add(1) };
            break;
        }
    }
    pieces.truncate(end);
    Ok(pieces)
}

/// Returns the pieces of compressed bytes as the file says them.
fn stored_pieces(file: &File, reference: u16) -> Result<Vec<Piece>> {
    let Some(descriptor) = file.descriptor(tags::COMPRESSED, reference) else {
        return Err(bad(format!("compressed bytes {reference} are not in the file")));
    };
    match (descriptor.is_special, descriptor.place) {
        (_, None) => Ok(vec![]),
        (false, Some((at, len))) => Ok(vec![Piece::at(at, len)]),
        (true, Some((at, len))) => {
            let bytes = file.bytes_at(at, len.min(special::HEADER as u64))?;
            let header = decode(Linked::default(), "linked-block element", at, &bytes)?;
            match (header.code, linked(file, (tags::COMPRESSED, reference), header)) {
                (special::LINKED, Ok(Element { storage: Storage::Pieces(pieces), .. })) => Ok(pieces),
                (special::LINKED, Err(error)) => Err(error),
                (code, _) => Err(not_blocks(at, code)),
            }
        }
    }
}

fn not_blocks(at: u64, code: u64) -> Error {
    bad(format!(
        "compressed bytes at byte {at} are a special element (special tag {code}) and not linked blocks"
    ))
}
