//! HDF4 files through the facade: model, values, copies, what is skipped, rounds on a slow store.

#[path = "../../../hdf4/tests/it/build.rs"]
#[allow(dead_code)] // The crate hdf4 uses the rest.
mod build;

use std::sync::Arc;
use std::time::Duration;

use ferrocdf::model::{Chunking, Endian, Filter};
use ferrocdf::store::testing::Simulated;
use ferrocdf::store::{Cost, MemoryStore, Store};
use ferrocdf::{
    Atomic, Code, Container, CreateOptions, File, FileMut, Format, GroupId, Location, OpenOptions, Owner,
    Type, Values, copy_data,
};
use ferrocdf_codec::{Chain, Codecs, Step};
use ferrocdf_hdf4::tags;

use build::{Builder, DEFLATE, INT16};

fn deflated(numbers: &[i16]) -> Vec<u8> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
    let step = Step { id: 1.into(), name: String::new(), optional: false, params: vec![6] };
    let mut encoded = vec![];
    Chain::new(vec![step], &Codecs::default()).encode(&bytes, &mut encoded).unwrap();
    encoded
}

/// A file with a chunked dataset, two datasets of one name on an unlimited dimension, a table and a raster.
fn sample() -> Vec<u8> {
    let mut builder = Builder::default();
    let (time, y, x) = (builder.dim("time", None), builder.dim("y", Some(2)), builder.dim("x", Some(3)));
    let chunks = [(vec![0, 0], deflated(&[1, 2, 4, 5])), (vec![0, 1], deflated(&[3, 0, 6, 0]))];
    let data = builder.chunked(&[2, 3], &[2, 2], Some(DEFLATE), &chunks);
    let units = builder.attribute("units", 4, 1, b"K");
    let chunked = builder.dataset("level", &[y, x], INT16, Some(data), &[units]);
    let three = builder.add(tags::SD, &[0, 1, 0, 2, 0, 3]);
    let two = builder.add(tags::SD, &[0, 7, 0, 8]);
    let first = builder.dataset("same", &[time], INT16, Some(three), &[]);
    let second = builder.dataset("same", &[time], INT16, Some(two), &[]);
    let title = builder.attribute("title", 4, 1, b"granule");
    builder.cdf(&[time, y, x], &[chunked, first, second], &[title]);
    builder.vdata("track", "Table", &[("a", 22, 2, 1)], &[0, 1]);
    builder.add(tags::RIG, &[]);
    builder.finish(16)
}

#[test]
fn datasets_are_variables_with_their_attributes_and_storage() {
    let file = File::from_bytes(sample()).unwrap();
    let model = file.model();
    assert_eq!(model.format().container(), Container::Hdf4);
    assert_eq!((model.format().number(), model.format().container().number()), (3, 3));
    let names: Vec<_> = model.vars().iter().map(|var| var.name.to_str().into_owned()).collect();
    assert_eq!(names, ["level", "same", "same_2"]);
    let dims: Vec<_> =
        model.dims().iter().map(|dim| (dim.name.to_str().into_owned(), dim.len, dim.unlimited)).collect();
    assert_eq!(dims, [("y".into(), 2, false), ("x".into(), 3, false), ("time".into(), 3, true)]);
    let level = file.variable("level").unwrap();
    assert_eq!(level.get_values::<i32, _>(..).unwrap(), [1, 2, 3, 4, 5, 6]);
    let var = model.var(level.id());
    assert_eq!(var.ty, Type::Atomic(Atomic::Short));
    assert_eq!(var.storage.chunking, Some(Chunking::Chunked(vec![2, 2])));
    assert_eq!(var.storage.filters, [Filter { id: Filter::DEFLATE, params: vec![6] }]);
    assert_eq!(var.storage.endian, Some(Endian::Big));
    let units = model.find_attr(Owner::Var(level.id()), b"units").unwrap();
    assert_eq!(units.value, Values::Char(b"K".to_vec()));
    let title = model.find_attr(Owner::Group(GroupId::ROOT), b"title").unwrap();
    assert_eq!(title.value, Values::Char(b"granule".to_vec()));
    // The shorter one of two on an unlimited dimension is filled.
    assert_eq!(file.variable("same_2").unwrap().get_values::<i16, _>(..).unwrap(), [7, 8, -32767]);
    let skipped = file.skipped();
    assert_eq!(skipped.len(), 2, "{skipped:?}");
    assert!(skipped[0].starts_with("track: Vdata") && skipped[1].contains("raster"), "{skipped:?}");
    let size = level.storage().unwrap();
    assert_eq!((size.bytes, size.chunks.unwrap().stored), (12, 2));
}

