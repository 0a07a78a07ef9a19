//! `ferrocdf dump --structure`: how an HDF5 file is stored.

use std::ffi::OsString;
use std::io::{BufWriter, Write};
use std::path::Path;

use ferrocdf::{Error, Result};

use crate::input::location;

/// Prints the structures of the one file on the command line on standard output; gives the exit code.
pub fn main(args: Vec<OsString>) -> u8 {
    let [file] = &args[..] else {
        eprintln!("ferrocdf dump: --structure takes one file and no other options");
        return 1;
    };
    let mut out = Pipe { out: BufWriter::new(std::io::stdout().lock()), is_closed: false };
    match print(Path::new(file), &mut out) {
        Ok(()) => 0,
        // A reader that went away has seen enough.
        Err(_) if out.is_closed => 0,
        Err(error) => {
            eprintln!("ferrocdf dump: {error}");
            1
        }
    }
}

fn print(path: &Path, out: &mut dyn Write) -> Result<()> {
    let written = location(path)?.write_structure(out);
    out.flush().map_err(|error| Error::system(error, "standard output"))?;
    written
}

/// Standard output, which notes that its reader went away.
struct Pipe<W: Write> {
    out: W,
    is_closed: bool,
}

impl<W: Write> Pipe<W> {
    fn note<T>(&mut self, result: std::io::Result<T>) -> std::io::Result<T> {
        let closed = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
        self.is_closed |= result.as_ref().is_err_and(closed);
        result
    }
}

impl<W: Write> Write for Pipe<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let result = self.out.write(bytes);
        self.note(result)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let result = self.out.flush();
        self.note(result)
    }
}
