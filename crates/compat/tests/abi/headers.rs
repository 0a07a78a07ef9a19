//! Sets of headers, and what the C preprocessor makes of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::declared::Declared;
use crate::{root, run, source};

/// Headers that tests compare.
pub struct Headers {
    /// Where they lie; nowhere is where the compiler looks anyway.
    folder: Option<PathBuf>,
    names: Vec<String>,
}

/// The headers that the installed reference has. (Its `netcdf_filter_build.h` needs a header that is not packaged.)
const INSTALLED: &[&str] =
    &["netcdf.h", "netcdf_aux.h", "netcdf_dispatch.h", "netcdf_filter.h", "netcdf_mem.h", "netcdf_meta.h"];

/// The others.
const MORE: &[&str] =
    &["netcdf_filter_build.h", "netcdf_json.h", "netcdf_par.h", "netcdf_vutils.h", "ncudfplugins.h"];

/// What the reference has not.
const ADDED: &[&str] = &["ferrocdf.h"];

fn names(lists: &[&[&str]]) -> Vec<String> {
    lists.concat().iter().map(|name| name.to_string()).collect()
}

impl Headers {
    /// The reference's that is installed.
    pub fn installed() -> Headers {
        Headers { folder: None, names: names(&[INSTALLED]) }
    }

    /// Our headers, those that the installed reference has too.
    pub fn ours_as_installed() -> Headers {
        Headers { folder: Some(our_folder()), names: names(&[INSTALLED]) }
    }

    /// All of our headers.
    pub fn ours() -> Headers {
        Headers { folder: Some(our_folder()), names: names(&[INSTALLED, MORE, ADDED]) }
    }

    /// The same of another folder.
    pub fn all_in(folder: &Path) -> Headers {
        Headers { folder: Some(folder.to_path_buf()), names: names(&[INSTALLED, MORE]) }
    }

    /// Text that includes all of them, behind what the reference's want included before them.
    pub fn includes(&self) -> String {
        let system = ["assert.h", "errno.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h"];
        let names = system.into_iter().chain(self.names.iter().map(String::as_str));
        names.map(|name| format!("#include <{name}>\n")).collect()
    }

    /// The C compiler, set to find them. Macros that the reference has only on demand are demanded.
    pub fn cc(&self) -> Command {
        let mut cc = Command::new("cc");
        cc.args(["-std=c11", "-DNETCDF_ENABLE_LEGACY_MACROS", "-I"]).arg(source("stub"));
        if let Some(folder) = &self.folder {
            cc.arg("-I").arg(folder);
        }
        cc
    }

    /// The text of `netcdf.h`.
    pub fn main_header(&self) -> String {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("main.c");
        std::fs::write(&file, "#include <netcdf.h>\n").unwrap();
        let needs = run(self.cc().arg("-M").arg(&file));
        let path =
            needs.split_whitespace().find(|path| path.ends_with("/netcdf.h")).expect("the compiler found it");
        std::fs::read_to_string(path).unwrap()
    }

    /// What they declare.
    pub fn declared(&self) -> Declared {
        let folder = tempfile::tempdir().unwrap();
        let all = folder.path().join("all.c");
        std::fs::write(&all, self.includes()).unwrap();
        let none = folder.path().join("none.c");
        std::fs::write(&none, Headers { folder: None, names: Vec::new() }.includes()).unwrap();

        let known = run(self.cc().args(["-E", "-dM"]).arg(&none));
        let known: BTreeSet<&str> = known.lines().collect();
        let mut declared = Declared::read(&run(self.cc().arg("-E").arg(&all)));
        for line in run(self.cc().args(["-E", "-dM"]).arg(&all)).lines().filter(|line| !known.contains(line))
        {
            let line = line.strip_prefix("#define ").expect("-dM gives only these");
            let (name, body) = line.split_once(' ').unwrap_or((line, ""));
            match name.split_once('(') {
                Some((name, _)) => drop(declared.calls.insert(name.to_string())),
                None => drop(declared.macros.insert(name.to_string(), body.to_string())),
            }
        }
        declared
    }
}

fn our_folder() -> PathBuf {
    root().join("crates/capi/include")
}
