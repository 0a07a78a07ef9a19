//! `ferrocdf repack`: which files it makes, and how they are laid out.

use std::fs;
use std::path::Path;
use std::process::Command;

use ferrocdf::model::Filter;
use ferrocdf::{Atomic, File, FileMut};

/// Runs the tool in a folder; whether it went well, and what it said.
fn repack(folder: &Path, args: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrocdf"));
    let run =
        command.arg("repack").args(args).current_dir(folder).env("FERROCDF_THREADS", "4").output().unwrap();
    (run.status.success(), String::from_utf8(run.stderr).unwrap())
}

/// Makes a file of records whose chunks and their indexes lie everywhere, with text of any length. Returns the values of `tas`.
fn make(path: &Path) -> Vec<f32> {
    let file = ferrocdf::create(path).unwrap();
    file.add_unlimited_dimension("time").unwrap();
    file.add_dimension("bnds", 2).unwrap();
    file.add_dimension("x", 50_000).unwrap();
    let time = file.add_variable::<f64>("time", &["time"]).unwrap();
    time.put_attribute("bounds", "time_bnds").unwrap();
    file.build_variable("time_bnds", Atomic::Double, &["time", "bnds"]).chunks(&[1, 2]).create().unwrap();
    file.build_variable("tas", Atomic::Float, &["time", "x"]).chunks(&[1, 50_000]).create().unwrap();
    file.build_variable("mask", Atomic::Byte, &["x"]).chunks(&[10_000]).deflate(1).create().unwrap();
    file.add_variable::<f64>("area", &["x"]).unwrap();
    file.build_variable("note", Atomic::String, &["time"]).create().unwrap();
    let mut all = vec![];
    for step in 0..40_u64 {
        let values: Vec<f32> = (0..50_000).map(|x| (x % 97) as f32 + step as f32).collect();
        file.variable_mut("tas").unwrap().put_values(&values, (step, ..)).unwrap();
        file.variable_mut("time").unwrap().put_value(step as f64, [step]).unwrap();
        file.variable_mut("time_bnds")
            .unwrap()
            .put_values(&[step as f64, step as f64 + 1.0], (step, ..))
            .unwrap();
        file.variable_mut("note")
            .unwrap()
            .put_strings(&[format!("step {step} {}", "x".repeat(200))], [step])
            .unwrap();
        file.sync().unwrap();
        all.extend(values);
    }
    file.variable_mut("mask").unwrap().put_values(&vec![1_i8; 50_000], ..).unwrap();
    file.variable_mut("area").unwrap().put_values(&vec![2.5_f64; 50_000], ..).unwrap();
    file.close().unwrap();
    all
}

fn is_metadata_first(path: &Path) -> bool {
    File::open(path).unwrap().layout().unwrap().is_metadata_first().unwrap()
}

fn chunk_shape(file: &File, name: &str) -> Option<Vec<u64>> {
    file.variable(name).unwrap().chunk_shape()
}

#[test]
fn metadata_is_put_in_front_and_chunks_follow_the_rules_of_cmip7() {
    let folder = tempfile::tempdir().unwrap();
    let [source, cloud, cmip7] = ["a.nc", "cloud.nc", "cmip7.nc"].map(|name| folder.path().join(name));
    let values = make(&source);
    assert!(!is_metadata_first(&source));
    assert_eq!(repack(folder.path(), &["--cloud", "--verify", "a.nc", "cloud.nc"]), (true, String::new()));
    assert!(is_metadata_first(&cloud));
    let file = File::open(&cloud).unwrap();
    assert_eq!(chunk_shape(&file, "tas"), Some(vec![1, 50_000]));
    assert_eq!(file.layout().unwrap().open[0].requests, 1);

    assert_eq!(
        repack(folder.path(), &["--cloud=cmip7", "--verify", "a.nc", "cmip7.nc"]),
        (true, String::new())
    );
    assert!(is_metadata_first(&cmip7));
    let file = File::open(&cmip7).unwrap();
    assert_eq!(file.variable("tas").unwrap().get_values::<f32, _>(..).unwrap(), values);
    assert_eq!(file.variable("note").unwrap().get_strings([39]).unwrap()[0].len(), 208);
    for (name, chunks) in
        [("time", vec![40]), ("time_bnds", vec![40, 2]), ("tas", vec![21, 50_000]), ("mask", vec![50_000])]
    {
        assert_eq!(chunk_shape(&file, name), Some(chunks), "{name}");
    }
    assert_eq!(chunk_shape(&file, "area"), None);
    let filters = |name: &str| {
        file.variable(name).unwrap().filters().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        [filters("tas"), filters("mask")],
        [vec!["shuffle,4".to_string(), "deflate,4".to_string()], vec!["deflate,1".to_string()]]
    );

    let chunks = ["--chunks", "tas=10,25000", "--target-chunk", "20kB", "a.nc", "own.nc"];
    assert_eq!(repack(folder.path(), &chunks), (true, String::new()));
    let file = File::open(folder.path().join("own.nc")).unwrap();
    assert_eq!(
        (chunk_shape(&file, "tas"), chunk_shape(&file, "mask")),
        (Some(vec![10, 25_000]), Some(vec![20_000]))
    );
    let model = file.model();
    assert!(model.var_ids().all(|var| model.var(var).storage.filter(Filter::SHUFFLE).is_none()));
}

