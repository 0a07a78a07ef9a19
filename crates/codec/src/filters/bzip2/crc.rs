//! The checksum of bzip2: CRC-32 with the polynomial 0x04c11db7, most significant bit first.

const POLYNOMIAL: u32 = 0x04c1_1db7;

/// Number of bytes that one step processes ("slicing by 8").
const SLICE: usize = 8;

/// Contribution of a byte to the checksum, by the number of bytes after it (0 to 7).
static TABLES: [[u32; 256]; SLICE] = tables();

const fn tables() -> [[u32; 256]; SLICE] {
    let mut tables = [[0; 256]; SLICE];
    let mut after = 0;
    while after < SLICE {
        let mut byte = 0;
        while byte < 256 {
            let mut crc = if after == 0 { (byte as u32) << 24 } else { tables[after - 1][byte] };
            let mut bit = 0;
            while bit < 8 {
                crc = crc << 1 ^ if crc >> 31 == 1 { POLYNOMIAL } else { 0 };
                bit += 1;
            }
            tables[after][byte] = crc;
            byte += 1;
        }
        after += 1;
    }
    tables
}

/// Updates the inverted checksum, which is initially all ones, with further bytes.
pub fn update(mut crc: u32, bytes: &[u8]) -> u32 {
    let (words, rest) = bytes.as_chunks::<SLICE>();
    for &[a, b, c, d, e, f, g, h] in words {
        let [i, j, k, l] = (crc ^ u32::from_be_bytes([a, b, c, d])).to_be_bytes();
        let table = |after: usize, byte: u8| TABLES[after][usize::from(byte)];
        crc = (table(7, i) ^ table(6, j) ^ table(5, k) ^ table(4, l))
            ^ (table(3, e) ^ table(2, f) ^ table(1, g) ^ table(0, h));
    }
    rest.iter().fold(crc, |crc, &byte| crc << 8 ^ TABLES[0][usize::from((crc >> 24) as u8 ^ byte)])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests the check value of CRC-32/BZIP2, and updates with parts of any size.
    #[test]
    fn checksum_has_the_check_value_and_can_be_computed_in_parts() {
        assert_eq!(!update(!0, b"123456789"), 0xfc89_1918);
        let bytes: Vec<u8> = (0..1000u32).map(|at| (at * at / 7) as u8).collect();
        let whole = update(!0, &bytes);
        for cut in 0..30 {
            assert_eq!(update(update(!0, &bytes[..cut]), &bytes[cut..]), whole);
        }
    }
}
