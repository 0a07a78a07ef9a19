//! The behaviour every blob must show, as a function that each implementation's tests run.

use crate::BlobMut;
use ferrocdf_bytes::{Code, Error};

/// Runs the checks on blobs that `new` makes, each empty, each with a number of its own.
pub fn blob<B: BlobMut>(mut new: impl FnMut(u32) -> B) {
    reads_stop_at_the_end(&new(0));
    gaps_read_as_zero(&new(1));
    size_can_shrink_and_grow(&new(2));
    threads_do_not_disturb_each_other(&new(3));
    all_bytes_are_replaced_or_none(&new(4));
}

fn all<B: BlobMut>(blob: &B) -> Vec<u8> {
    let mut bytes = vec![0; blob.size().unwrap() as usize];
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
