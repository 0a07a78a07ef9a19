//! Groups: defined, found by path, and listed with all that is in them.
//!
//! `cargo run --example groups`

use ferrocdf::{Group, Result};

fn main() -> Result<()> {
    let path = std::env::temp_dir().join(format!("ferrocdf-groups-{}.nc", std::process::id()));
    let file = ferrocdf::create(&path)?;
    file.put_attribute("title", "two ocean models")?;
    file.add_unlimited_dimension("time")?;
    for (name, depth) in [("coarse", 3), ("fine", 6)] {
        let model = file.add_group(name)?;
        model.add_dimension("depth", depth)?;
        // A dimension of a group around this one is found by its name.
        let temperature = model.add_variable::<f32>("temperature", &["time", "depth"])?;
        temperature.put_attribute("units", "degree_Celsius")?;
        temperature.put_values(&vec![10.5f32; depth as usize], (0, ..))?;
    }
    file.close()?;

    let file = ferrocdf::open(&path)?;
    let fine = file.variable("/fine/temperature")?;
    assert_eq!(fine.shape(), [1, 6]);
    assert_eq!(file.group("coarse")?.dimension("depth")?.len(), 3);
    let missing = file.variable("/fine/salt").unwrap_err();
    assert!(missing.what.ends_with("no variable \"/fine/salt\"; there are: temperature"), "{missing}");
    print_group(&file.root())?;
    std::fs::remove_file(&path).expect("it was written above");
    Ok(())
}

/// Prints what is in a group and in the groups within.
fn print_group(group: &Group<'_>) -> Result<()> {
    println!("{group}");
    for dimension in group.dimensions() {
        println!("    {dimension}");
    }
    for variable in group.variables() {
        let units: String = variable.attribute("units")?;
        println!("    {variable} in {units}");
    }
    group.groups().iter().try_for_each(print_group)
}
