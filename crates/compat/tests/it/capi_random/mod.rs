//! Random calls through both C libraries: right ones, wrong ones, in any order and mode.
//!
//! Fill mode is on, so that every byte of a file is defined, and the two files must be equal. Only where data may have
//! moved they are not compared: what it left behind may be anything.

mod data;
mod define;

use std::ffi::c_int;

use ferrocdf::{Alignment, Atomic, CreateOptions, FileMut, Format, GroupId};
use ferrocdf_compat::both::{Session, compare};
use ferrocdf_compat::call;
use ferrocdf_store::testing::Rng;

use crate::FORMATS;
use crate::generate::types;

const NC_WRITE: c_int = 1;
const NC_NOCLOBBER: c_int = 4;
const NC_SHARE: c_int = 0x800;

/// A story as it is told to one of the libraries.
struct Teller<'a> {
    session: &'a Session<'a>,
    rng: Rng,
    format: Format,
    id: c_int,
    /// Whether variables may be defined.
    free: bool,
}

/// The flag of a format in `nc_create`.
fn flag(format: Format) -> c_int {
    match format {
        Format::OFFSET64 => 0x200,
        Format::DATA64 => 0x20,
        _ => 0,
    }
}

/// A file with dimensions and variables, and room behind its header, so that no data moves when that grows.
fn roomy(format: Format, rng: &mut Rng) -> Vec<u8> {
    let known: Vec<Atomic> = types(format).collect();
    let shapes: &[&[u32]] = match rng.below(3) {
        0 => &[&[], &[0], &[1], &[2, 1]],
        1 => &[&[0, 1], &[2], &[3, 2, 1]],
        _ => &[&[0], &[1, 2], &[0, 2, 1], &[], &[0, 1], &[0]],
    };
    let file = FileMut::in_memory(&CreateOptions::format(format)).unwrap();
    file.define(|model| {
        for (at, len) in [None, Some(3), Some(4), Some(1)].into_iter().enumerate() {
            model.def_dim(GroupId::ROOT, format!("d{at}"), len)?;
        }
        for (at, shape) in shapes.iter().enumerate() {
            let dims: Vec<_> = shape.iter().map(|&dim| ferrocdf::DimId(dim)).collect();
            model.def_var(GroupId::ROOT, format!("v{at}"), rng.pick(&known).into(), &dims)?;
        }
        Ok(())
    })
    .unwrap();
    file.commit_aligned(&Alignment { header_free: 8000, ..Alignment::default() }).unwrap();
    file.into_bytes().unwrap().unwrap()
}

impl Teller<'_> {
    fn create(&mut self) {
        let path = self.session.path("file.nc");
        call!(self.session, nc_create(path.as_ptr(), flag(self.format), &mut self.id));
        self.session.note(self.id);
        let mut other = 7;
        let mode = self.rng.pick(&[NC_NOCLOBBER, 0x220, 0x1020, 0x18, 0x8008]);
        call!(self.session, nc_create(path.as_ptr(), mode | NC_NOCLOBBER, &mut other));
        self.session.note((mode, other));
    }

    fn open(&mut self) {
        let mode = self.rng.pick(&[0, NC_WRITE, NC_WRITE, NC_WRITE, NC_SHARE, NC_WRITE | NC_SHARE]);
        let path = self.session.path("file.nc");
        call!(self.session, nc_open(path.as_ptr(), mode, &mut self.id));
        self.session.note((self.id, mode));
    }

    fn close(&mut self) {
        // An aborted file that is new is not extended to where its data starts.
        if !self.free && self.rng.once_in(4) {
            call!(self.session, nc_abort(self.id));
        } else {
            call!(self.session, nc_close(self.id));
        }
    }

    /// A call of any kind.
    fn step(&mut self) {
        match self.rng.below(8) {
            0 => self.mode(),
            1..=2 => self.define(),
            _ => self.data(),
        }
        self.records();
    }

    /// A call that changes the mode.
    fn mode(&mut self) {
        let Teller { session, id, .. } = *self;
        match self.rng.below(7) {
            0 => {
                // The reference loses records that were added since the last one when define mode is aborted.
                call!(session, nc_sync(id));
                call!(session, nc_redef(id));
            }
            1 => {
                call!(session, nc_enddef(id));
            }
            2 => {
                call!(session, nc__enddef(id, 0usize, 4usize, 0usize, 4usize));
            }
            3 => {
                call!(session, nc_sync(id));
            }
            4 => {
                self.close();
                self.open();
            }
            5 => {
                let mut old = -7;
                call!(session, nc_set_fill(id, self.rng.pick(&[0, 0, 1, -1]), &mut old));
                session.note(old);
            }
            _ => {
                let wrong = self.wrong_id();
                call!(session, nc_sync(wrong));
            }
        }
    }

    fn wrong_id(&mut self) -> c_int {
        let id = self.id;
        self.rng.pick(&[-1, 0, 1, id + 1, id + (1 << 16), i32::MAX, i32::MIN])
    }
}

/// Tells stories of a file that is there.
fn stories_of_open_files(format: Format, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        println!("{format:?}, an open file, story {seed}");
        let mut rng = Rng::new(seed);
        let start = roomy(format, &mut rng);
        compare(|session| {
            std::fs::write(session.path("file.nc").to_str().unwrap(), &start).unwrap();
            let mut teller = Teller { session, rng: rng.clone(), format, id: 0, free: false };
            teller.open();
            for _ in 0..40 {
                teller.step();
            }
            teller.close();
        });
    }
}

/// Tells stories of a new file.
fn stories_of_new_files(format: Format, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        println!("{format:?}, a new file, story {seed}");
        compare(|session| {
            let mut teller = Teller { session, rng: Rng::new(seed), format, id: 0, free: true };
            teller.create();
            for _ in 0..teller.rng.below(25) {
                teller.define();
            }
            let room = teller.rng.pick(&[0usize, 8000]);
            call!(session, nc__enddef(teller.id, room, 4usize, 0usize, 4usize));
            for _ in 0..30 {
                teller.step();
            }
            teller.close();
            if room == 0 {
                // A file that was aborted before it was complete is gone already.
                let _ = std::fs::remove_file(session.path("file.nc").to_str().unwrap());
            }
        });
    }
}

/// How many stories are told of each format and kind: `FERROCDF_STORIES`, or few enough for every day.
fn seeds() -> std::ops::Range<u64> {
    let asked = std::env::var("FERROCDF_STORIES").ok();
    0..asked.map_or(150, |count| count.parse().expect("FERROCDF_STORIES is a number"))
}

#[test]
fn random_calls_on_open_files_give_the_same() {
    for format in FORMATS {
        stories_of_open_files(format, seeds());
    }
}

#[test]
fn random_calls_on_new_files_give_the_same() {
    for format in FORMATS {
        stories_of_new_files(format, seeds());
    }
}
