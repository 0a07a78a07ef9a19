//! Between the stored header and the data model.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_model::{Atomic, Attrs, Dim, DimId, GroupId, Model, Owner, Storage, Type, Var};

use crate::header::{Header, RawDim, RawVar, Version};
use crate::layout::Layout;

/// What a header says, with `records` as the length of the record dimension.
pub fn to_model(header: Header, records: u64) -> Result<Model> {
    let mut model = Model::new(header.version.format());
    let root = Owner::Group(GroupId::ROOT);
    for dim in header.dims {
        let unlimited = dim.len == 0;
        let len = if unlimited { records } else { dim.len };
        model.push_dim(Dim { name: dim.name, group: GroupId::ROOT, len, unlimited });
    }
    for attr in header.attrs {
        model.push_attr(root, attr);
    }
    model.reserve_vars(header.vars.len());
    for var in header.vars {
        let name = var.name;
        let mut dims = Vec::with_capacity(var.dims.len());
        for (place, &id) in var.dims.iter().enumerate() {
            let found =
                u32::try_from(id).ok().map(DimId).and_then(|id| Some((id, model.dims().get(id.index())?)));
            let Some((dim_id, dim)) = found else {
                let (there, what) = (model.dims().len(), "there are");
                let what = format!("variable {name}: dimension id {id}, {what} {there} dimensions");
                return Err(Error::new(Code::EBADDIM, what));
            };
            if dim.unlimited && place > 0 {
                let what = format!("variable {name}: the record dimension {} is not the first one", dim.name);
                return Err(Error::new(Code::EUNLIMPOS, what));
            }
            dims.push(dim_id);
        }
        let ty = Type::Atomic(atomic(var.nc_type)?);
        let (attrs, storage) = (Attrs::from(var.attrs), Storage::default());
        model.push_var(Var { name, group: GroupId::ROOT, ty, dims, attrs, storage });
    }
    Ok(model)
}

/// The header of a model; positions are given by [`place`].
pub fn to_header(model: &Model, version: Version, records: u64) -> Result<Header> {
    let dims = model.dims().iter().map(|dim| {
        let len = if dim.unlimited { 0 } else { dim.len };
        RawDim { name: dim.name.clone(), len }
    });
    let mut vars = Vec::with_capacity(model.vars().len());
    for var in model.vars() {
        let Type::Atomic(ty) = var.ty else {
            return Err(Error::new(Code::EBADTYPE, format!("variable {} has a user-defined type", var.name)));
        };
        vars.push(RawVar {
            name: var.name.clone(),
            dims: var.dims.iter().map(|dim| u64::from(dim.0)).collect(),
            attrs: var.attrs.iter().cloned().collect(),
            nc_type: u64::from(ty.nc_type()),
            vsize: 0,
            begin: 0,
        });
    }
    let attrs = model.attrs(Owner::Group(GroupId::ROOT)).iter().cloned().collect();
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
