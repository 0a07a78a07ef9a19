//! Pairs of boxes against element after element.

use super::*;

/// The elements of a selection in its order, by the definition.
fn listed(selection: &SpaceSelection, shape: &[u64]) -> Vec<Vec<u64>> {
    let all = || {
        let mut list = vec![Vec::new()];
        for &len in shape {
            let longer = |at: &Vec<u64>| (0..len).map(|n| [&at[..], &[n]].concat()).collect::<Vec<_>>();
            list = list.iter().flat_map(longer).collect();
        }
        list.into_iter()
    };
    match selection {
        SpaceSelection::None => Vec::new(),
        SpaceSelection::All => all().collect(),
        SpaceSelection::Points { rank, coords } => coords.chunks(*rank).map(<[u64]>::to_vec).collect(),
        SpaceSelection::Regular(dims) => {
            let inside = |(at, dim): (&u64, &HyperslabDim)| {
                let starts = (0..dim.count).map(|n| dim.start + n * dim.stride);
                starts.into_iter().any(|start| (start..start + dim.block).contains(at))
            };
            all().filter(|at| at.iter().zip(dims).all(inside)).collect()
        }
        SpaceSelection::Boxes { rank, corners } => {
            let inside = |at: &[u64], corner: &[u64]| {
                (0..*rank).all(|dim| (corner[dim]..=corner[rank + dim]).contains(&at[dim]))
            };
            all().filter(|at| corners.chunks(2 * rank).any(|corner| inside(at, corner))).collect()
        }
    }
}

/// The elements of a strided box in dense order.
fn elements_of(selection: &Selection) -> Vec<Vec<u64>> {
    let mut list = vec![Vec::new()];
    for ((&start, &count), &stride) in selection.start.iter().zip(&selection.count).zip(&selection.stride) {
        let longer =
            |at: &Vec<u64>| (0..count).map(|n| [&at[..], &[start + n * stride]].concat()).collect::<Vec<_>>();
        list = list.iter().flat_map(longer).collect();
    }
    list
}

/// Aligns two selections, checks that every element has its partner, and gives the number of pairs.
fn check(here: &SpaceSelection, here_shape: &[u64], there: &SpaceSelection, there_shape: &[u64]) -> usize {
    let wanted = listed(here, here_shape).into_iter().zip(listed(there, there_shape));
    let mut wanted: Vec<_> = wanted.collect();
    let pairs = align(&products(here, here_shape).unwrap(), &products(there, there_shape).unwrap()).unwrap();
    let mut found = Vec::new();
    for (here, there) in &pairs {
        let wide = |selection: &Selection| -> Vec<u64> {
            selection.count.iter().copied().filter(|&count| count != 1).collect()
        };
        assert_eq!(wide(here), wide(there));
        found.extend(elements_of(here).into_iter().zip(elements_of(there)));
    }
    wanted.sort();
    found.sort();
    assert_eq!(found, wanted, "{here:?} {there:?}");
    pairs.len()
}

fn regular(dims: &[[u64; 4]]) -> SpaceSelection {
    let blocks = |&[start, stride, count, block]: &[u64; 4]| HyperslabDim { start, stride, count, block };
    SpaceSelection::Regular(dims.iter().map(blocks).collect())
}

#[test]
fn boxes_of_the_same_shape_are_one_pair() {
    let all = SpaceSelection::All;
    assert_eq!(check(&regular(&[[2, 3, 1, 3], [1, 1, 4, 1]]), &[6, 6], &all, &[3, 4]), 1);
    assert_eq!(check(&regular(&[[2, 1, 1, 1], [1, 2, 4, 1]]), &[6, 9], &all, &[4]), 1);
    assert_eq!(check(&all, &[3, 1, 4], &regular(&[[0, 3, 3, 1], [5, 1, 1, 4]]), &[9, 9]), 1);
    assert_eq!(check(&all, &[], &regular(&[[3, 1, 1, 1]]), &[4]), 1);
    assert_eq!(check(&SpaceSelection::None, &[4], &SpaceSelection::None, &[]), 0);
}

