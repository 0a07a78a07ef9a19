//! The objects of a file that are no Scientific Datasets: rasters, palettes, annotations, tables.

use std::collections::HashSet;

use ferrocdf_bytes::Result;
use ferrocdf_hdf4::sd::{Datasets, Rasters, Var};
use ferrocdf_hdf4::{File, Vdata, tags};

use crate::driver::Skipped;

/// Classes of Vdatas and Vgroups that libraries keep for themselves: attributes, chunk tables, rasters.
const INTERNAL: [&[u8]; 5] = [b"Attr0.0", b"_HDF_CHK_TBL_", b"RIATTR0.0", b"RI0.0", b"RIG0.0"];

/// Why an object is left out that is neither a dataset nor damaged.
const NO_DATASET: &str = "which is no Scientific Dataset";

/// Returns the objects that are not in the model, each once, but for Vdatas that are `shown` elsewhere. With `shows_all` rasters and tables
/// are in the model, but for those that cannot be.
pub(super) fn skipped(file: &File, datasets: &Datasets, shown: &HashSet<u16>, shows_all: bool) -> Skipped {
    let mut found = Skipped::default();
    found.reasons.extend(datasets.unreadable.iter().map(ToString::to_string));
    for (reference, vdata) in
        tables(file, datasets).into_iter().filter(|(reference, _)| !shown.contains(reference))
    {
        match vdata {
            Ok(vdata) => {
                let name = match &vdata.name[..] {
                    b"" => format!("Vdata {reference} without a name,"),
                    name => format!("{}: Vdata {reference}", name.escape_ascii()),
                };
                let why = if shows_all { "which has no fields" } else { NO_DATASET };
                found.other_kinds.push(format!("{name} of {} records, {why}", vdata.records));
            }
            Err(error) => found.reasons.push(error.to_string()),
        }
    }
    for raster in Rasters::read(file).rasters {
        match raster {
            // One that cannot be read is among the unreadable datasets.
            _ if shows_all => {}
            Ok(raster) => {
                let Var { name, shape, .. } = &raster.var;
                let lens = raster.axes.iter().zip(shape).map(|(axis, len)| format!("{len} {axis}"));
                let lens = lens.collect::<Vec<_>>().join(", ");
                found.other_kinds.push(format!("{}: raster of {lens}, {NO_DATASET}", name.escape_ascii()));
            }
            Err(error) => found.other_kinds.push(error.to_string()),
        }
    }
    found.other_kinds.extend(palettes_and_annotations(file));
    for (reference, vgroup) in file.vgroups() {
        if let (Err(error), false) = (vgroup, datasets.known.contains(&(tags::VG, reference))) {
            found.reasons.push(error.to_string());
        }
    }
    found
}

/// Returns a line for each palette and annotation.
fn palettes_and_annotations(file: &File) -> Vec<String> {
    let kinds = [
        (tags::LUT, "palette"),
        (tags::IP8, "palette"),
        (tags::FID, "label of the file"),
        (tags::FD, "text about the file"),
        (tags::DIL, "label of an object"),
        (tags::DIA, "text about an object"),
    ];
    // A palette may have the tags of two interfaces.
    let mut palettes = HashSet::new();
    let mut lines = vec![];
    for (tag, what) in kinds {
        for object in file.descriptors_of(tag) {
            let is_palette = [tags::LUT, tags::IP8].contains(&tag);
            if !is_palette || object.place.is_none_or(|place| palettes.insert(place)) {
                lines.push(format!("object {tag}/{}: {what}, {NO_DATASET}", object.reference));
            }
        }
    }
    lines
}

/// Returns the Vdatas that are neither part of a dataset nor kept by a library for itself, by their reference numbers.
pub(super) fn tables(file: &File, datasets: &Datasets) -> Vec<(u16, Result<Vdata>)> {
    let is_internal = |class: &[u8]| INTERNAL.iter().any(|internal| class.starts_with(internal));
    let vgroups = file.vgroups();
    let attributes: HashSet<u16> = vgroups
        .iter()
        .filter_map(|(_, vgroup)| Some(&vgroup.as_ref().ok()?.attributes))
        .flatten()
        .copied()
        .collect();
    let mut vdatas = file.vdatas();
    vdatas.retain(|(reference, vdata)| {
        let is_own = vdata.as_ref().is_ok_and(|vdata| is_internal(&vdata.class));
        !datasets.known.contains(&(tags::VH, *reference)) && !is_own && !attributes.contains(reference)
    });
    vdatas
}
