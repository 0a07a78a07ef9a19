//! Requests that are answered from several sources: some bytes by a wrapper, the rest by the blob that it wraps.

use ferrocdf_bytes::Result;

use crate::{Blob, ReadRequest};

/// Answers requests with one batch of reads of `blob`. For each request `split` gets the position and the buffer: it fills the bytes
/// that it has, adds a request to `blob` for each other part of the buffer, and returns the number of bytes that the buffer holds
/// then. A request for a part that comes back with fewer bytes takes the missing ones off that number.
///
/// # Errors
/// Those of `split`, before any byte is read, and those of `blob`.
pub fn read_parts<'r>(
    blob: &(impl Blob + ?Sized),
    requests: &'r mut [ReadRequest<'_>],
    mut split: impl FnMut(u64, &'r mut [u8], &mut Vec<ReadRequest<'r>>) -> Result<usize>,
) -> Result<()> {
    let (mut parts, mut ends) = (Vec::with_capacity(requests.len()), Vec::with_capacity(requests.len()));
    for ReadRequest { at, into, len } in requests {
        *len = split(*at, into, &mut parts)?;
        ends.push((len, parts.len()));
    }
    if !parts.is_empty() {
        blob.read_many(&mut parts)?;
    }
    let mut start = 0;
    for (len, end) in ends {
        let missing: usize = parts[start..end].iter().map(|part| part.into.len() - part.len).sum();
        *len -= missing.min(*len);
        start = end;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryBlob;
    use crate::testing::Counting;
    use ferrocdf_bytes::{Code, Error};

    /// Reads ten bytes from each position. The wrapper has those before position 100, all ones, and refuses position 1000; `blob` has
    /// the others, which are read as two parts.
    fn read(blob: &Counting<MemoryBlob>, positions: &[u64]) -> Result<Vec<Vec<u8>>> {
        let mut buffers = vec![[9; 10]; positions.len()];
        let mut requests: Vec<ReadRequest<'_>> =
            positions.iter().zip(&mut buffers).map(|(&at, into)| ReadRequest::new(at, into)).collect();
        read_parts(blob, &mut requests, |at, into, parts| {
            match at {
                0..100 => into.fill(1),
                1000 => return Err(Error::new(Code::EINVAL, "a request that is refused")),
                _ => {
                    let (first, second) = into.split_at_mut(5);
                    parts.extend([ReadRequest::new(at - 100, first), ReadRequest::new(at - 95, second)]);
                }
            }
            Ok(10)
        })?;
        Ok(requests.iter().map(|request| request.bytes().to_vec()).collect())
    }

    #[test]
    fn each_request_gets_its_own_parts_and_loses_what_the_blob_lacks() {
        let blob = Counting::new(MemoryBlob::new((0..8).collect()));
        let found = read(&blob, &[100, 50, 102, 106, 90, 200]).unwrap();
        let expected = [&[0, 1, 2, 3, 4, 5, 6, 7][..], &[1; 10], &[2, 3, 4, 5, 6, 7], &[6, 7], &[1; 10], &[]];
        assert_eq!(found, expected);
        assert_eq!(blob.reads(), (8, 40));
    }

    #[test]
    fn nothing_is_read_for_requests_that_the_wrapper_answers_or_refuses() {
        let blob = Counting::new(MemoryBlob::new(vec![0; 8]));
        assert_eq!(read(&blob, &[3, 90]).unwrap(), [[1; 10], [1; 10]]);
        assert!(read(&blob, &[100, 1000]).is_err());
        assert_eq!(blob.reads(), (0, 0));
    }
}
