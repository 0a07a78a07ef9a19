//! Programs of the field on our library: what each says and writes must be what it says and writes on the reference.
//!
//! A case is a line of shell. It runs twice, each time in a folder of its own with the same files in it: once as the
//! machine has it, once with our library found first. Compared are the exit code, both outputs, and every file in the
//! folder, byte for byte.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::folder;

/// A program and what is done with it.
struct Client {
    name: &'static str,
    /// Run before the cases, on the reference both times: compiling, above all.
    prepare: &'static str,
    cases: &'static [&'static str],
}

const CLIENTS: &[Client] = &[
    Client {
        name: "nco",
        prepare: "",
        cases: &[
            "ncks -h --cdl in1.nc",
            "ncks -h -m in2.nc",
            "ncks -h -H -v tas in5.nc",
            "ncks -h -O -v tas,pr -d lat,1,4 -d lon,0.,180. in1.nc out.nc",
            "ncks -h -O -d time,1,3,2 -d lon,,,3 in2.nc out.nc",
            "ncks -h -O -x -v tas in5.nc out.nc",
            "ncks -h -O -3 in5.nc out.nc",
            "ncks -h -O -6 in1.nc out.nc",
            "ncks -h -O -5 in1.nc out.nc",
            "ncks -h -O --fix_rec_dmn time in1.nc out.nc",
            "ncks -h -O -v mask --mk_rec_dmn lat in1.nc out.nc",
            "ncks -h -A -v scalar in1.nc grow.nc",
            "ncks -h --jsn in1.nc",
            "ncks -h --xml in1.nc",
            "ncra -h -O in1.nc in2.nc out.nc",
            "ncra -h -O -d time,0,,2 in1.nc out.nc",
            "ncra -h -O -y max -v tas in1.nc out.nc",
            "ncra -h -O --mro -d time,0,3,2,2 in1.nc out.nc",
            "ncrcat -h -O in1.nc in1.nc in1.nc out.nc",
            "ncrcat -h -O -d time,1,2 in1.nc in2.nc out.nc",
            "ncrcat -h --rec_apn -v tas in1.nc grow.nc",
            "ncpdq -h -O -a lon,lat in1.nc out.nc",
            "ncpdq -h -O -a -lat in2.nc out.nc",
            "ncpdq -h -O in1.nc out.nc",
            "ncpdq -h -O -U in1.nc out.nc",
            "ncatted -h -a units,tas,o,c,celsius grow.nc",
            "ncatted -h -a added,global,c,d,1.5 grow.nc",
            "ncatted -h -O -a ,tas,d,, in1.nc out.nc",
            "ncatted -h -a title,global,a,c,' and more' grow.nc",
            "ncatted -h -a _FillValue,tas,m,f,-1 grow.nc",
            "ncrename -h -v pr,rain grow.nc",
            "ncrename -h -a .title,name grow.nc",
            "ncrename -h -d lon,longitude grow.nc",
            "ncrename -h -O -v pr,a_much_longer_name_than_before in1.nc out.nc",
            "ncap2 -h -O -s 'tasc=tas-273.15f;pr2=pr*2;z[time]=time^2' in1.nc out.nc",
            "ncap2 -h -O -s 'where(mask==1) mask=9; tot=tas.avg($lat,$lon)' in2.nc out.nc",
            "ncwa -h -O -a lat,lon in1.nc out.nc",
            "ncwa -h -O -a lon -m mask -M 1 -v tas in1.nc out.nc",
            "ncwa -h -O -b -a time -y rms in2.nc out.nc",
            "ncbo -h -O --op_typ=- in1.nc in2.nc out.nc",
            "ncflint -h -O -w 0.25,0.75 in1.nc in2.nc out.nc",
            "ncecat -h -O in1.nc in2.nc out.nc",
            "nces -h -O in1.nc in2.nc out.nc",
            "ncks -h --cdl n4.nc",
            "ncks -h -m z4.nc",
            "ncks -h -H -v tas -d lat,1,4 s4.nc",
            "ncks -h -O -3 z4.nc out.nc",
            "ncks -h -O -6 -d time,1,3,2 -d lon,,,3 n4.nc out.nc",
            "ncks -h -O -5 -v tas -d lat,1,4 z4.nc out.nc",
            "ncks -h --jsn z4.nc",
            "! ncks -h --cdl -g g rich.nc",
            "! ncks -h --cdl -v d,z,big,ub,us,ui,i64,u64,str0 rich.nc",
            "ncra -h -O -3 n4.nc z4.nc out.nc",
            "ncwa -h -O -3 -a lat,lon z4.nc out.nc",
            "ncbo -h -O -3 --op_typ=- n4.nc in2.nc out.nc",
            "ncks -h -O -4 in1.nc out.nc",
            "ncks -h -O -7 -L 4 in5.nc out.nc",
            "ncks -h -O -4 --cnk_dmn time,2 --cnk_dmn lat,3 --cnk_dmn lon,4 in1.nc out.nc",
            "ncks -h -O -v tas,pr -d lat,1,4 z4.nc out.nc",
            "ncrcat -h -O n4.nc z4.nc out.nc",
            "ncra -h -O n4.nc z4.nc out.nc",
            "ncpdq -h -O -a lon,lat n4.nc out.nc",
            "ncap2 -h -O -s 'tasc=tas-273.15f;z[time]=time^2' n4.nc out.nc",
            "ncecat -h -O n4.nc z4.nc out.nc",
            "cp z4.nc grow4.nc && ncatted -h -a units,tas,o,c,celsius -a added,global,c,d,1.5 grow4.nc",
            "cp n4.nc grow4.nc && ncks -h -A -v scalar in1.nc grow4.nc",
            "cp n4.nc grow4.nc && ncrcat -h --rec_apn -v tas in1.nc grow4.nc",
            "! ncks -h nothing.nc",
            "! ncks -h -O -v nothing in1.nc out.nc",
        ],
    },
    Client {
        name: "cdo",
        prepare: "",
        cases: &[
            "cdo -s info in1.nc",
            "cdo -s sinfon in2.nc",
            "cdo -s griddes in1.nc",
            "cdo -s showdate in5.nc",
            "cdo -s infon -seltimestep,2/3 -selname,tas in1.nc",
            "cdo -s output -fldmean -selname,tas in1.nc",
            "cdo -s --no_history timmean in1.nc out.nc",
            "cdo -s --no_history -f nc2 copy in1.nc out.nc",
            "cdo -s --no_history -f nc5 copy in1.nc out.nc",
            "cdo -s --no_history zonmean -selname,tas in2.nc out.nc",
            "cdo -s --no_history remapbil,r4x3 -selname,tas in1.nc out.nc",
            "cdo -s --no_history -f nc mergetime in1.nc -shifttime,200days in2.nc out.nc",
            "cdo -s --no_history -b F64 addc,1 -selname,pr in1.nc out.nc",
            "cdo -s --no_history selmon,2 in5.nc out.nc",
            "cdo -s --no_history splitname -selname,tas,pr in1.nc part_",
            "cdo -s sinfon z4.nc",
            "cdo -s infon n4.nc",
            "cdo -s diffn in1.nc z4.nc",
            "cdo -s --no_history -f nc2 copy z4.nc out.nc",
            "cdo -s --no_history -f nc zonmean -selname,tas n4.nc out.nc",
            "cdo -s output -fldmean -selname,tas s4.nc",
            "cdo -s --no_history -f nc4 copy in1.nc out.nc",
            "cdo -s --no_history -f nc4c -z zip_3 copy in1.nc out.nc",
            "cdo -s --no_history -f nc4 zonmean -selname,tas z4.nc out.nc",
            "cdo -s diffn in1.nc in2.nc",
            "! cdo -s info nothing.nc",
        ],
    },
    Client {
        name: "gdal",
        prepare: "",
        cases: &[
            "gdalinfo in1.nc",
            "gdalinfo NETCDF:in1.nc:tas",
            "gdalinfo -stats NETCDF:in2.nc:pr",
            "! gdalinfo NETCDF:in5.nc:mask",
            "gdal_translate -q -of AAIGrid NETCDF:in1.nc:mask out.asc",
            "gdal_translate -q -of GTiff NETCDF:in1.nc:tas out.tif",
            "gdal_translate -q -of netCDF -co FORMAT=NC -co WRITE_GDAL_VERSION=NO -co WRITE_GDAL_HISTORY=NO NETCDF:in1.nc:tas out.nc",
            "gdal_translate -q -of netCDF -co FORMAT=NC2 -co WRITE_GDAL_VERSION=NO -co WRITE_GDAL_HISTORY=NO NETCDF:in2.nc:pr out.nc",
            "gdal_translate -q -of netCDF -co FORMAT=NC4 -co WRITE_GDAL_VERSION=NO -co WRITE_GDAL_HISTORY=NO NETCDF:in1.nc:tas out.nc",
            "gdal_translate -q -of netCDF -co FORMAT=NC4C -co COMPRESS=DEFLATE -co ZLEVEL=5 -co WRITE_GDAL_VERSION=NO -co WRITE_GDAL_HISTORY=NO NETCDF:in2.nc:pr out.nc",
            "gdalinfo z4.nc",
            "gdalinfo -stats NETCDF:z4.nc:pr",
            "gdalinfo rich.nc",
            "gdalinfo NETCDF:rich.nc:z",
            "gdalmdiminfo rich.nc",
            "gdalmdiminfo -detailed n4.nc",
            "gdal_translate -q -of AAIGrid NETCDF:z4.nc:mask out.asc",
            "gdal_translate -q -of GTiff NETCDF:n4.nc:tas out.tif",
            "! gdalinfo NETCDF:nothing.nc:tas",
        ],
    },
    Client {
        name: "netcdf-fortran",
        prepare: "gfortran -o record @/record.f90 $(nf-config --fflags --flibs) && \
            gfortran -o groups @/groups.f90 $(nf-config --fflags --flibs)",
        cases: &["./record", "./groups"],
    },
    Client {
        name: "netcdf-cxx4",
        prepare: "g++ -o classes @/classes.cc -lnetcdf_c++4 -lnetcdf && g++ -o types @/types.cc -lnetcdf_c++4 -lnetcdf",
        cases: &["./classes", "./types"],
    },
    Client { name: "C", prepare: "cc -o mapped @/mapped.c -lnetcdf", cases: &["./mapped"] },
    Client {
        name: "python3-netcdf4",
        prepare: "",
        cases: &[
            "/usr/bin/python3 @/python.py",
            "/usr/bin/python3 @/rich.py",
            "/usr/bin/python3 @/writes.py",
        ],
    },
    Client {
        name: "ncdf4",
        prepare: "",
        cases: &["Rscript --vanilla @/frames.R", "Rscript --vanilla @/lists.R"],
    },
    // The wheel brings the reference along under a name of its own, so that ours has to come before it.
    Client {
        name: "netCDF4 wheel",
        prepare: "",
        cases: &[
            "LD_PRELOAD=$LIBRARY $PYTHON @/python.py",
            "LD_PRELOAD=$LIBRARY $PYTHON @/rich.py",
            "LD_PRELOAD=$LIBRARY $PYTHON @/writes.py image",
            "LD_PRELOAD=$LIBRARY $PYTHON @/filters.py && $PYTHON @/filters.py read",
        ],
    },
];

