//! The description that `StructMetadata` gives of a file: its grids, swaths and points, with the dimensions of their fields.
//!
//! Groups and keys are those of the HDF-EOS2 library (HDF-EOS Library User's Guide, volume 1, chapter 6). A grid, swath or point
//! that is malformed is skipped with the reason, so that it hides no other one.
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Code, Error, Result};

use super::odl::{Node, parse};

/// Number of parameters of a GCTP projection.
pub(super) const PARAMETERS: usize = 13;

/// The description of a file.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Structure {
    pub swaths: Vec<Swath>,
    pub grids: Vec<Grid>,
    pub points: Vec<Point>,
    /// A line for each object that is malformed: its name and the reason.
    pub skipped: Vec<String>,
}

/// A name as the file has it: bytes of any encoding.
pub(super) type Text = Vec<u8>;

/// A dimension (`Dimension`).
#[derive(Debug, PartialEq)]
pub(super) struct EosDimension {
    /// `DimensionName`.
    pub name: Text,
    /// `Size`; 0 for an unlimited dimension, which older libraries write as -1.
    pub size: u64,
}

/// A field (`GeoField`, `DataField`).
#[derive(Debug, PartialEq)]
pub(super) struct Field {
    /// `GeoFieldName` or `DataFieldName`.
    pub name: Text,
    /// `DimList`, slowest first.
    pub dims: Vec<Text>,
}

/// Fields that share one scientific dataset (`MergedFields`).
#[derive(Debug, PartialEq)]
pub(super) struct MergedFields {
    /// `MergedFieldName`: the name of the dataset.
    pub name: Text,
    /// `FieldList`.
    pub fields: Vec<Text>,
}

/// The relation between a geolocation dimension and a data dimension (`DimensionMap`): element `i` of the former belongs to
/// element `offset + i * increment` of the latter. A negative increment means the reverse: data element `i` belongs to
/// geolocation element `-offset - i * increment`.
#[derive(Debug, PartialEq)]
pub(super) struct DimensionMap {
    pub geo_dimension: Text,
    pub data_dimension: Text,
    pub offset: i64,
    pub increment: i64,
}

/// A relation that a Vdata of indices gives (`IndexDimensionMap`).
#[derive(Debug, PartialEq)]
pub(super) struct IndexMap {
    pub geo_dimension: Text,
    pub data_dimension: Text,
}

/// A swath (`SWATH_1`, …).
#[derive(Debug, Default, PartialEq)]
pub(super) struct Swath {
    pub name: Text,
    pub dims: Vec<EosDimension>,
    pub maps: Vec<DimensionMap>,
    pub index_maps: Vec<IndexMap>,
    pub geo_fields: Vec<Field>,
    pub data_fields: Vec<Field>,
    pub merged: Vec<MergedFields>,
}

/// A grid (`GRID_1`, …).
#[derive(Debug, Default, PartialEq)]
pub(super) struct Grid {
    pub name: Text,
    /// Number of columns (`XDim`) and of rows (`YDim`).
    pub columns: u64,
    pub rows: u64,
    /// `UpperLeftPointMtrs` and `LowerRightMtrs`: outer corners of the grid, metres, or packed degrees, minutes and seconds
    /// for a geographic grid. `None` for `DEFAULT`.
    pub upper_left: Option<[f64; 2]>,
    pub lower_right: Option<[f64; 2]>,
    /// `Projection`, such as `GCTP_SNSOID`; empty if there is none.
    pub projection: String,
    /// `ProjParams`.
    pub parameters: [f64; PARAMETERS],
    /// `SphereCode`, `ZoneCode`.
    pub sphere: i64,
    pub zone: i64,
    /// True if the coordinates of a cell are those of its corner at `origin` (`PixelRegistration=HDFE_CORNER`), not of its centre.
    pub is_corner_registered: bool,
    pub origin: GridOrigin,
    /// Why the place of the grid on the Earth is not known, if what says it is malformed; it is then that of no grid.
    pub malformed: Option<String>,
    pub dims: Vec<EosDimension>,
    pub fields: Vec<Field>,
    pub merged: Vec<MergedFields>,
}

/// The corner of a cell that gives the coordinates of the cell (`GridOrigin`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum GridOrigin {
    #[default]
    UpperLeft,
    UpperRight,
    LowerLeft,
    LowerRight,
}

/// A point data set (`POINT_1`, …): tables, each of which refers to the one above it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Point {
    pub name: Text,
    pub levels: Vec<Level>,
}

