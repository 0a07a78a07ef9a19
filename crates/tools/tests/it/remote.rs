//! The tools on URLs: datasets behind a web server on this machine.

use std::path::Path;
use std::process::{Command, Output};

use ferrocdf::{CreateOptions, FileMut, Format};

use crate::web_server::{Objects, serve};

fn ferrocdf(args: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrocdf"));
    command
        .args(args)
        .current_dir(folder)
        .env("NO_PROXY", "*")
        .env("FERROCDF_LOG", "requests")
        .output()
        .unwrap()
}

#[test]
fn remote_datasets_are_dumped_and_copied() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let cdl = "netcdf a { dimensions: t = UNLIMITED ; x = 40 ;
        variables: int v(t, x) ; v:units = \"m\" ; double w(x) ; data: v = 1, 2, 3 ; w = 4, 5 ;
        group: g { variables: string s ; data: s = \"text\" ; }
        }";
    let mut objects = Objects::new();
    for (kind, name) in [("nc3", "c.nc"), ("cdf5", "d.nc"), ("nc4", "e.nc")] {
        let cdl = if kind == "nc4" { cdl.to_string() } else { cdl.replacen("group:", "// group:", 1) };
        std::fs::write(folder.join("a.cdl"), cdl).unwrap();
        let made = ferrocdf(&["gen", "-k", kind, "-o", name, "a.cdl"], folder);
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        objects.insert(format!("/d/{name}"), std::fs::read(folder.join(name)).unwrap());
    }
    let server = serve(objects);
    for name in ["c.nc", "d.nc", "e.nc"] {
        let local = ferrocdf(&["dump", name], folder);
        assert!(local.status.success() && !local.stdout.is_empty());
        for url in [format!("{server}/d/{name}"), format!("{server}/d/{name}#mode=bytes")] {
            let remote = ferrocdf(&["dump", &url], folder);
            let told = String::from_utf8_lossy(&remote.stderr).into_owned();
            assert_eq!(
                String::from_utf8_lossy(&remote.stdout),
                String::from_utf8_lossy(&local.stdout),
                "{url}: {told}"
            );
            // The first request brings the whole file, and nothing asks for it again.
            assert_eq!(told.lines().count(), 1, "{told}");
            let copied = ferrocdf(&["copy", &url, "copy.nc"], folder);
            assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
            let copy = ferrocdf(&["dump", "-n", &name[..1], "copy.nc"], folder);
            assert_eq!(
                String::from_utf8_lossy(&copy.stdout),
                String::from_utf8_lossy(&local.stdout),
                "{url}"
            );
        }
        let info = ferrocdf(&["info", "--requests", &format!("{server}/d/{name}")], folder);
        let told = String::from_utf8_lossy(&info.stdout);
        let size = folder.join(name).metadata().unwrap().len();
        assert!(size < 10_000 && told.contains("\nrequests 1 in 1 rounds, "), "{told}");
    }
    let missing = ferrocdf(&["dump", &format!("{server}/d/f.nc")], folder);
    let told = String::from_utf8_lossy(&missing.stderr);
    assert!(!missing.status.success() && told.contains(&format!("{server}/d/f.nc: ")), "{told}");
}

#[test]
fn datasets_are_written_to_urls() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(
        folder.join("a.cdl"),
        "netcdf a { dimensions: x = 3 ; variables: int v(x) ; data: v = 1, 2, 3 ; }",
    )
    .unwrap();
    let server = serve(Objects::new());
    let text = |name: &str| {
        let dumped = ferrocdf(&["dump", "-n", "a", name], folder);
        assert!(dumped.status.success(), "{}", String::from_utf8_lossy(&dumped.stderr));
        String::from_utf8(dumped.stdout).unwrap()
    };
    for kind in ["nc3", "cdf5", "nc4"] {
        let [made, copied] = ["made", "copied"].map(|name| format!("{server}/d/{name}-{kind}.nc"));
        assert!(ferrocdf(&["gen", "-k", kind, "-o", "local.nc", "a.cdl"], folder).status.success());
        let generated = ferrocdf(&["gen", "-k", kind, "-o", &made, "a.cdl"], folder);
        assert!(generated.status.success(), "{}", String::from_utf8_lossy(&generated.stderr));
        assert_eq!(text(&made), text("local.nc"));
        for source in [&*made, "local.nc"] {
            let copy = ferrocdf(&["copy", source, &copied], folder);
            assert!(copy.status.success(), "{}", String::from_utf8_lossy(&copy.stderr));
            assert_eq!(text(&copied), text("local.nc"));
        }
    }
    let denied = format!("{server}/d/denied");
    let refused = ferrocdf(&["copy", "local.nc", &denied], folder);
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success(), "{told}");
    assert!(told.contains(&format!("{denied}: PUT ")) && told.contains("403"), "{told}");
}