/// Cases whose outputs differ for a reason, which is given.
const EXCUSED: &[(&str, &str)] = &[(
    "cp z4.nc grow4.nc && ncatted -h -a units,tas,o,c,celsius -a added,global,c,d,1.5 grow4.nc",
    "the reference moves attributes that change their length behind the others; ours keep their place",
)];

/// What a case said and left behind.
#[derive(PartialEq)]
struct Outcome {
    code: Option<i32>,
    out: String,
    err: String,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("c/clients")
}

fn shell(line: &str, at: &Path, lib: Option<&Path>) -> (Option<i32>, String, String) {
    shell_with(line, at, lib, &[])
}

/// Runs a line of shell in a folder, with our library if `lib` names its folder: exit code and both outputs.
pub fn shell_with(
    line: &str,
    at: &Path,
    lib: Option<&Path>,
    environment: &[(&str, String)],
) -> (Option<i32>, String, String) {
    let line = line.replace("@/", &format!("{}/", sources().display()));
    let mut command = Command::new("sh");
    command
        .args(["-c", &line])
        .current_dir(at)
        .env("LC_ALL", "C.UTF-8")
        .env("TZ", "UTC")
        .env("CDO_PCTL_NBINS", "101")
        .envs(environment.iter().map(|(name, value)| (name, value)));
    // Packages of Python look for their own plugins if nobody says otherwise.
    command.env("PYTHON", folder("FERROCDF_PYTHON")).env_remove("HDF5_PLUGIN_PATH");
    if let Some(lib) = lib {
        command.env("LD_LIBRARY_PATH", lib).env("LIBRARY", lib.join("libnetcdf.so.22"));
        // R puts folders of its own before those of others, that of the reference among them, unless it is told which.
        command.env("R_LD_LIBRARY_PATH", format!("{}:/usr/lib/R/lib", lib.display()));
    }
    let done = command.output().expect("there is a shell");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.code(), text(&done.stdout), text(&done.stderr))
}

