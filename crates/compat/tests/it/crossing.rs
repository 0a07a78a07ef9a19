//! Files written by one and read by the other, through every kind of access.

use ferrocdf::{Atomic, Format, Values};
use ferrocdf_compat::script::{Access, Op, native_bytes};
use ferrocdf_store::testing::Rng;

use crate::generate::{types, values};
use crate::{FORMATS, Pair, both, dim, var};

fn random(rng: &mut Rng, len: usize) -> Vec<u8> {
    (0..len).map(|_| rng.number() as u8).collect()
}

/// Writes each variable whole, its bytes random. Shapes are with the records.
fn fill_all(shapes: &[(Atomic, Vec<u64>)], rng: &mut Rng) -> Vec<Op> {
    let put = |(at, (ty, shape)): (usize, &(Atomic, Vec<u64>))| {
        let access = Access::slab(at as u32, *ty, &vec![0; shape.len()], shape);
        let bytes = random(rng, access.elements() * ty.size());
        Op::Put(access, bytes)
    };
    shapes.iter().enumerate().map(put).collect()
}

/// Reads a variable of this shape in many ways.
fn reads(var: u32, ty: Atomic, shape: &[u64], rng: &mut Rng) -> Vec<Op> {
    let mut ops = vec![Op::Get(
        Access::slab(var, ty, &vec![0; shape.len()], shape),
        shape.iter().product::<u64>() as usize,
    )];
    for _ in 0..12 {
        let (mut start, mut count, mut stride) = (vec![], vec![], vec![]);
        for &len in shape {
            let (first, step) = (rng.below(len), 1 + rng.below(3));
            start.push(first);
            stride.push(step);
            count.push(1 + rng.below((len - first).div_ceil(step)));
        }
        let strided = Access::slab(var, ty, &start, &count).strided(&stride);
        let elements = strided.elements();
        let slab_count: Vec<u64> =
            count.iter().zip(&start).zip(shape).map(|((&c, &s), &l)| c.min(l - s)).collect();
        let slab = Access::slab(var, ty, &start, &slab_count);
        let slab_elements = slab.elements();
        ops.extend([Op::Get(slab, slab_elements), Op::Get(strided.clone(), elements)]);
        // Memory with gaps, dimensions in random order and direction.
        let mut order: Vec<usize> = (0..shape.len()).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, rng.index(at + 1));
        }
        let (mut steps, mut origin, mut reach) = (vec![0; shape.len()], 0, 1isize);
        for at in order {
            let step = reach + rng.below(2) as isize;
            reach = step * count[at] as isize;
            let backwards = rng.once_in(2);
            origin += if backwards { (count[at] as usize - 1) * step as usize } else { 0 };
            steps[at] = if backwards { -step } else { step };
        }
        ops.push(Op::Get(strided.mapped(origin, &steps), reach as usize + 4));
    }
    ops
}

/// Writes by both, compares the files, reads each by each.
fn check(mut ops: Vec<Op>, shapes: &[(Atomic, Vec<u64>)], rng: &mut Rng) -> Pair {
    ops.push(Op::Enddef(None));
    ops.extend(fill_all(shapes, rng));
    ops.push(Op::Close);
    let pair = both(&ops);
    pair.assert_identical();
    let mut ops = vec![Op::Read, Op::Dump];
    for (at, (ty, shape)) in shapes.iter().enumerate() {
        if !shape.contains(&0) {
            ops.extend(reads(at as u32, *ty, shape, rng));
        }
    }
    ops.push(Op::Close);
    pair.read(&ops);
    pair
}

#[test]
fn every_type_in_fixed_and_record_variables() {
    let mut rng = Rng::new(3);
    for format in FORMATS {
        let mut ops = vec![Op::Create(format, false), dim("t", 0), dim("x", 5), dim("y", 7)];
        let mut shapes = vec![];
        for ty in types(format) {
            for (dims, shape) in
                [(&[][..], vec![]), (&[1, 2], vec![5, 7]), (&[0], vec![4]), (&[0, 1, 2], vec![4, 5, 7])]
            {
                ops.push(var(&format!("v{}", shapes.len()), ty, dims));
                shapes.push((ty, shape));
            }
        }
        check(ops, &shapes, &mut rng);
    }
}

