//! HDF4 files with HDF-EOS2 metadata: groups, dimensions, coordinates and attributes by an option.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ferrocdf::store::testing::Simulated;
use ferrocdf::store::{Blob, Cost, MemoryStore, ObjectBlob, Store};
use ferrocdf::suite::{Dataset, driver_of_any_cut};
use ferrocdf::{Arrangement, File, GroupId, Model, OpenOptions, Owner, Values, VarId};

use crate::hdf4_build::*;

fn shown(bytes: Vec<u8>) -> File {
    File::from_bytes_with(bytes, &OpenOptions::default().hdf_eos(true)).unwrap()
}

fn var(model: &Model, path: &str) -> VarId {
    model.find_var_at(path.as_bytes()).unwrap_or_else(|| panic!("no {path}"))
}

fn values(file: &File, path: &str) -> Values {
    let model = file.model();
    let id = var(&model, path);
    let shape = model.shape(id);
    file.read_values(id, &vec![0; shape.len()], &shape).unwrap()
}

fn dims(model: &Model, path: &str) -> Vec<(String, u64)> {
    let dims = model.var(var(model, path)).dims.iter().map(|&dim| model.dim(dim));
    dims.map(|dim| (dim.name.to_str().into_owned(), dim.len)).collect()
}

fn text(model: &Model, path: &str, name: &str) -> Option<String> {
    match &model.find_attr(Owner::Var(var(model, path)), name.as_bytes())?.value {
        Values::Char(text) => Some(String::from_utf8(text.clone()).unwrap()),
        other => panic!("{other:?}"),
    }
}

fn grid_text(name: &str, more: &str, fields: &[(&str, &str)]) -> String {
    let mut text = format!(
        "GROUP=GRID_1\nGridName=\"{name}\"\nXDim=3\nYDim=2\nUpperLeftPointMtrs=(0.0,2000000.0)\n\
         LowerRightMtrs=(3000000.0,0.0)\n{more}\nGROUP=DataField\n"
    );
    for (field, dims) in fields {
        text += &format!("OBJECT=F\nDataFieldName=\"{field}\"\nDimList=({dims})\nEND_OBJECT=F\n");
    }
    text + "END_GROUP=DataField\n"
}

fn grids(inner: &str) -> String {
    format!("GROUP=GridStructure\n{inner}END_GROUP=GridStructure\nEND\n")
}

const MAP: &str = "\"YDim\",\"XDim\"";

/// Adds a grid with the Vgroups that the HDF-EOS2 library makes.
fn add_grid(file: &mut Hdf4File, name: &str, fields: &[Object], attributes: &[Object]) {
    let fields = file.vgroup("Data Fields", "GRID Vgroup", fields);
    let attributes = file.vgroup("Grid Attributes", "GRID Vgroup", attributes);
    file.vgroup(name, "GRID", &[fields, attributes]);
}

/// A file with two grids, whose fields have one name, and a dataset of that name that belongs to neither.
fn two_grids() -> Vec<u8> {
    let mut file = Hdf4File::default();
    let a = file.dataset("Flux", &[("YDim:A", 2), ("XDim:A", 3)], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[]);
    let units = ("units", CHAR, b"K".to_vec());
    let b = file.dataset("Flux", &[("YDim:B", 2), ("XDim:B", 3)], &[7.0; 6], &[units]);
    file.dataset("Flux", &[("n", 1)], &[8.0], &[]);
    let version = file.vdata("Version", "", &[("AttrValues", INT32, 1)], ints(&[3]));
    let fill = file.vdata("_FV_Flux", "Attr0.0", &[("AttrValues", FLOAT32, 1)], floats(&[-9.0]));
    add_grid(&mut file, "A", &[a], &[version, fill]);
    add_grid(&mut file, "B", &[b], &[]);
    let geographic =
        grid_text("A", "Projection=GCTP_GEO", &[("Flux", MAP), ("Gone", MAP)]) + "END_GROUP=GRID_1\n";
    let projection =
        "Projection=GCTP_SNSOID\nProjParams=(6371007.181,0,0,0,0,0,0,0,0,0,0,0,0)\nSphereCode=-1";
    let projected = grid_text("B", projection, &[("Flux", MAP)]) + "END_GROUP=GRID_1\n";
    let text = grids(&(geographic + &projected));
    // The text is cut in the middle of a word.
    let (first, second) = text.split_at(text.find("Snsoid").unwrap_or(text.len() / 2));
    file.file_attribute("StructMetadata.1", second);
    file.file_attribute("StructMetadata.0", first);
    file.finish()
}

