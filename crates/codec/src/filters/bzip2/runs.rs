//! The last step: four equal bytes are followed by a count of more of them. Checksums are of what comes out.

use ferrocdf_bytes::Result;

use super::broken;
use super::crc;

/// Equal bytes in front of a count.
const EQUAL: usize = 4;

/// Bytes whose checksum is computed while they are in the cache.
const PIECE: usize = 16 << 10;

/// Where bytes are made, and their checksum.
struct Made<'a> {
    decoded: &'a mut [u8],
    len: usize,
    checked: usize,
    crc: u32,
}

/// Decodes `len` bytes with runs; behind them is one more, which a run at their end takes for its count before it is found to
/// have none. Gives the count of bytes made in the front of `decoded` and their checksum; `None` if they do not fit.
pub fn decode(bytes: &[u8], len: usize, decoded: &mut [u8]) -> Result<Option<(usize, u32)>> {
    let mut made = Made { decoded, len: 0, checked: 0, crc: !0 };
    Ok(match made.decode(bytes, len)? {
        Some(()) => {
            made.check();
            Some((made.len, !made.crc))
        }
        None => None,
    })
}

impl Made<'_> {
    fn decode(&mut self, bytes: &[u8], len: usize) -> Result<Option<()>> {
        let mut at = 0;
        while let Some(run) = find_run(&bytes[at..len]) {
            let (start, count) = (at + run, at + run + EQUAL);
            if self.copy(&bytes[at..count]).is_none() || self.repeat(bytes[start], bytes[count]).is_none() {
                return Ok(None);
            }
            if count == len {
                return Err(broken("ends before the count of a run"));
            }
            at = count + 1;
        }
        Ok(self.copy(&bytes[at..len]))
    }

    fn copy(&mut self, bytes: &[u8]) -> Option<()> {
        for piece in bytes.chunks(PIECE) {
            self.decoded.get_mut(self.len..self.len + piece.len())?.copy_from_slice(piece);
            self.grown(piece.len());
        }
        Some(())
    }

    fn repeat(&mut self, byte: u8, count: u8) -> Option<()> {
        self.decoded.get_mut(self.len..self.len + usize::from(count))?.fill(byte);
        self.grown(count.into());
        Some(())
    }

    #[inline]
    fn grown(&mut self, by: usize) {
        self.len += by;
        if self.len - self.checked >= PIECE {
            self.check();
        }
    }

    fn check(&mut self) {
        self.crc = crc::update(self.crc, &self.decoded[self.checked..self.len]);
        self.checked = self.len;
    }
}

/// Where the first four equal bytes are.
#[inline]
fn find_run(bytes: &[u8]) -> Option<usize> {
    const WORD: usize = 8;
    let mut at = 0;
    while let Some(next) = bytes[at..].first_chunk::<{ WORD + EQUAL - 1 }>() {
        let word = |from: usize| u64::from_le_bytes(next[from..from + WORD].as_chunks().0[0]);
        let differ = (word(0) ^ word(1)) | (word(0) ^ word(2)) | (word(0) ^ word(3));
        // The lowest zero byte is found exactly.
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
    fn runs_are_found_where_they_are() {
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
