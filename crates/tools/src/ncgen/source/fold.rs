//! Lines of Fortran 77: six blanks, at most 66 characters, and a mark on the lines that go on.
//!
//! Text comes in pieces of any size and only the present line is held. Comments and empty lines stay as they are.

use std::io::{self, Write};

/// Characters of a statement on one line.
const WIDTH: usize = 66;

/// Takes lines and writes them folded.
pub(super) struct Fold<'a> {
    out: &'a mut dyn Write,
    /// What is known of the present line and not written yet: at most [`WIDTH`] characters.
    line: Vec<u8>,
    /// Whether the present line is one that goes on from another.
    goes_on: bool,
    /// Whether the present line is a comment.
    comment: bool,
    /// Whether no line was written since the last [`Fold::part`].
    fresh: bool,
}

impl<'a> Fold<'a> {
    pub fn new(out: &'a mut dyn Write) -> Self {
        Fold { out, line: vec![], goes_on: false, comment: false, fresh: true }
    }

    /// Starts a part of the program; a part does not start with an empty line.
    pub fn part(&mut self) {
        self.fresh = true;
    }

    /// An empty line, except at the start of a part.
    pub fn blank(&mut self) -> io::Result<()> {
        if self.fresh { Ok(()) } else { self.out.write_all(b"\n") }
    }

    fn byte(&mut self, byte: u8) -> io::Result<()> {
        self.fresh = false;
        if byte == b'\n' {
            if self.goes_on && self.line.len() == WIDTH {
                self.cut()?;
            }
            if self.goes_on || !self.line.is_empty() {
                self.start()?;
            }
            self.line.push(b'\n');
            self.out.write_all(&self.line)?;
            self.line.clear();
            (self.goes_on, self.comment) = (false, false);
            return Ok(());
        }
        if self.line.is_empty() && !self.goes_on {
            self.comment = byte == b'*';
        }
        if self.line.len() == WIDTH && !self.comment {
            self.cut()?;
        }
        self.line.push(byte);
        Ok(())
    }

    /// What stands before the text of a line.
    fn start(&mut self) -> io::Result<()> {
        match (self.goes_on, self.comment) {
            (true, _) => self.out.write_all(b"     1"),
            (_, true) => Ok(()),
            _ => self.out.write_all(b"      "),
        }
    }

    /// Writes a full line that goes on, but does not end it with a backslash.
    fn cut(&mut self) -> io::Result<()> {
        let end = if self.line.last() == Some(&b'\\') { WIDTH - 1 } else { WIDTH };
        self.start()?;
        self.out.write_all(&self.line[..end])?;
        self.out.write_all(b"\n")?;
        self.line.drain(..end);
        self.goes_on = true;
        Ok(())
    }
}

impl Write for Fold<'_> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        text.iter().try_for_each(|&byte| self.byte(byte))?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        let mut out = vec![];
        let mut fold = Fold::new(&mut out);
        fold.blank().unwrap();
        fold.write_all(text.as_bytes()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn long_lines_go_on() {
        let long = "x".repeat(66);
        assert_eq!(folded(&format!("{long}\n")), format!("      {long}\n"));
        assert_eq!(folded(&format!("{long}y\n")), format!("      {long}\n     1y\n"));
        // The reference takes the line's end for a character from the second line on.
        assert_eq!(folded(&format!("{long}{long}\n")), format!("      {long}\n     1{long}\n     1\n"));
        let escape = format!("{}\\", "x".repeat(65));
        assert_eq!(folded(&format!("{escape}n\n")), format!("      {}\n     1\\n\n", "x".repeat(65)));
    }

    #[test]
    fn comments_stay_whole() {
        let long = format!("* {}\n", "x".repeat(100));
        assert_eq!(folded(&long), long);
    }
}
