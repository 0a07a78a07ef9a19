//! Jenkins' lookup3 hash (`hashlittle`): the checksum of HDF5 metadata, and the hash of names in its indexes.
//!
//! Bytes are taken one by one as the definition for unaligned input does, so the result is the same on every machine.

/// The lookup3 hash of `bytes`, started with `initial` (0 for checksums).
pub fn lookup3(bytes: &[u8], initial: u32) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "the length is hashed modulo 2^32")]
    let len = bytes.len() as u32;
    let start = 0xdead_beef_u32.wrapping_add(len).wrapping_add(initial);
    let mut state = [start; 3];
    let mut rest = bytes;
    while rest.len() > 12 {
        let (block, behind) = rest.split_at(12);
        add(&mut state, block);
        mix(&mut state);
        rest = behind;
    }
    if rest.is_empty() {
        return state[2];
    }
    let mut last = [0; 12];
    last[..rest.len()].copy_from_slice(rest);
    add(&mut state, &last);
    finish(&mut state);
    state[2]
}

/// Adds 12 bytes, as three numbers, to the state.
fn add(state: &mut [u32; 3], block: &[u8]) {
    for (part, word) in state.iter_mut().zip(block.chunks_exact(4)) {
        *part = part.wrapping_add(u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    }
}

fn mix([a, b, c]: &mut [u32; 3]) {
    let step = |x: &mut u32, y: &mut u32, z: &mut u32, turn| {
        *x = x.wrapping_sub(*z) ^ z.rotate_left(turn);
        *z = z.wrapping_add(*y);
    };
    step(a, b, c, 4);
    step(b, c, a, 6);
    step(c, a, b, 8);
    step(a, b, c, 16);
    step(b, c, a, 19);
    step(c, a, b, 4);
}

fn finish([a, b, c]: &mut [u32; 3]) {
    let step = |x: &mut u32, y: &u32, turn| *x = (*x ^ y).wrapping_sub(y.rotate_left(turn));
    step(c, b, 14);
    step(a, c, 11);
    step(b, a, 25);
    step(c, b, 16);
    step(a, c, 4);
    step(b, a, 14);
    step(c, b, 24);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_vectors() {
        assert_eq!(lookup3(b"", 0), 0xdead_beef);
        assert_eq!(lookup3(b"", 0xdead_beef), 0xbd5b_7dde);
        assert_eq!(lookup3(b"Four score and seven years ago", 0), 0x1777_0551);
        assert_eq!(lookup3(b"Four score and seven years ago", 1), 0xcd62_8161);
    }

    #[test]
    fn whole_blocks_are_finished_too() {
        // 12 bytes are the last block, not a block and an empty rest.
        assert_ne!(lookup3(b"twelve bytes", 0), lookup3(b"twelve bytes\0", 0));
        assert_ne!(lookup3(&[0; 12], 0), lookup3(&[0; 24], 0));
    }
}