/// A table of a point data set (`Level`).
#[derive(Debug, PartialEq)]
pub(super) struct Level {
    /// `LevelName`.
    pub name: Text,
}

impl Structure {
    /// Reads the description from the text of `StructMetadata.0`, `.1`, … in their order.
    ///
    /// # Errors
    /// `NC_EHDFERR` for text that is no ODL.
    pub fn read(text: &[u8]) -> Result<Structure> {
        let whole = parse(text)?;
        let mut structure = Structure::default();
        let skipped = &mut structure.skipped;
        each(&whole, "SwathStructure", &mut structure.swaths, skipped, swath);
        each(&whole, "GridStructure", &mut structure.grids, skipped, grid);
        each(&whole, "PointStructure", &mut structure.points, skipped, point);
        Ok(structure)
    }
}

/// Reads the objects of a group; those that are malformed are skipped.
fn each<T>(
    whole: &Node<'_>,
    group: &str,
    list: &mut Vec<T>,
    skipped: &mut Vec<String>,
    read: fn(&Node<'_>) -> Result<T>,
) {
    for node in whole.child(group).map_or(&[][..], |group| &group.children) {
        match read(node) {
            Ok(object) => list.push(object),
            Err(error) => skipped.push(error.to_string()),
        }
    }
}

fn swath(node: &Node<'_>) -> Result<Swath> {
    Ok(Swath {
        name: text(node, "SwathName")?,
        dims: list(node, "Dimension", dimension)?,
        maps: list(node, "DimensionMap", |map| {
            Ok(DimensionMap {
                geo_dimension: text(map, "GeoDimension")?,
                data_dimension: text(map, "DataDimension")?,
                offset: number(map, "Offset")?,
                increment: number(map, "Increment")?,
            })
        })?,
        index_maps: list(node, "IndexDimensionMap", |map| {
            Ok(IndexMap {
                geo_dimension: text(map, "GeoDimension")?,
                data_dimension: text(map, "DataDimension")?,
            })
        })?,
        geo_fields: list(node, "GeoField", |node| field(node, "GeoFieldName"))?,
        data_fields: list(node, "DataField", |node| field(node, "DataFieldName"))?,
        merged: list(node, "MergedFields", merged)?,
    })
}

fn grid(node: &Node<'_>) -> Result<Grid> {
    // Fields are read without a place on the Earth: what is odd there costs no more than the coordinates.
    let placed = placed(node)
        .unwrap_or_else(|error| Grid { malformed: Some(error.what.to_string()), ..Grid::default() });
    Ok(Grid {
        name: text(node, "GridName")?,
        columns: size(node, "XDim")?,
        rows: size(node, "YDim")?,
        dims: list(node, "Dimension", dimension)?,
        fields: list(node, "DataField", |node| field(node, "DataFieldName"))?,
        merged: list(node, "MergedFields", merged)?,
        ..placed
    })
}

/// Reads the projection and the corners of a grid. The grid that is returned has no name, dimensions or fields yet.
fn placed(node: &Node<'_>) -> Result<Grid> {
    let mut parameters = [0.0; PARAMETERS];
    for (parameter, item) in parameters.iter_mut().zip(node.items("ProjParams").unwrap_or_default()) {
        *parameter = parsed(item).ok_or_else(|| malformed(node, "ProjParams", "is no list of numbers"))?;
    }
    let origin = match node.value("GridOrigin") {
        Some(b"HDFE_GD_UR") => GridOrigin::UpperRight,
        Some(b"HDFE_GD_LL") => GridOrigin::LowerLeft,
        Some(b"HDFE_GD_LR") => GridOrigin::LowerRight,
        _ => GridOrigin::UpperLeft,
    };
    let projection = node.value("Projection").unwrap_or_default();
    Ok(Grid {
        upper_left: corner(node, "UpperLeftPointMtrs")?,
        lower_right: corner(node, "LowerRightMtrs")?,
        projection: String::from_utf8_lossy(projection).into_owned(),
        parameters,
        sphere: optional(node, "SphereCode")?,
        zone: optional(node, "ZoneCode")?,
        is_corner_registered: node.value("PixelRegistration") == Some(b"HDFE_CORNER"),
        origin,
        ..Grid::default()
    })
}

fn point(node: &Node<'_>) -> Result<Point> {
    let levels = list(node, "Level", |level| Ok(Level { name: text(level, "LevelName")? }))?;
    Ok(Point { name: text(node, "PointName")?, levels })
}

fn dimension(node: &Node<'_>) -> Result<EosDimension> {
    // A negative size is that of an unlimited dimension.
    let size: i32 = number(node, "Size")?;
    Ok(EosDimension { name: text(node, "DimensionName")?, size: u64::try_from(size).unwrap_or(0) })
}

fn field(node: &Node<'_>, name: &str) -> Result<Field> {
    let dims = node.items("DimList").ok_or_else(|| malformed(node, "DimList", "is missing"))?;
    Ok(Field { name: text(node, name)?, dims: dims.iter().map(|dim| dim.to_vec()).collect() })
}

fn merged(node: &Node<'_>) -> Result<MergedFields> {
    let fields = node.items("FieldList").ok_or_else(|| malformed(node, "FieldList", "is missing"))?;
    Ok(MergedFields {
        name: text(node, "MergedFieldName")?,
        fields: fields.iter().map(|field| field.to_vec()).collect(),
    })
}

/// Reads all objects of a group inside a grid, swath or point.
fn list<T>(node: &Node<'_>, group: &str, read: impl Fn(&Node<'_>) -> Result<T>) -> Result<Vec<T>> {
    let objects = node.child(group).map_or(&[][..], |group| &group.children);
    objects.iter().map(|object| read(object).map_err(|error| error.at(lossy(node.name)))).collect()
}

