//! The filters of a dataset, one behind the other.

use ferrocdf_bytes::{Code, Error, Result};

use crate::filter::{Filter, built_in};

/// A filter as a file names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The registered HDF5 number.
    pub id: u32,
    /// Its name as the file says; may be empty.
    pub name: String,
    /// Whether a block may be stored without it.
    pub optional: bool,
    /// The client values.
    pub params: Vec<u32>,
}

/// The filters of a dataset in the order in which they are applied when writing.
#[derive(Debug, Default)]
pub struct Chain {
    links: Vec<Link>,
}

#[derive(Debug)]
struct Link {
    step: Step,
    filter: Result<Box<dyn Filter>>,
}

impl Chain {
    /// A chain of these filters. One that is not there, or whose parameters are wrong, is an error only when data needs
    /// it.
    pub fn new(steps: Vec<Step>) -> Chain {
        let link = |step: Step| {
            let missing = || Err(Error::new(Code::ENOFILTER, format!("filter {} ({})", step.id, step.name)));
            let filter = built_in(step.id, &step.params).unwrap_or_else(missing);
            Link { step, filter }
        };
        Chain { links: steps.into_iter().map(link).collect() }
    }

    /// The filters as the file names them.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = &Step> {
        self.links.iter().map(|link| &link.step)
    }

    /// Whether there is no filter.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Checks that blocks can be decoded that were stored with all filters but those in `mask` (bit `n` for the `n`-th).
    pub fn check(&self, _mask: u32) -> Result<()> {
        self.links.iter().try_for_each(|link| link.filter.as_ref().map(drop).map_err(Error::clone))
    }

    /// Whether blocks that were stored without the filters in `mask` are as they were made.
    pub fn is_plain(&self, mask: u32) -> bool {
        (0..self.links.len()).all(|number| mask >> number.min(31) & 1 == 1)
    }

    /// Checks, before memory is taken, that `stored` bytes can become a block of `plain` bytes at all.
    pub fn check_size(&self, _mask: u32, _stored: usize, _plain: usize) -> Result<()> {
        Ok(())
    }

    /// Unpacks a block that was stored without the filters in `mask` into `plain`, which it must fill exactly.
    pub fn decode(&self, mask: u32, stored: &[u8], plain: &mut [u8]) -> Result<()> {
        self.check(mask)?;
        plain.copy_from_slice(stored);
        Ok(())
    }

    /// Packs a block into `stored`, which is emptied first, and gives the mask of the optional filters left out.
    pub fn encode(&self, plain: &[u8], stored: &mut Vec<u8>) -> Result<u32> {
        self.check(0)?;
        stored.clear();
        stored.extend_from_slice(plain);
        Ok(0)
    }
}
