//! The last step of decoding, run lengths: after four equal bytes follows a count of further ones. The checksum covers the
//! output.

use ferrocdf_bytes::Result;

use super::bad_block;
use super::crc;

/// Number of equal bytes before a count.
const EQUAL: usize = 4;

/// Number of bytes after which the checksum is updated, while they are in the cache.
const CHECKSUM_INTERVAL: usize = 16 << 10;

/// Output and its checksum.
struct Output<'a> {
    decoded: &'a mut [u8],
    /// Number of bytes written.
    len: usize,
    /// Number of bytes that `crc` covers.
    checked: usize,
    crc: u32,
}

/// Decodes the first `len` of `bytes` to the front of `decoded`, and returns the decoded size and the checksum; `None` if
/// `decoded` is too short. `bytes` has one byte more, which a run at the end reads as its count before the missing count is
/// an error, as in libbz2.
pub fn decode(bytes: &[u8], len: usize, decoded: &mut [u8]) -> Result<Option<(usize, u32)>> {
    let mut output = Output { decoded, len: 0, checked: 0, crc: !0 };
    Ok(match output.decode(bytes, len)? {
        Some(()) => {
            output.update_checksum();
            Some((output.len, !output.crc))
        }
        None => None,
    })
}

impl Output<'_> {
    fn decode(&mut self, bytes: &[u8], len: usize) -> Result<Option<()>> {
        let mut at = 0;
        while let Some(run) = find_run(&bytes[at..len]) {
            let (start, count) = (at + run, at + run + EQUAL);
            if self.copy(&bytes[at..count]).is_none() || self.repeat(bytes[start], bytes[count]).is_none() {
                return Ok(None);
            }
            if count == len {
                return Err(bad_block("ends before the count of a run"));
            }
            at = count + 1;
        }
        Ok(self.copy(&bytes[at..len]))
    }

    fn copy(&mut self, bytes: &[u8]) -> Option<()> {
        for part in bytes.chunks(CHECKSUM_INTERVAL) {
            self.decoded.get_mut(self.len..self.len + part.len())?.copy_from_slice(part);
            self.advance(part.len());
        }
        Some(())
    }

    fn repeat(&mut self, byte: u8, count: u8) -> Option<()> {
        self.decoded.get_mut(self.len..self.len + usize::from(count))?.fill(byte);
        self.advance(count.into());
        Some(())
    }

    #[inline]
    fn advance(&mut self, by: usize) {
        self.len += by;
        if self.len - self.checked >= CHECKSUM_INTERVAL {
            self.update_checksum();
        }
    }

    fn update_checksum(&mut self) {
        self.crc = crc::update(self.crc, &self.decoded[self.checked..self.len]);
        self.checked = self.len;
    }
}

/// Returns the position of the first four equal bytes.
#[inline]
fn find_run(bytes: &[u8]) -> Option<usize> {
    const WORD: usize = 8;
    let mut at = 0;
    while let Some(next) = bytes[at..].first_chunk::<{ WORD + EQUAL - 1 }>() {
        let word = |from: usize| u64::from_le_bytes(next[from..from + WORD].as_chunks().0[0]);
        let differ = (word(0) ^ word(1)) | (word(0) ^ word(2)) | (word(0) ^ word(3));
        // This marks the lowest zero byte exactly; higher marks may be wrong.
        let zeros = differ.wrapping_sub(0x0101_0101_0101_0101) & !differ & 0x8080_8080_8080_8080;
        if zeros != 0 {
            return Some(at + zeros.trailing_zeros() as usize / 8);
        }
        at += WORD;
    }
    bytes[at..].windows(EQUAL).position(|four| four.iter().all(|&byte| byte == four[0])).map(|run| at + run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn find_run_finds_four_equal_bytes_at_any_position() {
        for len in 0..40 {
            for start in 0..len {
                for equal in 1..=6.min(len - start) {
                    let mut bytes: Vec<u8> = (0..len as u8).collect();
                    bytes[start..start + equal].fill(200);
                    assert_eq!(
                        find_run(&bytes),
                        (equal >= 4).then_some(start),
                        "{equal} at {start} of {len}"
                    );
                }
            }
        }
    }
}
