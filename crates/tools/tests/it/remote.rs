//! The tools on URLs: datasets behind a web server on this machine.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

type Objects = HashMap<String, Vec<u8>>;

/// Serves objects by ranges on a port of its own, as long as the process lives. Returns the URL of the folder.
fn serve(objects: Objects) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let objects = Arc::new(objects);
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
fn answer(stream: TcpStream, objects: &Objects) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    while let Some(request) = lines.next().transpose()? {
        let mut range = None;
        for line in lines.by_ref() {
            let line = line?.to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            let bounds = line.strip_prefix("range: bytes=").and_then(|bounds| bounds.split_once('-'));
            range = range
                .or(bounds
                    .map(|(start, end)| (start.parse::<usize>().unwrap(), end.parse::<usize>().unwrap())));
        }
        let mut words = request.split(' ');
        assert_eq!(words.next(), Some("GET"), "{request}");
        let (start, end) = range.expect("only ranges are asked for");
        let head = match objects.get(words.next().unwrap()) {
            None => "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_string().into_bytes(),
            Some(bytes) => {
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
        (&stream).write_all(&head)?;
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
        assert!(ferrocdf(&["info", &format!("{server}/d/{name}")], folder).status.success());
    }
    let missing = ferrocdf(&["dump", &format!("{server}/d/f.nc")], folder);
    let told = String::from_utf8_lossy(&missing.stderr);
    assert!(!missing.status.success() && told.contains(&format!("{server}/d/f.nc: ")), "{told}");
}
