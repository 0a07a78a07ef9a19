//! Sizes at and beyond the limits, on sparse files.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use ferrocdf::{Atomic, File, Format};
use ferrocdf_classic::Header;
use ferrocdf_compat::script::{Access, Op};
use ferrocdf_store::FileBlob;

use crate::{FORMATS, both, dim, var};

/// A script that only defines, with fill mode off so that nothing large is written.
fn define(format: Format, dims: &[u64], vars: &[(Atomic, &[u32])]) -> Vec<Op> {
    let mut ops = vec![Op::Create(format, true)];
    ops.extend(dims.iter().enumerate().map(|(at, &len)| dim(&format!("d{at}"), len)));
    ops.extend(vars.iter().enumerate().map(|(at, (ty, dims))| var(&format!("v{at}"), *ty, dims)));
    ops.push(Op::Enddef(None));
    ops
}

fn header(path: &Path) -> Header {
    Header::read(&FileBlob::open(path).unwrap()).unwrap().0
}

#[test]
fn size_limits_are_those_of_the_reference_at_the_boundary() {
    const T: u32 = 0;
    let (one, two) = (1 << 31, 1u64 << 32);
    let mut accepted = 0;
    let mut refused = 0;
    for format in FORMATS {
        // The length of the one large dimension, in bytes.
        for len in [one - 8, one - 5, one - 4, one - 3, one, two - 8, two - 5, two - 4, two - 3, two, two + 4]
        {
            if len > format.max_dim_len() {
                continue;
            }
            let dims = [0, len, 3];
            let (big, small) = ((Atomic::Byte, &[1][..]), (Atomic::Byte, &[2][..]));
            let (big_record, small_record) = ((Atomic::Byte, &[T, 1][..]), (Atomic::Byte, &[T, 2][..]));
            let wide = (Atomic::Double, &[1][..]);
            let cases: [&[_]; 14] = [
                &[big],
                &[small, big],
                &[big, small],
                &[big, big],
                &[big, small_record],
                &[small, big_record],
                &[small_record, big_record],
                &[big_record, small_record],
                &[big_record],
                &[big, big_record],
                &[wide],
                &[wide, small],
                &[(Atomic::Byte, &[1, 2])],
                &[(Atomic::Short, &[T, 1]), small],
            ];
            for vars in cases {
                let ops = define(format, &dims, vars);
                let pair = both(&ops);
                match pair.lines.last().map(String::as_str) {
                    Some("0") => {
                        accepted += 1;
                        // Closing makes the file as long as its data, which leaves it sparse.
                        let closed = [&ops[..], &[Op::Close, Op::Read, Op::Inspect, Op::Close]].concat();
                        let pair = both(&closed);
                        assert_eq!(header(&pair.theirs()), header(&pair.ours()));
                        let size = |path| std::fs::metadata(path).unwrap().len();
                        assert_eq!(size(pair.theirs()), size(pair.ours()), "{vars:?}");
                    }
                    Some("-62") => refused += 1,
                    other => panic!("{other:?}"),
                }
            }
        }
    }
    assert!(accepted > 200 && refused > 20, "{accepted} accepted, {refused} refused");
}

#[test]
fn vsize_of_a_large_variable_is_all_ones() {
    for format in [Format::CLASSIC, Format::OFFSET64] {
        let len = format.max_dim_len();
        let pair = both(&[&define(format, &[len], &[(Atomic::Double, &[0])])[..], &[Op::Close]].concat());
        assert_eq!(header(&pair.theirs()).vars[0].vsize, u64::from(u32::MAX));
        assert_eq!(header(&pair.ours()), header(&pair.theirs()));
    }
}

