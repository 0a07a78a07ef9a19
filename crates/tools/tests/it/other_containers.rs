//! Files in a container that a program brings a driver for.

use std::ffi::OsString;
use std::path::Path;

#[path = "../../../ferrocdf/tests/it/toy/mod.rs"]
mod toy;

fn ncdump(args: &[&str], path: &Path) -> String {
    let (mut out, mut err) = (vec![], vec![]);
    let args = ["ncdump"].iter().chain(args).map(OsString::from).chain([path.into()]);
    let code = ferrocdf_tools::ncdump::main(args, &mut out, &mut err);
    assert_eq!((code, String::from_utf8(err).unwrap()), (0, String::new()));
    String::from_utf8(out).unwrap()
}

const CDL: &str = "netcdf small {
dimensions:
\tmatrix_0 = 3 ;
\tmatrix_1 = 4 ;
\ttable_0 = 5 ;
\ttable_1 = 3 ;
variables:
\tfloat matrix(matrix_0, matrix_1) ;
\tfloat table(table_0, table_1) ;
data:

 matrix =
  -7, -4, -1, 2,
  -6, -3, 0, 3,
  -5, -2, 1, 4 ;

 table =
  5, 6, 9,
  7, 8, 11,
  _, _, 13,
  _, _, 15,
  17, 18, 21 ;
}
";

#[test]
fn registered_container_is_dumped_and_copied() {
    ferrocdf::driver::register(toy::PROBE);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.toy");
    std::fs::write(&path, toy::sample::bytes()).unwrap();
    assert_eq!(ncdump(&[], &path), CDL);
    assert_eq!(ncdump(&["-k"], &path), "classic\n");
    assert_eq!(ncdump(&["-K"], &path), "toy mode=00000000\n");

    // A copy is a file that can be made: a classic one.
    let copy = folder.path().join("small.nc");
    let args = [OsString::from("nccopy"), path.into(), copy.clone().into()];
    assert_eq!(ferrocdf_tools::nccopy::run(args, &mut vec![]), 0);
    assert_eq!(ncdump(&[], &copy), CDL);
    assert_eq!(ncdump(&["-K"], &copy), "classic mode=00000000\n");
}