#[test]
fn settings_of_files_reach_requests() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("a.cdl"), "netcdf a { dimensions: x = 3 ; }").unwrap();
    assert!(ferrocdf(&["gen", "-o", "a.nc", "a.cdl"], folder).status.success());
    let object = std::fs::read(folder.join("a.nc")).unwrap();
    let server = serve(Objects::from([("/d/private".to_string(), object)]));
    let url = format!("{server}/d/private");
    let read = |url: &str, environment: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ferrocdf"));
        command.args(["dump", url]).current_dir(folder).env("NO_PROXY", "*").env("HOME", folder);
        command.env_remove("NCRCENV_RC").envs(environment.iter().copied()).output().unwrap()
    };
    let fails = |output: Output, what: &str| {
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && told.contains(what), "{told}");
    };
    let user = "HTTP.CREDENTIALS.USERPASSWORD=me:hush\n";
    for (name, text) in [(".ncrc", user.to_string()), (".dodsrc", format!("[{server}/d]{user}"))] {
        fails(read(&url, &[]), "401");
        std::fs::write(folder.join(name), text).unwrap();
        let dumped = read(&url, &[]);
        assert!(dumped.status.success(), "{name}: {}", String::from_utf8_lossy(&dumped.stderr));
        fails(read(&format!("{url}#http.credentials.userpassword=me:other"), &[]), "401");
        fails(read(&url, &[("NCRCENV_IGNORE", "1")]), "401");
        fails(read(&url, &[("NCRCENV_RC", "none")]), "401");
        std::fs::rename(folder.join(name), folder.join("other")).unwrap();
        assert!(read(&url, &[("NCRCENV_RC", "other")]).status.success(), "{name}");
    }
    // Of another folder, and a value that the key cannot have.
    std::fs::write(folder.join(".ncrc"), format!("[{server}/e]{user}")).unwrap();
    fails(read(&url, &[]), "401");
    std::fs::write(folder.join(".ncrc"), "HTTP.TIMEOUT=soon").unwrap();
    fails(read(&url, &[]), "HTTP.TIMEOUT");
}

/// A netCDF-4 file whose metadata lies between its data.
fn scattered() -> Vec<u8> {
    let file = FileMut::in_memory(&CreateOptions::format(Format::NETCDF4)).unwrap();
    file.add_dimension("x", 400_000).unwrap();
    for name in ["a", "b", "c", "d"] {
        let variable = file.add_variable::<i32>(name, &["x"]).unwrap();
        (0..20).for_each(|at| variable.put_attribute(&format!("a{at}"), "of 20").unwrap());
        variable.put_values(&vec![7; 400_000], ..).unwrap();
        file.sync().unwrap();
    }
    file.into_bytes().unwrap().unwrap()
}

#[test]
fn pages_are_kept_from_one_process_to_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let server = serve(Objects::from([("/d/a.nc".to_string(), scattered())]));
    let url = format!("{server}/d/a.nc");
    let info = |cache: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ferrocdf"));
        command.args(["info", "--requests", &url]).current_dir(folder).env("NO_PROXY", "*");
        let ran = command.env("FERROCDF_REMOTE_CACHE", cache).output().unwrap();
        (String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap())
    };
    let [first, again, without] = ["kept:100M", "kept:100M", ""].map(|cache| info(cache).0);
    let split = |text: &str| {
        text.split_once("\nrequests ").map(|(said, count)| (said.to_string(), count.to_string()))
    };
    let [first, again, without] =
        [first, again, without].map(|text| split(&text).unwrap_or_else(|| panic!("{text}")));
    assert_eq!((&first.0, &first.0), (&again.0, &without.0));
    assert!(again.1.starts_with("1 in 1 rounds"), "{again:?}");
    assert!(!first.1.starts_with("1 in ") && first.1 == without.1, "{first:?} {without:?}");
    assert!(info("kept:much").1.contains("FERROCDF_REMOTE_CACHE"));
}

/// A file of 1,000 variables with 10 attributes each, and two steps of 4,000 bytes.
fn thousand_variables() -> Vec<u8> {
    let file = FileMut::in_memory(&CreateOptions::format(Format::NETCDF4)).unwrap();
    file.add_unlimited_dimension("time").unwrap();
    file.add_dimension("x", 1000).unwrap();
    for number in 0..1000 {
        let variable = file.add_variable::<u32>(&format!("v{number}"), &["time", "x"]).unwrap();
        (0..10).for_each(|at| variable.put_attribute(&format!("attribute{at}"), "some words").unwrap());
        let values: Vec<u32> = (0..2000).map(|at| at * 1000 + number).collect();
        variable.put_values(&values, (0..2, ..)).unwrap();
    }
    file.into_bytes().unwrap().unwrap()
}

#[test]
fn a_repacked_file_opens_in_two_requests_and_a_variable_costs_two_more() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("in.nc"), thousand_variables()).unwrap();
    for (layout, name) in [("--cloud", "a.nc"), ("--cloud=cmip7", "b.nc")] {
        let repacked = ferrocdf(&["repack", layout, "in.nc", name], folder);
        assert!(repacked.status.success(), "{}", String::from_utf8_lossy(&repacked.stderr));
        let bytes = std::fs::read(folder.join(name)).unwrap();
        assert!(bytes.len() > 5_000_000, "{}", bytes.len());
        let url = serve(Objects::from([("/a".to_string(), bytes)])) + "/a";
        // What it prints, and the requests that it sent.
        let dump = |options: &[&str], place: &str| {
            let ran = ferrocdf(&[&["dump", "-n", "a"], options, &[place]].concat(), folder);
            assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
            (ran.stdout, String::from_utf8(ran.stderr).unwrap().lines().count())
        };
        for options in [&["-h"][..], &["-v", "v500"]] {
            assert!(dump(options, &url).0 == dump(options, name).0, "{layout} {options:?}");
        }
        let (_, opening) = dump(&["-h"], &url);
        assert!((1..=2).contains(&opening), "{layout}: {opening} requests");
        // The chunk index, if it was not among what came with the headers, and the chunks.
        let step = dump(&["-v", "v500"], &url).1 - opening;
        assert!((1..=2).contains(&step), "{layout}: {step} requests");
    }
}
