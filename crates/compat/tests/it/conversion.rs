//! Every external type with every type of memory, written and read.

use ferrocdf::Atomic;
use ferrocdf_compat::script::{Access, Op};
use ferrocdf_store::testing::Rng;

use crate::generate::types;
use crate::{FORMATS, both, dim, var};

/// The limits of all types, what lies beside them, and numbers from all over: as memory of one type.
fn edges(ty: Atomic, rng: &mut Rng) -> Vec<u8> {
    const INTEGERS: [i128; 5] = [0, 1, 2, 100, -1];
    let mut integers = INTEGERS.to_vec();
    for bits in [7, 8, 15, 16, 31, 32, 63, 64] {
        integers.extend([-1i128, 0, 1].iter().flat_map(|by| [(1 << bits) + by, -(1 << bits) + by]));
    }
    macro_rules! integers {
        ($number:ty) => {{
            let fit = integers.iter().filter_map(|&number| <$number>::try_from(number).ok());
            let random = (0..20).map(|_| rng.number() as $number);
            fit.chain(random).flat_map(<$number>::to_ne_bytes).collect()
        }};
    }
    macro_rules! floats {
        ($number:ident, $bits:ident) => {{
            let whole = integers.iter().map(|&number| number as $number);
            let near = whole.flat_map(|number| [number, number.next_up(), number.next_down(), number + 0.5]);
            let special =
                [-0.0, $number::NAN, $number::INFINITY, -$number::INFINITY, $number::MAX, $number::MIN];
            let small =
                [$number::MIN_POSITIVE, f32::MAX as $number, f32::MIN_POSITIVE as $number, 1e-40 as $number];
            let random = (0..20).map(|_| $number::from_bits(rng.number() as $bits));
            near.chain(special).chain(small).chain(random).flat_map($number::to_ne_bytes).collect()
        }};
    }
    match ty {
        Atomic::Byte => integers!(i8),
        Atomic::Short => integers!(i16),
        Atomic::Int => integers!(i32),
        Atomic::Int64 => integers!(i64),
        Atomic::Char | Atomic::Ubyte | Atomic::String => integers!(u8),
        Atomic::Ushort => integers!(u16),
        Atomic::Uint => integers!(u32),
        Atomic::Uint64 => integers!(u64),
        Atomic::Float => floats!(f32, u32),
        Atomic::Double => floats!(f64, u64),
    }
}

fn memory_types() -> impl Iterator<Item = Atomic> {
    Atomic::ALL.into_iter().filter(|&ty| ty != Atomic::String)
}

/// What the reference leaves alone: it writes nothing for a negative byte that goes to `NC_UINT`, where ferrocdf keeps
/// the low bits, so such puts are read back from nowhere.
fn is_left_alone(memory: Atomic, external: Atomic) -> bool {
    memory == Atomic::Byte && external == Atomic::Uint
}

#[test]
fn each_number_is_written_as_by_the_reference() {
    let mut rng = Rng::new(1);
    for format in FORMATS {
        for external in types(format) {
            for memory in memory_types().filter(|&memory| !is_left_alone(memory, external)) {
                let bytes = edges(memory, &mut rng);
                let size = memory.size();
                let count = (bytes.len() / size) as u64;
                let mut ops = vec![
                    Op::Create(format, false),
                    dim("x", count),
                    var("v", external, &[0]),
                    Op::Enddef(None),
                ];
                // One by one, so that each has its own code, then all at once.
                for (at, one) in bytes.chunks(size).enumerate() {
                    ops.push(Op::Put(Access::slab(0, memory, &[at as u64], &[1]), one.to_vec()));
                }
                ops.extend([
                    Op::Dump,
                    Op::Put(Access::slab(0, memory, &[0], &[count]), bytes),
                    Op::Dump,
                    Op::Close,
                ]);
                let pair = both(&ops);
                pair.assert_identical();
            }
        }
    }
}

#[test]
fn each_number_is_read_as_by_the_reference() {
    let mut rng = Rng::new(2);
    for format in FORMATS {
        for external in types(format) {
            let bytes = edges(external, &mut rng);
            let count = (bytes.len() / external.size()) as u64;
            let pair = both(&[
                Op::Create(format, false),
                dim("x", count),
                var("v", external, &[0]),
                Op::Enddef(None),
                Op::Put(Access::slab(0, external, &[0], &[count]), bytes),
                Op::Close,
            ]);
            pair.assert_identical();
            let mut ops = vec![Op::Read];
            for memory in memory_types() {
                ops.extend((0..count).map(|at| Op::Get(Access::slab(0, memory, &[at], &[1]), 1)));
                ops.push(Op::Get(Access::slab(0, memory, &[0], &[count]), count as usize));
            }
            ops.push(Op::Close);
            let lines = pair.read(&ops);
            let out_of_range = lines.iter().filter(|line| line.starts_with("-60")).count();
            assert!(external == Atomic::Char || external == Atomic::Byte || out_of_range > 10, "{external}");
        }
    }
}
