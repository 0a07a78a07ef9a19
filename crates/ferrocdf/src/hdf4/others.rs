//! Objects that are no Scientific Datasets as variables, by an option: Vdatas as tables of a compound type, rasters.

use std::collections::HashMap;
use std::ops::Range;

use ferrocdf_array::{Array, Selection};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_hdf4::sd::{Attribute, AttributeName, Datasets, Rasters, Var as Dataset, attributes};
use ferrocdf_hdf4::{File, Vdata, tags};
use ferrocdf_model::{
    Attrs, Chunking, Class, Dim, Field, GroupId, Model, Owner, Storage, Type, TypeId, UserType, Value,
    Values, Var, VarId,
};

use super::build::{atomic, push_attribute, storage, values};
use super::skipped::tables;
use crate::driver::{LocatedArray, StoredSize};
use crate::unique_names::UniqueNames;

const ROOT: Owner = Owner::Group(GroupId::ROOT);

/// An object that is a variable by an option.
pub(super) enum Other {
    Raster(Dataset),
    Table(Table),
}

/// A Vdata, and the type of its records.
pub(super) struct Table {
    vdata: Vdata,
    ty: TypeId,
}

/// Adds the Vdatas and rasters of a file to a model, and returns them in the order of their variables. A raster that cannot be read is
/// among the unreadable datasets then.
pub(super) fn add(model: &mut Model, file: &File, datasets: &mut Datasets) -> Vec<Other> {
    let (mut others, mut names) = (vec![], Taken::in_root(model));
    let Rasters { rasters, attributes: of_file, unreadable } = Rasters::read(file);
    datasets.unreadable.extend(unreadable);
    let mut attribute_names: UniqueNames = model.attrs(ROOT).iter().map(|attr| &attr.name).collect();
    for attribute in of_file {
        let name = attribute_names.take(&attribute.name);
        push_attribute(model, ROOT, &Attribute { name: name.as_bytes().to_vec(), ..attribute });
    }
    for raster in rasters {
        let raster = match raster {
            Ok(raster) => raster,
            Err(error) => {
                datasets.unreadable.push(error);
                continue;
            }
        };
        datasets.unreadable.extend(raster.unreadable);
        let lens: Vec<(&str, u64)> = raster.axes.into_iter().zip(raster.var.shape.iter().copied()).collect();
        let storage = file.for_each(&[()], |()| storage(file, &raster.var)).pop();
        let ty = atomic(raster.var.number).into();
        let id = push(model, &mut names, &raster.var.name, ty, &lens, storage.and_then(Result::ok));
        raster.attributes.iter().for_each(|attribute| push_attribute(model, Owner::Var(id), attribute));
        others.push(Other::Raster(raster.var));
    }
    // A Vdata without fields has no records to show.
    let with_fields = |vdata: Result<Vdata>| vdata.ok().filter(|vdata| !vdata.fields.is_empty());
    let vdatas: Vec<Vdata> =
        tables(file, datasets).into_iter().filter_map(|(_, vdata)| with_fields(vdata)).collect();
    let found = file.for_each(&vdatas, |vdata| vdata.check_records(file));
    for (vdata, found) in vdatas.into_iter().zip(found) {
        datasets.known.insert((tags::VH, vdata.reference));
        if let Err(error) = found {
            datasets.unreadable.push(error);
            continue;
        }
        let ty = push_type(model, &mut names.objects, &vdata);
        let id = push(model, &mut names, &vdata.name, Type::User(ty), &[("records", vdata.records)], None);
        let own: Vec<u16> = vdata.attributes.iter().map(|of| of.reference).collect();
        let fields: HashMap<u16, Option<usize>> =
            vdata.attributes.iter().rev().map(|of| (of.reference, of.field)).collect();
        for (reference, found) in attributes(file, vdata.reference, &own, AttributeName::OfVdata) {
            let field = fields.get(&reference).copied().flatten();
            match found {
                Ok(found) => push_attribute(model, Owner::Var(id), &of_field(&vdata, field, found)),
                Err(error) => datasets.unreadable.push(error),
            }
        }
        others.push(Other::Table(Table { vdata, ty }));
    }
    others
}

/// Returns an attribute of a Vdata or of one of its fields, whose name is then before that of the attribute.
fn of_field(vdata: &Vdata, field: Option<usize>, attribute: Attribute) -> Attribute {
    match field.and_then(|field| vdata.fields.get(field)) {
        Some(field) => Attribute { name: [&field.name[..], b".", &attribute.name].concat(), ..attribute },
        None => attribute,
    }
}

