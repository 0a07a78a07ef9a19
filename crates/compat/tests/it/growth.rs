//! Headers that grow: data is moved, or finds the room that was left for it.

use ferrocdf::{Alignment, Atomic, Format, Values};
use ferrocdf_classic::Header;
use ferrocdf_compat::script::{Access, Op};
use ferrocdf_store::FileBlob;

use crate::{FORMATS, Pair, att, both, dim, var};

/// A file with fixed-size and record variables, some padded, and three records.
fn start(format: Format, alignment: Option<Alignment>) -> Vec<Op> {
    let put = |var, ty: Atomic, count: &[u64]| {
        let access = Access::slab(var, ty, &vec![0; count.len()], count);
        let bytes = (0..access.elements() * ty.size()).map(|at| (at * 7 + 3) as u8).collect();
        Op::Put(access, bytes)
    };
    vec![
        Op::Create(format, false),
        dim("t", 0),
        dim("x", 3),
        var("bytes", Atomic::Byte, &[1]),
        var("doubles", Atomic::Double, &[1]),
        var("rows", Atomic::Short, &[0, 1]),
        var("times", Atomic::Float, &[0]),
        Op::Enddef(alignment),
        put(0, Atomic::Byte, &[3]),
        put(1, Atomic::Double, &[3]),
        put(2, Atomic::Short, &[3, 3]),
        put(3, Atomic::Float, &[3]),
    ]
}

fn begins(pair: &Pair) -> Vec<u64> {
    let (header, _) = Header::read(&FileBlob::open(&pair.ours()).unwrap()).unwrap();
    header.vars.iter().map(|var| var.begin).collect()
}

fn grown(format: Format, alignment: Option<Alignment>, more: &[Op]) -> (Vec<u64>, Vec<u64>) {
    let mut ops = start(format, alignment);
    ops.extend([Op::Dump, Op::Close]);
    let before = both(&ops);
    before.assert_identical();
    ops.extend([Op::Open, Op::Redef]);
    ops.extend(more.iter().cloned());
    ops.extend([Op::Enddef(None), Op::Dump, Op::Close, Op::Read, Op::Dump, Op::Close]);
    let after = both(&ops);
    after.read(&[Op::Read, Op::Dump, Op::Close]);
    (begins(&before), begins(&after))
}

fn long_text() -> Op {
    Op::Att(None, "history".to_string(), Values::Char(vec![b'h'; 5000]))
}

#[test]
fn data_moves_behind_a_longer_header() {
    for format in FORMATS {
        let (before, after) = grown(format, None, &[long_text()]);
        assert!(before.iter().zip(&after).all(|(before, after)| before + 5000 <= *after));
    }
}

#[test]
fn data_stays_where_there_is_room() {
    let roomy = Alignment { header_free: 6000, fixed: 4, fixed_free: 100, records: 512 };
    for format in FORMATS {
        let (before, after) = grown(format, Some(roomy), &[long_text()]);
        assert_eq!(before, after);
        assert_eq!(before[2] % 512, 0);
        // New fixed-size variables go into the room before the records.
        let (before, after) = grown(format, Some(roomy), &[var("new", Atomic::Double, &[1])]);
        assert_eq!(before[..4], after[..4]);
    }
}

#[test]
fn new_variables_move_what_follows() {
    for format in FORMATS {
        grown(
            format,
            None,
            &[dim("y", 5), var("fixed", Atomic::Byte, &[2]), var("record", Atomic::Char, &[0, 2])],
        );
        grown(format, None, &[var("record", Atomic::Short, &[0]), att("a", 1)]);
    }
}

#[test]
fn a_second_record_variable_pads_the_first() {
    for format in FORMATS {
        for ty in [Atomic::Byte, Atomic::Short] {
            let rows: Vec<u8> = (0..7 * 3 * ty.size() as u8).collect();
            let mut ops = vec![
                Op::Create(format, false),
                dim("t", 0),
                dim("x", 3),
                var("lone", ty, &[0, 1]),
                Op::Enddef(None),
                Op::Put(Access::slab(0, ty, &[0, 0], &[7, 3]), rows),
                Op::Sync,
            ];
            let lone = both(&[&ops[..], &[Op::Close]].concat());
            lone.assert_identical();
            let size = std::fs::metadata(lone.ours()).unwrap().len();
            assert_eq!(size - begins(&lone)[0], 7 * 3 * ty.size() as u64, "no padding");
            ops.extend([
                Op::Redef,
                var("second", Atomic::Byte, &[0]),
                Op::Enddef(None),
                Op::Dump,
                Op::Put(Access::slab(1, Atomic::Byte, &[7], &[1]), vec![9]),
                Op::Dump,
                Op::Close,
            ]);
            both(&ops).read(&[Op::Read, Op::Dump, Op::Close]);
        }
    }
}

#[test]
fn alignment_holds_in_a_redefinition_too() {
    // The reference leaves data where it was if that is behind the new header, aligned or not.
    let unaligned = Alignment { header_free: 202, ..Alignment::default() };
    let folder = tempfile::tempdir().unwrap();
    let mut ops = start(Format::CLASSIC, Some(unaligned));
    let aligned = Alignment { fixed: 512, records: 1024, ..Alignment::default() };
    ops.extend([Op::Redef, Op::Enddef(Some(aligned)), Op::Dump, Op::Close]);
    let path = folder.path().join("ours.nc");
    let lines = ferrocdf_compat::script::run(&path, &ops);
    assert!(lines.iter().all(|line| line.starts_with('0')), "{lines:?}");
    let (header, _) = Header::read(&FileBlob::open(&path).unwrap()).unwrap();
    assert_eq!((header.vars[0].begin % 512, header.vars[2].begin % 1024), (0, 0));
    let read = [Op::Read, Op::Dump, Op::Close];
    assert_eq!(crate::reference().run(&path, &read)[1], lines[lines.len() - 2]);
}
