//! Tests on images that are built here, with the tables that linkers write.

use super::*;

/// Load address of the images; not 0, so that file offsets and addresses differ.
const BASE: u64 = 0x1_0000;

/// Symbol of a test image: name, whether it is defined, binding and type, version index.
type ImageSymbol = (&'static str, bool, u8, u16);

/// Tables of an image apart from its symbols.
#[derive(Default)]
struct Tables {
    needed: Vec<&'static str>,
    run_path: Option<&'static str>,
    /// Libraries with their version indexes.
    versions: Vec<(&'static str, Vec<u16>)>,
    gnu_hash: bool,
}

const GLOBAL_FUNCTION: u8 = 0x12;
const WEAK_FUNCTION: u8 = 0x22;
const GLOBAL_IFUNC: u8 = 0x1a;

/// Bytes of an image under construction.
struct Builder {
    bytes: Vec<u8>,
    dynamic: Vec<(u64, u64)>,
    strings: Vec<u8>,
}

impl Builder {
    fn text(&mut self, text: &str) -> u32 {
        let at = self.strings.len() as u32;
        self.strings.extend_from_slice(text.as_bytes());
        self.strings.push(0);
        at
    }

    /// Begins a table, and adds its dynamic entry.
    fn table(&mut self, tag: u64) {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        self.dynamic.push((tag, BASE + self.bytes.len() as u64));
    }

    fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        self.bytes.extend_from_slice(&bytes);
    }

    fn u16(&mut self, value: u16) {
        self.put(value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.put(value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.put(value.to_le_bytes());
    }
}

fn image(symbols: &[ImageSymbol], tables: &Tables) -> Vec<u8> {
    let mut it = Builder { bytes: vec![0; HEADER + 2 * SEGMENT], dynamic: Vec::new(), strings: vec![0] };
    for name in &tables.needed {
        let at = it.text(name);
        it.dynamic.push((tag::NEEDED, at.into()));
    }
    if let Some(path) = tables.run_path {
        let at = it.text(path);
        it.dynamic.push((tag::RUNPATH, at.into()));
    }
    it.table(tag::SYMTAB);
    it.put([0; SYMBOL]);
    for &(name, defined, info, _) in symbols {
        let name = it.text(name);
        it.u32(name);
        it.put([info, 0]);
        it.u16(u16::from(defined) * 7);
        it.u64(u64::from(defined) * 0x500);
        it.u64(8);
    }
    let count = symbols.len() as u32 + 1;
    if tables.gnu_hash {
        // Undefined symbols come first and are in no chain; one bucket has all others.
        let first = symbols.iter().position(|symbol| symbol.1).map_or(count, |at| at as u32 + 1);
        it.table(tag::GNU_HASH);
        [1, first, 1, 0].into_iter().for_each(|word| it.u32(word));
        it.u64(u64::MAX);
        it.u32(first);
        (first..count).for_each(|at| it.u32(u32::from(at + 1 == count)));
    } else {
        it.table(tag::HASH);
        [1, count, 0].into_iter().for_each(|word| it.u32(word));
        it.bytes.resize(it.bytes.len() + 4 * count as usize, 0);
    }
    if !tables.versions.is_empty() {
        it.table(tag::VERSYM);
        it.u16(0);
        symbols.iter().for_each(|symbol| it.u16(symbol.3));
        it.table(tag::VERNEED);
        it.dynamic.push((tag::VERNEEDNUM, tables.versions.len() as u64));
        for (at, (file, numbers)) in tables.versions.iter().enumerate() {
            let file = it.text(file);
            let is_last = at + 1 == tables.versions.len();
            it.u16(1);
            it.u16(numbers.len() as u16);
            it.u32(file);
            it.u32(16);
            it.u32(if is_last { 0 } else { 16 + 16 * numbers.len() as u32 });
            for (at, number) in numbers.iter().enumerate() {
                it.u32(0);
                it.u16(0);
                it.u16(*number);
                it.u32(0);
                it.u32(if at + 1 == numbers.len() { 0 } else { 16 });
            }
        }
    }
    it.table(tag::STRTAB);
    it.dynamic.push((tag::STRSZ, it.strings.len() as u64));
    let strings = std::mem::take(&mut it.strings);
    it.bytes.extend(strings);
    it.bytes.resize(it.bytes.len().next_multiple_of(8), 0);
    let dynamic_at = it.bytes.len() as u64;
    let entries = std::mem::take(&mut it.dynamic);
    for (tag, value) in entries.iter().copied().chain([(0, 0)]) {
        it.u64(tag);
        it.u64(value);
    }
    let len = it.bytes.len() as u64;
    let mut bytes = it.bytes;
    bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
    bytes[16..18].copy_from_slice(&3u16.to_le_bytes());
    bytes[18..20].copy_from_slice(&MACHINE.expect("tests run where plugins can be loaded").to_le_bytes());
    bytes[32..40].copy_from_slice(&(HEADER as u64).to_le_bytes());
    bytes[54..56].copy_from_slice(&(SEGMENT as u16).to_le_bytes());
    bytes[56..58].copy_from_slice(&2u16.to_le_bytes());
    for (at, kind, offset, len) in
        [(HEADER, PT_LOAD, 0, len), (HEADER + SEGMENT, PT_DYNAMIC, dynamic_at, len - dynamic_at)]
    {
        bytes[at..at + 4].copy_from_slice(&kind.to_le_bytes());
        bytes[at + 8..at + 16].copy_from_slice(&u64::to_le_bytes(offset));
        bytes[at + 16..at + 24].copy_from_slice(&(BASE + offset).to_le_bytes());
        bytes[at + 32..at + 40].copy_from_slice(&len.to_le_bytes());
    }
    bytes
}

fn symbols() -> Vec<ImageSymbol> {
    vec![
        ("H5Pget_chunk", false, GLOBAL_FUNCTION, 5),
        ("memcpy", false, GLOBAL_FUNCTION, 2),
        ("H5Zmaybe", false, WEAK_FUNCTION, 6),
        ("H5open", true, GLOBAL_IFUNC, 1),
        ("H5PLget_plugin_type", true, GLOBAL_FUNCTION, 1),
    ]
}

fn tables() -> Tables {
    Tables {
        needed: vec!["libhdf5.so.103", "libc.so.6", "libhdf5_hl.so.100"],
        run_path: Some("$ORIGIN/../lib:/usr/lib"),
        versions: vec![("libc.so.6", vec![2, 3])],
        gnu_hash: false,
    }
}

fn is_hdf5(name: &str) -> bool {
    name.starts_with("libhdf5")
}

fn read(bytes: Vec<u8>) -> Image {
    Image::read(bytes).expect("the image is whole")
}

/// Returns the names of the libraries in the chain of needed versions.
fn versions(image: &Image) -> Vec<String> {
    let mut names = Vec::new();
    let mut address = image.value(tag::VERNEED);
    while let Some(at) = address.and_then(|address| image.place(address)) {
        names.push(image.text(u32_at(&image.bytes, at + 4).expect("a record").into()).expect("a name"));
        let next = u32_at(&image.bytes, at + 12).expect("a record");
        address = address.filter(|_| next != 0).map(|address| address + u64::from(next));
    }
    names
}

/// Returns the version index of each symbol, including the empty first one.
fn symbol_versions(image: &Image, count: usize) -> Vec<u16> {
    let table = image.table(tag::VERSYM).expect("a table");
    (0..count).map(|index| u16_at(&image.bytes, table + 2 * index).expect("a number")).collect()
}

#[test]
fn what_an_image_says() {
    for gnu_hash in [false, true] {
        let image = read(image(&symbols(), &Tables { gnu_hash, ..tables() }));
        assert_eq!(image.needed(), ["libhdf5.so.103", "libc.so.6", "libhdf5_hl.so.100"]);
        assert_eq!(image.run_path(), ["$ORIGIN/../lib", "/usr/lib"]);
        let all = image.symbols(|_| true).expect("it has symbols");
        let told: Vec<_> = all.iter().map(|symbol| (&*symbol.name, symbol.defined, symbol.weak)).collect();
        assert_eq!(
            told,
            [
                ("H5Pget_chunk", false, false),
                ("memcpy", false, false),
                ("H5Zmaybe", false, true),
                ("H5open", true, false),
                ("H5PLget_plugin_type", true, false),
            ]
        );
        assert_eq!(image.symbols(|name| name == "memcpy").expect("it has symbols").len(), 1);
    }
}

#[test]
fn symbols_are_bound() {
    let before = image(&symbols(), &tables());
    let mut image = read(before.clone());
    for symbol in image.symbols(|name| name.starts_with("H5P") || name == "H5open").expect("symbols") {
        if symbol.name != "H5PLget_plugin_type" {
            image.bind(&symbol, 0x1234_5678_9abc_def0);
        }
    }
    let table = image.table(tag::SYMTAB).expect("symbols");
    let entry = |index: usize| image.bytes[table + SYMBOL * index..][..SYMBOL].to_vec();
    let old = |index: usize| before[table + SYMBOL * index..][..SYMBOL].to_vec();
    for (index, info) in [(1, GLOBAL_FUNCTION), (4, GLOBAL_FUNCTION)] {
        let mut expected = old(index);
        (expected[4], expected[5]) = (info, STV_HIDDEN);
        expected[6..8].copy_from_slice(&[0xf1, 0xff]);
        expected[8..16].copy_from_slice(&0x1234_5678_9abc_def0u64.to_le_bytes());
        assert_eq!(entry(index), expected);
    }
    for index in [0, 2, 3, 5] {
        assert_eq!(entry(index), old(index));
    }
    assert_eq!(symbol_versions(&image, 6), [0, 1, 2, 6, 1, 1]);
    let table = image.place(image.value(tag::STRTAB).expect("texts")).expect("a place");
    assert_eq!(image.bytes[table..], before[table..], "nothing else is touched");
}

#[test]
fn libraries_are_forgotten() {
    let hdf5 = || ("libhdf5.so.103", vec![5, 6]);
    let other = || ("libhdf5_hl.so.100", vec![7]);
    let libc = || ("libc.so.6", vec![2, 3]);
    let libm = || ("libm.so.6", vec![4]);
    for (records, left) in [
        (vec![hdf5(), libc()], vec!["libc.so.6"]),
        (vec![libc(), hdf5()], vec!["libc.so.6"]),
        (vec![libc(), hdf5(), other(), libm()], vec!["libc.so.6", "libm.so.6"]),
        (vec![hdf5(), other(), libc()], vec!["libc.so.6"]),
        (vec![libc(), libm()], vec!["libc.so.6", "libm.so.6"]),
    ] {
        let had_one = records.len() != left.len();
        let mut image = read(image(&symbols(), &Tables { versions: records, ..tables() }));
        image.forget(is_hdf5).expect("the tables are whole");
        let image = read(image.bytes);
        assert_eq!(image.needed(), ["libc.so.6"]);
        assert_eq!(versions(&image), left);
        assert_eq!(image.value(tag::VERNEEDNUM), Some(left.len() as u64));
        let expected = if had_one { [0, 1, 2, 1, 1, 1] } else { [0, 5, 2, 6, 1, 1] };
        assert_eq!(symbol_versions(&image, 6), expected);
    }
}

#[test]
fn no_versions_are_left() {
    let mut image =
        read(image(&symbols(), &Tables { versions: vec![("libhdf5.so.1", vec![5])], ..tables() }));
    image.forget(is_hdf5).expect("the tables are whole");
    assert_eq!((image.value(tag::VERNEED), image.value(tag::VERSYM)), (None, None));
    let image = read(image.bytes);
    assert_eq!((image.value(tag::VERNEED), image.value(tag::VERSYM)), (None, None));
    assert!(image.value(tag::STRTAB).is_some());
}

#[test]
fn other_files_have_reasons() {
    let whole = image(&symbols(), &tables());
    let with = |at: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        Image::read(bytes).expect_err("it is not one of ours")
    };
    assert_eq!(with(0, b'M'), "it is not an ELF file");
    assert_eq!(with(4, 1), "it is a 32 bit ELF file");
    assert_eq!(with(5, 2), "it is a big-endian ELF file");
    assert_eq!(with(4, 9), "its ELF header has the class 9, the byte order 1");
    assert_eq!(with(16, 2), "it is not a shared library: its ELF type is 2");
    assert!(with(18, 0x28).starts_with("it is for another machine: its ELF number is 40, ours is "));
    assert_eq!(with(54, 32), "its program headers have 32 bytes each, not 56");
    assert_eq!(with(56, 1), "it has no dynamic section");
    assert_eq!(with(56, 200), "the file ends in its program headers");
    assert_eq!(with(HEADER + 39, 0xff), "the file ends before the end of what is to be loaded");
    assert_eq!(with(HEADER + SEGMENT + 39, 1), "the file ends in its dynamic section");
    assert_eq!(
        Image::read(Vec::new()).expect_err("it is empty"),
        "it is not an ELF file: it ends in its header"
    );
    for len in 0..whole.len() {
        assert!(Image::read(whole[..len].to_vec()).is_err(), "{len} of {} bytes", whole.len());
    }
}

/// For any value of any byte an edit ends and keeps the length, and most bytes do not affect it.
#[test]
fn broken_tables_are_edited_within_bounds() {
    let whole = image(&symbols(), &Tables { gnu_hash: true, ..tables() });
    let mut edited = 0;
    for at in HEADER + 2 * SEGMENT..whole.len() {
        for byte in [0, 1, 0x7f, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] = byte;
            let Ok(mut image) = Image::read(bytes) else { continue };
            let found = image.symbols(|name| name.starts_with("H5")).unwrap_or_default();
            found.iter().for_each(|symbol| image.bind(symbol, u64::MAX));
            edited += usize::from(image.forget(is_hdf5).is_ok() && found.len() == 4);
            assert_eq!(image.bytes.len(), whole.len());
        }
    }
    assert!(edited > whole.len(), "most bytes do not matter");
}

/// A chain of versions that exceeds the limits, or leaves the file, is refused.
#[test]
fn endless_chains() {
    let record = |at: u16| ("libhdf5.so", vec![at; 40]);
    let many = |count| Tables { versions: (0..count).map(record).collect(), ..tables() };
    assert!(read(image(&symbols(), &many(500))).forget(is_hdf5).is_ok());
    assert!(read(image(&symbols(), &many(900))).forget(is_hdf5).is_err());
    let mut image = read(image(&symbols(), &tables()));
    let table = image.table(tag::VERNEED).expect("versions");
    image.bytes[table + 12..table + 16].copy_from_slice(&0x7fff_ffffu32.to_le_bytes());
    assert!(image.forget(is_hdf5).is_err());
}

/// The seeds for fuzzing equal images built here.
#[test]
fn samples_are_images() {
    let samples: [(&[u8], bool); 2] = [
        (include_bytes!("../../tests/data/gnu.elf"), true),
        (include_bytes!("../../tests/data/sysv.elf"), false),
    ];
    for (sample, gnu_hash) in samples {
        let mut made = image(&symbols(), &Tables { gnu_hash, ..tables() });
        // The seeds are for one machine.
        made[18..20].copy_from_slice(&sample[18..20]);
        assert_eq!(made, sample);
        made[18..20].copy_from_slice(&MACHINE.expect("tests run where plugins can be loaded").to_le_bytes());
        let edited = edited(made.clone()).expect("it is an image");
        assert!(edited != made && edited.len() == made.len());
        assert_eq!(super::edited(edited.clone()), Ok(edited));
    }
}
