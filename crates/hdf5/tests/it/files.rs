//! What is in each file, exactly.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use ferrocdf_hdf5::{Attribute, File, LinkTarget, ObjectKind, Order};
use ferrocdf_store::{Blob, MemoryBlob, forward};

use crate::sample::{bytes, everything, link_names, names, open, text};

/// The names `make.py` gives, in the order in which it makes them.
fn made(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|i| format!("{prefix}{:02}", i * 7 % count)).collect()
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}

/// Checks a root group with `count` groups, as many attributes, and a few more links behind them.
fn check_group(file: &str, count: usize, ordered: bool, more: &[&str]) {
    let file = open(file);
    let root = file.root().unwrap();
    assert_eq!(root.kind(), ObjectKind::Group);
    let links = root.links().unwrap();
    let mut wanted = made("g", count);
    wanted.extend(more.iter().map(ToString::to_string));
    if ordered {
        let orders: Vec<_> = links.list.iter().map(|link| link.order).collect();
        assert_eq!(orders, (0..wanted.len() as i64).map(Some).collect::<Vec<_>>());
    } else {
        wanted.sort();
    }
    assert_eq!(
        (links.order, link_names(&root)),
        (if ordered { Order::Creation } else { Order::Name }, wanted)
    );
    for link in &links.list {
        assert_eq!(root.link(&link.name).unwrap().as_ref(), Some(link));
        if let LinkTarget::Hard(at) = link.target {
            assert_eq!(file.object(at).unwrap().kind(), ObjectKind::Group);
        }
    }
    for absent in ["", "g", "g0", "g000", "zzz", "a00"] {
        assert_eq!(root.link(absent.as_bytes()).unwrap(), None, "{absent}");
    }

    let attributes = root.attributes().unwrap();
    assert_eq!(root.attribute_count().unwrap(), count as u64);
    let names: Vec<_> = attributes.list.iter().map(|(name, _)| text(name)).collect();
    if ordered {
        assert_eq!((attributes.order, &names), (Order::Creation, &made("a", count)));
    } else {
        assert_eq!((attributes.order, sorted(names)), (Order::Stored, sorted(made("a", count))));
    }
    for (number, name) in made("a", count).iter().enumerate() {
        let attribute = root.attribute(name.as_bytes()).unwrap().unwrap();
        assert_eq!(attribute.data, (number as i32).to_le_bytes(), "{name}");
        assert_eq!(attribute.order, ordered.then_some(number as u32));
        assert_eq!((attribute.datatype.size(), attribute.dataspace.elements()), (4, Some(1)));
    }
    assert!(root.attribute(b"a").unwrap().is_none());
    assert!(root.attribute(b"zzz").unwrap().is_none());
}

#[test]
fn groups_of_every_kind() {
    check_group("old_small.h5", 3, false, &["soft"]);
    check_group("compact.h5", 5, false, &["external", "soft"]);
    check_group("compact_ordered.h5", 5, true, &["soft", "external"]);
    check_group("dense.h5", 20, false, &["external", "soft"]);
    check_group("dense_ordered.h5", 20, true, &["soft", "external"]);
    check_group("narrow_2.h5", 3, false, &[]);
    check_group("narrow_4.h5", 3, false, &[]);
}

#[test]
fn metadata_in_an_image_of_the_cache() {
    check_group("cache_image.h5", 5, false, &[]);
    check_group("cache_image_dense.h5", 12, false, &[]);
}

#[test]
fn attributes_in_a_header_are_listed_as_they_stand() {
    let attributes = open("compact.h5").root().unwrap().attributes().unwrap();
    let names: Vec<_> = attributes.list.iter().map(|(name, _)| text(name)).collect();
    assert_eq!(names, made("a", 5));
}

#[test]
fn links_by_class() {
    let root = open("compact.h5").root().unwrap();
    assert_eq!(root.link(b"soft").unwrap().unwrap().target, LinkTarget::Soft(b"/g01".to_vec()));
    let external = LinkTarget::External { file: b"other.h5".to_vec(), path: b"/there".to_vec() };
    assert_eq!(root.link(b"external").unwrap().unwrap().target, external);
}

#[test]
fn trees_with_more_than_one_level() {
    let root = open("old_large.h5").root().unwrap();
    let links = root.links().unwrap().list;
    assert_eq!(links.len(), 301);
    for (i, link) in (0..300).map(|i| (i, root.link(format!("n{:03}", i * 7 % 300).as_bytes()))) {
        assert_eq!(link.unwrap().unwrap().target, LinkTarget::Soft(format!("/there/{i}").into_bytes()));
    }
    assert_eq!(root.link(b"hard").unwrap().unwrap().target, LinkTarget::Hard(root.address()));

    let root = open("dense_deep.h5").root().unwrap();
    let wanted = sorted((0..1500).map(|i| format!("n{i:04}")).collect());
    assert_eq!(link_names(&root), wanted);
    for name in wanted {
        let link = root.link(name.as_bytes()).unwrap().unwrap();
        assert_eq!(link.target, LinkTarget::Soft(b"x".to_vec()));
    }
    assert_eq!(root.attribute_count().unwrap(), 61);
    for (number, name) in made("n", 60).iter().enumerate() {
        assert_eq!(root.attribute(name.as_bytes()).unwrap().unwrap().data, (number as i16).to_le_bytes());
    }
}

