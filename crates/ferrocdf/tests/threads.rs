//! A process that opens no URL has no thread for requests, and one that has closed its URLs has none left. There is one test here,
//! since others would have threads.
#![cfg(feature = "remote")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use ferrocdf::{CreateOptions, File, FileMut, Format, Location, OpenOptions};

/// Python's web server, which ignores ranges.
struct WebServer {
    process: Child,
    url: String,
}

impl WebServer {
    fn serve(folder: &std::path::Path) -> WebServer {
        let python = ["-u", "-m", "http.server", "--bind", "127.0.0.1", "0"];
        let mut command = Command::new("python3");
        command.args(python).current_dir(folder).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let mut said = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut said).unwrap();
        let port = said.split(' ').skip_while(|word| *word != "port").nth(1).unwrap();
        WebServer { process, url: format!("http://127.0.0.1:{port}") }
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// Makes a file, or an object, and reads it.
fn write_and_read(location: &Location, format: Format) {
    let file = FileMut::create_at(location, &CreateOptions::format(format)).unwrap();
    file.add_dimension("x", 3).unwrap();
    file.add_variable::<i32>("v", &["x"]).unwrap().put_values(&[1, 2, 3], ..).unwrap();
    file.close().unwrap();
    read(location);
}

fn read(location: &Location) {
    let file = File::open_location(location, &OpenOptions::default()).unwrap();
    assert_eq!(file.variable("v").unwrap().get_values::<i32, _>(..).unwrap(), [1, 2, 3]);
}

#[test]
fn requests_have_no_threads_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let before = threads();
    for (format, name) in [(Format::CLASSIC, "a.nc"), (Format::NETCDF4, "b.nc")] {
        write_and_read(&Location::Path(folder.path().join(name)), format);
    }
    assert_eq!(threads(), before, "no URL was opened");
    let server = WebServer::serve(folder.path());
    for name in ["a.nc", "b.nc"] {
        read(&Location::parse(format!("{}/{name}", server.url).as_bytes()).unwrap());
    }
    assert_eq!(threads(), before);
}
