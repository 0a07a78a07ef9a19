//! Between the stored header and the data model.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_model::{
    Atomic, Attr, Attrs, Dim, DimId, GroupId, Model, Name, Owner, Storage, Type, Values, Var, each_values,
};

use crate::header::{DimRef, Header, Raw, RawAttr, RawDim, RawVar, Version};
use crate::layout::Layout;

/// What a header says, with `records` as the length of the record dimension.
pub fn to_model(header: Header, records: u64) -> Result<Model> {
    let mut model = Model::new(header.version.format());
    let root = Owner::Group(GroupId::ROOT);
    for dim in header.dims {
        let unlimited = dim.len == 0;
        let len = if unlimited { records } else { dim.len };
        model.push_dim(Dim { name: to_name(dim.name), group: GroupId::ROOT, len, unlimited });
    }
    for attr in header.attrs {
        model.push_attr(root, to_attr(attr)?);
    }
    for var in header.vars {
        let name = to_name(var.name);
        let mut dims = Vec::with_capacity(var.dims.len());
        for (place, &id) in var.dims.iter().enumerate() {
            let dim = usize::try_from(id.id).ok().and_then(|at| model.dims().get(at));
            let Some(dim) = dim else {
                let (there, what) = (model.dims().len(), "there are");
                let what = format!("variable {name}: dimension id {}, {what} {there} dimensions", id.id);
                return Err(Error::new(Code::EBADDIM, what));
            };
            if dim.unlimited && place > 0 {
                let what = format!("variable {name}: the record dimension {} is not the first one", dim.name);
                return Err(Error::new(Code::EUNLIMPOS, what));
            }
            // The id is a position in the list, which is in memory.
            dims.push(DimId(id.id as u32));
        }
        let mut attrs = Attrs::with_capacity(var.attrs.len());
        for attr in var.attrs {
            attrs.push(to_attr(attr)?);
        }
        let ty = Type::Atomic(atomic(var.nc_type)?);
        model.push_var(Var { name, group: GroupId::ROOT, ty, dims, attrs, storage: Storage::default() });
    }
    Ok(model)
}

/// The header of a model; positions are given by [`place`].
pub fn to_header(model: &Model, version: Version, records: u64) -> Result<Header> {
    let name = |name: &Name| Raw::from_slice(name.as_bytes());
    let dims = model.dims().iter().map(|dim| {
        let len = if dim.unlimited { 0 } else { dim.len };
        RawDim::new(version, name(&dim.name), len)
    });
    let mut vars = Vec::with_capacity(model.vars().len());
    for var in model.vars() {
        let dims = var.dims.iter().map(|dim| DimRef::new(version, u64::from(dim.0))).collect();
        let Type::Atomic(ty) = var.ty else {
            return Err(Error::new(Code::EBADTYPE, format!("variable {} has a user-defined type", var.name)));
        };
        let ty = u64::from(ty.nc_type());
        vars.push(RawVar::new(version, name(&var.name), dims, to_raw_attrs(version, &var.attrs)?, ty));
    }
    let attrs = to_raw_attrs(version, model.attrs(Owner::Group(GroupId::ROOT)))?;
    Ok(Header { version, numrecs: records, dims: dims.collect(), attrs, vars })
}

/// Writes the positions of a layout into a header.
pub fn place(header: &mut Header, layout: &Layout) {
    let version = header.version;
    for (var, place) in header.vars.iter_mut().zip(&layout.places) {
        let too_large = version != Version::Data64 && place.padded() > u64::from(u32::MAX) - 3;
        var.vsize = if too_large { version.largest_vsize() } else { place.padded() };
        var.begin = place.begin;
    }
}

fn atomic(nc_type: u64) -> Result<Atomic> {
    Atomic::from_nc_type(nc_type).ok_or_else(|| Error::new(Code::EBADTYPE, format!("nc_type {nc_type}")))
}

/// A name ends at its first zero byte, as it does for every C program; old writers padded names inside their length.
fn to_name(mut bytes: Raw) -> Name {
    if bytes.contains(&0) {
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(0);
        bytes.truncate(end);
    }
    Name::stored_in(bytes)
}

fn to_attr(attr: RawAttr) -> Result<Attr> {
    let value = decode(atomic(attr.nc_type)?, attr.values);
    Ok(Attr { name: to_name(attr.name), value })
}

fn to_raw_attrs(version: Version, attrs: &Attrs) -> Result<Vec<RawAttr>> {
    attrs
        .iter()
        .map(|attr| {
            let Some(atomic) = attr.value.atomic() else {
                let what = format!("attribute {} has a user-defined type", attr.name);
                return Err(Error::new(Code::EBADTYPE, what));
            };
            let (name, ty) = (Raw::from_slice(attr.name.as_bytes()), u64::from(atomic.nc_type()));
            Ok(RawAttr::new(version, name, ty, attr.value.len() as u64, encode(&attr.value)?.into()))
        })
        .collect()
}

/// Big-endian bytes as numbers.
macro_rules! numbers {
    ($bytes:expr, $number:ty) => {
        $bytes
            .chunks_exact(size_of::<$number>())
            .map(|bytes| <$number>::from_be_bytes(bytes.try_into().expect("a chunk of that size")))
            .collect()
    };
}

/// The bytes as a list of their own; long ones stay where they are.
fn to_vec(bytes: Raw) -> Vec<u8> {
    if bytes.spilled() { bytes.into_vec() } else { bytes.to_vec() }
}

fn decode(atomic: Atomic, bytes: Raw) -> Values {
    match atomic {
        Atomic::Byte => Values::Byte(numbers!(bytes, i8)),
        Atomic::Char | Atomic::String => Values::Char(to_vec(bytes)),
        Atomic::Short => Values::Short(numbers!(bytes, i16)),
        Atomic::Int => Values::Int(numbers!(bytes, i32)),
        Atomic::Float => Values::Float(numbers!(bytes, f32)),
        Atomic::Double => Values::Double(numbers!(bytes, f64)),
        Atomic::Ubyte => Values::Ubyte(to_vec(bytes)),
        Atomic::Ushort => Values::Ushort(numbers!(bytes, u16)),
        Atomic::Uint => Values::Uint(numbers!(bytes, u32)),
        Atomic::Int64 => Values::Int64(numbers!(bytes, i64)),
        Atomic::Uint64 => Values::Uint64(numbers!(bytes, u64)),
    }
}

/// The big-endian bytes of values. Fails with `NC_EBADTYPE` for strings and user-defined types.
pub fn encode(values: &Values) -> Result<Vec<u8>> {
    match values {
        Values::Char(bytes) | Values::Ubyte(bytes) => Ok(bytes.clone()),
        Values::String(_) | Values::User(..) => {
            Err(Error::new(Code::EBADTYPE, "classic files hold no strings and no user-defined types"))
        }
        numbers => Ok(ferrocdf_model::each_numbers!(numbers, list => {
            list.iter().flat_map(|number| number.to_be_bytes()).collect()
        }, _ => Vec::with_capacity(each_values!(numbers, list => list.len())))),
    }
}
