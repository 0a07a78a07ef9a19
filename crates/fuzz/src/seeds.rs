//! Valid files to start from, made by ferrocdf itself.

use ferrocdf::{Alignment, CreateOptions, FileMut, Format, Result};

/// Small classic files: with records, with one record variable, with nothing, with free space.
pub fn classic() -> Vec<Vec<u8>> {
    let formats = [Format::Classic, Format::Offset64, Format::Data64];
    let makers: [fn(&mut FileMut) -> Result<()>; 4] = [|_| Ok(()), mixed, lone_record, roomy];
    formats.iter().flat_map(|&format| makers.map(|maker| made(format, maker))).collect()
}

fn made(format: Format, fill: fn(&mut FileMut) -> Result<()>) -> Vec<u8> {
    let mut file = FileMut::in_memory(&CreateOptions::format(format)).expect("an empty file is made");
    fill(&mut file).expect("the definitions are right");
    file.into_bytes().expect("it fits in memory").expect("it is in memory")
}

fn mixed(file: &mut FileMut) -> Result<()> {
    file.add_unlimited_dimension("t")?;
    file.add_dimension("x", 3)?;
    file.add_dimension("y", 4)?;
    file.add_attribute("title", "seed")?;
    file.add_attribute("numbers", vec![1.5f64, -2.5])?;
    let mut fixed = file.add_variable::<i16>("fixed", &["x", "y"])?;
    fixed.put_attribute("valid_range", [0i16, 99])?;
    fixed.put_values(&[7i16; 12], ..)?;
    let mut record = file.add_variable::<f64>("record", &["t", "x"])?;
    record.put_values(&[0.5f64, 1.5, 2.5], (1, ..))?;
    file.add_variable::<i8>("bytes", &["t", "x"])?;
    file.add_variable::<f32>("scalar", &[])?;
    Ok(())
}

fn lone_record(file: &mut FileMut) -> Result<()> {
    file.add_unlimited_dimension("t")?;
    file.add_dimension("x", 3)?;
    let mut record = file.add_variable::<i8>("record", &["t", "x"])?;
    record.put_values(&[1i8, 2, 3, 4, 5, 6], (0..2, ..))
}

fn roomy(file: &mut FileMut) -> Result<()> {
    file.add_dimension("x", 5)?;
    let mut variable = file.add_variable::<i32>("v", &["x"])?;
    variable.set_fill_value(-1i32)?;
    file.commit_aligned(&Alignment { header_free: 100, fixed: 64, fixed_free: 10, records: 64 })
}
