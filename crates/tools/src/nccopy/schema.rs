//! What the copy defines.

use std::collections::{HashMap, HashSet};

use ferrocdf::model::{Chunking, Class, Field, Filter, Storage, StoredFill, UserType};
use ferrocdf::spec::Spec;
use ferrocdf::{
    Code, Container, DimId, Error, File, Format, GroupId, Model, Owner, Result, Type, Values, VarId,
};

use super::Stop;
use super::options::{Choice, Options};
use super::{chunkspec, codecs, shardspec};
use crate::kinds::is_zarr;

/// What is copied.
#[derive(Default)]
pub struct Wanted {
    /// The variables with their data.
    pub vars: HashSet<VarId>,
    /// Those of the variables with elements that were never written. They keep small chunks, which can be left out of a
    /// netCDF-4 copy.
    pub in_part: HashSet<VarId>,
    /// True if the arrays of a Zarr copy have the fill values of those of the source, also where no attribute tells them.
    pub keeps_zarr_fill: bool,
    /// Variables that would be copied if their data could be read. They are not defined.
    unreadable: HashSet<VarId>,
    /// The groups.
    groups: HashSet<GroupId>,
}

/// What the options ask for. Fails if something is not there.
pub fn wanted(model: &Model, options: &Options) -> Result<Wanted, Stop> {
    let mut vars: HashSet<VarId> = match &options.vars {
        None => model.var_ids().collect(),
        Some(choice) => {
            let mut found = HashSet::new();
            for name in &choice.names {
                let these = named(model, name);
                if these.is_empty() {
                    return Err(Stop::Said(format!("{}: No such variable", String::from_utf8_lossy(name))));
                }
                found.extend(these);
            }
            found
        }
    };
    let mut groups: HashSet<GroupId> = model.group_ids().collect();
    if let Some(choice) = &options.groups {
        if !model.format().is_enhanced() {
            return Err(Stop::Said("Group list (-g ...) only permitted for netCDF-4 file".to_string()));
        }
        let named = named_groups(model, choice)?;
        vars.retain(|&var| named.contains(&model.var(var).group));
        if !choice.keep_definitions {
            groups = with_what_is_needed(model, named, &vars);
        }
    }
    Ok(Wanted { vars, groups, ..Wanted::default() })
}

impl Wanted {
    /// Leaves out the variables whose data cannot be read. Returns the reason for the first one.
    ///
    /// # Errors
    /// That reason, if the options name the variable.
    pub fn leave_out_unreadable(&mut self, input: &File, options: &Options) -> Result<Option<Error>> {
        let mut first = None;
        for var in input.model().var_ids().filter(|var| self.vars.contains(var)).collect::<Vec<_>>() {
            let Some(error) = input.unreadable_data(var) else { continue };
            if options.vars.is_some() {
                return Err(error);
            }
            self.vars.remove(&var);
            self.unreadable.insert(var);
            first.get_or_insert(error);
        }
        Ok(first)
    }
}

/// These groups with those around them, and those of types, which any variable may be of, and of the variables' dimensions.
fn with_what_is_needed(model: &Model, groups: HashSet<GroupId>, vars: &HashSet<VarId>) -> HashSet<GroupId> {
    let of_types = model.types().iter().map(|ty| ty.group);
    let of_dims = vars.iter().flat_map(|&var| &model.var(var).dims).map(|&dim| model.dim(dim).group);
    let all = groups.into_iter().chain(of_types).chain(of_dims).chain([GroupId::ROOT]);
    all.flat_map(|group| model.and_parents(group)).collect()
}

/// The variables that a name means: that of a path, or those of this name in any group. Classic files have no paths.
fn named(model: &Model, name: &[u8]) -> Vec<VarId> {
    if model.format().has_cdf_model() {
        return model.find_var(GroupId::ROOT, name).into_iter().collect();
    }
    if name.contains(&b'/') {
        return model.find_var_at(name).into_iter().collect();
    }
    model.group_ids().filter_map(|group| model.find_var(group, name)).collect()
}

/// Groups by path or by name.
fn named_groups(model: &Model, choice: &Choice) -> Result<HashSet<GroupId>, Stop> {
    let mut wanted = HashSet::new();
    for name in &choice.names {
        let text = String::from_utf8_lossy(name);
        let is_named = |&id: &GroupId| match name.first() {
            Some(b'/') => model.group_path(id) == text,
            _ => model.group(id).name.as_bytes() == name,
        };
        let found: Vec<GroupId> = model.group_ids().filter(is_named).collect();
        if found.is_empty() {
            return Err(Stop::Said(format!("{text}: No such group")));
        }
        wanted.extend(found);
    }
    Ok(wanted)
}

