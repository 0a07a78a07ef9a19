//! The files that the reference makes for these tests.

use std::ffi::{CStr, c_char, c_int};
use std::process::Command;
use std::ptr::null;
use std::sync::OnceLock;

use ferrocdf_compat::ask::GLOBAL;
use ferrocdf_compat::both::{Session, make};
use ferrocdf_compat::call;
use tempfile::TempDir;

const NC_NETCDF4: c_int = 0x1000;

/// A list of any length.
#[repr(C)]
#[derive(Clone, Copy)]
struct List<T> {
    len: usize,
    values: *const T,
}

impl<T> List<T> {
    fn of(values: &[T]) -> Self {
        List { len: values.len(), values: values.as_ptr() }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Point {
    tag: i8,
    x: f64,
    y: [[i16; 3]; 2],
    colour: i8,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Mixed {
    points: [Point; 2],
    text: *const c_char,
    lists: [List<c_int>; 2],
    blob: [u8; 5],
    wide: u64,
    letters: [c_char; 4],
}

fn point(n: i8) -> Point {
    Point { tag: n, x: f64::from(n) + 0.5, y: [[1, 2, 3], [4, -5, n.into()]], colour: 7 }
}

fn mixed(n: i8, text: Option<&'static CStr>, lists: [&[c_int]; 2]) -> Mixed {
    Mixed {
        points: [point(n), point(n + 1)],
        text: text.map_or(null(), CStr::as_ptr),
        lists: lists.map(List::of),
        blob: [1, 2, 3, 4, n as u8],
        wide: u64::MAX - n as u64,
        letters: [b'a' as c_char, b'b' as c_char, 0, n as c_char],
    }
}

/// Ids of a file that is being made.
pub struct Maker<'a> {
    pub s: &'a Session<'a>,
    pub id: c_int,
}

impl Maker<'_> {
    pub fn dim(&self, name: &CStr, len: usize) -> c_int {
        let mut dim = 0;
        call!(self.s, nc_def_dim(self.id, name.as_ptr(), len, &mut dim));
        dim
    }

    pub fn var(&self, name: &CStr, ty: c_int, dims: &[c_int]) -> c_int {
        let mut var = 0;
        call!(self.s, nc_def_var(self.id, name.as_ptr(), ty, dims.len() as c_int, dims.as_ptr(), &mut var));
        var
    }

    pub fn compound(&self, size: usize, name: &CStr, fields: &[(&CStr, usize, c_int, &[c_int])]) -> c_int {
        let mut ty = 0;
        call!(self.s, nc_def_compound(self.id, size, name.as_ptr(), &mut ty));
        for (name, offset, of, shape) in fields {
            let (name, rank) = (name.as_ptr(), shape.len() as c_int);
            if rank == 0 {
                call!(self.s, nc_insert_compound(self.id, ty, name, *offset, *of));
            } else {
                call!(
                    self.s,
                    nc_insert_array_compound(self.id, ty, name, *offset, *of, rank, shape.as_ptr())
                );
            }
        }
        ty
    }

    pub fn vlen(&self, name: &CStr, of: c_int) -> c_int {
        let mut ty = 0;
        call!(self.s, nc_def_vlen(self.id, name.as_ptr(), of, &mut ty));
        ty
    }

    pub fn enumeration<T>(&self, name: &CStr, base: c_int, members: &[(&CStr, T)]) -> c_int {
        let mut ty = 0;
        call!(self.s, nc_def_enum(self.id, base, name.as_ptr(), &mut ty));
        for (name, value) in members {
            call!(self.s, nc_insert_enum(self.id, ty, name.as_ptr(), std::ptr::from_ref(value)));
        }
        ty
    }

    pub fn put<T>(&self, var: c_int, values: &[T]) {
        call!(self.s, nc_put_var(self.id, var, values.as_ptr()));
    }

    pub fn put_part<T>(&self, var: c_int, start: &[usize], count: &[usize], values: &[T]) {
        call!(self.s, nc_put_vara(self.id, var, start.as_ptr(), count.as_ptr(), values.as_ptr()));
    }

    pub fn att<T>(&self, var: c_int, name: &CStr, ty: c_int, values: &[T]) {
        call!(self.s, nc_put_att(self.id, var, name.as_ptr(), ty, values.len(), values.as_ptr()));
    }

    pub fn fill<T>(&self, var: c_int, value: &T) {
        call!(self.s, nc_def_var_fill(self.id, var, 0, std::ptr::from_ref(value)));
    }

    pub fn group(&self, name: &CStr) -> Maker<'_> {
        let mut id = 0;
        call!(self.s, nc_def_grp(self.id, name.as_ptr(), &mut id));
        Maker { s: self.s, id }
    }
}