/// Reads a corner: two numbers, or `DEFAULT`.
fn corner(node: &Node<'_>, key: &str) -> Result<Option<[f64; 2]>> {
    match node.items(key) {
        None | Some([b"DEFAULT"]) => Ok(None),
        Some([x, y]) => match (parsed(x), parsed(y)) {
            (Some(x), Some(y)) => Ok(Some([x, y])),
            _ => Err(malformed(node, key, "is not two numbers")),
        },
        Some(_) => Err(malformed(node, key, "is not two numbers")),
    }
}

fn text(node: &Node<'_>, key: &str) -> Result<Text> {
    node.value(key).map(<[u8]>::to_vec).ok_or_else(|| malformed(node, key, "is missing"))
}

fn number<T: std::str::FromStr>(node: &Node<'_>, key: &str) -> Result<T> {
    let value = node.value(key).ok_or_else(|| malformed(node, key, "is missing"))?;
    parsed(value).ok_or_else(|| malformed(node, key, &format!("is {:?}, not a number", lossy(value))))
}

/// Reads the length of a dimension, which HDF4 keeps in 32 bits with a sign.
fn size(node: &Node<'_>, key: &str) -> Result<u64> {
    let size: i32 = number(node, key)?;
    u64::try_from(size).map_err(|_| malformed(node, key, "is negative"))
}

fn optional(node: &Node<'_>, key: &str) -> Result<i64> {
    if node.items(key).is_some() { number(node, key) } else { Ok(0) }
}

fn parsed<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn malformed(node: &Node<'_>, key: &str, why: &str) -> Error {
    Error::new(Code::EHDFERR, format!("StructMetadata: {}: {key} {why}", lossy(node.name)))
}

