//! What opening and reading cost on a slow source.

use std::sync::Arc;
use std::time::Duration;

use ferrocdf_array::{Out, Selection, read};
use ferrocdf_codec::Codecs;
use ferrocdf_hdf4::File;
use ferrocdf_hdf4::sd::Datasets;
use ferrocdf_store::testing::Simulated;
use ferrocdf_store::{Blob, Cost, MemoryStore, ObjectBlob, Store};

use crate::big;
use crate::build::{Builder, INT16, RLE};

#[test]
fn a_granule_of_40_datasets_and_1200_chunks_opens_in_8_rounds() {
    let mut builder = Builder::default();
    let (y, x) = (builder.dim("y", Some(30)), builder.dim("x", Some(500)));
    let mut vars = vec![];
    for number in 0..40i16 {
        // Bytes as they are, which take as much room as data that compresses badly.
        let encoded = |row: u32| -> Vec<u8> {
            let numbers: Vec<i16> = (0..500).map(|at| at * 37 + number + row as i16).collect();
            big(&numbers).chunks(128).flat_map(|part| [&[part.len() as u8 - 1][..], part].concat()).collect()
        };
        let chunks: Vec<(Vec<u32>, Vec<u8>)> = (0..30).map(|row| (vec![row, 0], encoded(row))).collect();
        let data = builder.chunked(&[30, 500], &[1, 500], Some(RLE), &chunks);
        let units = builder.attribute("units", 4, 1, b"K");
        let scale = builder.attribute("scale_factor", 6, 8, &0.5f64.to_be_bytes());
        vars.push(builder.dataset(&format!("v{number}"), &[y, x], INT16, Some(data), &[units, scale]));
    }
    builder.cdf(&[y, x], &vars, &[]);
    // As HDF-EOS writes it: 16 descriptors in a block, so some 170 blocks in a chain.
    let bytes = builder.finish(16);
    let store = MemoryStore::default();
    store.put("granule", &bytes).unwrap();
    let store = Arc::new(Simulated::new(store, Cost::REMOTE, Duration::ZERO));
    let blob: Arc<dyn Blob> = Arc::new(ObjectBlob::new(store.clone(), "granule"));
    let file = File::open(blob, None, Codecs::default()).unwrap();
    let found = Datasets::read(&file).unwrap();
    assert_eq!((found.vars.len(), found.unreadable.len()), (40, 0));
    assert_eq!(found.vars[39].attributes.len(), 2);
    let opening = store.take_traffic();
    assert!(opening.rounds <= 8, "{opening:?} for {} bytes", bytes.len());
    // The headers of all chunks are one batch.
    let shape = found.vars[7].shape.clone();
    let located = found.vars[7].locate(&file, shape.clone()).unwrap();
    let mut out = vec![0i16; 15_000];
    let _ =
        read(&*located.blob.unwrap(), &located.array, &Selection::all(&shape), Out::new(&mut out)).unwrap();
    assert_eq!(out[500..502], [8, 45]);
    let reading = store.take_traffic();
    assert!(reading.rounds <= 6, "{reading:?}");
}
