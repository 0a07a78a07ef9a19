//! Local files of other programs that are opened and dumped: no byte of their metadata is read twice.

use std::fmt::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

use ferrocdf::store::{Blob, Cost, FileBlob, forward};
use ferrocdf::{File, OpenOptions, Owner, Result, Values};

use crate::ncdump_tool::generate;

/// A file that counts how often each of its bytes is read.
#[derive(Debug)]
struct ByteCounts {
    file: FileBlob,
    counts: Mutex<Vec<u8>>,
}

impl ByteCounts {
    fn open(path: &Path) -> Arc<ByteCounts> {
        let file = FileBlob::open(path).unwrap();
        let counts = vec![0; file.size().unwrap() as usize];
        Arc::new(ByteCounts { file, counts: Mutex::new(counts) })
    }

    /// Returns the number of bytes that were read, and the ranges of those that were read more than once.
    fn summary(&self) -> (usize, Vec<std::ops::Range<usize>>) {
        let counts = self.counts.lock().unwrap();
        let mut repeated: Vec<std::ops::Range<usize>> = vec![];
        for (at, _) in counts.iter().enumerate().filter(|(_, count)| **count > 1) {
            match repeated.last_mut() {
                Some(last) if last.end == at => last.end += 1,
                _ => repeated.push(at..at + 1),
            }
        }
        (counts.iter().filter(|count| **count > 0).count(), repeated)
    }
}

impl Blob for ByteCounts {
    forward!([.file] size name forget change_token is_nameless);

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        let len = self.file.read_at(at, into)?;
        let mut counts = self.counts.lock().unwrap();
        counts[at as usize..][..len].iter_mut().for_each(|count| *count = count.saturating_add(1));
        Ok(len)
    }

    fn cost(&self) -> Cost {
        Cost::LOCAL
    }
}

/// Reads all that `ncdump` shows of a file: the header with all attributes, then all values. Returns the number of attributes and of
/// values.
fn dump(file: &File) -> (usize, usize) {
    let model = file.model();
    let owners = model.group_ids().map(Owner::Group).chain(model.var_ids().map(Owner::Var));
    let attributes = owners.map(|owner| model.attrs(owner).iter().count()).sum();
    let values = model.var_ids().map(|var| {
        let shape = model.shape(var);
        file.read_values(var, &vec![0; shape.len()], &shape).map(|values| Values::len(&values)).unwrap()
    });
    (attributes, values.sum())
}

/// Opens a file and dumps it, and fails if a byte was read twice, of a classic file a byte of its header.
fn check(name: &str, path: &Path, attributes: usize, values: usize) {
    let bytes = ByteCounts::open(path);
    let file = File::from_blob(bytes.clone(), &OpenOptions::default().all_attributes(true)).unwrap();
    assert_eq!(dump(&file), (attributes, values), "{name}");
    let (read, mut repeated) = bytes.summary();
    if file.model().format().is_classic_file() {
        // The data, four bytes a value here, lies behind the header; what was read along with the header is read again.
        let header = bytes.size().unwrap() as usize - 4 * values;
        repeated.retain(|range| range.start < header);
    }
    assert!(repeated.is_empty(), "{name}: of {read} bytes these were read again: {repeated:?}");
}

/// Declares variables with twelve attributes each, so that the attributes lie outside of the headers.
fn many_variables(count: usize) -> String {
    let mut cdl = String::new();
    for number in 0..count {
        let name = format!("v{number}");
        writeln!(cdl, "float {name}(t, x) ;").unwrap();
        for attribute in 0..6 {
            writeln!(cdl, "{name}:text_{attribute} = \"text {attribute} of {name}\" ;").unwrap();
            writeln!(cdl, "{name}:number_{attribute} = {attribute}., {number}. ;").unwrap();
        }
    }
    cdl
}

#[test]
fn no_byte_of_metadata_is_read_twice() {
    let folder = tempfile::tempdir().unwrap();
    let make = |kind: &str, cdl: &str| {
        let (text, path) = (folder.path().join("a.cdl"), folder.path().join("a.nc"));
        std::fs::write(&text, cdl).unwrap();
        generate(kind, &text, &path);
        // A file that was changed just now is read again, since another change would have the same time.
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        path
    };
    let dims = "dimensions: t = 2 ; x = 3 ; ";
    for (kind, count) in [("-4", 1500), ("-7", 300), ("-4", 40), ("-5", 1000)] {
        let path = make(kind, &format!("netcdf a {{ {dims} variables: {} }}", many_variables(count)));
        check(&format!("{count} variables, {kind}"), &path, count * 12, count * 6);
    }
    let groups: String =
        (0..20).map(|group| format!("group: g{group} {{ variables: {} }}\n", many_variables(30))).collect();
    let path = make("-4", &format!("netcdf a {{ {dims} {groups} }}"));
    check("groups", &path, 600 * 12, 600 * 6);
    let types = "types: compound pair { int a ; float b ; } ; int(*) list ; byte enum sign { minus = -1, plus = 1 } ; ";
    let declare = |number: usize| {
        format!(
            "pair p{number}(x) ; list l{number}(x) ; string s{number}(t, x) ; double c{number}(t, x, y) ;
            c{number}:_ChunkSizes = 1, 3, 50 ; c{number}:_DeflateLevel = 1 ; sign c{number}:sign = minus ;
            pair c{number}:range = {{1, 2}} ; list c{number}:flags = {{1, 2, 3}} ; string c{number}:names = \"a\", \"b\" ;\n"
        )
    };
    let fill = |number: usize| {
        let values: Vec<String> = (0..2 * 3 * 1000).map(|value| (value * number % 977).to_string()).collect();
        format!(
            "c{number} = {} ; s{number} = \"u\", \"v\", \"w\", \"x\", \"y\", \"z\" ; l{number} = {{1}}, {{2, 3}}, {{4}} ;\n",
            values.join(", ")
        )
    };
    let (declared, filled): (String, String) = (1..=60).map(|number| (declare(number), fill(number))).unzip();
    let dims = "dimensions: t = UNLIMITED ; x = 3 ; y = 1000 ;";
    let path = make("-4", &format!("netcdf a {{ {types} {dims} variables: {declared} data: {filled} }}"));
    check("chunks and user-defined types", &path, 60 * 4, 60 * (3 + 3 + 6 + 6000));
}
