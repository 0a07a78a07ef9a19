//! HDF5 files put together by hand, structure by structure ("HDF5 File Format Specification", version 3): what no library
//! would write.

use ferrocdf_bytes::lookup3;

/// The undefined address.
pub const NOWHERE: u64 = u64::MAX;

/// A message: its type and what it says.
pub type Message = (u8, Vec<u8>);

/// A file that grows at its end. Addresses and lengths have 8 bytes.
pub struct Builder {
    bytes: Vec<u8>,
}

const SUPERBLOCK: usize = 48;

pub fn checked(mut bytes: Vec<u8>) -> Vec<u8> {
    let checksum = lookup3(&bytes, 0);
    bytes.extend(checksum.to_le_bytes());
    bytes
}

pub fn numbers(list: &[u64]) -> Vec<u8> {
    list.iter().flat_map(|number| number.to_le_bytes()).collect()
}

impl Builder {
    pub fn new() -> Builder {
        Builder { bytes: vec![0; SUPERBLOCK] }
    }

    /// Where the next thing will be.
    pub fn end(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub fn put(&mut self, bytes: &[u8]) -> u64 {
        let at = self.end();
        self.bytes.extend_from_slice(bytes);
        at
    }

    /// Room for something that is put there later.
    pub fn reserve(&mut self, len: usize) -> u64 {
        self.put(&vec![0; len])
    }

    pub fn set(&mut self, at: u64, bytes: &[u8]) {
        self.bytes[at as usize..][..bytes.len()].copy_from_slice(bytes);
    }

    pub fn object(&mut self, messages: &[Message]) -> u64 {
        self.put(&header(messages))
    }

    /// A collection of the global heap with one object, number 1.
    pub fn heap(&mut self, object: &[u8]) -> u64 {
        let room = object.len().next_multiple_of(8);
        let mut bytes = b"GCOL\x01\0\0\0".to_vec();
        bytes.extend(numbers(&[(32 + room) as u64]));
        bytes.extend([1, 0, 1, 0, 0, 0, 0, 0]);
        bytes.extend(numbers(&[object.len() as u64]));
        bytes.extend_from_slice(object);
        bytes.resize(32 + room, 0);
        self.put(&bytes)
    }

    /// The file, with this root group.
    pub fn finish(mut self, root: u64) -> Vec<u8> {
        let head =
            [&b"\x89HDF\r\n\x1a\n\x02\x08\x08\0"[..], &numbers(&[0, NOWHERE, self.end(), root])].concat();
        let head = checked(head);
        assert_eq!(head.len(), SUPERBLOCK);
        self.set(0, &head);
        self.bytes
    }

    /// The file whose root group holds one object under this name.
    pub fn holding(mut self, name: &str, object: u64) -> Vec<u8> {
        let root = self.object(&[group(), hard(name, object)]);
        self.finish(root)
    }
}

/// A version 2 object header.
pub fn header(messages: &[Message]) -> Vec<u8> {
    let body = stored(messages);
    checked([&b"OHDR\x02\x02"[..], &(body.len() as u32).to_le_bytes(), &body].concat())
}

/// Messages as a header has them.
pub fn stored(messages: &[Message]) -> Vec<u8> {
    let message = |(kind, body): &Message| {
        let len = u16::try_from(body.len()).unwrap().to_le_bytes();
        [&[*kind, len[0], len[1], 0], &body[..]].concat()
    };
    messages.iter().flat_map(message).collect()
}

/// What makes an object a group.
pub fn group() -> Message {
    (0x02, [&[0, 0][..], &numbers(&[NOWHERE, NOWHERE])].concat())
}

pub fn hard(name: &str, object: u64) -> Message {
    (0x06, [&[1, 0, name.len() as u8], name.as_bytes(), &numbers(&[object])].concat())
}

fn special(name: &str, class: u8, data: &[u8]) -> Message {
    let len = (data.len() as u16).to_le_bytes();
    (0x06, [&[1, 8, class, name.len() as u8], name.as_bytes(), &len, data].concat())
}

pub fn soft(name: &str, path: &str) -> Message {
    special(name, 1, path.as_bytes())
}

pub fn external(name: &str, file: &str, path: &str) -> Message {
    special(name, 64, format!("\0{file}\0{path}\0").as_bytes())
}

pub fn space(dims: &[u64]) -> Message {
    (0x01, [&[2, dims.len() as u8, 0, u8::from(!dims.is_empty())][..], &numbers(dims)].concat())
}

/// Unsigned integers of one byte.
pub fn byte_type() -> Vec<u8> {
    vec![0x10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8, 0]
}

/// Strings of any length.
pub fn string_type() -> Vec<u8> {
    [&[0x19, 1, 0, 0, 16, 0, 0, 0][..], &byte_type()].concat()
}

pub fn datatype(bytes: Vec<u8>) -> Message {
    (0x03, bytes)
}

/// A contiguous layout.
pub fn contiguous(at: u64, len: u64) -> Message {
    (0x08, [&[3, 1][..], &numbers(&[at, len])].concat())
}

/// Chunks of elements of one byte; `index` is the index type and what it says of itself.
pub fn chunked(shape: &[u64], flags: u8, index: &[u8], at: u64) -> Message {
    let head = [4, 2, flags, shape.len() as u8 + 1, 8];
    (0x08, [&head[..], &numbers(shape), &numbers(&[1]), index, &numbers(&[at])].concat())
}

/// The deflate filter.
pub fn deflate() -> Message {
    (0x0b, vec![2, 1, 1, 0, 0, 0, 1, 0, 6, 0, 0, 0])
}

/// An attribute, with the number of its elements whatever its data.
pub fn attribute(name: &str, datatype: &[u8], count: u64, data: &[u8]) -> Message {
    let (_, space) = space(&[count]);
    let sizes = [name.len() + 1, datatype.len(), space.len()].map(|len| (len as u16).to_le_bytes());
    let name = [name.as_bytes(), &[0]].concat();
    (0x0c, [&[3, 0][..], &sizes.concat(), &[0], &name, datatype, &space, data].concat())
}
