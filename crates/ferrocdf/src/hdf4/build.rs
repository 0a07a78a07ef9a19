//! The model of the Scientific Datasets of a file.

use std::collections::HashMap;

use ferrocdf_array::{Kind, to_native};
use ferrocdf_bytes::{Order, Result};
use ferrocdf_codec::Step;
use ferrocdf_hdf4::sd::{Attribute, Datasets, Var as Dataset};
use ferrocdf_hdf4::{File, NumberType};
use ferrocdf_model::{
    Atomic, Attr, Attrs, Chunking, Container, DataModel, Dim, DimId, Endian, Filter, Format, GroupId, Model,
    Name, Owner, Storage, Values, Var,
};

use crate::elements::atomic_of;
use crate::unique_names::UniqueNames;

use super::DatasetVar;

/// Returns the model, and the datasets that groups of numeric data stand for.
pub(super) fn model(file: &File, datasets: &Datasets) -> Result<(Model, Vec<DatasetVar>)> {
    let mut model = Model::new(Format::new(Container::Hdf4, DataModel::Netcdf4));
    for attribute in &datasets.attributes {
        push_attribute(&mut model, Owner::Group(GroupId::ROOT), attribute);
    }
    let storages = file.for_each(&datasets.vars, |var| storage(file, var));
    let dims = Dimensions::of(datasets);
    let (mut known, mut names, mut dim_names) =
        (HashMap::new(), UniqueNames::default(), UniqueNames::default());
    let mut dataset_vars = vec![];
    for (var, storage) in datasets.vars.iter().zip(storages) {
        let own = var
            .dims
            .iter()
            .map(|&dim| dims.define(&mut model, &mut known, &mut dim_names, datasets, dim))
            .collect();
        let id = model.push_var(Var {
            name: names.take(&var.name),
            group: GroupId::ROOT,
            ty: atomic(var.number).into(),
            dims: own,
            attrs: Attrs::default(),
            // A dataset whose data cannot be found is a variable all the same, which fails when it is read.
            storage: storage.unwrap_or_default(),
        });
        for attribute in &var.attributes {
            push_attribute(&mut model, Owner::Var(id), attribute);
        }
        dataset_vars.extend(var.group.map(|(_, reference)| DatasetVar {
            reference,
            name: var.name.clone(),
            var: id,
        }));
    }
    Ok((model, dataset_vars))
}

/// The lengths of unlimited dimensions: those of the longest dataset on each.
struct Dimensions {
    records: HashMap<usize, u64>,
}

impl Dimensions {
    fn of(datasets: &Datasets) -> Dimensions {
        let mut records = HashMap::new();
        for var in &datasets.vars {
            for (&dim, &len) in var.dims.iter().zip(&var.shape) {
                let longest: &mut u64 = records.entry(dim).or_default();
                *longest = len.max(*longest);
            }
        }
        Dimensions { records }
    }

    /// Returns a dimension of the model. Two of the file that have the same name and length are one.
    fn define(
        &self,
        model: &mut Model,
        known: &mut HashMap<(Vec<u8>, Option<u64>), DimId>,
        names: &mut UniqueNames,
        datasets: &Datasets,
        number: usize,
    ) -> DimId {
        let dim = &datasets.dims[number];
        let len = dim.len.or_else(|| self.records.get(&number).copied()).unwrap_or(0);
        if let Some(&id) = known.get(&(dim.name.clone(), dim.len)) {
            if dim.len.is_none() && len > model.dim(id).len {
                model.set_dim_len(id, len);
            }
            return id;
        }
        let (name, group) = (names.take(&dim.name), GroupId::ROOT);
        let id = model.push_dim(Dim { name, group, len, unlimited: dim.len.is_none() });
        known.insert((dim.name.clone(), dim.len), id);
        id
    }
}

/// Adds an attribute; of two with the same name the first one counts.
pub(super) fn push_attribute(model: &mut Model, owner: Owner, attribute: &Attribute) {
    if model.find_attr(owner, &attribute.name).is_none() {
        let value = values(attribute.number, &attribute.bytes);
        model.push_attr(owner, Attr::new(Name::stored(&attribute.name), value));
    }
}

/// Returns the netCDF type of a number type.
pub(crate) fn atomic(number: NumberType) -> Atomic {
    atomic_of(number.stored.kind)
}

/// Returns stored numbers as values.
pub(crate) fn values(number: NumberType, bytes: &[u8]) -> Values {
    let order = number.stored.order;
    match number.stored.kind {
        Kind::I8 => Values::Byte(to_native(order, bytes)),
        Kind::U8 => Values::Ubyte(bytes.to_vec()),
        Kind::Char => Values::Char(bytes.to_vec()),
        Kind::I16 => Values::Short(to_native(order, bytes)),
        Kind::U16 => Values::Ushort(to_native(order, bytes)),
        Kind::I32 => Values::Int(to_native(order, bytes)),
        Kind::U32 => Values::Uint(to_native(order, bytes)),
        Kind::I64 => Values::Int64(to_native(order, bytes)),
        Kind::U64 => Values::Uint64(to_native(order, bytes)),
        Kind::F32 => Values::Float(to_native(order, bytes)),
        Kind::F64 => Values::Double(to_native(order, bytes)),
    }
}

/// Returns how a dataset is stored, in the words of the model. Coders that HDF5 has no number for are not among its filters.
pub(super) fn storage(file: &File, var: &Dataset) -> Result<Storage> {
    let arrangement = var.arrangement(file)?;
    let chunk = arrangement.chunk.filter(|chunk| !chunk.is_empty() && !chunk.contains(&0));
    let filter = |step: &Step| Some(Filter { id: step.id.hdf5()?, params: step.params.clone() });
    let endian = match var.number.stored.order {
        _ if var.number.size() == 1 => None,
        Order::Big => Some(Endian::Big),
        Order::Little => Some(Endian::Little),
    };
    Ok(Storage {
        filters: match &chunk {
            Some(_) => arrangement.steps.iter().filter_map(filter).collect(),
            None => vec![],
        },
        chunking: Some(chunk.map_or(Chunking::Contiguous, Chunking::Chunked)),
        endian,
        as_usual: true,
        ..Storage::default()
    })
}
