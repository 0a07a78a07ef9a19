//! The objects of a file that are no Scientific Datasets: rasters, palettes, annotations, tables.

use std::collections::HashSet;

use ferrocdf_bytes::Result;
use ferrocdf_hdf4::sd::Datasets;
use ferrocdf_hdf4::{File, Vdata, tags};

/// Classes of Vdatas and Vgroups that libraries keep for themselves: attributes, chunk tables, rasters.
const INTERNAL: [&[u8]; 5] = [b"Attr0.0", b"_HDF_CHK_TBL_", b"RIATTR0.0", b"RI0.0", b"RIG0.0"];

/// Returns a line for each object that is not in the model, with the reason, but for Vdatas that are `shown` elsewhere.
pub(super) fn reasons(file: &File, datasets: &Datasets, shown: &HashSet<u16>) -> Vec<String> {
    let mut lines: Vec<String> = datasets.unreadable.iter().map(ToString::to_string).collect();
    for (_, vdata) in tables(file, datasets).into_iter().filter(|(reference, _)| !shown.contains(reference)) {
        match vdata {
            Ok(vdata) => lines.push(format!(
                "{}: Vdata {} of {} records, which is no Scientific Dataset",
                vdata.name.escape_ascii(),
                vdata.reference,
                vdata.records
            )),
            Err(error) => lines.push(error.to_string()),
        }
    }
    let unknown = |tag: u16, reference: u16| !datasets.known.contains(&(tag, reference));
    let kinds = [
        (tags::RIG, "raster"),
        (tags::RI8, "8-bit raster"),
        (tags::CI8, "8-bit raster"),
        (tags::II8, "8-bit raster"),
        (tags::LUT, "palette"),
        (tags::FID, "label of the file"),
        (tags::FD, "text about the file"),
        (tags::DIL, "label of an object"),
        (tags::DIA, "text about an object"),
    ];
    for (tag, what) in kinds {
        for found in file.descriptors_of(tag).filter(|found| unknown(tag, found.reference)) {
            lines.push(format!("object {tag}/{}: {what}, which is no Scientific Dataset", found.reference));
        }
    }
    for (reference, vgroup) in file.vgroups() {
        if let (Err(error), false) = (vgroup, datasets.known.contains(&(tags::VG, reference))) {
            lines.push(error.to_string());
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