fn lossy(text: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Text {
        text.as_bytes().to_vec()
    }

    #[test]
    fn grid_has_corners_projection_and_fields() {
        let text = b"GROUP=GridStructure\nGROUP=GRID_1\nGridName=\"Snow\"\nXDim=4\nYDim=3\n\
            UpperLeftPointMtrs=(-20015109.354000,1111950.519720)\nLowerRightMtrs=(-18903158.834340,0.000060)\n\
            Projection=GCTP_SNSOID\nProjParams=(6371007.181000,0,0,0,0,0,86400,0,0,0,0,0,0)\nSphereCode=-1\n\
            PixelRegistration=HDFE_CORNER\nGridOrigin=HDFE_GD_LL\n\
            GROUP=Dimension\nOBJECT=Dimension_1\nDimensionName=\"Band\"\nSize=-1\nEND_OBJECT=Dimension_1\nEND_GROUP=Dimension\n\
            GROUP=DataField\nOBJECT=DataField_1\nDataFieldName=\"Cover\"\nDataType=DFNT_UINT8\n\
            DimList=(\"Band\",\"YDim\",\"XDim\")\nEND_OBJECT=DataField_1\nEND_GROUP=DataField\n\
            GROUP=MergedFields\nOBJECT=MergedFields_1\nMergedFieldName=\"MRGFLD_Cover\"\nFieldList=(\"Cover\",\"Age\")\n\
            END_OBJECT=MergedFields_1\nEND_GROUP=MergedFields\nEND_GROUP=GRID_1\nEND_GROUP=GridStructure\nEND\n";
        let structure = Structure::read(text).unwrap();
        let [grid] = structure.grids.as_slice() else { panic!("{structure:?}") };
        assert_eq!((grid.columns, grid.rows), (4, 3));
        assert_eq!(grid.upper_left, Some([-20015109.354, 1111950.51972]));
        assert_eq!(grid.lower_right, Some([-18903158.83434, 0.00006]));
        assert_eq!((grid.projection.as_str(), grid.sphere, grid.zone), ("GCTP_SNSOID", -1, 0));
        assert_eq!((grid.parameters[0], grid.parameters[6]), (6371007.181, 86400.0));
        assert!(grid.is_corner_registered);
        assert_eq!(grid.origin, GridOrigin::LowerLeft);
        assert_eq!(grid.dims, [EosDimension { name: name("Band"), size: 0 }]);
        assert_eq!(grid.fields[0].dims, [name("Band"), name("YDim"), name("XDim")]);
        assert_eq!(grid.merged[0].fields, [name("Cover"), name("Age")]);
        assert!(structure.skipped.is_empty());
    }

    #[test]
    fn swath_has_dimension_maps_and_index_maps() {
        let text = b"GROUP=SwathStructure\nGROUP=SWATH_1\nSwathName=\"S\"\n\
            GROUP=DimensionMap\nOBJECT=DimensionMap_1\nGeoDimension=\"line\"\nDataDimension=\"scan\"\nOffset=1\nIncrement=-2\n\
            END_OBJECT=DimensionMap_1\nEND_GROUP=DimensionMap\nGROUP=IndexDimensionMap\nOBJECT=IndexDimensionMap_1\n\
            GeoDimension=\"a\"\nDataDimension=\"b\"\nEND_OBJECT=IndexDimensionMap_1\nEND_GROUP=IndexDimensionMap\n\
            GROUP=GeoField\nOBJECT=GeoField_1\nGeoFieldName=\"Latitude\"\nDimList=(\"line\")\nEND_OBJECT=GeoField_1\n\
            END_GROUP=GeoField\nEND_GROUP=SWATH_1\nEND_GROUP=SwathStructure\n";
        let swath = Structure::read(text).unwrap().swaths.remove(0);
        let (geo_dimension, data_dimension) = (name("line"), name("scan"));
        assert_eq!(swath.maps, [DimensionMap { geo_dimension, data_dimension, offset: 1, increment: -2 }]);
        assert_eq!(swath.index_maps, [IndexMap { geo_dimension: name("a"), data_dimension: name("b") }]);
        assert_eq!(swath.geo_fields, [Field { name: name("Latitude"), dims: vec![name("line")] }]);
    }

    #[test]
    fn malformed_object_hides_no_other_one() {
        let text = b"GROUP=GridStructure\nGROUP=GRID_1\nGridName=\"A\"\nXDim=-4\nYDim=3\nEND_GROUP=GRID_1\n\
            GROUP=GRID_2\nGridName=\"B\"\nXDim=1\nYDim=1\nUpperLeftPointMtrs=DEFAULT\nEND_GROUP=GRID_2\n\
            GROUP=GRID_3\nGridName=\"C\"\nXDim=1\nYDim=1\nLowerRightMtrs=(1,x)\nEND_GROUP=GRID_3\nEND_GROUP=GridStructure\n\
            GROUP=PointStructure\nGROUP=POINT_1\nPointName=\"P\"\nGROUP=Level\nOBJECT=Level_1\nLevelName=\"Sensor\"\n\
            END_OBJECT=Level_1\nEND_GROUP=Level\nEND_GROUP=POINT_1\nEND_GROUP=PointStructure\nEND";
        let structure = Structure::read(text).unwrap();
        let [b, c] = structure.grids.as_slice() else { panic!("{structure:?}") };
        assert_eq!((&b.name[..], b.upper_left, &b.malformed), (&b"B"[..], None, &None));
        let corner = "StructMetadata: GRID_3: LowerRightMtrs is not two numbers";
        assert_eq!((&c.name[..], c.columns, c.malformed.as_deref()), (&b"C"[..], 1, Some(corner)));
        assert_eq!(structure.points[0].levels, [Level { name: name("Sensor") }]);
        assert_eq!(structure.skipped, ["StructMetadata: GRID_1: XDim is negative (NetCDF: HDF error)"]);
    }
}
