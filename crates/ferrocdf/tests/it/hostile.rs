//! HDF5 files that are made to harm their reader: a word or an error, soon and in little memory.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ferrocdf::{Code, File, GroupId, Owner, Result, Values, VarId};

use crate::build::*;

/// One at a time, and none longer than this. Time is that of the thread on a processor, so that other programs do not count.
struct Watch<'a> {
    start: Instant,
    busy: Option<Duration>,
    _turn: MutexGuard<'a, ()>,
}

fn watch() -> Watch<'static> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    Watch { start: Instant::now(), busy: busy(), _turn: turn }
}

/// The time that this thread ran on a processor, where the system says so.
fn busy() -> Option<Duration> {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    times.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// The most memory that this process ever had, in bytes, where the system says so.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let waited = self.start.elapsed();
        // The limit of time by the clock is for work that waits, or that other threads do.
        assert!(waited < Duration::from_secs(60), "it took {waited:?} by the clock");
        let took = self.busy.zip(busy()).map_or(waited, |(before, now)| now - before);
        assert!(took < Duration::from_secs(if cfg!(debug_assertions) { 6 } else { 2 }), "it took {took:?}");
        assert!(peak().is_none_or(|peak| peak < 300 << 20), "{:?} bytes of memory", peak());
    }
}

fn open(bytes: Vec<u8>) -> File {
    File::from_bytes(bytes).unwrap()
}

/// The reasons for what was skipped.
fn words(file: &File) -> String {
    file.skipped().join("\n")
}

/// A file with one dataset, `v`, of bytes.
fn dataset(mut builder: Builder, dims: &[u64], rest: &[Message]) -> Vec<u8> {
    let messages = [&[space(dims), datatype(byte_type())], rest].concat();
    let object = builder.object(&messages);
    builder.holding("v", object)
}

/// The first element of the first variable.
fn first(file: &File) -> Result<Values> {
    let rank = file.model().shape(VarId(0)).len();
    file.read_values(VarId(0), &vec![0; rank], &vec![1; rank])
}

fn fails_with(result: Result<Values>, why: &str) {
    let error = result.unwrap_err();
    assert!(error.what.contains(why), "{error}");
}

#[test]
fn groups_within_themselves() {
    let _watch = watch();
    let mut builder = Builder::new();
    let root = builder.reserve(header(&[group(), hard("a", 0)]).len());
    let a = builder.end();
    builder.object(&[group(), hard("root", root), hard("self", a)]);
    builder.set(root, &header(&[group(), hard("a", a)]));
    let file = open(builder.finish(root));
    assert_eq!(file.model().groups().len(), 2);
    assert_eq!(words(&file), "/a/root: the group is within itself\n/a/self: the group is within itself");
}

#[test]
fn a_million_paths_through_few_groups() {
    let _watch = watch();
    for leaf in [false, true] {
        let mut builder = Builder::new();
        let mut below = match leaf {
            true => builder.object(&[space(&[2]), datatype(byte_type()), contiguous(NOWHERE, 2)]),
            false => builder.object(&[group()]),
        };
        for _ in 0..20 {
            below = builder.object(&[group(), hard("a", below), hard("b", below)]);
        }
        let file = open(builder.finish(below));
        assert!(words(&file).ends_with("the rest: links lead to the same objects again and again"));
        assert!(file.model().groups().len() <= 100_000);
    }
}

#[test]
fn words_are_not_without_end_and_the_rest_is_counted() {
    let mut builder = Builder::new();
    let names: Vec<String> = (0..1200).map(|number| format!("l{number}")).collect();
    let links: Vec<_> = names.iter().map(|name| soft(name, "/nowhere")).collect();
    let root = builder.object(&[&[group()], &links[..]].concat());
    let words = words(&open(builder.finish(root)));
    assert_eq!((words.lines().count(), words.lines().last()), (1001, Some("and 200 more")));
}

