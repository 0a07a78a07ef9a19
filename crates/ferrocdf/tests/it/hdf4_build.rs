//! HDF4 files that are made byte by byte: datasets, Vdatas, Vgroups and attributes, as the HDF4 library lays them out.

const NT: u16 = 106;
const SDD: u16 = 701;
const SD: u16 = 702;
const VS: u16 = 1963;
/// Tags of the members of Vgroups.
pub const NDG: u16 = 720;
pub const VH: u16 = 1962;
pub const VG: u16 = 1965;

/// `DFNT_*` codes of number types.
pub const CHAR: u16 = 4;
pub const FLOAT32: u16 = 5;
pub const INT32: u16 = 24;

/// Tag and reference number of an object.
pub type Object = (u16, u16);

/// A file in the making.
#[derive(Default)]
pub struct Hdf4File {
    /// Tag, reference number and bytes.
    objects: Vec<(u16, u16, Vec<u8>)>,
    /// The members of the Vgroup of the dataset interface.
    top: Vec<Object>,
    last: u16,
}

fn sized(bytes: &mut Vec<u8>, text: &[u8]) {
    bytes.extend((text.len() as u16).to_be_bytes());
    bytes.extend(text);
}

fn size_of_type(code: u16) -> u16 {
    if code == CHAR { 1 } else { 4 }
}

pub fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_be_bytes()).collect()
}

pub fn ints(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_be_bytes()).collect()
}

impl Hdf4File {
    fn next(&mut self) -> u16 {
        self.last += 1;
        self.last
    }

    fn add(&mut self, tag: u16, reference: u16, bytes: Vec<u8>) -> Object {
        self.objects.push((tag, reference, bytes));
        (tag, reference)
    }

    /// Adds a Vgroup.
    pub fn vgroup(&mut self, name: &str, class: &str, members: &[Object]) -> Object {
        let mut bytes = (members.len() as u16).to_be_bytes().to_vec();
        bytes.extend(members.iter().flat_map(|member| member.0.to_be_bytes()));
        bytes.extend(members.iter().flat_map(|member| member.1.to_be_bytes()));
        sized(&mut bytes, name.as_bytes());
        sized(&mut bytes, class.as_bytes());
        bytes.extend([0, 0, 0, 0, 0, 3, 0, 0, 0]);
        let reference = self.next();
        self.add(VG, reference, bytes)
    }

    /// Adds a Vdata with fields of a name, a type and an order; `records` are its bytes.
    pub fn vdata(
        &mut self,
        name: &str,
        class: &str,
        fields: &[(&str, u16, u16)],
        records: Vec<u8>,
    ) -> Object {
        let sizes: Vec<u16> = fields.iter().map(|field| size_of_type(field.1) * field.2).collect();
        let size: u16 = sizes.iter().sum();
        let mut bytes = vec![0, 0];
        bytes.extend((records.len() as u32 / u32::from(size)).to_be_bytes());
        bytes.extend(size.to_be_bytes());
        bytes.extend((fields.len() as u16).to_be_bytes());
        let offsets = sizes.iter().scan(0, |offset, size| Some(std::mem::replace(offset, *offset + size)));
        let numbers = fields.iter().map(|field| field.1).chain(sizes.iter().copied()).chain(offsets);
        bytes.extend(numbers.chain(fields.iter().map(|field| field.2)).flat_map(u16::to_be_bytes));
        fields.iter().for_each(|field| sized(&mut bytes, field.0.as_bytes()));
        sized(&mut bytes, name.as_bytes());
        sized(&mut bytes, class.as_bytes());
        bytes.extend([0, 0, 0, 0, 0, 3, 0, 0, 0]);
        let reference = self.next();
        self.add(VS, reference, records);
        self.add(VH, reference, bytes)
    }

    fn attribute(&mut self, name: &str, code: u16, bytes: Vec<u8>) -> Object {
        let order = bytes.len() as u16 / size_of_type(code);
        self.vdata(name, "Attr0.0", &[("VALUES", code, order)], bytes)
    }

    /// Adds an attribute of the file.
    pub fn file_attribute(&mut self, name: &str, text: &str) {
        let attribute = self.attribute(name, CHAR, text.as_bytes().to_vec());
        self.top.push(attribute);
    }

    /// Adds a dataset of big-endian floats with dimensions of a name and a length, and attributes of a name, a type and bytes.
    pub fn dataset(
        &mut self,
        name: &str,
        dims: &[(&str, u32)],
        values: &[f32],
        attributes: &[(&str, u16, Vec<u8>)],
    ) -> Object {
        let mut members = vec![];
        for (dim, len) in dims {
            let length = ints(&[*len as i32]);
            let length = self.vdata(dim, "DimVal0.1", &[("Values", INT32, 1)], length);
            members.push(self.vgroup(dim, "Dim0.0", &[length]));
        }
        self.top.extend(&members);
        for (name, code, bytes) in attributes {
            members.push(self.attribute(name, *code, bytes.clone()));
        }
        let reference = self.next();
        let number = self.add(NT, reference, vec![1, FLOAT32 as u8, 32, 1]);
        let mut shape = (dims.len() as u16).to_be_bytes().to_vec();
        shape.extend(dims.iter().flat_map(|dim| dim.1.to_be_bytes()));
        let numbers = std::iter::repeat_n(number, dims.len() + 1);
        shape.extend(numbers.flat_map(|(tag, reference)| [tag, reference]).flat_map(u16::to_be_bytes));
        let shape = self.add(SDD, reference, shape);
        let data = self.add(SD, reference, floats(values));
        let parts = [shape, data, number];
        let group =
            parts.iter().flat_map(|&(tag, reference)| [tag, reference]).flat_map(u16::to_be_bytes).collect();
        let group = self.add(NDG, reference, group);
        members.extend([data, number, shape, group]);
        let variable = self.vgroup(name, "Var0.0", &members);
        self.top.push(variable);
        group
    }

    /// Lists the datasets in the reverse order. Their bytes stay where they are.
    pub fn reverse(&mut self) {
        self.top.reverse();
    }

    /// Returns the bytes of the file.
    pub fn finish(mut self) -> Vec<u8> {
        let top = std::mem::take(&mut self.top);
        self.vgroup("file", "CDF0.0", &top);
        let count = self.objects.len();
        let mut file = vec![0x0e, 0x03, 0x13, 0x01];
        file.extend((count as u16).to_be_bytes());
        file.extend([0; 4]);
        let mut at = (file.len() + 12 * count) as u32;
        for (tag, reference, bytes) in &self.objects {
            file.extend([tag, reference].into_iter().flat_map(|number| number.to_be_bytes()));
            file.extend([at, bytes.len() as u32].into_iter().flat_map(u32::to_be_bytes));
            at += bytes.len() as u32;
        }
        self.objects.iter().for_each(|(_, _, bytes)| file.extend(bytes));
        file
    }
}
