//! netCDF-4 files made and changed through both C libraries: each call gives the same, and each library reads the same in
//! the file of the other.

use std::ffi::{CStr, c_int};
use std::ptr::{null, null_mut};

use ferrocdf_compat::ask::{GLOBAL, MEMORY, Options, ask};
use ferrocdf_compat::both::{Session, compare_content};
use ferrocdf_compat::call;

use ferrocdf_store::testing::Rng;

use super::files::{self, Maker};

const NC_NETCDF4: c_int = 0x1000;
const STRICT: c_int = NC_NETCDF4 | 0x100;
const NC_WRITE: c_int = 1;

/// Runs a test on both, and reads all that it left behind.
fn compare(test: impl Fn(&Session<'_>)) {
    compare_content(test, |s, path| ask(s, path, Options { values: true }));
}

fn create(s: &Session<'_>, mode: c_int) -> c_int {
    let mut id = 0;
    call!(s, nc_create(s.path("made.nc").as_ptr(), mode, &mut id));
    id
}

fn reopen(s: &Session<'_>, id: c_int) -> c_int {
    let mut again = 0;
    call!(s, nc_close(id));
    call!(s, nc_open(s.path("made.nc").as_ptr(), NC_WRITE, &mut again));
    again
}

#[test]
fn types_of_all_classes() {
    compare(|s| {
        let id = create(s, NC_NETCDF4);
        files::types(&Maker { s, id });
        call!(s, nc_close(id));
    });
}

#[test]
fn attributes_of_all_types() {
    compare(|s| {
        let id = create(s, NC_NETCDF4);
        files::attributes(&Maker { s, id });
        call!(s, nc_close(id));
    });
}

/// Define mode comes and goes by itself, unless the file keeps to the classic model.
#[test]
fn modes() {
    for mode in [NC_NETCDF4, STRICT] {
        compare(|s| {
            let id = create(s, mode);
            let m = Maker { s, id };
            call!(s, nc_redef(id));
            let (x, t) = (m.dim(c"x", 3), m.dim(c"t", 0));
            m.dim(c"u", 0);
            let v = m.var(c"v", 4, &[x]);
            m.put(v, &[1, 2, 3]);
            call!(s, nc_sync(id));
            call!(s, nc_enddef(id));
            call!(s, nc_enddef(id));
            m.put(v, &[1, 2, 3]);
            let w = m.var(c"w", 5, &[t, x]);
            call!(s, nc_redef(id));
            let w = if w == 0 { m.var(c"w", 5, &[t, x]) } else { w };
            call!(s, nc_redef(id));
            m.put_part(w, &[1, 0], &[1, 3], &[1.5f32, 2.5, 3.5]);
            let mut got = [0f32; 6];
            call!(s, nc_get_var_float(id, w, &mut got));
            call!(s, nc_enddef(id));
            m.put_part(w, &[1, 0], &[1, 3], &[1.5f32, 2.5, 3.5]);
            call!(s, nc_get_var_float(id, w, &mut got));
            s.note(got);
            m.att(GLOBAL, c"late", 4, &[1, 2]);
            call!(s, nc_enddef(id));
            m.att(w, c"long", 2, b"a long text");
            m.dim(c"late", 2);
            m.group(c"g");
            call!(s, nc_del_att(id, w, c"nothing".as_ptr()));
            call!(s, nc_rename_att(id, GLOBAL, c"late".as_ptr(), c"later".as_ptr()));
            call!(s, nc_sync(id));
            let id = reopen(s, id);
            let m = Maker { s, id };
            m.var(c"more", 6, &[x]);
            call!(s, nc_redef(id));
            m.var(c"more", 6, &[x]);
            m.put_part(w, &[2, 0], &[1, 2], &[4.5f32, 5.5]);
            call!(s, nc_enddef(id));
            m.put_part(w, &[2, 0], &[1, 2], &[4.5f32, 5.5]);
            call!(s, nc_close(id));
        });
    }
}

#[test]
fn aborting() {
    compare(|s| {
        let id = create(s, NC_NETCDF4);
        Maker { s, id }.dim(c"x", 3);
        call!(s, nc_abort(id));
        s.say(format!("{:?}", std::path::Path::new(s.path("made.nc").to_str().unwrap()).exists()));
        let id = create(s, NC_NETCDF4);
        let m = Maker { s, id };
        let x = m.dim(c"x", 3);
        let v = m.var(c"v", 3, &[x]);
        m.put(v, &[1i16, 2, 3]);
        m.var(c"w", 3, &[x]);
        m.att(v, c"units", 2, b"m");
        call!(s, nc_abort(id));
    });
}

#[test]
fn what_the_classic_model_refuses() {
    compare(|s| {
        let id = create(s, STRICT);
        let m = Maker { s, id };
        m.dim(c"long", 1usize << 33);
        m.dim(c"x", 2);
        m.var(c"s", 12, &[]);
        m.var(c"u", 9, &[]);
        m.att(GLOBAL, c"u", 9, &[1u32]);
        m.att(GLOBAL, c"s", 12, &[c"a".as_ptr()]);
        m.vlen(c"list", 4);
        m.group(c"g");
        m.att(GLOBAL, c"b", 1, &[1i8]);
        m.var(c"v", 1, &[0]);
        call!(s, nc_close(id));
    });
}

/// Names of the format's own, names that are taken, and renaming what is.
#[test]
fn names() {
    compare(|s| {
        let id = create(s, NC_NETCDF4);
        let m = Maker { s, id };
        let (x, y) = (m.dim(c"x", 3), m.dim(c"y", 2));
        let (v, c) = (m.var(c"v", 4, &[x, y]), m.var(c"x", 6, &[x]));
        for name in [c"CLASS", c"NAME", c"_NCProperties", c"_Netcdf4Dimid", c"REFERENCE_LIST", c"_nc3_strict"]
        {
            m.att(GLOBAL, name, 4, &[1]);
            m.att(v, name, 4, &[1]);
        }
        m.group(c"v");
        m.group(c"g");
        m.var(c"g", 4, &[]);
        m.vlen(c"g", 4);
        m.vlen(c"list", 4);
        m.dim(c"x", 4);
        m.dim(c"a/b", 4);
        m.att(v, c"units", 2, b"m");
        call!(s, nc_rename_att(id, v, c"units".as_ptr(), c"unit".as_ptr()));
        call!(s, nc_rename_att(id, v, c"units".as_ptr(), c"unit".as_ptr()));
        call!(s, nc_rename_dim(id, x, c"y".as_ptr()));
        call!(s, nc_rename_dim(id, 77, c"z".as_ptr()));
        call!(s, nc_rename_var(id, 77, c"z".as_ptr()));
        call!(s, nc_rename_var(id, v, c"x".as_ptr()));
        call!(s, nc_rename_var(id, v, c"vv".as_ptr()));
        m.put(v, &[1, 2, 3, 4, 5, 6]);
        m.put(c, &[1.0f64, 2.0, 3.0]);
        call!(s, nc_rename_dim(id, y, c"columns".as_ptr()));
        call!(s, nc_rename_grp(id, c"root".as_ptr()));
        call!(s, nc_del_att(id, v, c"unit".as_ptr()));
        call!(s, nc_del_att(id, v, c"unit".as_ptr()));
        call!(s, nc_close(id));
    });
}

fn tell_storage(s: &Session<'_>, id: c_int, var: c_int) {
    let (mut kind, mut chunks, mut a, mut b, mut c) = (-7, [77usize; 4], -7, -7, -7);
    call!(s, nc_inq_var_chunking(id, var, &mut kind, chunks.as_mut_ptr()));
    s.note((kind, chunks));
    call!(s, nc_inq_var_deflate(id, var, &mut a, &mut b, &mut c));
    s.note((a, b, c));
    let (mut count, mut ids) = (0usize, [0u32; 8]);
    call!(s, nc_inq_var_filter_ids(id, var, &mut count, ids.as_mut_ptr()));
    s.note((count, ids));
    call!(s, nc_inq_var_fill(id, var, &mut a, null_mut::<u8>()));
    call!(s, nc_inq_var_endian(id, var, &mut b));
    // Before the variable is made, Debian's library tells the mode of the file.
    s.note((a != 0, b));
}

/// How variables are to be stored: told at once, refused where it makes no sense, and decided when they are made.
#[test]
fn storage() {
    compare(|s| {
        let id = create(s, NC_NETCDF4);
        let m = Maker { s, id };
        let (x, y, t, u) = (m.dim(c"x", 20), m.dim(c"y", 3000), m.dim(c"t", 0), m.dim(c"u", 0));
        let scalar = m.var(c"scalar", 4, &[]);
        let shapes: [(&CStr, c_int, &[c_int]); 7] = [
            (c"fixed", 6, &[x, y]),
            (c"line", 5, &[t]),
            (c"wide_line", 10, &[t]),
            (c"rows", 3, &[t, x, y]),
            (c"all", 4, &[t, u]),
            (c"strings", 12, &[t, x]),
            (c"columns", 1, &[x, t]),
        ];
        let vars = shapes.map(|(name, ty, dims)| m.var(name, ty, dims));
        vars.iter().for_each(|&var| tell_storage(s, id, var));
        tell_storage(s, id, scalar);
        let (chunk, large, zero) = ([5usize, 7, 9, 2], [50usize, 7, 9, 2], [0usize; 4]);
        for (at, &var) in [scalar].iter().chain(&vars).enumerate() {
            for kind in [1, 2, 0, 0, 5] {
                call!(s, nc_def_var_chunking(id, var, kind, null::<usize>()));
            }
            call!(s, nc_def_var_chunking(id, var, 0, chunk.as_ptr()));
            call!(s, nc_def_var_chunking(id, var, 0, large.as_ptr()));
            if at == 0 {
                call!(s, nc_def_var_chunking(id, var, 0, zero.as_ptr()));
            }
            tell_storage(s, id, var);
            call!(s, nc_def_var_endian(id, var, 2));
            call!(s, nc_def_var_endian(id, var, 0));
            call!(s, nc_def_var_fill(id, var, 1, null::<u8>()));
            tell_storage(s, id, var);
            // What is never written must have a value, to be compared.
            call!(s, nc_def_var_fill(id, var, 0, null::<u8>()));
            // Debian's library takes no filters of strings, newer ones do.
            if at == 6 {
                continue;
            }
            call!(s, nc_def_var_szip(id, var, 32, 33));
            call!(s, nc_def_var_deflate(id, var, 0, 1, 0));
            call!(s, nc_def_var_deflate(id, var, 0, 1, 10));
            if at % 2 == 1 {
                call!(s, nc_def_var_deflate(id, var, 1, 1, 3));
                call!(s, nc_def_var_szip(id, var, 32, 8));
            }
            // Debian's library always adds a checksum here, if only asked to leave it out.
            if at % 3 == 1 {
                call!(s, nc_def_var_fletcher32(id, var, 1));
            }
            call!(s, nc_def_var_chunking(id, var, 1, null::<usize>()));
            tell_storage(s, id, var);
        }
        call!(s, nc_def_var_deflate(id, 77, 1, 1, 3));
        call!(s, nc_def_var_chunking(id, -1, 1, null::<usize>()));
        call!(s, nc_def_var_filter(id, vars[0], 1u32, 1usize, &5u32));
        call!(s, nc_def_var_filter(id, vars[0], 9999u32, 0usize, null::<u32>()));
        call!(s, nc_inq_filter_avail(id, 1u32));
        call!(s, nc_inq_filter_avail(id, 9999u32));
        call!(s, nc_def_var_quantize(id, vars[0], 1, 16));
        call!(s, nc_def_var_quantize(id, vars[0], 4, 3));
        call!(s, nc_def_var_quantize(id, vars[3], 1, 3));
        call!(s, nc_enddef(id));
        let var = vars[0];
        call!(s, nc_def_var_deflate(id, var, 1, 1, 3));
        call!(s, nc_def_var_chunking(id, var, 0, chunk.as_ptr()));
        call!(s, nc_def_var_fill(id, var, 1, null::<u8>()));
        call!(s, nc_def_var_endian(id, var, 1));
        call!(s, nc_def_var_quantize(id, var, 1, 3));
        call!(s, nc_def_var_filter(id, var, 1u32, 1usize, &3u32));
        call!(s, nc_redef(id));
        call!(s, nc_def_var_filter(id, var, 1u32, 1usize, &3u32));
        m.att(var, c"_FillValue", 6, &[1.0f64]);
        m.put_part(vars[1], &[4], &[2], &[1.5f32, 2.5]);
        call!(s, nc_close(id));
    });
}

/// Filters that are told more by the library than by the program: n-bit and scale-offset.
#[test]
fn filters_that_learn() {
    compare(|s| {
        let id = create(s, NC_NETCDF4);
        let m = Maker { s, id };
        let (x, y) = (m.dim(c"x", 6), m.dim(c"y", 5));
        for (at, ty) in [1, 3, 4, 5, 6, 7, 8, 9, 10, 11].into_iter().enumerate() {
            for filter in [5u32, 6] {
                let name = std::ffi::CString::new(format!("v{ty}_{filter}")).unwrap();
                let var = m.var(&name, ty, &[x, y]);
                call!(s, nc_def_var_endian(id, var, 1 + (at % 2) as c_int));
                call!(s, nc_def_var_chunking(id, var, 0, [4usize, 5].as_ptr()));
                let way = if [5, 6].contains(&ty) { [0u32, 2] } else { [2, 0] };
                let count = if filter == 5 { 0usize } else { 2 };
                call!(s, nc_def_var_filter(id, var, filter, count, way.as_ptr()));
                call!(s, nc_enddef(id));
                let values: Vec<f64> = (0..15).map(|at| f64::from(at) * 1.25 + 3.0).collect();
                let (first, many) = ([1usize, 0], [3usize, 5]);
                call!(s, nc_put_vara_double(id, var, first.as_ptr(), many.as_ptr(), values.as_ptr()));
                call!(s, nc_redef(id));
            }
        }
        call!(s, nc_close(id));
    });
}

/// The types of memory that are numbers: neither text, the first, nor strings, the last.
fn numbers_of_memory() -> &'static [(&'static str, usize)] {
    &MEMORY[1..MEMORY.len() - 1]
}

