//! The boxes that data is copied in: whole blocks of both files where they are stored in blocks, so that each block is
//! unpacked once and packed once, and never more than fits a number of bytes.

use ferrocdf_array::Selection;

/// Cuts a box into tiles that take at most `most` elements each, or one of `unit` if that is more; they begin at multiples
/// of a tile. The fastest dimensions are taken whole first.
pub struct Tiles {
    whole: Selection,
    tile: Vec<u64>,
    /// Where the next one begins; `None` behind the last.
    next: Option<Vec<u64>>,
}

impl Tiles {
    /// The tiles of a box. A unit has a length for each dimension, none of them 0.
    pub fn new(whole: Selection, unit: &[u64], most: u64) -> Tiles {
        let mut tile: Vec<u64> = unit.iter().zip(&whole.count).map(|(&unit, &len)| unit.min(len)).collect();
        for dim in (0..tile.len()).rev() {
            let others = tile.iter().enumerate().filter(|&(other, _)| other != dim);
            let others = others.fold(1u64, |count, (_, &len)| count.saturating_mul(len)).max(1);
            let units = (most / others / unit[dim]).max(1);
            tile[dim] = unit[dim].saturating_mul(units).min(whole.count[dim]);
            if tile[dim] < whole.count[dim] {
                break;
            }
        }
        let next = (!whole.count.contains(&0)).then(|| whole.start.to_vec());
        Tiles { whole, tile, next }
    }
}

impl Iterator for Tiles {
    type Item = Selection;

    fn next(&mut self) -> Option<Selection> {
        let start = self.next.take()?;
        let ends = self.whole.start.iter().zip(&self.whole.count).map(|(start, count)| start + count);
        let ends: Vec<u64> = ends.collect();
        let lens = start.iter().zip(&self.tile).zip(&ends);
        let count: Vec<u64> = lens.map(|((start, tile), end)| (*tile).min(end - start)).collect();
        // Counts like an odometer.
        let mut after = start.clone();
        for dim in (0..after.len()).rev() {
            after[dim] += count[dim];
            if after[dim] < ends[dim] {
                self.next = Some(after);
                break;
            }
            after[dim] = self.whole.start[dim];
        }
        Some(Selection::slab(&start, &count))
    }
}

/// The smallest box made of whole blocks of both shapes, if it has at most `most` elements; else a block of the target,
/// of the source, or one element, whichever is the first that fits. No blocks are `None`.
pub fn unit(shape: &[u64], source: Option<&[u64]>, target: Option<&[u64]>, most: u64) -> Vec<u64> {
    let fits = |unit: &Vec<u64>| {
        let lens = unit.iter().zip(shape).map(|(&unit, &len)| unit.min(len));
        lens.fold(1, u64::saturating_mul) <= most
    };
    let both = source.zip(target).map(|(a, b)| a.iter().zip(b).map(|(&a, &b)| multiple(a, b)).collect());
    let each = [target, source].map(|blocks| blocks.map(<[u64]>::to_vec));
    let mut units = std::iter::once(both).chain(each).flatten();
    units.find(fits).unwrap_or_else(|| vec![1; shape.len()])
}

/// The least common multiple of two lengths.
pub fn multiple(a: u64, b: u64) -> u64 {
    let (mut large, mut small) = (a, b);
    while small != 0 {
        (large, small) = (small, large % small);
    }
    (a / large.max(1)).saturating_mul(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiles(start: &[u64], count: &[u64], unit: &[u64], most: u64) -> Vec<(Vec<u64>, Vec<u64>)> {
        let tiles = Tiles::new(Selection::slab(start, count), unit, most);
        tiles.map(|tile| (tile.start.to_vec(), tile.count.to_vec())).collect()
    }

    #[test]
    fn tiles_are_whole_blocks_and_cover_the_box() {
        // Two blocks of 2 x 3 side by side fill the bytes; what is over at the borders is smaller.
        let all = tiles(&[0, 0], &[3, 8], &[2, 3], 12);
        let wanted = [([0, 0], [2, 6]), ([0, 6], [2, 2]), ([2, 0], [1, 6]), ([2, 6], [1, 2])];
        assert_eq!(all, wanted.map(|(start, count)| (start.to_vec(), count.to_vec())));
        // Whole rows, several at a time.
        assert_eq!(
            tiles(&[4, 0], &[5, 3], &[1, 1], 7),
            [(vec![4, 0], vec![2, 3]), (vec![6, 0], vec![2, 3]), (vec![8, 0], vec![1, 3])]
        );
        // One block is taken however large it is.
        assert_eq!(tiles(&[0], &[7], &[4], 1), [(vec![0], vec![4]), (vec![4], vec![3])]);
        // A scalar, and nothing at all.
        assert_eq!(tiles(&[], &[], &[], 5), [(vec![], vec![])]);
        assert_eq!(tiles(&[0, 0], &[0, 4], &[1, 1], 5), []);
    }

    #[test]
    fn units_are_blocks_of_both_where_they_fit() {
        let of = |most| unit(&[240, 720], Some(&[24, 180]), Some(&[240, 36]), most);
        assert_eq!(of(240 * 180), [240, 180]);
        assert_eq!(of(240 * 180 - 1), [240, 36]);
        assert_eq!(of(240 * 36 - 1), [24, 180]);
        assert_eq!(of(24 * 180 - 1), [1, 1]);
        assert_eq!(unit(&[10], None, Some(&[4]), 9), [4]);
        // Blocks reach beyond a small array.
        assert_eq!(unit(&[10], Some(&[1024]), Some(&[1000]), 10), [128_000]);
    }
}