#[test]
fn hdf4_files_are_not_opened_for_writing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sample.hdf");
    std::fs::write(&path, sample()).unwrap();
    assert_eq!(ferrocdf::append(&path).err().unwrap().code, Code::EINVAL);
    assert_eq!(ferrocdf::open(&path).unwrap().model().vars().len(), 3);
}

#[test]
fn a_granule_in_a_slow_store_opens_in_8_rounds() {
    let mut builder = Builder::default();
    let (y, x) = (builder.dim("y", Some(60)), builder.dim("x", Some(1000)));
    let mut vars = vec![];
    for number in 0..40u32 {
        let noise = |row: u32| -> Vec<i16> {
            (0..1000)
                .map(|at| ((at * 7919 + row * 104_729 + number).wrapping_mul(48_271) >> 7) as i16)
                .collect()
        };
        let chunks: Vec<_> = (0..30)
            .map(|row| (vec![row, 0], deflated(&[noise(2 * row), noise(2 * row + 1)].concat())))
            .collect();
        let data = builder.chunked(&[60, 1000], &[2, 1000], Some(DEFLATE), &chunks);
        let units = builder.attribute("units", 4, 1, b"K");
        vars.push(builder.dataset(&format!("v{number}"), &[y, x], INT16, Some(data), &[units]));
    }
    builder.cdf(&[y, x], &vars, &[]);
    let bytes = builder.finish(16);
    assert!(bytes.len() > 4 << 20, "{} bytes", bytes.len());
    let store = MemoryStore::default();
    store.put("granule.hdf", &bytes).unwrap();
    let store = Arc::new(Simulated::new(store, Cost::REMOTE, Duration::ZERO));
    let location = Location::Object { store: store.clone(), key: "granule.hdf".into() };
    let file = File::open_location(&location, &OpenOptions::default()).unwrap();
    assert_eq!(file.model().vars().len(), 40);
    let opening = store.take_traffic();
    assert!(opening.rounds <= 8, "{opening:?} for {} bytes", bytes.len());
    // The chunk tables of all datasets are asked for together, and so are the headers of all chunks.
    let stored = |var: ferrocdf::Variable<'_>| var.storage().map(|storage| storage.chunks.unwrap().stored);
    let chunks: ferrocdf::Result<Vec<u64>> = file.for_each_variable(stored).into_iter().collect();
    assert_eq!(chunks.unwrap(), [30; 40]);
    let counting = store.take_traffic();
    assert!(counting.rounds <= 4, "{counting:?}");
}