/// A folder with the files that cases read: one small climate in all three classic kinds, in netCDF-4, compressed, and held
/// to the classic model, a copy to change, and a file of all types.
pub fn scene(prepare: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder for the case");
    let make = "ncgen -k classic -o in1.nc @/climate.cdl && ncgen -k 64-bit-offset -o in2.nc @/climate.cdl && \
        ncgen -k cdf5 -o in5.nc @/climate.cdl && cp in1.nc grow.nc && \
        ncgen -k nc4 -o n4.nc @/climate.cdl && ncgen -k nc7 -o s4.nc @/climate.cdl && \
        nccopy -d 3 -s -c time/2,lat/3,lon/4 n4.nc z4.nc && ncgen -k nc4 -o rich.nc @/rich.cdl";
    for line in [make, prepare] {
        let (code, out, err) = shell(line, folder.path(), None);
        assert_eq!(code, Some(0), "{line}: {out}{err}");
    }
    folder
}

/// Runs a case in a copy of a scene: HDF5 files that are made twice differ in their times.
fn run(case: &str, scene: &Path, lib: Option<&Path>) -> Outcome {
    let folder = tempfile::tempdir().expect("a folder for the case");
    let copied = Command::new("cp").arg("-a").arg(scene.join(".")).arg(folder.path()).status();
    assert!(copied.is_ok_and(|status| status.success()), "the scene is copied");
    let (code, out, err) = shell(case, folder.path(), lib);
    // Messages name the folder or the process; nothing else in them may differ.
    let here = folder.path().display().to_string();
    let clean = |text: String| text.replace(&here, "HERE");
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder.path()).expect("the folder is there") {
        let path = entry.expect("it can be listed").path();
        if path.is_file() {
            let bytes = std::fs::read(&path).expect("it can be read");
            files.insert(path.file_name().expect("it has a name").into(), bytes);
        }
    }
    Outcome { code, out: clean(out), err: clean(err), files }
}

