//! Where the bytes of files lie: files that are made with their metadata in front, what the others cost, and what formats can tell.

use std::sync::Arc;
use std::time::Duration;

use ferrocdf::store::ranges::total;
use ferrocdf::store::testing::Simulated;
use ferrocdf::store::{Cost, MemoryStore, ObjectBlob, Store};
use ferrocdf::{Atomic, CreateOptions, DataModel, File, FileMut, Format, OpenOptions, VarId};

/// Rows of a variable, and values of a row.
const ROWS: u64 = 24;
const ROW: usize = 500;

/// A file of `count` variables on records, each with three attributes, whose rows are chunks, written row by row through all variables.
fn records(count: u64, reserves: bool) -> Vec<u8> {
    let file = FileMut::in_memory(&CreateOptions::format(Format::NETCDF4)).unwrap();
    file.add_unlimited_dimension("time").unwrap();
    file.add_dimension("x", ROW as u64).unwrap();
    for number in 0..count {
        let var = file.build_variable(&format!("v{number}"), Atomic::Int, &["time", "x"]);
        let var = var.chunks(&[1, ROW as u64]).create().unwrap();
        for (name, value) in
            [("units", "m"), ("long_name", "a name that is long"), ("cell_methods", "time: mean")]
        {
            var.put_attribute(name, value).unwrap();
        }
    }
    if reserves {
        let chunks: Vec<(VarId, u64)> = file.model().var_ids().map(|var| (var, ROWS)).collect();
        file.reserve_indexes(&chunks).unwrap();
    }
    for row in 0..ROWS {
        for number in 0..count {
            let values = vec![(row * 1000 + number) as i32; ROW];
            file.variable_mut(&format!("v{number}")).unwrap().put_values(&values, (row, ..)).unwrap();
        }
        if !reserves && row % 8 == 0 {
            file.sync().unwrap();
        }
    }
    file.into_bytes().unwrap().unwrap()
}

#[test]
fn metadata_lies_in_front_where_indexes_were_reserved() {
    let (spread, front) = (records(20, false), records(20, true));
    let [spread, front] = [spread, front].map(|bytes| File::from_bytes(bytes).unwrap());
    for file in [&spread, &front] {
        for (number, var) in (0..).zip(file.model().var_ids()) {
            let values: Vec<i32> = file.variable_of(var).get_values((.., 0)).unwrap();
            let wanted: Vec<i32> = (0..ROWS as i32).map(|row| row * 1000 + number).collect();
            assert_eq!(values, wanted);
        }
    }
    let [spread, front] = [spread, front].map(|file| file.layout().unwrap());
    assert_eq!((spread.is_metadata_first(), front.is_metadata_first()), (Some(false), Some(true)));
    for layout in [&spread, &front] {
        assert!(layout.unreadable.is_none());
        assert!(layout.variables.iter().all(|var| var.chunks == Some(ROWS) && var.chunk_bytes == Some(2000)));
        let data = 20 * ROWS * 2000;
        let metadata = total(layout.metadata.as_ref().unwrap());
        let unused = total(layout.unused.as_ref().unwrap());
        assert_eq!(metadata + unused + data, layout.size.unwrap());
    }
    // What is reserved is as large as the indexes are.
    assert!(total(front.unused.as_ref().unwrap()) < 100, "{:?}", front.unused);
}

#[test]
fn thousand_variables_with_metadata_in_front_open_with_few_requests() {
    let bytes = records(1000, true);
    let store = MemoryStore::default();
    store.put("a.nc", &bytes).unwrap();
    let store = Arc::new(Simulated::new(store, Cost::REMOTE, Duration::ZERO));
    let file =
        File::from_blob(Arc::new(ObjectBlob::new(store.clone(), "a.nc")), &OpenOptions::default()).unwrap();
    assert_eq!(file.model().vars().len(), 1000);
    let opening = store.take_traffic();
    let values: Vec<i32> = file.variable("v700").unwrap().get_values((20, ..)).unwrap();
    assert_eq!(values, [20_700; ROW]);
    let step = store.take_traffic();
    assert!(opening.rounds <= 2 && opening.requests <= 2, "{opening:?}");
    assert!(step.rounds <= 2, "{step:?}");
}

#[test]
fn formats_tell_what_they_know() {
    let made = |format: Format| {
        let file = FileMut::in_memory(&CreateOptions::format(format)).unwrap();
        file.add_unlimited_dimension("time").unwrap();
        file.add_dimension("x", 1 << 19).unwrap();
        file.add_variable::<f32>("area", &["x"]).unwrap();
        for name in ["a", "b"] {
            file.add_variable::<f32>(name, &["time", "x"]).unwrap();
        }
        file.add_variable::<i32>("crs", &[]).unwrap();
        file.variable_mut("area").unwrap().put_values(&vec![1.0f32; 1 << 19], ..).unwrap();
        for row in 0..8_u64 {
            for name in ["a", "b"] {
                file.variable_mut(name).unwrap().put_values(&vec![1.0f32; 1 << 19], (row, ..)).unwrap();
            }
        }
        File::from_bytes(file.into_bytes().unwrap().unwrap()).unwrap().layout().unwrap()
    };
    let classic = made(Format::OFFSET64);
    assert_eq!((classic.is_metadata_first(), classic.open[0].requests), (Some(true), 1));
    let [_, a, _, crs] = &classic.variables[..] else { panic!("four variables") };
    assert_eq!((a.chunks, a.chunk_bytes, crs.step.len()), (None, None, 0));
    // A row of 2 MiB in blocks of 1 MiB, at no multiple of them. Rows of `b` lie between those of `a`: two of `a` are in each of four blocks
    // of 8 MiB, the first of which was read to open the file.
    assert_eq!((a.step[1].requests, a.series[1].requests, a.series[0].requests), (3, 8, 3));
    let netcdf4 = made(Format::NETCDF4);
    let [area, a, ..] = &netcdf4.variables[..] else { panic!("four variables") };
    assert_eq!(area.chunk_shape, None);
    assert!(a.chunks.is_some_and(|count| count >= 8) && a.index.len() == 1);
    assert!(area.series[1].requests >= 2 && area.step[1].requests <= 1, "{area:?}");
    let zarr = Format::new(ferrocdf::Container::ZarrV3, DataModel::Netcdf4);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zarr");
    let file = FileMut::create(&path, &CreateOptions::format(zarr)).unwrap();
    file.add_dimension("x", 100).unwrap();
    file.add_dimension("y", 60).unwrap();
    file.build_variable("v", Atomic::Int, &["x", "y"]).chunks(&[10, 20]).create().unwrap();
    file.close().unwrap();
    let layout = File::open(&path).unwrap().layout().unwrap();
    assert!(layout.size.is_none() && layout.metadata.is_none() && layout.unused.is_none());
    let v = &layout.variables[0];
    assert_eq!(
        (v.chunks, v.chunk_bytes, v.step[0].requests, v.series[1].requests),
        (Some(30), Some(800), 3, 10)
    );
}
