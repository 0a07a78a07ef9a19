//! Parsing as by C's `scanf`.

/// Position in a text.
#[derive(Clone, Copy)]
pub(super) struct Scan<'a> {
    rest: &'a [u8],
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0B
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Scan { rest: text }
    }

    /// Skips white space.
    pub(super) fn spaces(&mut self) {
        let count = self.rest.iter().take_while(|&&byte| is_space(byte)).count();
        self.skip(count);
    }

    /// Skips this many bytes.
    pub(super) fn skip(&mut self, count: usize) {
        self.rest = &self.rest[count.min(self.rest.len())..];
    }

    /// Skips exactly these bytes and returns true; otherwise the position stays.
    pub(super) fn literal(&mut self, text: &[u8]) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Takes the next run of bytes that are not white space.
    pub(super) fn word(&mut self) -> Option<&'a [u8]> {
        self.spaces();
        let count = self.rest.iter().take_while(|&&byte| !is_space(byte)).count();
        let (word, rest) = self.rest.split_at(count);
        self.rest = rest;
        (count > 0).then_some(word)
    }

    /// Takes a decimal integer with an optional sign; its magnitude is limited to a billion.
    pub(super) fn integer(&mut self) -> Option<i64> {
        const MOST: i64 = 1_000_000_000;
        self.spaces();
        let negative = self.rest.first() == Some(&b'-');
        if let Some(b'-' | b'+') = self.rest.first() {
            self.skip(1);
        }
        let count = self.digits();
        let number = self.rest[..count]
            .iter()
            .fold(0, |number: i64, digit| (number * 10 + i64::from(digit - b'0')).min(MOST));
        self.skip(count);
        (count > 0).then_some(if negative { -number } else { number })
    }

    fn digits(&self) -> usize {
        self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    }

    /// Takes a decimal number.
    pub(super) fn real(&mut self) -> Option<f64> {
        self.spaces();
        let start = self.rest;
        if let Some(b'-' | b'+') = self.rest.first() {
            self.skip(1);
        }
        self.skip(self.digits());
        if self.rest.first() == Some(&b'.') {
            self.skip(1);
            self.skip(self.digits());
        }
        let mut power = *self;
        if let Some(b'e' | b'E') = power.rest.first() {
            power.skip(1);
            if let Some(b'-' | b'+') = power.rest.first() {
                power.skip(1);
            }
            if power.digits() > 0 {
                power.skip(power.digits());
                *self = power;
            }
        }
        let text = &start[..start.len() - self.rest.len()];
        std::str::from_utf8(text).ok()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_words() {
        let mut scan = Scan::new(b"  days since -12-+3 x 1.5e1Z 99999999999999999999");
        assert_eq!(scan.word(), Some(&b"days"[..]));
        scan.spaces();
        assert!(!scan.literal(b"Since") && scan.literal(b"since"));
        assert_eq!(scan.integer(), Some(-12));
        assert!(scan.literal(b"-"));
        assert_eq!(scan.integer(), Some(3));
        assert_eq!(scan.integer(), None);
        scan.skip(1);
        assert_eq!(scan.real(), Some(15.0));
        assert_eq!(scan.word(), Some(&b"Z"[..]));
        assert_eq!(scan.integer(), Some(1_000_000_000));
        assert_eq!(scan.word(), None);
    }
}
