//! What filters a variable that is to be made can have ("NetCDF-4 Filter Support", `nc_def_var_filter`).
//!
//! The rules and the order of the checks are the reference's. Parameters of most filters are not looked at here: what a
//! filter thinks of them shows when it is made.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_codec::{Chain, Step};
use ferrocdf_model::{Chunking, Container, Filter, Model, VarId};

use crate::plugins;

use super::chunks::complete_chunks;

/// Pixels of a block of szip, at most.
const MOST_PIXELS: u32 = 32;
/// The last number that HDF5 gives to filters.
const LAST: u32 = 65535;

/// Adds a filter, or sets its parameters where the variable has it. A checksum of the elements comes first, shuffling before
/// all that compresses, the others in the order in which they are asked for. What goes through filters is stored in chunks.
///
/// # Errors
/// `NC_EINVAL` for scalars, for wrong levels of deflate and blocks of szip, and for both on one variable; `NC_EFILTER` for a
/// wrong count of their parameters; `NC_ENOFILTER` for a filter without a codec in a Zarr store; those of [`check_available`].
pub fn define_filter(model: &mut Model, var: VarId, id: u32, params: &[u32]) -> Result<()> {
    let described = model.var(var);
    if described.dims.is_empty() {
        return fail(Code::EINVAL, "a scalar goes through no filters");
    }
    check_available(id)?;
    let is_zarr = matches!(model.format().container(), Container::ZarrV2 | Container::ZarrV3);
    let codecs = plugins::codecs();
    if is_zarr && !codecs.has_codec(&id.into()) {
        return Err(codecs.no_codec(&id.into()));
    }
    let has = |id: u32| described.storage.filter(id).is_some();
    let known = has(id);
    match (id, params) {
        (Filter::DEFLATE, _) if known => {}
        (Filter::DEFLATE, &[0..=9]) if !has(Filter::SZIP) => {}
        (Filter::DEFLATE, &[level]) => {
            let what = match level {
                0..=9 => "deflate does not go with szip".to_string(),
                _ => format!("deflate has levels 0 to 9, not {level}"),
            };
            return fail(Code::EINVAL, what);
        }
        (Filter::SZIP, [_, _]) if !known && has(Filter::DEFLATE) => {
            return fail(Code::EINVAL, "szip does not go with deflate");
        }
        (Filter::SZIP, &[_, pixels]) => {
            let elements = model.shape(var).into_iter().filter(|&len| len > 0);
            let elements = elements.fold(1, u64::saturating_mul);
            let fits = known || (pixels % 2 == 0 && pixels <= MOST_PIXELS);
            // With none the reference ends in a division by zero.
            if !fits || pixels == 0 || u64::from(pixels) > elements {
                let what = format!(
                    "szip has blocks of an even number of pixels, at least 2, at most {MOST_PIXELS} and no more than \
                     the {elements} of the variable, not {pixels}"
                );
                return fail(Code::EINVAL, what);
            }
        }
        (Filter::DEFLATE, _) => return fail(Code::EFILTER, "deflate has one parameter, the level"),
        (Filter::SZIP, _) => {
            return fail(Code::EFILTER, "szip has two parameters: options, and pixels of a block");
        }
        _ => {}
    }
    if !matches!(described.storage.chunking, Some(Chunking::Chunked(_))) {
        let chunk = chosen_chunks(model, var, &[]);
        model.var_mut(var).storage.chunking = Some(Chunking::Chunked(chunk));
    }
    model.var_mut(var).storage.set_filter(id, params.to_vec());
    Ok(())
}

/// Fails for a filter that nobody has.
///
/// # Errors
/// `NC_ENOFILTER`; `NC_EHDFERR` for a number beyond those of HDF5.
pub fn check_available(id: u32) -> Result<()> {
    if id > LAST {
        return fail(Code::EHDFERR, format!("filter {id}: the last number of a filter is {LAST}"));
    }
    if plugins::has_filter(id) {
        return Ok(());
    }
    // The chain says where it was looked for.
    let step = Step { id: id.into(), name: String::new(), optional: false, params: vec![] };
    Chain::new(vec![step], &plugins::codecs()).check(0)
}

/// The chunk shape of a variable that is to be made, of which these sizes are said; zero leaves a choice. What grows has no
/// length that chunks are cut to, whatever was written so far.
pub fn chosen_chunks(model: &Model, var: VarId, given: &[u64]) -> Vec<u64> {
    let described = model.var(var);
    let dims: Vec<(u64, bool)> = described
        .dims
        .iter()
        .map(|&dim| model.dim(dim))
        .map(|dim| (if dim.unlimited { 0 } else { dim.len }, dim.unlimited))
        .collect();
    let size = model.size_of(described.ty);
    complete_chunks(given, &dims, size as u64)
}

fn fail<T>(code: Code, what: impl Into<String>) -> Result<T> {
    Err(Error::new(code, what))
}

#[cfg(test)]
mod tests {
    use ferrocdf_model::{Atomic, Format, GroupId};

    use super::*;

    #[test]
    fn rules() {
        let mut model = Model::new(Format::NETCDF4);
        let x = model.def_dim(GroupId::ROOT, "x", Some(64)).unwrap();
        let var = model.def_var(GroupId::ROOT, "v", Atomic::Int.into(), &[x]).unwrap();
        let scalar = model.def_var(GroupId::ROOT, "s", Atomic::Int.into(), &[]).unwrap();
        let mut add = |var, id, params: &[u32]| {
            define_filter(&mut model, var, id, params).map_err(|error| error.code).err()
        };
        assert_eq!(add(scalar, 1, &[3]), Some(Code::EINVAL));
        for (id, params, code) in [
            (70000, &[][..], Code::EHDFERR),
            (59999, &[], Code::ENOFILTER),
            (1, &[], Code::EFILTER),
            (1, &[10], Code::EINVAL),
            (4, &[32], Code::EFILTER),
            (4, &[32, 7], Code::EINVAL),
            (4, &[32, 34], Code::EINVAL),
        ] {
            assert_eq!(add(var, id, params), Some(code), "{id} {params:?}");
        }
        for (id, params) in [(307, &[9][..]), (2, &[]), (1, &[3]), (3, &[]), (307, &[5]), (1, &[99])] {
            assert_eq!(add(var, id, params), None, "{id}");
        }
        assert_eq!(add(var, 4, &[32, 8]), Some(Code::EINVAL), "deflate is there");
        let storage = &model.var(var).storage;
        assert_eq!(storage.chunking, Some(Chunking::Chunked(vec![64])));
        let filters: Vec<_> = storage.filters.iter().map(|filter| (filter.id, &*filter.params)).collect();
        assert_eq!(filters, [(3, &[][..]), (2, &[]), (307, &[5]), (1, &[99])]);
    }
}