/// The names of variables and types, and those of dimensions.
struct Taken {
    objects: UniqueNames,
    dims: UniqueNames,
}

impl Taken {
    /// Returns the names that the root group of a model has, which has variables and dimensions alone.
    fn in_root(model: &Model) -> Taken {
        Taken {
            objects: model.vars().iter().map(|var| &var.name).collect(),
            dims: model.dims().iter().map(|dim| &dim.name).collect(),
        }
    }
}

/// Adds a variable with dimensions of its own: what each counts, and its length.
fn push(
    model: &mut Model,
    names: &mut Taken,
    name: &[u8],
    ty: Type,
    lens: &[(&str, u64)],
    storage: Option<Storage>,
) -> VarId {
    let name = names.objects.take(name);
    let group = GroupId::ROOT;
    let mut dims = vec![];
    for &(axis, len) in lens {
        let name = names.dims.take(&[name.as_bytes(), b"_", axis.as_bytes()].concat());
        dims.push(model.push_dim(Dim { name, group, len, unlimited: false }));
    }
    let contiguous = || Storage { chunking: Some(Chunking::Contiguous), ..Storage::default() };
    let storage = storage.unwrap_or_else(contiguous);
    model.push_var(Var { name, group, ty, dims, attrs: Attrs::default(), storage })
}

/// Adds the type of the records of a Vdata: fields one behind the other, as C aligns them.
fn push_type(model: &mut Model, names: &mut UniqueNames, vdata: &Vdata) -> TypeId {
    let (mut fields, mut end, mut widest): (Vec<Field>, usize, usize) = (vec![], 0, 1);
    let mut field_names = UniqueNames::default();
    for field in &vdata.fields {
        let size = field.number.size();
        let order = usize::try_from(field.order).unwrap_or(0);
        let name = field_names.take(&field.name);
        end = end.next_multiple_of(size);
        let shape = if order == 1 { vec![] } else { vec![order] };
        let ty = atomic(field.number).into();
        fields.push(Field { name, offset: end, ty, shape, chars: 1 });
        end += size * order;
        widest = widest.max(size);
    }
    let name = names.take(&[&vdata.name[..], b"_t"].concat());
    let class = Class::Compound { size: end.next_multiple_of(widest), fields };
    model.push_type(UserType { name, group: GroupId::ROOT, class })
}

impl Table {
    /// Returns the size of the records.
    pub(super) fn stored_size(&self, file: &File) -> Result<StoredSize> {
        Ok(StoredSize { bytes: Some(self.vdata.size(file)?), chunks: None })
    }

    /// Returns the bytes of the records: they are read as values, and a copy asks for this to see whether they are chunks.
    pub(super) fn array(&self, file: &File) -> Result<LocatedArray> {
        let vdata = &self.vdata;
        let bytes = file.bytes(tags::VS, vdata.reference)?.unwrap_or_default();
        let number = ferrocdf_array::Stored::native(ferrocdf_array::Kind::U8);
        Ok(Array::inline(vec![vdata.records, vdata.record_size], number, bytes).into())
    }

    /// Reads the selected records.
    pub(super) fn values(&self, file: &File, selection: &Selection) -> Result<Values> {
        let Table { vdata, ty } = self;
        let bytes = file.bytes(tags::VS, vdata.reference)?.unwrap_or_default();
        let columns: Vec<Vec<u8>> = vdata.fields.iter().map(|field| vdata.values_in(&bytes, field)).collect();
        let cell = |field: usize, row: u64| -> Result<Value> {
            let described = &vdata.fields[field];
            let cut = || -> Option<Range<usize>> {
                let start = usize::try_from(row.checked_mul(described.size)?).ok()?;
                Some(start..start.checked_add(usize::try_from(described.size).ok()?)?)
            };
            let bytes = cut().and_then(|range| columns[field].get(range));
            let bytes = bytes.ok_or_else(|| {
                let name = vdata.name.escape_ascii();
                Error::new(Code::ETRUNC, format!("Vdata \"{name}\": record {row} is not in the file"))
            })?;
            Ok(Value::Atomic(values(described.number, bytes)))
        };
        let (start, count, stride) = (selection.start[0], selection.count[0], selection.stride[0]);
        let rows = (0..count).map(|number| {
            let row = start + number * stride;
            (0..vdata.fields.len())
                .map(|field| cell(field, row))
                .collect::<Result<Vec<_>>>()
                .map(Value::Compound)
        });
        Ok(Values::User(*ty, rows.collect::<Result<_>>()?))
    }
}