/// Types of all classes, within each other, on variables and attributes, in nested groups.
pub fn types(m: &Maker<'_>) {
    let (n, t, k, u) = (m.dim(c"n", 3), m.dim(c"t", 0), m.dim(c"k", 2), m.dim(c"u", 0));
    let colour = m.enumeration(c"colour", 1, &[(c"red", 0i8), (c"green", -1), (c"blue", 7)]);
    let wide = m.enumeration(c"wide", 11, &[(c"low", 0u64), (c"high", u64::MAX)]);
    let mut blob = 0;
    call!(m.s, nc_def_opaque(m.id, 5usize, c"blob".as_ptr(), &mut blob));
    let (ints, words) = (m.vlen(c"ints", 4), m.vlen(c"words", 12));
    let lists = m.vlen(c"lists", ints);
    use std::mem::{offset_of, size_of};
    let point_type = m.compound(
        size_of::<Point>(),
        c"point",
        &[
            (c"tag", offset_of!(Point, tag), 1, &[]),
            (c"x", offset_of!(Point, x), 6, &[]),
            (c"y", offset_of!(Point, y), 3, &[2, 3]),
            (c"colour", offset_of!(Point, colour), colour, &[]),
        ],
    );
    let mixed_type = m.compound(
        size_of::<Mixed>(),
        c"mixed",
        &[
            (c"points", offset_of!(Mixed, points), point_type, &[2]),
            (c"text", offset_of!(Mixed, text), 12, &[]),
            (c"lists", offset_of!(Mixed, lists), ints, &[2]),
            (c"blob", offset_of!(Mixed, blob), blob, &[]),
            (c"wide", offset_of!(Mixed, wide), wide, &[]),
            (c"letters", offset_of!(Mixed, letters), 2, &[4]),
        ],
    );
    let mixtures = m.vlen(c"mixtures", mixed_type);

    let colours = m.var(c"colours", colour, &[n]);
    m.fill(colours, &7i8);
    let unfilled_colours = m.var(c"unfilled_colours", colour, &[n]);
    let wides = m.var(c"wides", wide, &[t]);
    let blobs = m.var(c"blobs", blob, &[n]);
    m.fill(blobs, &[9u8, 8, 7, 6, 5]);
    let rows = m.var(c"rows", ints, &[t, k]);
    let texts = m.var(c"texts", words, &[n]);
    let deep = m.var(c"deep", lists, &[k]);
    let points = m.var(c"points", point_type, &[n]);
    let mixed_var = m.var(c"mixed_values", mixed_type, &[k]);
    let all = m.var(c"all", mixtures, &[k]);
    let strings = m.var(c"strings", 12, &[t, k]);
    let alone = m.var(c"alone", 12, &[]);
    let letters = m.var(c"letters", 2, &[n, k]);
    let grid = m.var(c"grid", 6, &[u, t]);
    let growing = m.var(c"growing", point_type, &[u]);
    m.var(c"empty", ints, &[u, n]);

    let (one, two): ([c_int; 3], [c_int; 1]) = ([1, 2, 3], [4]);
    let text_lists = [c"a".as_ptr(), c"".as_ptr(), c"ccc".as_ptr()];
    let some = [mixed(1, Some(c"in"), [&one, &two]), mixed(5, None, [&[], &one])];
    m.att(points, c"one", point_type, &[point(3)]);
    m.att(points, c"many", mixed_type, &some);
    m.att(GLOBAL, c"lists", ints, &[List::of(&one), List::of(&[]), List::of(&two)]);
    m.att(GLOBAL, c"blobs", blob, &[[1u8, 2, 3, 4, 5], [255; 5]]);
    m.att(GLOBAL, c"colours", colour, &[0i8, 7]);
    m.att(strings, c"list", 12, &text_lists);
    call!(m.s, nc_enddef(m.id));

    m.put(colours, &[0i8, -1, 7]);
    m.put_part(unfilled_colours, &[1], &[1], &[-1i8]);
    m.put_part(wides, &[0], &[5], &[0, u64::MAX, 0, u64::MAX, 0]);
    m.put_part(blobs, &[0], &[2], &[[1u8, 2, 3, 4, 5], [0; 5]]);
    let lists_of = [List::of(&one), List::of(&[]), List::of(&two), List::of(&one[..2])];
    m.put_part(rows, &[0, 0], &[2, 2], &lists_of);
    m.put(texts, &[List::of(&text_lists), List::of(&[]), List::of(&text_lists[1..])]);
    m.put(deep, &[List::of(&lists_of), List::of(&lists_of[1..2])]);
    m.put(points, &[point(1), point(2), point(3)]);
    m.put(mixed_var, &some);
    m.put(all, &[List::of(&some), List::of(&some[..0])]);
    m.put_part(
        strings,
        &[0, 0],
        &[2, 2],
        &[c"a".as_ptr(), c"bb".as_ptr(), c"".as_ptr(), c"\xc3\xa9".as_ptr()],
    );
    m.put(alone, &[c"alone".as_ptr()]);
    m.put(letters, b"abcdef");
    // Nothing is beyond the end of a dataset but in a first dimension, the only unlimited one: else the reference puts
    // what is read into wrong places.
    m.put_part(grid, &[2, 0], &[1, 5], &[1.5f64, 2.5, -3.5, 1e300, 300.0]);
    m.put_part(growing, &[0], &[1], &[point(9)]);

    let g = m.group(c"g");
    let (own_n, r) = (g.dim(c"n", 4), g.dim(c"r", 0));
    let inner = g.compound(8, c"inner", &[(c"a", 0, 4, &[]), (c"b", 4, 5, &[])]);
    let pairs = g.var(c"pairs", inner, &[own_n]);
    let shorts = g.var(c"shorts", 3, &[r, u]);
    g.att(GLOBAL, c"att", 4, &[5]);
    g.put(pairs, &[(1, 1.5f32), (2, 2.5), (3, 3.5), (4, 4.5)]);
    g.put_part(shorts, &[1, 1], &[1, 2], &[7i16, 8]);
    let h = g.group(c"h");
    let far = h.var(c"far", inner, &[n, r]);
    h.att(far, c"inner", inner, &[(7, 7.5f32)]);
    h.put_part(far, &[0, 1], &[2, 1], &[(1, 1.5f32), (2, 2.5)]);
    m.group(c"e");
}