/// What groups, dimensions and types of the source are in the target.
#[derive(Default)]
struct Ids {
    groups: HashMap<GroupId, GroupId>,
    dims: HashMap<DimId, DimId>,
    types: HashMap<u32, Type>,
}

impl Ids {
    fn ty(&self, ty: Type) -> Type {
        match ty {
            Type::User(id) => self.types.get(&id.0).copied().unwrap_or(ty),
            atomic => atomic,
        }
    }

    fn values(&self, values: &Values) -> Values {
        match values {
            Values::User(id, list) => match self.ty(Type::User(*id)) {
                Type::User(id) => Values::User(id, list.clone()),
                Type::Atomic(_) => values.clone(),
            },
            values => values.clone(),
        }
    }
}

/// Defines in `target` what the copy is to hold. Returns the variables that are there in both.
pub fn copy(
    source: &Model,
    target: &mut Model,
    options: &Options,
    wanted: &Wanted,
) -> Result<Vec<(VarId, VarId)>> {
    let holds_not = |what: &str| format!("{} files hold no {what}", target.format().kind_name());
    if wanted.groups.len() > 1 && !target.format().is_enhanced() {
        return Err(Error::new(Code::ENOGRP, holds_not("groups")));
    }
    if !source.types().is_empty() && !target.format().is_enhanced() {
        let is_strict = target.format() == Format::NETCDF4_CLASSIC;
        let code = if is_strict { Code::ESTRICTNC3 } else { Code::ENOTNC4 };
        return Err(Error::new(code, holds_not("user-defined types")));
    }
    let mut ids = Ids::default();
    for group in source.group_ids().filter(|group| wanted.groups.contains(group)) {
        let from = source.group(group);
        let to = match from.parent {
            Some(parent) => target.def_group(ids.groups[&parent], from.name.as_bytes())?,
            None => GroupId::ROOT,
        };
        ids.groups.insert(group, to);
    }
    for (number, ty) in (0..).zip(source.types()) {
        let (name, group) = (ty.name.clone(), ids.groups[&ty.group]);
        let class = same_class(&ty.class, &ids);
        ids.types.insert(number, Type::User(target.def_type(UserType { name, group, class })?));
    }
    for (number, dim) in (0..).map(DimId).zip(source.dims()) {
        let Some(&group) = ids.groups.get(&dim.group) else { continue };
        // A dimension of length 0 is unlimited in classic files, whatever was asked for.
        let fixed = (!dim.unlimited || options.fix_unlimited) && dim.len > 0;
        ids.dims.insert(number, target.def_dim(group, dim.name.as_bytes(), fixed.then_some(dim.len))?);
    }
    for group in source.group_ids() {
        let Some(&to) = ids.groups.get(&group) else { continue };
        copy_attrs(source, Owner::Group(group), target, Owner::Group(to), &ids)?;
    }
    let keeps = |choice: &Option<Choice>| choice.as_ref().is_none_or(|choice| choice.keep_definitions);
    let all_definitions = keeps(&options.vars) && keeps(&options.groups);
    let mut pairs = vec![];
    let is_defined =
        |var: &VarId| all_definitions && !wanted.unreadable.contains(var) || wanted.vars.contains(var);
    for var in source.var_ids().filter(is_defined) {
        let from = source.var(var);
        // The groups of the dimensions are among those that are wanted.
        let dims: Vec<DimId> = from.dims.iter().map(|dim| ids.dims[dim]).collect();
        let group = ids.groups[&from.group];
        let to = target.def_var(group, from.name.as_bytes(), ids.ty(from.ty), &dims)?;
        copy_attrs(source, Owner::Var(var), target, Owner::Var(to), &ids)?;
        if !target.format().has_cdf_model() {
            choose_storage(source, var, target, to, options, wanted.in_part.contains(&var))?;
            let fill = from.storage.zarr.fill.as_ref().filter(|_| wanted.keeps_zarr_fill);
            target.var_mut(to).storage.fill = fill.map(|value| StoredFill::Value(ids.values(value)));
        }
        pairs.push((var, to));
    }
    Ok(pairs)
}

