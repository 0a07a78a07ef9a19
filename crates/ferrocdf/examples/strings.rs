//! Text: strings of any length, and characters along a dimension.
//!
//! `cargo run --example strings`

use ferrocdf::{Atomic, Result, Values};

fn main() -> Result<()> {
    let path = std::env::temp_dir().join(format!("ferrocdf-strings-{}.nc", std::process::id()));
    let file = ferrocdf::create(&path)?;
    file.add_dimension("station", 3)?;
    file.add_dimension("letters", 8)?;
    let names = file.add_variable_of(Atomic::String, "name", &["station"])?;
    names.put_strings(&["Ålesund", "Oslo"], 0..2)?;
    names.put_string("Tromsø", [2])?;
    let codes = file.add_text_variable("code", &["station", "letters"])?;
    codes.put_text("ENAL", (0, ..))?;
    file.put_attribute("keywords", Values::from(&["weather", "coast"][..]))?;
    file.close()?;

    let file = ferrocdf::open(&path)?;
    let names = file.variable("name")?;
    println!("{:?}", names.get_strings(..)?);
    assert_eq!(names.get_string([2])?, "Tromsø");
    assert_eq!(file.variable("code")?.get_text((0, ..))?, "ENAL");
    let keywords: Vec<String> = file.attribute("keywords")?;
    assert_eq!(keywords, ["weather", "coast"]);
    std::fs::remove_file(&path).expect("it was written above");
    Ok(())
}