/// Attributes of all atomic types, of no values, and of many.
pub fn attributes(m: &Maker<'_>) {
    let x = m.dim(c"x", 2);
    let var = m.var(c"x", 4, &[x]);
    for owner in [GLOBAL, var] {
        m.att(owner, c"text", 2, b"some text");
        m.att::<u8>(owner, c"nothing", 2, &[]);
        m.att::<u8>(owner, c"no_numbers", 4, &[]);
        m.att(owner, c"bytes", 1, &[1i8, -1, 127, -128]);
        m.att(owner, c"ubytes", 7, &[0u8, 128, 255]);
        m.att(owner, c"shorts", 3, &[300i16, -300, 5]);
        m.att(owner, c"ushorts", 8, &[65535u16, 1]);
        m.att(owner, c"ints", 4, &[1i32, -70000, 70000]);
        m.att(owner, c"uints", 9, &[4_000_000_000u32]);
        m.att(owner, c"int64s", 10, &[-5_000_000_000i64, 3]);
        m.att(owner, c"uint64s", 11, &[u64::MAX, 7]);
        m.att(owner, c"floats", 5, &[1.5f32, 1e9, -2.0, 4294967296.0]);
        m.att(owner, c"doubles", 6, &[1e300f64, -1.5, 3.0, 1e10]);
        m.att(owner, c"strings", 12, &[c"one".as_ptr(), c"".as_ptr(), c"three".as_ptr()]);
        m.att::<u8>(owner, c"no_strings", 12, &[]);
    }
    for (name, way) in [(c"groomed", 1), (c"rounded", 2), (c"bits", 3)] {
        let quantized = m.var(name, 5, &[x]);
        call!(m.s, nc_def_var_quantize(m.id, quantized, way, 4));
        m.put(quantized, &[1.5f32, -2.0]);
    }
    for number in 0..60 {
        let name = std::ffi::CString::new(format!("number{number}")).unwrap();
        m.att(GLOBAL, &name, 4, &[number]);
    }
}

