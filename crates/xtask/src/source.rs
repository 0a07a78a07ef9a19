//! Debian source packages whose tests judge our C interface: the reference library, and its Fortran and C++ interfaces.
//!
//! They are fetched as Debian's package tool does, with lists and settings of its own under `target`, so that nothing on
//! the machine changes. The newest release is taken where it can be had, else that of the machine's own release.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{Outcome, run};

const FOLDER: &str = "target/reference";
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Releases of Debian to take sources from, the better one first.
const RELEASES: [&str; 2] = ["sid", "bookworm"];

/// A source package.
pub struct Package {
    /// The name that Debian gives it.
    name: &'static str,
    /// Files that only its unpacked source has.
    files: &'static [&'static str],
}

/// netCDF-C.
pub const NETCDF: Package = Package { name: "netcdf", files: &["include/netcdf.h", "nc_test/nc_test.c"] };
/// netCDF-Fortran.
pub const FORTRAN: Package =
    Package { name: "netcdf-fortran", files: &["nf_test/nf_test.F", "nf03_test4/f90tst_vars.f90"] };
/// netCDF-C++, the interface of 2012 and later.
pub const CXX: Package = Package { name: "netcdf-cxx", files: &["cxx4/ncFile.h", "cxx4/test_var.cpp"] };

impl Package {
    /// Returns the folder of the unpacked source; fetches it if it is not there yet.
    pub fn fetch(&self) -> Result<PathBuf, String> {
        let folder = std::env::current_dir().map_err(text)?.join(FOLDER);
        if let Some(source) = RELEASES.iter().find_map(|release| self.unpacked(&folder.join(release))) {
            return Ok(source);
        }
        let site = site()?;
        let mut failures = vec![];
        for release in RELEASES {
            let folder = folder.join(release);
            match self.download(&folder, &site, release).and_then(|()| self.unpack(&folder)) {
                Ok(()) => {
                    let source = self.unpacked(&folder);
                    return source
                        .ok_or_else(|| format!("no source of {} in {}", self.name, folder.display()));
                }
                Err(why) => failures.push(why),
            }
        }
        Err(format!("the source package {} cannot be had: {}", self.name, failures.join("; ")))
    }

    /// Returns the unpacked source in a folder.
    fn unpacked(&self, folder: &Path) -> Option<PathBuf> {
        let entries = std::fs::read_dir(folder).ok()?;
        entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .find(|path| self.files.iter().all(|file| path.join(file).is_file()))
    }

    /// Downloads the upstream archive into a folder, without the changes of Debian, which some archives lack.
    fn download(&self, folder: &Path, site: &str, release: &str) -> Outcome {
        let lists = Lists::fetch(folder, "deb-src", site, release, &[])?;
        lists.get(&["source", "--download-only", "--tar-only", self.name])
    }

    /// Unpacks the upstream archive in its folder.
    fn unpack(&self, folder: &Path) -> Outcome {
        let start = format!("{}_", self.name);
        for entry in std::fs::read_dir(folder).map_err(text)? {
            let entry = entry.map_err(text)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(&start) && name.contains(".orig.tar.") && !name.ends_with(".asc") {
                let file = entry.path().to_string_lossy().into_owned();
                run("tar", &["--extract", "--file", &file, "--directory", &folder.to_string_lossy()], &[])?;
            }
        }
        Ok(())
    }
}

/// Builds `ncdump` and `nccopy` of netCDF-C with HDF4, which no package of Debian has; the folder of both. They are static, so that no other
/// netCDF library is loaded.
pub fn netcdf_with_hdf4() -> Result<PathBuf, String> {
    let folder = std::env::current_dir().map_err(text)?.join("target/netcdf-hdf4");
    let tools = folder.join("ncdump");
    if ["ncdump", "nccopy"].iter().all(|tool| tools.join(tool).is_file()) {
        return Ok(tools);
    }
    let source = NETCDF.fetch()?;
    std::fs::create_dir_all(&folder).map_err(text)?;
    let (source, folder) = (source.to_string_lossy(), folder.to_string_lossy());
    let library = |name: &str| format!("/usr/lib/{name}.so");
    let settings = [
        "-DCMAKE_BUILD_TYPE=Release".to_string(),
        "-DBUILD_SHARED_LIBS=OFF".to_string(),
        "-DNETCDF_ENABLE_HDF4=ON".to_string(),
        "-DMFHDF_H_INCLUDE_DIR=/usr/include/hdf".to_string(),
        format!("-DHDF4_DF_LIB={}", library("libdfalt")),
        format!("-DHDF4_MFHDF_LIB={}", library("libmfhdfalt")),
    ];
    let off = ["HDF4_FILE_TESTS", "DAP", "NCZARR", "TESTS", "PLUGINS", "LIBXML2"];
    let off = off.map(|feature| format!("-DNETCDF_ENABLE_{feature}=OFF"));
    let settings: Vec<&str> = settings.iter().chain(&off).map(String::as_str).collect();
    run("cmake", &[&["-S", &*source, "-B", &*folder, "-DBUILD_TESTING=OFF"][..], &settings].concat(), &[])?;
    run("cmake", &["--build", &folder, "--parallel", "2", "--target", "ncdump", "nccopy"], &[])?;
    Ok(tools)
}