/// Small whole numbers of a type of memory, one after the other.
fn numbers(ending: &str, size: usize, first: u64) -> Vec<u8> {
    let number = |at: u64| match ending {
        "_float" => ((first + at) as f32).to_ne_bytes().to_vec(),
        "_double" => ((first + at) as f64).to_ne_bytes().to_vec(),
        _ => (first + at).to_ne_bytes()[..size].to_vec(),
    };
    (0..400).flat_map(number).collect()
}

/// Random parts of variables, right and wrong ones, along a dimension that grows; some of them in define mode.
#[test]
fn random_puts() {
    compare(|s| {
        let id = create(s, NC_NETCDF4);
        let m = Maker { s, id };
        let (x, y, t) = (m.dim(c"x", 4), m.dim(c"y", 5), m.dim(c"t", 0));
        let shapes: [&[(c_int, usize)]; 4] = [&[(t, 0), (x, 4)], &[(x, 4), (y, 5)], &[(t, 0)], &[]];
        let mut vars = vec![];
        for (at, shape) in shapes.iter().enumerate() {
            for ty in [1, 3, 4, 5, 6, 7, 8, 10, 11] {
                let name = std::ffi::CString::new(format!("v{at}_{ty}")).unwrap();
                let dims: Vec<c_int> = shape.iter().map(|(dim, _)| *dim).collect();
                vars.push((m.var(&name, ty, &dims), *shape));
            }
        }
        let mut rng = Rng::new(7);
        for turn in 0..1200 {
            let (var, shape) = rng.pick(&vars);
            let (mut start, mut count, mut stride, mut map) = (vec![], vec![], vec![], vec![]);
            let wild = rng.once_in(4);
            for &(_, len) in shape {
                let room = if len == 0 { 6 } else { len };
                let first = if wild { rng.index(room + 2) } else { rng.index(room) };
                let step = 1 + rng.index(2);
                let many = if wild { rng.index(4) } else { 1 + rng.index((room - first).div_ceil(step)) };
                start.push(first);
                count.push(many);
                stride.push(if wild && rng.once_in(9) { 0 } else { step as isize });
                map.push(if map.is_empty() && shape.len() == 2 { 9isize } else { 1 });
            }
            if rng.once_in(2) {
                map.reverse();
            }
            let (ending, size) = rng.pick(numbers_of_memory());
            let bytes = numbers(ending, size, turn % 400);
            let values = bytes.as_ptr();
            let (first, many, strides, maps) =
                (start.as_ptr(), count.as_ptr(), stride.as_ptr(), map.as_ptr());
            // SAFETY: the lists have a number for each dimension, and there are more values than are taken.
            unsafe {
                match rng.below(5) {
                    0 => s.call(&format!("nc_put_var1{ending}"), (id, var, first, values)),
                    1 => s.call(&format!("nc_put_vars{ending}"), (id, var, first, many, strides, values)),
                    2 => {
                        s.call(&format!("nc_put_varm{ending}"), (id, var, first, many, strides, maps, values))
                    }
                    3 if wild => {
                        s.call(&format!("nc_put_vara{ending}"), (id, var, null::<usize>(), many, values))
                    }
                    _ => s.call(&format!("nc_put_vara{ending}"), (id, var, first, many, values)),
                }
            };
            s.note((var, &start, &count, &stride, &map));
            let mut len = 0usize;
            call!(s, nc_inq_dimlen(id, t, &mut len));
            s.note(len);
            if rng.once_in(50) {
                m.att(var, c"turn", 4, &[turn as c_int]);
            }
        }
        call!(s, nc_close(id));
    });
}

