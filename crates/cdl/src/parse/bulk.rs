//! Fast parsing of long runs of plain numbers.
//!
//! Most of a large text is `1.5, 2.25, 3, …`. This module reads such runs without tokens: it cuts a window of text at
//! commas into one part per processor, and parses each part into a list of numbers. Any value that is not a plain
//! number ends the run, and the lexer reads that value; so this module accepts only a subset of what the lexer accepts,
//! with the same result. A real with up to 19 digits is its digits times or divided by a power of ten, which is
//! correctly rounded while both are exact in a double; all other reals go to `fast-float2`.

use super::constant::ParsedNumber;
use super::source::TextSource;

/// Window of the first attempt, and after a stop, in bytes.
const SHORT: usize = 4 << 10;
/// Largest window, in bytes.
const LONG: usize = 8 << 20;
/// Bytes from which on text is split among threads.
const SPLIT_FROM: usize = 256 << 10;

/// Reason why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Before the `;`.
    Semicolon,
    /// Before a value that is not plain, or the end of the text.
    Stopped,
    /// Before a value, because the callback asked to stop.
    Paused,
}

/// Reader of runs. Its window adapts to the length of the last runs.
pub(super) struct Bulk {
    window: usize,
    threads: usize,
}

impl Default for Bulk {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Bulk { window: SHORT, threads }
    }
}

/// Result of parsing one part of the text.
struct Run<T> {
    values: Vec<T>,
    /// Bytes consumed: up to and including the last comma that follows a value, or up to the semicolon.
    used: usize,
    lines: u32,
    end: Option<End>,
}

impl Bulk {
    /// Reads plain values, from a position where a value is expected. Passes lists of them to `give`, which returns
    /// whether to continue.
    ///
    /// `fill` is the value of `_`. If `narrow`, integers of more than 32 bits are not plain.
    pub fn read<T: ParsedNumber>(
        &mut self,
        source: &mut TextSource<'_>,
        fill: T,
        narrow: bool,
        mut give: impl FnMut(Vec<T>) -> bool,
    ) -> End {
        loop {
            let wanted = self.window;
            let window = source.window(wanted);
            let text = &window[..window.len().min(2 * wanted)];
            let Some(last) = text.iter().rposition(|&byte| byte == b',' || byte == b';') else {
                let whole = source.at_last_window();
                if whole || wanted >= LONG {
                    self.window = SHORT;
                    return End::Stopped;
                }
                self.window *= 4;
                continue;
            };
            let runs = self.parts(&text[..=last], fill, narrow);
            let (mut used, mut lines, mut end, mut more) = (0, 0, None, true);
            for run in runs {
                used += run.used;
                lines += run.lines;
                if !run.values.is_empty() {
                    more &= give(run.values);
                }
                if run.end.is_some() {
                    end = run.end;
                    break;
                }
            }
            source.advance(used);
            source.line += lines;
            match end {
                Some(end) => {
                    self.window = SHORT;
                    return end;
                }
                None => self.window = (self.window * 4).min(LONG),
            }
            if !more {
                return End::Paused;
            }
        }
    }

    /// Parses a text that ends with a comma or semicolon, in parallel if it is long.
    fn parts<T: ParsedNumber>(&self, text: &[u8], fill: T, narrow: bool) -> Vec<Run<T>> {
        if self.threads < 2 || text.len() < SPLIT_FROM {
            return vec![run(text, fill, narrow)];
        }
        let mut parts = vec![];
        let mut rest = text;
        for left in (1..=self.threads).rev() {
            let about = rest.len() / left;
            let cut =
                rest[about..].iter().position(|&byte| byte == b',').map_or(rest.len(), |at| about + at + 1);
            let (part, behind) = rest.split_at(if left == 1 { rest.len() } else { cut });
            parts.push(part);
            rest = behind;
        }
        let (first, others) = parts.split_at(1);
        std::thread::scope(|scope| {
            let workers: Vec<_> =
                others.iter().map(|part| scope.spawn(move || run(part, fill, narrow))).collect();
            let mut runs = vec![run(first[0], fill, narrow)];
            for worker in workers {
                // A part whose thread panicked counts as stopped at its start; the lexer reads its text.
                let stopped = Run { values: vec![], used: 0, lines: 0, end: Some(End::Stopped) };
                runs.push(worker.join().unwrap_or(stopped));
            }
            runs
        })
    }
}

