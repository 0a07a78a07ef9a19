//! Attributes: set, read as the types that a program wants, listed, removed.
//!
//! `cargo run --example attributes`

use ferrocdf::Result;

fn main() -> Result<()> {
    let path = std::env::temp_dir().join(format!("ferrocdf-attributes-{}.nc", std::process::id()));
    let file = ferrocdf::create(&path)?;
    file.put_attribute("Conventions", "CF-1.12")?;
    let packed = file.add_variable::<i16>("packed", &[])?;
    packed.put_attribute("scale_factor", 0.01f64)?;
    packed.put_attribute("valid_range", [-30_000i16, 30_000])?;
    packed.put_attribute("comment", "to be removed")?;
    packed.remove_attribute("comment")?;
    file.close()?;

    let file = ferrocdf::open(&path)?;
    let packed = file.variable("packed")?;
    // Numbers are converted to the type that is asked for, if they are in its range.
    let scale: f32 = packed.attribute("scale_factor")?;
    let range: Vec<i64> = packed.attribute("valid_range")?;
    assert_eq!((scale, &*range), (0.01, &[-30_000, 30_000][..]));
    let error = packed.attribute::<u8>("valid_range").unwrap_err();
    println!("{error}");
    assert_eq!(packed.find_attribute::<String>("comment")?, None);
    for (name, values) in packed.attributes()? {
        println!("{name}: {values:?}");
    }
    std::fs::remove_file(&path).expect("it was written above");
    Ok(())
}