/// What is in an HDF5 file as the reference prints it, storage included, without the line that names the writer.
fn printed(bytes: &[u8]) -> Vec<u8> {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(bytes).expect("a file that can be written");
    let run = Command::new("ncdump").args(["-s", "-n", "same"]).arg(file.path()).output();
    let run = run.expect("the reference's ncdump");
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "the reference cannot read what was written: {said}");
    let names = |line: &&[u8]| line.windows(13).any(|part| part == b"_NCProperties");
    let lines: Vec<&[u8]> = run.stdout.split(|&byte| byte == b'\n').filter(|line| !names(line)).collect();
    lines.join(&b'\n')
}

/// HDF5 files of the same content differ in their bytes: where they do, what they hold is compared.
fn look_inside(theirs: &mut Outcome, ours: &mut Outcome) {
    for (name, their) in &mut theirs.files {
        let Some(our) = ours.files.get_mut(name).filter(|our| *our != their) else { continue };
        if [&*their, &*our].iter().all(|bytes| bytes.starts_with(b"\x89HDF")) {
            (*their, *our) = (printed(their), printed(our));
        }
    }
}

/// The first line that differs, for people.
fn difference(theirs: &Outcome, ours: &Outcome) -> String {
    let mut what = vec![];
    if theirs.code != ours.code {
        what.push(format!("codes {:?} and {:?}", theirs.code, ours.code));
    }
    for (name, a, b) in [("out", &theirs.out, &ours.out), ("err", &theirs.err, &ours.err)] {
        if a != b {
            let pair = a.lines().zip(b.lines()).find(|(a, b)| a != b);
            what.push(match pair {
                Some((a, b)) => format!("{name}: {a:?} and {b:?}"),
                None => format!(
                    "{name}: {} and {} lines; {:?}",
                    a.lines().count(),
                    b.lines().count(),
                    b.lines().last()
                ),
            });
        }
    }
    let names: std::collections::BTreeSet<_> = theirs.files.keys().chain(ours.files.keys()).collect();
    for name in names {
        let (a, b) = (theirs.files.get(name), ours.files.get(name));
        if a != b {
            let at = a.zip(b).and_then(|(a, b)| a.iter().zip(b).position(|(a, b)| a != b));
            let len = |bytes: Option<&Vec<u8>>| bytes.map(Vec::len);
            what.push(format!("{}: {:?} and {:?} bytes, first at {at:?}", name.display(), len(a), len(b)));
        }
    }
    what.join("; ")
}

