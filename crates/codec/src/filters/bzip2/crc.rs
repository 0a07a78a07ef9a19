//! The checksum of bzip2: CRC-32 of the polynomial 0x04c11db7, the highest bit first.

const POLYNOMIAL: u32 = 0x04c1_1db7;

/// Bytes that are looked up at once.
const AT_ONCE: usize = 8;

/// What a byte adds to the checksum, with 0 to 7 bytes behind it.
static TABLES: [[u32; 256]; AT_ONCE] = tables();

const fn tables() -> [[u32; 256]; AT_ONCE] {
    let mut tables = [[0; 256]; AT_ONCE];
    let mut behind = 0;
    while behind < AT_ONCE {
        let mut byte = 0;
        while byte < 256 {
            let mut crc = if behind == 0 { (byte as u32) << 24 } else { tables[behind - 1][byte] };
            let mut bit = 0;
            while bit < 8 {
                crc = crc << 1 ^ if crc >> 31 == 1 { POLYNOMIAL } else { 0 };
                bit += 1;
            }
            tables[behind][byte] = crc;
            byte += 1;
        }
        behind += 1;
    }
    tables
}

/// The checksum of the bytes so far, inverted; at first all ones.
pub fn update(mut crc: u32, bytes: &[u8]) -> u32 {
    let (words, rest) = bytes.as_chunks::<AT_ONCE>();
    for &[a, b, c, d, e, f, g, h] in words {
        let [i, j, k, l] = (crc ^ u32::from_be_bytes([a, b, c, d])).to_be_bytes();
        let look = |behind: usize, byte: u8| TABLES[behind][usize::from(byte)];
        crc = (look(7, i) ^ look(6, j) ^ look(5, k) ^ look(4, l))
            ^ (look(3, e) ^ look(2, f) ^ look(1, g) ^ look(0, h));
    }
    rest.iter().fold(crc, |crc, &byte| crc << 8 ^ TABLES[0][usize::from((crc >> 24) as u8 ^ byte)])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of CRC-32/BZIP2, and pieces of any size.
    #[test]
    fn it_is_the_checksum_of_bzip2() {
        assert_eq!(!update(!0, b"123456789"), 0xfc89_1918);
        let bytes: Vec<u8> = (0..1000u32).map(|at| (at * at / 7) as u8).collect();
        let whole = update(!0, &bytes);
        for cut in 0..30 {
            assert_eq!(update(update(!0, &bytes[..cut]), &bytes[cut..]), whole);
        }
    }
}
