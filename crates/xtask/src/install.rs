//! `install`: the C library, its headers, what build systems look for, the tools, and the filters that
//! `ferrocdf plugins install` gives to other programs, laid down under a prefix.
//!
//! What the library offers is written down once, in `netcdf_meta.h`; [`Facts`] reads it, and [`fill`] puts it into the
//! templates of `crates/capi/package`. Programs compiled against either generation of the reference find the one object:
//! `docs/decisions/006-two-sonames.md`.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::facts::{Facts, fill};
use crate::run::{Outcome, cargo, run};

const INCLUDE: &str = "crates/capi/include";
const PACKAGE: &str = "crates/capi/package";

/// The one program, which calls the library for all it does: `docs/decisions/025-installed-size.md`.
const PROGRAM: &str = "ferrocdf";
const PROGRAM_SOURCE: &str = "crates/capi/package/ferrocdf.c";
/// Its other names.
const TOOLS: &[&str] = &["ncdump", "ncgen", "ncgen3", "nccopy"];

/// The object that has our filters for other programs.
const FILTERS: &str = "libferrocdf_h5filters.so";

/// The name that the library bears, that of 4.9.3 and later.
const SONAME: &str = "libnetcdf.so.22";
/// The name of 4.8.0 to 4.9.2.
const OLD_SONAME: &str = "libnetcdf.so.19";

/// What it has of its own.
const OLD_LIBRARY: &str = "crates/capi/package/libnetcdf.so.19.c";
/// Programs of that time took functions of libhdf5 from the library that the reference needs: it is loaded if it is there.
const AUXILIARY: &str = "-Wl,--auxiliary,libhdf5_serial.so.103";

/// A template and where it goes.
const TEMPLATES: &[(&str, &str)] = &[
    ("netcdf.pc.in", "lib/pkgconfig/netcdf.pc"),
    ("nc-config.in", "bin/nc-config"),
    ("netCDFConfig.cmake.in", "lib/cmake/netCDF/netCDFConfig.cmake"),
    ("netCDFConfigVersion.cmake.in", "lib/cmake/netCDF/netCDFConfigVersion.cmake"),
    ("netCDFTargets.cmake.in", "lib/cmake/netCDF/netCDFTargets.cmake"),
    ("libnetcdf.settings.in", "lib/libnetcdf.settings"),
];

/// Builds and installs.
pub fn install(args: &[String]) -> Outcome {
    let places = Places::parse(args)?;
    let library = ["--package", "ferrocdf-libnetcdf", "--features", "ferrocdf-libnetcdf/tools"];
    let filters = ["--package", "ferrocdf-h5filters"];
    cargo(&[&["build", "--profile", &places.profile][..], &library, &filters].concat(), &[])?;
    let target = PathBuf::from(std::env::var_os("CARGO_TARGET_DIR").unwrap_or("target".into()));
    // Cargo's folder for the profile `dev` has another name.
    let built = target.join(if places.profile == "dev" { "debug" } else { &places.profile });
    lay_down(&built, &places)?;
    println!("install: {} holds the library, its headers and the tools", places.root().display());
    Ok(())
}

/// Where things go.
#[derive(Debug, PartialEq, Eq)]
struct Places {
    /// The folder that the installed files name.
    prefix: PathBuf,
    /// A folder to put in front of it while installing, for packagers.
    destdir: Option<PathBuf>,
    /// The profile of `Cargo.toml` to build with.
    profile: String,
}

impl Places {
    fn parse(args: &[String]) -> Result<Places, String> {
        let usage = "install --prefix DIR [--destdir DIR] [--profile NAME]";
        let [mut prefix, mut destdir] = [None, None];
        let mut profile = "release".to_string();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let (name, value) = match arg.split_once('=') {
                Some((name, value)) => (name, Some(value.to_string())),
                None => (arg.as_str(), args.next().cloned()),
            };
            let place = match name {
                "--prefix" => &mut prefix,
                "--destdir" => &mut destdir,
                "--profile" => {
                    profile = value.ok_or(format!("{usage}: {name} needs a name"))?;
                    continue;
                }
                _ => return Err(format!("{usage}: what is \"{arg}\"?")),
            };
            let value = value.ok_or(format!("{usage}: {name} needs a folder"))?;
            *place = Some(std::path::absolute(&value).map_err(|error| format!("{value}: {error}"))?);
        }
        let prefix = prefix.ok_or(format!("{usage}: where to?"))?;
        Ok(Places { prefix, destdir, profile })
    }

    /// The folder that is written to.
    fn root(&self) -> PathBuf {
        match &self.destdir {
            Some(destdir) => destdir.join(self.prefix.strip_prefix("/").unwrap_or(&self.prefix)),
            None => self.prefix.clone(),
        }
    }
}

