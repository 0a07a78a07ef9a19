//! User-defined types: records with fields, lists of any length, integers with names.
//!
//! `cargo run --example compound`

use ferrocdf::{Atomic, Class, Result, Value};

fn main() -> Result<()> {
    let path = std::env::temp_dir().join(format!("ferrocdf-compound-{}.nc", std::process::id()));
    let file = ferrocdf::create(&path)?;
    let sky = file.add_enum_type("sky", &[("clear", 0i8), ("cloudy", 1), ("unknown", -1)])?;
    let samples = file.add_list_type("samples", Atomic::Float)?;
    let fields = [("station", Atomic::String.into()), ("pressure", Atomic::Double.into()), ("sky", sky)];
    let report = file.add_compound_type("report", &fields)?;
    file.add_unlimited_dimension("time")?;

    let reports = file.add_variable_of(report, "reports", &["time"])?;
    let written = [
        Value::Compound(vec![Value::string("Oslo"), 1013.2.into(), Value::Enum(0)]),
        Value::Compound(vec![Value::string("Bergen"), 998.7.into(), Value::Enum(1)]),
    ];
    reports.put_user_values(&written, ..)?;
    let gusts = file.add_variable_of(samples, "gusts", &["time"])?;
    gusts.put_user_values(&[Value::list([3.5f32, 4.0]), Value::list(vec![0f32; 0])], ..)?;
    file.close()?;

    let file = ferrocdf::open(&path)?;
    for value in file.variable("reports")?.get_user_values(..)? {
        let [station, pressure, sky] = value.fields()? else { unreachable!("it has three fields") };
        let (station, pressure) = (String::try_from(station)?, f64::try_from(pressure)?);
        println!("{station}: {pressure} hPa, {sky:?}");
    }
    let gusts = file.variable("gusts")?.get_user_values(..)?;
    assert_eq!(Vec::<f32>::try_from(&gusts[0])?, [3.5, 4.0]);
    let (_, report) = file.root().user_type("report")?;
    let Class::Compound { fields, size } = &report.class else { unreachable!("it is a record") };
    println!("{} has {} fields in {size} bytes", report.name, fields.len());
    std::fs::remove_file(&path).expect("it was written above");
    Ok(())
}