const STORAGE: &str = "netcdf storage {
dimensions: x = 20 ; y = 30 ; t = UNLIMITED ;
variables:
 int contiguous(x, y) ; contiguous:_Storage = \"contiguous\" ;
 short chunked(x, y) ; chunked:_ChunkSizes = 7, 8 ;
 float deflated(t, y) ; deflated:_ChunkSizes = 3, 30 ; deflated:_DeflateLevel = 3 ; deflated:_Shuffle = \"true\" ;
 double checked(x) ; checked:_Fletcher32 = \"true\" ; checked:_ChunkSizes = 6 ;
 int big(x) ; big:_Endianness = \"big\" ;
 int64 bigchunk(t, x) ; bigchunk:_Endianness = \"big\" ; bigchunk:_DeflateLevel = 1 ;
 byte small(x) ; small:_Storage = \"compact\" ;
 ubyte unfilled(t) ; unfilled:_NoFill = \"true\" ;
 uint64 scalar ;
 ushort us(y) ;
 uint ui(y) ;
 char name(x) ;
 float x(x) ;
 double t(t) ;
 int filled(t, x) ; filled:_FillValue = -9 ;
data:
 contiguous = 1, 2, 3, -100000 ;
 chunked = 5, 6, 7, 300, -2 ;
 deflated = 1.5, 2.5, 3e10, -4 ;
 checked = 1, 2, 3, 1e300, -0.5 ;
 big = 1, 2, 70000 ;
 bigchunk = 1, 2, -3, 5000000000 ;
 small = 1, -2, 3 ;
 unfilled = 1, 200 ;
 scalar = 18446744073709551615 ;
 us = 1, 65535 ; ui = 4000000000, 2 ;
 name = \"hello\" ;
 x = 1, 2, 3 ;
 t = 10, 20, 30, 40 ;
 filled = 4, 5 ;
}";

const STRICT: &str = "netcdf strict {
dimensions: x = 4 ; t = UNLIMITED ;
variables: byte b(x) ; int i(t, x) ; char c(x) ; double d ;
  b:_FillValue = 3b ; i:units = \"m\" ; :neg = -1b, 100b ;
data: b = -1, 2, 100, -128 ; i = 1, 2, 3, 4, 5 ; d = 2.5 ;
}";

fn generate(s: &Session<'_>, name: &str, kind: &str, cdl: &str) {
    let (source, target) = (s.path(&format!("{name}.cdl")), s.path(&format!("{name}.nc")));
    let [source, target] = [source, target].map(|path| path.into_string().unwrap());
    std::fs::write(&source, cdl).unwrap();
    let done = Command::new("ncgen").args(["-k", kind, "-o", &target, &source]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    std::fs::remove_file(source).unwrap();
}

/// The folder with all files, made once.
pub fn all() -> &'static TempDir {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| {
        make(|s| {
            for (name, fill) in [("types.nc", types as fn(&Maker<'_>)), ("attributes.nc", attributes)] {
                let mut id = 0;
                call!(s, nc_create(s.path(name).as_ptr(), NC_NETCDF4, &mut id));
                fill(&Maker { s, id });
                call!(s, nc_close(id));
            }
            generate(s, "storage", "nc4", STORAGE);
            generate(s, "strict", "nc7", STRICT);
        })
    })
}
