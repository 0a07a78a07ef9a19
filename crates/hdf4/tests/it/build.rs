//! A small writer of HDF4 files, for tests.

use std::collections::HashMap;

use ferrocdf_hdf4::{SIGNATURE, tags};

/// The objects of a file that is to be written.
#[derive(Default)]
pub struct Builder {
    objects: Vec<(u16, u16, Option<Vec<u8>>)>,
    /// Objects with the bytes of another one, each with that one.
    aliases: HashMap<(u16, u16), (u16, u16)>,
    next: u16,
}

/// The mark of special elements.
pub const SPECIAL: u16 = 0x4000;

impl Builder {
    /// Adds an object, and returns its reference number.
    pub fn add(&mut self, tag: u16, bytes: &[u8]) -> u16 {
        self.next += 1;
        self.put(tag, self.next, bytes);
        self.next
    }

    /// Adds an object with a reference number.
    pub fn put(&mut self, tag: u16, reference: u16, bytes: &[u8]) {
        self.objects.push((tag, reference, Some(bytes.to_vec())));
    }

    /// Returns the bytes of an object.
    pub fn bytes(&self, tag: u16, reference: u16) -> &[u8] {
        let object = self.objects.iter().find(|object| (object.0, object.1) == (tag, reference)).unwrap();
        object.2.as_deref().unwrap()
    }

    /// Gives an object another tag and other bytes.
    pub fn replace(&mut self, tag: u16, reference: u16, new: u16, bytes: &[u8]) {
        let object = self.objects.iter_mut().find(|object| (object.0, object.1) == (tag, reference)).unwrap();
        *object = (new, reference, Some(bytes.to_vec()));
    }

    /// Adds an object of which nothing is written.
    pub fn put_unwritten(&mut self, tag: u16, reference: u16) {
        self.objects.push((tag, reference, None));
    }

    /// Gives an object a second tag.
    pub fn put_alias(&mut self, tag: u16, reference: u16, second: u16) {
        self.put_unwritten(second, reference);
        self.aliases.insert((second, reference), (tag, reference));
    }

    /// Returns a free reference number.
    pub fn reference(&mut self) -> u16 {
        self.next += 1;
        self.next
    }

    /// Adds a Vgroup.
    pub fn vgroup(&mut self, name: &str, class: &str, members: &[(u16, u16)]) -> u16 {
        let mut bytes = (members.len() as u16).to_be_bytes().to_vec();
        bytes.extend(members.iter().flat_map(|member| member.0.to_be_bytes()));
        bytes.extend(members.iter().flat_map(|member| member.1.to_be_bytes()));
        for text in [name, class] {
            bytes.extend(text_of(text));
        }
        // Extension, version, more, and the byte that the library adds.
        bytes.extend([0, 0, 0, 0, 0, 3, 0, 0, 0]);
        self.add(tags::VG, &bytes)
    }

    /// Adds a Vdata whose records lie one behind the other: fields by name, type, size of a number, and order.
    pub fn vdata(&mut self, name: &str, class: &str, fields: &[(&str, u16, u16, u16)], rows: &[u8]) -> u16 {
        let record: u16 = fields.iter().map(|field| field.2 * field.3).sum();
        let reference = self.reference();
        let count = rows.len() as u32 / u32::from(record);
        let mut bytes = vec![0, 0];
        bytes.extend(count.to_be_bytes());
        bytes.extend(record.to_be_bytes());
        bytes.extend((fields.len() as u16).to_be_bytes());
        bytes.extend(fields.iter().flat_map(|field| field.1.to_be_bytes()));
        bytes.extend(fields.iter().flat_map(|field| (field.2 * field.3).to_be_bytes()));
        let mut offset = 0;
        for field in fields {
            bytes.extend(u16::to_be_bytes(offset));
            offset += field.2 * field.3;
        }
        bytes.extend(fields.iter().flat_map(|field| field.3.to_be_bytes()));
        fields.iter().for_each(|field| bytes.extend(text_of(field.0)));
        bytes.extend(text_of(name));
        bytes.extend(text_of(class));
        bytes.extend([0, 0, 0, 0, 0, 3, 0, 0, 0]);
        self.put(tags::VH, reference, &bytes);
        self.put(tags::VS, reference, rows);
        reference
    }

