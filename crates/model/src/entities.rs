//! The parts of a model.

use crate::filters::Filter;
use crate::named::Index;
use crate::{Atomic, Attrs, HasName, Name, Type, Values};

macro_rules! ids {
    ($($(#[$doc:meta])* $id:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $id(pub u32);

        impl $id {
            /// The position in its arena.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            pub(crate) fn from_index(index: usize) -> Self {
                // An arena of 2^32 entries does not fit in memory.
                $id(u32::try_from(index).expect("fewer than 2^32 entries"))
            }
        }
    )* };
}

ids! {
    /// A group; the root is `GroupId(0)`.
    GroupId;
    /// A dimension; unique in the file, as in netCDF-4.
    DimId;
    /// A variable; unique in the file. The `varid` of C is the position in its group.
    VarId;
    /// A user-defined type; unique in the file.
    TypeId;
}

impl GroupId {
    /// The root group.
    pub const ROOT: GroupId = GroupId(0);
}

/// What an attribute belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// A group; global attributes belong to the root group.
    Group(GroupId),
    /// A variable.
    Var(VarId),
}

/// A dimension.
#[derive(Clone, Debug, PartialEq)]
pub struct Dim {
    /// Its name.
    pub name: Name,
    /// The group it was defined in.
    pub group: GroupId,
    /// Its length now.
    pub len: u64,
    /// Whether it grows.
    pub unlimited: bool,
}

/// An attribute.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attr {
    /// Its name.
    pub name: Name,
    /// Its values.
    pub value: Values,
    /// The JSON that it was read from, where its values alone would not give the same JSON: an object that netCDF sees as text, `true`, or
    /// `[1.50]`. Formats without JSON do not store it.
    pub json: Option<Box<str>>,
}

impl Attr {
    /// Makes an attribute of a name and values.
    pub fn new(name: Name, value: Values) -> Attr {
        Attr { name, value, json: None }
    }
}

/// A variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Var {
    /// Its name.
    pub name: Name,
    /// The group it is in.
    pub group: GroupId,
    /// The type of its elements.
    pub ty: Type,
    /// Its dimensions, slowest first.
    pub dims: Vec<DimId>,
    /// Its attributes.
    pub attrs: Attrs,
    /// How it is stored, or is to be stored.
    pub storage: Storage,
}

/// How a variable is stored, for formats that leave a choice.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Storage {
    /// Elements never written are left undefined instead of filled.
    pub no_fill: bool,
    /// Fill value of a netCDF-4 variable that is to be made, whatever `no_fill` and its attributes say. Of a variable that is in
    /// the file already this says nothing.
    pub fill: Option<StoredFill>,
    /// Contiguous, compact or chunked; `None` leaves it to the format.
    pub chunking: Option<Chunking>,
    /// Shape of the shards in elements, a multiple of that of the chunks; `None` for chunks that are objects of their own. Zarr 3 only.
    pub shards: Option<Vec<u64>>,
    /// What else a Zarr array has, for copies in Zarr stores; other formats ignore it.
    pub zarr: ZarrForm,
    /// Byte order; `None` leaves it to the format.
    pub endian: Option<Endian>,
    /// The filters in the order they are applied when writing.
    pub filters: Vec<Filter>,
    /// Codecs of a Zarr array that have no HDF5 number, in the order they are applied when writing; without those that only reorder
    /// dimensions. Other formats ignore them.
    pub named_codecs: Vec<NamedCodec>,
    /// Whether the parameters of the filters are those of a file with elements and chunks like these, so that filters have
    /// learned what they must. Of a variable that is in the file already this says nothing.
    pub settled: bool,
    /// Of a variable that is in a file: whether its elements are stored as netCDF stores such, so that a copy with the same
    /// chunks has the same to tell its filters. Of one that is to be made this says nothing.
    pub as_usual: bool,
    /// How numbers are rounded that are written; an attribute of the file says it, which is written with the variable. Of a
    /// variable that is in the file already this is `None`.
    pub quantize: Option<Quantize>,
    /// Variables of other files that a netCDF-4 variable is made of, which is to be made as a virtual dataset of HDF5; its chunks and filters are
    /// then those of the others. Of a variable that is in the file already this says nothing.
    pub sources: Vec<SourceVariable>,
}

