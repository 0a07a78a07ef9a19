//! Powers of ten to 128 bits, computed at compile time.
//!
//! Each power is truncated, not rounded: the true power is in `[P, P + 1)` units of the last bit; the error bound in
//! [`super::float`] relies on this. There is no literal table: its numbers could not be verified by reading.

/// The smallest exponent in the table.
const FIRST: i32 = -310;
/// The largest exponent in the table.
const LAST: i32 = 345;
/// 10^0 to 10^55 fit into 128 bits exactly.
const LAST_EXACT: i32 = 55;

/// Number of words of the long numbers: 10^345 has 1147 bits, and 10^-310 needs 1030 + 128 of them.
const WORDS: usize = 20;

static TABLE: [u128; (LAST - FIRST + 1) as usize] = table();

const fn table() -> [u128; (LAST - FIRST + 1) as usize] {
    let mut table = [0; (LAST - FIRST + 1) as usize];
    let mut long = [0u64; WORDS];
    long[0] = 1;
    let mut exponent = 0;
    while exponent <= LAST {
        table[(exponent - FIRST) as usize] = top_bits(&long);
        let (mut at, mut carry) = (0, 0u128);
        while at < WORDS {
            let wide = long[at] as u128 * 10 + carry;
            long[at] = wide as u64;
            carry = wide >> 64;
            at += 1;
        }
        exponent += 1;
    }
    // Truncation after each division gives the same result as one truncated division by the whole power.
    long = [0; WORDS];
    long[WORDS - 1] = 1 << 63;
    exponent = -1;
    while exponent >= FIRST {
        let (mut at, mut rest) = (WORDS, 0u128);
        while at > 0 {
            at -= 1;
            let wide = (rest << 64) | long[at] as u128;
            long[at] = (wide / 10) as u64;
            rest = wide % 10;
        }
        table[(exponent - FIRST) as usize] = top_bits(&long);
        exponent -= 1;
    }
    table
}

/// Returns the 128 bits from the highest set bit on.
const fn top_bits(long: &[u64; WORDS]) -> u128 {
    let mut top = WORDS - 1;
    while long[top] == 0 {
        top -= 1;
    }
    let shift = long[top].leading_zeros();
    let mut bits = (long[top] as u128) << 64;
    if top >= 1 {
        bits |= long[top - 1] as u128;
    }
    bits <<= shift;
    if top >= 2 && shift > 0 {
        bits |= (long[top - 2] >> (64 - shift)) as u128;
    }
    bits
}

/// Returns the power as `(p, e, exact)`: 10^exponent is in `[p, p + 1) * 2^e`, and equals `p * 2^e` if `exact`.
///
/// # Panics
/// If the exponent is outside -310 to 345.
pub(super) const fn power_of_ten(exponent: i32) -> (u128, i32, bool) {
    let bits = (exponent * 1_741_647) >> 19; // floor(log2(10^exponent)) for |exponent| <= 1233
    (TABLE[(exponent - FIRST) as usize], bits - 127, exponent >= 0 && exponent <= LAST_EXACT)
}

/// First and last power of ten among the normal numbers in double precision.
const FIRST_LEAST: i32 = -307;
const LAST_LEAST: i32 = 308;

static LEAST: [f64; (LAST_LEAST - FIRST_LEAST + 2) as usize] = {
    // The entry after the last power is above all numbers.
    let mut least = [f64::INFINITY; (LAST_LEAST - FIRST_LEAST + 2) as usize];
    let mut exponent = FIRST_LEAST;
    while exponent <= LAST_LEAST {
        let (power, power_exponent, exact) = power_of_ten(exponent);
        let cut = (power >> 75) as u64;
        let rounded_up = cut + (!exact || power << 53 != 0) as u64;
        let bits = ((power_exponent + 127 + 1023) as u64) << 52;
        // A carry out of the fraction increments the exponent, which is the correct result.
        least[(exponent - FIRST_LEAST) as usize] = f64::from_bits(bits + (rounded_up - (1 << 52)));
        exponent += 1;
    }
    least
};

/// Returns the smallest number in double precision that is not below 10^exponent.
///
/// # Panics
/// If the exponent is outside -307 to 309.
pub(super) fn least_from_power_of_ten(exponent: i32) -> f64 {
    LEAST[(exponent - FIRST_LEAST) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_powers_are_exact() {
        let mut power = 1u128;
        for exponent in 0..=38 {
            let (bits, shift, exact) = power_of_ten(exponent);
            assert!(exact);
            assert_eq!(bits, power << power.leading_zeros(), "10^{exponent}");
            assert_eq!(shift, -(power.leading_zeros() as i32), "10^{exponent}");
            power = power.wrapping_mul(10);
        }
        assert!(!power_of_ten(56).2 && !power_of_ten(-1).2);
    }

    #[test]
    fn thresholds_lie_at_powers() {
        for exponent in FIRST_LEAST..=LAST_LEAST {
            let least = least_from_power_of_ten(exponent);
            let nearest: f64 = format!("1e{exponent}").parse().unwrap();
            let next = f64::from_bits(nearest.to_bits() + 1);
            assert!(least == nearest || least == next, "10^{exponent}");
            // The exact digits show on which side of the power the nearest number is.
            let below = !format!("{nearest:.800e}").starts_with('1');
            assert_eq!(least == next, below, "10^{exponent}");
        }
        assert_eq!(least_from_power_of_ten(309), f64::INFINITY);
    }

    #[test]
    fn a_power_and_its_inverse_multiply_to_just_under_one() {
        for exponent in 1..=310 {
            let (up, up_shift, _) = power_of_ten(exponent);
            let (down, down_shift, _) = power_of_ten(-exponent);
            assert!(up >> 127 == 1 && down >> 127 == 1);
            // (up >> 64) * (down >> 64) * 2^(128 + shifts) is below 1 and above 1 - 2^-61.
            let product = (up >> 64) * (down >> 64);
            let one = 1u128.checked_shl((-(128 + up_shift + down_shift)) as u32);
            let missing = match one {
                Some(one) => one - product,
                None => product.wrapping_neg(), // one is 2^128
            };
            assert!(missing < 1 << 67, "10^{exponent}: {missing:x}");
        }
    }
}
