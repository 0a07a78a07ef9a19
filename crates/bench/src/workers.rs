//! Our side of the library workloads: one turn each. Prints the seconds spent in calls.

use std::time::Instant;

use ferrocdf::model::{Chunking, Filter, Storage};
use ferrocdf::{
    Atomic, Container, CreateOptions, DataModel, FileMut, Format, GroupId, In, Model, NetcdfType, Out, Owner,
    Selection, Values,
};

type Done<T> = Result<T, String>;

/// Runs one workload on a file.
pub fn run(what: &str, path: &str) -> Done<()> {
    let seconds = match what {
        "read-all" => read_all(path),
        "read-one" => read_one(path),
        "read-records" => read_records(path),
        "write-fixed" => write_fixed(path),
        "write-records" => write_records(path),
        "write-small" => write_small(path, Format::DATA64, 1_000_000),
        "write-small4" => write_small(path, Format::NETCDF4, 10_000),
        "open" => open(path),
        "read-attributes" => read_attributes(path),
        "read-tiny" => read_tiny(path),
        "create-2000x20" => create_many(path, Format::CLASSIC, 2000, 20),
        "create-10000x10" => create_many(path, Format::CLASSIC, 10_000, 10),
        "create4-2000x20" => create_many(path, Format::NETCDF4, 2000, 20),
        "create4-10000x10" => create_many(path, Format::NETCDF4, 10_000, 10),
        "plain-read" => plain_read(path),
        "read-fresh" => read_fresh::<f32>(path),
        "read-shorts" => read_fresh::<i16>(path),
        "read-slabs" => read_slabs::<f32>(path),
        "read-short-slabs" => read_slabs::<i16>(path),
        "read-shorts-again" => read_part::<i16>(path, |shape| Selection::slab(&[0; 3], shape)),
        "read-step" => {
            read_part::<f32>(path, |shape| Selection::slab(&[100, 0, 0], &[1, shape[1], shape[2]]))
        }
        "read-point" => read_part::<f32>(path, |shape| Selection::slab(&[0, 300, 700], &[shape[0], 1, 1])),
        "read-strided" => read_part::<f32>(path, |shape| {
            Selection::strided(&[0; 3], &[shape[0] / 4, shape[1] / 4, shape[2] / 4], &[4; 3])
        }),
        "read-elements" => read_elements(path),
        "write-packed" => write_grid(path, true, &[(Filter::SHUFFLE, &[]), (Filter::DEFLATE, &[4])]),
        "write-packed1" => write_grid(path, true, &[(Filter::SHUFFLE, &[]), (Filter::DEFLATE, &[1])]),
        "write-zstd" => write_grid(path, true, &[(Filter::SHUFFLE, &[]), (Filter::ZSTD, &[3])]),
        "write-zstd3" => write_store(path, false, (Filter::ZSTD, &[3])),
        "write-shard3" => write_store(path, true, (Filter::ZSTD, &[3])),
        // Level 5, shuffled, lz4, as numcodecs has it by default.
        "write-blosc3" => write_store(path, false, (Filter::BLOSC, &[0, 0, 0, 0, 5, 1, 1])),
        "write-chunked" => write_grid(path, true, &[]),
        "write-contiguous" => write_grid(path, false, &[]),
        "write-tiny" => write_tiny(path, TINY),
        "append-tiny" => write_tiny(path, 1),
        _ => return Err(format!("no workload {what}")),
    };
    println!("{:.6}", seconds.map_err(|error| error.to_string())?);
    Ok(())
}

/// Every variable whole, into a buffer that was used before.
fn read_all(path: &str) -> ferrocdf::Result<f64> {
    let file = ferrocdf::open(path)?;
    let most = file.variables().map(|var| var.len()).max().unwrap_or(0);
    let mut buffer = vec![1f32; most as usize];
    let start = Instant::now();
    for var in file.variables() {
        let len = var.len() as usize;
        var.get_into(&mut buffer[..len], ..)?;
    }
    Ok(start.elapsed().as_secs_f64())
}

/// One record variable of several, whole.
fn read_one(path: &str) -> ferrocdf::Result<f64> {
    let file = ferrocdf::open(path)?;
    let var = file.variables().nth(4).expect("the file has ten");
    let mut buffer = vec![1f32; var.len() as usize];
    let start = Instant::now();
    var.get_into(&mut buffer, ..)?;
    Ok(start.elapsed().as_secs_f64())
}