#[test]
fn blocks_are_cut_the_cheaper_way() {
    // Two places in each of five blocks, or five blocks of two.
    assert_eq!(check(&regular(&[[1, 4, 5, 2]]), &[30], &SpaceSelection::All, &[10]), 2);
    assert_eq!(check(&regular(&[[1, 9, 2, 5]]), &[30], &SpaceSelection::All, &[10]), 2);
    assert_eq!(check(&regular(&[[1, 4, 5, 2]]), &[30], &regular(&[[0, 3, 5, 2]]), &[30]), 2);
    assert_eq!(check(&regular(&[[1, 4, 6, 2]]), &[30], &regular(&[[0, 5, 4, 3]]), &[30]), 8);
}

#[test]
fn other_shapes_are_cut_into_runs() {
    let all = SpaceSelection::All;
    assert_eq!(check(&all, &[2, 6], &all, &[12]), 2);
    assert_eq!(check(&all, &[4, 6], &all, &[6, 4]), 12);
    assert_eq!(check(&all, &[2, 6, 3], &all, &[12, 3]), 2);
    assert_eq!(check(&all, &[12, 3], &all, &[2, 2, 3, 3]), 4);
    assert_eq!(check(&regular(&[[0, 3, 2, 2], [1, 2, 3, 1]]), &[6, 6], &all, &[12]), 4);
}

#[test]
fn irregular_selections_keep_their_order() {
    let all = SpaceSelection::All;
    let boxes = |rank, corners: &[u64]| SpaceSelection::Boxes { rank, corners: corners.to_vec() };
    // Side by side: rows alternate between the two.
    let two = boxes(2, &[0, 0, 1, 1, 0, 5, 1, 6]);
    check(&two, &[2, 8], &all, &[2, 4]);
    check(&two, &[2, 8], &boxes(2, &[0, 1, 1, 2, 0, 6, 1, 7]), &[2, 8]);
    // A corner cut out, and one box in two parts.
    check(&boxes(2, &[0, 0, 1, 3, 2, 0, 3, 1]), &[5, 5], &all, &[12]);
    assert_eq!(check(&boxes(2, &[0, 0, 1, 3, 2, 0, 3, 3]), &[5, 5], &all, &[4, 4]), 1);
    check(&boxes(3, &[0, 0, 0, 1, 1, 1, 1, 2, 0, 2, 2, 3]), &[3, 4, 4], &all, &[16]);
}

#[test]
fn points_keep_their_order() {
    let points = |rank, coords: &[u64]| SpaceSelection::Points { rank, coords: coords.to_vec() };
    assert_eq!(check(&points(1, &[5, 6, 7, 2, 1]), &[8], &SpaceSelection::All, &[5]), 3);
    check(&points(2, &[1, 1, 1, 2, 0, 3, 2, 0]), &[3, 4], &regular(&[[0, 2, 2, 1], [0, 1, 2, 1]]), &[3, 3]);
}

#[test]
fn random_products_agree() {
    let mut state = 1u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut tried = 0;
    while tried < 400 {
        let mut side = || -> (SpaceSelection, Vec<u64>) {
            let dims: Vec<[u64; 4]> = (0..=random(3))
                .map(|_| {
                    let block = 1 + random(3);
                    [random(3), block + random(3), 1 + random(3), block]
                })
                .collect();
            let shape = dims.iter().map(|[start, stride, count, block]| start + (count - 1) * stride + block);
            (regular(&dims), shape.collect())
        };
        let ((here, here_shape), (there, there_shape)) = (side(), side());
        if listed(&here, &here_shape).len() == listed(&there, &there_shape).len() {
            check(&here, &here_shape, &there, &there_shape);
            tried += 1;
        }
    }
}

#[test]
fn counts_must_agree_and_have_limits() {
    let all = |len| vec![vec![Dim::run(0, len)]];
    assert!(align(&all(4), &all(5)).is_err());
    let square = |a, b| vec![vec![Dim::run(0, a), Dim::run(0, b)]];
    // No common divisor: as many pairs as elements.
    assert!(align(&square(1_000_003, 1_000_033), &square(1_000_033, 1_000_003)).is_err());
    assert!(align(&square(u64::MAX, u64::MAX), &square(u64::MAX, u64::MAX)).is_err());
}
