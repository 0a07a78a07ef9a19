//! Line breaking.
//!
//! A piece that does not fit goes to a new line as a whole. The state is small and copied freely, since rows start at
//! known positions and are formatted independently.

/// Position in the line, and its bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// Bytes in the line so far.
    pub(super) position: usize,
    /// Blanks before each line; they depend on the depth of the group.
    pub(super) indent: usize,
    most: usize,
}

/// Blanks at the start of a continued line.
const CONTINUED: usize = 4;

impl Line {
    /// Creates the state for lines of at most `length` bytes.
    pub(super) fn new(length: usize) -> Self {
        // Two bytes are reserved for the end of the statement.
        Line { position: 0, indent: 0, most: length.saturating_sub(2) }
    }

    /// True if a piece of this many bytes goes to a new line. Punctuation of at most two bytes never does.
    #[inline]
    pub(super) fn breaks_before(&self, bytes: usize) -> bool {
        bytes + self.position > self.most && bytes > 2
    }

    /// Begins a new line.
    pub(super) fn start(&mut self, out: &mut Vec<u8>) {
        out.push(b'\n');
        out.resize(out.len() + self.indent + CONTINUED, b' ');
        self.position = self.indent + CONTINUED;
    }

    /// Updates the position for the piece that was appended at `start`, and moves it to a new line if it does not fit.
    #[inline]
    pub(super) fn fit(&mut self, start: usize, out: &mut Vec<u8>) {
        let bytes = out.len() - start;
        if self.breaks_before(bytes) {
            let shift = 1 + self.indent + CONTINUED;
            out.resize(out.len() + shift, b' ');
            out.copy_within(start..start + bytes, start + shift);
            out[start] = b'\n';
            out[start + 1..start + shift].fill(b' ');
            self.position = self.indent + CONTINUED;
        }
        self.position += bytes;
        if out.last() == Some(&b'\n') {
            self.position = self.indent;
        }
    }

    /// Appends a piece.
    pub(super) fn put(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(piece);
        if !piece.is_empty() {
            self.fit(start, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_move_to_the_next_line_as_a_whole() {
        let mut line = Line { indent: 2, ..Line::new(12) };
        let mut out = vec![];
        for piece in ["abcd, ", "efgh", ", ", "x", "yz, ", ",\n", "  "] {
            line.put(piece.as_bytes(), &mut out);
        }
        assert_eq!(String::from_utf8(out).unwrap(), "abcd, efgh, x\n      yz, ,\n  ");
        assert_eq!(line.position, 4);
    }
}
