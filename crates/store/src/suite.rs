//! The behaviour that every blob and every store must show, as functions that each implementation's tests run.

mod forwarding;

use crate::{
    BlobMut, Buffer, ByteRange, Expected, Fetched, Filled, GetInto, Listing, ReadRequest, Store, Suffix,
};
use ferrocdf_bytes::{Code, Error, ToUsize};

pub use forwarding::{Probe, forwards_reads, forwards_writes};

/// Runs the checks on stores that `new` makes, each empty, each with a number of its own.
pub fn store<S: Store>(mut new: impl FnMut(u32) -> S) {
    objects_are_read_by_ranges(&new(0));
    absent_objects_are_values(&new(1));
    conditional_puts_need_the_expected_state(&new(2));
    folders_list_what_is_directly_in_them(&new(3));
    names_that_are_no_keys_are_refused(&new(4));
    readers_see_whole_objects(&new(5));
}

fn get<S: Store>(store: &S, key: &str, range: ByteRange) -> Option<Fetched> {
    store.get(key, range).unwrap().map(|found| found.check(key, range).unwrap())
}

fn objects_are_read_by_ranges<S: Store>(store: &S) {
    let mut buffer = Buffer::new();
    store.put("a/b", b"0123456789").unwrap();
    for (range, start, bytes) in [
        (ByteRange::All, 0, &b"0123456789"[..]),
        (ByteRange::Bounded { start: 3, len: 4 }, 3, b"3456"),
        (ByteRange::Bounded { start: 8, len: 4 }, 8, b"89"),
        (ByteRange::Bounded { start: 2, len: 0 }, 2, b""),
        (ByteRange::Bounded { start: 12, len: 4 }, 10, b""),
        (ByteRange::Bounded { start: u64::MAX, len: u64::MAX }, 10, b""),
        (ByteRange::Suffix(3), 7, b"789"),
        (ByteRange::Suffix(30), 0, b"0123456789"),
        (ByteRange::Suffix(0), 10, b""),
    ] {
        let found = get(store, "a/b", range).unwrap();
        assert_eq!((found.start, &found.bytes[..], found.total), (start, bytes, 10), "{range:?}");
        let (filled, buffered) = store.get_buffered("a/b", range, &mut buffer).unwrap().unwrap();
        assert_eq!((filled, buffered), (found.clone().into_parts().0, bytes), "{range:?}");
    }
    store.put("a/b", b"").unwrap();
    assert_eq!(get(store, "a/b", ByteRange::Suffix(3)).unwrap().bytes, b"");
    assert!(store.get_buffered("a/c", ByteRange::All, &mut buffer).unwrap().is_none());
    assert!(store.get_buffered("../a", ByteRange::All, &mut buffer).is_err());
    let requests = [
        ("a/b", ByteRange::All),
        ("a/c", ByteRange::All),
        ("../a", ByteRange::All),
        ("a/b", ByteRange::Suffix(1)),
    ];
    let found = store.get_many(&requests);
    assert_eq!(found.len(), 4);
    assert!(matches!(&found[0], Ok(Some(_))) && matches!(&found[1], Ok(None)));
    assert!(found[2].is_err() && matches!(&found[3], Ok(Some(_))));
    ranges_are_read_into_memory_of_the_caller(store);
}

fn ranges_are_read_into_memory_of_the_caller<S: Store>(store: &S) {
    store.put("a/b", b"0123456789").unwrap();
    let mut buffers = [[b'-'; 4]; 5];
    let places = [("a/b", 3), ("a/b", 8), ("a/c", 0), ("../a", 0), ("a/b", 12)];
    let mut requests: Vec<_> =
        places.iter().zip(&mut buffers).map(|(&(key, start), into)| GetInto { key, start, into }).collect();
    let found = store.get_many_into(&mut requests);
    let version = store.get("a/b", ByteRange::All).unwrap().unwrap().version;
    let filled = |len, start| Filled { len, start, total: 10, version: version.clone() };
    for (at, expected) in [(0, filled(4, 3)), (1, filled(2, 8)), (4, filled(0, 10))] {
        assert_eq!(found[at].as_ref().unwrap().as_ref(), Some(&expected));
    }
    assert!(matches!(&found[2], Ok(None)) && found[3].is_err() && found.len() == 5);
    assert_eq!((&buffers[0], &buffers[1][..2]), (b"3456", &b"89"[..]));
}

