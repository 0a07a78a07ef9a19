//! Variables of groups.

use std::path::Path;

use ferrocdf::{File, Values};

#[test]
fn variables_are_named_by_their_path() {
    let file = File::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/everything.nc")).unwrap();
    let get =
        |name: &str| file.variable(name).ok().map(|variable| variable.get_values::<i64, _>(..).unwrap());
    let deep = Some(vec![1, 2]);
    assert_eq!((get("/model/deep/v"), get("model/deep/v")), (deep.clone(), deep));
    for absent in ["v", "/model/v", "/model/deep", "/model//deep/v", "", "/", "/absent/v"] {
        assert!(file.variable(absent).is_err(), "{absent:?}");
    }
    let names = file.variable("names").unwrap();
    let text = |text: &str| Some(text.as_bytes().to_vec());
    assert_eq!(
        file.read_values(names.id(), &[1], &[3]),
        Ok(Values::String(vec![text("bc"), text(""), text("defg")]))
    );
    // A dataset may be shorter than its dimension.
    let u = file.variable("/model/u").unwrap();
    assert_eq!(u.get_values::<i32, _>((2..4, ..)).unwrap(), [4, 5, -2147483647, -2147483647]);
}