#[test]
fn objects_in_their_identifiers() {
    let root = open("tiny.h5").root().unwrap();
    assert_eq!(link_names(&root).concat(), "abcdefghijkl");
    assert!(root.links().unwrap().list.iter().all(|link| link.target == LinkTarget::Hard(root.address())));
}

#[test]
fn a_block_before_the_file() {
    let file = open("user_block.h5");
    assert_eq!(file.superblock().base, 1024);
    let root = file.root().unwrap();
    assert_eq!(link_names(&root), ["data", "größe"]);
    let group = file.open_path(root.address(), "größe".as_bytes()).unwrap().unwrap();
    assert_eq!(group.attribute("µ".as_bytes()).unwrap().unwrap().data, [0xfb]);
    let data = file.open_path(root.address(), b"/data").unwrap().unwrap();
    assert_eq!((data.kind(), data.references()), (ObjectKind::Dataset, 1));
}

#[test]
fn messages_that_objects_share() {
    for name in ["shared_list.h5", "shared_tree.h5"] {
        let file = open(name);
        let root = file.root().unwrap();
        assert_eq!(link_names(&root), ["d0", "d1", "d2", "many"], "{name}");
        for i in 0..3 {
            let data = file.open_path(root.address(), format!("d{i}").as_bytes()).unwrap().unwrap();
            assert_eq!(data.kind(), ObjectKind::Dataset);
            let units = data.attribute(b"units").unwrap().unwrap();
            assert_eq!((text(&units.data), units.committed), ("metres per second\0".into(), None), "{name}");
            assert_eq!(data.attribute(b"own").unwrap().unwrap().data, [i, 0, 0, 0]);
            assert_eq!(data.attributes().unwrap().list.len(), 2);
            assert!(
                data.messages(0x03).all(|datatype| datatype.damage.is_none() && datatype.committed.is_none())
            );
        }
        let many = file.open_path(root.address(), b"many").unwrap().unwrap();
        let found = many.attributes().unwrap().list;
        assert_eq!(found.len(), 12);
        assert!(found.iter().all(|(_, a)| a.as_ref().unwrap().data == b"metres per second\0"), "{name}");
    }
}

#[test]
fn committed_datatypes() {
    for name in ["committed_earliest.h5", "committed_latest.h5"] {
        let file = open(name);
        let root = file.root().unwrap();
        let named = file.open_path(root.address(), b"type").unwrap().unwrap();
        assert_eq!((named.kind(), named.references()), (ObjectKind::Datatype, 3), "{name}");
        assert_eq!(named.attribute(b"on_type").unwrap().unwrap().data, 7i32.to_le_bytes());
        let Attribute { committed, datatype, data, .. } = root.attribute(b"of_type").unwrap().unwrap();
        assert_eq!((committed, datatype.size()), (Some(named.address()), 6));
        assert_eq!(data, [1, 0, 0, 0, 0x20, 0x40, 3, 0, 0, 0, 0x90, 0x40]);
        let data = file.open_path(root.address(), b"data").unwrap().unwrap();
        let own = named.message(0x03).unwrap();
        let its = data.message(0x03).unwrap();
        assert_eq!((its.committed, &its.body), (Some(named.address()), &own.body), "{name}");
    }
}

#[test]
fn attributes_beyond_the_blocks_of_a_heap() {
    let root = open("huge_attributes.h5").root().unwrap();
    for i in 0..3u8 {
        let huge = root.attribute(format!("huge{i}").as_bytes()).unwrap().unwrap();
        assert_eq!(huge.data, vec![i; 5000 + usize::from(i)]);
    }
    assert_eq!(root.attributes().unwrap().list.len(), 13);
}

#[test]
fn heaps_with_filters() {
    for (name, count) in [("filtered_heap.h5", 12), ("filtered_heap_deep.h5", 200)] {
        let file = open(name);
        let group = file.open_path(file.superblock().root, b"g").unwrap().unwrap();
        for i in 0..count {
            let link = group.link(format!("a_link_with_a_long_name_{i:03}").as_bytes()).unwrap().unwrap();
            assert_eq!(link.target, LinkTarget::Soft(b"/where/it/leads".to_vec()));
        }
        if count > 100 {
            let path = format!("/{}", "long".repeat(2000));
            assert_eq!(group.link(b"huge").unwrap().unwrap().target, LinkTarget::Soft(path.into_bytes()));
        }
    }
}

#[test]
fn no_file_has_an_error_in_it() {
    for name in names() {
        assert_eq!(everything(&open(&name)).1, [], "{name}");
    }
}

#[test]
fn many_threads_read_one_file() {
    for name in ["dense_deep.h5", "shared_tree.h5", "filtered_heap_deep.h5"] {
        let file = open(name);
        let wanted = everything(&open(name));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert_eq!(everything(&file), wanted, "{name}"));
            }
        });
    }
}

/// Bytes in memory that note the size of pages that readers expect.
struct Paged {
    inner: MemoryBlob,
    page: AtomicU64,
}

impl Blob for Paged {
    forward!([.inner] size read_at read_many read_suffix name forget change_token cost is_nameless);

    fn expect_pages(&self, bytes: u64) {
        self.page.store(bytes, Relaxed);
    }
}

#[test]
fn size_of_pages_is_told_to_the_source_of_the_bytes() {
    for (name, page) in [("paged.h5", 512), ("compact.h5", 0)] {
        let blob = Arc::new(Paged { inner: MemoryBlob::new(bytes(name)), page: AtomicU64::new(0) });
        File::open(blob.clone()).unwrap();
        assert_eq!(blob.page.load(Relaxed), page, "{name}");
    }
}
