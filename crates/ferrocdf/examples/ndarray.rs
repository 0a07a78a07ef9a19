//! Arrays of the `ndarray` crate.
//!
//! `cargo run --example ndarray --features ndarray`

use ferrocdf::Result;
use ndarray::{Array2, Axis, s};

fn main() -> Result<()> {
    let path = std::env::temp_dir().join(format!("ferrocdf-ndarray-{}.nc", std::process::id()));
    let file = ferrocdf::create(&path)?;
    file.add_dimension("y", 4)?;
    file.add_dimension("x", 6)?;
    let variable = file.add_variable::<f64>("v", &["y", "x"])?;
    let field = Array2::from_shape_fn((4, 6), |(y, x)| (10 * y + x) as f64);
    variable.put(&field, ..)?;
    // A view that is not contiguous is written as well.
    variable.put(&field.slice(s![..2, ..;2]), (0..2, 3..6))?;
    file.close()?;

    let file = ferrocdf::open(&path)?;
    let read = file.variable("v")?.get::<f64, _>((.., 3..6))?;
    assert_eq!(read.shape(), [4, 3]);
    assert_eq!(read.sum_axis(Axis(0)).as_slice(), Some(&[66.0, 72.0, 78.0][..]));
    println!("{read}");
    std::fs::remove_file(&path).expect("it was written above");
    Ok(())
}
