//! Tags: the kinds of objects (Specification, chapter 9, "Tag Descriptions").

/// A free descriptor.
pub const NULL: u16 = 1;
/// Version of the library that wrote the file.
pub const VERSION: u16 = 30;
/// Compressed raster of an old interface: run lengths.
pub const RLE: u16 = 11;
/// Compressed raster of an old interface: squares of two colours.
pub const IMC: u16 = 12;
/// Compressed raster of an old interface: the first and the last one of four kinds of JPEG.
pub const JPEG: u16 = 13;
/// See [`JPEG`].
pub const GREY_JPEG_5: u16 = 16;
/// A block, or a table of blocks, of a linked-block element.
pub const LINKED: u16 = 20;
/// Bytes of a compressed element.
pub const COMPRESSED: u16 = 40;
/// A chunk of a chunked element.
pub const CHUNK: u16 = 61;
/// File identifier: a label of the file.
pub const FID: u16 = 100;
/// File descriptor: text about the file.
pub const FD: u16 = 101;
/// Label of an object.
pub const DIL: u16 = 104;
/// Text about an object.
pub const DIA: u16 = 105;
/// Number type.
pub const NT: u16 = 106;
/// Dimensions of a raster (and of its palette).
pub const ID: u16 = 300;
/// Palette.
pub const LUT: u16 = 301;
/// Raster.
pub const RI: u16 = 302;
/// Compressed raster.
pub const CI: u16 = 303;
/// The group of a raster.
pub const RIG: u16 = 306;
/// Dimensions of an 8-bit raster of the oldest kind.
pub const ID8: u16 = 200;
/// Palette of the oldest kind.
pub const IP8: u16 = 201;
/// 8-bit raster of the oldest kind.
pub const RI8: u16 = 202;
/// Run-length encoded 8-bit raster of the oldest kind.
pub const CI8: u16 = 203;
/// IMCOMP encoded 8-bit raster of the oldest kind.
pub const II8: u16 = 204;
/// The group of a dataset of the oldest kind, of 32-bit floats.
pub const SDG: u16 = 700;
/// Rank, dimensions and number types of a dataset.
pub const SDD: u16 = 701;
/// Data of a dataset.
pub const SD: u16 = 702;
/// Scales of a dataset.
pub const SDS: u16 = 703;
/// Labels of a dataset and its dimensions.
pub const SDL: u16 = 704;
/// Units of a dataset and its dimensions.
pub const SDU: u16 = 705;
/// Display formats of a dataset and its dimensions.
pub const SDF: u16 = 706;
/// Largest and smallest value of a dataset.
pub const SDM: u16 = 707;
/// Coordinate system of a dataset.
pub const SDC: u16 = 708;
/// Link between the group of a dataset and its group of the oldest kind.
pub const SDLNK: u16 = 710;
/// The group of a dataset.
pub const NDG: u16 = 720;
/// Calibration of a dataset.
pub const CAL: u16 = 731;
/// Vgroup.
pub const VG: u16 = 1965;
/// Description of a Vdata.
pub const VH: u16 = 1962;
/// Records of a Vdata.
pub const VS: u16 = 1963;

/// The bit that marks the descriptor of a special element.
const SPECIAL: u16 = 0x4000;
/// The bit of tags of programs, which have no special form.
const EXTENDED: u16 = 0x8000;

/// Returns the tag without the mark of special elements, and whether it had the mark.
pub(crate) fn split(tag: u16) -> (u16, bool) {
    match tag & EXTENDED == 0 && tag & SPECIAL != 0 {
        true => (tag & !SPECIAL, true),
        false => (tag, false),
    }
}
