//! The HDF5 files of the corpus with another name for a dimension that is made up for them, and one more of the same length: the
//! file must open with the dimensions that the program saw.

use std::path::Path;

use ferrocdf::{DimId, File, FileMut, Model, Name};

use crate::excused::{Excused, is_excused};
use crate::{each, files, within_seconds};

/// Datasets and groups with several links: a path shows the dimensions of another one, or dimensions by their lengths.
const LINKED: &[Excused] = &[
    ("test_attribute_latest.hdf5", DATASET),
    ("test_attribute_earliest.hdf5", DATASET),
    ("d_link_hard.h5", DATASET),
    ("h5ex_g_iterate.h5", DATASET),
    ("thlink.h5", DATASET),
    ("tmany.h5", DATASET),
    ("struct_array_v73.mat", DATASET),
    ("test_file.hdf5", GROUP),
    ("test_file2.hdf5", GROUP),
    ("hdf5/sample.h5", GROUP),
    ("h5diff_grp_recurse1.h5", GROUP),
    ("h5diff_grp_recurse2.h5", GROUP),
];

const DATASET: &str = "a dataset with links in several groups";
const GROUP: &str = "a group with several links";

/// Files that Debian's version of the reference opens before the edit only.
const REFUSED: &[Excused] =
    &[("profile.h5", "addresses of 4 bytes: HDF5 1.10 does not read references to objects, of h5py neither")];

/// The dimensions of all variables, by their paths.
fn shown(model: &Model) -> Vec<String> {
    let dim = |&id: &DimId| {
        let dim = model.dim(id);
        format!("{}:{} {} {}", model.group_path(dim.group), dim.name, dim.len, dim.unlimited)
    };
    let of = |var| {
        format!("{} {:?}", model.var_path(var), model.var(var).dims.iter().map(dim).collect::<Vec<_>>())
    };
    let mut all: Vec<String> = model.var_ids().map(of).collect();
    all.sort();
    all
}

/// Makes the edit in a copy of a file. Returns what the file shows then, and what it shows when it is opened again.
fn edited(path: &Path, to: &Path) -> ferrocdf::Result<Option<[Vec<String>; 2]>> {
    std::fs::copy(path, to).expect("a folder that can be written to");
    let file = FileMut::append(to)?;
    let is_made_up = |name: &Name| name.to_string().starts_with("phony_dim_");
    let found = file.model().dims().iter().position(|dim| is_made_up(&dim.name));
    let Some(id) = found else { return Ok(None) };
    file.define(|model| {
        let id = DimId(id as u32);
        let (group, len) = (model.dim(id).group, model.dim(id).len);
        let len = (!model.dim(id).unlimited).then_some(len);
        model.rename_dim(id, Name::new("RENAMED")?)?;
        model.def_dim(group, "A_FIRST", len)
    })?;
    let meant = shown(&file.model());
    file.close()?;
    Ok(Some([meant, shown(&File::open(to)?.model())]))
}

fn reference_reads(path: &Path) -> bool {
    let run = within_seconds(20).args(["ncdump", "-h"]).arg(path).output();
    run.expect("the reference's ncdump must be installed").status.success()
}

#[test]
fn made_up_dimensions_stay_where_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let small = |path: &Path| std::fs::metadata(path).is_ok_and(|meta| meta.len() <= 8 << 20);
    let mut files = files(&["hdf5"]);
    files.retain(|entry| {
        small(&entry.path) && !is_excused(&entry.path, LINKED) && File::open(&entry.path).is_ok()
    });
    let compared = std::sync::atomic::AtomicUsize::new(0);
    let differences = each(&files, |entry| {
        let to = folder.path().join(entry.path.to_string_lossy().replace('/', "_"));
        let name = entry.path.display();
        let said = match edited(&entry.path, &to) {
            Ok(Some([meant, found])) if entry.normal => {
                compared.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let differs = meant.iter().zip(&found).find(|(meant, found)| meant != found);
                let mut said: Vec<String> =
                    differs.map(|found| format!("{name}: {found:?}")).into_iter().collect();
                let is_refused = !is_excused(&entry.path, REFUSED) && !reference_reads(&to);
                if is_refused && reference_reads(&entry.path) {
                    said.push(format!("{name}: the reference does not read the edited file"));
                }
                said
            }
            Err(error) if entry.normal => vec![format!("{name}: {error}")],
            Ok(_) | Err(_) => vec![],
        };
        // Where the copy could not be removed the folder goes later.
        let _ = std::fs::remove_file(&to);
        said
    });
    let compared = compared.into_inner();
    println!("{compared} files compared");
    assert!(compared > 500, "only {compared} files have dimensions that are made up");
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}