/// Package lists of one release of Debian in a folder, apart from those of the machine.
pub struct Lists {
    folder: PathBuf,
    release: String,
    options: Vec<String>,
}

impl Lists {
    /// Fetches the lists of sources (`deb-src`) or packages (`deb`), of other architectures too.
    pub fn fetch(
        folder: &Path,
        kind: &str,
        site: &str,
        release: &str,
        others: &[&str],
    ) -> Result<Self, String> {
        let apt = folder.join("apt");
        for part in ["lists/partial", "cache/archives/partial"] {
            std::fs::create_dir_all(apt.join(part)).map_err(text)?;
        }
        let list = apt.join("sources.list");
        std::fs::write(&list, format!("{kind} [signed-by={KEYS}] {site} {release} main\n")).map_err(text)?;
        let mut options = vec![
            format!("Dir::Etc::SourceList={}", list.display()),
            "Dir::Etc::SourceParts=/dev/null".to_string(),
            format!("Dir::State::Lists={}", apt.join("lists").display()),
            format!("Dir::Cache={}", apt.join("cache").display()),
            // The folder may be closed to the user that downloads run as otherwise.
            "APT::Sandbox::User=root".to_string(),
        ];
        options.extend(others.iter().map(|other| format!("APT::Architectures::={other}")));
        let lists = Self { folder: folder.to_path_buf(), release: release.to_string(), options };
        run("apt-get", &[&lists.options()[..], &["--quiet", "update"]].concat(), &[])?;
        Ok(lists)
    }

    fn options(&self) -> Vec<&str> {
        self.options.iter().flat_map(|option| ["-o", option]).collect()
    }

    /// Runs a command of `apt-get` in the folder.
    pub fn get(&self, command: &[&str]) -> Outcome {
        let get = [&self.options()[..], &["--quiet"], command].concat();
        let status = Command::new("apt-get").args(&get).current_dir(&self.folder).status().map_err(text)?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("apt-get {} from {}: {status}", command.join(" "), self.release))
        }
    }

    /// Returns the names of packages and of all that they depend on.
    pub fn dependencies(&self, packages: &[&str]) -> Result<Vec<String>, String> {
        let depends = ["depends", "--recurse", "--important"];
        let args = [&self.options()[..], &depends, packages].concat();
        let out = Command::new("apt-cache").args(args).output().map_err(text)?;
        // Indented lines are relations, names in angle brackets have no package.
        let is_package = |line: &&str| line.starts_with(|first: char| first.is_ascii_alphanumeric());
        let names =
            String::from_utf8_lossy(&out.stdout).lines().filter(is_package).map(str::to_string).collect();
        if out.status.success() {
            Ok(names)
        } else {
            Err(format!("apt-cache depends {} from {}: {}", packages.join(" "), self.release, out.status))
        }
    }
}

/// Unpacks the packages that were downloaded into a folder below its `root`. Returns that folder.
pub fn unpack_packages(folder: &Path) -> Result<PathBuf, String> {
    let root = folder.join("root");
    std::fs::create_dir_all(&root).map_err(text)?;
    for entry in std::fs::read_dir(folder).map_err(text)? {
        let path = entry.map_err(text)?.path();
        if path.extension().is_some_and(|extension| extension == "deb") {
            run("dpkg-deb", &["--extract", &path.to_string_lossy(), &root.to_string_lossy()], &[])?;
        }
    }
    Ok(root)
}

/// Returns what an error says.
pub fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Returns the archive that this machine gets its packages from.
pub fn site() -> Result<String, String> {
    let out = Command::new("apt-get")
        .args(["indextargets", "--format", "$(SITE)", "Created-By: Packages"])
        .output()
        .map_err(text)?;
    let sites = String::from_utf8_lossy(&out.stdout).into_owned();
    let site = sites.lines().find(|site| site.ends_with("/debian"));
    site.map(str::to_string).ok_or_else(|| format!("no archive of Debian among {sites:?}"))
}