fn absent_objects_are_values<S: Store>(store: &S) {
    assert_eq!(store.get("a", ByteRange::All).unwrap(), None);
    store.put("a/b", b"x").unwrap();
    // Neither a folder nor a key below an object is an object.
    assert_eq!(store.get("a", ByteRange::All).unwrap(), None);
    assert_eq!(store.get("a/b/c", ByteRange::All).unwrap(), None);
    store.delete("a/b").unwrap();
    assert_eq!(store.get("a/b", ByteRange::All).unwrap(), None);
    store.delete("a/b").unwrap();
    store.delete("x/y").unwrap();
    assert_eq!(store.list("x").unwrap(), Listing::default());
}

fn conditional_puts_need_the_expected_state<S: Store>(store: &S) {
    let first = store.put_if("a/k", b"one", Expected::Absent).unwrap().expect("it is absent");
    assert_eq!(store.put_if("a/k", b"two", Expected::Absent).unwrap(), None);
    assert_eq!(get(store, "a/k", ByteRange::All).unwrap().version, first);
    let second =
        store.put_if("a/k", b"two", Expected::Version(&first)).unwrap().expect("it has this version");
    assert_ne!(first, second);
    assert_eq!(store.put_if("a/k", b"three", Expected::Version(&first)).unwrap(), None);
    assert_eq!(store.put_if("a/l", b"three", Expected::Version(&first)).unwrap(), None);
    assert_eq!(get(store, "a/k", ByteRange::All).unwrap().bytes, b"two");
    assert_eq!(store.get("a/l", ByteRange::All).unwrap(), None);
    let third = store.put("a/k", b"two").unwrap();
    assert_ne!(second, third, "another put is another version");
}

fn folders_list_what_is_directly_in_them<S: Store>(store: &S) {
    assert_eq!(store.list("").unwrap(), Listing::default());
    for key in ["z", "a/b", "a/c/d", "a/c/e", "a.b", "a-/x"] {
        store.put(key, b"").unwrap();
    }
    let listing = |objects: &[&str], folders: &[&str]| {
        let [objects, folders] =
            [objects, folders].map(|names| names.iter().map(ToString::to_string).collect());
        Listing { objects, folders }
    };
    assert_eq!(store.list("").unwrap(), listing(&["a.b", "z"], &["a", "a-"]));
    assert_eq!(store.list("a").unwrap(), listing(&["b"], &["c"]));
    assert_eq!(store.list("a/c").unwrap(), listing(&["d", "e"], &[]));
    assert_eq!(store.list("a/b").unwrap(), Listing::default(), "an object has nothing in it");
}

fn names_that_are_no_keys_are_refused<S: Store>(store: &S) {
    for key in ["", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "a/.", "a\0b"] {
        assert_eq!(store.get(key, ByteRange::All).unwrap_err().code, Code::EINVAL, "{key:?}");
        assert_eq!(store.put(key, b"").unwrap_err().code, Code::EINVAL, "{key:?}");
        assert_eq!(store.put_if(key, b"", Expected::Absent).unwrap_err().code, Code::EINVAL, "{key:?}");
        assert_eq!(store.delete(key).unwrap_err().code, Code::EINVAL, "{key:?}");
        assert!(key.is_empty() || store.list(key).is_err(), "{key:?}");
    }
    assert_eq!(store.list("").unwrap(), Listing::default());
}

fn readers_see_whole_objects<S: Store>(store: &S) {
    const SIZE: usize = 50_000;
    store.put("k", &[0; SIZE]).unwrap();
    std::thread::scope(|scope| {
        let writer =
            scope.spawn(|| (1..40u8).for_each(|value| drop(store.put("k", &[value; SIZE]).unwrap())));
        while !writer.is_finished() {
            let found = get(store, "k", ByteRange::All).unwrap();
            assert!(found.bytes.len() == SIZE && found.bytes.iter().all(|&byte| byte == found.bytes[0]));
        }
    });
}

/// Runs the checks on blobs that `new` makes, each empty, each with a number of its own.
pub fn blob<B: BlobMut>(mut new: impl FnMut(u32) -> B) {
    reads_stop_at_the_end(&new(0));
    gaps_read_as_zero(&new(1));
    size_can_shrink_and_grow(&new(2));
    threads_do_not_disturb_each_other(&new(3));
    all_bytes_are_replaced_or_none(&new(4));
    batches_read_what_single_reads_do(&new(5));
    suffixes_tell_the_size(&new(6));
}

