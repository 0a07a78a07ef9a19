//! What is built without the feature `remote`.

use crate::{root, run};

/// The crates that a package is built of.
fn crates(package: &str, features: &[&str]) -> Vec<String> {
    let mut cargo = ferrocdf_compat::cargo();
    cargo.args(["tree", "--locked", "--edges", "normal", "--prefix", "none", "--format", "{p}"]);
    let tree = run(cargo.args(["--package", package]).args(features).current_dir(root()));
    tree.lines().filter_map(|line| line.split(' ').next()).map(str::to_string).collect()
}

#[test]
fn without_remote_datasets_no_crate_of_theirs_is_built() {
    for package in ["ferrocdf-tools", "ferrocdf-libnetcdf"] {
        let (with, without) = (crates(package, &[]), crates(package, &["--no-default-features"]));
        assert!(without.iter().any(|name| name == "ferrocdf-store"), "{without:?}");
        for name in ["ferrocdf-remote", "ureq", "object_store", "rustls", "ring", "tokio"] {
            assert!(!without.iter().any(|other| other == name), "{package} without remote has {name}");
        }
        for name in ["ferrocdf-remote", "ureq", "object_store", "rustls"] {
            assert!(with.iter().any(|other| other == name), "{package} has no {name}");
        }
    }
}
