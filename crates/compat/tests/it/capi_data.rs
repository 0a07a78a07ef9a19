//! Data through both C libraries, where random calls do not reach: readers and writers of one file.

use std::ffi::c_int;

use ferrocdf::{CreateOptions, FileMut, Format, GroupId};
use ferrocdf_compat::both::{Session, compare};
use ferrocdf_compat::call;

const NC_WRITE: c_int = 1;
const NC_SHARE: c_int = 0x800;

/// A file with a record variable.
fn start(session: &Session<'_>) {
    let path = session.path("shared.nc");
    let file = FileMut::create(path.to_str().unwrap(), &CreateOptions::format(Format::CLASSIC)).unwrap();
    file.define(|model| {
        let t = model.def_dim(GroupId::ROOT, "t", None)?;
        model.def_var(GroupId::ROOT, "v", ferrocdf::Atomic::Int.into(), &[t])
    })
    .unwrap();
    file.close().unwrap();
}

fn get(session: &Session<'_>, id: c_int, record: usize) {
    let mut value = -7;
    call!(session, nc_get_var1_int(id, 0, &record, &mut value));
    session.note(value);
}

#[test]
fn a_sharing_reader_sees_what_a_sharing_writer_adds_and_changes() {
    compare(|session| {
        start(session);
        let path = session.path("shared.nc");
        let (mut writer, mut reader, mut other) = (0, 0, 0);
        call!(session, nc_open(path.as_ptr(), NC_WRITE | NC_SHARE, &mut writer));
        call!(session, nc_open(path.as_ptr(), NC_SHARE, &mut reader));
        call!(session, nc_open(path.as_ptr(), 0, &mut other));
        for (record, value) in [(0usize, 1), (3, 4), (1, 2), (4, 5), (0, 9), (1, 8), (2, 7), (3, 6), (0, 5)] {
            call!(session, nc_put_var1_int(writer, 0, &record, &value));
            for record in 0..7 {
                get(session, reader, record);
                let mut records = 0usize;
                call!(session, nc_inq_dimlen(reader, 0, &mut records));
                session.note(records);
            }
            // Who does not share knows of no new records.
            get(session, other, record);
        }
        // Nothing that was read ahead is taken for what is there now.
        for value in 0..3 {
            (0..5).for_each(|record| get(session, reader, record));
            (0..5usize).for_each(|record| {
                call!(session, nc_put_var1_int(writer, 0, &record, &value));
            });
        }
        for id in [writer, reader, other] {
            call!(session, nc_close(id));
        }
    });
}

#[test]
fn a_sharing_writer_that_dies_leaves_its_records() {
    compare(|session| {
        start(session);
        let path = session.path("shared.nc");
        let mut writer = 0;
        call!(session, nc_open(path.as_ptr(), NC_WRITE | NC_SHARE, &mut writer));
        for record in [2usize, 0] {
            call!(session, nc_put_var1_int(writer, 0, &record, &3));
            session.note(std::fs::read(path.to_str().unwrap()).unwrap());
        }
        // No elements, but records all the same.
        call!(session, nc_put_vara_int(writer, 0, &5usize, &0usize, &3));
        session.note(std::fs::read(path.to_str().unwrap()).unwrap());
        call!(session, nc_close(writer));
    });
}
