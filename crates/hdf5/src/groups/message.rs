//! "Link Message".
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Code, Coder, Error, Record, Result};

use super::{Charset, Link, LinkTarget};
use crate::fields::{self, Fields};
use crate::wire::{bad, up_to_nul};
use crate::{Address, Sizes};

const WHAT: &str = "link message";

pub(crate) struct LinkMessage<'a> {
    pub link: &'a mut Link,
    pub sizes: Sizes,
}

/// Flags of optional fields; the two lowest bits tell the width of the name's length.
const HAS_ORDER: u8 = 0x04;
const HAS_CLASS: u8 = 0x08;
const HAS_CHARSET: u8 = 0x10;

/// Link types.
const HARD: u8 = 0;
const SOFT: u8 = 1;
const EXTERNAL: u8 = 64;
const FIRST_OF_USERS: u8 = 65;

impl Record for LinkMessage<'_> {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let (link, sizes) = (&mut *self.link, self.sizes);
        c.version(1..=1, &mut 1)?;
        let (mut class, mut charset) = (link.target.class(), link.charset.stored());
        // 1, 2 or 4 bytes hold the length of the name.
        let mut flags = match link.name.len() {
            0..=0xff => 0,
            0x100..=0xffff => 1,
            _ => 2,
        };
        let flag = |flag: u8, set: bool| if set { flag } else { 0 };
        flags |= flag(HAS_ORDER, link.order.is_some())
            | flag(HAS_CLASS, class != HARD)
            | flag(HAS_CHARSET, charset != 0);
        c.int("flags", &mut flags)?;
        if flags & HAS_CLASS != 0 {
            c.int("link type", &mut class)?;
        }
        if flags & HAS_ORDER != 0 {
            let mut order = link.order.unwrap_or_default().cast_unsigned();
            c.int("creation order", &mut order)?;
            link.order = Some(order.cast_signed());
        }
        if flags & HAS_CHARSET != 0 {
            c.int("link name character set", &mut charset)?;
        }
        link.charset = Charset::of(charset);
        let mut len = link.name.len() as u64;
        c.uint("length of link name", 1 << (flags & 3), &mut len)?;
        c.bytes("link name", len, &mut link.name)?;
        link.target.fields(class, sizes, c)
    }
}

impl LinkTarget {
    /// "Link Information".
    fn fields<C: Coder>(&mut self, class: u8, sizes: Sizes, c: &mut C) -> Result<()> {
        if class == HARD {
            let mut at = match self {
                LinkTarget::Hard(at) => *at,
                _ => Address::default(),
            };
            c.defined("object header address", sizes, &mut at)?;
            *self = LinkTarget::Hard(at);
            return Ok(());
        }
        let mut data = self.stored()?;
        let mut len = data.len() as u64;
        c.uint("length of link information", 2, &mut len)?;
        c.bytes("link information", len, &mut data)?;
        if C::READS {
            *self = Self::of(class, data)?;
        }
        Ok(())
    }

    fn class(&self) -> u8 {
        match self {
            LinkTarget::Hard(_) => HARD,
            LinkTarget::Soft(_) => SOFT,
            LinkTarget::External { .. } => EXTERNAL,
            LinkTarget::User { class, .. } => *class,
        }
    }

    /// The target from the information of a link that is not hard.
    fn of(class: u8, data: Vec<u8>) -> Result<LinkTarget> {
        match class {
            SOFT => Ok(LinkTarget::Soft(up_to_nul(&data).to_vec())),
            EXTERNAL => {
                // Version and flags are zero.
                let Some((0, names)) = data.split_first() else {
                    return Err(bad("external link of an unknown version"));
                };
                let (file, rest) = names.split_at(up_to_nul(names).len());
                let path = up_to_nul(rest.get(1..).unwrap_or_default());
                Ok(LinkTarget::External { file: file.to_vec(), path: path.to_vec() })
            }
            FIRST_OF_USERS.. => Ok(LinkTarget::User { class, data }),
            _ => Err(bad(format!("link type {class} is unknown"))),
        }
    }

    /// The information of a link that is not hard.
    fn stored(&self) -> Result<Vec<u8>> {
        let without_nul = |path: &Vec<u8>| match path.contains(&0) {
            false => Ok(()),
            true => Err(Error::new(Code::ERANGE, "a path with a NUL in it")),
        };
        match self {
            LinkTarget::Hard(_) => Ok(vec![]),
            LinkTarget::User { data, .. } => Ok(data.clone()),
            LinkTarget::Soft(path) => without_nul(path).map(|()| path.clone()),
            LinkTarget::External { file, path } => {
                without_nul(file).and(without_nul(path))?;
                Ok([&[0], &file[..], &[0], path, &[0]].concat())
            }
        }
    }
}

impl Charset {
    fn of(stored: u8) -> Charset {
        match stored {
            0 => Charset::Ascii,
            1 => Charset::Utf8,
            other => Charset::Other(other),
        }
    }

    fn stored(self) -> u8 {
        match self {
            Charset::Ascii => 0,
            Charset::Utf8 => 1,
            Charset::Other(other) => other,
        }
    }
}

impl Link {
    /// A link to be read.
    pub(crate) fn unread() -> Link {
        let target = LinkTarget::Hard(Address::default());
        Link { name: vec![], order: None, charset: Charset::Ascii, target }
    }

    /// Takes a message apart.
    pub(crate) fn decode(body: &[u8], sizes: Sizes) -> Result<Link> {
        let mut link = Self::unread();
        fields::read(&mut LinkMessage { link: &mut link, sizes }, WHAT, body)?;
        Ok(link)
    }

    /// The message.
    ///
    /// # Errors
    /// `ERANGE` for what the message cannot hold: paths of 64 KiB, NULs in paths.
    pub fn encode(&self, sizes: Sizes) -> Result<Vec<u8>> {
        fields::write(&mut LinkMessage { link: &mut self.clone(), sizes }, WHAT)
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
