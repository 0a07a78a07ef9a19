//! The programs that `ncgen -lc` writes for the netCDF-4 model: they are those of the reference, but for what no compiler
//! takes there, and they make the files that `ncgen -4` makes, with the reference's library and with ours.

use std::path::Path;
use std::process::Command;

use ferrocdf_compat::both::build;

use crate::ncgen_tool::{ours, theirs};

/// Everything that the model has, and storage of all kinds.
const ALL: &str = r#"netcdf all {
types:
  compound obs_t {
    byte day ; short elev ; int count(3) ; double time(2, 2) ; char cat(4) ; char one ; char rows(2, 3) ; string txt ;
  } ;
  byte enum cloud_t {Clear = 0, Cumulonimbus = 1, Missing = 127} ;
  uint64 enum big_t {Most = 18446744073709551615} ;
  opaque(3) raw_t ;
  int(*) vl_t ; string(*) vs_t ; vl_t(*) vv_t ; obs_t(*) vo_t ; char(*) vc_t ;
  compound nest_t { obs_t o ; vl_t v ; cloud_t c(2) ; obs_t oo(2) ; raw_t r ; } ;
dimensions:
  x = 3 ; t = UNLIMITED ; u = UNLIMITED ;
variables:
  int v(x) ; v:units = "m\"\\" ; v:a = 1b, 2b ; string v:s = "a", "b\n" ; v:_FillValue = 7 ;
     v:_Storage = "chunked" ; v:_ChunkSizes = 2 ; v:_DeflateLevel = 4 ; v:_Shuffle = "true" ;
     v:_Fletcher32 = "true" ; v:_Endianness = "big" ;
  double w(t, x) ; w:_Filter = "1,4" ; w:_NoFill = "true" ; w:_ChunkSizes = 1, 3 ;
  short sh(x, x) ; sh:_Shuffle = "true" ; sh:_Endianness = "little" ;
  double ww(x) ; ww:_Storage = "contiguous" ;
  double wc(x) ; wc:_Storage = "compact" ;
  string st(x) ; string ss ; char c(x, x) ; char c1 ; float nan(x) ;
  uint64 big ; int64 i6(t, u) ; ubyte ub ; ushort us ; uint ui ;
  obs_t o(x) ; obs_t o:at = {1b, 2s, {1, 2, 3}, {1, 2, 3, 4}, {"abcd"}, 'x', {"abc", "de"}, "hi"} ;
  cloud_t cl(x) ; cloud_t cl:_FillValue = Missing ; cloud_t cl:two = Clear, Missing ;
  big_t most ;
  raw_t r(x) ; raw_t r:at = 0X010203 ;
  vl_t vl(x) ; vl_t vl:at = {1, 2}, {3} ;
  vs_t vs ; vv_t vv(x) ; vo_t vo ; vc_t vc ;
  nest_t n ;
:g = 1.5, Infinity ;
data:
 v = 1, 2, _ ; w = 1, 2, 3, 4, 5, 6 ; sh = 1, 2, 3, 4, 5, 6, 7, 8, 9 ; ww = 0.1, 2, 3e300 ; wc = 1, 2, 3 ;
 st = "one", "two\t'", NIL ; ss = "x" ; c = "abc", "de", "f" ; c1 = "'" ; nan = NaNf, Infinityf, 1.25 ;
 big = 18446744073709551615 ; i6 = {1, 2}, {3} ; ub = 200 ; us = 65535 ; ui = 4294967295 ;
 o = {1, 2, {1, 2, 3}, {1, 2, 3, 4}, {"abcd"}, 'x', {"abc", "de"}, "hi"}, _, _ ;
 cl = Clear, Cumulonimbus, _ ; most = Most ;
 r = 0XABCDEF, 0X010203, 0X000000 ;
 vl = {1, 2}, {}, {3} ; vs = {"a", "b"} ; vv = {{1}, {2, 3}}, {}, {{}} ; vc = {"abc"} ;
 vo = {{1, 2, {1, 2, 3}, {1, 2, 3, 4}, {"abcd"}, 'x', {"abc", "de"}, "hi"}} ;
 n = {{1, 2, {1, 2, 3}, {1, 2, 3, 4}, {"abcd"}, 'x', {"abc", "de"}, "hi"}, {4, 5}, {Clear, Missing},
      {{1, 2, {1, 2, 3}, {1, 2, 3, 4}, {"abcd"}, 'x', {"abc", "de"}, "hi"},
       {2, 2, {1, 2, 3}, {1, 2, 3, 4}, {"abcd"}, 'x', {"abc", "de"}, "hi"}}, 0X010203} ;
group: g {
 types: int enum e { A = 1, B = -2 } ;
 dimensions: y = 2 ;
 variables: float f(x, y) ; e ev(y) ; f:u-v = "k" ; e ev:\1st = A ;
 :ga = 5s ;
 data: f = 1, 2, 3, 4, 5, 6 ; ev = A, B ;
 group: h.h { variables: int q ; :_x = 1 ; data: q = 4 ; }
}
}
"#;

