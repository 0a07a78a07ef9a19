//! Many threads read, write and define in the same file; each request may also use all cores.
//!
//! `cargo run --example threads`

use ferrocdf::{Atomic, Config, Result};

const STEPS: u64 = 16;
const COLUMNS: u64 = 100_000;

fn main() -> Result<()> {
    Config { threads: Some(4), cache: Some(64 << 20), ..Config::default() }.apply()?;
    let path = std::env::temp_dir().join(format!("ferrocdf-threads-{}.nc", std::process::id()));
    let file = ferrocdf::create(&path)?;
    file.add_dimension("time", STEPS)?;
    file.add_dimension("column", COLUMNS)?;
    let build = file.build_variable("v", Atomic::Double, &["time", "column"]);
    let variable = build.chunks(&[1, COLUMNS]).shuffle().deflate(1).create()?;
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..STEPS)
            .map(|step| {
                let variable = &variable;
                scope.spawn(move || variable.put_values(&vec![step as f64; COLUMNS as usize], (step, ..)))
            })
            .collect();
        writers.into_iter().try_for_each(|writer| writer.join().expect("no writer panics"))
    })?;
    file.close()?;

    let file = ferrocdf::open(&path)?;
    let sums = std::thread::scope(|scope| -> Result<Vec<f64>> {
        // A file is shared by reference; a clone of it is another handle on the same open file.
        let readers: Vec<_> = (0..STEPS)
            .map(|step| {
                let file = file.clone();
                scope.spawn(move || Ok(file.variable("v")?.get_values::<f64, _>((step, ..))?.iter().sum()))
            })
            .collect();
        readers.into_iter().map(|reader| reader.join().expect("no reader panics")).collect()
    })?;
    assert!((0..STEPS).all(|step| sums[step as usize] == (step * COLUMNS) as f64));
    println!("{sums:?}");
    std::fs::remove_file(&path).expect("it was written above");
    Ok(())
}