#[test]
fn fields_are_in_the_groups_of_their_grids() {
    let file = shown(two_grids());
    let model = file.model();
    assert_eq!(dims(&model, "/A/Flux"), [("YDim".to_string(), 2), ("XDim".to_string(), 3)]);
    assert_eq!(values(&file, "/A/Flux"), Values::Float(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    assert_eq!(values(&file, "/B/Flux"), Values::Float(vec![7.0; 6]));
    assert_eq!(values(&file, "/Flux"), Values::Float(vec![8.0]));
    assert_eq!(model.vars().len(), 3 + 3 + 5);
    let group = model.find_group(GroupId::ROOT, b"A").unwrap();
    let version = model.find_attr(Owner::Group(group), b"Version").map(|attr| &attr.value);
    assert_eq!(version, Some(&Values::Int(vec![3])));
    assert!(model.find_attr(Owner::Group(group), b"_FV_Flux").is_none());
    let fill = model.find_attr(Owner::Var(var(&model, "/A/Flux")), b"_FillValue").map(|attr| &attr.value);
    assert_eq!(fill, Some(&Values::Float(vec![-9.0])));
    let skipped = file.skipped();
    assert_eq!(skipped, ["/A/Gone: StructMetadata has it, the file does not"]);
}

#[test]
fn view_passes_the_suite_of_all_drivers() {
    driver_of_any_cut(&Dataset {
        bytes: &merged_fields("Projection=GCTP_GEO"),
        options: OpenOptions::default().hdf_eos(true),
        values: &[
            ("/G/XDim", &[0.5, 1.5, 2.5]),
            ("/G/YDim", &[1.5, 0.5]),
            ("/G/a", &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
        ],
        unwritten: &[],
    });
}

#[test]
fn without_the_option_names_are_those_of_netcdf() {
    let file = File::from_bytes(two_grids()).unwrap();
    let model = file.model();
    assert_eq!((model.groups().len(), model.vars().len()), (1, 3));
    assert!(model.find_dim(GroupId::ROOT, b"YDim:A").is_some());
}

#[test]
fn geographic_grid_has_longitudes_and_latitudes_along_its_dimensions() {
    let file = shown(two_grids());
    let model = file.model();
    assert_eq!(values(&file, "/A/XDim"), Values::Double(vec![0.5, 1.5, 2.5]));
    assert_eq!(values(&file, "/A/YDim"), Values::Double(vec![1.5, 0.5]));
    assert_eq!(text(&model, "/A/YDim", "units").as_deref(), Some("degrees_north"));
    assert_eq!(text(&model, "/A/Flux", "grid_mapping").as_deref(), Some("crs"));
    assert_eq!(text(&model, "/A/Flux", "coordinates"), None);
    assert_eq!(text(&model, "/A/crs", "grid_mapping_name").as_deref(), Some("latitude_longitude"));
}

#[test]
fn projected_grid_has_map_coordinates_and_those_of_its_cells() {
    let file = shown(two_grids());
    let model = file.model();
    assert_eq!(values(&file, "/B/XDim"), Values::Double(vec![500_000.0, 1_500_000.0, 2_500_000.0]));
    assert_eq!(text(&model, "/B/XDim", "standard_name").as_deref(), Some("projection_x_coordinate"));
    assert_eq!(text(&model, "/B/crs", "grid_mapping_name").as_deref(), Some("sinusoidal"));
    assert_eq!(text(&model, "/B/Flux", "units").as_deref(), Some("K"));
    assert_eq!(text(&model, "/B/Flux", "coordinates").as_deref(), Some("latitude longitude"));
    let (Values::Double(latitudes), Values::Double(longitudes)) =
        (values(&file, "/B/latitude"), values(&file, "/B/longitude"))
    else {
        panic!("coordinates are doubles");
    };
    let latitude = (1_500_000.0 / 6_371_007.181f64).to_degrees();
    let longitude = (2_500_000.0 / (6_371_007.181 * latitude.to_radians().cos())).to_degrees();
    assert!((latitudes[2] - latitude).abs() < 1e-12 && (longitudes[2] - longitude).abs() < 1e-12);
    // One column of the second row, as a program reads it.
    let one = file.read_values(var(&model, "/B/longitude"), &[1, 2], &[1, 1]).unwrap();
    assert_eq!(one, Values::Double(vec![longitudes[5]]));
    let storage = file.variable("/B/longitude").unwrap().storage().unwrap();
    assert_eq!((storage.arrangement, storage.bytes, storage.stored_bytes), (Arrangement::Computed, 6 * 8, 0));
}

#[test]
fn coordinates_that_the_file_has_are_not_computed() {
    let mut file = Hdf4File::default();
    let flux = file.dataset("Flux", &[("YDim:G", 2), ("XDim:G", 3)], &[1.0; 6], &[]);
    let latitude = file.dataset("Latitude", &[("YDim:G", 2)], &[10.0, 20.0], &[]);
    let longitude = file.vdata("lon", "", &[("lon", FLOAT32, 1)], floats(&[1.0, 2.0, 3.0]));
    add_grid(&mut file, "G", &[flux, latitude, longitude], &[]);
    let fields = [("Flux", MAP), ("Latitude", "\"YDim\""), ("lon", "\"XDim\"")];
    let text_of_grid = grid_text("G", "Projection=GCTP_GEO", &fields) + "END_GROUP=GRID_1\n";
    file.file_attribute("StructMetadata.0", &grids(&text_of_grid));
    let file = shown(file.finish());
    let model = file.model();
    assert!(model.find_var_at(b"/G/XDim").is_none() && model.find_var_at(b"/G/latitude").is_none());
    assert_eq!(text(&model, "/G/Flux", "coordinates").as_deref(), Some("Latitude lon"));
    assert_eq!(values(&file, "/G/lon"), Values::Float(vec![1.0, 2.0, 3.0]));
}

/// A file with a grid whose two fields were merged: 18 numbers from 0 on.
fn merged_fields(projection: &str) -> Vec<u8> {
    let mut file = Hdf4File::default();
    let all: Vec<f32> = (0..18).map(|number| number as f32).collect();
    let parts = [("Field Dims", INT32, ints(&[1, 2])), ("Field Offsets", INT32, ints(&[0, 1]))];
    let merged = file.dataset("MRGFLD_a", &[("MRGDIM:G_3", 3), ("YDim:G", 2), ("XDim:G", 3)], &all, &parts);
    add_grid(&mut file, "G", &[merged], &[]);
    let fields = [("a", MAP), ("b", "\"Band\",\"YDim\",\"XDim\"")];
    let text_of_grid = grid_text("G", projection, &fields)
        + "GROUP=MergedFields\nOBJECT=M\nMergedFieldName=\"MRGFLD_a\"\nFieldList=(\"a\",\"b\")\nEND_OBJECT=M\n\
           END_GROUP=MergedFields\nEND_GROUP=GRID_1\n";
    file.file_attribute("StructMetadata.0", &grids(&text_of_grid));
    file.finish()
}

#[test]
fn merged_fields_are_parts_of_one_dataset() {
    let all: Vec<f32> = (0..18).map(|number| number as f32).collect();
    let file = shown(merged_fields(""));
    assert_eq!(values(&file, "/G/a"), Values::Float(all[..6].to_vec()));
    assert_eq!(values(&file, "/G/b"), Values::Float(all[6..].to_vec()));
    let model = file.model();
    assert!(model.find_attr(Owner::Var(var(&model, "/G/a")), b"Field Dims").is_none());
    assert!(
        file.skipped().iter().any(|line| line == "/G: coordinates: no projection"),
        "{:?}",
        file.skipped()
    );
}

#[test]
fn swath_names_its_geolocation_fields_and_dimension_maps() {
    let mut file = Hdf4File::default();
    let latitude = file.dataset("Latitude", &[("Track:S", 2), ("Cross:S", 3)], &[1.0; 6], &[]);
    let time = file.vdata("Time", "", &[("Time", FLOAT32, 1)], floats(&[0.5, 1.5]));
    let coarse = file.dataset("Coarse", &[("Track:S", 2), ("Cross:S", 3)], &[2.0; 6], &[]);
    let fine = file.dataset("Fine", &[("Track:S", 2), ("Wide:S", 6)], &[3.0; 12], &[]);
    let index = file.vdata("INDXMAP:Cross/Odd", "", &[("Index", INT32, 1)], ints(&[0, 2, 3]));
    let geolocation = file.vgroup("Geolocation Fields", "SWATH Vgroup", &[latitude, time]);
    let data = file.vgroup("Data Fields", "SWATH Vgroup", &[coarse, fine]);
    file.vgroup("S", "SWATH", &[geolocation, data, index]);
    let object = |key: &str, lines: &str| format!("OBJECT={key}\n{lines}\nEND_OBJECT={key}\n");
    let group = |key: &str, inner: String| format!("GROUP={key}\n{inner}END_GROUP={key}\n");
    let field = |key: &str, title: &str, name: &str, dims: &str| {
        object(key, &format!("{title}=\"{name}\"\nDimList=({dims})"))
    };
    let swath = [
        "SwathName=\"S\"\n".to_string(),
        group("Dimension", object("D", "DimensionName=\"Wide\"\nSize=6")),
        group(
            "DimensionMap",
            object("M", "GeoDimension=\"Cross\"\nDataDimension=\"Wide\"\nOffset=0\nIncrement=2"),
        ),
        group("IndexDimensionMap", object("I", "GeoDimension=\"Cross\"\nDataDimension=\"Odd\"")),
        group(
            "GeoField",
            field("G", "GeoFieldName", "Latitude", "\"Track\",\"Cross\"")
                + &field("G", "GeoFieldName", "Time", "\"Track\""),
        ),
        group(
            "DataField",
            field("F", "DataFieldName", "Coarse", "\"Track\",\"Cross\"")
                + &field("F", "DataFieldName", "Fine", "\"Track\",\"Wide\""),
        ),
    ];
    let structure = group("SwathStructure", group("SWATH_1", swath.concat())) + "END\n";
    file.file_attribute("StructMetadata.0", &structure);
    let file = shown(file.finish());
    let model = file.model();
    assert_eq!(text(&model, "/S/Coarse", "coordinates").as_deref(), Some("Latitude Time"));
    assert_eq!(text(&model, "/S/Fine", "coordinates").as_deref(), Some("Time"));
    assert_eq!(text(&model, "/S/Latitude", "coordinates"), None);
    assert_eq!(values(&file, "/S/Time"), Values::Float(vec![0.5, 1.5]));
    assert_eq!(values(&file, "/S/index_map_Cross_Odd"), Values::Int(vec![0, 2, 3]));
    assert_eq!(dims(&model, "/S/index_map_Cross_Odd"), [("Cross".to_string(), 3)]);
    let group = model.find_group(GroupId::ROOT, b"S").unwrap();
    let map = &model.find_attr(Owner::Group(group), b"dimension_maps").unwrap().value;
    assert_eq!(*map, Values::from("Cross: Wide offset: 0 increment: 2"));
}

#[test]
fn tables_of_points_are_groups_of_variables() {
    let mut file = Hdf4File::default();
    let records = [floats(&[1.0]), b"CO2 ".to_vec(), floats(&[2.0]), b"O3  ".to_vec()].concat();
    let table = file.vdata("Sensor", "", &[("Time", FLOAT32, 1), ("Species", CHAR, 4)], records);
    let data = file.vgroup("Data Vgroup", "POINT Vgroup", &[table]);
    file.vgroup("Buoy", "POINT", &[data]);
    file.file_attribute(
        "StructMetadata.0",
        "GROUP=PointStructure\nGROUP=POINT_1\nPointName=\"Buoy\"\nGROUP=Level\nGROUP=Level_0\nLevelName=\"Sensor\"\n\
         END_GROUP=Level_0\nEND_GROUP=Level\nEND_GROUP=POINT_1\nEND_GROUP=PointStructure\nEND\n",
    );
    let file = shown(file.finish());
    assert_eq!(values(&file, "/Buoy/Sensor/Time"), Values::Float(vec![1.0, 2.0]));
    assert_eq!(values(&file, "/Buoy/Sensor/Species"), Values::Char(b"CO2 O3  ".to_vec()));
    assert_eq!(dims(&file.model(), "/Buoy/Sensor/Species")[0], ("record".to_string(), 2));
    assert_eq!(file.skipped(), Vec::<String>::new());
}

#[test]
fn broken_metadata_leaves_the_file_as_netcdf_shows_it() {
    for text in ["GROUP=GridStructure\nEND", "A=(1", "\"", &"GROUP=A\n".repeat(4000)] {
        let mut file = Hdf4File::default();
        file.dataset("Flux", &[("n", 1)], &[8.0], &[]);
        file.file_attribute("StructMetadata.0", text);
        let file = shown(file.finish());
        assert_eq!(values(&file, "/Flux"), Values::Float(vec![8.0]));
        assert!(
            file.skipped().iter().any(|line| {
                line.contains("StructMetadata, byte") && line.ends_with("(NetCDF: HDF error)")
            }),
            "{:?}",
            file.skipped()
        );
    }
}

#[test]
fn sizes_that_only_the_text_says_cost_nothing() {
    let mut file = Hdf4File::default();
    add_grid(&mut file, "G", &[], &[]);
    let huge = grid_text("G", "Projection=GCTP_GEO", &[("Flux", MAP)]) + "END_GROUP=GRID_1\n";
    let huge = huge.replace("XDim=3", "XDim=2147483647");
    file.file_attribute("StructMetadata.0", &grids(&huge));
    let file = shown(file.finish());
    let model = file.model();
    assert!(model.find_var_at(b"/G/XDim").is_none());
    assert_eq!(values(&file, "/G/YDim"), Values::Double(vec![1.5, 0.5]));
}

#[test]
fn cut_and_changed_files_end_in_errors_or_values() {
    let whole = two_grids();
    let open = |bytes: Vec<u8>| {
        let file = File::from_bytes_with(bytes, &OpenOptions::default().hdf_eos(true));
        for id in file.iter().flat_map(|file| file.model().var_ids().collect::<Vec<_>>().into_iter()) {
            let file = file.as_ref().unwrap();
            let shape = file.model().shape(id);
            if shape.iter().product::<u64>() < 1000 {
                let _any = file.read_values(id, &vec![0; shape.len()], &shape);
            }
        }
    };
    (0..whole.len()).step_by(7).for_each(|len| open(whole[..len].to_vec()));
    for at in (0..whole.len()).step_by(3) {
        let mut changed = whole.clone();
        changed[at] ^= 0x41;
        open(changed);
    }
}

#[test]
fn slow_source_is_waited_for_once_for_all_tables() {
    let rounds = |grids_of_file: usize| {
        let mut file = Hdf4File::default();
        let mut text = String::new();
        // The structures lie far behind the descriptors, with which a slow source gives what is near.
        file.dataset("Far", &[("far", 1 << 21)], &vec![0.0; 1 << 21], &[]);
        for number in 0..grids_of_file {
            let name = format!("G{number}");
            let flux = file.vdata("Flux", "", &[("Flux", FLOAT32, 1)], floats(&[1.0; 3]));
            let version = file.vdata("Version", "", &[("AttrValues", INT32, 1)], ints(&[3]));
            add_grid(&mut file, &name, &[flux], &[version]);
            text +=
                &(grid_text(&name, "Projection=GCTP_GEO", &[("Flux", "\"XDim\"")]) + "END_GROUP=GRID_1\n");
        }
        file.file_attribute("StructMetadata.0", &grids(&text));
        let store = MemoryStore::default();
        store.put("a.hdf", &file.finish()).unwrap();
        // Windows so small that a structure is in memory only if it was asked for.
        let cost = Cost { gap: 16, window: 64, in_flight: 1 << 20, ..Cost::REMOTE };
        let store = Arc::new(Simulated::new(store, cost, Duration::ZERO));
        let blob = Arc::new(ObjectBlob::new(store.clone(), "a.hdf"));
        let file = File::from_blob(blob, &OpenOptions::default().hdf_eos(true)).unwrap();
        assert_eq!(file.model().groups().len(), 1 + grids_of_file);
        store.take_traffic().rounds
    };
    let (few, many) = (rounds(1), rounds(100));
    println!("{few} rounds for one grid, {many} for 100");
    assert!(many <= few + 2, "{few} rounds for one grid, {many} for 100");
}

/// A source whose bytes change, and that refuses reads after some.
struct Changing {
    bytes: Mutex<Arc<Vec<u8>>>,
    reads_left: AtomicU64,
}

impl Blob for Changing {
    fn size(&self) -> ferrocdf::Result<u64> {
        Ok(self.bytes.lock().unwrap().len() as u64)
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> ferrocdf::Result<usize> {
        let one_less = |left: u64| left.checked_sub(1);
        if self.reads_left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_err() {
            return Err(ferrocdf::Error::new(ferrocdf::Code::EIO, "refused"));
        }
        let bytes = self.bytes.lock().unwrap().clone();
        let rest = bytes.get(at as usize..).unwrap_or_default();
        let len = rest.len().min(into.len());
        into[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }

    fn name(&self) -> String {
        "changing".into()
    }

    fn cost(&self) -> Cost {
        // Windows so small that a structure is in memory only if it was asked for.
        Cost { gap: 16, window: 64, in_flight: 1 << 20, ..Cost::REMOTE }
    }
}

#[test]
fn refresh_that_fails_leaves_the_variables_as_they_were() {
    let file = |is_reversed: bool| {
        let mut file = Hdf4File::default();
        let map = [("YDim:G", 2), ("XDim:G", 3)];
        let flux = file.dataset("Flux", &map, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[]);
        let heat = file.dataset("Heat", &map, &[7.0; 6], &[]);
        // The tables lie far behind the descriptors, so that reads of them can fail.
        file.dataset("Far", &[("far", 1 << 21)], &vec![0.0; 1 << 21], &[]);
        let version = file.vdata("Version", "", &[("AttrValues", INT32, 1)], ints(&[3]));
        add_grid(&mut file, "G", &[flux, heat], &[version]);
        let text = grid_text("G", "Projection=GCTP_GEO", &[("Flux", MAP), ("Heat", MAP)]);
        file.file_attribute("StructMetadata.0", &grids(&(text + "END_GROUP=GRID_1\n")));
        if is_reversed {
            file.reverse();
        }
        Arc::new(file.finish())
    };
    let (before, after) = (file(false), file(true));
    let flux = Values::Float(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    for reads in 0.. {
        let blob =
            Arc::new(Changing { bytes: Mutex::new(before.clone()), reads_left: AtomicU64::new(u64::MAX) });
        let file = File::from_blob(blob.clone(), &OpenOptions::default().hdf_eos(true)).unwrap();
        *blob.bytes.lock().unwrap() = after.clone();
        blob.reads_left.store(reads, Ordering::SeqCst);
        let refreshed = file.refresh();
        blob.reads_left.store(u64::MAX, Ordering::SeqCst);
        assert_eq!(values(&file, "/G/Flux"), flux, "after {reads} reads");
        if refreshed.is_ok() {
            assert!(reads > 2, "nothing failed");
            break;
        }
    }
}

#[test]
fn grid_without_cells_has_no_dimension_of_length_zero() {
    for zero in ["XDim", "YDim"] {
        let mut file = Hdf4File::default();
        let flux = file.dataset("Flux", &[("Band:G", 2)], &[1.0, 2.0], &[]);
        add_grid(&mut file, "G", &[flux], &[]);
        let text = grid_text("G", "Projection=GCTP_SNSOID", &[("Flux", "\"Band\"")]) + "END_GROUP=GRID_1\n";
        let text = text.replace("XDim=3", "XDim=4").replace("YDim=2", "YDim=4");
        file.file_attribute(
            "StructMetadata.0",
            &grids(&text.replace(&format!("{zero}=4"), &format!("{zero}=0"))),
        );
        let file = shown(file.finish());
        let lens: Vec<u64> = file.model().dims().iter().map(|dim| dim.len).collect();
        assert_eq!(lens, [4, 2]);
        assert_eq!(values(&file, "/G/Flux"), Values::Float(vec![1.0, 2.0]));
        assert_eq!(file.skipped(), ["/G: coordinates: it has no cells"]);
    }
}

#[test]
fn odd_number_of_the_projection_costs_the_coordinates_alone() {
    for (odd, reason) in [
        ("SphereCode=12.0", "SphereCode is \"12.0\", not a number"),
        ("ZoneCode=north", "ZoneCode is \"north\", not a number"),
        ("ProjParams=(6371007.181,*)", "ProjParams is no list of numbers"),
        ("PixelRegistration=HDFE_CENTER\nUpperLeftPointMtrs=(0)", "UpperLeftPointMtrs is not two numbers"),
    ] {
        let mut file = Hdf4File::default();
        let flux = file.dataset("Flux", &[("YDim:G", 2), ("XDim:G", 3)], &[1.0; 6], &[]);
        add_grid(&mut file, "G", &[flux], &[]);
        let mut text = grid_text("G", &format!("Projection=GCTP_GEO\n{odd}"), &[("Flux", MAP)]);
        if odd.contains("UpperLeft") {
            text = text.replace("UpperLeftPointMtrs=(0.0,2000000.0)\n", "");
        }
        file.file_attribute("StructMetadata.0", &grids(&(text + "END_GROUP=GRID_1\n")));
        let file = shown(file.finish());
        assert_eq!(values(&file, "/G/Flux"), Values::Float(vec![1.0; 6]), "{odd}");
        assert!(file.model().find_var_at(b"/G/XDim").is_none(), "{odd}");
        assert_eq!(file.skipped(), [format!("/G: coordinates: StructMetadata: GRID_1: {reason}")]);
    }
}

/// A file with a swath of merged fields: geolocation fields and data fields of one element each, with the names given.
fn merged_swath(geolocation: &[String], data: &[String]) -> Vec<u8> {
    let mut file = Hdf4File::default();
    let mut dataset = |name: &str, count: usize| {
        let numbers = |number: &dyn Fn(usize) -> usize| {
            ints(&(0..count).map(|at| number(at) as i32).collect::<Vec<_>>())
        };
        let parts = [("Field Dims", INT32, numbers(&|_| 1)), ("Field Offsets", INT32, numbers(&|at| at))];
        let values: Vec<f32> = (0..count * 2).map(|number| number as f32).collect();
        file.dataset(name, &[(&format!("MRGDIM:{name}"), count as u32), ("Track:S", 2)], &values, &parts)
    };
    let (of_geolocation, of_data) = (dataset("MRGFLD_g", geolocation.len()), dataset("MRGFLD_d", data.len()));
    let geolocation_vgroup = file.vgroup("Geolocation Fields", "SWATH Vgroup", &[of_geolocation]);
    let data_vgroup = file.vgroup("Data Fields", "SWATH Vgroup", &[of_data]);
    file.vgroup("S", "SWATH", &[geolocation_vgroup, data_vgroup]);
    let fields = |kind: &str, names: &[String]| {
        let each = names
            .iter()
            .map(|name| format!("OBJECT=F\n{kind}Name=\"{name}\"\nDimList=(\"Track\")\nEND_OBJECT=F\n"));
        format!("GROUP={kind}\n{}END_GROUP={kind}\n", each.collect::<String>())
    };
    let merged = |dataset: &str, names: &[String]| {
        let list: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        format!("OBJECT=M\nMergedFieldName=\"{dataset}\"\nFieldList=({})\nEND_OBJECT=M\n", list.join(","))
    };
    let text = format!(
        "GROUP=SwathStructure\nGROUP=SWATH_1\nSwathName=\"S\"\n{}{}GROUP=MergedFields\n{}{}END_GROUP=MergedFields\n\
         END_GROUP=SWATH_1\nEND_GROUP=SwathStructure\nEND\n",
        fields("GeoField", geolocation),
        fields("DataField", data),
        merged("MRGFLD_g", geolocation),
        merged("MRGFLD_d", data),
    );
    // As the library does, which cuts the text into attributes of 32,000 bytes.
    for (number, part) in text.as_bytes().chunks(32_000).enumerate() {
        let part = std::str::from_utf8(part).unwrap();
        file.file_attribute(&format!("StructMetadata.{number}"), part);
    }
    file.finish()
}

#[test]
fn merged_fields_of_swaths_are_geolocation_fields_and_data_fields() {
    let file = shown(merged_swath(&["a".into(), "b".into()], &["c".into(), "d".into(), "d".into()]));
    let model = file.model();
    assert_eq!(values(&file, "/S/b"), Values::Float(vec![2.0, 3.0]));
    assert_eq!(values(&file, "/S/c"), Values::Float(vec![0.0, 1.0]));
    assert_eq!(text(&model, "/S/c", "coordinates").as_deref(), Some("a b"));
    // A part of a dataset is one field, however often the text names it.
    assert!(model.find_var_at(b"/S/d").is_some() && model.find_var_at(b"/S/d_2").is_none());
    assert_eq!(file.skipped(), ["/S/d: StructMetadata has it, the file does not"]);
}

#[test]
fn names_of_coordinates_do_not_grow_with_the_product_of_fields() {
    let names = |prefix: &str, count: usize| -> Vec<String> {
        (0..count).map(|number| format!("{prefix}{number:04}")).collect()
    };
    let lengths = |geolocation: usize| {
        let file = shown(merged_swath(&names("geolocation", geolocation), &names("data", 1000)));
        let model = file.model();
        let text =
            |name: &String| text(&model, &format!("/S/{name}"), "coordinates").map_or(0, |text| text.len());
        (names("data", 1000).iter().map(text).sum::<usize>(), file.skipped())
    };
    let (few, skipped) = lengths(100);
    assert_eq!((few, skipped.len()), (1000 * (100 * 16 - 1), 0));
    let (many, skipped) = lengths(1000);
    assert_eq!(many, 0);
    assert_eq!(skipped, ["/S: coordinates: names of geolocation fields take more than 4096 bytes"]);
}