/// A variable of another HDF5 file whose elements are a box of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceVariable {
    /// The name of the other file: a relative path begins in the folder of the file.
    pub file: Vec<u8>,
    /// The path of the dataset in the other file.
    pub path: Vec<u8>,
    /// The coordinates of the first element of the box.
    pub start: Vec<u64>,
    /// The shape of the other variable, and of the box.
    pub count: Vec<u64>,
}

/// How a Zarr array is stored where netCDF has no word for it.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ZarrForm {
    /// The data type as Zarr 2 spells it (`<M8[ns]`, `[["name","<U5"],["n","<i4"]]`), where the type of the variable stands for several; it
    /// is ignored, of structures each field, if it does not become that type.
    pub data_type: Option<String>,
    /// The dimensions in the order in which the elements of a chunk are stored, slowest first; empty for that of the variable.
    pub order: Vec<usize>,
    /// True if the index of a shard is at its begin, false if it is at its end.
    pub index_first: bool,
    /// The fill value of an array that was read, of the variable's type, where no attribute need tell it: of all arrays of version 3 but
    /// vlens, and of version 2 those of booleans, times, complex numbers, structures, bytes and text. A new array takes its fill
    /// value from [`Storage::fill`].
    pub fill: Option<Values>,
}

/// A codec of a Zarr array that has no HDF5 number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCodec {
    /// The registered name.
    pub name: String,
    /// The parameters; `None` for a codec that depends on the type or the shape of a chunk, which a new array cannot have.
    pub params: Option<Vec<u32>>,
    /// The number of [`Storage::filters`] that are applied before it.
    pub filters_before: usize,
}

/// Fill value of a dataset, of which every reader makes the elements that were never written.
#[derive(Clone, Debug, PartialEq)]
pub enum StoredFill {
    /// Zeros, HDF5's default. To netCDF libraries the variable has no fill value.
    Default,
    /// One value of the variable's type.
    Value(Values),
}

/// How numbers are rounded so that they compress better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantize {
    /// The way.
    pub way: Quantization,
    /// Significant decimal digits that are kept, or bits with [`Quantization::BitRound`].
    pub digits: u32,
}

/// The ways to round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantization {
    /// Bits beyond the precision are cleared and set in turns.
    BitGroom,
    /// Each number is rounded to the bits that its digits need.
    GranularBitRound,
    /// All are rounded to the same number of bits.
    BitRound,
}

impl Quantization {
    /// Returns the most digits, or bits with [`Quantization::BitRound`], that can be kept of numbers of a type; `None` for types that
    /// are not rounded.
    pub fn most_digits(self, ty: Type) -> Option<u32> {
        let [float, double] = match self {
            Quantization::BitGroom | Quantization::GranularBitRound => [6, 15],
            Quantization::BitRound => [23, 52],
        };
        match ty {
            Type::Atomic(Atomic::Float) => Some(float),
            Type::Atomic(Atomic::Double) => Some(double),
            _ => None,
        }
    }
}

/// The arrangement of a variable's data.
#[derive(Clone, Debug, PartialEq)]
pub enum Chunking {
    /// One run of bytes.
    Contiguous,
    /// Inside the header.
    Compact,
    /// Chunks of this shape, in elements.
    Chunked(Vec<u64>),
}

/// Byte order of stored numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endian {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

/// A group.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Group {
    /// Its name; the root's is empty.
    pub name: Name,
    /// The group it is in; `None` for the root.
    pub parent: Option<GroupId>,
    /// Groups defined in it, in definition order.
    pub groups: Vec<GroupId>,
    /// Dimensions defined in it.
    pub dims: Vec<DimId>,
    /// Types defined in it.
    pub types: Vec<TypeId>,
    /// Variables defined in it; the position is the `varid` of C.
    pub vars: Vec<VarId>,
    /// Its attributes.
    pub attrs: Attrs,
    pub(crate) dim_index: Index,
    pub(crate) var_index: Index,
}

macro_rules! has_name {
    ($($thing:ty),*) => { $(
        impl HasName for $thing {
            fn name(&self) -> &Name {
                &self.name
            }
            fn set_name(&mut self, name: Name) {
                self.name = name;
            }
        }
    )* };
}

has_name!(Dim, Attr, Var, Group);