    /// Adds a dimension, unlimited if it has no length.
    pub fn dim(&mut self, name: &str, len: Option<u32>) -> u16 {
        let field = [("Values", 24, 4, 1)];
        let value = self.vdata(name, "DimVal0.1", &field, &len.unwrap_or(1).to_be_bytes());
        let class = if len.is_some() { "Dim0.0" } else { "UDim0.0" };
        self.vgroup(name, class, &[(tags::VH, value)])
    }

    /// Adds an attribute.
    pub fn attribute(&mut self, name: &str, number: u16, size: u16, values: &[u8]) -> u16 {
        let order = if number == 4 { values.len() as u16 } else { 1 };
        self.vdata(name, "Attr0.0", &[("VALUES", number, size, order)], values)
    }

    /// Adds a dataset: its dimensions, the type, the object with its data, its attributes.
    pub fn dataset(
        &mut self,
        name: &str,
        dims: &[u16],
        number: [u8; 4],
        data: Option<u16>,
        attributes: &[u16],
    ) -> u16 {
        let number = self.add(tags::NT, &number);
        let mut members: Vec<(u16, u16)> = dims.iter().map(|&dim| (tags::VG, dim)).collect();
        members.extend(attributes.iter().map(|&attribute| (tags::VH, attribute)));
        members.push((tags::NT, number));
        members.extend(data.map(|data| (tags::SD, data)));
        let group = self.reference();
        members.push((tags::NDG, group));
        self.put(tags::NDG, group, &[]);
        self.vgroup(name, "Var0.0", &members)
    }

    /// Adds the Vgroup of all datasets, and returns its reference number.
    pub fn cdf(&mut self, dims: &[u16], vars: &[u16], attributes: &[u16]) -> u16 {
        let groups = dims.iter().chain(vars).map(|&at| (tags::VG, at));
        let members: Vec<(u16, u16)> = groups.chain(attributes.iter().map(|&at| (tags::VH, at))).collect();
        self.vgroup("file", "CDF0.0", &members)
    }

    /// Adds a chunked element of 16-bit integers with fill value -1: its shape, the shape of chunks, the compression header (if any), and
    /// the chunks by coordinates, each compressed already.
    pub fn chunked(
        &mut self,
        shape: &[u32],
        chunk: &[u32],
        compression: Option<&[u8]>,
        chunks: &[(Vec<u32>, Vec<u8>)],
    ) -> u16 {
        let decoded = 2 * chunk.iter().product::<u32>();
        let mut rows = vec![];
        for (origin, bytes) in chunks {
            let reference = match compression {
                None => self.add(tags::CHUNK, bytes),
                Some(compression) => {
                    let data = self.add(tags::COMPRESSED, bytes);
                    self.add(tags::CHUNK | SPECIAL, &compressed(decoded, data, compression))
                }
            };
            rows.extend(origin.iter().flat_map(|at| at.to_be_bytes()));
            rows.extend(tags::CHUNK.to_be_bytes());
            rows.extend(reference.to_be_bytes());
        }
        let fields = [("origin", 24, 4, shape.len() as u16), ("chk_tag", 23, 2, 1), ("chk_ref", 23, 2, 1)];
        let table = self.vdata("chunks", "_HDF_CHK_TBL_0", &fields, &rows);
        let mut rest = vec![0];
        rest.extend(if compression.is_some() { 3u32 } else { 0 }.to_be_bytes());
        rest.extend(shape.iter().product::<u32>().to_be_bytes());
        rest.extend(chunk.iter().product::<u32>().to_be_bytes());
        rest.extend(2u32.to_be_bytes());
        rest.extend([tags::VH.to_be_bytes(), table.to_be_bytes(), [0, 0], [0, 0]].concat());
        rest.extend((shape.len() as u32).to_be_bytes());
        for (len, chunk) in shape.iter().zip(chunk) {
            rest.extend([0u32.to_be_bytes(), len.to_be_bytes(), chunk.to_be_bytes()].concat());
        }
        rest.extend(2u32.to_be_bytes());
        rest.extend([0xff, 0xff]);
        let mut bytes = [&5u16.to_be_bytes()[..], &(rest.len() as u32).to_be_bytes(), &rest].concat();
        if let Some(compression) = compression {
            bytes.extend(3u16.to_be_bytes());
            bytes.extend((compression.len() as u32).to_be_bytes());
            bytes.extend(compression);
        }
        self.add(tags::SD | SPECIAL, &bytes)
    }