#[test]
fn many_files_go_to_a_folder_or_take_the_places_of_their_sources() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let values = make(&path("a.nc"));
    fs::create_dir_all(path("tree/deep")).unwrap();
    for name in ["b.nc", "tree/c.nc", "tree/deep/d.nc"] {
        fs::copy(path("a.nc"), path(name)).unwrap();
    }
    fs::write(path("tree/deep/readme.txt"), "no netCDF").unwrap();
    fs::create_dir(path("out")).unwrap();
    assert_eq!(repack(folder.path(), &["--cloud", "a.nc", "b.nc", "out"]), (true, String::new()));
    let skipped =
        "ferrocdf repack: skipped 1 file that is not an HDF5 file: tree/deep/readme.txt\n".to_string();
    assert_eq!(repack(folder.path(), &["--cloud", "-r", "tree", "forest"]), (true, skipped.clone()));
    assert_eq!(repack(folder.path(), &["--cloud", "-r", "--in-place", "tree"]), (true, skipped));
    for name in ["out/a.nc", "out/b.nc", "forest/c.nc", "forest/deep/d.nc", "tree/c.nc", "tree/deep/d.nc"] {
        assert!(is_metadata_first(&path(name)), "{name}");
        let file = File::open(path(name)).unwrap();
        assert_eq!(file.variable("tas").unwrap().get_values::<f32, _>(..).unwrap(), values, "{name}");
    }
    assert!(!path("forest/deep/readme.txt").exists());
    // No temporary file is left.
    assert_eq!(fs::read_dir(path("tree/deep")).unwrap().count(), 2);
}

#[test]
fn what_would_lose_something_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ferrocdf/tests/data");
    fs::copy(data.join("skipped.h5"), folder.path().join("skipped.h5")).unwrap();
    let before = fs::read(folder.path().join("skipped.h5")).unwrap();
    let (done, said) = repack(folder.path(), &["--cloud", "--in-place", "skipped.h5"]);
    assert!(!done && said.contains("no part of a netCDF file"), "{said}");
    assert_eq!(fs::read(folder.path().join("skipped.h5")).unwrap(), before);
    for (name, why) in [("unscaled.h5", "no netCDF library wrote it"), ("sources.h5", "is in other files")] {
        fs::copy(data.join(name), folder.path().join(name)).unwrap();
        let (done, said) = repack(folder.path(), &["--cloud", "--in-place", name]);
        assert!(!done && said.contains(why), "{said}");
        assert_eq!(fs::read(folder.path().join(name)).unwrap(), fs::read(data.join(name)).unwrap());
    }
    let classic = FileMut::create(
        folder.path().join("a.nc"),
        &ferrocdf::CreateOptions::format(ferrocdf::Format::CLASSIC),
    )
    .unwrap();
    classic.close().unwrap();
    let (done, said) = repack(folder.path(), &["a.nc", "b.nc"]);
    assert!(!done && said.contains("`ferrocdf copy -4`") && !folder.path().join("b.nc").exists(), "{said}");
    for args in [&["a.nc"][..], &["a.nc", "a.nc", "none"], &["--chunks", "x", "a.nc", "b.nc"], &[".", "b"]] {
        assert!(!repack(folder.path(), args).0, "{args:?}");
    }
    make(&folder.path().join("c.nc"));
    let mut jammed = vec![b' '; 512];
    jammed.extend(fs::read(folder.path().join("c.nc")).unwrap());
    fs::write(folder.path().join("jammed.nc"), &jammed).unwrap();
    let (done, said) = repack(folder.path(), &["--cloud", "--in-place", "jammed.nc"]);
    assert!(!done && said.contains("user block"), "{said}");
    assert_eq!(fs::read(folder.path().join("jammed.nc")).unwrap(), jammed);
    fs::create_dir_all(folder.path().join("two")).unwrap();
    fs::create_dir_all(folder.path().join("out")).unwrap();
    fs::copy(folder.path().join("c.nc"), folder.path().join("two/c.nc")).unwrap();
    let (done, said) = repack(folder.path(), &["--cloud", "c.nc", "two/c.nc", "out"]);
    assert!(!done && said.contains("c.nc and two/c.nc would both become out/c.nc"), "{said}");
    assert_eq!(fs::read_dir(folder.path().join("out")).unwrap().count(), 0);
    let (done, said) = repack(folder.path(), &["--chunks", "none=1", "c.nc", "d.nc"]);
    assert!(!done && said.contains("--chunks none: there is no such variable"), "{said}");
    let (done, said) = repack(folder.path(), &["c.nc", "c.nc"]);
    assert!(!done && said.contains("would overwrite"), "{said}");
}

