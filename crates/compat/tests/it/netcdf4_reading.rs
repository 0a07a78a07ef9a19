//! netCDF-4 files that the reference makes of CDL, printed by both.

use crate::ncdump_tool::{assert_same, generate, ours, reference};

/// What each text is about, and the kind of file that it becomes.
const DATASETS: [(&str, &str, &str); 6] = [
    (
        "groups and inherited dimensions",
        "-4",
        r#"netcdf a { dimensions: x = 3 ; t = UNLIMITED ;
variables: int v(t, x) ; v:units = "m" ; float x(x) ;
data: v = 1, 2, 3, 4, 5, 6 ; x = 0.5, 1.5, 2.5 ;
group: g { dimensions: y = 2 ; x = 4 ;
variables: short w(y, x) ; w:_FillValue = -1s ; byte z(t, y) ;
data: w = 1, 2, 3, 4, _, 6, 7, 8 ; z = 9, 8, 7, 6 ;
group: h { variables: double d(x, y) ; :about = "inner" ;
data: d = 1, 2, 3, 4, 5, 6, 7, 8 ; } } }"#,
    ),
    (
        "datasets of different lengths on unlimited dimensions",
        "-4",
        r#"netcdf a { dimensions: t = UNLIMITED ; u = UNLIMITED ; x = 2 ;
variables: int all(t) ; short some(t, x) ; float other(u, t) ; string text(t) ; char c(t, x) ; double t(t) ;
int none(u, x) ; some:_FillValue = 7s ;
data: all = 1, 2, 3, 4, 5 ; some = 1, 2, 3, 4 ; other = {1, 2, 3}, {4, 5, 6} ; text = "a", "bc" ; c = "abcd" ; t = 1, 2 ; }"#,
    ),
    (
        "user-defined types",
        "-4",
        r#"netcdf a { types: byte enum Sky { Clear = 0, Cloudy = 1, Storm = -1 } ; opaque(5) Raw ;
compound Point { int x ; double y(2) ; Sky s ; } ; int(*) Row ;
compound Deep { Point p(2) ; Row r ; string name ; } ;
dimensions: n = 2 ;
variables: Sky sky(n) ; Raw raw(n) ; Point p(n) ; Row r(n) ; Deep d(n) ; string s(n) ;
Sky sky:_FillValue = Storm ; Point p:origin = {1, {2, 3}, Cloudy} ; Row :rows = {1, 2}, {3} ; string :texts = "a", "b\n" ;
data: sky = Clear, Storm ; raw = 0x0102030405, 0xfffefdfcfb ; p = {1, {2.5, 3}, Clear}, {4, {5, 6}, Storm} ;
r = {1, 2, 3}, {} ;
d = {{{1, {2, 3}, Clear},{1, {2, 3}, Clear}}, {7, 8}, "x"}, {{{9, {10, 11}, Clear},{1, {2, 3}, Clear}}, {}, "y"} ;
s = "one", "" ; }"#,
    ),
    (
        "numbers of all types, byte orders, storage, filters",
        "-4",
        r#"netcdf a { dimensions: x = 40 ; y = 3 ;
variables: byte b(x) ; ubyte ub(x) ; short s(x) ; ushort us(x) ; int i(x) ; uint ui(x) ; int64 l(x) ; uint64 ul(x) ;
float f(x, y) ; double d(x, y) ; char c(y) ; int scalar ;
s:_Endianness = "big" ; l:_Endianness = "big" ; d:_Endianness = "big" ;
f:_Storage = "chunked" ; f:_ChunkSizes = 7, 2 ; f:_DeflateLevel = 4 ; f:_Shuffle = "true" ; f:_Fletcher32 = "true" ;
i:_Storage = "chunked" ; i:_ChunkSizes = 11 ; us:_NoFill = "true" ; ui:_Storage = "compact" ;
data: b = -128, 127, 3 ; ub = 255, 1 ; s = -32768, 5 ; us = 65535 ; i = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 ;
ui = 4294967295 ; l = -9223372036854775807 ; ul = 18446744073709551615 ; f = 1, 2.5, 3, NaN, Infinity, -Infinity, 7 ;
d = 1, 2, 3, 1e300 ; c = "xyz" ; scalar = 42 ; }"#,
    ),
    (
        "the classic model",
        "-7",
        r#"netcdf a { dimensions: t = UNLIMITED ; x = 2 ;
variables: int v(t, x) ; char name(x) ; v:valid_range = 0, 9 ; :title = "strict" ;
data: v = 1, 2, 3, 4 ; name = "ab" ; }"#,
    ),
    (
        "variables of the names of dimensions that they do not lie on, and of several dimensions",
        "-4",
        r#"netcdf a { dimensions: x = 2 ; y = 3 ; z = 4 ;
variables: int x(y) ; float y(y, x) ; int z ; double w(z, y, x) ;
data: x = 1, 2, 3 ; y = 1, 2, 3, 4, 5, 6 ; z = 7 ; w = 1, 2, 3, 4, 5 ; }"#,
    ),
];

const WAYS: [&[&str]; 7] = [&[], &["-s"], &["-h", "-s", "-F"], &["-b", "c"], &["-f", "c"], &["-k"], &["-c"]];

#[test]
fn both_print_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for (about, kind, text) in DATASETS {
        let (cdl, file) = (folder.path().join("a.cdl"), folder.path().join("a.nc"));
        std::fs::write(&cdl, text).unwrap();
        generate(kind, &cdl, &file);
        for way in WAYS {
            let args = [way, &[file.to_str().unwrap()]].concat();
            println!("{about}");
            assert_same(&args, &reference(&args), &ours(&args));
        }
    }
}
