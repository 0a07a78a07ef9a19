//! Scripts on ferrocdf.

use std::fmt::Write;
use std::path::Path;

use ferrocdf::array::Kind;
use ferrocdf::model::each_numbers;
use ferrocdf::{
    Alignment, Atomic, Code, CreateOptions, DimId, File, FileMut, GroupId, In, Model, Name, Out, Owner,
    RangeCheck, Result, Selection, Values, VarId,
};

use super::{Access, Op, format_number};

const ROOT: GroupId = GroupId::ROOT;

/// Variables larger than this are not dumped.
const LARGEST_DUMP: u64 = 64 << 20;

/// A file as a script has it open.
enum Handle {
    Closed,
    Reading(File),
    Writing(FileMut),
}

/// Runs a script on the file at `path`. Gives the transcript: a line for each call.
///
/// # Panics
/// If a call needs a file open in a way that it is not.
pub fn run(path: &Path, ops: &[Op]) -> Vec<String> {
    let mut handle = Handle::Closed;
    ops.iter().map(|op| handle.step(path, op)).collect()
}

/// Hexadecimal digits behind a dot.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len() + 1);
    text.push('.');
    for byte in bytes {
        write!(text, "{byte:02x}").expect("strings take all text");
    }
    text
}

/// Values as this machine holds them in memory.
///
/// # Panics
/// If they are strings or of a user-defined type.
pub fn native_bytes(values: &Values) -> Vec<u8> {
    match values {
        Values::Char(bytes) => bytes.clone(),
        numbers => each_numbers!(numbers, list => {
            list.iter().flat_map(|number| number.to_ne_bytes()).collect()
        }, _ => panic!("scripts know the types of the classic model only")),
    }
}

/// The element kind of a type of memory.
fn kind(memory: Atomic) -> Kind {
    ferrocdf::kind_of(memory).expect("scripts know the types of the classic model only")
}

fn code<T>(result: &Result<T>) -> i32 {
    result.as_ref().err().map_or(0, |error| error.code.0)
}

fn fit_code(result: &Result<RangeCheck>) -> i32 {
    match result {
        Ok(RangeCheck::OutOfRange) => Code::ERANGE.0,
        other => code(other),
    }
}

fn owner(of: Option<u32>) -> Owner {
    of.map_or(Owner::Group(ROOT), |var| Owner::Var(VarId(var)))
}

fn selection(access: &Access) -> Selection {
    match &access.stride {
        Some(stride) => Selection::strided(&access.start, &access.count, stride),
        None => Selection::slab(&access.start, &access.count),
    }
}

impl Handle {
    fn file(&self) -> &File {
        match self {
            Handle::Reading(file) => file,
            Handle::Writing(file) => file,
            Handle::Closed => panic!("the script has no file open"),
        }
    }

    fn writing(&self) -> &FileMut {
        match self {
            Handle::Writing(file) => file,
            _ => panic!("the script has no file open for writing"),
        }
    }

    fn define<T>(&self, change: impl FnOnce(&mut Model) -> Result<T>) -> String {
        code(&self.writing().define(change)).to_string()
    }

    /// Takes what opening a file gave.
    fn enter<T>(&mut self, result: Result<T>, wrap: impl FnOnce(T) -> Handle) -> String {
        let code = code(&result);
        if let Ok(file) = result {
            *self = wrap(file);
        }
        code.to_string()
    }

