//! No byte of metadata is read twice while a local file is opened with all its attributes, and all its elements are read.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use ferrocdf::model::{Atomic, Chunking, Filter};
use ferrocdf::store::ranges::total;
use ferrocdf::store::{Blob, Cost, MemoryBlob, ReadRequest, Suffix};
use ferrocdf::{CreateOptions, File, FileMut, Format, OpenOptions, Owner, Selection, Values};

use crate::requests::unpacked;

/// A local file that records which ranges are read.
struct ReadRanges {
    bytes: MemoryBlob,
    read: Mutex<Vec<Range<u64>>>,
}

impl ReadRanges {
    fn record(&self, at: u64, len: usize) {
        self.read.lock().unwrap().push(at..at + len as u64);
    }
}

impl Blob for ReadRanges {
    ferrocdf::store::forward!([.bytes] size name forget expect_pages change_token is_nameless);

    fn read_at(&self, at: u64, into: &mut [u8]) -> ferrocdf::Result<usize> {
        let len = self.bytes.read_at(at, into)?;
        self.record(at, len);
        Ok(len)
    }

    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> ferrocdf::Result<()> {
        self.bytes.read_many(requests)?;
        requests.iter().for_each(|request| self.record(request.at, request.len));
        Ok(())
    }

    fn read_suffix(&self, into: &mut [u8]) -> ferrocdf::Result<Suffix> {
        let suffix = self.bytes.read_suffix(into)?;
        self.record(suffix.size - suffix.len as u64, suffix.len);
        Ok(suffix)
    }

    fn cost(&self) -> Cost {
        Cost::LOCAL
    }
}

/// Opens a file, reads all of it, and checks how often each byte of metadata was read. Returns the bytes of metadata.
fn check(what: &str, bytes: Vec<u8>) -> u64 {
    let extents = ferrocdf_hdf5::extents(Arc::new(MemoryBlob::new(bytes.clone()))).unwrap();
    assert_eq!(extents.unreadable, None, "{what}");
    let indexes = extents.datasets.iter().flat_map(|dataset| dataset.index.clone());
    let metadata: Vec<_> = extents.metadata.into_iter().chain(extents.collections).chain(indexes).collect();
    let mut times = vec![0u32; bytes.len()];
    let recorded = Arc::new(ReadRanges { bytes: MemoryBlob::new(bytes), read: Mutex::default() });
    let file = File::from_blob(recorded.clone(), &OpenOptions::default().all_attributes(true)).unwrap();
    let model = file.model();
    for owner in model.group_ids().map(Owner::Group).chain(model.var_ids().map(Owner::Var)) {
        assert!(model.attrs(owner).failure().is_none(), "{what}");
    }
    for var in model.var_ids() {
        file.read_selected(var, &Selection::all(&model.shape(var))).unwrap();
    }
    for range in recorded.read.lock().unwrap().iter() {
        times[range.start as usize..range.end as usize].iter_mut().for_each(|times| *times += 1);
    }
    for range in &metadata {
        let most = times[range.start as usize..range.end as usize].iter().max();
        assert_eq!(most, Some(&1), "{what}: metadata at bytes {range:?}");
    }
    total(&metadata)
}

/// A file of many small variables, and of variables that grow together, so that chunks, indexes and heaps lie among each other.
fn grown(steps: u64) -> Vec<u8> {
    let file = FileMut::in_memory(&CreateOptions::format(Format::NETCDF4)).unwrap();
    file.add_unlimited_dimension("time").unwrap();
    file.add_dimension("x", 3000).unwrap();
    for name in ["a", "b", "c"] {
        file.add_variable::<f32>(name, &["time", "x"]).unwrap();
    }
    file.add_variable::<i64>("fixed", &["x"]).unwrap();
    file.add_variable_of(Atomic::String, "names", &["time"]).unwrap();
    for number in 0..300 {
        let name = format!("small{number}");
        let variable = file.add_variable::<f64>(&name, &[]).unwrap();
        for attribute in 0..12 {
            variable.put_attribute(&format!("attribute{attribute}"), "some words about it").unwrap();
        }
    }
    file.define(|model| {
        for (name, filter) in
            [("a", None), ("b", Some((Filter::DEFLATE, vec![1]))), ("c", Some((Filter::SHUFFLE, vec![])))]
        {
            let var = model.find_var(ferrocdf::GroupId::ROOT, name.as_bytes()).unwrap();
            let storage = &mut model.var_mut(var).storage;
            storage.chunking = Some(Chunking::Chunked(vec![1, 1000]));
            storage.filters = filter.into_iter().map(|(id, params)| Filter { id, params }).collect();
        }
        Ok(())
    })
    .unwrap();
    let find = |name: &str| file.model().find_var(ferrocdf::GroupId::ROOT, name.as_bytes()).unwrap();
    for step in 0..steps {
        for name in ["a", "b", "c"] {
            let values = (0..3000).map(|x| (x as u64 * 7919 % 1009 + step) as f32).collect();
            let _exact =
                file.write_values(find(name), &[step, 0], &[1, 3000], &Values::Float(values)).unwrap();
        }
        let name = Values::String(vec![Some(format!("step {step}").into())]);
        let _exact = file.write_values(find("names"), &[step], &[1], &name).unwrap();
        if step % 20 == 0 {
            file.sync().unwrap();
        }
    }
    file.into_bytes().unwrap().unwrap()
}

#[test]
fn no_byte_of_metadata_is_read_twice() {
    // Files of netCDF-C: 250 variables with 20 attributes each, and one of many chunks.
    assert!(check("many.z", unpacked("many.z")) > 1_000_000);
    assert!(check("chunks.z", unpacked("chunks.z")) > 10_000);
    assert!(check("grown", grown(200)) > 300_000);
}
