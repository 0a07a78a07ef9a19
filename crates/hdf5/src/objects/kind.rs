//! Numbers of header messages ("Header Message Type").

/// NIL: unused space.
pub const NIL: u16 = 0x00;
/// Dataspace.
pub const DATASPACE: u16 = 0x01;
/// Link Info.
pub const LINK_INFO: u16 = 0x02;
/// Datatype.
pub const DATATYPE: u16 = 0x03;
/// Fill Value (Old).
pub const FILL_OLD: u16 = 0x04;
/// Fill Value.
pub const FILL: u16 = 0x05;
/// Link.
pub const LINK: u16 = 0x06;
/// External Data Files.
pub const EXTERNAL: u16 = 0x07;
/// Data Layout.
pub const LAYOUT: u16 = 0x08;
/// Group Info.
pub const GROUP_INFO: u16 = 0x0A;
/// Filter Pipeline.
pub const PIPELINE: u16 = 0x0B;
/// Attribute.
pub const ATTRIBUTE: u16 = 0x0C;
/// Shared Message Table.
pub const SHARED_TABLE: u16 = 0x0F;
/// Object Header Continuation.
pub const CONTINUATION: u16 = 0x10;
/// Symbol Table Message.
pub const SYMBOL_TABLE: u16 = 0x11;
/// Object Modification Time.
pub const MODIFICATION_TIME: u16 = 0x12;
/// B-tree 'K' Values.
pub const TREE_SIZES: u16 = 0x13;
/// Driver Information.
pub const DRIVER_INFO: u16 = 0x14;
/// Attribute Info.
pub const ATTRIBUTE_INFO: u16 = 0x15;
/// Object Reference Count.
pub const REFERENCE_COUNT: u16 = 0x16;
/// File Space Info.
pub const SPACE_INFO: u16 = 0x17;
/// Metadata Cache Image.
pub const CACHE_IMAGE: u16 = 0x18;

/// The specification's name of a message.
pub(crate) fn name(kind: u16) -> &'static str {
    match kind {
        NIL => "NIL",
        DATASPACE => "dataspace",
        LINK_INFO => "link info",
        DATATYPE => "datatype",
        FILL_OLD => "fill value (old)",
        FILL => "fill value",
        LINK => "link",
        EXTERNAL => "external data files",
        LAYOUT => "data layout",
        0x09 => "bogus",
        GROUP_INFO => "group info",
        PIPELINE => "filter pipeline",
        ATTRIBUTE => "attribute",
        0x0D => "object comment",
        0x0E => "object modification time (old)",
        SHARED_TABLE => "shared message table",
        CONTINUATION => "object header continuation",
        SYMBOL_TABLE => "symbol table message",
        MODIFICATION_TIME => "object modification time",
        TREE_SIZES => "B-tree 'K' values",
        DRIVER_INFO => "driver info",
        ATTRIBUTE_INFO => "attribute info",
        REFERENCE_COUNT => "object reference count",
        SPACE_INFO => "file space info",
        CACHE_IMAGE => "metadata cache image",
        _ => "unknown",
    }
}