/// What the reference writes so that compilers take it, and loses nothing.
const SAME: [&str; 4] = [
    "netcdf a { types: byte enum e_t {A = 0, B = 1} ; opaque(3) r_t ; compound c_t { int a ; float b(2, 3) ; e_t e ; } ;
       dimensions: x = 3 ; t = UNLIMITED ; variables: int v(t, x) ; v:_ChunkSizes = 2, 3 ; v:_DeflateLevel = 4 ;
       v:_Shuffle = \"true\" ; v:_NoFill = \"true\" ; c_t c(x) ; e_t e(x) ; c_t v:at = {1, {1, 2, 3, 4, 5, 6}, B} ;
       double d(x) ; d:_Filter = \"307,9,2\" ; d:_Endianness = \"big\" ; d:_Fletcher32 = \"true\" ; :g = 1 ;
       data: v = 1, 2, 3, 4 ; e = A, B, A ; c = {1, {1, 2, 3, 4, 5, 6}, B}, {2, {1, 2, 3, 4, 5, 6}, A}, {3, {1, 2, 3, 4, 5, 6}, A} ; }",
    "netcdf a { :rootat = 1 ; group: g { :ga = 5s ; dimensions: n = 2 ; variables: int v(n) ; v:a = 1 ; v:_x = 2 ; data: v = 1, 2 ;
       group: h-i { :ha = 5s ; variables: int v(n) ; v:a.b = 1 ; v:_FillValue = 3 ; data: v = 2, _ ; } } }",
    "netcdf a { dimensions: x = 3 ; variables: string s(x) ; string t ; string t:at = \"a\", \"b\\n\" ;
       data: s = \"one\", \"two\", NIL ; t = \"x\\\"\" ; }",
    "netcdf a { types: compound p { ushort u ; uint64 w ; } ; dimensions: x = 2 ; variables: p v(x) ;
       data: v = {1, 2}, {65535, 18446744073709551615} ; }",
];

fn lines(program: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(program).lines().map(str::to_string).collect()
}

#[test]
fn programs_are_those_of_the_reference() {
    for text in SAME {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t.cdl");
        std::fs::write(&file, text).unwrap();
        let (expected, said, code) = theirs(&["-lc", "-4", "t.cdl"], folder.path());
        assert_eq!(code, Some(0), "the reference: {said}\n{text}");
        let mine = ours(&["-lc", "-4", file.to_str().unwrap()], b"");
        assert_eq!((mine.1, mine.2), (said, code), "{text}");
        let (expected, mine) = (lines(&expected), lines(&mine.0));
        for (their, my) in expected.iter().zip(&mine) {
            assert_eq!(their, my, "{text}");
        }
        assert_eq!(expected.len(), mine.len(), "{text}");
    }
}

/// Compiles a program against a library, runs it in the folder, and returns what the reference prints of the file.
fn file_of(program: &[u8], library: Option<&Path>, folder: &Path) -> String {
    let (source, file) = (folder.join("t.c"), folder.join("t.nc"));
    std::fs::write(&source, program).unwrap();
    let mut cc = Command::new("cc");
    cc.args(["-w", "-o"]).arg(folder.join("t")).arg(&source).arg("-lnetcdf");
    let built = cc.output().expect("a C compiler");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let mut run = Command::new(folder.join("t"));
    run.current_dir(folder);
    if let Some(library) = library {
        run.env("LD_LIBRARY_PATH", library);
    }
    let run = run.output().unwrap();
    assert!(run.status.success(), "{library:?}: {}", String::from_utf8_lossy(&run.stderr));
    let printed = printed(&file);
    std::fs::remove_file(&file).unwrap();
    printed
}

/// What our `ncdump` prints of a file, with its storage: the reference's takes some fill values for other types.
fn printed(file: &Path) -> String {
    let (mut out, mut err) = (vec![], vec![]);
    let args = ["ncdump", "-s", "-Xp", "-n", "t", "-p", "9,17"].map(std::ffi::OsString::from);
    let code = ferrocdf_tools::ncdump::main(args.into_iter().chain([file.into()]), &mut out, &mut err);
    assert_eq!(code, 0, "{}", String::from_utf8_lossy(&err));
    String::from_utf8(out).unwrap()
}

#[test]
fn programs_make_the_files_that_ncgen_makes() {
    let library = tempfile::tempdir().unwrap();
    // The name by which programs of the reference's release look for it.
    std::os::unix::fs::symlink(build(), library.path().join("libnetcdf.so.19")).unwrap();
    let stored = "netcdf a { dimensions: x = 4 ; variables: int v(x) ; v:_ChunkSizes = 2 ; v:_DeflateLevel = 1 ; \
                  v:_Endianness = \"big\" ; data: v = 1, 2, 3 ; }";
    let texts = SAME.iter().filter(|text| !text.contains("307,")).chain([&ALL]);
    for (kind, text) in texts.map(|text| ("-4", text)).chain([("-7", &stored)]) {
        let folder = tempfile::tempdir().unwrap();
        let [cdl, file] = ["t.cdl", "t.nc"].map(|name| folder.path().join(name));
        std::fs::write(&cdl, text).unwrap();
        let made = ours(&[kind, "-o", file.to_str().unwrap(), cdl.to_str().unwrap()], b"");
        assert_eq!((made.1.as_str(), made.2), ("", Some(0)), "{text}");
        let expected = printed(&file);
        let (program, said, code) = ours(&["-lc", kind, "-o", "t.nc", cdl.to_str().unwrap()], b"");
        assert_eq!((said.as_str(), code), ("", Some(0)), "{text}");
        for library in [None, Some(library.path())] {
            let is = file_of(&program, library, folder.path());
            for (was, is) in expected.lines().zip(is.lines()) {
                assert_eq!(was, is, "{library:?} {text}");
            }
            assert_eq!(expected.len(), is.len(), "{library:?} {text}");
        }
    }
}
