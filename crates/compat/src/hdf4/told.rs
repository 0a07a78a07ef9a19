//! What libhdf4 says of a file, as `c/hdf4/tell.c` writes it.

/// What the SD interface finds in a file.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Whether the file could be opened.
    pub is_open: bool,
    /// Whether libhdf4 came to the end of it without a crash.
    pub is_complete: bool,
    /// Attributes of the file.
    pub attrs: Vec<Attribute>,
    /// Data sets, coordinate variables among them; `None` for one that cannot be selected.
    pub sets: Vec<Option<DataSet>>,
}

/// An attribute; its values are in this machine's memory form.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Its name.
    pub name: Vec<u8>,
    /// The number of its type, format bits among it.
    pub number_type: i32,
    /// Its values; `None` if they cannot be read.
    pub values: Option<Vec<u8>>,
}

/// A data set.
#[derive(Clone, Debug, Default)]
pub struct DataSet {
    /// Its name.
    pub name: Vec<u8>,
    /// The number of its type, format bits among it.
    pub number_type: i32,
    /// Its lengths, the number of records among them.
    pub shape: Vec<u64>,
    /// Whether its first dimension is unlimited.
    pub is_record: bool,
    /// Names and lengths of the dimensions, 0 for unlimited; `None` for one that cannot be read.
    pub dims: Vec<Option<(Vec<u8>, u64)>>,
    /// Its attributes.
    pub attrs: Vec<Attribute>,
    /// Its fill value.
    pub fill: Option<Vec<u8>>,
    /// The shape of a chunk.
    pub chunks: Option<Vec<u64>>,
    /// The number of the compression method; 0 for none.
    pub coder: i32,
    /// Checksum and length of all elements; `None` if they cannot be read.
    pub data: Option<String>,
}

/// Reads the answers of the program.
pub fn parse(text: &str) -> Vec<Told> {
    let mut files: Vec<Told> = vec![];
    for line in text.lines() {
        if line.starts_with("== ") {
            files.push(Told::default());
        } else if let Some(file) = files.last_mut() {
            // A process that crashed leaves a line that is cut.
            let _ = add(file, line);
        }
    }
    files
}

/// Adds the fact in a line.
fn add(file: &mut Told, line: &str) -> Option<()> {
    let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
    let words: Vec<&str> = rest.split(' ').collect();
    match kind {
        "open" => file.is_open = true,
        "end" => file.is_complete = true,
        "gatt" => file.attrs.push(attribute(&words)?),
        "sds" if rest == "failed" => file.sets.push(None),
        "sds" => file.sets.push(Some(DataSet {
            name: bytes(words[0])?,
            number_type: words.get(1)?.parse().ok()?,
            shape: numbers(words.get(3)?)?,
            is_record: *words.get(4)? == "1",
            ..DataSet::default()
        })),
        _ => {
            let set = file.sets.last_mut()?.as_mut()?;
            match kind {
                "dim" if rest == "failed" => set.dims.push(None),
                "dim" => set.dims.push(Some((bytes(words[0])?, words.get(1)?.parse().ok()?))),
                "att" => set.attrs.push(attribute(&words)?),
                "fill" => set.fill = hex(words[0]),
                "chunks" => set.chunks = numbers(words[0]),
                "coder" => set.coder = words[0].parse().ok()?,
                "data" if rest != "failed" => set.data = Some(rest.to_string()),
                _ => {}
            }
        }
    }
    Some(())
}

fn attribute(words: &[&str]) -> Option<Attribute> {
    let [name, number_type, _, values] = words else { return None };
    Some(Attribute { name: bytes(name)?, number_type: number_type.parse().ok()?, values: hex(values) })
}

fn numbers(text: &str) -> Option<Vec<u64>> {
    if text == "-" { Some(vec![]) } else { text.split(',').map(|number| number.parse().ok()).collect() }
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix('x')?;
    (0..digits.len() / 2).map(|at| u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()).collect()
}

/// Undoes the escapes of a name.
fn bytes(word: &str) -> Option<Vec<u8>> {
    let mut rest = word.as_bytes();
    let mut name = vec![];
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'\\' {
            name.push(first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        name.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    Some(name)
}
