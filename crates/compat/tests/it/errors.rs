//! Wrong calls give the codes of the reference, and odd files are understood as the reference does.

use ferrocdf::{Atomic, Format, Values};
use ferrocdf_compat::script::{Access, Op};

use crate::{FORMATS, att, both, dim, var};

#[test]
fn names() {
    let long =
        ["n".repeat(255), "n".repeat(256), "n".repeat(257), "\u{e9}".repeat(128), "\u{e9}".repeat(129)];
    let odd = (1..=0x7f).flat_map(|byte: u8| {
        let char = byte as char;
        [format!("{char}"), format!("{char}b"), format!("a{char}"), format!("a{char}b")]
    });
    let wide =
        ["\u{80}", "\u{a0}x", "x\u{a0}", "\u{6e29}\u{5ea6}", "\u{1f980}", "e\u{301}", "\u{fb01}", "\u{212b}"];
    let names: Vec<_> = odd.chain(long).chain(wide.map(str::to_string)).collect();
    let mut codes = vec![];
    // The reference writes headers of more than 8 KiB in whole blocks, which makes small files longer; so in parts.
    for names in names.chunks(8) {
        let mut ops = vec![Op::Create(Format::DATA64, false)];
        for name in names {
            ops.push(dim(&format!("d{name}"), 2));
            ops.push(dim(name, 2));
            ops.push(var(name, Atomic::Byte, &[]));
            ops.push(att(name, 1));
            ops.push(Op::RenDim(0, name.clone()));
        }
        ops.extend([Op::Inspect, Op::Enddef(None), Op::Close]);
        let pair = both(&ops);
        pair.assert_identical();
        codes.extend(pair.lines);
    }
    for code in ["-59", "-53", "-42"] {
        assert!(codes.iter().any(|line| line == code), "{code}");
    }
}

#[test]
fn definitions() {
    for format in FORMATS {
        let most = format.max_dim_len();
        let mut ops = vec![Op::Create(format, false), dim("t", 0), dim("u", 0), dim("t", 3), dim("x", 3)];
        ops.extend([dim("huge", most), var("v", Atomic::Int, &[0, 1]), var("v", Atomic::Int, &[0])]);
        if format != Format::DATA64 {
            // Beyond this the reference takes lengths for CDF-5 that are negative in its own arithmetic.
            ops.push(dim("more", most + 1));
        }
        ops.extend(Atomic::ALL.map(|ty| var(&format!("{ty}"), ty, &[1])));
        ops.extend([
            var("w", Atomic::Int, &[1, 0]),
            var("w", Atomic::Int, &[7]),
            var("w", Atomic::Int, &[0, 0]),
        ]);
        ops.extend([Op::RenDim(1, "t".into()), Op::RenDim(1, "x".into()), Op::RenVar(0, "v".into())]);
        ops.extend([Op::RenVar(0, "byte".into()), att("a", 1), att("b", 1)]);
        ops.extend([Op::RenAtt(None, "a".into(), "b".into()), Op::RenAtt(None, "c".into(), "d".into())]);
        ops.extend([Op::RenAtt(None, "c".into(), "/".into()), Op::DelAtt(None, "c".into())]);
        ops.extend(Atomic::ALL[..11].iter().map(|&ty| Op::Att(None, format!("of {ty}"), Values::empty(ty))));
        ops.extend([Op::Inspect, Op::Close]);
        both(&ops);
    }
}

