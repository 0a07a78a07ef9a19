//! Calls that define, and that ask what is defined.

use std::ffi::{CStr, c_char, c_int};
use std::ptr::null;

use ferrocdf::Atomic;
use ferrocdf_compat::both::text;
use ferrocdf_compat::call;

use super::Teller;
use super::data::{BEFORE, MEMORY};

/// Names, most of them right. Those of one kind are equally long, so that none gets shorter outside define mode.
const DIMS: [&CStr; 8] = [c"d0", c"d1", c"d2", c"d3", c"d4", c"", c"a/b", c"x "];
const VARS: [&CStr; 9] = [c"v0", c"v1", c"v2", c"v3", c"v4", c"v5", c"", c"a/b", c"_V"];
const ATTRS: [&CStr; 8] = [c"a0", c"a1", c"a2", c"a3", c"_FillValue", c"", c"a/b", c" a"];

const FILL: &CStr = c"_FillValue";

/// The most values of an attribute here.
const MOST: usize = 6;

impl Teller<'_> {
    /// A call that defines or asks.
    pub fn define(&mut self) {
        match self.rng.below(20) {
            0..=1 => self.dimension(),
            2..=4 => self.new_variable(),
            5..=8 => self.put_attribute(),
            9..=10 => self.get_attribute(),
            11 => self.rename(),
            12 => self.attribute_calls(),
            13 => self.fill_value(),
            _ => self.ask(),
        }
    }

    /// The id of the file, seldom a wrong one.
    fn file(&mut self) -> c_int {
        if self.rng.once_in(40) { self.wrong_id() } else { self.id }
    }

    /// A variable or `NC_GLOBAL`, seldom what is neither.
    fn owner(&mut self) -> c_int {
        match self.rng.below(12) {
            0 => self.rng.pick(&[-2, 99, i32::MIN]),
            1..=3 => -1,
            _ => self.any_variable().unwrap_or(-1),
        }
    }

    fn dimension(&mut self) {
        let (id, name) = (self.file(), self.rng.pick(&DIMS));
        let len = self.rng.pick(&[0usize, 1, 2, 3, 4, usize::MAX]);
        let mut dim = -7;
        call!(self.session, nc_def_dim(id, name.as_ptr(), len, &mut dim));
        self.session.note((name, len, dim));
    }

    fn new_variable(&mut self) {
        if !self.free {
            return;
        }
        let (id, name) = (self.file(), self.rng.pick(&VARS));
        let ty = if self.rng.once_in(12) {
            self.rng.pick(&[0, -1, 12, 13, 32, 77])
        } else {
            1 + self.rng.below(11) as c_int
        };
        let mut count = 0;
        call!(self.session, nc_inq_ndims(self.id, &mut count));
        let rank = self.rng.pick(&[0, 1, 1, 2, 2, 3]);
        let mut dims = [0; 3];
        for dim in &mut dims {
            *dim = if count == 0 || self.rng.once_in(30) {
                self.rng.pick(&[-1, 9, 0])
            } else {
                self.rng.below(count as u64) as c_int
            };
        }
        // More often than by chance the first is unlimited.
        call!(self.session, nc_inq_unlimdim(self.id, &mut count));
        if count >= 0 && self.rng.once_in(3) {
            dims[0] = count;
        }
        let rank = if self.rng.once_in(40) { -1 } else { rank };
        let mut var = -7;
        call!(self.session, nc_def_var(id, name.as_ptr(), ty, rank, dims.as_ptr(), &mut var));
        self.session.note((name, ty, rank, dims, var));
    }

    fn put_attribute(&mut self) {
        let (id, owner, name) = (self.file(), self.owner(), self.rng.pick(&ATTRS));
        let (mut ending, mut memory) = self.rng.pick(&MEMORY);
        let mut ty = if self.rng.once_in(12) {
            self.rng.pick(&[0, 12, 13, 32, -1])
        } else {
            1 + self.rng.below(11) as c_int
        };
        let mut len = self.rng.index(MOST);
        // A wrong fill value is found by the reference only when it fills.
        if name == FILL && owner != -1 {
            call!(self.session, nc_inq_vartype(self.id, owner, &mut ty));
            (ending, memory, len) = ("", None, 1);
        }
        let mut bytes = [0u8; MOST * 8];
        let element = memory.or(Atomic::from_nc_type(ty as u64)).unwrap_or(Atomic::Double);
        if element != Atomic::String {
            // The reference leaves an `NC_UINT` undefined where a byte is negative.
            let small = element == Atomic::Byte && ty == Atomic::Uint as c_int;
            self.fill(element, small, &mut bytes);
        }
        let strings: [*const c_char; MOST] = [c"text".as_ptr(); MOST];
        let function = format!("nc_put_att{ending}");
        let (name_, values) = (name.as_ptr(), bytes.as_ptr());
        let session = self.session;
        // SAFETY: there are as many values as the call says.
        unsafe {
            match ending {
                "_text" => session.call(&function, (id, owner, name_, len, values)),
                "_string" => session.call(&function, (id, owner, name_, len, strings.as_ptr())),
                "" if element == Atomic::String => {
                    session.call(&function, (id, owner, name_, ty, len, strings.as_ptr()))
                }
                _ => session.call(&function, (id, owner, name_, ty, len, values)),
            }
        };
        session.note((owner, name, ty, len, bytes));
    }

    fn get_attribute(&mut self) {
        let (id, owner, name) = (self.file(), self.owner(), self.rng.pick(&ATTRS));
        let (ending, _) = self.rng.pick(&MEMORY);
        let mut bytes = [BEFORE; MOST * 8];
        let session = self.session;
        // SAFETY: there is room for as many values as attributes have here.
        unsafe {
            session.call(&format!("nc_get_att{ending}"), (id, owner, name.as_ptr(), bytes.as_mut_ptr()))
        };
        session.note((owner, name, bytes));
    }

    fn rename(&mut self) {
        let session = self.session;
        let id = self.file();
        let of = self.rng.pick(&[0, 1, 2, -1, 50]);
        match self.rng.below(3) {
            0 => {
                let to = self.rng.pick(&DIMS);
                call!(session, nc_rename_dim(id, of, to.as_ptr()));
                session.note((of, to));
            }
            1 => {
                let to = self.rng.pick(&VARS);
                call!(session, nc_rename_var(id, of, to.as_ptr()));
                session.note((of, to));
            }
            _ => {
                let (owner, name, to) =
                    (self.owner(), self.rng.pick(&ATTRS[..4]), self.rng.pick(&ATTRS[..4]));
                call!(session, nc_rename_att(id, owner, name.as_ptr(), to.as_ptr()));
                session.note((owner, name, to));
            }
        }
    }

    fn attribute_calls(&mut self) {
        let session = self.session;
        let (id, owner, name, to) = (self.file(), self.owner(), self.rng.pick(&ATTRS), self.owner());
        if self.rng.once_in(2) || name == FILL {
            call!(session, nc_del_att(id, owner, name.as_ptr()));
        } else {
            call!(session, nc_copy_att(id, owner, name.as_ptr(), self.id, to));
        }
        session.note((owner, name, to));
    }

    fn fill_value(&mut self) {
        let session = self.session;
        let (id, owner) = (self.file(), self.owner());
        let mut bytes = [0u8; 8];
        self.fill(Atomic::Int64, true, &mut bytes);
        let value = if self.rng.once_in(3) { null() } else { bytes.as_ptr() };
        call!(session, nc_def_var_fill(id, owner, 0, value));
        session.note((owner, bytes));
    }

    fn ask(&mut self) {
        let session = self.session;
        let (id, owner, name) = (self.file(), self.owner(), self.rng.pick(&ATTRS));
        let mut numbers = [-7; 4];
        let [a, b, c, d] = &mut numbers;
        let (mut word, mut len, mut dims): ([c_char; 300], usize, _) = ([0; 300], 77, [-7; 16]);
        let at = self.rng.pick(&[0, 1, 2, -1, 50]);
        match self.rng.below(9) {
            0 => {
                call!(session, nc_inq(id, a, b, c, d));
            }
            1 => {
                call!(session, nc_inq_dim(id, at, word.as_mut_ptr(), &mut len));
            }
            2 => {
                call!(session, nc_inq_dimid(id, self.rng.pick(&DIMS).as_ptr(), a));
            }
            3 => {
                call!(session, nc_inq_varid(id, self.rng.pick(&VARS).as_ptr(), a));
            }
            4 => {
                call!(session, nc_inq_var(id, owner, word.as_mut_ptr(), a, b, dims.as_mut_ptr(), c));
            }
            5 => {
                call!(session, nc_inq_att(id, owner, name.as_ptr(), a, &mut len));
            }
            6 => {
                call!(session, nc_inq_attid(id, owner, name.as_ptr(), a));
            }
            7 => {
                call!(session, nc_inq_attname(id, owner, at, word.as_mut_ptr()));
            }
            _ => {
                let mut value = [BEFORE; 8];
                call!(session, nc_inq_var_fill(id, owner, a, value.as_mut_ptr()));
                session.note(value);
            }
        }
        session.note((owner, name, at, numbers, text(&word), len, dims));
    }
}
