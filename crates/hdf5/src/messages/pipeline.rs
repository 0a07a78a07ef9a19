//! The filter pipeline message: what packs the chunks (specification, section IV.A.2.l).

use ferrocdf_bytes::Result;
use ferrocdf_codec::Step;

use crate::wire::{Reader, Writer, up_to_nul};

/// The most filters in a message: a filter mask has as many bits.
const FILTERS: u8 = 32;

/// Filters below this number have no name in version 2.
const NAMED: u16 = 256;

/// The filters of a message, versions 1 and 2, in the order in which they are applied when writing.
///
/// # Errors
/// `EHDFERR` for bytes that are no such message.
pub fn decode(bytes: &[u8]) -> Result<Vec<Step>> {
    let mut r = Reader::new("filter pipeline", bytes);
    let version = r.version(1..=2)?;
    let count = r.u8()?;
    if count > FILTERS {
        return Err(r.error(format_args!("{count} filters")));
    }
    if version == 1 {
        r.skip(6)?;
    }
    (0..count).map(|_| step(&mut r, version)).collect()
}

fn step(r: &mut Reader<'_>, version: u8) -> Result<Step> {
    let id = r.u16()?;
    let mut name_len = if version == 1 || id >= NAMED { usize::from(r.u16()?) } else { 0 };
    let flags = r.u16()?;
    let count = r.u16()?;
    if version == 1 {
        name_len = name_len.next_multiple_of(8);
    }
    let name = String::from_utf8_lossy(up_to_nul(r.take(name_len)?)).into_owned();
    let values = r.take(4 * usize::from(count))?;
    let params = values.chunks_exact(4).map(|v| u32::from_le_bytes([v[0], v[1], v[2], v[3]])).collect();
    if version == 1 && count % 2 == 1 {
        r.skip(4)?;
    }
    Ok(Step { id: u32::from(id).into(), name, optional: flags & 1 != 0, params })
}

/// The message of version 2.
///
/// # Errors
/// `ERANGE` for more filters, longer names or more values than the message can hold.
pub fn encode(steps: &[Step]) -> Result<Vec<u8>> {
    let mut w = Writer::new("filter pipeline");
    if steps.len() > usize::from(FILTERS) {
        w.fail(format_args!("{} filters", steps.len()));
    }
    w.u8(2);
    w.u8(steps.len() as u8);
    for step in steps {
        let Some(id) = step.id.hdf5() else {
            w.fail(format_args!("codec {}, which has no HDF5 number", step.id));
            continue;
        };
        w.uint(2, id.into());
        if id >= u32::from(NAMED) {
            // A name ends with a NUL, unless there is none.
            let len = if step.name.is_empty() { 0 } else { step.name.len() + 1 };
            w.count(2, len);
        }
        w.u16(u16::from(step.optional));
        w.count(2, step.params.len());
        if id >= u32::from(NAMED) && !step.name.is_empty() {
            w.bytes(step.name.as_bytes());
            w.u8(0);
        }
        for &value in &step.params {
            w.u32(value);
        }
    }
    w.finish()
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