/// Every record of one variable after the other, one call each.
fn read_records(path: &str) -> ferrocdf::Result<f64> {
    let file = ferrocdf::open(path)?;
    let shape = file.variables().next().expect("the file has one").shape();
    let mut buffer = vec![0f32; shape[1] as usize];
    let start = Instant::now();
    for var in file.model().var_ids() {
        for record in 0..shape[0] {
            let selection = Selection::slab(&[record, 0], &[1, shape[1]]);
            let _exact = file.read(var, &selection, Out::new(&mut buffer))?;
        }
    }
    Ok(start.elapsed().as_secs_f64())
}

fn values(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i % 10007) as f32 * 0.25).collect()
}

/// 1 GB in one fixed-size variable, 100 calls; fill mode as it is by default.
fn write_fixed(path: &str) -> ferrocdf::Result<f64> {
    let (rows, columns) = (100, 2_500_000);
    let buffer = values(columns as usize);
    let start = Instant::now();
    let file = FileMut::create(path, &CreateOptions::format(Format::DATA64))?;
    file.add_dimension("row", rows)?;
    file.add_dimension("column", columns)?;
    let var = file.add_variable::<f32>("v", &["row", "column"])?.id();
    for row in 0..rows {
        let _exact = file.write(var, &Selection::slab(&[row, 0], &[1, columns]), In::new(&buffer))?;
    }
    file.close()?;
    Ok(start.elapsed().as_secs_f64())
}

/// 1 GB in records of two variables, one call a slab.
fn write_records(path: &str) -> ferrocdf::Result<f64> {
    let columns = 125_000;
    let buffer = values(columns as usize);
    let start = Instant::now();
    let file = FileMut::create(path, &CreateOptions::format(Format::DATA64))?;
    file.add_unlimited_dimension("time")?;
    file.add_dimension("column", columns)?;
    let u = file.add_variable::<f32>("u", &["time", "column"])?.id();
    let v = file.add_variable::<f32>("v", &["time", "column"])?.id();
    for record in 0..1000 {
        for var in [u, v] {
            let _exact = file.write(var, &Selection::slab(&[record, 0], &[1, columns]), In::new(&buffer))?;
        }
    }
    file.close()?;
    Ok(start.elapsed().as_secs_f64())
}

/// Records of 55 floats, one call each.
fn write_small(path: &str, format: Format, records: u64) -> ferrocdf::Result<f64> {
    let columns = 55;
    let buffer = values(columns as usize);
    let start = Instant::now();
    let file = FileMut::create(path, &CreateOptions::format(format))?;
    file.add_unlimited_dimension("time")?;
    file.add_dimension("column", columns)?;
    let var = file.add_variable::<f32>("v", &["time", "column"])?.id();
    for record in 0..records {
        let _exact = file.write(var, &Selection::slab(&[record, 0], &[1, columns]), In::new(&buffer))?;
    }
    file.close()?;
    Ok(start.elapsed().as_secs_f64())
}

fn open(path: &str) -> ferrocdf::Result<f64> {
    let start = Instant::now();
    let file = ferrocdf::open(path)?;
    let spent = start.elapsed().as_secs_f64();
    drop(file);
    Ok(spent)
}

/// Opens a file and reads every attribute in its own type.
fn read_attributes(path: &str) -> ferrocdf::Result<f64> {
    let start = Instant::now();
    let file = ferrocdf::open(path)?;
    let model = file.model();
    let mut seen = 0;
    for var in model.var_ids() {
        for at in 0..model.attrs(Owner::Var(var)).len() {
            let name =
                model.attrs(Owner::Var(var)).get(at).map(|attr| attr.name.clone()).expect("it is there");
            let attr = model.find_attr(Owner::Var(var), name.as_bytes()).expect("it is there");
            seen += std::hint::black_box(attr.value.clone()).len();
        }
    }
    std::hint::black_box(seen);
    Ok(start.elapsed().as_secs_f64())
}

