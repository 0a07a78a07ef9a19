//! Elements, Vgroups and Vdatas.

use ferrocdf_hdf4::{Piece, Place, Storage, tags};

use crate::build::{Builder, DEFLATE, RLE, SPECIAL, compressed};
use crate::{open, open_beside};

#[test]
fn descriptors_are_found_in_all_blocks() {
    for per_block in [1, 16, 200] {
        let mut builder = Builder::default();
        for number in 0..100u8 {
            builder.add(1000, &[number; 3]);
        }
        builder.put_unwritten(1001, 7);
        let file = open(builder.finish(per_block));
        assert_eq!(file.descriptors_of(1000).count(), 100);
        assert_eq!(file.bytes(1000, 100).unwrap().unwrap(), [99; 3]);
        assert!(file.bytes(1001, 7).unwrap().unwrap().is_empty());
        assert_eq!(file.bytes(1001, 8).unwrap(), None);
    }
}

/// An element of 10 bytes in linked blocks: one of 3 bytes, one of 4 that was never written, one of 4 of which 3 count.
fn linked(builder: &mut Builder) -> Vec<u8> {
    let first = builder.add(tags::LINKED, b"abc");
    let last = builder.add(tags::LINKED, b"hijk");
    let second_table = builder.reference();
    let table = builder
        .add(tags::LINKED, &[second_table.to_be_bytes(), first.to_be_bytes(), 0u16.to_be_bytes()].concat());
    builder.put(tags::LINKED, second_table, &[[0, 0], last.to_be_bytes(), [0, 0]].concat());
    [&[0, 1][..], &10u32.to_be_bytes(), &4u32.to_be_bytes(), &2u32.to_be_bytes(), &table.to_be_bytes()]
        .concat()
}

#[test]
fn linked_blocks_are_read_in_their_order_with_zeros_for_unwritten_ones() {
    let mut builder = Builder::default();
    let header = linked(&mut builder);
    builder.put(1000 | SPECIAL, 1, &header);
    let file = open(builder.finish(16));
    assert_eq!(file.bytes(1000, 1).unwrap().unwrap(), b"abc\0\0\0\0hij");
    let Storage::Pieces(pieces) = file.element(1000, 1).unwrap().unwrap().storage else { panic!() };
    let lens: Vec<u64> = pieces.iter().map(|piece| piece.len).collect();
    assert_eq!(lens, [3, 4, 3]);
    assert!(matches!(pieces[1], Piece { place: Place::Unwritten, len: 4 }));
}

#[test]
fn compressed_elements_are_decoded_even_from_linked_blocks() {
    let mut builder = Builder::default();
    // A run of 5 and "xyz".
    let stored = [0x82, b'a', 0x02, b'x', b'y', b'z'];
    let data = builder.add(tags::COMPRESSED, &stored);
    builder.put(1000 | SPECIAL, 1, &compressed(8, data, RLE));
    let (first, second) = (builder.add(tags::LINKED, &stored[..2]), builder.add(tags::LINKED, &stored[2..]));
    let table = builder.add(tags::LINKED, &[[0, 0], first.to_be_bytes(), second.to_be_bytes()].concat());
    let header =
        [&[0, 1][..], &6u32.to_be_bytes(), &4u32.to_be_bytes(), &2u32.to_be_bytes(), &table.to_be_bytes()]
            .concat();
    builder.put(tags::COMPRESSED | SPECIAL, 900, &header);
    builder.put(1000 | SPECIAL, 2, &compressed(8, 900, RLE));
    builder.put(1000 | SPECIAL, 3, &compressed(8, data, DEFLATE));
    let file = open(builder.finish(16));
    assert_eq!(file.bytes(1000, 1).unwrap().unwrap(), b"aaaaaxyz");
    assert_eq!(file.bytes(1000, 2).unwrap().unwrap(), b"aaaaaxyz");
    assert!(file.bytes(1000, 3).unwrap_err().to_string().contains("deflate"));
}

#[test]
fn external_elements_are_ranges_of_the_file_that_they_name() {
    let mut builder = Builder::default();
    let header =
        [&[0, 2][..], &4u32.to_be_bytes(), &2u32.to_be_bytes(), &5u32.to_be_bytes(), b"other"].concat();
    builder.put(1000 | SPECIAL, 1, &header);
    let bytes = builder.finish(16);
    let file = open_beside(bytes.clone(), "other", b"..data..".to_vec());
    assert_eq!(file.bytes(1000, 1).unwrap().unwrap(), b"data");
    let missing = open(bytes).bytes(1000, 1).unwrap_err();
    assert!(missing.to_string().contains("\"other\": it does not exist"), "{missing}");
}

#[test]
fn vgroups_and_vdatas_have_names_members_and_fields() {
    let mut builder = Builder::default();
    let fields = [("time", 24, 4, 1), ("place", 5, 4, 2)];
    let rows: Vec<u8> =
        (0..3u32).flat_map(|row| [row, 0x3f80_0000, row].map(u32::to_be_bytes)).flatten().collect();
    let table = builder.vdata("track", "Table", &fields, &rows);
    let group = builder.vgroup("cruise", "Trip", &[(tags::VH, table), (tags::VG, 3)]);
    let file = open(builder.finish(4));
    let vgroup = file.vgroup(group).unwrap();
    assert_eq!((&*vgroup.name, &*vgroup.class), (&b"cruise"[..], &b"Trip"[..]));
    assert_eq!(vgroup.members, [(tags::VH, table), (tags::VG, 3)]);
    let vdata = file.vdata(table).unwrap();
    assert_eq!((vdata.records, vdata.record_size, vdata.fields.len()), (3, 12, 2));
    assert_eq!(vdata.values(&file, 0).unwrap(), [0u32, 1, 2].map(u32::to_be_bytes).concat());
    assert_eq!(vdata.values(&file, 1).unwrap()[16..], [0x3f80_0000u32, 2].map(u32::to_be_bytes).concat());
    assert!(vdata.values(&file, 2).is_err());
    assert_eq!(file.vdatas().len(), 1);
}

#[test]
fn fields_that_do_not_lie_in_records_are_together() {
    let mut builder = Builder::default();
    let table = builder.vdata("t", "", &[("a", 22, 2, 1), ("b", 21, 1, 1)], &[0, 1, 0, 2, 7, 8]);
    let mut bytes = builder.finish(4);
    // The interlace is the first field of the description.
    let at = bytes.windows(8).position(|part| part == [0, 0, 0, 0, 0, 2, 0, 3]).unwrap();
    bytes[at + 1] = 1;
    let file = open(bytes);
    let vdata = file.vdata(table).unwrap();
    assert_eq!(vdata.values(&file, 0).unwrap(), [0, 1, 0, 2]);
    assert_eq!(vdata.values(&file, 1).unwrap(), [7, 8]);
}
