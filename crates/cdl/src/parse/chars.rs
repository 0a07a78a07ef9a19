//! Text into arrays of characters.
//!
//! The last dimension is the length of a text: each constant is padded to a multiple of it, and the whole to the size
//! of the array. Characters in single quotes that follow each other are one text. Not taken over from the reference:
//! it drops a text that follows such characters, counts the records of an unlimited dimension before it pads (and then
//! cuts), and crashes when there is more text than room.

use ferrocdf_model::Atomic;

use super::constant::{Const, Item};
use super::declare::{Parsed, Parser};

impl Parser<'_> {
    /// The character that pads: the first of the `_FillValue`, else zero.
    pub fn fill_char(&self, fill: Option<&Item>) -> u8 {
        fill.and_then(|item| item.value.to_chars()).and_then(|chars| chars.first().copied()).unwrap_or(0)
    }

    /// The character of a variable without dimensions: the first of a text, or a number's low byte.
    pub fn single_char(&mut self, item: &Item, fill: Option<&Item>) -> Parsed<u8> {
        Ok(match &item.value {
            Const::Text(text) => text.first().copied().unwrap_or(0),
            Const::Fill => self.fill_char(fill),
            _ => self.number::<i8>(item, 0, Atomic::Char.into())? as u8,
        })
    }

    /// The characters of an array of `rank` dimensions whose last has the length `unit`, at most `total` of them.
    /// Without `total`, whole units.
    pub fn characters(
        &mut self,
        items: &[Item],
        rank: usize,
        unit: u64,
        total: Option<u64>,
        fill: Option<&Item>,
    ) -> Parsed<Vec<u8>> {
        let unit = usize::try_from(unit).unwrap_or(usize::MAX).max(1);
        // A unit that no constant fills is left to be filled up by the caller.
        let pad_to = if unit > 1 << 24 { 1 } else { unit };
        let room = usize::try_from(total.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        let pad = self.fill_char(fill);
        let mut leaves = vec![];
        self.leaves(items, rank, 1, &mut leaves)?;
        let mut chars: Vec<u8> = vec![];
        let joined = leaves.iter().filter(|item| is_character(item)).count() > 1;
        let mut open = false;
        for item in &leaves {
            if joined && is_character(item) {
                chars.extend(item.value.to_chars().unwrap_or_default());
                open = true;
                continue;
            }
            if std::mem::take(&mut open) {
                pad_unit(&mut chars, pad_to, pad);
            }
            let before = chars.len();
            match (&item.value, item.value.to_chars()) {
                (_, Some(bytes)) => chars.extend_from_slice(&bytes),
                (Const::Fill, _) => chars.push(pad),
                _ => {
                    let what = "Encountered non-string and non-char constant in datalist; ignored";
                    self.warn(item.line, what);
                    continue;
                }
            }
            if chars.len() == before {
                // An empty text takes a unit too.
                chars.push(pad);
            }
            pad_unit(&mut chars, pad_to, pad);
        }
        if open {
            pad_unit(&mut chars, pad_to, pad);
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

    /// The constants of nested lists in their order.
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

fn pad_unit(chars: &mut Vec<u8>, unit: usize, pad: u8) {
    chars.resize(chars.len().next_multiple_of(unit), pad);
}
