//! Annotations of objects: labels and texts (Specification, "DFTAG_DIL" and "DFTAG_DIA").
#![deny(clippy::arithmetic_side_effects)]

use std::collections::HashMap;

use crate::wire::until_zero;
use crate::{File, tags};

/// The labels and texts of a file, by the object that they are about.
#[derive(Debug, Default)]
pub struct Annotations(HashMap<(u16, u16, u16), Vec<Vec<u8>>>);

impl Annotations {
    /// Reads the annotations of all objects. What cannot be read is no annotation.
    pub fn read(file: &File) -> Annotations {
        let kinds = [tags::DIL, tags::DIA];
        let all: Vec<(u16, u16)> = kinds
            .iter()
            .flat_map(|&kind| file.descriptors_of(kind).map(move |found| (kind, found.reference)))
            .collect();
        let mut found: HashMap<_, Vec<_>> = HashMap::new();
        for (&(kind, _), bytes) in all.iter().zip(file.for_each(&all, |&(kind, at)| file.bytes(kind, at))) {
            // Tag and reference number of the object, then the text.
            if let Ok(Some(bytes)) = bytes
                && let Some((&[a, b, c, d], text)) = bytes.split_first_chunk::<4>()
            {
                let object = (kind, u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
                found.entry(object).or_default().push(until_zero(text).to_vec());
            }
        }
        Annotations(found)
    }

    /// Returns the annotations of a kind that an object has, in the order of their reference numbers.
    pub fn of(&self, kind: u16, tag: u16, reference: u16) -> &[Vec<u8>] {
        self.0.get(&(kind, tag, reference)).map_or(&[], Vec::as_slice)
    }
}
