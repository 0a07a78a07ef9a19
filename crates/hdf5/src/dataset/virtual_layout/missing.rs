//! Sources of virtual datasets that are not there, or not whole.

use std::collections::HashSet;
use std::sync::Arc;

use ferrocdf_bytes::Result;

use super::{Virtual, end};

/// A source of a virtual dataset that lacks elements. They have the fill value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingSource {
    /// The name of its file; "." is the file of the virtual dataset.
    pub file: Vec<u8>,
    /// The path of the dataset in its file.
    pub path: Vec<u8>,
    /// What is missing.
    pub lack: Lack,
}

/// What a source of a virtual dataset lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// There is no such file.
    File,
    /// The file has no such dataset.
    Dataset,
    /// The dataset is shorter than the elements that are taken of it.
    Elements,
}

impl Virtual {
    /// The sources that lack elements which the dataset takes of them, each once, and those of virtual sources. A mapping whose sources are
    /// numbered ends at the first that is missing, so none of them is.
    pub fn missing(&self) -> Result<Vec<MissingSource>> {
        let mut missing: Vec<MissingSource> = vec![];
        let mut seen = HashSet::new();
        for mapping in self.mappings.iter().filter(|mapping| !mapping.is_numbered()) {
            let (file, path) = (mapping.file(0), mapping.path(0));
            let is_new = seen.insert((Arc::clone(&file), Arc::clone(&path)));
            let lack = match self.sources.open(&file, &path)? {
                Some(source) => {
                    if is_new {
                        missing.extend(source.missing_sources()?);
                    }
                    let shape = source.shape()?;
                    let is_short = |(dim, &len): (usize, &u64)| end(&mapping.there, dim) > len;
                    let is_of_rank = mapping.there.rank().is_none_or(|rank| rank == shape.len());
                    (is_of_rank && shape.iter().enumerate().any(is_short)).then_some(Lack::Elements)
                }
                None if *file != *b"." && self.sources.file.neighbour(&file)?.is_none() => Some(Lack::File),
                None => Some(Lack::Dataset),
            };
            let Some(lack) = lack else { continue };
            let found = MissingSource { file: file.to_vec(), path: path.to_vec(), lack };
            if is_new || lack == Lack::Elements && !missing.contains(&found) {
                missing.push(found);
            }
        }
        Ok(missing)
    }
}
