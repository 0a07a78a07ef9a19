//! The values of a column, and which rows have them.

use super::physical;

/// The values of a column, each once for each time that it is stored.
#[derive(Debug, Default, PartialEq)]
pub(in crate::references) enum Values {
    /// No value is stored: all rows are null.
    #[default]
    None,
    /// Integers of 32 or 64 bits.
    Integers(Vec<i64>),
    /// Bytes, and where each value ends among them.
    Bytes(Vec<u8>, Vec<u32>),
}

/// A column.
#[derive(Debug, Default, PartialEq)]
pub(in crate::references) struct Column {
    /// The number of the value in each row; [`Column::NULL`] for a row without one.
    pub(in crate::references) rows: Vec<u32>,
    /// The values.
    pub(in crate::references) values: Values,
}

impl Values {
    /// Returns the number of values.
    pub(super) fn len(&self) -> usize {
        match self {
            Values::None => 0,
            Values::Integers(numbers) => numbers.len(),
            Values::Bytes(_, ends) => ends.len(),
        }
    }
}

impl Column {
    /// The number of a row without a value.
    pub(in crate::references) const NULL: u32 = u32::MAX;

    /// Returns the number of the value in a row; `None` for a row that is null or missing.
    pub(in crate::references) fn index(&self, row: usize) -> Option<usize> {
        self.rows.get(row).filter(|&&index| index != Self::NULL).map(|&index| index as usize)
    }

    /// Returns the bytes of memory that the column takes.
    pub(in crate::references) fn memory(&self) -> usize {
        let values = match &self.values {
            Values::None => 0,
            Values::Integers(numbers) => size_of_val(&numbers[..]),
            Values::Bytes(bytes, ends) => bytes.len() + size_of_val(&ends[..]),
        };
        values + size_of_val(&self.rows[..])
    }

    /// Returns a value that is an integer, by its number.
    pub(in crate::references) fn integer(&self, index: usize) -> Option<i64> {
        match &self.values {
            Values::Integers(numbers) => numbers.get(index).copied(),
            _ => None,
        }
    }

    /// Returns a value of bytes, by its number.
    pub(in crate::references) fn bytes(&self, index: usize) -> Option<&[u8]> {
        match &self.values {
            Values::Bytes(bytes, ends) => {
                let start = index.checked_sub(1).map_or(Some(0), |before| ends.get(before).copied())?;
                bytes.get(start as usize..*ends.get(index)? as usize)
            }
            _ => None,
        }
    }
}

/// Returns the values of a physical type, before the first one is read.
pub(super) fn values_of(physical: i64) -> Values {
    match physical {
        physical::INT32 | physical::INT64 => Values::Integers(vec![]),
        physical::BYTE_ARRAY => Values::Bytes(vec![], vec![]),
        _ => Values::None,
    }
}
