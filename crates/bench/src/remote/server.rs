//! A web server on loopback that gives ranges of the files of a folder, each answer after a wait: the latency of a network.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Serves a folder as long as the process lives. Returns the URL of the folder.
pub fn serve(folder: &Path, latency: Duration) -> Result<String, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let folder = folder.to_path_buf();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let folder = folder.clone();
            // A client that goes away ends its connection only.
            std::thread::spawn(move || answer(&stream, &folder, latency));
        }
    });
    Ok(format!("http://{address}"))
}

/// What a request asks for.
#[derive(Default)]
struct Request {
    method: String,
    path: PathBuf,
    /// First and last position, the last one if the client named it.
    range: Option<(u64, Option<u64>)>,
}

/// Reads a request; `None` where the client ended the connection.
fn request(reader: &mut impl BufRead) -> std::io::Result<Option<Request>> {
    let mut request = Request::default();
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split(' ');
    request.method = words.next().unwrap_or_default().to_string();
    request.path = words.next().unwrap_or_default().trim_start_matches('/').into();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let header = line.trim_end().to_ascii_lowercase();
        if header.is_empty() {
            return Ok(Some(request));
        }
        if let Some((start, last)) =
            header.strip_prefix("range: bytes=").and_then(|range| range.split_once('-'))
        {
            request.range = start.parse().ok().map(|start| (start, last.parse().ok()));
        }
    }
}

/// Answers the requests of a connection.
fn answer(mut stream: &TcpStream, folder: &Path, latency: Duration) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some(request) = request(&mut reader)? {
        std::thread::sleep(latency);
        let Ok(mut file) = File::open(folder.join(&request.path)) else {
            stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")?;
            continue;
        };
        let size = file.metadata()?.len();
        let (start, last) = request.range.unwrap_or((0, None));
        let last = last.unwrap_or(u64::MAX).min(size.saturating_sub(1));
        let len = (last + 1).saturating_sub(start);
        let status = match request.range {
            Some(_) => format!("206 Partial Content\r\nContent-Range: bytes {start}-{last}/{size}"),
            None => "200 OK".to_string(),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nAccept-Ranges: bytes\r\nETag: \"{size}\"\r\nContent-Length: {len}\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        if request.method != "HEAD" {
            file.seek(SeekFrom::Start(start))?;
            // The kernel copies from the file to the connection.
            std::io::copy(&mut file.take(len), &mut stream)?;
        }
    }
    Ok(())
}
