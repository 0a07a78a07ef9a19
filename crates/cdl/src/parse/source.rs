//! Text of the parser, read in windows.
//!
//! One buffer holds the current window. As the lexer moves on, the text before the position is dropped and more text is
//! read, so a text of any size needs the memory of its longest token. The file is not mapped into memory: truncation of
//! the file would end the process, and pipes cannot be mapped.

use std::io::{ErrorKind, Read};

use ferrocdf_bytes::{Code, Error, Result};

/// Initial size of the buffer, in bytes.
const SMALL: usize = 64 << 10;
/// Longest token, in bytes.
const LONGEST: usize = 1 << 28;

/// Text with a current position.
pub(super) struct TextSource<'a> {
    input: Box<dyn Read + 'a>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
    failed: Option<Error>,
    /// Line of the position, from 1.
    pub line: u32,
}

impl<'a> TextSource<'a> {
    pub fn new(input: Box<dyn Read + 'a>) -> Self {
        let buffer = vec![0; SMALL];
        TextSource { input, buffer, start: 0, end: 0, ended: false, failed: None, line: 1 }
    }

    /// Returns the byte `ahead` bytes after the position; `None` after the end of the text.
    pub fn peek(&mut self, ahead: usize) -> Option<u8> {
        if self.start + ahead >= self.end {
            self.fill(ahead + 1);
        }
        self.buffer[self.start..self.end].get(ahead).copied()
    }

    /// Returns the buffer from the position on: at least `wanted` bytes, unless the text ends before.
    pub fn window(&mut self, wanted: usize) -> &[u8] {
        if self.end - self.start < wanted {
            self.fill(wanted);
        }
        &self.buffer[self.start..self.end]
    }

    /// True if the window reaches the end of the text.
    pub fn at_last_window(&self) -> bool {
        self.ended
    }

    /// Advances the position by `count` bytes, which are in the buffer.
    pub fn advance(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
    }

    /// Takes the error that ended the text early.
    pub fn take_error(&mut self) -> Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }

    fn fill(&mut self, wanted: usize) {
        if self.ended {
            return;
        }
        if wanted > LONGEST {
            self.fail(Error::new(Code::EINVAL, format!("a word or text of more than {LONGEST} bytes")));
            return;
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.buffer.len() < wanted.max(SMALL) {
            self.buffer.resize(wanted.next_power_of_two(), 0);
        }
        while self.end < wanted && !self.ended {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => self.fail(Error::system(error, "reading CDL")),
            }
        }
    }

    fn fail(&mut self, error: Error) {
        self.failed = Some(error);
        self.ended = true;
    }
}

#[cfg(test)]
mod tests {
    use ferrocdf_bytes::errno;

    use super::*;

    /// Reader that returns one byte at a time.
    struct Drip(std::io::Cursor<Vec<u8>>);

    impl Read for Drip {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let most = into.len().min(1);
            self.0.read(&mut into[..most])
        }
    }

    #[test]
    fn windows_and_positions_agree() {
        let text: Vec<u8> = (0..200_000u32).map(|at| (at % 251) as u8).collect();
        let mut source = TextSource::new(Box::new(Drip(std::io::Cursor::new(text.clone()))));
        let mut at = 0;
        while at < text.len() {
            assert_eq!(source.peek(3), text.get(at + 3).copied());
            let window = source.window(70_000);
            assert_eq!(window, &text[at..at + window.len()]);
            assert!(window.len() >= (text.len() - at).min(70_000));
            source.advance(9_973);
            at += 9_973;
        }
        assert_eq!(source.peek(0), None);
        assert!(source.take_error().is_ok());
    }

    #[test]
    fn a_failing_input_is_an_error() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
                Err(std::io::Error::from_raw_os_error(errno::IO.0))
            }
        }
        let mut source = TextSource::new(Box::new(Broken));
        assert_eq!(source.peek(0), None);
        assert_eq!(source.take_error().unwrap_err().code, errno::IO);
    }
}
