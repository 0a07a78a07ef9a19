//! The filter pipeline message: what packs the chunks (specification, section IV.A.2.l).
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Code, Coder, Error, Record, Result};
use ferrocdf_codec::Step;

use crate::fields::{self, Fields};
use crate::wire::up_to_nul;

const WHAT: &str = "filter pipeline";
/// Maximum number of filters in a message: a filter mask has as many bits.
const FILTERS: u64 = 32;

/// Filters below this number have no name in version 2.
const NAMED: u16 = 256;

/// "Filter Pipeline Message".
pub(crate) struct FilterPipelineMessage {
    version: u8,
    filters: Vec<Filter>,
}

impl FilterPipelineMessage {
    /// A message to be read.
    pub fn unread() -> FilterPipelineMessage {
        FilterPipelineMessage { version: 0, filters: vec![] }
    }
}

/// "Filter Description".
#[derive(Default)]
struct Filter {
    id: u16,
    /// With a NUL at its end, and zeros behind it in version 1.
    name: Vec<u8>,
    flags: u16,
    params: Vec<u32>,
}

/// The flag of filters that may be left out.
const OPTIONAL: u16 = 1;

impl Record for FilterPipelineMessage {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.version(1..=2, &mut self.version)?;
        let mut count = self.filters.len() as u64;
        c.uint("number of filters", 1, &mut count)?;
        if count > FILTERS {
            return Err(c.wrong(format!("{count} filters")));
        }
        if self.version == 1 {
            c.reserved(6)?;
        }
        let version = self.version;
        c.list("filter", count, &mut self.filters, |filter, c| filter.fields(version, c))
    }
}

impl Filter {
    fn fields<C: Coder>(&mut self, version: u8, c: &mut C) -> Result<()> {
        c.int("filter identification value", &mut self.id)?;
        let mut name_len = self.name.len() as u64;
        if version == 1 || self.id >= NAMED {
            c.uint("name length", 2, &mut name_len)?;
        }
        c.int("flags", &mut self.flags)?;
        let mut count = self.params.len() as u64;
        c.uint("number of client data values", 2, &mut count)?;
        if version == 1 {
            name_len = name_len.next_multiple_of(8);
        }
        c.bytes("name", name_len, &mut self.name)?;
        c.list("client data value", count, &mut self.params, |param, c| c.int("value", param))?;
        if version == 1 && !count.is_multiple_of(2) {
            c.reserved(4)?;
        }
        Ok(())
    }
}

/// The filters of a message, versions 1 and 2, in the order in which they are applied when writing.
///
/// # Errors
/// `EHDFERR` for bytes that are no such message.
pub fn decode(bytes: &[u8]) -> Result<Vec<Step>> {
    let mut message = FilterPipelineMessage::unread();
    fields::read(&mut message, WHAT, bytes)?;
    let step = |filter: Filter| Step {
        id: u32::from(filter.id).into(),
        name: String::from_utf8_lossy(up_to_nul(&filter.name)).into_owned(),
        optional: filter.flags & OPTIONAL != 0,
        params: filter.params,
    };
    Ok(message.filters.into_iter().map(step).collect())
}

/// The message of version 2.
///
/// # Errors
/// `ERANGE` for more filters, longer names or more values than the message can hold, and for filters without a number of HDF5.
pub fn encode(steps: &[Step]) -> Result<Vec<u8>> {
    let filters = steps.iter().map(Filter::of).collect::<Result<_>>()?;
    fields::write(&mut FilterPipelineMessage { version: 2, filters }, WHAT)
}

impl Filter {
    fn of(step: &Step) -> Result<Filter> {
        let wrong = |why: &str| Error::new(Code::ERANGE, format!("{WHAT}: codec {}, {why}", step.id));
        let id = step.id.hdf5().ok_or_else(|| wrong("which has no HDF5 number"))?;
        let id = u16::try_from(id).map_err(|_| wrong("whose number has more than 16 bits"))?;
        let name = match step.name.as_bytes() {
            [] => vec![],
            // In version 2 these have none.
            _ if id < NAMED => vec![],
            name => [name, b"\0"].concat(),
        };
        let flags = if step.optional { OPTIONAL } else { 0 };
        Ok(Filter { id, name, flags, params: step.params.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected() -> Vec<Step> {
        let shuffle = Step { id: 2.into(), name: String::new(), optional: true, params: vec![8] };
        let own = Step { id: 307.into(), name: "bzip2".to_string(), optional: false, params: vec![9, 1] };
        vec![shuffle, own]
    }

    #[test]
    fn both_versions() {
        let one = [
            &[1, 2, 0, 0, 0, 0, 0, 0][..],
            &[2, 0, 0, 0, 1, 0, 1, 0, 8, 0, 0, 0, 0, 0, 0, 0],
            &[51, 1, 8, 0, 0, 0, 2, 0],
            b"bzip2\0\0\0",
            &[9, 0, 0, 0, 1, 0, 0, 0],
        ]
        .concat();
        assert_eq!(decode(&one).unwrap(), expected());
        let two = [
            &[2, 2, 2, 0, 1, 0, 1, 0, 8, 0, 0, 0][..],
            &[51, 1, 6, 0, 0, 0, 2, 0],
            b"bzip2\0",
            &[9, 0, 0, 0, 1, 0, 0, 0],
        ]
        .concat();
        assert_eq!(decode(&two).unwrap(), expected());
        assert_eq!(encode(&expected()).unwrap(), two);
        let nameless = Step { name: String::new(), ..expected().remove(1) };
        assert_eq!(decode(&encode(std::slice::from_ref(&nameless)).unwrap()).unwrap(), [nameless]);
        assert!(encode(&vec![expected().remove(0); 33]).is_err());
        let gzip = Step { id: ferrocdf_codec::FilterId::named("gzip"), ..expected().remove(0) };
        assert!(encode(&[gzip]).unwrap_err().what.contains("gzip, which has no HDF5 number"));
        assert!(decode(&two[..two.len() - 1]).is_err());
        assert!(decode(&[2, 33]).is_err());
    }
}