/// A class whose parts are types of the target.
fn same_class(class: &Class, ids: &Ids) -> Class {
    match class {
        Class::Compound { size, fields } => {
            let field = |field: &Field| Field { ty: ids.ty(field.ty), ..field.clone() };
            Class::Compound { size: *size, fields: fields.iter().map(field).collect() }
        }
        Class::Vlen(base) => Class::Vlen(ids.ty(*base)),
        Class::Opaque(_) | Class::Enum { .. } => class.clone(),
    }
}

/// Bytes of a chunk of HDF4 above which it is copied in smaller chunks, and bytes of these. Compressed data without chunks is one chunk.
const LARGE_CHUNK: u64 = 32 << 20;
const PART_OF_CHUNK: u64 = 4 << 20;

/// Returns the shape of chunks that take the place of large ones of HDF4, since programs that read one value of the copy decode a whole chunk
/// for it. Each is a run of bytes of a large one, so that this fills them one by one: it can only be decoded from its front.
fn parts_of_large_chunks(source: &Model, var: VarId) -> Option<Vec<u64>> {
    let Some(Chunking::Chunked(chunk)) = &source.var(var).storage.chunking else { return None };
    let size = source.size_of(source.var(var).ty) as u64;
    let bytes = chunk.iter().fold(size, |bytes, &len| bytes.saturating_mul(len));
    if source.format().container() != Container::Hdf4 || bytes <= LARGE_CHUNK {
        return None;
    }
    let mut fit = PART_OF_CHUNK / size.max(1);
    let mut part = chunk.clone();
    for (len, &longest) in part.iter_mut().zip(&source.shape(var)).rev() {
        *len = (*len).min(longest).min(fit).max(1);
        fit /= *len;
    }
    Some(part)
}

