//! A small file with everything in it.

use std::sync::Arc;

use ferrocdf_array::{In, Selection};
use ferrocdf_bytes::Result;
use ferrocdf_classic::{ClassicFile, Version};
use ferrocdf_model::{Atomic, DimId, GroupId, Model, Owner, VarId};
use ferrocdf_store::{BlobMut, MemoryBlob};

const ROOT: GroupId = GroupId::ROOT;

/// The kinds of classic file.
pub const VERSIONS: [Version; 3] = [Version::Classic, Version::Offset64, Version::Data64];

/// What a file with records, text, a scalar and attributes must say.
pub fn model(version: Version) -> Result<Model> {
    let mut model = Model::new(version.format());
    let t = model.def_dim(ROOT, "t", None)?;
    let x = model.def_dim(ROOT, "x", Some(3))?;
    let y = model.def_dim(ROOT, "y", Some(4))?;
    model.put_attr(Owner::Group(ROOT), "title", "sample".into())?;
    let fixed = model.def_var(ROOT, "fixed", Atomic::Short.into(), &[x, y])?;
    model.put_attr(Owner::Var(fixed), "valid_range", [0i16, 99].into())?;
    model.def_var(ROOT, "record", Atomic::Double.into(), &[t, x])?;
    model.def_var(ROOT, "text", Atomic::Char.into(), &[x])?;
    model.def_var(ROOT, "bytes", Atomic::Byte.into(), &[t, x])?;
    model.def_var(ROOT, "scalar", Atomic::Float.into(), &[])?;
    Ok(model)
}

/// Writes elements of a variable; the record dimension grows as needed.
pub fn put(
    file: &mut ClassicFile,
    model: &mut Model,
    var: u32,
    start: &[u64],
    count: &[u64],
    input: In<'_>,
) -> Result<()> {
    let var = VarId(var);
    let selection = Selection::slab(start, count);
    if model.is_record(var) {
        let records = start[0] + count[0];
        file.grow(records)?;
        model.set_dim_len(DimId(0), records.max(model.dim(DimId(0)).len));
    }
    let elements: u64 = model.shape(var).iter().product();
    // Nothing is known of the order of these elements, so all of the variable is filled first.
    file.before_write(model, var, 0, elements, false)?;
    let array = file.array(model, var)?;
    ferrocdf_array::write(file.blob_mut()?, &array, &selection, input).map(drop)
}

/// Makes the sample on a blob, step by step as a program does.
pub fn write(blob: Arc<dyn BlobMut>, version: Version) -> Result<()> {
    let mut model = model(version)?;
    let mut file = ClassicFile::create(Box::new(blob), version);
    file.commit(&model)?;
    put(&mut file, &mut model, 0, &[1, 0], &[2, 4], In::new(&[1i16, 2, 3, 4, 5, 6, 7, 8]))?;
    put(&mut file, &mut model, 1, &[0, 0], &[2, 3], In::new(&[0.5f64, 1.5, 2.5, 3.5, 4.5, 5.5]))?;
    put(&mut file, &mut model, 3, &[2, 0], &[1, 3], In::new(&[7i8, 8, 9]))?;
    put(&mut file, &mut model, 2, &[0], &[3], In::text(b"abc"))?;
    put(&mut file, &mut model, 4, &[], &[], In::new(&[2.5f32]))?;
    file.flush(&model)?;
    // The header grows, and data moves.
    model.put_attr(Owner::Group(ROOT), "history", "moved by a longer header".into())?;
    model.def_var(ROOT, "late", Atomic::Int.into(), &[DimId(0)])?;
    file.commit(&model)?;
    file.flush(&model)
}

/// The bytes of the sample.
pub fn bytes(version: Version) -> Vec<u8> {
    let blob = Arc::new(MemoryBlob::default());
    write(blob.clone(), version).unwrap();
    blob.to_bytes()
}