/// Opens a file and reads every variable, each tiny.
fn read_tiny(path: &str) -> ferrocdf::Result<f64> {
    let mut value = [0f64; 16];
    let start = Instant::now();
    let file = ferrocdf::open(path)?;
    for var in file.variables() {
        let len = var.len() as usize;
        var.get_into(&mut value[..len], ..)?;
    }
    Ok(start.elapsed().as_secs_f64())
}

/// Defines many variables with attributes.
pub fn define_many(model: &mut Model, vars: usize, attrs: usize) -> ferrocdf::Result<()> {
    let x = model.def_dim(GroupId::ROOT, "x", Some(4))?;
    for var in 0..vars {
        let id = model.def_var(GroupId::ROOT, format!("variable_{var}"), Atomic::Double.into(), &[x])?;
        for attr in 0..attrs {
            let value =
                if attr % 2 == 1 { Values::from("some text here") } else { (attr as f64 + 0.5).into() };
            model.put_attr(Owner::Var(id), format!("attribute_{attr}"), value)?;
        }
    }
    Ok(())
}

/// Makes a file of many variables with attributes.
fn create_many(path: &str, format: Format, vars: usize, attrs: usize) -> ferrocdf::Result<f64> {
    let start = Instant::now();
    let file = FileMut::create(path, &CreateOptions::format(format))?;
    file.define(|model| define_many(model, vars, attrs))?;
    file.close()?;
    Ok(start.elapsed().as_secs_f64())
}

/// The only variable whole, into memory never used before.
fn read_fresh<T: NetcdfType>(path: &str) -> ferrocdf::Result<f64> {
    let file = ferrocdf::open(path)?;
    let var = file.variables().next().expect("the file has one");
    let start = Instant::now();
    let values: Vec<T> = var.get_values(..)?;
    let spent = start.elapsed().as_secs_f64();
    std::hint::black_box(&values);
    Ok(spent)
}

/// As many times as a chunk has after the other, into one buffer.
fn read_slabs<T: NetcdfType + From<i8>>(path: &str) -> ferrocdf::Result<f64> {
    const TIMES: u64 = 24;
    let file = ferrocdf::open(path)?;
    let var = file.variables().next().expect("the file has one");
    let shape = var.shape();
    let mut buffer = vec![T::from(1); (TIMES * shape[1] * shape[2]) as usize];
    let start = Instant::now();
    for at in (0..shape[0]).step_by(TIMES as usize) {
        let selection = Selection::slab(&[at, 0, 0], &[TIMES, shape[1], shape[2]]);
        let _exact = file.read(var.id(), &selection, Out::new(&mut buffer))?;
    }
    Ok(start.elapsed().as_secs_f64())
}

/// A part, into a buffer that was used before.
fn read_part<T: NetcdfType + From<i8>>(
    path: &str,
    of: impl Fn(&[u64]) -> Selection,
) -> ferrocdf::Result<f64> {
    let file = ferrocdf::open(path)?;
    let var = file.variables().next().expect("the file has one");
    let selection = of(&var.shape());
    let mut buffer = vec![T::from(1); selection.elements().expect("few") as usize];
    let start = Instant::now();
    let _exact = file.read(var.id(), &selection, Out::new(&mut buffer))?;
    Ok(start.elapsed().as_secs_f64())
}

/// One element of each row, one call each.
fn read_elements(path: &str) -> ferrocdf::Result<f64> {
    let file = ferrocdf::open(path)?;
    let var = file.variables().next().expect("the file has one");
    let rows = var.shape()[0];
    let mut value = [0f32];
    let start = Instant::now();
    for row in 0..rows {
        let _exact = file.read(var.id(), &Selection::slab(&[row, 3], &[1, 1]), Out::new(&mut value))?;
    }
    Ok(start.elapsed().as_secs_f64())
}

/// What the machine can do: two threads that read and swap bytes, into a buffer that was used before.
fn plain_read(path: &str) -> ferrocdf::Result<f64> {
    use std::os::unix::fs::FileExt;
    const PIECE: usize = 256 << 10;
    let failed = |error: std::io::Error| ferrocdf::Error::system(error, path);
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut buffer = vec![1u8; 250_000_000];
    let start = Instant::now();
    for pass in 0..4u64 {
        let half = buffer.len() / 2;
        std::thread::scope(|scope| {
            for (thread, part) in buffer.chunks_mut(half).enumerate() {
                let file = &file;
                scope.spawn(move || {
                    for (at, piece) in part.chunks_mut(PIECE).enumerate() {
                        let offset = pass * 250_000_000 + (thread * half + at * PIECE) as u64;
                        let _got = file.read_at(piece, offset);
                        for number in piece.chunks_exact_mut(4) {
                            number.reverse();
                        }
                    }
                });
            }
        });
    }
    std::hint::black_box(&buffer);
    Ok(start.elapsed().as_secs_f64())
}

