//! Copies with non-temporal stores, into memory that is too large to stay in the caches.
//!
//! An ordinary store into a cache line that is in no cache first fetches the line. If whole lines are written and not read
//! soon, that fetch is a third of the memory traffic; non-temporal stores avoid it. One of two modules of the crate with
//! unsafe code (decision 015).

/// Minimum bytes of a result that does not stay in the caches of most machines.
pub(crate) const LARGE: u64 = 32 << 20;

/// Copies each row to its destination, with non-temporal stores if the machine has them and the row is long enough.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn copy_rows<'a>(rows: impl Iterator<Item = (&'a [u8], &'a mut [u8])>) {
    rows.for_each(|(from, to)| to.copy_from_slice(from));
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::copy_rows;

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};

    /// Bytes of a row below which it has too few whole cache lines.
    const LONG: usize = 256;

    /// A cache line.
    #[repr(C, align(64))]
    struct CacheLine([u8; 64]);

    /// Copies each row to its destination, with non-temporal stores if the row is long enough.
    pub(crate) fn copy_rows<'a>(rows: impl Iterator<Item = (&'a [u8], &'a mut [u8])>) {
        let _fence = Fence;
        for (from, to) in rows {
            if from.len() < LONG {
                to.copy_from_slice(from);
            } else {
                copy(from, to);
            }
        }
    }

    /// Completes non-temporal stores before the memory is read again, also after a panic.
    struct Fence;

    impl Drop for Fence {
        fn drop(&mut self) {
            // SAFETY: every machine of this architecture has it.
            #[allow(unsafe_code)]
            unsafe {
                _mm_sfence();
            }
        }
    }

    fn copy(from: &[u8], to: &mut [u8]) {
        assert_eq!(from.len(), to.len());
        // SAFETY: any bytes are a line.
        #[allow(unsafe_code)]
        let (head, lines, tail) = unsafe { to.align_to_mut::<CacheLine>() };
        let (first, rest) = from.split_at(head.len());
        let (middle, last) = rest.split_at(rest.len() - tail.len());
        head.copy_from_slice(first);
        for (from, to) in middle.as_chunks::<64>().0.iter().zip(lines) {
            let (from, to): (*const __m128i, *mut __m128i) = (from.as_ptr().cast(), to.0.as_mut_ptr().cast());
            for part in 0..4 {
                // SAFETY: both have 64 bytes, `to` begins at a multiple of 64, and the fence of the caller comes before
                // anybody else sees them.
                #[allow(unsafe_code)]
                unsafe {
                    _mm_stream_si128(to.add(part), _mm_loadu_si128(from.add(part)));
                }
            }
        }
        tail.copy_from_slice(last);
    }

    #[cfg(test)]
    mod tests {
        #[test]
        fn rows_of_any_length_are_copied_to_any_offset() {
            let source: Vec<u8> = (0..2000u32).map(|i| (i * 7 % 251) as u8).collect();
            for at in 0..130 {
                for len in [0, 1, 63, 255, 256, 257, 300, 720, 1000] {
                    let mut made = vec![0xEE; 2000];
                    super::copy_rows([(&source[at / 2..][..len], &mut made[at..][..len])].into_iter());
                    assert_eq!(made[at..at + len], source[at / 2..][..len], "{len} bytes at {at}");
                    assert!(made[..at].iter().chain(&made[at + len..]).all(|&byte| byte == 0xEE));
                }
            }
        }
    }
}