    fn step(&mut self, path: &Path, op: &Op) -> String {
        match op {
            Op::Create(format, no_fill) => {
                let mut options = CreateOptions::format(*format);
                options.no_fill = *no_fill;
                self.enter(FileMut::create(path, &options), Handle::Writing)
            }
            Op::Open => self.enter(FileMut::append(path), Handle::Writing),
            Op::Read => self.enter(File::open(path), Handle::Reading),
            // A draft, even if nothing is changed in it: its end may ask for alignment.
            Op::Redef => self.define(|_| Ok(())),
            Op::Enddef(alignment) => {
                let alignment = alignment.unwrap_or_else(Alignment::default);
                code(&self.writing().commit_aligned(&alignment)).to_string()
            }
            Op::Close => match std::mem::replace(self, Handle::Closed) {
                Handle::Writing(file) => code(&file.close()).to_string(),
                _ => "0".to_string(),
            },
            Op::Sync => code(&self.writing().sync()).to_string(),
            Op::SetFill(no_fill) => code(&self.writing().set_no_fill(*no_fill)).to_string(),
            Op::Dim(name, len) => self.define(|model| model.def_dim(ROOT, name, *len)),
            Op::Var(name, ty, dims) => {
                let dims: Vec<_> = dims.iter().map(|&dim| DimId(dim)).collect();
                self.define(|model| model.def_var(ROOT, name, (*ty).into(), &dims))
            }
            Op::Fill(var, no_fill, value) => self.define(|model| {
                let owner = Owner::Var(VarId(*var));
                model.var_mut(VarId(*var)).storage.no_fill = *no_fill;
                let Some(value) = value.as_ref().filter(|_| !no_fill) else { return Ok(()) };
                // The reference deletes the attribute first, so that it becomes the last one.
                if model.find_attr(owner, b"_FillValue").is_some() {
                    model.del_attr(owner, "_FillValue")?;
                }
                model.put_attr(owner, "_FillValue", value.clone())
            }),
            Op::Att(of, name, value) => self.define(|model| model.put_attr(owner(*of), name, value.clone())),
            Op::DelAtt(of, name) => self.define(|model| model.del_attr(owner(*of), name)),
            Op::RenAtt(of, name, to) => {
                self.define(|model| model.rename_attr(owner(*of), name, Name::new(to)?))
            }
            Op::RenDim(id, to) => self.define(|model| model.rename_dim(DimId(*id), Name::new(to)?)),
            Op::RenVar(id, to) => self.define(|model| model.rename_var(VarId(*id), Name::new(to)?)),
            Op::Put(access, memory) => {
                let mut input = In::raw(kind(access.memory), memory);
                if let Some((origin, steps)) = &access.map {
                    input = input.mapped(*origin, steps);
                }
                let done = self.writing().write(VarId(access.var), &selection(access), input);
                fit_code(&done).to_string()
            }
            Op::Get(access, elements) => self.get(access, *elements),
            Op::Dump => dump(self.file(), true),
            Op::Inspect => dump(self.file(), false),
        }
    }

    fn get(&self, access: &Access, elements: usize) -> String {
        let mut memory = vec![0xab; elements * access.memory.size()];
        let mut out = Out::raw(kind(access.memory), &mut memory);
        if let Some((origin, steps)) = &access.map {
            out = out.mapped(*origin, steps);
        }
        let done = self.file().read(VarId(access.var), &selection(access), out);
        let code = fit_code(&done);
        if done.is_ok() { format!("{code} {}", hex(&memory)) } else { code.to_string() }
    }
}

/// The whole content on one line, as the C program prints it.
fn dump(file: &File, with_data: bool) -> String {
    let model = file.model();
    let mut text = format!("0 format {}", format_number(model.format()));
    for dim in model.dims() {
        let unlimited = if dim.unlimited { " unlimited" } else { "" };
        write!(text, " dim {} {}{unlimited}", hex(dim.name.as_bytes()), dim.len)
            .expect("strings take all text");
    }
    dump_attrs(&mut text, &model, Owner::Group(ROOT));
    for (id, var) in model.var_ids().zip(model.vars()) {
        let ty = model.atomic_type(id).map_or(0, Atomic::nc_type);
        write!(text, " var {} {ty}", hex(var.name.as_bytes())).expect("strings take all text");
        for dim in &var.dims {
            write!(text, " {}", dim.0).expect("strings take all text");
        }
        dump_attrs(&mut text, &model, Owner::Var(id));
        let shape = model.shape(id);
        let size = model.atomic_type(id).map_or(8, Atomic::size) as u64;
        if !with_data || shape.iter().product::<u64>() > LARGEST_DUMP / size {
            continue;
        }
        match file.read_values(id, &vec![0; shape.len()], &shape) {
            Ok(values) => {
                text.push_str(" data ");
                text.push_str(&hex(&native_bytes(&values)));
            }
            Err(error) => {
                write!(text, " {}", error.code.0).expect("strings take all text");
                break;
            }
        }
    }
    text
}

fn dump_attrs(text: &mut String, model: &Model, of: Owner) {
    for attr in model.attrs(of) {
        let ty = attr.value.atomic().map_or(0, Atomic::nc_type);
        let (name, value) = (hex(attr.name.as_bytes()), hex(&native_bytes(&attr.value)));
        write!(text, " att {name} {ty} {value}").expect("strings take all text");
    }
}