fn all<B: BlobMut>(blob: &B) -> Vec<u8> {
    let mut bytes = vec![0; blob.size().unwrap().saturate()];
    blob.read_exact_at(0, &mut bytes).unwrap();
    bytes
}

fn reads_stop_at_the_end<B: BlobMut>(blob: &B) {
    blob.write_at(0, b"abcdef").unwrap();
    let mut into = [b'-'; 4];
    assert_eq!(blob.read_at(4, &mut into).unwrap(), 2);
    assert_eq!(&into[..2], b"ef");
    assert_eq!(blob.read_at(6, &mut into).unwrap(), 0);
    assert_eq!(blob.read_at(1 << 40, &mut into).unwrap(), 0);
    assert_eq!(blob.read_exact_at(4, &mut into).unwrap_err().code, Code::ETRUNC);
    blob.read_zero_filled_at(4, &mut into).unwrap();
    assert_eq!(&into, b"ef\0\0");
}

fn batches_read_what_single_reads_do<B: BlobMut>(blob: &B) {
    blob.write_at(0, b"abcdef").unwrap();
    blob.write_at(6, b"ghij").unwrap();
    let mut buffers = [[b'-'; 4]; 5];
    let positions = [7, 0, 2, 1 << 40, 6];
    let mut requests: Vec<_> =
        positions.iter().zip(&mut buffers).map(|(&at, into)| ReadRequest::new(at, into)).collect();
    blob.read_many(&mut requests).unwrap();
    let found: Vec<_> = requests.iter().map(ReadRequest::bytes).collect();
    assert_eq!(found, [&b"hij"[..], b"abcd", b"cdef", b"", b"ghij"]);
    blob.read_many(&mut []).unwrap();
}

fn suffixes_tell_the_size<B: BlobMut>(blob: &B) {
    let mut into = [b'-'; 4];
    assert_eq!(blob.read_suffix(&mut into).unwrap(), Suffix { len: 0, size: 0 });
    blob.write_at(0, b"ab").unwrap();
    assert_eq!(blob.read_suffix(&mut into).unwrap(), Suffix { len: 2, size: 2 });
    assert_eq!(&into[..2], b"ab");
    blob.write_at(2, b"cdef").unwrap();
    assert_eq!(blob.read_suffix(&mut into).unwrap(), Suffix { len: 4, size: 6 });
    assert_eq!(&into, b"cdef");
    assert_eq!(blob.read_suffix(&mut []).unwrap(), Suffix { len: 0, size: 6 });
    blob.set_size(5).unwrap();
    assert_eq!(blob.read_suffix(&mut into).unwrap(), Suffix { len: 4, size: 5 });
    assert_eq!(&into, b"bcde");
}

fn gaps_read_as_zero<B: BlobMut>(blob: &B) {
    blob.write_at(3, b"x").unwrap();
    assert_eq!(all(blob), b"\0\0\0x");
    blob.write_at(100, b"").unwrap();
    assert_eq!(blob.size().unwrap(), 4);
}

fn size_can_shrink_and_grow<B: BlobMut>(blob: &B) {
    blob.write_at(0, b"abcdef").unwrap();
    blob.set_size(2).unwrap();
    blob.set_size(4).unwrap();
    assert_eq!(all(blob), b"ab\0\0");
    blob.sync().unwrap();
}

fn threads_do_not_disturb_each_other<B: BlobMut>(blob: &B) {
    const THREADS: u8 = 4;
    const RUN: u64 = 1000;
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                for step in 0..RUN {
                    blob.write_at(step * u64::from(THREADS) + u64::from(thread), &[thread + 1]).unwrap();
                }
            });
        }
    });
    let expected: Vec<u8> = (0..RUN).flat_map(|_| 1..=THREADS).collect();
    assert_eq!(all(blob), expected);
}

fn all_bytes_are_replaced_or_none<B: BlobMut>(blob: &B) {
    blob.write_at(0, b"old bytes").unwrap();
    let failed = blob.replace(&mut |new| {
        new.write_at(0, b"new")?;
        Err(Error::new(Code::EIO, "the test's failure"))
    });
    assert!(matches!(failed, Ok(false)) || failed.is_err_and(|error| error.code == Code::EIO));
    assert_eq!(all(blob), b"old bytes");
    if blob.replace(&mut |new| new.write_at(1, b"new")).unwrap() {
        assert_eq!(all(blob), b"\0new");
        blob.write_at(0, b"a").unwrap();
        assert_eq!(all(blob), b"anew");
    } else {
        assert_eq!(all(blob), b"old bytes");
    }
}