const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// Parses a text that ends with a comma or semicolon.
fn run<T: ParsedNumber>(text: &[u8], fill: T, narrow: bool) -> Run<T> {
    let mut values = Vec::with_capacity(text.len() / 6);
    let (mut used, mut lines, mut passed) = (0, 0, 0);
    let mut at = 0;
    let end = loop {
        let Some(value) = value(text, &mut at, &mut passed, fill, narrow) else { break End::Stopped };
        blanks(text, &mut at, &mut passed);
        match text.get(at) {
            Some(b',') => {
                values.push(value);
                at += 1;
                (used, lines) = (at, passed);
                if at == text.len() {
                    return Run { values, used, lines, end: None };
                }
            }
            Some(b';') => {
                values.push(value);
                (used, lines) = (at, passed);
                break End::Semicolon;
            }
            _ => break End::Stopped,
        }
    };
    Run { values, used, lines, end: Some(end) }
}

#[inline]
fn blanks(text: &[u8], at: &mut usize, lines: &mut u32) {
    while let Some(&byte) = text.get(*at) {
        match byte {
            b'\n' => *lines += 1,
            b' ' | b'\t' | b'\r' | b'\x0c' => {}
            _ => return,
        }
        *at += 1;
    }
}

/// Reads one plain value and moves `at` behind it; `None` if the value is not plain.
#[inline]
fn value<T: ParsedNumber>(text: &[u8], at: &mut usize, lines: &mut u32, fill: T, narrow: bool) -> Option<T> {
    blanks(text, at, lines);
    let start = *at;
    let mut place = start;
    let mut byte = *text.get(place)?;
    if byte == b'_' {
        place += 1;
        let plain = matches!(text.get(place)?, b',' | b';' | b' ' | b'\n' | b'\t' | b'\r');
        *at = place;
        return plain.then_some(fill);
    }
    let negative = byte == b'-';
    if negative || byte == b'+' {
        place += 1;
        byte = *text.get(place)?;
    }
    let digits_start = place;
    let mut digits = 0u64;
    while byte.is_ascii_digit() {
        digits = digits.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
        place += 1;
        byte = *text.get(place)?;
    }
    let whole = place - digits_start;
    if !matches!(byte, b'.' | b'e' | b'E') {
        let octal = whole > 1 && text[digits_start] == b'0';
        if whole == 0 || whole > 18 || octal || (narrow && digits > i32::MAX as u64) || !ends(byte) {
            return None;
        }
        *at = place;
        return Some(match (negative, digits) {
            (true, 0) => T::from_f64(-0.0),
            (true, _) => T::from_i64(-(digits as i64)),
            (false, _) => T::from_i64(digits as i64),
        });
    }
    let mut exponent = 0i32;
    let mut count = whole;
    if byte == b'.' {
        place += 1;
        byte = *text.get(place)?;
        let fraction_start = place;
        while byte.is_ascii_digit() {
            digits = digits.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
            place += 1;
            byte = *text.get(place)?;
        }
        let fraction = place - fraction_start;
        count += fraction;
        exponent = -i32::try_from(fraction).ok()?;
    }
    if count == 0 {
        return None;
    }
    if matches!(byte, b'e' | b'E') {
        place += 1;
        byte = *text.get(place)?;
        let down = byte == b'-';
        if down || byte == b'+' {
            place += 1;
            byte = *text.get(place)?;
        }
        let exponent_start = place;
        let mut written = 0i32;
        while byte.is_ascii_digit() {
            written = written.saturating_mul(10).saturating_add(i32::from(byte - b'0'));
            place += 1;
            byte = *text.get(place)?;
        }
        if place == exponent_start {
            return None;
        }
        exponent = exponent.saturating_add(if down { -written } else { written });
    }
    let number = &text[start..place];
    if matches!(byte, b'f' | b'F') {
        if !ends(*text.get(place + 1)?) {
            return None;
        }
        *at = place + 1;
        return fast_float2::parse(number).ok().map(T::from_f32);
    }
    if !ends(byte) {
        return None;
    }
    *at = place;
    if count <= 19 && digits < 1 << 53 && exponent.unsigned_abs() <= 22 {
        let size = digits as f64;
        let power = POWERS[exponent.unsigned_abs() as usize];
        let size = if exponent < 0 { size / power } else { size * power };
        return Some(T::from_f64(if negative { -size } else { size }));
    }
    fast_float2::parse(number).ok().map(T::from_f64)
}