#[test]
fn data() {
    for format in FORMATS {
        let mut ops = vec![
            Op::Create(format, false),
            dim("t", 0),
            dim("x", 3),
            dim("y", 4),
            var("fixed", Atomic::Short, &[1, 2]),
            var("record", Atomic::Float, &[0, 1]),
            var("text", Atomic::Char, &[1]),
            var("scalar", Atomic::Int, &[]),
            Op::Enddef(None),
            Op::Put(Access::slab(1, Atomic::Float, &[1, 0], &[1, 3]), vec![0; 12]),
        ];
        for start in [0, 2, 3, 4, 5, u64::MAX] {
            for count in [0, 1, 2, 4, 5] {
                let access = Access::slab(0, Atomic::Short, &[0, start], &[1, count]);
                ops.push(Op::Put(access.clone(), vec![1; 2 * count as usize]));
                ops.push(Op::Get(access.clone(), count as usize));
                for stride in [0, 1, 2, 3] {
                    if stride == 0 && start.saturating_add(count) > 4 {
                        // Two mistakes at once: which one is told first is not worth a rule.
                        continue;
                    }
                    if stride > 1 && start <= 4 && (count.max(1) - 1) * stride + start >= 4 {
                        // The reference looks at strided indices one by one, and gets or puts those before the wrong
                        // one; see `strides_that_lead_outside_change_nothing`.
                        continue;
                    }
                    let access = access.clone().strided(&[1, stride]);
                    ops.push(Op::Put(access.clone(), vec![1; 2 * count as usize]));
                    ops.push(Op::Get(access.clone(), count as usize));
                    ops.push(Op::Get(access.mapped(0, &[1, 1]), count as usize));
                }
            }
        }
        for memory in Atomic::ALL.into_iter().filter(|&ty| ty < Atomic::String) {
            for variable in [0, 2] {
                let start = vec![0; 2 - variable as usize / 2];
                let access = Access::slab(variable, memory, &start, &vec![1; start.len()]);
                ops.extend([Op::Put(access.clone(), vec![1; memory.size()]), Op::Get(access, 1)]);
            }
        }
        let scalar = Access::slab(3, Atomic::Int, &[], &[]);
        ops.extend([Op::Put(scalar.clone(), vec![1; 4]), Op::Get(scalar, 1), Op::Dump, Op::Close]);
        let pair = both(&ops);
        pair.assert_identical();
        // Records behind the last one. In a file open for writing the reference says NC_EEDGE for a hyperslab there,
        // and NC_EINVALCOORDS as here if strides are given.
        let mut ops = vec![Op::Read];
        for start in [0, 1, 2, 3, 5] {
            for count in [0, 1, 2, 3] {
                let access = Access::slab(1, Atomic::Float, &[start, 0], &[count, 1]);
                ops.push(Op::Get(access.clone(), count as usize));
                ops.push(Op::Get(access.strided(&[1, 1]), count as usize));
            }
        }
        ops.push(Op::Close);
        pair.read(&ops);
    }
}

#[test]
fn strides_that_lead_outside_change_nothing() {
    let ops = |op| {
        vec![
            Op::Create(Format::CLASSIC, false),
            dim("x", 4),
            var("v", Atomic::Byte, &[0]),
            Op::Enddef(None),
            op,
        ]
    };
    let access = Access::slab(0, Atomic::Byte, &[0], &[4]).strided(&[2]);
    let folder = tempfile::tempdir().unwrap();
    for op in [Op::Put(access.clone(), vec![1; 4]), Op::Get(access.clone(), 4)] {
        let theirs = crate::reference().run(&folder.path().join("theirs.nc"), &ops(op.clone()));
        assert_eq!(theirs[4], "-40");
        let ours = folder.path().join("ours.nc");
        let lines = ferrocdf_compat::script::run(&ours, &[ops(op), vec![Op::Dump]].concat());
        assert_eq!(lines[4], "-57");
        assert!(lines[5].ends_with("data .81818181"), "{}", lines[5]);
    }
}

#[test]
fn names_shortened_in_data_mode_keep_zero_bytes_that_are_not_part_of_them() {
    // Only the reference writes such names: it keeps their place in the header.
    for format in FORMATS {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("short.nc");
        let renames = [
            Op::Create(format, false),
            dim("longitude", 2),
            var("temperature", Atomic::Int, &[0]),
            att("some attribute", 5),
            Op::Enddef(None),
            Op::RenDim(0, "lon".into()),
            Op::RenVar(0, "temp".into()),
            Op::RenAtt(None, "some attribute".into(), "some".into()),
            Op::Close,
        ];
        assert!(crate::reference().run(&path, &renames).iter().all(|line| line == "0"));
        let read = [Op::Read, Op::Dump, Op::Close];
        let lines = ferrocdf_compat::script::run(&path, &read);
        assert_eq!(crate::reference().run(&path, &read), lines);
        let file = ferrocdf::open(&path).unwrap();
        assert!(file.variable("temp").is_ok() && file.dimension("lon").is_ok());
        assert_eq!(file.attribute("some"), Ok(Values::from(5i32)));
    }
}

#[test]
fn a_fill_value_of_another_type_is_kept_and_refused_where_it_is_needed() {
    for format in FORMATS {
        for (no_fill, value) in [(true, Values::Char(b"none".to_vec())), (false, Values::Short(vec![1]))] {
            let pair = both(&[
                Op::Create(format, no_fill),
                dim("x", 3),
                var("v", Atomic::Int, &[0]),
                Op::Att(Some(0), "_FillValue".into(), value),
                Op::Enddef(None),
                Op::Inspect,
            ]);
            assert_eq!(pair.lines[4], if no_fill { "0" } else { "-45" });
        }
    }
}