#[test]
fn one_record_variable_has_no_padding() {
    let mut rng = Rng::new(4);
    for format in FORMATS {
        for ty in types(format) {
            for (dims, shape) in [(&[0][..], vec![9]), (&[0, 1], vec![9, 3])] {
                let ops = vec![
                    Op::Create(format, false),
                    dim("t", 0),
                    dim("x", 3),
                    var("lone", ty, dims),
                    var("fixed", Atomic::Byte, &[1]),
                ];
                let pair = check(ops, &[(ty, shape.clone()), (Atomic::Byte, vec![3])], &mut rng);
                let size = std::fs::metadata(pair.ours()).unwrap().len();
                let records = shape.iter().product::<u64>() * ty.size() as u64;
                assert_eq!((size - records) % 4, 0, "{ty} {shape:?}");
            }
        }
    }
}

#[test]
fn zero_records_scalars_and_ten_dimensions() {
    let mut rng = Rng::new(5);
    for format in FORMATS {
        let mut ops = vec![Op::Create(format, false), dim("t", 0)];
        ops.extend((1..11).map(|at| dim(&format!("d{at}"), 1 + at % 3)));
        ops.extend([var("empty", Atomic::Double, &[0]), var("empty2", Atomic::Short, &[0, 1, 2])]);
        ops.push(var("scalar", Atomic::Float, &[]));
        ops.push(var("ten", Atomic::Short, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]));
        let ten: Vec<u64> = (1..11).map(|at| 1 + at % 3).collect();
        let shapes = [
            (Atomic::Double, vec![0]),
            (Atomic::Short, vec![0, 2, 3]),
            (Atomic::Float, vec![]),
            (Atomic::Short, ten),
        ];
        check(ops, &shapes, &mut rng);
    }
}

#[test]
fn names_are_normalized_and_found() {
    for format in FORMATS {
        let pair = both(&[
            Op::Create(format, false),
            dim("e\u{301}t\u{e9}", 2),
            var("\u{6e29}\u{5ea6} 1", Atomic::Int, &[0]),
            Op::Att(Some(0), "a\u{30a} unit".into(), "\u{b0}C".into()),
            Op::Enddef(None),
            Op::Close,
        ]);
        pair.assert_identical();
        pair.read(&[Op::Read, Op::Dump, Op::Close]);
        let file = ferrocdf::open(pair.theirs()).unwrap();
        assert!(file.dimension("\u{e9}te\u{301}").is_ok());
        let variable = file.variable("\u{6e29}\u{5ea6} 1").unwrap();
        assert_eq!(variable.attribute("\u{e5} unit"), Ok("\u{b0}C".to_string()));
    }
}

#[test]
fn unwritten_elements_hold_fill_values() {
    let mut rng = Rng::new(6);
    for format in FORMATS {
        for own in [false, true] {
            let mut ops = vec![Op::Create(format, false), dim("t", 0), dim("x", 5)];
            let mut id = 0;
            for ty in types(format) {
                for dims in [&[1][..], &[0, 1], &[]] {
                    ops.push(var(&format!("{ty}{}", dims.len()), ty, dims));
                    if own {
                        let value: Values = values(ty, &random(&mut rng, ty.size()));
                        ops.push(Op::Att(Some(id), "_FillValue".into(), value));
                    }
                    id += 1;
                }
            }
            ops.push(Op::Enddef(None));
            // One record of one variable brings two records of all.
            let one = native_bytes(&values(Atomic::Byte, &[7]));
            ops.push(Op::Put(Access::slab(1, Atomic::Byte, &[1, 2], &[1, 1]), one.clone()));
            ops.push(Op::Put(Access::slab(0, Atomic::Byte, &[3], &[1]), one));
            ops.extend([Op::Dump, Op::Close]);
            let pair = both(&ops);
            pair.assert_identical();
            pair.read(&[Op::Read, Op::Dump, Op::Close]);
        }
    }
}

#[test]
fn attributes_of_every_type_and_length() {
    let mut rng = Rng::new(7);
    for format in FORMATS {
        let mut ops = vec![Op::Create(format, false), var("v", Atomic::Int, &[])];
        for ty in types(format) {
            for count in 0..6 {
                let value = values(ty, &random(&mut rng, count * ty.size()));
                let name = format!("{ty}{count}");
                ops.extend([Op::Att(None, name.clone(), value.clone()), Op::Att(Some(0), name, value)]);
            }
        }
        ops.extend([Op::Enddef(None), Op::Inspect, Op::Close]);
        let pair = both(&ops);
        pair.assert_identical();
        pair.read(&[Op::Read, Op::Dump, Op::Close]);
    }
    // One record dimension that no variable uses.
    let pair =
        both(&[Op::Create(Format::CLASSIC, false), dim("t", 0), Op::Enddef(None), Op::Dump, Op::Close]);
    pair.assert_identical();
}
