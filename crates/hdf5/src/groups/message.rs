//! "Link Message".

use ferrocdf_bytes::Result;

use super::{Charset, Link, LinkTarget};
use crate::Sizes;
use crate::wire::{Reader, Writer, up_to_nul};

const WHAT: &str = "link message";

impl Link {
    /// Takes a message apart.
    pub(crate) fn decode(body: &[u8], sizes: Sizes) -> Result<Link> {
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

impl Link {
    /// The message.
    ///
    /// # Errors
    /// `ERANGE` for what the message cannot hold: paths of 64 KiB, NULs in paths.
    pub fn encode(&self, sizes: Sizes) -> Result<Vec<u8>> {
        let class = match &self.target {
            LinkTarget::Hard(_) => 0,
            LinkTarget::Soft(_) => 1,
            LinkTarget::External { .. } => 64,
            LinkTarget::User { class, .. } => *class,
        };
        let charset = match self.charset {
            Charset::Ascii => 0,
            Charset::Utf8 => 1,
            Charset::Other(other) => other,
        };
        // 1, 2, 4 or 8 bytes hold the length of the name.
        let width_bits = match self.name.len() {
            0..=0xff => 0,
            0x100..=0xffff => 1,
            _ => 2,
        };
        let flag = |bit: u32, set: bool| u8::from(set) << bit;
        let mut w = Writer::new(WHAT);
        w.u8(1);
        w.u8(width_bits | flag(2, self.order.is_some()) | flag(3, class != 0) | flag(4, charset != 0));
        if class != 0 {
            w.u8(class);
        }
        if let Some(order) = self.order {
            w.uint(8, order.cast_unsigned());
        }
        if charset != 0 {
            w.u8(charset);
        }
        w.count(1 << width_bits, self.name.len());
        w.bytes(&self.name);
        match &self.target {
            LinkTarget::Hard(object) => w.address(sizes, Some(*object)),
            LinkTarget::Soft(path) => {
                path_fits(&mut w, path);
                w.count(2, path.len());
                w.bytes(path);
            }
            LinkTarget::External { file, path } => {
                path_fits(&mut w, file);
                path_fits(&mut w, path);
                w.count(2, file.len() + path.len() + 3);
                w.u8(0);
                w.bytes(file);
                w.u8(0);
                w.bytes(path);
                w.u8(0);
            }
            LinkTarget::User { data, .. } => {
                w.count(2, data.len());
                w.bytes(data);
            }
        }
        w.finish()
    }
}

fn path_fits(w: &mut Writer, path: &[u8]) {
    if path.contains(&0) {
        w.fail("a path with a NUL in it");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Address;

    const SIZES: Sizes = Sizes { offset: 4, length: 4 };

    #[test]
    fn classes() {
        let decode = |bytes: &[u8]| -> Result<Link> {
            let link = Link::decode(bytes, SIZES)?;
            let again = link.encode(SIZES).unwrap();
            // Soft links may have a NUL behind them, which is not written.
            assert!(again == bytes || Link::decode(&again, SIZES)? == link, "{again:?}");
            Ok(link)
        };
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
        let decode = |bytes: &[u8]| Link::decode(bytes, SIZES);
        assert!(decode(&[1, 0x08, 2, 1, b'u', 1, 0, 9]).is_err());
        assert!(decode(&[1, 0x03, 255, 255, 255, 255, 255, 255, 255, 255]).is_err());
    }

    #[test]
    fn encoded_as_the_reference_does() {
        let link =
            |name: &[u8], order, target| Link { name: name.to_vec(), order, charset: Charset::Ascii, target };
        let encode = |link: Link| link.encode(SIZES);
        assert_eq!(
            encode(link(b"n", None, LinkTarget::Hard(Address(0x1bf)))).unwrap(),
            [1, 0, 1, b'n', 0xbf, 1, 0, 0]
        );
        assert_eq!(
            encode(link(b"x", Some(0), LinkTarget::Soft(b"/c".to_vec()))).unwrap(),
            [1, 0x0c, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, b'x', 2, 0, b'/', b'c']
        );
        let external = LinkTarget::External { file: b"f".to_vec(), path: b"p".to_vec() };
        assert_eq!(
            encode(link(b"e", None, external)).unwrap(),
            [1, 8, 64, 1, b'e', 5, 0, 0, b'f', 0, b'p', 0]
        );
        let long = encode(link(&[b'a'; 300], None, LinkTarget::Hard(Address(1)))).unwrap();
        assert_eq!(&long[..5], [1, 1, 44, 1, b'a']);
        assert!(encode(link(b"x", None, LinkTarget::Soft(b"a\0".to_vec()))).is_err());
        assert!(encode(link(b"x", None, LinkTarget::Soft(vec![b'a'; 1 << 16]))).is_err());
    }
}
