//! "netcdf_file = header data": the header of a classic file, as it is stored.
//!
//! Numbers are kept as they stand in the file; their meaning is given in `convert` and `layout`. Attributes are the
//! model's: files have many of them, and opening one must not make each twice. Widths are the
//! format's: a count takes 4 bytes (8 in CDF-5), an offset 4 bytes in CDF-1 and 8 after it.
#![warn(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Code, Coder, Decoder, Encoder, Error, Order, Record, Result, ToUsize};
use ferrocdf_model::{Atomic, Attr, Format, Name};
use ferrocdf_store::Blob;

use crate::values::{self, Raw};

/// `NC_DIMENSION`, the tag of the list of dimensions.
const TAG_DIMENSION: u64 = 0x0A;
/// `NC_VARIABLE`, the tag of the list of variables.
const TAG_VARIABLE: u64 = 0x0B;
/// `NC_ATTRIBUTE`, the tag of a list of attributes.
const TAG_ATTRIBUTE: u64 = 0x0C;
/// Everything in a header is padded to this many bytes.
const UNIT: usize = 4;
/// What the list of a variable's dimensions is called in messages.
pub const DIMENSION_IDS: &str = "dimension id";
/// Where `numrecs` stands: behind the magic number.
pub const NUMRECS_AT: u64 = 4;

/// `VERSION`, the fourth byte of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Version {
    /// CDF-1, 32-bit offsets.
    #[default]
    Classic = 1,
    /// CDF-2, 64-bit offsets.
    Offset64 = 2,
    /// CDF-5, 64-bit counts and offsets, and six more types.
    Data64 = 5,
}

impl Version {
    /// Bytes of a count, a dimension id or a size (`NON_NEG`).
    pub fn count_width(self) -> usize {
        if self == Version::Data64 { 8 } else { 4 }
    }

    /// Bytes of a file position (`OFFSET`).
    pub fn offset_width(self) -> usize {
        if self == Version::Classic { 4 } else { 8 }
    }

    /// `STREAMING`: the record count that says "not known".
    pub fn streaming(self) -> u64 {
        if self == Version::Data64 { u64::MAX } else { u64::from(u32::MAX) }
    }

    /// The `vsize` of a variable too large for the field.
    pub fn largest_vsize(self) -> u64 {
        self.streaming()
    }

    /// The format of the data model.
    pub fn format(self) -> Format {
        match self {
            Version::Classic => Format::CLASSIC,
            Version::Offset64 => Format::OFFSET64,
            Version::Data64 => Format::DATA64,
        }
    }

    /// The version that stores a format; `None` if it is not a classic one.
    pub fn of(format: Format) -> Option<Version> {
        match format {
            Format::CLASSIC => Some(Version::Classic),
            Format::OFFSET64 => Some(Version::Offset64),
            Format::DATA64 => Some(Version::Data64),
            _ => None,
        }
    }
}

/// `header = magic numrecs dim_list gatt_list var_list`
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Header {
    /// The kind of classic file.
    pub version: Version,
    /// The number of records, or [`Version::streaming`].
    pub numrecs: u64,
    /// `dim_list`
    pub dims: Vec<RawDim>,
    /// `gatt_list`
    pub attrs: Vec<Attr>,
    /// `var_list`
    pub vars: Vec<RawVar>,
}

/// `dim = name dim_length`
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawDim {
    /// Its name.
    pub name: Name,
    /// Its length; 0 for the record dimension.
    pub len: u64,
}

/// `var = name nelems [dimid ...] vatt_list nc_type vsize begin`
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawVar {
    /// Its name.
    pub name: Name,
    /// Positions in the list of dimensions.
    pub dims: Vec<u64>,
    /// `vatt_list`
    pub attrs: Vec<Attr>,
    /// Its type, an `nc_type`.
    pub nc_type: u64,
    /// Bytes of the variable, or of one record of it, padded; redundant, so not used when reading.
    pub vsize: u64,
    /// Where its data starts.
    pub begin: u64,
}

impl Record for Header {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let mut magic = b"CDF".to_vec();
        c.bytes("magic number", 3, &mut magic)?;
        let mut version = self.version as u64;
        c.uint("version", 1, &mut version)?;
        self.version = match (&magic[..], version) {
            (b"CDF", 1) => Version::Classic,
            (b"CDF", 2) => Version::Offset64,
            (b"CDF", 5) => Version::Data64,
            _ => {
                let what = format!("magic number \"{}\" version {version}", magic.escape_ascii());
                return Err(Error::new(Code::ENOTNC, format!("{what} is not that of a classic netCDF file")));
            }
        };
        let version = self.version;
        c.uint("numrecs", version.count_width(), &mut self.numrecs)?;
        list(c, "dimension", TAG_DIMENSION, version, &mut self.dims, |dim, c| dim.fields(version, c))?;
        attr_list(c, version, &mut self.attrs)?;
        list(c, "variable", TAG_VARIABLE, version, &mut self.vars, |var, c| var.fields(version, c))
    }
}