/// How a variable of a netCDF-4 file is stored: as it was, but for what the options say.
fn choose_storage(
    source: &Model,
    var: VarId,
    target: &mut Model,
    to: VarId,
    options: &Options,
    is_in_part: bool,
) -> Result<()> {
    let mut storage = source.var(var).storage.clone();
    if source.format().has_cdf_model() {
        storage.chunking = None;
    }
    if let Some(parts) = parts_of_large_chunks(source, var) {
        storage.chunking = Some(Chunking::Chunked(parts));
    }
    // Every element of the copy is written. So an array of Zarr needs no fill value, which xarray takes for missing.
    if !options.keeps_fill {
        storage.no_fill = target.var(to).storage.no_fill || is_zarr(target.format());
    }
    codecs::carry(&mut storage, source.format(), target.format());
    // Of the parameters that filters learn, each learns anew.
    if let Some(shuffle) = storage.filters.iter_mut().find(|filter| filter.id == Filter::SHUFFLE) {
        shuffle.params.clear();
    }
    let (filters, chunking) = (storage.filters.clone(), storage.chunking.clone());
    // Where values are not, the reference ends with an error.
    let is_flat = source.is_flat(source.var(var).ty);
    let dims = target.var(to).dims.clone();
    let wished = wished_filters(source, var, options).filter(|_| !dims.is_empty());
    let refused = wished.as_ref().map_or(options.no_filters, Vec::is_empty);
    match &wished {
        Some(_) => storage.filters.clear(),
        None if options.no_filters => storage.filters.clear(),
        // Another level is another compression, of which the elements' checksum is no part.
        None if options.deflate.is_some() && is_flat => {
            storage.filters.retain(|filter| filter.id == Filter::FLETCHER32);
        }
        None => {}
    }
    if replaces_filters(source, var, options) {
        storage.named_codecs.clear();
    }
    let by_level = options.deflate.filter(|&level| level > 0 && is_flat && !dims.is_empty() && !refused);
    target.var_mut(to).storage.filters.clear();
    for spec in wished.iter().flatten() {
        let at = |error: Error| error.at_path(source.var_path(var));
        let filter = Filter { id: spec.hdf5_id().map_err(at)?, params: spec.params.clone() };
        ferrocdf::define_filter(target, to, filter.id, &filter.params)
            .and_then(|()| ferrocdf::check_filter(&filter))
            .map_err(at)?;
        storage.set_filter(filter.id, filter.params);
    }
    if let Some(level) = by_level {
        storage.set_filter(Filter::DEFLATE, vec![level.into()]);
        if options.shuffle {
            storage.set_filter(Filter::SHUFFLE, vec![]);
        }
    }
    let grows = dims.iter().any(|&dim| target.dim(dim).unlimited);
    let must_chunk = grows || !storage.filters.is_empty();
    // Small chunks become one run, or, if filters ask for chunks, those that are made by default; not those that parameters
    // of plugins were set for or that nobody can unpack, and not those that the variable's name asks for.
    let is_bound =
        |filter: &Filter| ferrocdf::plugins::derives(filter.id) || !ferrocdf::plugins::has_filter(filter.id);
    let keeps = storage.filters == filters && filters.iter().any(is_bound);
    let both_zarr = is_zarr(source.format()) && is_zarr(target.format());
    // The chunks of a Zarr store stay, be they as small as they may.
    let is_own =
        |shape: &[u64]| both_zarr && matches!(&chunking, Some(Chunking::Chunked(own)) if own == shape);
    let is_small = |shape: &[u64]| {
        !grows && !is_own(shape) && chunkspec::is_small(source, var, shape, options.least_chunk)
    };
    // Of those about dimensions the last counts; of those about the variable the first, and before the others.
    let (of_var, of_dims): (Vec<_>, Vec<_>) =
        options.chunkspecs.iter().partition(|spec| spec.contains(&b':'));
    let wanted = |spec: &Vec<u8>| chunkspec::wanted(source, var, spec, options.fix_unlimited);
    let mut by_dims = of_dims.into_iter().next_back().map(wanted).transpose()?.flatten();
    let mut by_name = match options.chunk_shapes.get(&var) {
        Some(shape) => Some(Chunking::Chunked(shape.clone())),
        None => of_var.into_iter().find_map(|spec| wanted(spec).transpose()).transpose()?,
    };
    // Zero asks for the size that is known otherwise: of the dimension, or as the input has it.
    fill_zeros(&mut by_dims, [&storage.chunking, &source.var(var).storage.chunking]);
    fill_zeros(&mut by_name, [&by_dims, &source.var(var).storage.chunking]);
    let chosen = Chunking::Chunked(ferrocdf::chosen_chunks(target, to, &vec![0; dims.len()]));
    fill_zeros(&mut by_dims, [&Some(chosen), &None]);
    match by_dims {
        Some(Chunking::Chunked(shape)) if keeps && is_small(&shape) => {}
        Some(Chunking::Contiguous) if must_chunk => {}
        Some(chunking) => storage.chunking = Some(chunking),
        None => {}
    }
    let keeps_small = keeps || (is_in_part && storage.chunking == chunking);
    if let (Some(Chunking::Chunked(shape)), false) = (&storage.chunking, keeps_small)
        && is_small(shape)
    {
        storage.chunking = (!must_chunk).then_some(Chunking::Contiguous);
    }
    match by_name {
        Some(Chunking::Contiguous | Chunking::Compact) if must_chunk => {}
        Some(chunking) => storage.chunking = Some(chunking),
        None => {}
    }
    if let Some(Chunking::Chunked(shape)) = &mut storage.chunking {
        if shape.contains(&0) {
            *shape = ferrocdf::chosen_chunks(target, to, shape);
        }
        // A dimension that is fixed now may be shorter than a chunk was. Of Zarr that may be so.
        for (chunk, &dim) in shape.iter_mut().zip(&dims).filter(|_| !both_zarr) {
            let dim = target.dim(dim);
            if !dim.unlimited {
                *chunk = (*chunk).min(dim.len).max(1);
            }
        }
    }
    // Plugins do not take parameters that they have set as ones that they are to set.
    storage.settled = storage.as_usual && storage.filters == filters && storage.chunking == chunking;
    // A Zarr store has those that a user gave.
    let learned = |filter: &&Filter| {
        !is_zarr(source.format()) && ferrocdf::plugins::derives(filter.id) && filters.contains(filter)
    };
    if let (false, true, Some(filter)) =
        (storage.settled, wished.is_none(), storage.filters.iter().find(learned))
    {
        let (id, path) = (filter.id, source.var_path(var));
        let what = format!(
            "the parameters of filter {id} were set for other chunks or elements; say it anew, with -F \"{path},{id},...\", or \
             take it away, with -F \"{path},none\""
        );
        return Err(Error::new(Code::EFILTER, what).at(path));
    }
    target.var_mut(to).storage = storage;
    shardspec::choose(source, var, (target, to), options.shardspec.as_deref())
}

/// True if the options say which filters the copy of a variable has.
pub fn replaces_filters(source: &Model, var: VarId, options: &Options) -> bool {
    let is_flat = source.is_flat(source.var(var).ty);
    options.no_filters
        || (options.deflate.is_some() && is_flat)
        || (wished_filters(source, var, options).is_some() && !source.var(var).dims.is_empty())
}

