//! Chunk keys (Zarr v2, "Storage specification"; Zarr v3 core, "Chunk key encoding").

use std::fmt::Write;

/// The rule by which chunks get their keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkKeys {
    /// True for the encoding `default` of version 3: `c/1/2`. False for `1.2`.
    pub has_prefix: bool,
    /// `.` or `/`.
    pub separator: char,
    /// The coordinates of the first chunk; empty for zeros.
    pub first: Vec<u64>,
}

impl ChunkKeys {
    /// Returns the key of a chunk, relative to that of its array.
    pub fn key(&self, chunk: &[u64]) -> String {
        let mut key = String::from(if self.has_prefix { "c" } else { "" });
        for (dim, at) in chunk.iter().enumerate() {
            if dim > 0 || self.has_prefix {
                key.push(self.separator);
            }
            let first = self.first.get(dim).copied().unwrap_or(0);
            // Writing to a string does not fail.
            let _ = write!(key, "{}", first.saturating_add(*at));
        }
        if key.is_empty() {
            key.push('0');
        }
        key
    }
}

/// Returns the key of what has this key within a folder; an empty folder is the outermost one.
pub fn within(folder: &str, key: &str) -> String {
    if folder.is_empty() { key.to_string() } else { format!("{folder}/{key}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_both_encodings() {
        for (has_prefix, separator, chunk, key) in [
            (true, '/', &[1, 20][..], "c/1/20"),
            (true, '.', &[1, 20], "c.1.20"),
            (true, '/', &[], "c"),
            (false, '.', &[1, 20], "1.20"),
            (false, '/', &[1, 20], "1/20"),
            (false, '.', &[], "0"),
        ] {
            assert_eq!(ChunkKeys { has_prefix, separator, first: vec![] }.key(chunk), key);
        }
        let second = ChunkKeys { has_prefix: true, separator: '/', first: vec![3, 1] };
        assert_eq!(second.key(&[0, 2]), "c/3/3");
    }
}