#[test]
fn fill_values() {
    compare(|s| {
        let id = create(s, NC_NETCDF4);
        let m = Maker { s, id };
        let (x, t) = (m.dim(c"x", 3), m.dim(c"t", 0));
        let v = m.var(c"v", 4, &[x]);
        m.att(v, c"_FillValue", 5, &[1f32]);
        m.att(v, c"_FillValue", 4, &[1, 2]);
        m.att(v, c"_FillValue", 4, &[7]);
        m.fill(v, &8);
        let mut old = -7;
        call!(s, nc_set_fill(id, 0x100, &mut old));
        s.note(old);
        let w = m.var(c"w", 3, &[t, x]);
        let words = m.var(c"words", 12, &[x]);
        call!(s, nc_def_var_fill(id, words, 1, null::<u8>()));
        m.fill(words, &c"none".as_ptr());
        call!(s, nc_set_fill(id, 0, &mut old));
        s.note(old);
        tell_storage(s, id, w);
        call!(s, nc_def_var_fill(id, w, 0, null::<u8>()));
        m.put_part(v, &[1], &[1], &[5]);
        m.att(v, c"_FillValue", 4, &[9]);
        m.put_part(w, &[2, 1], &[1, 1], &[5i16]);
        m.put_part(words, &[1], &[1], &[c"one".as_ptr()]);
        call!(s, nc_close(id));
    });
}

