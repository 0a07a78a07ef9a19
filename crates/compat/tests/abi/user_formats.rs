//! Formats that programs bring along: a C program that opens files of one, which a library has that the settings name.

use std::path::Path;
use std::process::Command;

use crate::{root, run, source};

#[test]
fn a_plugin_of_the_settings_serves_files_of_its_format() {
    let library = ferrocdf_compat::both::build();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    // Programs look for the name of the interface's version.
    for name in ["libnetcdf.so", "libnetcdf.so.22"] {
        std::os::unix::fs::symlink(&library, at(name)).unwrap();
    }
    let compile = |output: &Path, flags: &[&str]| {
        let mut cc = Command::new("cc");
        cc.args(["-g", "-Wall", "-Wextra", "-Werror"]).args(flags);
        cc.arg("-I").arg(root().join("crates/capi/include")).arg(source("user_format.c"));
        run(cc.arg("-o").arg(output).arg("-L").arg(folder.path()).arg("-lnetcdf"));
    };
    compile(&at("plain.so"), &["-DPLUGIN", "-shared", "-fPIC"]);
    compile(&at("program"), &[]);
    let settings = format!(
        "NETCDF.UDF2.LIBRARY={}\nNETCDF.UDF2.INIT=plain_table\nNETCDF.UDF2.MAGIC=PLAIN\nNETCDF.UDF3.LIBRARY=/nowhere\n\
         NETCDF.UDF3.INIT=f\nNETCDF.UDF4.INIT=f\n",
        at("plain.so").display()
    );
    std::fs::write(at("settings"), settings).unwrap();
    for name in ["plain", "refused"] {
        std::fs::write(at(name), "PLAIN format of a program").unwrap();
    }
    let mut program = Command::new(at("program"));
    program.arg(at("plain")).arg(at("refused")).arg(at("classic.nc"));
    program.env("LD_LIBRARY_PATH", folder.path()).env("NCRCENV_RC", at("settings"));
    assert_eq!(run(&mut program), "done\n");
}