/// Whether a filter that keeps some digits of the differences in a chunk packs what it has packed before, in other chunks.
pub fn is_rounded_again(source: &Model, target: &Model, &(var, to): &(VarId, VarId)) -> bool {
    /// The first parameter of scale-offset where numbers are integers, which lose nothing.
    const INTEGERS: u32 = 2;
    let storage = [&source.var(var).storage, &target.var(to).storage];
    let rounds = |storage: &&Storage| match storage.filter(Filter::SCALE_OFFSET) {
        Some([way, ..]) => *way != INTEGERS,
        _ => false,
    };
    storage.iter().all(rounds) && !storage[1].settled
}

/// The filters that `-F` gives to a variable, those of several in their order; one that takes them away beats the others.
/// `None` if none is about it.
fn wished_filters(source: &Model, var: VarId, options: &Options) -> Option<Vec<Spec>> {
    let said: Vec<&[Spec]> = options.filterspecs.iter().filter_map(|spec| spec.of(source, var)).collect();
    let none = said.iter().any(|filters| filters.is_empty());
    (!said.is_empty()).then(|| if none { vec![] } else { said.concat() })
}

fn copy_attrs(source: &Model, from: Owner, target: &mut Model, to: Owner, ids: &Ids) -> Result<()> {
    let attrs = source.attrs(from);
    if let Some(failure) = attrs.failure() {
        return Err(failure.clone());
    }
    for attr in attrs {
        target.copy_attr(to, ferrocdf::Attr { value: ids.values(&attr.value), ..attr.clone() })?;
    }
    Ok(())
}

/// Puts what is known otherwise, the first of these that says something, where a wish for chunks has zeros.
fn fill_zeros(wish: &mut Option<Chunking>, known: [&Option<Chunking>; 2]) {
    let known = known.into_iter().find_map(|known| match known {
        Some(Chunking::Chunked(known)) => Some(known),
        _ => None,
    });
    if let (Some(Chunking::Chunked(wish)), Some(known)) = (wish, known) {
        let zeros = wish.iter_mut().zip(known).filter(|(chunk, _)| **chunk == 0);
        zeros.for_each(|(chunk, known)| *chunk = *known);
    }
}

#[cfg(test)]
mod tests {
    use ferrocdf::{Atomic, DataModel};

    use super::*;

    #[test]
    fn large_chunks_of_hdf4_become_chunks_of_whole_rows() {
        let deflate = || vec![Filter { id: Filter::DEFLATE, params: vec![5] }];
        let copied = |container, lens: [u64; 3], chunk: [u64; 3]| {
            let mut source = Model::new(Format::new(container, DataModel::Netcdf4));
            let mut target = Model::new(Format::NETCDF4);
            let def = |model: &mut Model| {
                let dims = [("z", lens[0]), ("y", lens[1]), ("x", lens[2])]
                    .map(|(name, len)| model.def_dim(GroupId::ROOT, name, Some(len)).unwrap());
                model.def_var(GroupId::ROOT, "v", Atomic::Int.into(), &dims).unwrap()
            };
            let (var, to) = (def(&mut source), def(&mut target));
            let chunking = Some(Chunking::Chunked(chunk.to_vec()));
            source.var_mut(var).storage = Storage { chunking, filters: deflate(), ..Storage::default() };
            choose_storage(&source, var, &mut target, to, &Options::default(), false).unwrap();
            let storage = target.var(to).storage.clone();
            assert_eq!(storage.filters, deflate());
            match storage.chunking {
                Some(Chunking::Chunked(chunk)) => chunk,
                other => panic!("{other:?}"),
            }
        };
        // 40 MB: rows of 4,000 bytes, and planes of 40,000.
        let (large, small) = ([1000, 10, 1000], [500, 10, 1000]);
        assert_eq!(copied(Container::Hdf4, large, large), [104, 10, 1000]);
        assert_eq!(copied(Container::Hdf4, [10, 1000, 1000], [10, 1000, 1000]), [1, 1000, 1000]);
        assert_eq!(copied(Container::Hdf4, [1, 2, 20_000_000], [1, 2, 20_000_000]), [1, 1, 1 << 20]);
        assert_eq!(copied(Container::Hdf4, small, small), small);
        assert_eq!(copied(Container::Hdf4, large, small), small);
        assert_eq!(copied(Container::Hdf4, [3000, 20, 1000], large), [104, 10, 1000]);
        // A chunk that reaches beyond the variable.
        assert_eq!(copied(Container::Hdf4, [3000, 5, 1000], large), [209, 5, 1000]);
        assert_eq!(copied(Container::Hdf5, large, large), large);
    }
}
