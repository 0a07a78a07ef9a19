//! What is in real files, taken apart and put together again: the same bytes where the reference writes the version that
//! is written here, else what means the same.
//!
//! The variable `FERROCDF_REENCODE` names a folder of more files to be tried.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ferrocdf_bytes::Result;
use ferrocdf_store::MemoryBlob;

use crate::messages::small::TreeSizes;
use crate::messages::{DataLayout, Dataspace, Datatype, FillMessage, pipeline};
use crate::objects::attribute_message::AttributeMessage;
use crate::objects::dense_info::{DenseInfo, Of};
use crate::objects::header::ObjectHeader;
use crate::objects::kind;
use crate::superblock::Superblock;
use crate::{Address, File, Link, LinkTarget, Sizes};

/// How often messages of a kind came out the same, and how often only with the same meaning.
type Counts = BTreeMap<&'static str, [usize; 2]>;

fn note(counts: &mut Counts, what: &'static str, same: bool) {
    counts.entry(what).or_default()[usize::from(!same)] += 1;
}

/// Encodes the message again; an error only for what cannot be taken apart.
fn message(kind: u16, body: &[u8], sizes: Sizes, counts: &mut Counts) -> Result<()> {
    let starts = |again: &[u8]| body.starts_with(again);
    match kind {
        kind::DATASPACE => {
            let space = Dataspace::decode(body, sizes)?;
            let again = space.encode(sizes).unwrap();
            assert_eq!(Dataspace::decode(&again, sizes).unwrap(), space);
            note(counts, if body[0] == 2 { "dataspace 2" } else { "dataspace 1" }, starts(&again));
        }
        kind::DATATYPE => {
            let datatype = Datatype::decode(body)?;
            let again = datatype.encode().unwrap();
            assert_eq!(Datatype::decode(&again).unwrap(), datatype);
            note(counts, "datatype", starts(&again));
            let mut settled = datatype.clone();
            settled.settle();
            assert_eq!(Datatype::decode(&settled.encode().unwrap()).unwrap(), datatype);
        }
        kind::FILL => {
            let fill = FillMessage::decode(body)?;
            let again = fill.encode().unwrap();
            assert_eq!(FillMessage::decode(&again).unwrap(), fill);
            note(counts, if body[0] == 3 { "fill 3" } else { "fill 1, 2" }, starts(&again));
        }
        kind::FILL_OLD => {
            let again = FillMessage::decode_old(body)?.encode_old().unwrap();
            note(counts, "old fill", starts(&again));
        }
        kind::LAYOUT => {
            let layout = DataLayout::decode(body, sizes)?;
            if let DataLayout::Contiguous { size: None, .. } = layout {
                return Ok(());
            }
            let again = layout.encode(sizes).unwrap();
            assert_eq!(DataLayout::decode(&again, sizes).unwrap(), layout);
            note(counts, if body[0] == again[0] { "layout 3, 4" } else { "other layout" }, starts(&again));
        }
        kind::PIPELINE => {
            let steps = pipeline::decode(body)?;
            let again = pipeline::encode(&steps).unwrap();
            let nameless = |steps: Vec<ferrocdf_codec::Step>| {
                steps.into_iter().map(|step| (step.id, step.optional, step.params)).collect::<Vec<_>>()
            };
            assert_eq!(nameless(pipeline::decode(&again).unwrap()), nameless(steps));
            note(counts, if body[0] == 2 { "pipeline 2" } else { "pipeline 1" }, starts(&again));
        }
        kind::ATTRIBUTE => {
            let cut = AttributeMessage::decode(body)?;
            let again = cut.encode().unwrap();
            assert_eq!(AttributeMessage::decode(&again).unwrap(), cut);
            note(counts, if body[0] == 3 { "attribute 3" } else { "attribute 1, 2" }, body == again);
            if cut.flags & 1 == 0 {
                message(kind::DATATYPE, cut.datatype, sizes, counts)?;
            }
            if cut.flags & 2 == 0 {
                message(kind::DATASPACE, cut.dataspace, sizes, counts)?;
            }
        }
        kind::LINK => {
            let again = Link::decode(body, sizes)?.encode(sizes).unwrap();
            note(counts, "link", starts(&again));
        }
        kind::LINK_INFO | kind::ATTRIBUTE_INFO => {
            let of = if kind == kind::LINK_INFO { Of::Links } else { Of::Attributes };
            let again = DenseInfo::decode(of, body, sizes)?.encode(of, sizes).unwrap();
            note(counts, "info", starts(&again));
        }
        kind::TREE_SIZES => note(counts, "tree sizes", starts(&TreeSizes::decode(body)?.encode().unwrap())),
        _ => {}
    }
    Ok(())
}

fn file(bytes: Vec<u8>, counts: &mut Counts) -> Result<()> {
    let whole = bytes.clone();
    let file = File::open(Arc::new(MemoryBlob::new(bytes)))?;
    let superblock: &Superblock = file.superblock();
    let sizes = superblock.sizes;
    if superblock.version >= 2 {
        let again = superblock.encode().unwrap();
        note(counts, "superblock", whole[superblock.base as usize..].starts_with(&again));
        // The same but for consistency flags and where the base is said to be.
        assert_eq!(again.len() as u64, Superblock::encoded_len(sizes));
    }
    let mut seen = HashSet::new();
    let mut waiting: Vec<Address> = [superblock.root].into_iter().chain(superblock.extension).collect();
    while let Some(at) = waiting.pop() {
        let Ok(header) = ObjectHeader::read(file.source(), at) else { continue };
        if !seen.insert(at) {
            continue;
        }
        for stored in header.messages.iter().filter(|stored| stored.flags & 2 == 0) {
            // Damaged ones are other tests' matter.
            let _ = message(stored.kind, &stored.body, sizes, counts);
        }
        let links =
            file.object(at).and_then(|object| object.links()).map(|links| links.list).unwrap_or_default();
        waiting.extend(links.into_iter().filter_map(|link| match link.target {
            LinkTarget::Hard(object) => Some(object),
            _ => None,
        }));
    }
    Ok(())
}

pub(crate) fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if entry.metadata().is_ok_and(|data| data.len() < 64 << 20) {
            found.push(path);
        }
    }
}

#[test]
fn real_messages_come_out_as_they_were() {
    let mut found = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data"), &mut found);
    let own = found.len();
    if let Some(folder) = std::env::var_os("FERROCDF_REENCODE") {
        files(Path::new(&folder), &mut found);
    }
    let mut counts = Counts::new();
    let mut opened = 0;
    for path in &found {
        let mut here = Counts::new();
        opened += usize::from(file(std::fs::read(path).unwrap(), &mut here).is_ok());
        for (what, [same, other]) in here {
            if other > 0 && found.len() > own {
                println!("{}: {other} of {what}", path.display());
            }
            let count = counts.entry(what).or_default();
            (count[0], count[1]) = (count[0] + same, count[1] + other);
        }
    }
    println!("{opened} files: {counts:#?}");
    assert!(opened >= 20);
    if found.len() > own {
        return;
    }
    for what in ["dataspace 2", "fill 3", "layout 3, 4", "attribute 3", "link", "info", "datatype"] {
        let [same, other] = counts.get(what).copied().unwrap_or_default();
        assert!(same > 0 && other == 0, "{what}: {same} are the same, {other} are not");
    }
}
