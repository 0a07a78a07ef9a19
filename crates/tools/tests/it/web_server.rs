//! A web server on this machine.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// The content of each path of a server.
pub type Objects = HashMap<String, Vec<u8>>;

/// The user and the password that objects named `private` are given for, as a header has them: `me:hush`.
const USER: &str = "authorization: basic bwu6ahvzaa==";

/// Serves objects by ranges on a port of its own, as long as the process lives, takes new ones and removes some, but none named
/// `denied`. Returns the URL of the folder.
pub fn serve(objects: Objects) -> String {
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
    const EMPTY: &str = "\r\nContent-Length: 0\r\n\r\n";
    while reader.read_line(&mut request)? > 0 {
        let (mut range, mut len, mut is_known) = (None, 0, false);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            is_known |= line == USER;
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
        let empty = |status: &str| format!("HTTP/1.1 {status}{EMPTY}").into_bytes();
        let head = match (method, objects.get(name)) {
            _ if name.ends_with("denied") => empty("403 Forbidden"),
            _ if name.ends_with("private") && !is_known => empty("401 Unauthorized"),
            ("PUT", _) => {
                objects.insert(name.to_string(), sent);
                empty("201 Created\r\nETag: \"1\"")
            }
            (_, None) => empty("404 Not Found"),
            ("DELETE", _) => {
                objects.remove(name);
                empty("204 No Content")
            }
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
