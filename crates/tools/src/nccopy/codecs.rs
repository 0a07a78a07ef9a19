//! Codecs of Zarr arrays that have no HDF5 number, in copies.

use ferrocdf::model::{Filter, NamedCodec, Storage};
use ferrocdf::{Format, Model, VarId, can_have_codec};

use super::options::Options;
use super::schema;
use crate::kinds::is_zarr;

/// Leaves of the codecs without an HDF5 number those that a new variable can have.
///
/// A checksum inside zstd is left out of HDF5 files, from Zarr, since HDF5's own filter has one parameter, the level, and refuses more.
pub fn carry(storage: &mut Storage, source: Format, format: Format) {
    if is_zarr(source)
        && !is_zarr(format)
        && let Some(zstd) = storage.filters.iter_mut().find(|filter| filter.id == Filter::ZSTD)
    {
        zstd.params.truncate(1);
    }
    if is_zarr(format) {
        storage.named_codecs.retain(|codec| can_have_codec(codec, format.container()));
        return;
    }
    for codec in std::mem::take(&mut storage.named_codecs).into_iter().rev() {
        if let Some(params) = deflate_of(&codec).filter(|_| storage.filter(Filter::DEFLATE).is_none()) {
            let at = codec.filters_before.min(storage.filters.len());
            storage.filters.insert(at, Filter { id: Filter::DEFLATE, params });
        }
    }
}

/// Returns the parameters of deflate for a codec that compresses as deflate does, in another frame.
fn deflate_of(codec: &NamedCodec) -> Option<Vec<u32>> {
    codec.params.clone().filter(|_| codec.name == "gzip")
}

/// Returns the names of the codecs that the copy of a variable does not have, though no option takes them away. A classic file, which has
/// no filters at all, is not asked about.
pub fn dropped(
    source: &Model,
    target: &Model,
    options: &Options,
    &(var, to): &(VarId, VarId),
) -> Vec<String> {
    if target.format().has_cdf_model() || schema::replaces_filters(source, var, options) {
        return vec![];
    }
    let (from, kept) = (&source.var(var).storage, &target.var(to).storage);
    let is_deflate = |codec: &NamedCodec| {
        from.filter(Filter::DEFLATE).is_none()
            && deflate_of(codec).is_some_and(|params| kept.filter(Filter::DEFLATE) == Some(&params))
    };
    let is_kept = |codec: &&NamedCodec| kept.named_codecs.contains(codec) || is_deflate(codec);
    let codecs = from.named_codecs.iter().filter(|codec| !is_kept(codec));
    codecs.map(|codec| codec.name.clone()).collect()
}
