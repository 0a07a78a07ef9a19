//! Programs of the field on our library, with URLs in place of paths: datasets behind nginx, by HTTP and HTTPS, and behind moto, which
//! stands for S3. What each program says of a URL must be what it says of the file, on our library too; `programs.rs` compares that with the
//! reference.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ferrocdf::Location;
use ferrocdf::remote::{Environment, Settings, open};
use ferrocdf::store::{FileBlob, Store};
use ferrocdf_compat::servers::{BUCKET, Moto, Nginx};

use crate::folder;
use crate::programs::{scene, shell_with};

/// A line of shell, with the names of files in braces, and the forms of URLs that the program gives to the library as they are.
struct Case {
    line: &'static str,
    forms: &'static [Form],
}

/// A form of URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// `http://host/a.nc#mode=bytes`
    Http,
    /// `https://host/a.nc#mode=bytes`
    Https,
    /// `http://host/bucket/a.nc#mode=bytes,s3`
    Endpoint,
    /// `s3://bucket/a.nc#mode=bytes`
    S3,
    /// `http://host/a.nc`
    Plain,
}

use Form::*;

const ALL: &[Form] = &[Http, Https, Endpoint, S3, Plain];
/// NCO 5.1 takes `s3:` for NCZarr alone, and of a name without a fragment it asks a DAP server.
const OF_NCO: &[Form] = &[Http, Https, Endpoint];
/// GDAL 3.6 asks the system first for what does not begin with `http`.
const OF_GDAL: &[Form] = &[Http, Https, Endpoint, Plain];

/// The wheel trusts the authorities of certifi alone, and says so with `nc_rc_set`.
const OF_WHEEL: &[Form] = &[Http, Endpoint, S3, Plain];

const CASES: &[Case] = &[
    Case { line: "ncks -h --cdl {in1.nc}", forms: OF_NCO },
    Case { line: "ncks -h -m {z4.nc}", forms: OF_NCO },
    Case { line: "ncks -h -H -v tas -d lat,1,4 {z4.nc}", forms: OF_NCO },
    Case { line: "ncks -h -O -v tas,pr -d lat,1,4 {in1.nc} out.nc", forms: OF_NCO },
    Case { line: "ncwa -h -O -3 -a lat,lon {n4.nc} out.nc", forms: OF_NCO },
    Case { line: "cdo -s infon {in5.nc}", forms: ALL },
    Case { line: "cdo -s output -fldmean -selname,tas {z4.nc}", forms: ALL },
    Case { line: "gdalinfo NETCDF:\\\"{in1.nc}\\\":tas", forms: OF_GDAL },
    Case { line: "gdal_translate -q -of AAIGrid NETCDF:\\\"{z4.nc}\\\":mask out.asc", forms: OF_GDAL },
    Case { line: "/usr/bin/python3 @/remote.py {z4.nc}", forms: ALL },
    Case { line: "LD_PRELOAD=$LIBRARY $PYTHON @/remote.py {in2.nc}", forms: OF_WHEEL },
    Case { line: "LD_PRELOAD=$LIBRARY $PYTHON @/remote.py {z4.nc}", forms: OF_WHEEL },
    Case {
        line: "Rscript --vanilla -e 'library(ncdf4); n <- nc_open(\"{in1.nc}\"); print(ncvar_get(n, \"tas\"))'",
        forms: ALL,
    },
    Case { line: "$TOOLS/ncdump -n same {rich.nc}", forms: ALL },
    Case { line: "$TOOLS/ncdump -n same -s -h {in5.nc}", forms: ALL },
    Case { line: "$TOOLS/nccopy -k cdf5 {n4.nc} out.nc", forms: ALL },
    Case { line: "$TOOLS/ferrocdf info {in2.nc} | tail -n +2", forms: ALL },
    Case { line: "$TOOLS/ferrocdf copy {z4.nc} out.nc", forms: ALL },
];

/// The servers, with the files of a folder.
struct Scene {
    folder: tempfile::TempDir,
    nginx: Nginx,
    moto: Moto,
}

impl Scene {
    fn new() -> Scene {
        let folder = scene("");
        let nginx = Nginx::serve(folder.path());
        let moto = Moto::serve(&folder_of_python());
        let store = bucket(&moto);
        for entry in std::fs::read_dir(folder.path()).expect("the folder is there") {
            let path = entry.expect("it can be listed").path();
            let name = path.file_name().and_then(|name| name.to_str()).expect("a name of UTF-8");
            store.put_blob(name, &FileBlob::open(&path).expect("it can be read")).expect("it is put");
        }
        Scene { folder, nginx, moto }
    }

