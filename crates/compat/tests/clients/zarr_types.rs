//! Variables and attributes of user-defined types in Zarr stores.

use std::process::{Command, Stdio};

use ferrocdf_compat::python;

use crate::folder;

/// Types of all classes, in two groups. The text is compiled by Debian's `ncgen`.
const CDL: &str = r#"netcdf types {
types:
  byte enum cloud_t {Clear = 0, Cumulus = 1, Missing = 127} ;
  ubyte enum bool_t {FALSE = 0, TRUE = 1} ;
  int64 enum big_t {a = -9000000000, b = 9000000000} ;
  opaque(5) raw_t ;
  compound point_t { float lat ; double lon ; } ;
  compound obs_t { byte day ; point_t where ; float temps(2, 2) ; char name(6) ; char c ; cloud_t cloud ; raw_t tag ; point_t two(2) ; } ;
  compound complex_t { float r ; float i ; } ;
  float(*) row_t ;
  ubyte(*) bytes_t ;
  cloud_t(*) clouds_t ;
  point_t(*) track_t ;
dimensions:
  x = 3 ;
  t = UNLIMITED ;
variables:
  cloud_t cloud(t, x) ;
    cloud_t cloud:_FillValue = Missing ;
    cloud_t cloud:others = Clear, Cumulus ;
  bool_t flag(x) ;
  big_t big(x) ;
  raw_t raw(x) ;
  raw_t filled(t) ;
    raw_t filled:_FillValue = 0X0102030405 ;
  point_t point(x) ;
    point_t point:_FillValue = {1, 2} ;
    point_t point:samples = {1.5, 2.5}, {3, 4} ;
  obs_t obs(x) ;

  complex_t z(x) ;
  row_t row(t) ;
    row_t row:rows = {1, 2}, {}, {3} ;
  bytes_t bytes(x) ;
  clouds_t clouds(x) ;
  track_t track(x) ;
  cloud_t scalar ;
  cloud_t :overall = Cumulus ;
data:
  cloud = Clear, Cumulus, Clear, _, Cumulus, _ ;
  flag = TRUE, FALSE, TRUE ;
  big = a, b, a ;
  raw = 0X0102030405, 0XFFFEFDFCFB, 0X0000000000 ;
  point = {1, 2}, {3, 4}, {5, 6.25} ;
  obs = {1, {2.5, 3.5}, {1, 2, 3, 4}, {"abc"}, "z", Cumulus, 0X0102030405, {{1, 2}, {3, 4}}},
    {2, {0, 1}, {5, 6, 7, 8}, {"abcdef"}, "y", Clear, 0X0000000001, {{5, 6}, {7, 8}}},
    {3, {0, 1}, {0, 0, 0, 0}, {""}, "x", Missing, 0X0000000000, {{0, 0}, {0, 0}}} ;
  z = {1, 2}, {3, -4}, {0, 1} ;
  row = {1, 2, 3}, {} ;
  bytes = {1, 2, 255}, {}, {7} ;
  clouds = {Clear, Cumulus}, {}, {Missing} ;
  track = {{1, 2}, {3, 4}}, {}, {{5, 6}} ;
  scalar = Cumulus ;
group: g {
  types:
    compound in_g { cloud_t c ; int n ; } ;
  variables:
    in_g v(x) ;
  data:
    v = {Clear, 1}, {Cumulus, 2}, {Missing, 3} ;
}
}
"#;

fn run(program: &mut Command) -> String {
    let done = program.output().expect("a program that starts");
    assert!(done.status.success(), "{program:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("UTF-8")
}

#[test]
fn user_defined_types_come_back_from_stores_and_zarr_python_reads_their_numbers() {
    let folder_of_files = tempfile::tempdir().unwrap();
    let at = |name: &str| folder_of_files.path().join(name);
    std::fs::write(at("types.cdl"), CDL).unwrap();
    run(Command::new("/usr/bin/ncgen").args(["-4", "-o"]).arg(at("types.nc")).arg(at("types.cdl")));
    // The `ncdump` of Debian ends with an error at the compound that has an array of compounds in it.
    let tool = |name: &str| Command::new(folder("FERROCDF_PREFIX").join("bin").join(name));
    let wanted = run(tool("ncdump").arg(at("types.nc")));
    let mut stores = vec![];
    for kind in ["nczarr2", "nczarr3"] {
        let (store, back) = (at(kind), at(&format!("{kind}.nc")));
        run(tool("nccopy").args(["-k", kind]).arg(at("types.nc")).arg(&store));
        run(tool("nccopy").args(["-k", "nc4"]).arg(&store).arg(&back));
        let found = run(tool("ncdump").args(["-n", "types"]).arg(&back));
        assert_eq!(found, wanted, "{kind}");
        stores.push(store);
    }
    let mut judge = python::newest_zarr("zarr_types.py");
    judge.arg(at("types.nc")).args(&stores).stderr(Stdio::piped());
    python::finish(judge.spawn().expect("a Python that starts"));
}