impl RawDim {
    fn fields<C: Coder>(&mut self, version: Version, c: &mut C) -> Result<()> {
        name(c, version, &mut self.name)?;
        c.uint("dim_length", version.count_width(), &mut self.len)
    }
}

impl RawVar {
    fn fields<C: Coder>(&mut self, version: Version, c: &mut C) -> Result<()> {
        name(c, version, &mut self.name)?;
        let mut rank = self.dims.len() as u64;
        c.uint("rank", version.count_width(), &mut rank)?;
        let id = |id: &mut u64, c: &mut C| c.uint("dimid", version.count_width(), id);
        c.list(DIMENSION_IDS, rank, &mut self.dims, id)?;
        attr_list(c, version, &mut self.attrs)?;
        nc_type(c, version, &mut self.nc_type)?;
        c.uint("vsize", version.count_width(), &mut self.vsize)?;
        c.uint("begin", version.offset_width(), &mut self.begin)
    }
}

/// `attr = name nc_type nelems [values ...]`
fn attr<C: Coder>(attr: &mut Attr, version: Version, c: &mut C) -> Result<()> {
    name(c, version, &mut attr.name)?;
    let mut values =
        values::encode(&attr.value).map_err(|error| error.at(format_args!("attribute {}", attr.name)))?;
    let mut stored_type = attr.value.atomic().map_or(0, |atomic| u64::from(atomic.nc_type()));
    let mut count = attr.value.len() as u64;
    let atomic = nc_type(c, version, &mut stored_type)?;
    c.uint("nelems", version.count_width(), &mut count)?;
    let Some(len) = count.checked_mul(atomic.size() as u64) else {
        return Err(c.error(Code::ENOTNC, format!("attribute claims {count} values")));
    };
    c.bytes("attribute values", len, &mut values)?;
    c.pad(UNIT)?;
    if C::READS {
        attr.value = values::decode(atomic, values);
    }
    Ok(())
}

/// `name = nelems namestring`
fn name<C: Coder>(c: &mut C, version: Version, name: &mut Name) -> Result<()> {
    let mut bytes = Raw::from_slice(name.with_room());
    let mut len = bytes.len() as u64;
    c.uint("length of a name", version.count_width(), &mut len)?;
    c.bytes("name", len, &mut bytes)?;
    if C::READS {
        *name = Name::stored_in(bytes);
    }
    c.pad(UNIT)
}

/// `nc_type`, checked against the types the version knows.
fn nc_type<C: Coder>(c: &mut C, version: Version, value: &mut u64) -> Result<Atomic> {
    c.uint("nc_type", 4, value)?;
    match Atomic::from_nc_type(*value) {
        Some(atomic) if version.format().holds(atomic) => Ok(atomic),
        _ => {
            let kind = version.format().kind_name();
            Err(c.error(
                Code::EBADTYPE,
                format!("nc_type {value} before this byte is no type of {kind} files"),
            ))
        }
    }
}

/// `ABSENT | TAG nelems [item ...]`
fn list<C: Coder, T: Default>(
    c: &mut C,
    what: &'static str,
    tag: u64,
    version: Version,
    items: &mut Vec<T>,
    fields: impl FnMut(&mut T, &mut C) -> Result<()>,
) -> Result<()> {
    let mut stored_tag = if items.is_empty() { 0 } else { tag };
    let mut count = items.len() as u64;
    c.uint("tag of a list", 4, &mut stored_tag)?;
    c.uint("length of a list", version.count_width(), &mut count)?;
    if stored_tag != tag && (stored_tag != 0 || count != 0) {
        let why = format!("the list of {what}s before this byte has tag {stored_tag} and {count} entries");
        return Err(c.error(Code::ENOTNC, why));
    }
    c.list(what, count, items, fields)
}

fn attr_list<C: Coder>(c: &mut C, version: Version, attrs: &mut Vec<Attr>) -> Result<()> {
    list(c, "attribute", TAG_ATTRIBUTE, version, attrs, |item, c| attr(item, version, c))
}

