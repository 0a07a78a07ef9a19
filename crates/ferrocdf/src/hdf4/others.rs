//! Objects that are no Scientific Datasets as variables, by an option: Vdatas as tables of a compound type, rasters.

use std::ops::Range;

use ferrocdf_array::{Array, Selection};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_hdf4::sd::{Datasets, Var as Dataset, rasters};
use ferrocdf_hdf4::{File, Vdata, tags};
use ferrocdf_model::{
    Attrs, Chunking, Class, Dim, Field, GroupId, Model, Storage, Type, TypeId, UserType, Value, Values, Var,
};

use super::build::{atomic, values};
use super::skipped::tables;
use crate::driver::LocatedArray;
use crate::unique_names::UniqueNames;

/// An object that is a variable by an option.
pub(super) enum Other {
    Raster(Dataset),
    Table(Vdata, TypeId),
}

/// Adds the Vdatas and rasters of a file to a model, and returns them in the order of their variables. What cannot be read stays among the
/// skipped objects.
pub(super) fn add(model: &mut Model, file: &File, datasets: &mut Datasets) -> Vec<Other> {
    let (mut others, mut names) = (vec![], Taken::in_root(model));
    for raster in rasters(file) {
        match raster {
            Ok(raster) => {
                datasets.known.extend(raster.objects);
                let raster = raster.var;
                push(model, &mut names, &raster.name, atomic(raster.number).into(), &raster.shape);
                others.push(Other::Raster(raster));
            }
            Err(error) => datasets.unreadable.push(error),
        }
    }
    for (reference, vdata) in tables(file, datasets) {
        // A Vdata without fields has no records to show.
        let Some(vdata) = vdata.ok().filter(|vdata| !vdata.fields.is_empty()) else { continue };
        datasets.known.insert((tags::VH, reference));
        let id = push_type(model, &mut names.objects, &vdata);
        push(model, &mut names, &vdata.name, Type::User(id), &[vdata.records]);
        others.push(Other::Table(vdata, id));
    }
    others
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

/// Adds a variable with dimensions of its own.
fn push(model: &mut Model, names: &mut Taken, name: &[u8], ty: Type, shape: &[u64]) {
    let name = names.objects.take(name);
    let group = GroupId::ROOT;
    let mut dims = vec![];
    for (at, &len) in shape.iter().enumerate() {
        let name = names.dims.take(&[name.as_bytes(), format!("_{at}").as_bytes()].concat());
        dims.push(model.push_dim(Dim { name, group, len, unlimited: false }));
    }
    let storage = Storage { chunking: Some(Chunking::Contiguous), ..Storage::default() };
    model.push_var(Var { name, group, ty, dims, attrs: Attrs::default(), storage });
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

impl Other {
    /// Returns the array of a raster.
    pub(super) fn array(&self, file: &File, shape: Vec<u64>) -> Result<LocatedArray> {
        match self {
            Other::Raster(raster) => {
                let located = raster.locate(file, shape)?;
                Ok(LocatedArray { array: located.array, blob: located.blob })
            }
            // Records are read as values; this is what a copy asks to see whether they are chunks.
            Other::Table(vdata, _) => {
                let bytes = file.bytes(tags::VS, vdata.reference)?.unwrap_or_default();
                let number = ferrocdf_array::Stored::native(ferrocdf_array::Kind::U8);
                Ok(Array::inline(vec![vdata.records, vdata.record_size], number, bytes).into())
            }
        }
    }

    /// Reads the selected records of a table.
    pub(super) fn values(&self, file: &File, selection: &Selection) -> Result<Values> {
        let Other::Table(vdata, id) = self else {
            return Err(Error::new(Code::EBADTYPE, "a raster holds numbers"));
        };
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
        Ok(Values::User(*id, rows.collect::<Result<_>>()?))
    }
}
