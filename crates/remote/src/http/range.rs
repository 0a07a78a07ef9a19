//! Ranges as HTTP writes them (RFC 9110, section 14).

/// The range of a request as it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WireRange {
    /// No header: the whole object.
    Whole,
    /// From `start` to `last`, which is the position of the last byte.
    Bytes { start: u64, last: u64 },
    /// The last bytes, at least one.
    Suffix(u64),
}

impl WireRange {
    /// Returns the value of the header `Range`.
    pub(crate) fn header(self) -> Option<String> {
        match self {
            WireRange::Whole => None,
            WireRange::Bytes { start, last } => Some(format!("bytes={start}-{last}")),
            WireRange::Suffix(len) => Some(format!("bytes=-{len}")),
        }
    }

    /// Returns the positions of the first byte and behind the last one in an object of `total` bytes; `None` if it has none of
    /// the bytes.
    pub(crate) fn within(self, total: u64) -> Option<(u64, u64)> {
        let (start, end) = match self {
            WireRange::Whole => return Some((0, total)),
            WireRange::Bytes { start, last } => (start, last.saturating_add(1).min(total)),
            WireRange::Suffix(len) => (total.saturating_sub(len), total),
        };
        (start < end).then_some((start, end))
    }
}

/// The header `Content-Range`: `bytes 0-9/100`, or `bytes */100` of an answer 416.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContentRange {
    /// Positions of the first byte and behind the last one.
    pub range: Option<(u64, u64)>,
    /// Size of the object, if the server knows it.
    pub total: Option<u64>,
}

impl ContentRange {
    pub(crate) fn parse(text: &str) -> Option<ContentRange> {
        let (unit, rest) = text.trim().split_once(' ')?;
        let (range, total) = rest.trim().split_once('/')?;
        if !unit.eq_ignore_ascii_case("bytes") {
            return None;
        }
        let total = match total.trim() {
            "*" => None,
            digits => Some(parse_number(digits)?),
        };
        let range = match range.trim() {
            "*" => None,
            range => {
                let (first, last) = range.split_once('-')?;
                let (first, last) = (parse_number(first.trim())?, parse_number(last.trim())?);
                let end = last.checked_add(1).filter(|&end| first < end)?;
                Some((first, end))
            }
        };
        let fits = range.zip(total).is_none_or(|((_, end), total)| end <= total);
        fits.then_some(ContentRange { range, total })
    }
}

/// Parses decimal digits without a sign, which `parse` would take.
pub(crate) fn parse_number(digits: &str) -> Option<u64> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ranges_are_parsed_strictly() {
        let found = |range, total| Some(ContentRange { range, total });
        assert_eq!(ContentRange::parse("bytes 0-9/100"), found(Some((0, 10)), Some(100)));
        assert_eq!(ContentRange::parse("Bytes 99-99/100"), found(Some((99, 100)), Some(100)));
        assert_eq!(ContentRange::parse("bytes 5-9/*"), found(Some((5, 10)), None));
        assert_eq!(ContentRange::parse("bytes */0"), found(None, Some(0)));
        for wrong in [
            "",
            "bytes",
            "bytes 0-9",
            "items 0-9/100",
            "bytes 9-0/100",
            "bytes 0-100/100",
            "bytes +0-9/100",
            "bytes 0-18446744073709551615/*",
            "bytes a-b/c",
        ] {
            assert_eq!(ContentRange::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn ranges_are_cut_at_the_end_of_the_object() {
        assert_eq!(WireRange::Bytes { start: 3, last: 9 }.within(5), Some((3, 5)));
        assert_eq!(WireRange::Bytes { start: 5, last: 9 }.within(5), None);
        assert_eq!(WireRange::Bytes { start: 0, last: u64::MAX }.within(5), Some((0, 5)));
        assert_eq!(WireRange::Suffix(9).within(5), Some((0, 5)));
        assert_eq!(WireRange::Suffix(9).within(0), None);
        assert_eq!(WireRange::Whole.within(0), Some((0, 0)));
        assert_eq!(WireRange::Suffix(7).header().as_deref(), Some("bytes=-7"));
    }
}