fn compare(client: &Client, lib: &Path) {
    let mut failures = vec![];
    let scene = scene(client.prepare);
    for case in client.cases {
        let (mut theirs, mut ours) = (run(case, scene.path(), None), run(case, scene.path(), Some(lib)));
        look_inside(&mut theirs, &mut ours);
        // A case that fails on the reference judges nothing; one that is to fail says so to the shell.
        assert_eq!(theirs.code, Some(0), "{case}: {}{}", theirs.out, theirs.err);
        if theirs != ours && !EXCUSED.iter().any(|(excused, _)| excused == case) {
            failures.push(format!("{case}\n    {}", difference(&theirs, &ours)));
        }
    }
    println!("{}: {} cases", client.name, client.cases.len());
    assert!(
        failures.is_empty(),
        "{}: {} cases differ:\n{}",
        client.name,
        failures.len(),
        failures.join("\n")
    );
}

/// A test for each client.
macro_rules! clients {
    ($($test:ident: $name:literal;)*) => { $(
        #[test]
        fn $test() {
            let client = CLIENTS.iter().find(|client| client.name == $name).expect("it is in the list");
            compare(client, &folder("FERROCDF_PREFIX").join("lib"));
        }
    )* };
}

clients! {
    nco: "nco";
    cdo: "cdo";
    gdal: "gdal";
    fortran: "netcdf-fortran";
    cxx: "netcdf-cxx4";
    c: "C";
    python: "python3-netcdf4";
    r: "ncdf4";
    wheel: "netCDF4 wheel";
}

/// Our library really is what the programs find.
#[test]
fn programs_find_our_library() {
    let lib = folder("FERROCDF_PREFIX").join("lib");
    let maps = "[print(line, end=\"\") for line in open(\"/proc/self/maps\") if \"libnetcdf.so\" in line or \"libnetcdf-\" in line]";
    for line in [
        "ldd $(command -v ncks) | grep libnetcdf.so",
        "ldd $(command -v cdo) | grep libnetcdf.so",
        "ldd $(command -v gdalinfo) | grep libnetcdf.so",
        "Rscript --vanilla -e 'library(ncdf4); writeLines(grep(\"libnetcdf.so\", readLines(\"/proc/self/maps\"), value = TRUE))'",
        &format!("/usr/bin/python3 -c 'import netCDF4; {maps}'"),
    ] {
        let (code, out, err) = shell(line, Path::new("/"), Some(&lib));
        assert_eq!(code, Some(0), "{line}: {err}");
        let ours = lib.display().to_string();
        assert!(!out.is_empty() && out.lines().all(|found| found.contains(&ours)), "{line}: {out}");
    }
}