#[test]
fn many_files_are_repacked_at_once_and_each_error_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("in")).unwrap();
    let names: Vec<String> = (0..20).map(|number| format!("{number:02}.nc")).collect();
    let made = make(&path("in/00.nc"));
    for name in &names[1..] {
        fs::copy(path("in/00.nc"), path("in").join(name)).unwrap();
    }
    // The files of this number end in the middle.
    for damaged in [3, 11] {
        let bytes = fs::read(path("in/00.nc")).unwrap();
        fs::write(path("in").join(&names[damaged]), &bytes[..bytes.len() / 2]).unwrap();
    }
    fs::create_dir(path("out")).unwrap();
    let (went_well, said) = repack(folder.path(), &["--cloud", "-r", "in", "out"]);
    assert!(!went_well);
    for (number, name) in names.iter().enumerate() {
        let out = path("out").join(name);
        assert_eq!(said.contains(name.as_str()), [3, 11].contains(&number), "{said}");
        assert_eq!(out.exists(), ![3, 11].contains(&number), "{name}");
        if out.exists() {
            assert!(is_metadata_first(&out));
            let read = File::open(&out).unwrap().variable("tas").unwrap().get_values::<f32, _>(..).unwrap();
            assert!(read == made, "{name}");
        }
    }
}

#[test]
fn names_of_one_file_are_repacked_one_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let made = make(&path("a.nc"));
    fs::create_dir(path("sub")).unwrap();
    for name in ["b.nc", "c.nc", "sub/d.nc"] {
        fs::hard_link(path("a.nc"), path(name)).unwrap();
    }
    let args = ["--cloud", "--in-place", "-r", "a.nc", "./a.nc", "a.nc", ".", "sub"];
    assert_eq!(repack(folder.path(), &args), (true, String::new()));
    for name in ["a.nc", "b.nc", "c.nc", "sub/d.nc"] {
        assert!(is_metadata_first(&path(name)), "{name}");
        let read = File::open(path(name)).unwrap().variable("tas").unwrap().get_values::<f32, _>(..).unwrap();
        assert!(read == made, "{name}");
    }
}

#[test]
fn variables_that_are_filled_stay_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    make(&path("a.nc"));
    assert_eq!(repack(folder.path(), &["--cloud", "a.nc", "b.nc"]), (true, String::new()));
    let fills = |name: &str| -> Vec<bool> {
        File::open(path(name)).unwrap().model().vars().iter().map(|var| var.storage.no_fill).collect()
    };
    assert_eq!(fills("b.nc"), fills("a.nc"));
    assert!(!fills("a.nc").contains(&true));
}

#[test]
fn skipped_files_of_a_tree_are_counted_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("tree/deep")).unwrap();
    make(&path("tree/a.nc"));
    let classic = ferrocdf::CreateOptions::format(ferrocdf::Format::CLASSIC);
    for number in 0..6 {
        FileMut::create(path(&format!("tree/deep/{number}.nc")), &classic).unwrap().close().unwrap();
    }
    fs::write(path("tree/empty"), "").unwrap();
    std::os::unix::fs::symlink("a.nc", path("tree/link.nc")).unwrap();
    let others = "ferrocdf repack: skipped 7 files that are not HDF5 files: \
                  tree/deep/0.nc, tree/deep/1.nc, tree/deep/2.nc, tree/deep/3.nc, tree/deep/4.nc";
    let links = "ferrocdf repack: skipped 1 symbolic link: tree/link.nc\n";
    let (done, said) = repack(folder.path(), &["-r", "tree", "out"]);
    assert_eq!((done, said), (true, format!("{others} and 2 more (-v names all)\n{links}")));
    let (done, said) = repack(folder.path(), &["-rv", "tree", "out"]);
    assert_eq!((done, said), (true, format!("{others}, tree/deep/5.nc, tree/empty\n{links}")));
    assert!(path("out/a.nc").exists() && !path("out/link.nc").exists() && !path("out/deep").exists());
}

#[test]
fn chunk_shape_that_is_cut_to_a_dimension_is_told() {
    let folder = tempfile::tempdir().unwrap();
    make(&folder.path().join("a.nc"));
    let (done, said) = repack(folder.path(), &["--chunks", "tas=100,60000", "a.nc", "b.nc"]);
    let wanted = "ferrocdf repack: warning: a.nc: /tas: the chunk shape [100, 60000] is cut to [100, 50000], \
                  since no chunk is longer than a dimension of fixed length\n";
    assert_eq!((done, said.as_str()), (true, wanted));
    let file = File::open(folder.path().join("b.nc")).unwrap();
    assert_eq!(chunk_shape(&file, "tas"), Some(vec![100, 50_000]));
    let (done, said) = repack(folder.path(), &["--chunks", "tas=100,50000", "a.nc", "b.nc"]);
    assert_eq!((done, said.as_str()), (true, ""));
}