#[test]
fn data_beyond_4_gib_is_written_and_read() {
    for format in FORMATS {
        // A variable of 5 GiB, the last one as CDF-1 and CDF-2 ask, so the far one is before it where that is allowed.
        let (rows, row) = (5 << 10, 1 << 20);
        let mut vars: Vec<(Atomic, &[u32])> = vec![(Atomic::Int, &[0])];
        if format != Format::CLASSIC {
            vars.push((Atomic::Byte, &[1, 2]));
            vars.push((Atomic::Byte, &[1, 2]));
        }
        vars.push((Atomic::Short, &[0, 2]));
        let dims = [rows / 2, (4 << 10) - 1, row];
        let mut ops = define(format, &dims, &vars);
        let last = vars.len() as u32 - 1;
        for (at, (ty, dims_of)) in vars.iter().enumerate() {
            let end: Vec<u64> = dims_of.iter().map(|&dim| dims[dim as usize] - 1).collect();
            let ones = vec![1; end.len()];
            ops.push(Op::Put(Access::slab(at as u32, *ty, &end, &ones), vec![at as u8 + 1; ty.size()]));
            ops.push(Op::Put(
                Access::slab(at as u32, *ty, &vec![0; end.len()], &ones),
                vec![0x55; ty.size()],
            ));
        }
        // A line across all of it.
        let across = Access::slab(last, Atomic::Int, &[0, 7], &[dims[0], 1]);
        ops.push(Op::Put(
            across.clone(),
            (0..dims[0] as u32).flat_map(u32::to_ne_bytes).map(|b| b & 0x7f).collect(),
        ));
        ops.push(Op::Close);
        let pair = both(&ops);
        assert_eq!(header(&pair.theirs()), header(&pair.ours()));
        assert!(std::fs::metadata(pair.ours()).unwrap().len() > 5 << 30);
        let mut reads = vec![Op::Read, Op::Get(across, dims[0] as usize)];
        for (at, (ty, dims_of)) in vars.iter().enumerate() {
            let end: Vec<u64> = dims_of.iter().map(|&dim| dims[dim as usize] - 1).collect();
            let ones = vec![1; end.len()];
            reads.push(Op::Get(Access::slab(at as u32, *ty, &end, &ones), 1));
            reads.push(Op::Get(Access::slab(at as u32, *ty, &vec![0; end.len()], &ones), 1));
        }
        reads.push(Op::Close);
        pair.read(&reads);
    }
}

#[test]
fn records_beyond_4_gib_are_written_and_read() {
    for format in FORMATS {
        let mut ops = define(format, &[0, 1 << 20], &[(Atomic::Int, &[0, 1]), (Atomic::Byte, &[0])]);
        for record in [0, 1, 1100, 1500] {
            let bytes = (record as u32).to_ne_bytes().to_vec();
            ops.push(Op::Put(Access::slab(0, Atomic::Int, &[record, 1000], &[1, 1]), bytes));
            ops.push(Op::Put(Access::slab(1, Atomic::Byte, &[record], &[1]), vec![record as u8]));
        }
        ops.push(Op::Close);
        let pair = both(&ops);
        assert_eq!(header(&pair.theirs()), header(&pair.ours()));
        assert!(std::fs::metadata(pair.ours()).unwrap().len() > 5 << 30);
        pair.read(&[
            Op::Read,
            Op::Get(Access::slab(0, Atomic::Int, &[0, 1000], &[1501, 1]), 1501),
            Op::Get(Access::slab(1, Atomic::Byte, &[0], &[1501]), 1501),
            Op::Close,
        ]);
    }
}

#[test]
fn an_indeterminate_number_of_records_is_computed_from_the_length() {
    // The reference takes the number as it stands. Here is what the format's description asks for.
    for (format, width) in [(Format::CLASSIC, 4), (Format::OFFSET64, 4), (Format::DATA64, 8)] {
        for vars in [&[(Atomic::Short, &[0, 1][..])][..], &[(Atomic::Short, &[0, 1]), (Atomic::Double, &[0])]]
        {
            let mut ops = define(format, &[0, 3], vars);
            let rows: Vec<u8> = (0..30).collect();
            ops.extend([Op::Put(Access::slab(0, Atomic::Short, &[0, 0], &[5, 3]), rows), Op::Close]);
            let pair = both(&ops);
            let plain = ferrocdf::open(pair.ours())
                .unwrap()
                .variable("v0")
                .unwrap()
                .get_values::<i16, _>(..)
                .unwrap();
            let mut bytes = std::fs::read(pair.ours()).unwrap();
            bytes[4..4 + width].fill(0xff);
            // Part of a record more does not make one.
            bytes.push(0);
            let file = File::from_bytes(bytes).unwrap();
            let variable = file.variable("v0").unwrap();
            assert_eq!(variable.shape(), [5, 3]);
            assert_eq!(variable.get_values::<i16, _>(..).unwrap(), plain);
        }
    }
}

#[test]
fn a_variable_that_is_added_without_fill_values_is_a_hole() {
    const LEN: u64 = 16 << 20;
    for format in FORMATS {
        // With values in the file before, and with the variable between others.
        let ops = [
            Op::Create(format, false),
            dim("x", 1000),
            dim("y", LEN),
            var("filled", Atomic::Int, &[0]),
            Op::Enddef(None),
            Op::SetFill(true),
            Op::Redef,
            var("hole", Atomic::Float, &[1]),
            var("last", Atomic::Int, &[0]),
            Op::Enddef(None),
            Op::Close,
        ];
        let pair = both(&ops);
        let [theirs, ours] = [pair.theirs(), pair.ours()].map(|path| std::fs::metadata(path).unwrap());
        assert_eq!(theirs.len(), ours.len());
        let space = [theirs, ours].map(|file| file.blocks() * 512);
        assert!(space.iter().all(|&space| space < LEN), "{format:?}: {space:?}");
    }
}
