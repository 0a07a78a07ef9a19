//! "Link Message".

use ferrocdf_bytes::Result;

use super::{Charset, Link, LinkTarget};
use crate::Sizes;
use crate::wire::{Reader, up_to_nul};

const WHAT: &str = "link message";

impl Link {
    /// Takes a message apart.
    pub(super) fn decode(body: &[u8], sizes: Sizes) -> Result<Link> {
        let mut reader = Reader::new(WHAT, body);
        reader.version(1..=1)?;
        let flags = reader.u8()?;
        let class = if flags & 0x08 != 0 { reader.u8()? } else { 0 };
        let order = if flags & 0x04 != 0 { Some(reader.uint(8)? as i64) } else { None };
        let charset = match if flags & 0x10 != 0 { reader.u8()? } else { 0 } {
            0 => Charset::Ascii,
            1 => Charset::Utf8,
            other => Charset::Other(other),
        };
        let len = reader.uint(1 << (flags & 0x03))?;
        let name = reader.take(usize::try_from(len).unwrap_or(usize::MAX))?.to_vec();
        let target = Self::target(class, &mut reader, sizes)?;
        Ok(Link { name, order, charset, target })
    }

    fn target(class: u8, reader: &mut Reader<'_>, sizes: Sizes) -> Result<LinkTarget> {
        if class == 0 {
            return reader.defined(sizes, "object").map(LinkTarget::Hard);
        }
        let len = reader.u16()?;
        let data = reader.take(usize::from(len))?;
        match class {
            1 => Ok(LinkTarget::Soft(up_to_nul(data).to_vec())),
            64 => {
                let mut reader = Reader::new("external link", data);
                // Version and flags, both zero.
                reader.version(0..=0)?;
                let file = up_to_nul(reader.rest());
                let path = up_to_nul(reader.rest().get(file.len() + 1..).unwrap_or_default());
                Ok(LinkTarget::External { file: file.to_vec(), path: path.to_vec() })
            }
            65.. => Ok(LinkTarget::User { class, data: data.to_vec() }),
            _ => Err(reader.error(format_args!("link type {class} is unknown"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Address;

    const SIZES: Sizes = Sizes { offset: 4, length: 4 };

    #[test]
    fn classes() {
        let decode = |bytes: &[u8]| Link::decode(bytes, SIZES);
        let hard = decode(&[1, 0x14, 7, 0, 0, 0, 0, 0, 0, 0, 1, 1, b'a', 0x10, 0, 0, 0]).unwrap();
        assert_eq!(
            hard,
            Link {
                name: b"a".to_vec(),
                order: Some(7),
                charset: Charset::Utf8,
                target: LinkTarget::Hard(Address(16))
            }
        );
        let soft = decode(&[1, 0x09, 1, 2, 0, b'a', b'b', 3, 0, b'/', b'x', 0]).unwrap();
        assert_eq!((&soft.name[..], soft.target), (&b"ab"[..], LinkTarget::Soft(b"/x".to_vec())));
        let external = decode(&[1, 0x08, 64, 1, b'e', 5, 0, 0, b'f', 0, b'p', 0]).unwrap();
        assert_eq!(external.target, LinkTarget::External { file: b"f".to_vec(), path: b"p".to_vec() });
        let user = decode(&[1, 0x08, 200, 1, b'u', 1, 0, 9]).unwrap();
        assert_eq!(user.target, LinkTarget::User { class: 200, data: vec![9] });
        assert!(decode(&[1, 0x08, 2, 1, b'u', 1, 0, 9]).is_err());
        assert!(decode(&[1, 0x03, 255, 255, 255, 255, 255, 255, 255, 255]).is_err());
    }
}
