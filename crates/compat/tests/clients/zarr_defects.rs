//! Defects of netCDF-C 4.10.1 (in the wheel of netCDF4) in Zarr stores. Each has a test that what this library writes is right, and one that
//! what netCDF-C wrote is read. The table is in `docs/zarr.md`.

use std::path::Path;
use std::process::{Command, Stdio};

use ferrocdf_compat::python;

use crate::folder;

/// Runs a function of `py/zarr_defects.py`.
fn run(side: &str, defect: &str) {
    let here = tempfile::tempdir().unwrap();
    let mut script = python::newest_zarr("zarr_defects.py");
    script.args([side, defect]).arg(here.path()).arg(folder("FERROCDF_PREFIX").join("bin"));
    if side == "ours" {
        script.env("LD_PRELOAD", folder("FERROCDF_PREFIX").join("lib/libnetcdf.so"));
    }
    python::finish(script.stderr(Stdio::piped()).spawn().expect("a Python that starts"));
}

/// Makes the two tests of a defect.
macro_rules! defects {
    ($($defect:ident: $ours:ident, $theirs:ident;)*) => {$(
        #[test]
        fn $ours() {
            run("ours", stringify!($defect));
        }

        #[test]
        fn $theirs() {
            run("theirs", stringify!($defect));
        }
    )*};
}

defects! {
    shuffle: shuffle_has_the_element_size, shuffle_of_netcdf_c_is_read;
    digits: numbers_keep_all_digits, numbers_of_netcdf_c_are_read;
    text_like_json: text_that_looks_like_json_stays_text, text_that_netcdf_c_made_json_of_is_text;
    column_major: arrays_in_order_f_are_read, arrays_in_order_f_are_misread_by_netcdf_c;
    bytes_and_letters: zarr_python_and_xarray_open_bytes_and_letters, bytes_and_letters_of_netcdf_c_are_read;
    types_of_others: types_of_xarray_are_read, types_of_xarray_are_refused_by_netcdf_c;
    long_text: long_text_is_not_cut, text_that_netcdf_c_cut_is_read;
    renamed: renaming_keeps_the_data, variables_that_netcdf_c_did_not_rename_are_read;
    infinity: infinity_is_not_quantized, quantized_numbers_of_netcdf_c_are_read;
    big_endian: missing_chunks_have_the_fill_value_in_big_endian_arrays, missing_chunks_of_netcdf_c_have_the_fill_value;
    tools: tools_take_stores_and_scalars, scalars_of_netcdf_c_are_read;
}

#[test]
fn zarr_python_opens_zip_files() {
    run("ours", "zip_files");
}

/// The wheel is built without zip files: these are of the reference's source.
#[test]
fn zip_files_of_netcdf_c_are_read() {
    let tests = folder("FERROCDF_REFERENCE").join("nczarr_test");
    let here = tempfile::tempdir().unwrap();
    let dump = |path: &Path| {
        let ncdump = folder("FERROCDF_PREFIX").join("bin/ncdump");
        let done =
            Command::new(ncdump).args(["-n", "same"]).arg(path).output().expect("a program that starts");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).expect("UTF-8")
    };
    for (name, part) in [
        ("ref_byte.zarr", "ubyte byte(_Anonymous_Dim_20, _Anonymous_Dim_20)"),
        ("ref_noshape.file", "int v ;"),
        ("ref_oldformat", "lat:lat_attr = \"latitude\""),
        ("ref_oldkeys.file", "int v(d0, d1, d2)"),
    ] {
        let zip = tests.join(format!("{name}.zip"));
        let unzip = Command::new("unzip").arg("-q").arg(&zip).arg("-d").arg(here.path()).status();
        assert!(unzip.is_ok_and(|status| status.success()), "{}", zip.display());
        let found = dump(&zip);
        assert_eq!(found, dump(&here.path().join(name)), "{name}");
        assert!(found.contains(part) && found.contains("data:"), "{found}");
    }
}

#[test]
fn a_fill_value_of_nonsense_ends_no_program() {
    run("ours", "fill_value_of_nonsense");
}