impl Header {
    /// Bytes read at first when a header is looked for, or more where a request brings more for the same cost. Each further try has
    /// four times as many.
    const FIRST_READ: usize = 64 << 10;

    /// Reads the header of a file. Returns it and its size in bytes.
    pub fn read(blob: &dyn Blob) -> Result<(Header, u64)> {
        let size = blob.size()?;
        let mut len = (Self::FIRST_READ.max(blob.cost().window) as u64).min(size);
        let mut bytes = Vec::new();
        loop {
            // `len` is at most the file's size, which the store vouches for.
            let mut more = vec![0; len.to_usize("bytes of a header")?];
            let (known, rest) = more.split_at_mut(bytes.len());
            known.copy_from_slice(&bytes);
            blob.read_exact_at(known.len() as u64, rest)?;
            bytes = more;
            if holds_header(&bytes, len == size) {
                let mut header = Header::default();
                let mut decoder = Decoder::new(&bytes, Order::Big, true);
                header.fields(&mut decoder).map_err(|error| error.at("header"))?;
                return Ok((header, decoder.offset()));
            }
            len = len.saturating_mul(4).min(size);
        }
    }

    /// The header's bytes.
    pub fn encode(&mut self) -> Result<Vec<u8>> {
        let mut encoder = Encoder::new(Order::Big, 1024);
        self.fields(&mut encoder)?;
        Ok(encoder.finish())
    }
}

/// Whether decoding these bytes, the first of a file, gives its header or a true error, rather than an end too early.
fn holds_header(bytes: &[u8], is_whole_file: bool) -> bool {
    if is_whole_file {
        return true;
    }
    let mut skimmer = Decoder::skimming(bytes, Order::Big, false);
    Header::default().fields(&mut skimmer).is_ok() || !skimmer.needs_more()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrocdf_bytes::Sizer;
    use ferrocdf_model::Values;
    use ferrocdf_store::MemoryBlob;

    fn text(name: &str, text: impl Into<Vec<u8>>) -> Attr {
        Attr::new(Name::stored(name.as_bytes()), Values::Char(text.into()))
    }

    fn sample(version: Version) -> Header {
        let var = RawVar {
            name: Name::stored(b"v"),
            dims: vec![0, 1],
            attrs: vec![text("units", "m")],
            nc_type: 3,
            vsize: 8,
            begin: 999,
        };
        let dims = [(&b"t"[..], 0), (b"lon", 3)].map(|(name, len)| RawDim { name: Name::stored(name), len });
        Header { version, numrecs: 2, dims: dims.to_vec(), attrs: vec![text("units", "m")], vars: vec![var] }
    }

    #[test]
    fn written_headers_read_back() {
        for version in [Version::Classic, Version::Offset64, Version::Data64] {
            let mut header = sample(version);
            let bytes = header.encode().unwrap();
            assert_eq!(bytes.len() as u64, Sizer::size_of(&mut header).unwrap());
            assert_eq!(Header::read(&MemoryBlob::new(bytes.clone())).unwrap(), (header, bytes.len() as u64));
        }
    }

    #[test]
    fn widths_follow_the_version() {
        let sizes: Vec<_> = [Version::Classic, Version::Offset64, Version::Data64]
            .map(|version| sample(version).encode().unwrap().len())
            .to_vec();
        assert_eq!(sizes, [144, 148, 220]);
    }

    #[test]
    fn cut_anywhere_the_error_names_the_byte() {
        let bytes = sample(Version::Data64).encode().unwrap();
        for end in 0..bytes.len() {
            let error = Header::read(&MemoryBlob::new(bytes[..end].to_vec())).unwrap_err();
            assert_eq!(error.code, Code::ETRUNC, "{end}: {error}");
            assert!(error.what.contains("at byte"), "{error}");
        }
    }

    #[test]
    fn a_header_longer_than_the_first_read_is_found_whole() {
        let mut header = sample(Version::Classic);
        header.attrs.push(text("long", vec![b'x'; 300_000]));
        let bytes = header.encode().unwrap();
        assert_eq!(Header::read(&MemoryBlob::new(bytes)).unwrap().0, header);
    }

    #[test]
    fn counts_that_lie_do_not_allocate() {
        let mut bytes = sample(Version::Classic).encode().unwrap();
        bytes[12..16].copy_from_slice(&u32::MAX.to_be_bytes());
        assert_eq!(Header::read(&MemoryBlob::new(bytes)).unwrap_err().code, Code::ETRUNC);
    }
}