/// Chunks hold as many times.
const STEP: u64 = 24;

/// The variable of a file written to another, netCDF-4: contiguous or in chunks, with filters or without.
fn write_grid(path: &str, chunked: bool, filters: &[(u32, &[u32])]) -> ferrocdf::Result<f64> {
    write_copy(path, "made", &CreateOptions::format(Format::NETCDF4), |storage, shape| {
        storage.chunking = chunked.then(|| Chunking::Chunked(vec![STEP, shape[1] / 2, shape[2] / 4]));
        filters.iter().for_each(|(id, params)| storage.set_filter(*id, params.to_vec()));
    })
}

/// The variable of a file written to a Zarr 3 store, in shards or not.
fn write_store(path: &str, in_shards: bool, (id, params): (u32, &[u32])) -> ferrocdf::Result<f64> {
    let mut options = CreateOptions::format(Format::new(Container::ZarrV3, DataModel::Netcdf4));
    options.zarr.nczarr = false;
    write_copy(path, "zarr.made", &options, |storage, shape| {
        storage.chunking = Some(Chunking::Chunked(vec![STEP, shape[1] / 4, shape[2] / 4]));
        storage.shards = in_shards.then(|| vec![STEP, shape[1], shape[2]]);
        storage.set_filter(id, params.to_vec());
    })
}

/// The variable of a file written to another dataset, whose name ends otherwise.
fn write_copy(
    path: &str,
    end: &str,
    options: &CreateOptions,
    store: impl FnOnce(&mut Storage, &[u64]),
) -> ferrocdf::Result<f64> {
    let from = ferrocdf::open(path)?;
    let from = from.variables().next().expect("the file has one");
    let shape = from.shape();
    let mut values = vec![0f32; from.len() as usize];
    from.get_into(&mut values, ..)?;
    let start = Instant::now();
    let file = FileMut::create(format!("{path}.{end}"), options)?;
    for (name, &len) in ["time", "lat", "lon"].into_iter().zip(&shape) {
        file.add_dimension(name, len)?;
    }
    let var = file.add_variable::<f32>("v", &["time", "lat", "lon"])?.id();
    file.define(|model| {
        store(&mut model.var_mut(var).storage, &shape);
        Ok(())
    })?;
    let slab = (STEP * shape[1] * shape[2]) as usize;
    for (number, values) in (0..).zip(values.chunks(slab)) {
        let count = values.len() as u64 / (shape[1] * shape[2]);
        let selection = Selection::slab(&[number * STEP, 0, 0], &[count, shape[1], shape[2]]);
        let _exact = file.write(var, &selection, In::new(values))?;
    }
    file.close()?;
    Ok(start.elapsed().as_secs_f64())
}

/// Chunks of ten floats.
const TINY: u64 = 100_000;

/// A hundred thousand tiny chunks, so many with one call.
fn write_tiny(path: &str, together: u64) -> ferrocdf::Result<f64> {
    let values: Vec<f32> = (0..TINY * 10).map(|i| i as f32 * 0.5).collect();
    let start = Instant::now();
    let file = FileMut::create(format!("{path}.made"), &CreateOptions::format(Format::NETCDF4))?;
    file.add_unlimited_dimension("time")?;
    file.add_dimension("x", 10)?;
    let var = file.add_variable::<f32>("v", &["time", "x"])?.id();
    file.define(|model| {
        model.var_mut(var).storage.chunking = Some(Chunking::Chunked(vec![1, 10]));
        Ok(())
    })?;
    for (number, values) in (0..).zip(values.chunks(together as usize * 10)) {
        let selection = Selection::slab(&[number * together, 0], &[together, 10]);
        let _exact = file.write(var, &selection, In::new(values))?;
    }
    file.close()?;
    Ok(start.elapsed().as_secs_f64())
}
