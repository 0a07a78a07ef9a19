//! Copies of more than is in memory at a time: what is read and written meanwhile, and how they end. A program of its own:
//! others watch how much memory theirs takes.

use ferrocdf::model::{Chunking, Filter, Quantization, Quantize};
use ferrocdf::{Atomic, Code, CreateOptions, File, FileMut, Format, GroupId, VarId, copy_data};

/// More than fits the memory that copies of blocks take.
const ROWS: u64 = 20;
const COLUMNS: u64 = 1 << 20;
/// The memory for what lies in no blocks.
const BUDGET: usize = 4 << 20;

/// A file in memory with a variable, and how that is stored.
fn file(format: Format, ty: Atomic, chunking: Option<Chunking>) -> (FileMut, VarId) {
    let file = FileMut::in_memory(&CreateOptions::format(format)).unwrap();
    let define = |model: &mut ferrocdf::Model| {
        let dims = [("row", ROWS), ("column", COLUMNS)];
        let [row, column] = dims.map(|(name, len)| model.def_dim(GroupId::ROOT, name, Some(len)).unwrap());
        model.def_var(GroupId::ROOT, "v", ty.into(), &[row, column])
    };
    let v = file.define(define).unwrap();
    let is_chunked = matches!(chunking, Some(Chunking::Chunked(_)));
    file.define(|model| {
        model.var_mut(v).storage.chunking = chunking;
        if is_chunked {
            model.var_mut(v).storage.set_filter(Filter::FLETCHER32, vec![]);
        }
        Ok(())
    })
    .unwrap();
    (file, v)
}

/// Different in each row, and in each place of one.
fn row(number: u64) -> Vec<i32> {
    (0..COLUMNS as i32).map(|at| at % 1000 + number as i32 * 1700).collect()
}

fn fill(file: &FileMut) {
    let v = file.variable_mut("v").unwrap();
    (0..ROWS).for_each(|number| v.put_values(&row(number), (number, ..)).unwrap());
}

fn bytes(file: FileMut) -> Vec<u8> {
    file.into_bytes().unwrap().expect("it is in memory")
}

/// The rows of a file that are as they should be, up to the first that is not.
fn right_rows(file: &File) -> u64 {
    let v = file.variable("v").unwrap();
    let is_right = |number: &u64| v.get_values::<i32, _>((*number, ..)).unwrap() == row(*number);
    (0..ROWS).take_while(is_right).count() as u64
}

#[test]
fn what_is_larger_than_memory_is_copied_whole() {
    let chunks = |rows| Some(Chunking::Chunked(vec![rows, COLUMNS / 4]));
    for (kind, from, to) in [
        (Format::CLASSIC, None, Some(Chunking::Contiguous)),
        (Format::NETCDF4, chunks(2), chunks(3)),
        (Format::NETCDF4, chunks(5), Some(Chunking::Contiguous)),
    ] {
        let what = format!("{from:?} to {to:?}");
        let (source, v) = file(kind, Atomic::Int, from);
        fill(&source);
        let source = File::from_bytes(bytes(source)).unwrap();
        let (target, to) = file(Format::NETCDF4, Atomic::Int, to);
        let mut told = vec![];
        copy_data(&source, &target, &[(v, to)], BUDGET, &mut |bytes| told.push(bytes)).unwrap();
        assert_eq!(told.iter().sum::<u64>(), ROWS * COLUMNS * 4, "{what}");
        assert!(told.len() > 1, "{what}: {told:?}");
        assert_eq!(right_rows(&target), ROWS, "{what}");
        assert_eq!(right_rows(&File::from_bytes(bytes(target)).unwrap()), ROWS, "{what}");
    }
}

/// A chunk for each row, the last of which has another number than its checksum says.
fn damaged() -> (File, VarId) {
    let (source, v) = file(Format::NETCDF4, Atomic::Int, Some(Chunking::Chunked(vec![1, COLUMNS])));
    fill(&source);
    let mut damaged = bytes(source);
    let last: Vec<u8> = row(ROWS - 1)[5000..5010].iter().flat_map(|number| number.to_le_bytes()).collect();
    let at = damaged.windows(last.len()).rposition(|bytes| bytes == last).unwrap();
    damaged[at] ^= 1;
    (File::from_bytes(damaged).unwrap(), v)
}

/// What was read before is written, and nobody waits for anybody.
#[test]
fn what_cannot_be_read_ends_a_copy_behind_what_can() {
    let (source, v) = damaged();
    let (target, to) = file(Format::NETCDF4, Atomic::Int, Some(Chunking::Contiguous));
    let error = copy_data(&source, &target, &[(v, to)], BUDGET, &mut |_| ()).unwrap_err();
    assert!(error.what.contains("/v") && error.what.contains("checksum"), "{error:?}");
    assert_eq!(right_rows(&target), 16);
}

/// Chunks that are packed anew one by one: the error names the variable, and the chunk has fill values.
#[test]
fn what_cannot_be_unpacked_ends_a_copy_in_its_chunk() {
    let (source, v) = damaged();
    for filters in [vec![], vec![Filter { id: Filter::DEFLATE, params: vec![1] }]] {
        let (target, to) = file(Format::NETCDF4, Atomic::Int, Some(Chunking::Chunked(vec![1, COLUMNS])));
        let set = |model: &mut ferrocdf::Model| {
            model.var_mut(to).storage.filters = filters;
            Ok(())
        };
        target.define(set).unwrap();
        let error = copy_data(&source, &target, &[(v, to)], BUDGET, &mut |_| ()).unwrap_err();
        assert!(error.what.contains("/v") && error.what.contains("checksum"), "{error:?}");
        assert!((16..ROWS).contains(&right_rows(&target)));
        let last = target.variable("v").unwrap().get_values::<i32, _>((ROWS - 1, ..)).unwrap();
        assert!(last.iter().all(|&value| value == -2_147_483_647));
    }
}

