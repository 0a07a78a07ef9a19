//! Conversion of text to arrays of characters.
//!
//! The last dimension is the length of a text: each constant is padded to a multiple of it, and all together to the
//! size of the array. Consecutive characters in single quotes form one text. Defects of `ncgen` that are not
//! reproduced: it drops a text that follows such characters, counts the records of an unlimited dimension before it
//! pads (and then truncates), and crashes if there is more text than space.

use ferrocdf_model::Atomic;

use super::constant::{Const, Item};
use super::parser::{Parsed, Parser};

impl Parser<'_> {
    /// Returns the padding character: the first of the `_FillValue`, else zero.
    pub fn fill_char(&self, fill: Option<&Item>) -> u8 {
        fill.and_then(|item| item.value.to_chars()).and_then(|chars| chars.first().copied()).unwrap_or(0)
    }

    /// Returns the character of a scalar variable: the first of a text, or the low byte of a number.
    pub fn single_char(&mut self, item: &Item, fill: Option<&Item>) -> Parsed<u8> {
        Ok(match &item.value {
            Const::Text(text) => text.first().copied().unwrap_or(0),
            Const::Fill => self.fill_char(fill),
            _ => self.number::<i8>(item, 0, Atomic::Char.into())? as u8,
        })
    }

    /// Returns the characters of an array of `rank` dimensions whose last has the length `unit`, at most `total` of
    /// them. Without `total`, a whole number of units.
    pub fn characters(
        &mut self,
        items: &[Item],
        rank: usize,
        unit: u64,
        total: Option<u64>,
        fill: Option<&Item>,
    ) -> Parsed<Vec<u8>> {
        let unit = usize::try_from(unit).unwrap_or(usize::MAX).max(1);
        // The caller pads units that are larger than any constant.
        let pad_to = if unit > 1 << 24 { 1 } else { unit };
        let room = usize::try_from(total.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        let pad = self.fill_char(fill);
        let mut leaves = vec![];
        self.leaves(items, rank, 1, &mut leaves)?;
        let mut units = self.units(&leaves, pad);
        let padded =
            |units: &[Vec<u8>]| units.iter().map(|unit| unit.len().next_multiple_of(pad_to)).sum::<usize>();
        if padded(&units) > room {
            let rejoined = join_lines(&units, unit);
            if padded(&rejoined) == room {
                units = rejoined;
            }
        }
        let mut chars = Vec::with_capacity(padded(&units));
        for unit in units {
            chars.extend_from_slice(&unit);
            chars.resize(chars.len().next_multiple_of(pad_to), pad);
        }
        if chars.len() > room {
            let line = leaves.first().map_or(self.line(), |item| item.line);
            let found = chars.len();
            self.warn(
                line,
                &format!("character data list too long; expected {room} character constant, found {found}: "),
            );
            chars.truncate(room);
        }
        Ok(chars)
    }

    /// Returns the texts that are padded separately. Consecutive characters form one text.
    fn units(&mut self, leaves: &[&Item], pad: u8) -> Vec<Vec<u8>> {
        let mut units: Vec<Vec<u8>> = vec![];
        let mut open = false;
        for item in leaves {
            let text = match (&item.value, item.value.to_chars()) {
                (_, Some(chars)) => chars,
                (Const::Fill, _) => vec![pad],
                _ => {
                    let what = "Encountered non-string and non-char constant in datalist; ignored";
                    self.warn(item.line, what);
                    continue;
                }
            };
            match units.last_mut().filter(|_| open && is_character(item)) {
                Some(last) => last.extend_from_slice(&text),
                // An empty text is padded too.
                None => units.push(if text.is_empty() { vec![pad] } else { text }),
            }
            open = is_character(item);
        }
        units
    }

    /// Collects the constants of nested lists in order.
    fn leaves<'i>(
        &mut self,
        items: &'i [Item],
        rank: usize,
        depth: usize,
        into: &mut Vec<&'i Item>,
    ) -> Parsed<()> {
        for item in items {
            match &item.value {
                Const::List(inner) if depth < rank => self.leaves(inner, rank, depth + 1, into)?,
                Const::List(_) => {
                    return Err(self.fatal(item.line, "Expected character constant, found {...}"));
                }
                _ => into.push(item),
            }
        }
        Ok(())
    }
}

fn is_character(item: &Item) -> bool {
    matches!(item.value, Const::Int(Atomic::Byte, _))
}

/// Joins texts that the printer split: it ends a piece after each line end inside a text, so pieces and texts look
/// alike. Used only if there is too much text otherwise.
fn join_lines(units: &[Vec<u8>], len: usize) -> Vec<Vec<u8>> {
    let mut joined: Vec<Vec<u8>> = vec![];
    for unit in units {
        match joined.last_mut().filter(|last| last.ends_with(b"\n") && last.len() + unit.len() <= len) {
            Some(last) => last.extend_from_slice(unit),
            None => joined.push(unit.clone()),
        }
    }
    joined
}