    /// Cuts the compressed bytes of all chunks and elements so far into linked blocks of `len` bytes, none of which lies right
    /// behind another one.
    pub fn link_compressed(&mut self, len: usize) {
        for number in 0..self.objects.len() {
            let (tag, reference, Some(bytes)) = self.objects[number].clone() else { continue };
            if tag != tags::COMPRESSED {
                continue;
            }
            let mut blocks = vec![];
            for block in bytes.chunks(len) {
                blocks.push(self.add(tags::LINKED, block));
                self.add(tags::RI8, &[0]);
            }
            let links: Vec<u8> = blocks.iter().flat_map(|block| block.to_be_bytes()).collect();
            let table = self.add(tags::LINKED, &[&[0, 0], &links[..]].concat());
            let numbers = [bytes.len(), len, blocks.len()].map(|number| (number as u32).to_be_bytes());
            let header = [&[0, 1][..], &numbers.concat(), &table.to_be_bytes()].concat();
            self.objects[number] = (tags::COMPRESSED | SPECIAL, reference, Some(header));
        }
    }

    /// Writes the file, with so many descriptors in a block.
    pub fn finish(self, per_block: usize) -> Vec<u8> {
        let mut file = SIGNATURE.to_vec();
        let mut link = None;
        let mut places = HashMap::new();
        for block in self.objects.chunks(per_block) {
            let at = file.len();
            if let Some(link) = link {
                file[link..link + 4].copy_from_slice(&(at as u32).to_be_bytes());
            }
            link = Some(at + 2);
            file.extend((per_block as u16).to_be_bytes());
            file.extend([0; 4]);
            let mut data = at + 6 + 12 * per_block;
            for (tag, reference, bytes) in block {
                file.extend([tag.to_be_bytes(), reference.to_be_bytes()].concat());
                let place = bytes.as_ref().map(|bytes| (data as u32, bytes.len() as u32));
                places.extend(place.map(|place| ((*tag, *reference), place)));
                let same = self.aliases.get(&(*tag, *reference)).and_then(|first| places.get(first).copied());
                let (offset, len) = place.or(same).unwrap_or((u32::MAX, u32::MAX));
                file.extend([offset.to_be_bytes(), len.to_be_bytes()].concat());
                data += bytes.as_ref().map_or(0, Vec::len);
            }
            for _ in block.len()..per_block {
                file.extend([0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
            }
            block.iter().filter_map(|object| object.2.as_ref()).for_each(|bytes| file.extend(bytes));
        }
        file
    }
}

fn text_of(text: &str) -> Vec<u8> {
    [&(text.len() as u16).to_be_bytes()[..], text.as_bytes()].concat()
}

/// The header of a compressed element.
pub fn compressed(decoded: u32, data: u16, compression: &[u8]) -> Vec<u8> {
    [&[0, 3, 0, 0][..], &decoded.to_be_bytes(), &data.to_be_bytes(), compression].concat()
}

/// The compression header of deflate with level 6, and of run lengths.
pub const DEFLATE: &[u8] = &[0, 0, 0, 4, 0, 6];
pub const RLE: &[u8] = &[0, 0, 0, 1];

/// The number type of 16-bit integers, big-endian and little-endian.
pub const INT16: [u8; 4] = [1, 22, 16, 1];
pub const INT16_PC: [u8; 4] = [1, 22, 16, 4];