#[test]
fn soft_links_in_a_circle() {
    let _watch = watch();
    let mut builder = Builder::new();
    let root =
        builder.object(&[group(), soft("a", "/b"), soft("b", "/a"), soft("c", "c"), soft("d", "/d/d/d")]);
    let words = words(&open(builder.finish(root)));
    assert_eq!(words.lines().count(), 4);
    assert!(words.lines().all(|word| word.contains("in a circle")), "{words}");
}

#[test]
fn a_file_that_names_itself() {
    let _watch = watch();
    let folder = tempfile::tempdir().unwrap();
    let mut builder = Builder::new();
    let v = builder.object(&[space(&[2]), datatype(byte_type()), contiguous(NOWHERE, 2)]);
    let root = builder.object(&[
        group(),
        hard("v", v),
        external("me", "me.h5", "/"),
        external("loop", "me.h5", "/loop"),
        external("v2", "./me.h5", "/v"),
    ]);
    let path = folder.path().join("me.h5");
    std::fs::write(&path, builder.finish(root)).unwrap();
    let file = File::open(&path).unwrap();
    assert!(file.variable("v2").is_ok());
    let words = words(&file);
    assert!(words.contains("/loop: ") && words.contains("in a circle"), "{words}");
    assert!(words.contains("the group is within itself"), "{words}");
}

#[test]
fn large_chunks_of_few_bytes() {
    let _watch = watch();
    // One chunk with filters: its bytes and its filter mask.
    let index = [&[1][..], &numbers(&[20]), &[0; 4]].concat();
    let mut builder = Builder::new();
    let stored = builder.put(&[0x78; 20]);
    let file = open(dataset(builder, &[1 << 32], &[chunked(&[1 << 32], 2, &index, stored), deflate()]));
    fails_with(first(&file), "20 encoded bytes cannot decode to 4294967296");
    // And one without.
    let mut builder = Builder::new();
    let stored = builder.put(&[7; 20]);
    let file = open(dataset(builder, &[1 << 32], &[chunked(&[1 << 32], 0, &[1], stored)]));
    assert_eq!(first(&file), Ok(Values::Ubyte(vec![7])));
    let end = file.read_values(VarId(0), &[(1 << 32) - 1], &[1]);
    assert_eq!(end.unwrap_err().code, Code::ETRUNC);
}

#[test]
fn many_elements_and_no_chunks() {
    let _watch = watch();
    let shape = [1 << 30, 1 << 30];
    // Version 3: a B-tree that is not there.
    let layout = [&[3, 2, 3][..], &numbers(&[NOWHERE]), &[0, 4, 0, 0, 0, 4, 0, 0, 1, 0, 0, 0]].concat();
    let file = open(dataset(Builder::new(), &shape, &[(0x08, layout)]));
    assert_eq!(first(&file), Ok(Values::Ubyte(vec![0])));
    let last = file.read_values(VarId(0), &[(1 << 30) - 1; 2], &[1, 1]);
    assert_eq!(last, Ok(Values::Ubyte(vec![0])));
    for count in [[1 << 20, 1 << 20], shape] {
        let error = file.read_values(VarId(0), &[0, 0], &count).unwrap_err();
        assert_eq!(error.code, Code::ENOMEM, "{error}");
    }
    let storage = file.variable("v").unwrap().storage().unwrap();
    assert_eq!((storage.bytes, storage.stored_bytes), (1 << 60, 0));
}

/// A fixed array: what its header says of pages and entries, and its data block.
fn fixed_array(builder: &mut Builder, page_bits: u8, entries: u64, block: &[u8]) -> u64 {
    let head = |block| [&b"FAHD\0\0\x08"[..], &[page_bits], &numbers(&[entries, block])].concat();
    let at = builder.end();
    let len = checked(head(0)).len() as u64;
    builder.put(&checked(head(at + len)));
    let body = [&b"FADB\0\0"[..], &numbers(&[at]), block].concat();
    builder.put(&checked(body));
    at
}

#[test]
fn a_fixed_array_of_more_entries_than_bytes() {
    let _watch = watch();
    for page_bits in [10, 63] {
        let mut builder = Builder::new();
        let at = fixed_array(&mut builder, page_bits, 1 << 60, &[0xff; 64]);
        let file = open(dataset(builder, &[1 << 60], &[chunked(&[1], 0, &[3, page_bits], at)]));
        fails_with(first(&file), "past the end of the file");
        assert!(file.variable("v").unwrap().storage().is_err());
    }
}