fn lay_down(built: &Path, places: &Places) -> Outcome {
    let root = places.root();
    let facts = Facts::read(&read(&Path::new(INCLUDE).join("netcdf_meta.h"))?)?;
    let prefix = text(&places.prefix)?;
    for folder in ["bin", "include", "lib/pkgconfig", "lib/cmake/netCDF", "lib/ferrocdf"] {
        let folder = root.join(folder);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    stripped(&built.join(FILTERS), &root.join("lib/ferrocdf").join(FILTERS), "--strip-unneeded")?;
    headers(&root, &facts)?;
    libraries(built, &root.join("lib"))?;
    program(&root)?;
    for (template, place) in TEMPLATES {
        let text = fill(&read(&Path::new(PACKAGE).join(template))?, |name| match name {
            "PREFIX" => Some(prefix.to_string()),
            "SONAME" => Some(SONAME.to_string()),
            _ => facts.value(name),
        })
        .map_err(|why| format!("{template}: {why}"))?;
        let place = root.join(place);
        fs::write(&place, text).map_err(|error| format!("{}: {error}", place.display()))?;
    }
    executable(&root.join("bin/nc-config"))
}

/// Copies the headers. That of parallel work says by being there that parallel work can be done.
fn headers(root: &Path, facts: &Facts) -> Outcome {
    let entries = fs::read_dir(INCLUDE).map_err(|error| format!("{INCLUDE}: {error}"))?;
    for entry in entries {
        let name = entry.map_err(|error| format!("{INCLUDE}: {error}"))?.file_name();
        let target = root.join("include").join(&name);
        if name == OsStr::new("netcdf_par.h") && !facts.has("PARALLEL") {
            remove(&target)?;
            continue;
        }
        copy(&Path::new(INCLUDE).join(&name), &target)?;
    }
    Ok(())
}

/// Lays down the library under its name, its names for the linker, and a library of the old name that leads to it.
fn libraries(built: &Path, lib: &Path) -> Outcome {
    stripped(&built.join("libnetcdf.a"), &lib.join("libnetcdf.a"), "--strip-debug")?;
    stripped(&built.join("libnetcdf.so"), &lib.join(SONAME), "--strip-unneeded")?;
    link(SONAME, &lib.join("libnetcdf.so"))?;
    let old = lib.join(OLD_SONAME);
    remove(&old)?;
    let search = format!("-L{}", text(lib)?);
    small_library(
        OLD_SONAME,
        OLD_LIBRARY,
        &old,
        &[AUXILIARY, "-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN", &search, &format!("-l:{SONAME}")],
    )
}

/// Makes the program and its names. It finds the library of its own prefix wherever the prefix is moved, also where the
/// environment names folders with other libraries of that name (`DT_RPATH`).
fn program(root: &Path) -> Outcome {
    let (bin, lib) = (root.join("bin"), root.join("lib"));
    let program = bin.join(PROGRAM);
    remove(&program)?;
    let search = format!("-L{}", text(&lib)?);
    let library = format!("-l:{SONAME}");
    let flags = ["-Wl,--disable-new-dtags,-rpath,$ORIGIN/../lib", &search, &library];
    run("cc", &[&["-O1", "-s", PROGRAM_SOURCE, "-o", text(&program)?][..], &flags].concat(), &[])?;
    TOOLS.iter().try_for_each(|tool| link(PROGRAM, &bin.join(tool)))
}

/// Makes a symbolic link.
fn link(to: &str, path: &Path) -> Outcome {
    remove(path)?;
    std::os::unix::fs::symlink(to, path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Copies a library without what only debuggers need.
fn stripped(from: &Path, to: &Path, how: &str) -> Outcome {
    remove(to)?;
    run("strip", &[how, "-o", text(to)?, text(from)?], &[])
}

/// Makes a library of next to nothing.
fn small_library(soname: &str, source: &str, path: &Path, flags: &[&str]) -> Outcome {
    let soname = format!("-Wl,-soname,{soname}");
    let make = ["-shared", "-nostdlib", "-fPIC", "-O1", &soname, source, "-o", text(path)?];
    run("cc", &[&make[..], flags].concat(), &[])
}

fn text(path: &Path) -> Result<&str, String> {
    path.to_str().ok_or(format!("{} is not UTF-8", path.display()))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Copies a file, permissions too. What was there is unlinked first: a program that has it mapped keeps it.
fn copy(from: &Path, to: &Path) -> Outcome {
    remove(to)?;
    fs::copy(from, to).map(drop).map_err(|error| format!("{} to {}: {error}", from.display(), to.display()))
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> Outcome {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("{}: {error}", path.display()))
        }
        _ => Ok(()),
    }
}

fn executable(path: &Path) -> Outcome {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    fn parse(args: &[&str]) -> Result<Places, String> {
        Places::parse(&args.iter().map(|arg| arg.to_string()).collect::<Vec<_>>())
    }

    #[test]
    fn a_destdir_goes_in_front_of_the_prefix() {
        let places = parse(&["--prefix", "/usr", "--destdir=/tmp/stage"]).unwrap();
        assert_eq!(places.prefix, Path::new("/usr"));
        assert_eq!(places.root(), Path::new("/tmp/stage/usr"));
        assert_eq!(parse(&["--prefix=/opt/x"]).unwrap().root(), Path::new("/opt/x"));
    }

    #[test]
    fn wrong_options_are_named() {
        for (args, says) in [
            (&[][..], "where to?"),
            (&["--prefix"], "--prefix needs a folder"),
            (&["--prefx", "/usr"], "what is \"--prefx\"?"),
        ] {
            let said = parse(args).unwrap_err();
            assert!(said.ends_with(says), "{said}");
        }
    }

    /// The name that a library bears inside.
    fn soname(library: &Path) -> String {
        let said = Command::new("readelf").arg("-d").arg(library).output().unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        let line = said.lines().find(|line| line.contains("(SONAME)")).expect("it has a name");
        line.split(['[', ']']).nth(1).unwrap().to_string()
    }

    /// The lines that the installed `nc-config` prints.
    fn answer(root: &Path, options: &[&str]) -> Vec<String> {
        let said = Command::new(root.join("bin/nc-config")).args(options).output().unwrap();
        String::from_utf8(said.stdout).unwrap().lines().map(str::to_string).collect()
    }

    #[test]
    fn everything_is_laid_down() {
        crate::run::enter_root().unwrap();
        let folder = std::env::temp_dir().join(format!("ferrocdf-install-{}", std::process::id()));
        let built = folder.join("built");
        fs::create_dir_all(&built).unwrap();
        let source = folder.join("library.c");
        fs::write(&source, "int ferrocdf_main(int argc, char **argv) { return argc + (argv[0][0] == 'n'); }")
            .unwrap();
        let source = source.to_str().unwrap();
        small_library(SONAME, source, &built.join("libnetcdf.so"), &["-g"]).unwrap();
        small_library(FILTERS, source, &built.join(FILTERS), &["-g"]).unwrap();
        let [object, archive] = ["library.o", "libnetcdf.a"].map(|name| built.join(name));
        run("cc", &["-g", "-c", source, "-o", object.to_str().unwrap()], &[]).unwrap();
        run("ar", &["rc", archive.to_str().unwrap(), object.to_str().unwrap()], &[]).unwrap();

        let places = Places {
            prefix: "/opt/netcdf".into(),
            destdir: Some(folder.join("stage")),
            profile: "release".into(),
        };
        // A second time over the first must work too.
        lay_down(&built, &places).unwrap();
        lay_down(&built, &places).unwrap();

        let root = places.root();
        assert_eq!(fs::read_link(root.join("lib/libnetcdf.so")).unwrap(), Path::new(SONAME));
        for name in [SONAME, OLD_SONAME] {
            assert_eq!(soname(&root.join("lib").join(name)), name, "ldconfig goes by this name");
        }
        let asked = answer(&root, &["--version", "--cflags", "--libs", "--static"]);
        assert_eq!(asked[..2], ["netCDF 4.10.1", "-I/opt/netcdf/include"]);
        assert!(
            asked[2].starts_with("-L/opt/netcdf/lib -lnetcdf -lgcc_eh ") && asked.len() == 3,
            "{asked:?}"
        );
        assert_eq!(answer(&root, &["--libs"]), ["-L/opt/netcdf/lib -lnetcdf"]);
        for name in TOOLS {
            let ended = Command::new(root.join("bin").join(name)).arg("sst.nc").arg0(name).status().unwrap();
            assert_eq!(
                ended.code(),
                Some(3),
                "{name}: it calls the library of its prefix with its arguments"
            );
        }
        for library in [Path::new("libnetcdf.a"), Path::new(SONAME), &Path::new("ferrocdf").join(FILTERS)] {
            let said =
                Command::new("readelf").arg("-S").arg(root.join("lib").join(library)).output().unwrap();
            let sections = String::from_utf8(said.stdout).unwrap();
            assert!(
                sections.contains(".text") && !sections.contains(".debug_info"),
                "{library:?}: {sections}"
            );
        }
        assert!(root.join("include/netcdf.h").is_file());
        assert!(!root.join("include/netcdf_par.h").exists(), "there is no MPI in this library");
        let pc = fs::read_to_string(root.join("lib/pkgconfig/netcdf.pc")).unwrap();
        assert!(pc.starts_with("prefix=/opt/netcdf\n"), "{pc}");
        for (_, place) in TEMPLATES {
            let text = fs::read_to_string(root.join(place)).unwrap();
            assert!(
                !text.contains(places.destdir.as_ref().unwrap().to_str().unwrap()),
                "{place} names the stage"
            );
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
