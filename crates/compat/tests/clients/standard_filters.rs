//! The functions of standard filters ("NetCDF-4 Filter Support", Appendix F, and quantizing) through our C library and the
//! one in the wheel of netCDF4, which has all of them as plugins; Debian's has not.

use std::process::Stdio;

use ferrocdf_compat::python;

use crate::folder;

/// What a library answers to the calls of `standard_filters.py`.
fn answers(library: &str) -> String {
    let place = tempfile::tempdir().expect("a folder");
    let mut command = python::script("standard_filters.py");
    let output = command.arg(library).arg(place.path()).stderr(Stdio::piped()).output();
    let output = output.expect("a Python that starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{library}: {said}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn functions_of_standard_filters_answer_as_those_of_the_wheel() {
    let ours = folder("FERROCDF_PREFIX").join("lib/libnetcdf.so");
    let [theirs, ours] = ["wheel", ours.to_str().expect("a path of UTF-8")].map(answers);
    let (mut lines, mut calls) = (theirs.lines().zip(ours.lines()), 0);
    if let Some((theirs, ours)) = lines.by_ref().inspect(|_| calls += 1).find(|(theirs, ours)| theirs != ours)
    {
        panic!("line {calls}:\nthe wheel: {theirs}\nours:      {ours}");
    }
    assert_eq!(theirs.lines().count(), ours.lines().count());
    assert!(calls > 4000, "{calls} answers");
}