#[test]
fn chunks_that_share_their_bytes() {
    let _watch = watch();
    let mut builder = Builder::new();
    let data = builder.put(&[1, 2, 3, 4, 5, 6]);
    let places = numbers(&[data, data, data + 2, data + 1]);
    let at = fixed_array(&mut builder, 10, 4, &places);
    let file = open(dataset(builder, &[16], &[chunked(&[4], 0, &[3, 10], at)]));
    let all = file.read_values(VarId(0), &[0], &[16]);
    assert_eq!(all, Ok(Values::Ubyte([[1, 2, 3, 4], [1, 2, 3, 4], [3, 4, 5, 6], [2, 3, 4, 5]].concat())));
}

/// What an element of variable length says: its length, and object 1 of a collection.
fn pointer(len: u32, heap: u64) -> Vec<u8> {
    [&len.to_le_bytes()[..], &numbers(&[heap]), &1u32.to_le_bytes()].concat()
}

/// A file with one dataset, `s`, of strings, and these elements.
fn strings(mut builder: Builder, elements: &[u8]) -> Vec<u8> {
    let at = builder.put(elements);
    let (count, len) = (elements.len() as u64 / 16, elements.len() as u64);
    let object = builder.object(&[space(&[count]), datatype(string_type()), contiguous(at, len)]);
    builder.holding("s", object)
}

#[test]
fn strings_that_are_longer_than_they_are() {
    let _watch = watch();
    let mut builder = Builder::new();
    let heap = builder.heap(b"five!");
    let elements = [pointer(5, heap), pointer(6, heap), pointer(u32::MAX, heap)].concat();
    let file = open(strings(builder, &elements));
    assert_eq!(first(&file), Ok(Values::String(vec![Some(b"five!".to_vec())])));
    for at in [1, 2] {
        fails_with(file.read_values(VarId(0), &[at], &[1]), "has 5 bytes");
    }
}

#[test]
fn one_text_pointed_to_again_and_again() {
    let _watch = watch();
    let mut builder = Builder::new();
    let heap = builder.heap(&[b'x'; 100_000]);
    let elements = pointer(100_000, heap).repeat(20_000);
    let file = open(strings(builder, &elements));
    assert!(first(&file).is_ok());
    let error = file.read_values(VarId(0), &[0], &[20_000]).unwrap_err();
    assert_eq!(error.code, Code::ENOMEM, "{error}");
    // A short one may be shared by all.
    let mut builder = Builder::new();
    let heap = builder.heap(b"not known");
    let file = open(strings(builder, &pointer(9, heap).repeat(20_000)));
    let Ok(Values::String(all)) = file.read_values(VarId(0), &[0], &[20_000]) else { panic!("no strings") };
    assert!(all.len() == 20_000 && all.iter().all(|text| text.as_deref() == Some(b"not known")));
}

#[test]
fn types_within_types_without_end() {
    let _watch = watch();
    let mut builder = Builder::new();
    let nested = [0x19, 0, 0, 0, 16, 0, 0, 0].repeat(8000);
    let deep = builder.object(&[space(&[1]), datatype(nested), contiguous(NOWHERE, 16)]);
    // Two members, of which the second begins in the first.
    let member = |name: u8, offset: u8| [&[name, 0, offset][..], &byte_type()].concat();
    let overlap = [&[0x36, 2, 0, 0, 2, 0, 0, 0][..], &member(b'a', 0), &member(b'b', 0)].concat();
    let overlap = builder.object(&[space(&[1]), datatype(overlap), contiguous(NOWHERE, 2)]);
    let wide = [&byte_type()[..4], &[0, 0, 0, 0x80, 0, 0, 8, 0]].concat();
    let wide = builder.object(&[space(&[1]), datatype(wide), contiguous(NOWHERE, 1)]);
    let root = builder.object(&[group(), hard("deep", deep), hard("overlap", overlap), hard("wide", wide)]);
    let file = open(builder.finish(root));
    let words = words(&file);
    assert!(words.contains("more than 64 datatypes lie in one another"), "{words}");
    assert!(words.contains("members of a compound overlap"), "{words}");
    assert!(words.contains("a number of 2147483648 bytes"), "{words}");
    assert_eq!(file.model().vars().len(), 0);
}

