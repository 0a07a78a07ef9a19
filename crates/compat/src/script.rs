//! Scripts of netCDF calls, as text for the C program and as calls of ferrocdf.
//!
//! An [`Op`] is one call of the C library. Its text is what `c/script.c` reads; [`run`] does what a C library over
//! ferrocdf would do with it. Define mode is explicit in a script, as C programs have it.

mod run;

use std::fmt;

use ferrocdf::{Alignment, Atomic, Format, Values};

pub use run::{hex, native_bytes, run};

/// Values as raw memory and the other way round go by this machine's byte order on both sides.
pub type Memory = Vec<u8>;

/// One call.
#[derive(Clone, Debug)]
pub enum Op {
    /// `nc_create`, and `nc_set_fill`.
    Create(Format, bool),
    /// `nc_open` for writing.
    Open,
    /// `nc_open` for reading.
    Read,
    /// `nc_redef`
    Redef,
    /// `nc_enddef`, or `nc__enddef`.
    Enddef(Option<Alignment>),
    /// `nc_close`
    Close,
    /// `nc_sync`
    Sync,
    /// `nc_set_fill`; true for `NC_NOFILL`.
    SetFill(bool),
    /// `nc_def_dim`; `None` for an unlimited one.
    Dim(String, Option<u64>),
    /// `nc_def_var` with type and dimension ids.
    Var(String, Atomic, Vec<u32>),
    /// `nc_def_var_fill`: the variable, whether it is left unfilled, the fill value.
    Fill(u32, bool, Option<Values>),
    /// `nc_put_att`; owner `None` is `NC_GLOBAL`.
    Att(Option<u32>, String, Values),
    /// `nc_del_att`
    DelAtt(Option<u32>, String),
    /// `nc_rename_att`
    RenAtt(Option<u32>, String, String),
    /// `nc_rename_dim`
    RenDim(u32, String),
    /// `nc_rename_var`
    RenVar(u32, String),
    /// `nc_put_vara_*`, `nc_put_vars_*` or `nc_put_varm_*`.
    Put(Access, Memory),
    /// `nc_get_vara_*` and so on, into a memory of that many elements.
    Get(Access, usize),
    /// Everything that is in the file.
    Dump,
    /// Everything but the values.
    Inspect,
}

/// Which data, and how memory holds it.
#[derive(Clone, Debug)]
pub struct Access {
    /// The variable.
    pub var: u32,
    /// The type of memory.
    pub memory: Atomic,
    /// First indices.
    pub start: Vec<u64>,
    /// Numbers of indices.
    pub count: Vec<u64>,
    /// Distances between indices.
    pub stride: Option<Vec<u64>>,
    /// The element of memory that is the first one, and the distances in memory; needs strides.
    pub map: Option<(usize, Vec<isize>)>,
}

impl Access {
    /// A hyperslab.
    pub fn slab(var: u32, memory: Atomic, start: &[u64], count: &[u64]) -> Self {
        Access { var, memory, start: start.to_vec(), count: count.to_vec(), stride: None, map: None }
    }

    /// With strides.
    #[must_use]
    pub fn strided(self, stride: &[u64]) -> Self {
        Access { stride: Some(stride.to_vec()), ..self }
    }

    /// With a map of memory, and strides of 1 if there are none.
    #[must_use]
    pub fn mapped(self, origin: usize, steps: &[isize]) -> Self {
        let stride = self.stride.clone().unwrap_or_else(|| vec![1; self.start.len()]);
        Access { stride: Some(stride), map: Some((origin, steps.to_vec())), ..self }
    }

    /// The number of elements selected.
    pub fn elements(&self) -> usize {
        self.count.iter().product::<u64>() as usize
    }
}

/// The number of a format in `nc_inq_format`.
pub fn format_number(format: Format) -> u8 {
    format.number() as u8
}

fn owner_number(owner: Option<u32>) -> i64 {
    owner.map_or(-1, i64::from)
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |name: &str| hex(name.as_bytes());
        match self {
            Op::Create(format, no_fill) => {
                write!(f, "create {} {}", format_number(*format), u8::from(*no_fill))
            }
            Op::Open => f.write_str("open"),
            Op::Read => f.write_str("read"),
            Op::Redef => f.write_str("redef"),
            Op::Enddef(None) => f.write_str("enddef"),
            Op::Enddef(Some(a)) => {
                write!(f, "enddef4 {} {} {} {}", a.header_free, a.fixed, a.fixed_free, a.records)
            }
            Op::Close => f.write_str("close"),
            Op::Sync => f.write_str("sync"),
            Op::SetFill(no_fill) => write!(f, "setfill {}", u8::from(*no_fill)),
            Op::Dim(name, len) => write!(f, "dim {} {}", text(name), len.unwrap_or(0)),
            Op::Var(name, ty, dims) => {
                write!(f, "var {} {}", text(name), ty.nc_type())?;
                dims.iter().try_for_each(|dim| write!(f, " {dim}"))
            }
            Op::Fill(var, no_fill, value) => {
                let value = value.as_ref().map_or(vec![], native_bytes);
                write!(f, "fill {var} {} {}", u8::from(*no_fill), hex(&value))
            }
            Op::Att(owner, name, value) => {
                let ty = value.atomic().map_or(0, Atomic::nc_type);
                write!(f, "att {} {} {ty} {}", owner_number(*owner), text(name), hex(&native_bytes(value)))
            }
            Op::DelAtt(owner, name) => write!(f, "delatt {} {}", owner_number(*owner), text(name)),
            Op::RenAtt(owner, name, to) => {
                write!(f, "renatt {} {} {}", owner_number(*owner), text(name), text(to))
            }
            Op::RenDim(id, to) => write!(f, "rendim {id} {}", text(to)),
            Op::RenVar(id, to) => write!(f, "renvar {id} {}", text(to)),
            Op::Put(access, memory) => write!(f, "put {access} {}", hex(memory)),
            Op::Get(access, elements) => write!(f, "get {access} {elements}"),
            Op::Dump => f.write_str("dump"),
            Op::Inspect => f.write_str("inspect"),
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match (&self.map, &self.stride) {
            (Some(_), _) => 'm',
            (None, Some(_)) => 's',
            (None, None) => 'a',
        };
        write!(f, "{kind} {} {} {}", self.var, self.memory.nc_type(), self.start.len())?;
        let lists = [Some(&self.start), Some(&self.count), self.stride.as_ref()];
        lists.into_iter().flatten().flatten().try_for_each(|number| write!(f, " {number}"))?;
        if let Some((origin, steps)) = &self.map {
            write!(f, " {origin}")?;
            steps.iter().try_for_each(|step| write!(f, " {step}"))?;
        }
        Ok(())
    }
}
