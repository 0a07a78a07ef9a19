//! Two files, byte by byte.
//!
//! What must be equal: the size, the header, every element whose value is defined, padding that nobody left undefined,
//! and everything between variables unless data was moved. What may differ is named in [`Difference`].

use std::sync::Arc;

use ferrocdf::{Model, Result};
use ferrocdf_classic::{ClassicFile, Header, Layout};
use ferrocdf_store::MemoryBlob;

use crate::generate::Story;

/// Bytes that differ and may, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Elements that were never written with fill mode off.
    pub undefined: u64,
    /// Padding of slabs that were not filled, or whose fill value changed, or that were moved apart.
    pub padding: u64,
    /// Between the header and data and between variables, after data was moved.
    pub gaps: u64,
    /// Up to three bytes behind the last record: the reference moves each record of a lone record variable with the
    /// padding that it does not have.
    pub tail: u64,
}

impl Difference {
    pub fn total(&self) -> u64 {
        self.undefined + self.padding + self.gaps + self.tail
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Strict,
    Undefined,
    Padding,
    Gap,
}

/// A file, read as far as it takes to say what each byte is.
struct Anatomy {
    file: ClassicFile,
    model: Model,
    header: Header,
    header_size: u64,
}

impl Anatomy {
    fn of(bytes: &[u8]) -> Result<Anatomy> {
        let blob = Arc::new(MemoryBlob::new(bytes.to_vec()));
        let (header, header_size) = Header::read(&*blob)?;
        let (file, model) = ClassicFile::open(blob, 0)?;
        Ok(Anatomy { file, model, header, header_size })
    }

    fn layout(&self) -> &Layout {
        self.file.layout().expect("an open file has a layout")
    }

    fn begins(&self) -> Vec<u64> {
        self.layout().places.iter().map(|place| place.begin).collect()
    }

    /// What lies where: position, length and kind of each element and padding.
    fn pieces(&self, story: &Story) -> Vec<(u64, u64, Kind)> {
        let layout = self.layout();
        let mut pieces = vec![];
        for ((place, var), id) in layout.places.iter().zip(&story.vars).zip(self.model.var_ids()) {
            let size =
                self.model.atomic_type(id).expect("classic files have atomic types only").size() as u64;
            let slabs = if place.record { self.file.records() } else { 1 };
            let elements = place.bytes / size;
            let lone = place.record && layout.record_size == place.bytes;
            for slab in 0..slabs {
                let begin = place.begin + slab * layout.record_size;
                if !lone {
                    let kind = if var.loose_padding { Kind::Padding } else { Kind::Strict };
                    pieces.push((begin + place.bytes, place.padded() - place.bytes, kind));
                }
                for element in 0..elements {
                    let defined = var.defined.get((slab * elements + element) as usize);
                    let kind = if defined == Some(&true) { Kind::Strict } else { Kind::Undefined };
                    pieces.push((begin + element * size, size, kind));
                }
            }
        }
        pieces
    }
}

/// Compares the reference's file with ours. `None` if both are right but place data differently: the reference keeps
/// an unaligned start of data in a redefinition that asks for alignment.
///
/// Fails with the first byte that may not differ.
pub fn files(theirs: &[u8], ours: &[u8], story: &Story) -> std::result::Result<Option<Difference>, String> {
    let [their, our] = [theirs, ours].map(|bytes| Anatomy::of(bytes).map_err(|error| error.to_string()));
    let (their, our) = (their?, our?);
    if their.model.vars().len() != story.vars.len() {
        return Err(format!(
            "{} variables were defined, theirs has {}",
            story.vars.len(),
            their.model.vars().len()
        ));
    }
    if story.realigned && their.begins() != our.begins() {
        return elsewhere(&their, theirs, &our, ours, story).map(|()| None);
    }
    let longest = ours.len() + if story.redefined { 3 } else { 0 };
    if theirs.len() < ours.len() || theirs.len() > longest {
        return Err(format!("their file has {} bytes, ours {}", theirs.len(), ours.len()));
    }
    let mut difference = Difference { tail: (theirs.len() - ours.len()) as u64, ..Difference::default() };
    let mut kinds = vec![if story.redefined { Kind::Gap } else { Kind::Strict }; ours.len()];
    kinds[..their.header_size as usize].fill(Kind::Strict);
    for (begin, len, kind) in their.pieces(story) {
        // With fill mode off a file may be shorter than its last padding.
        let (begin, end) = (begin as usize, ((begin + len) as usize).min(kinds.len()));
        kinds[begin.min(end)..end].fill(kind);
    }
    for (at, kind) in kinds.iter().enumerate() {
        if theirs[at] == ours[at] {
            continue;
        }
        match kind {
            Kind::Strict => {
                let (their, our) = (theirs[at], ours[at]);
                return Err(format!("byte {at} is {their:02x} in their file, {our:02x} in ours"));
            }
            Kind::Undefined => difference.undefined += 1,
            Kind::Padding => difference.padding += 1,
            Kind::Gap => difference.gaps += 1,
        }
    }
    Ok(Some(difference))
}

/// Compares headers but for positions, and defined elements wherever they lie.
fn elsewhere(
    their: &Anatomy,
    theirs: &[u8],
    our: &Anatomy,
    ours: &[u8],
    story: &Story,
) -> std::result::Result<(), String> {
    let without_positions = |anatomy: &Anatomy| {
        let mut header = anatomy.header.clone();
        header.vars.iter_mut().for_each(|var| var.begin = 0);
        header
    };
    if without_positions(their) != without_positions(our) {
        return Err("the headers differ in more than positions".to_string());
    }
    for ((their_at, len, kind), (our_at, ..)) in their.pieces(story).into_iter().zip(our.pieces(story)) {
        let slice = |bytes: &[u8], at: u64| bytes.get(at as usize..(at + len) as usize).map(<[u8]>::to_vec);
        if kind == Kind::Strict && slice(theirs, their_at) != slice(ours, our_at) {
            return Err(format!("{len} bytes at {their_at} of theirs are not those at {our_at} of ours"));
        }
    }
    Ok(())
}

/// Where the variables of a file lie, for messages.
pub fn places(bytes: &[u8]) -> String {
    match Anatomy::of(bytes) {
        Ok(it) => {
            let (size, records, begins) = (it.header_size, it.header.numrecs, it.begins());
            format!("header of {size} bytes, {records} records, variables begin at {begins:?}\n")
        }
        Err(error) => format!("{error}\n"),
    }
}
