//! Variables with chunks, filters, fill values and rounding.
//!
//! `cargo run --example builder`

use ferrocdf::{Atomic, Endian, Quantization, Result};

fn main() -> Result<()> {
    let path = std::env::temp_dir().join(format!("ferrocdf-builder-{}.nc", std::process::id()));
    let file = ferrocdf::create(&path)?;
    file.add_unlimited_dimension("time")?;
    file.add_dimension("lat", 90)?;
    file.add_dimension("lon", 180)?;

    let wind = file
        .build_variable("wind", Atomic::Float, &["time", "lat", "lon"])
        .chunks(&[1, 45, 90])
        .shuffle()
        .filter("zstd,3")
        .fletcher32()
        .quantize(Quantization::GranularBitRound, 3)
        .fill_value(-1.0f32)
        .attribute("units", "m s-1")
        .create()?;
    let field: Vec<f32> = (0..90 * 180).map(|n| (n as f32 / 7.0).sin() * 20.0).collect();
    wind.put_values(&field, (0, .., ..))?;

    // The data are a run of bytes, as other programs may want to map it.
    file.build_variable("mask", Atomic::Short, &["lat", "lon"]).contiguous().endian(Endian::Big).create()?;

    // What is wrong is said, and no variable is left half defined.
    let refused = file.build_variable("wrong", Atomic::Float, &["lat"]).filter("snappier,3").create();
    println!("{}", refused.unwrap_err());
    assert!(file.variable("wrong").is_err());
    file.close()?;

    let file = ferrocdf::open(&path)?;
    let wind = file.variable("wind")?;
    let storage = wind.storage()?;
    println!("{wind}: {:?} times smaller", storage.ratio());
    let read: Vec<f32> = wind.get_values((0, .., ..))?;
    assert!(read.iter().zip(&field).all(|(read, written)| (read - written).abs() <= 0.01 * written.abs()));
    std::fs::remove_file(&path).expect("it was written above");
    Ok(())
}