    /// The URL of a file.
    fn url(&self, form: Form, name: &str) -> String {
        match form {
            Http => format!("{}/{name}#mode=bytes", self.nginx.url()),
            Plain => format!("{}/{name}", self.nginx.url()),
            Https => format!("{}/{name}#mode=bytes", self.nginx.secure_url()),
            Endpoint => format!("{}/{BUCKET}/{name}#mode=bytes,s3", self.moto.url()),
            S3 => format!("s3://{BUCKET}/{name}#mode=bytes"),
        }
    }

    /// Runs a line of shell in an empty folder with our library: what it said, with `url` told as `name`, and the files that it left.
    fn run(&self, line: &str, url: &str, name: &str) -> Ran {
        let here = tempfile::tempdir().expect("a folder for the case");
        let lib = folder("FERROCDF_PREFIX").join("lib");
        let mut environment = self.moto.environment().to_vec();
        let path = |path: PathBuf| path.display().to_string();
        environment.extend([
            ("SSL_CERT_FILE", path(self.nginx.certificate())),
            ("TOOLS", path(folder("FERROCDF_PREFIX").join("bin"))),
            ("NO_PROXY", "*".to_string()),
        ]);
        let (code, out, err) = shell_with(line, here.path(), Some(&lib), &environment);
        assert_eq!(code, Some(0), "{line}: {out}{err}");
        let files = std::fs::read_dir(here.path()).expect("the folder is there").map(|entry| {
            let path = entry.expect("it can be listed").path();
            (
                path.clone().file_name().expect("it has a name").into(),
                std::fs::read(path).expect("it can be read"),
            )
        });
        // NCO warns of every name that begins with `https`.
        let lines = out.lines().filter(|line| !line.contains("WARNING nco_fl_nm_is_nczarr()"));
        let out: String = lines.map(|line| format!("{}\n", line.replace(url, name))).collect();
        (out, files.collect())
    }
}

/// What a program said, and the files that it left.
type Ran = (String, BTreeMap<PathBuf, Vec<u8>>);

fn folder_of_python() -> PathBuf {
    folder("FERROCDF_PYTHON")
}

/// The bucket of a server, as our library sees it.
fn bucket(moto: &Moto) -> std::sync::Arc<dyn Store> {
    let environment = moto.environment();
    let variables = environment.iter().map(|(name, value)| (*name, value.as_str()));
    let settings = Settings { environment: Environment::of(variables), ..Settings::default() };
    open(&format!("s3://{BUCKET}/x"), &settings).expect("a URL of S3").0
}

#[test]
fn programs_say_of_urls_what_they_say_of_files() {
    let scene = Scene::new();
    let (mut failures, mut runs) = (vec![], 0);
    for Case { line, forms } in CASES {
        let (start, end) = (line.find('{').expect("a file"), line.find('}').expect("a file"));
        let name = &line[start + 1..end];
        let with = |place: &str| format!("{}{place}{}", &line[..start], &line[end + 1..]);
        let local = scene.folder.path().join(name).display().to_string();
        let expected = scene.run(&with(&local), &local, name);
        assert!(!expected.0.is_empty() || !expected.1.is_empty(), "{line}");
        for &form in *forms {
            let url = scene.url(form, name);
            let ran = scene.run(&with(&url), &url, name);
            runs += 1;
            if ran != expected {
                failures.push(format!("{line} by {form:?}: {}", difference(&expected, &ran)));
            }
        }
    }
    println!("{runs} runs with URLs, {} requests of nginx", scene.nginx.requests().len());
    assert!(failures.is_empty(), "{} runs differ:\n{}", failures.len(), failures.join("\n"));
    // Nobody fetched whole files to look at parts, or asked for sizes alone.
    let requests = scene.nginx.requests();
    assert!(
        requests.iter().all(|request| request.starts_with("GET ") && request.ends_with(" 206")),
        "{requests:?}"
    );
}

/// The first line that differs, and the files that do.
fn difference(expected: &Ran, ran: &Ran) -> String {
    let lines = expected.0.lines().zip(ran.0.lines()).find(|(a, b)| a != b);
    let files: Vec<_> = expected.1.keys().filter(|name| ran.1.get(*name) != expected.1.get(*name)).collect();
    format!("{lines:?}, files {files:?}")
}