#[test]
fn tables_and_rasters_are_variables_if_all_is_asked_for() {
    let mut builder = Builder::default();
    let rows = [&1i32.to_be_bytes()[..], b"ab", &2i32.to_be_bytes(), b"cd"].concat();
    builder.vdata("track", "Table", &[("id", 24, 4, 1), ("code", 4, 1, 2)], &rows);
    let image = builder.add(tags::RI, &[1, 2, 3, 4, 5, 6]);
    let description =
        [&3u32.to_be_bytes()[..], &2u32.to_be_bytes(), &[0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]].concat();
    let description = builder.add(tags::ID, &description);
    let members =
        [tags::ID.to_be_bytes(), description.to_be_bytes(), tags::RI.to_be_bytes(), image.to_be_bytes()];
    builder.add(tags::RIG, &members.concat());
    builder.vgroup("picture", "RI0.0", &[(tags::RI, image)]);
    let bytes = builder.finish(16);
    let plain = File::from_bytes(bytes.clone()).unwrap();
    assert_eq!((plain.model().vars().len(), plain.skipped().len()), (0, 2));
    let all = File::from_blob(
        Arc::new(ferrocdf::store::MemoryBlob::new(bytes)),
        &OpenOptions::default().hdf4_all(true),
    )
    .unwrap();
    let picture = all.variable("picture").unwrap();
    assert_eq!(picture.get_values::<u8, _>(..).unwrap(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(all.model().shape(picture.id()), [2, 3]);
    let track = all.variable("track").unwrap();
    let Values::User(_, records) = all.read_values(track.id(), &[0], &[2]).unwrap() else { panic!() };
    let record = |id: i32, code: &[u8]| {
        let fields = [Values::Int(vec![id]), Values::Char(code.to_vec())];
        ferrocdf::Value::Compound(fields.map(ferrocdf::Value::Atomic).into())
    };
    assert_eq!(records, [record(1, b"ab"), record(2, b"cd")]);
    let storage = track.storage().unwrap();
    assert_eq!((storage.bytes, storage.stored_bytes), (12, 12));
    assert!(all.skipped().is_empty(), "{:?}", all.skipped());
}

fn with_all(bytes: Vec<u8>) -> File {
    File::from_bytes_with(bytes, &OpenOptions::default().hdf4_all(true)).unwrap()
}

/// A description of a raster: "DFTAG_ID".
fn description(rows: u32, columns: u32, number: u16, [components, interlace, coder]: [u16; 3]) -> Vec<u8> {
    let wide = [columns, rows].map(u32::to_be_bytes).concat();
    let narrow = [tags::NT, number, components, interlace, coder, 0].map(u16::to_be_bytes).concat();
    [wide, narrow].concat()
}

#[test]
fn rasters_of_the_interface_gr_have_their_type_components_and_attributes() {
    let mut builder = Builder::default();
    let number = builder.add(tags::NT, &INT16);
    let shape = builder.add(tags::ID, &description(1, 2, number, [3, 0, 0]));
    let pixels = builder.add(tags::RI, &[0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6]);
    let own = builder.vdata("RIATTR0.0N", "RIATTR0.0C", &[("scale", 22, 2, 1)], &[0, 7, 0, 8]);
    let of_file = builder.vdata("RIATTR0.0N", "RIATTR0.0C", &[("title", 4, 1, 3)], b"abc");
    let members = [(tags::ID, shape), (tags::RI, pixels), (tags::VH, own)];
    let raster = builder.vgroup("picture", "RI0.0", &members);
    builder.vgroup("RIG0.0", "", &[(tags::VG, raster), (tags::VH, of_file)]);
    builder.add(tags::LUT, &[0; 768]);
    let bytes = builder.finish(16);

    let plain = File::from_bytes(bytes.clone()).unwrap();
    let raster = "picture: raster of 1 rows, 2 columns, 3 components, which is no Scientific Dataset";
    let palette = "palette, which is no Scientific Dataset";
    assert_eq!(plain.skipped().len(), 2, "{:?}", plain.skipped());
    assert!(plain.skipped()[0] == raster && plain.skipped()[1].ends_with(palette));
    assert!(plain.skipped_netcdf_objects().is_empty(), "netCDF-C looks at none of them");
    assert!(plain.model().attrs(Owner::Group(GroupId::ROOT)).is_empty());

    let all = with_all(bytes);
    let model = all.model();
    let picture = all.variable("picture").unwrap();
    assert_eq!(model.var(picture.id()).ty, Type::Atomic(Atomic::Short));
    assert_eq!(picture.get_values::<i16, _>(..).unwrap(), [1, 2, 3, 4, 5, 6]);
    let dims = model.dims().iter().map(|dim| (dim.name.to_str().into_owned(), dim.len));
    let dims: Vec<_> = dims.collect();
    let named = |axis: &str| format!("picture_{axis}");
    assert_eq!(dims, [(named("rows"), 1), (named("columns"), 2), (named("components"), 3)]);
    let of = |owner, name: &[u8]| model.find_attr(owner, name).unwrap().value.clone();
    assert_eq!(of(Owner::Var(picture.id()), b"scale"), Values::Short(vec![7, 8]));
    assert_eq!(of(Owner::Group(GroupId::ROOT), b"title"), Values::Char(b"abc".to_vec()));
    assert_eq!(all.skipped().len(), 1, "{:?}", all.skipped());
    assert!(all.skipped()[0].ends_with(palette));
}

/// An 8-bit raster that an old interface compressed, in the tags of two interfaces.
fn old_raster(builder: &mut Builder, coder: u16, old_tag: u16, data: &[u8]) {
    let shape = builder.add(tags::ID, &description(4, 4, 0, [1, 0, coder]));
    let pixels = builder.add(tags::CI, data);
    let members = [(tags::ID, shape), (tags::CI, pixels)];
    builder.add(tags::RIG, &members.map(|(tag, at)| [tag.to_be_bytes(), at.to_be_bytes()].concat()).concat());
    builder.put_alias(tags::CI, pixels, old_tag);
    builder.put(tags::ID8, pixels, &[0, 4, 0, 4]);
}

#[test]
fn rasters_that_an_old_interface_compressed_are_read_or_say_that_they_are_jpeg() {
    let mut builder = Builder::default();
    old_raster(&mut builder, tags::RLE, tags::CI8, &[0x8e, 9, 2, 1, 2]);
    old_raster(&mut builder, tags::IMC, tags::II8, &[0xf0, 0x0f, 5, 6]);
    old_raster(&mut builder, tags::JPEG, tags::CI8, &[0; 9]);
    let bytes = builder.finish(64);
    assert_eq!(File::from_bytes(bytes.clone()).unwrap().skipped().len(), 3, "each of them once");
    let all = with_all(bytes);
    let values: Vec<Vec<u8>> =
        all.model().var_ids().map(|var| all.variable_of(var).get_values(..).unwrap()).collect();
    let squares = [[5; 4], [6; 4], [6; 4], [5; 4]];
    assert_eq!(values, [[&[9; 14][..], &[1, 2]].concat(), squares.as_flattened().to_vec()]);
    let skipped = all.skipped();
    assert!(skipped.len() == 1 && skipped[0].contains("JPEG, which is not read"), "{skipped:?}");
    assert!(all.lost().is_some_and(|error| error.to_string().contains("JPEG")), "a copy of all lacks it");
}

#[test]
fn tables_without_a_name_say_so() {
    let mut builder = Builder::default();
    builder.vdata("", "Table", &[("a", 22, 2, 1)], &[0, 1]);
    let plain = File::from_bytes(builder.finish(16)).unwrap();
    assert_eq!(plain.skipped(), ["Vdata 1 without a name, of 1 records, which is no Scientific Dataset"]);
}

#[test]
fn a_table_in_a_file_that_does_not_exist_keeps_nothing_else_back() {
    let mut builder = Builder::default();
    let field = [("a", 22, 2, 1)];
    builder.vdata("here", "Table", &field, &[0, 1]);
    let elsewhere = builder.vdata("elsewhere", "Table", &field, &[0, 1]);
    let header = [&[0, 2][..], &2u32.to_be_bytes(), &[0; 4], &4u32.to_be_bytes(), b"gone"].concat();
    builder.replace(tags::VS, elsewhere, tags::VS | build::SPECIAL, &header);
    let all = with_all(builder.finish(16));
    assert!(all.variable("here").is_ok() && all.variable("elsewhere").is_err());
    let skipped = all.skipped();
    assert!(skipped.len() == 1 && skipped[0].contains("\"elsewhere\""), "{skipped:?}");
    assert!(skipped[0].contains("it does not exist"), "{skipped:?}");
}

#[test]
fn records_larger_than_a_message_of_hdf5_are_copied() {
    let mut builder = Builder::default();
    let row: Vec<u8> = (0..65_535u32).map(|at| (at % 251) as u8).collect();
    builder.vdata("wide", "Table", &[("bytes", 21, 1, 65_535)], &row);
    let source = with_all(builder.finish(16));
    let (source_model, source_var) = (source.model(), source.variable("wide").unwrap().id());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy.nc");
    let target = FileMut::create(&path, &CreateOptions::format(Format::NETCDF4)).unwrap();
    let copied = target
        .define(|model| {
            let Type::User(ty) = source_model.var(source_var).ty else { panic!() };
            let ty = model.def_type(source_model.user_type(ty).clone())?;
            let records = model.def_dim(GroupId::ROOT, "records", Some(1))?;
            model.def_var(GroupId::ROOT, "wide", Type::User(ty), &[records])
        })
        .unwrap();
    copy_data(&source, &target, &[(source_var, copied)], 1 << 20, &mut |_| ()).unwrap();
    target.close().unwrap();
    let copy = ferrocdf::open(&path).unwrap();
    let values = |file: &File| file.read_values(file.variable("wide").unwrap().id(), &[0], &[1]).unwrap();
    let [Values::User(_, theirs), Values::User(_, ours)] = [values(&source), values(&copy)] else { panic!() };
    assert_eq!(theirs, ours);
}

#[test]
fn the_fragment_of_a_url_says_what_of_a_file_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sample.hdf");
    std::fs::write(&path, sample()).unwrap();
    let open = |fragment: &str| {
        let url = format!("file://{}#{fragment}", path.display());
        File::open_location(&Location::parse(url.as_bytes())?, &OpenOptions::default())
    };
    assert_eq!(open("hdf4=all").unwrap().model().vars().len(), 4);
    for (fragment, why) in [("hdf4=bogus", "the words are"), ("hdfeos&hdf4=all", "exclude each other")] {
        let error = open(fragment).err().unwrap();
        assert!(error.code == Code::EINVAL && error.what.contains(why), "{error}");
    }
}

#[test]
fn many_datasets_of_one_name_take_no_longer_than_others() {
    let mut builder = Builder::default();
    let dims: Vec<u16> = (0..10_000).map(|len| builder.dim("x", Some(len))).collect();
    let vars: Vec<u16> = dims.iter().map(|&dim| builder.dataset("v", &[dim], INT16, None, &[])).collect();
    builder.cdf(&dims, &vars, &[]);
    let bytes = builder.finish(60_000);
    let start = std::time::Instant::now();
    let file = File::from_bytes(bytes).unwrap();
    // With a search from 2 on for each it takes 20 s.
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    let model = file.model();
    let (last_var, last_dim) = (model.vars().last().unwrap(), model.dims().last().unwrap());
    assert_eq!((&*last_var.name.to_str(), &*last_dim.name.to_str()), ("v_10000", "x_10000"));
}

/// Chunks that are no streams of zlib show that nobody decodes them.
#[test]
fn missing_chunks_have_the_fill_value_of_their_header() {
    let mut builder = Builder::default();
    let x = builder.dim("x", Some(6));
    let data = builder.chunked(&[6], &[2], Some(DEFLATE), &[(vec![1], deflated(&[3, 4]))]);
    let fill = builder.attribute("_FillValue", 22, 2, &[0, 7]);
    let var = builder.dataset("v", &[x], INT16, Some(data), &[fill]);
    builder.cdf(&[x], &[var], &[]);
    let file = File::from_bytes(builder.finish(100)).unwrap();
    let var = file.variable("v").unwrap();
    let values: Vec<i16> = var.get_values(..).unwrap();
    assert_eq!(values, [-1, -1, 3, 4, -1, -1]);
    // `keep_unwritten` gives the copy this value, with which missing chunks need not be written.
    assert_eq!(file.fill_value(var.id()).unwrap(), Some(Values::Short(vec![-1])));
}

#[test]
fn deflated_chunks_are_copied_to_netcdf_4_as_they_are() {
    let mut builder = Builder::default();
    let (y, x) = (builder.dim("y", Some(2)), builder.dim("x", Some(4)));
    let chunks = [(vec![0, 0], b"the first of two".to_vec()), (vec![0, 1], b"the second of two".to_vec())];
    let data = builder.chunked(&[2, 4], &[2, 2], Some(DEFLATE), &chunks);
    let level = builder.dataset("level", &[y, x], INT16, Some(data), &[]);
    builder.cdf(&[y, x], &[level], &[]);
    let source = File::from_bytes(builder.finish(16)).unwrap();

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy.nc");
    let target = FileMut::create(&path, &CreateOptions::format(Format::NETCDF4)).unwrap();
    let (source_model, source_var) = (source.model(), source.variable("level").unwrap().id());
    let copied = target
        .define(|model| {
            let y = model.def_dim(GroupId::ROOT, "y", Some(2))?;
            let x = model.def_dim(GroupId::ROOT, "x", Some(4))?;
            let var = model.def_var(GroupId::ROOT, "level", Atomic::Short.into(), &[y, x])?;
            model.var_mut(var).storage = source_model.var(source_var).storage.clone();
            Ok(var)
        })
        .unwrap();
    copy_data(&source, &target, &[(source_var, copied)], 1 << 20, &mut |_| ()).unwrap();
    target.close().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    for chunk in ["the first of two", "the second of two"] {
        assert!(bytes.windows(chunk.len()).any(|window| window == chunk.as_bytes()), "{chunk}");
    }
}
