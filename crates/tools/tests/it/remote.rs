//! The tools on URLs: datasets behind a web server on this machine.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

type Objects = HashMap<String, Vec<u8>>;

/// Serves objects by ranges on a port of its own, as long as the process lives, and takes new ones, but none named `denied`. Returns
/// the URL of the folder.
fn serve(objects: Objects) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let objects = Arc::new(Mutex::new(objects));
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let objects = objects.clone();
            // A client that goes away ends its connection only.
            std::thread::spawn(move || answer(stream, &objects));
        }
    });
    url
}

/// Answers the requests of a connection.
fn answer(stream: TcpStream, objects: &Mutex<Objects>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut request = String::new();
    while reader.read_line(&mut request)? > 0 {
        let (mut range, mut len) = (None, 0);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(told) = line.strip_prefix("content-length: ") {
                len = told.parse().unwrap();
            }
            let bounds = line.strip_prefix("range: bytes=").and_then(|bounds| bounds.split_once('-'));
            range = range
                .or(bounds
                    .map(|(start, end)| (start.parse::<usize>().unwrap(), end.parse::<usize>().unwrap())));
        }
        let mut words = request.split(' ');
        let (method, name) = (words.next().unwrap(), words.next().unwrap());
        let mut sent = vec![0; len];
        reader.read_exact(&mut sent)?;
        let mut objects = objects.lock().unwrap();
        let head = match (method, objects.get(name)) {
            ("PUT", _) if name.ends_with("denied") => {
                b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n".to_vec()
            }
            ("PUT", _) => {
                objects.insert(name.to_string(), sent);
                b"HTTP/1.1 201 Created\r\nETag: \"1\"\r\nContent-Length: 0\r\n\r\n".to_vec()
            }
            (_, None) => b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(),
            (_, Some(bytes)) => {
                assert_eq!(method, "GET");
                let (start, end) = range.expect("only ranges are asked for");
                let part = &bytes[start..bytes.len().min(end + 1)];
                let head = format!(
                    "HTTP/1.1 206 Partial Content\r\nETag: \"1\"\r\nContent-Length: {}\r\nContent-Range: bytes {start}-{}/{}\r\n\r\n",
                    part.len(),
                    start + part.len() - 1,
                    bytes.len()
                );
                [head.as_bytes(), part].concat()
            }
        };
        drop(objects);
        (&stream).write_all(&head)?;
        request.clear();
    }
    Ok(())
}

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