#[test]
fn what_is_written_to_urls_is_read_by_others() {
    let scene = Scene::new();
    let lines = |target: &str| {
        [
            format!("$TOOLS/nccopy {}/z4.nc {target}z4.nc", scene.folder.path().display()),
            format!("$TOOLS/ncgen -k cdf5 -o {target}in5.nc @/climate.cdl"),
            format!(
                "LD_PRELOAD=$LIBRARY $PYTHON -c 'import netCDF4; d = netCDF4.Dataset(\"{target}new.nc\", \"w\", clobber=True); \
                     d.createDimension(\"x\", 3); d.createVariable(\"v\", \"i4\", (\"x\",), zlib=True)[:] = [1, 2, 3]; d.close()'"
            ),
        ]
    };
    for line in [lines(&format!("{}/", scene.nginx.url())), lines(&format!("s3://{BUCKET}/put/"))].concat() {
        scene.run(&line, "", "");
    }
    // What boto3 fetches of the bucket, and what nginx has in its folder, is read by the reference.
    let fetched = tempfile::tempdir().expect("a folder");
    let fetch = format!(
        "$PYTHON -c 'import boto3; s3 = boto3.client(\"s3\", endpoint_url=\"{}\"); \
         [s3.download_file(\"{BUCKET}\", \"put/\" + name, name) for name in (\"z4.nc\", \"in5.nc\", \"new.nc\")]'",
        scene.moto.url()
    );
    let (code, out, err) = shell_with(&fetch, fetched.path(), None, &scene.moto.environment());
    assert_eq!(code, Some(0), "{out}{err}");
    let dump = |folder: &Path, name: &str| {
        let (code, out, err) = shell_with(&format!("ncdump -n same {name}"), folder, None, &[]);
        assert_eq!(code, Some(0), "{name}: {err}");
        out
    };
    for name in ["z4.nc", "in5.nc", "new.nc"] {
        let put = dump(scene.folder.path(), name);
        assert_eq!(put, dump(fetched.path(), name), "{name}");
        assert!(put.contains("v = 1, 2, 3") || put.contains("tas ="), "{put}");
    }
}

#[test]
fn netcdf_c_and_h5py_read_the_same_from_the_same_servers() {
    let scene = Scene::new();
    let name = "z4.nc";
    let ours =
        scene.run(&format!("LD_PRELOAD=$LIBRARY $PYTHON @/remote.py {}", scene.url(Http, name)), "", "");
    // The reference that the wheel brings along; Debian's release is built without byte ranges.
    let theirs = scene.run(&format!("$PYTHON @/remote.py '{}'", scene.url(Http, name)), "", "");
    assert_eq!(ours.0, theirs.0);
    let h5py = format!(
        "$PYTHON -c 'import fsspec, h5py; f = h5py.File(fsspec.open(\"{}\").open()); print(f[\"tas\"][...].tolist())'",
        scene.url(Plain, name)
    );
    let values = scene.run(&h5py, "", "").0;
    let file = scene.folder.path().join(name);
    let local =
        format!("$PYTHON -c 'import h5py; print(h5py.File(\"{}\")[\"tas\"][...].tolist())'", file.display());
    assert_eq!(values, scene.run(&local, "", "").0);
    assert!(values.len() > 1000, "{values}");
    // The forms that the facade takes are those of the URLs above.
    let url = scene.url(Endpoint, name);
    assert!(Location::parse(url.as_bytes()).is_ok());
}

/// The token service of moto issues keys of a role, and its buckets are read with them.
#[test]
fn role_of_a_profile_is_assumed() {
    let scene = Scene::new();
    let home = tempfile::tempdir().expect("a folder");
    let config = home.path().join("config");
    let profiles = "[profile work]\nrole_arn = arn:aws:iam::123456789012:role/reader\nsource_profile = base\n\
                    [profile base]\naws_access_key_id = AKID\naws_secret_access_key = hush\n";
    std::fs::write(&config, profiles).expect("it can be written");
    let dump = |settings: &str| {
        let url = format!("{}{settings}", scene.url(S3, "z4.nc"));
        let variables = format!("AWS_CONFIG_FILE={} FERROCDF_LOG=requests", config.display());
        scene.run(&format!("{variables} $TOOLS/ncdump -n same '{url}' 2>&1"), "", "").0
    };
    let [with_keys, with_role] = ["", "&aws.profile=work"].map(dump);
    let (requests, text): (Vec<_>, Vec<_>) =
        with_role.lines().partition(|line| line.starts_with("ferrocdf: "));
    println!("{requests:?}");
    assert!(requests.iter().any(|line| line.contains("POST")), "{requests:?}");
    let wanted: Vec<_> = with_keys.lines().filter(|line| !line.starts_with("ferrocdf: ")).collect();
    assert_eq!(text, wanted);
    assert!(text.iter().any(|line| line.contains("tas =")));
}