/// Chunks of numbers that are to be rounded are not taken as they are.
#[test]
fn what_is_to_be_rounded_is_written() {
    let chunks = || Some(Chunking::Chunked(vec![1, COLUMNS]));
    let (source, v) = file(Format::NETCDF4, Atomic::Float, chunks());
    fill(&source);
    let (target, to) = file(Format::NETCDF4, Atomic::Float, chunks());
    let set = |model: &mut ferrocdf::Model| {
        model.var_mut(to).storage.quantize = Some(Quantize { way: Quantization::BitRound, digits: 3 });
        Ok(())
    };
    target.define(set).unwrap();
    copy_data(&source, &target, &[(v, to)], BUDGET, &mut |_| ()).unwrap();
    let rounded = target.variable("v").unwrap().get_values::<f32, _>((0, ..)).unwrap();
    // 999 is 1.111110011b; three bits behind the point are kept, and the last is rounded up.
    assert_eq!((rounded[999], rounded[8]), (1024.0, 8.0));
}

#[test]
fn what_does_not_fit_ends_a_copy_where_it_stands() {
    let (source, v) = file(Format::CLASSIC, Atomic::Int, None);
    fill(&source);
    let source = File::from_bytes(bytes(source)).unwrap();
    let (target, to) = file(Format::NETCDF4, Atomic::Short, Some(Chunking::Contiguous));
    let mut told = 0;
    let error = copy_data(&source, &target, &[(v, to)], BUDGET, &mut |bytes| told += bytes).unwrap_err();
    assert_eq!(error.code, Code::ERANGE, "{error:?}");
    assert!(error.what.contains("/v"), "{error:?}");
    // Some of the numbers of the last row are too large.
    assert_eq!((told, right_rows(&target)), ((ROWS - 1) * COLUMNS * 4, ROWS - 1));
}

/// Rows of all variables are copied in turn, whole chunks of each as far as they go.
#[test]
fn records_of_several_variables_are_copied_whole() {
    let (rows, columns) = (61, 1 << 18);
    let number = |row: u64, at: u64| (row * 500 + at % 477) as i32;
    let make = |format, chunks: [Option<u64>; 2]| {
        let file = FileMut::in_memory(&CreateOptions::format(format)).unwrap();
        let vars = file.define(|model| {
            let [time, x] = [("time", None), ("x", Some(columns))]
                .map(|(name, len)| model.def_dim(GroupId::ROOT, name, len).unwrap());
            let vars = [("a", Atomic::Int), ("b", Atomic::Short)]
                .map(|(name, ty)| model.def_var(GroupId::ROOT, name, ty.into(), &[time, x]).unwrap());
            for (var, rows) in vars.into_iter().zip(chunks) {
                model.var_mut(var).storage.chunking = rows.map(|rows| Chunking::Chunked(vec![rows, columns]));
            }
            Ok(vars)
        });
        (file, vars.unwrap())
    };
    let (source, from) = make(Format::CLASSIC, [None; 2]);
    for row in 0..rows {
        let numbers: Vec<i32> = (0..columns).map(|at| number(row, at)).collect();
        for name in ["a", "b"] {
            source.variable_mut(name).unwrap().put_values(&numbers, (row, ..)).unwrap();
        }
    }
    let source = File::from_bytes(bytes(source)).unwrap();
    let (target, to) = make(Format::NETCDF4, [Some(3), Some(4)]);
    let mut told = vec![];
    let pairs: Vec<_> = from.into_iter().zip(to).collect();
    copy_data(&source, &target, &pairs, BUDGET, &mut |bytes| told.push(bytes)).unwrap();
    // Of the 21 rows that fit at a time twelve are whole chunks of both.
    let row = [columns * 4, columns * 2];
    assert_eq!(told, [12, 12, 12, 12, 12, 1].map(|rows| row.map(|row| rows * row)).concat());
    let target = File::from_bytes(bytes(target)).unwrap();
    for (name, row) in ["a", "b"].iter().flat_map(|name| (0..rows).map(move |row| (name, row))) {
        let numbers = target.variable(name).unwrap().get_values::<i32, _>((row, ..)).unwrap();
        assert!((0..).zip(&numbers).all(|(at, &is)| is == number(row, at)), "{name}, row {row}");
    }
}

#[test]
fn large_copies_in_both_directions_at_once_end() {
    let make = |chunking| {
        let (file, v) = file(Format::NETCDF4, Atomic::Int, Some(chunking));
        fill(&file);
        (file, v)
    };
    let (a, b) = (make(Chunking::Contiguous), make(Chunking::Chunked(vec![1, COLUMNS])));
    std::thread::scope(|scope| {
        for ((from, v), (to, w)) in [(&a, &b), (&b, &a)] {
            scope.spawn(move || {
                for _ in 0..3 {
                    copy_data(from, to, &[(*v, *w)], BUDGET, &mut |_| ()).unwrap();
                }
            });
        }
    });
    assert_eq!([a.0, b.0].map(|file| right_rows(&file)), [ROWS; 2]);
}
