//! "Filter Pipeline Message".

use ferrocdf_bytes::Result;
use ferrocdf_codec::Step;

use crate::wire::Reader;

/// The filters of a message, in the order in which they are applied when writing.
pub fn decode(bytes: &[u8]) -> Result<Vec<Step>> {
    let mut reader = Reader::new("filter pipeline message", bytes);
    let version = reader.version(1..=2)?;
    let count = reader.u8()?;
    reader.skip(if version == 1 { 6 } else { 0 })?;
    let mut steps = Vec::new();
    for _ in 0..count {
        let id = u32::from(reader.u16()?);
        let named = version == 1 || id >= 256;
        let name_len = if named { reader.u16()? } else { 0 };
        let optional = reader.u16()? & 1 != 0;
        let count = reader.u16()?;
        let name_len = if version == 1 { name_len.next_multiple_of(8) } else { name_len };
        let name = crate::wire::up_to_nul(reader.take(usize::from(name_len))?);
        let name = String::from_utf8_lossy(name).into_owned();
        let params = (0..count).map(|_| reader.u32()).collect::<Result<Vec<_>>>()?;
        reader.skip(if version == 1 && count % 2 == 1 { 4 } else { 0 })?;
        steps.push(Step { id, name, optional, params });
    }
    Ok(steps)
}
