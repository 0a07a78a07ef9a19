//! Filters that the reference has as plugins of hdf5plugin, through both C libraries and the tools of both.

use std::path::{Path, PathBuf};
use std::process::Command;

use ferrocdf_compat::{both, python};

use crate::filter_stories::Shape::{Fixed, Grows, Scalar};
use crate::filter_stories::{Bzip2, Chunking, Deflate, Enddef, Filter, Fletcher32, Put, Redef, Szip, run};
use crate::{nccopy_tool, ncdump_tool, ncgen_tool};

/// The folder with the plugins of hdf5plugin.
fn plugins() -> PathBuf {
    let mut command = Command::new(python::script("listing.py").get_program());
    command.args(["-c", "import hdf5plugin; print(hdf5plugin.PLUGIN_PATH)"]);
    let said = command.output().expect("a Python that starts");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    PathBuf::from(String::from_utf8_lossy(&said.stdout).trim())
}

/// Runs a tool of the reference with plugins, and gives what it prints.
fn reference(tool: &str, args: &[&str], folder: &Path) -> String {
    let mut command = Command::new(tool);
    let run = command.args(args).current_dir(folder).env("HDF5_PLUGIN_PATH", plugins()).output();
    let run = run.expect("the reference's tools must be installed");
    assert!(run.status.success(), "{tool} {args:?}: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8_lossy(&run.stdout).into_owned()
}

/// The same rules for filters that are plugins: order, places, parameters as they are given.
#[test]
fn rules_of_plugins() {
    both::add_reference_plugins(&plugins());
    run(&[
        (Fixed, 4, &[Filter(307, &[9]), Put]),
        (Fixed, 4, &[Filter(307, &[9]), Filter(1, &[3]), Filter(307, &[5]), Fletcher32, Put]),
        (Fixed, 4, &[Filter(307, &[9]), Filter(2, &[]), Fletcher32, Put]),
        (Fixed, 4, &[Filter(307, &[9]), Szip(32, 32), Put]),
        (Fixed, 4, &[Filter(307, &[9]), Deflate(1, 1, 2), Chunking(0, Some([16, 16])), Put]),
        (Grows, 5, &[Filter(32015, &[3]), Put]),
        (Grows, 5, &[Filter(32015, &[u32::MAX - 2]), Filter(307, &[1]), Put]),
        (Fixed, 4, &[Bzip2(0), Bzip2(10), Bzip2(4), Bzip2(7), Put]),
        (Scalar, 4, &[Filter(307, &[9]), Bzip2(9), Enddef, Filter(307, &[9]), Bzip2(9)]),
        (Fixed, 4, &[Enddef, Redef, Filter(307, &[9]), Bzip2(9)]),
    ]);
}

/// The example of "NetCDF-4 Filter Support", through both ncgen.
#[test]
fn bzip2_then_szip() {
    let folder = tempfile::tempdir().expect("a folder");
    let values: Vec<String> = (0..256).map(|at| format!("{}", at % 11)).collect();
    let cdl = format!(
        "netcdf bzip2szip {{
dimensions:
dim0 = 4 ; dim1 = 4 ; dim2 = 4 ; dim3 = 4 ;
variables:
float var(dim0, dim1, dim2, dim3) ;
var:_Filter = \"307,9|4,32,32\" ; // bzip2 then szip
var:_Storage = \"chunked\" ;
var:_ChunkSizes = 4, 4, 4, 4 ;
data:
var = {} ;
}}
",
        values.join(", ")
    );
    let [text, theirs, ours] = ["in.cdl", "theirs.nc", "ours.nc"].map(|name| folder.path().join(name));
    std::fs::write(&text, cdl).expect("a new file");
    let path = |path: &Path| path.to_str().expect("UTF-8").to_string();
    reference("ncgen", &["-4", "-o", &path(&theirs), &path(&text)], folder.path());
    let (_, said, code) = ncgen_tool::ours(&["-4", "-o", &path(&ours), &path(&text)], b"");
    assert_eq!(code, Some(0), "{said}");
    let mut printed = vec![];
    for file in [&theirs, &ours] {
        let args = ["-s", "-n", "same", &path(file)];
        let provenance = |text: String| {
            text.lines().filter(|line| !line.contains("_NCProperties")).collect::<Vec<_>>().join("\n")
        };
        printed.push(provenance(reference("ncdump", &args, folder.path())));
        let run = ncdump_tool::ours(&args);
        assert_eq!(run.code, Some(0), "{}", String::from_utf8_lossy(&run.err));
        printed.push(provenance(String::from_utf8_lossy(&run.out).into_owned()));
    }
    assert!(printed[0].contains("var:_Filter = \"307,9|4,32,32\" ;"), "{}", printed[0]);
    assert!(printed.iter().all(|text| *text == printed[0]), "{}\n{}", printed[0], printed[1]);
    let stored = |file: &Path| {
        let text = reference("h5dump", &["-p", "-H", "-d", "/var", &path(file)], folder.path());
        text.lines()
            .skip(1)
            .filter(|line| !line.contains("SIZE") && !line.contains("OFFSET"))
            .collect::<String>()
    };
    assert_eq!(stored(&theirs), stored(&ours), "the reference is the left");
}

/// The examples of `nccopy -F` in "NetCDF-4 Filter Support": one variable, several, all; a pipeline; none.
#[test]
fn examples_of_nccopy() {
    let folder = tempfile::tempdir().expect("a folder");
    let [text, source] = ["in.cdl", "in.nc"].map(|name| folder.path().join(name));
    std::fs::write(
        &text,
        "netcdf v { dimensions: x = 64; y = 64; variables: int var(x, y); int v1(x, y); v1:_Filter = \"307,5\"; \
         int v2(x, y); data: var = 1, 2, 3; v1 = 4; v2 = 5; }",
    )
    .expect("a new file");
    let path = |path: &Path| path.to_str().expect("UTF-8").to_string();
    reference("ncgen", &["-4", "-o", &path(&source), &path(&text)], folder.path());
    for spec in [
        "var,307,9",
        "*,307,9",
        "v1&v2,307,9",
        "v1&v2,307,9|4,32,32",
        "none",
        "*,none",
        "v1,none",
        "v1&v2,none",
        "v1,32015,3",
    ] {
        let mut printed = vec![];
        for (at, name) in ["theirs.nc", "ours.nc"].into_iter().enumerate() {
            let copy = folder.path().join(name);
            let args = ["-F", spec, &path(&source), &path(&copy)];
            if at == 0 {
                reference("nccopy", &args, folder.path());
            } else {
                let run = nccopy_tool::ours(&args);
                assert_eq!(run.code, Some(0), "{spec}: {}", run.said);
            }
            let text = reference("ncdump", &["-s", "-n", "same", &path(&copy)], folder.path());
            // Any filter makes the reference store other variables in chunks as well.
            let differs = ["_NCProperties", "_Storage", "_ChunkSizes"];
            let same = |line: &&str| !differs.iter().any(|word| line.contains(word));
            printed.push(text.lines().filter(same).collect::<Vec<_>>().join("\n"));
        }
        assert_eq!(printed[0], printed[1], "{spec}: the reference is the left");
    }
}