/// A type is whole when it goes to the file, and stays so; attributes of types go where there is an equal one.
#[test]
fn types_change_until_they_are_made() {
    compare(|s| {
        let id = create(s, NC_NETCDF4);
        let m = Maker { s, id };
        let pair = m.compound(8, c"pair", &[(c"a", 0, 4, &[]), (c"b", 4, 5, &[])]);
        let colour = m.enumeration(c"colour", 1, &[(c"red", 0i8)]);
        let mut ty = 0;
        call!(s, nc_def_opaque(id, 0usize, c"none".as_ptr(), &mut ty));
        call!(s, nc_def_compound(id, 0usize, c"none".as_ptr(), &mut ty));
        call!(s, nc_insert_enum(id, pair, c"green".as_ptr(), &1i8));
        call!(s, nc_insert_compound(id, colour, c"c".as_ptr(), 0usize, 4));
        m.att(GLOBAL, c"pairs", pair, &[(1, 1.5f32), (2, 2.5)]);
        call!(s, nc_enddef(id));
        call!(s, nc_insert_enum(id, colour, c"green".as_ptr(), &1i8));
        call!(s, nc_insert_compound(id, pair, c"c".as_ptr(), 0usize, 4));
        let v = m.var(c"v", pair, &[]);
        call!(s, nc_copy_att(id, GLOBAL, c"pairs".as_ptr(), id, v));
        let mut other = 0;
        call!(s, nc_create(s.path("other.nc").as_ptr(), NC_NETCDF4, &mut other));
        call!(s, nc_copy_att(id, GLOBAL, c"pairs".as_ptr(), other, GLOBAL));
        let o = Maker { s, id: other };
        o.vlen(c"first", 4);
        o.compound(8, c"pair", &[(c"a", 0, 4, &[]), (c"b", 4, 5, &[])]);
        call!(s, nc_copy_att(id, GLOBAL, c"pairs".as_ptr(), other, GLOBAL));
        call!(s, nc_close(other));
        call!(s, nc_close(id));
    });
}

/// Renaming looks at names alone: what becomes a fill value so need not be one.
#[test]
fn attributes_become_fill_values_by_renaming() {
    for mode in [NC_NETCDF4, STRICT] {
        compare(|s| {
            let id = create(s, mode);
            let m = Maker { s, id };
            let x = m.dim(c"x", 3);
            let v = m.var(c"v", 3, &[x]);
            m.att(v, c"other", 5, &[-9f32]);
            call!(s, nc_rename_att(id, v, c"other".as_ptr(), c"_FillValue".as_ptr()));
            call!(s, nc_enddef(id));
            m.put(v, &[1, 2]);
            let id = reopen(s, id);
            call!(s, nc_rename_att(id, v, c"_FillValue".as_ptr(), c"third".as_ptr()));
            call!(s, nc_close(id));
        });
    }
}