#[test]
fn one_element_larger_than_its_file() {
    let _watch = watch();
    let mut builder = Builder::new();
    let at = builder.put(&[b'x'; 20]);
    let text = [0x13, 0, 0, 0, 0, 0, 0, 0x80].to_vec();
    let object = builder.object(&[space(&[1]), datatype(text), contiguous(at, 1 << 31)]);
    fails_with(first(&open(builder.holding("v", object))), "elements of 2147483648 bytes in a file of");
}

#[test]
fn scales_that_are_none() {
    let _watch = watch();
    let mut builder = Builder::new();
    let reference = [0x17, 0, 0, 0, 8, 0, 0, 0];
    let nothing = builder.object(&[group()]);
    let list = numbers(&[nothing, 1 << 50]);
    let object = builder.object(&[
        space(&[3, 4]),
        datatype(byte_type()),
        contiguous(NOWHERE, 12),
        attribute("DIMENSION_LIST", &reference, 2, &list),
    ]);
    let file = open(builder.holding("v", object));
    let model = file.model();
    let names: Vec<_> = model.dims().iter().map(|dim| (dim.name.to_string(), dim.len)).collect();
    assert_eq!(names, [("phony_dim_0".to_string(), 3), ("phony_dim_1".to_string(), 4)]);
}

#[test]
fn attributes_that_lie_about_themselves() {
    let _watch = watch();
    let mut builder = Builder::new();
    let root = builder.object(&[
        group(),
        attribute("good", &byte_type(), 2, &[1, 2]),
        attribute("lies", &byte_type(), 1 << 40, &[1, 2]),
        attribute("lies more", &string_type(), u64::MAX, &[1, 2]),
    ]);
    let file = open(builder.finish(root));
    let model = file.model();
    let attrs = model.attrs(Owner::Group(GroupId::ROOT));
    assert_eq!(attrs.iter().map(|attr| attr.name.to_string()).collect::<Vec<_>>(), ["good"]);
    let error = attrs.failure().unwrap();
    assert!(error.code == Code::EATTMETA && error.what.contains("lies"), "{error}");
}

#[test]
fn headers_that_go_on_in_a_circle() {
    let _watch = watch();
    let mut builder = Builder::new();
    let at = builder.end();
    let more = |at: u64, len: u64| (0x10, numbers(&[at, len]));
    let block = |at, len| checked([&b"OCHK"[..], &stored(&[more(at, len)])].concat());
    let len = block(0, 0).len() as u64;
    builder.put(&block(at + len, len));
    builder.put(&block(at, len));
    let object = builder.object(&[more(at, len)]);
    let words = words(&open(builder.holding("v", object)));
    assert!(words.contains("overlaps another one"), "{words}");
}

#[test]
fn an_object_that_many_links_lead_to_is_seen_each_time() {
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let file = File::open(data.join("reached_again.h5")).unwrap();
    let model = file.model();
    let named = |name: &str| model.vars().iter().filter(|var| var.name == name).count();
    assert_eq!((named("d"), named("own"), model.groups().len()), (13, 12, 13));
    assert!(file.skipped().is_empty());
}

#[test]
fn a_file_that_is_named_and_empty_or_no_file_is_left_out() {
    let _watch = watch();
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("link_out.h5");
    std::fs::copy(data.join("link_out.h5"), &path).unwrap();
    let other = folder.path().join("nothing.h5");
    let look = || {
        let file = File::open(&path).unwrap();
        (file.model().vars().len(), file.skipped().len())
    };
    assert_eq!(look(), (1, 1));
    std::fs::write(&other, b"").unwrap();
    assert_eq!(look(), (1, 1));
    std::fs::remove_file(&other).unwrap();
    std::fs::create_dir(&other).unwrap();
    assert_eq!(look(), (1, 1));
}