#[inline]
fn ends(byte: u8) -> bool {
    matches!(byte, b',' | b';' | b' ' | b'\n' | b'\t' | b'\r' | b'\x0c')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, threads: usize) -> (Vec<f64>, End, String, u32) {
        let mut source = TextSource::new(Box::new(std::io::Cursor::new(text.as_bytes().to_vec())));
        let mut bulk = Bulk { window: SHORT, threads };
        let mut values = vec![];
        let end = bulk.read(&mut source, -1.0, true, |mut list| {
            values.append(&mut list);
            true
        });
        let rest = String::from_utf8_lossy(source.window(20)).into_owned();
        (values, end, rest, source.line)
    }

    #[test]
    fn a_run_ends_at_the_semicolon_or_before_the_first_odd_value() {
        assert_eq!(
            read("1, -2 ,\n.5,3.,-0, _,1e3;x", 1),
            (vec![1., -2., 0.5, 3., 0., -1., 1000.], End::Semicolon, ";x".into(), 2)
        );
        assert_eq!(read("1,\n2 // two\n, 3;", 1), (vec![1.], End::Stopped, "\n2 // two\n, 3;".into(), 1));
        for odd in
            ["010", "NaN", "1b", "3000000000", "\"2\"", "{2}", "+", ".", "1e", "1.5d", "'a'", "_x", "1.x"]
        {
            let (values, end, rest, _) = read(&format!("7,{odd},8;"), 1);
            assert_eq!((values, end), (vec![7.], End::Stopped), "{odd}");
            assert_eq!(rest, format!("{odd},8;"));
        }
    }

    #[test]
    fn a_negative_zero_keeps_its_sign() {
        let (values, ..) = read("-0, 0, -0., -0;", 1);
        let signs: Vec<bool> = values.iter().map(|value| value.is_sign_negative()).collect();
        assert_eq!(signs, [true, false, true, true]);
    }

    #[test]
    fn reals_are_correctly_rounded() {
        let mut state = 7u64;
        let mut texts = vec![];
        for _ in 0..20_000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let value = f64::from_bits(state);
            if value.is_finite() {
                let places = (state % 19) as usize;
                texts.push(format!("{value:.places$e}"));
                texts.push(format!("{:.places$}", (state >> 40) as f64 / 1e3));
            }
        }
        let (values, ..) = read(&format!("{};", texts.join(", ")), 1);
        assert_eq!(values.len(), texts.len());
        for (value, text) in values.iter().zip(&texts) {
            let whole = !text.contains(['.', 'e']);
            assert!(whole || value.to_bits() == text.parse::<f64>().unwrap().to_bits(), "{text}");
        }
    }

    #[test]
    fn parts_join_without_a_seam() {
        let numbers: Vec<String> = (0..400_000).map(|n| format!("{n}.25")).collect();
        let text = format!("{};", numbers.join(",\n "));
        let (values, end, rest, line) = read(&text, 3);
        assert_eq!((end, rest.as_str(), line), (End::Semicolon, ";", 400_000));
        assert!(values.iter().enumerate().all(|(n, &value)| value == n as f64 + 0.25));
        // A value that is not plain, late in the text: all values before it are kept, none after it.
        let text = format!("{}, NaN, {};", numbers.join(", "), numbers.join(","));
        let (values, end, rest, _) = read(&text, 3);
        assert_eq!((values.len(), end), (400_000, End::Stopped));
        assert!(rest.starts_with(" NaN, 0.25"));
    }
}
