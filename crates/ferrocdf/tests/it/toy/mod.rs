//! A complete driver of an invented format, as a program would bring it along.
//!
//! A file is `TOY1`, a line of text for each variable, an empty line, and 32-bit floats in big-endian order. A line is
//! `name rank lens… columns begin` for an array whose first dimension is the fastest, or `name rank lens… chunks lens…
//! positions…` for chunks, of which one at position 0 is not stored.

pub mod sample;

use std::str::{FromStr, SplitAsciiWhitespace};
use std::sync::Arc;

use ferrocdf::array::{Array, ChunkIndex, ChunkLocation, Chunks, Kind, Layout, PastEnd, Stored};
use ferrocdf::driver::{Driver, LocatedArray, Probe};
use ferrocdf::store::Blob;
use ferrocdf::{Atomic, Code, Container, DataModel, Error, Format, GroupId, Model, Result, VarId};

/// The entry in the table of containers.
pub const PROBE: Probe = Probe {
    container: Container::Other("toy"),
    recognises: |candidate| Ok(candidate.head.starts_with(b"TOY1\n")),
    open: |blob, _| {
        let mut toy = Toy { blob, layouts: vec![] };
        let model = toy.refresh()?;
        Ok((Box::new(toy), model))
    },
    write: None,
};

struct Toy {
    blob: Arc<dyn Blob>,
    /// Where the variables lie, by id.
    layouts: Vec<Layout>,
}

const SIZE: u64 = size_of::<f32>() as u64;

impl Driver for Toy {
    fn refresh(&mut self) -> Result<Model> {
        let mut bytes = vec![0; self.blob.size()?.min(1 << 16) as usize];
        self.blob.read_exact_at(0, &mut bytes)?;
        let end = bytes.windows(2).position(|pair| pair == b"\n\n").ok_or_else(|| bad("it has no end"))?;
        let header = std::str::from_utf8(&bytes[..end]).map_err(|_| bad("it is not text"))?;
        let mut model = Model::new(Format::new(Container::Other("toy"), DataModel::Classic));
        let mut layouts = vec![];
        for line in header.lines().skip(1) {
            let words = &mut line.split_ascii_whitespace();
            let (name, rank) = (number::<String>(words)?, number::<u8>(words)?);
            let shape = (0..rank).map(|_| number(words)).collect::<Result<Vec<u64>>>()?;
            let dim = |(dim, &len)| model.def_dim(GroupId::ROOT, format!("{name}_{dim}"), Some(len));
            let dims = shape.iter().enumerate().map(dim).collect::<Result<Vec<_>>>()?;
            model.def_var(GroupId::ROOT, name, Atomic::Float.into(), &dims)?;
            layouts.push(layout(words, &shape)?);
        }
        self.layouts = layouts;
        Ok(model)
    }

    fn array(&self, model: &Model, var: VarId) -> Result<LocatedArray> {
        let (stored, layout) = (Stored::big(Kind::F32), self.layouts[var.index()].clone());
        Ok(Array { shape: model.shape(var), stored, decoder: None, layout, past_end: PastEnd::Error }.into())
    }

    fn blob(&self) -> &dyn Blob {
        &*self.blob
    }
}

fn layout(words: &mut SplitAsciiWhitespace<'_>, shape: &[u64]) -> Result<Layout> {
    let product = |lens: &[u64]| lens.iter().try_fold(SIZE, |all, &len| all.checked_mul(len));
    let too_large = || bad("an array is too large");
    product(shape).ok_or_else(too_large)?;
    if number::<String>(words)? == "columns" {
        let strides = (0..shape.len()).map(|dim| product(&shape[..dim])).collect::<Option<_>>();
        return Ok(Layout::Strided { begin: number(words)?, strides: strides.ok_or_else(too_large)? });
    }
    let chunk = shape.iter().map(|_| number(words)).collect::<Result<Vec<u64>>>()?;
    if chunk.contains(&0) {
        return Err(bad("a chunk is empty"));
    }
    let grid = shape.iter().zip(&chunk).map(|(len, chunk)| len.div_ceil(*chunk)).collect();
    let positions = words.map(|word| word.parse().map_err(|_| bad("a position is no number")));
    let (len, positions) = (product(&chunk).ok_or_else(too_large)?, positions.collect::<Result<_>>()?);
    let (index, fill) = (Index { grid, len, positions }, 9.969_21e36_f32.to_be_bytes());
    Ok(Layout::Chunked(Chunks::new(chunk, Arc::new(index), Arc::default(), fill)))
}

/// The positions of the chunks of one variable, last dimension fastest.
#[derive(Debug)]
struct Index {
    grid: Vec<u64>,
    len: u64,
    positions: Vec<u64>,
}

impl ChunkIndex for Index {
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<ChunkLocation>> {
        let position = |number: u64| {
            let (mut chunk, mut rest, mut size) = (0, number, 1);
            for dim in (0..count.len()).rev() {
                let at = first[dim] + rest % count[dim];
                chunk += (at < self.grid[dim]).then_some(at * size)?;
                (rest, size) = (rest / count[dim], size * self.grid[dim]);
            }
            self.positions.get(chunk as usize).copied().filter(|&at| at > 0)
        };
        let location = |at| ChunkLocation::At { at, len: self.len, mask: 0 };
        Ok((0..count.iter().product())
            .map(|number| position(number).map(location).unwrap_or_default())
            .collect())
    }
}

fn number<T: FromStr>(words: &mut SplitAsciiWhitespace<'_>) -> Result<T> {
    words.next().and_then(|word| word.parse().ok()).ok_or_else(|| bad("a word is missing"))
}

fn bad(why: &str) -> Error {
    Error::new(Code::ENOTNC, format!("header: {why}"))
}
