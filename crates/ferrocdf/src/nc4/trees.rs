//! Variables whose values are trees: strings and user-defined types. Their bytes are read by the engine, and followed
//! into the global heap here.

use ferrocdf_array::{Out, Selection, read as read_array};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_hdf5::messages::datatype::Datatype;
use ferrocdf_hdf5::{Dataset, File};
use ferrocdf_model::{Atomic, Class, Model, Type, Values, VarId, each_numbers, each_values};

use super::{decode, own_fill, type_of};
use crate::elements::{elements, zeros};

/// The fill value of a variable of numbers, text or an enumeration, as memory holds it: its dataset's own, else the type's,
/// which is zeros for an enumeration.
pub(super) fn fill_bytes(
    datatype: &Datatype,
    own: Option<&[u8]>,
    model: &Model,
    var: VarId,
) -> Result<Vec<u8>> {
    let values = match (type_of(model, var), own) {
        (Type::Atomic(Atomic::Char), Some(bytes)) => Values::Char(bytes.to_vec()),
        (Type::Atomic(atomic), Some(bytes)) => decode::numbers(datatype, atomic, bytes)?,
        (Type::Atomic(atomic), None) => Values::default_fill(atomic),
        (Type::User(id), Some(bytes)) => match &model.user_type(id).class {
            Class::Enum { base, .. } => decode::numbers(datatype, *base, bytes)?,
            _ => return Ok(vec![]),
        },
        (Type::User(_), None) => return Ok(vec![]),
    };
    Ok(match values {
        Values::Char(text) => text,
        numbers => each_numbers!(numbers, list => {
            list.iter().flat_map(|number| number.to_ne_bytes()).collect()
        }, _ => vec![]),
    })
}

/// The selected values of a variable.
pub(super) fn read(
    file: &File,
    dataset: &Dataset,
    classes: &[Class],
    model: &Model,
    var: VarId,
    extent: &[u64],
    selection: &Selection,
) -> Result<Values> {
    elements(selection)?;
    let ty = type_of(model, var);
    let datatype = dataset.datatype();
    let inside = within(extent, selection);
    let stored = bytes(dataset, &inside)?;
    let found = decode::values(file, classes, ty, datatype, &stored)?;
    if inside.count == selection.count {
        return Ok(found);
    }
    // What is beyond the dataset has the fill value.
    let fill = match own_fill(dataset) {
        Some(bytes) => decode::values(file, classes, ty, datatype, bytes)?,
        None => match ty {
            Type::Atomic(atomic) => Values::default_fill(atomic),
            Type::User(_) => decode::values(file, classes, ty, datatype, &vec![0; datatype.size as usize])?,
        },
    };
    spread(found, fill, &inside.count, &selection.count)
}

/// The part of a selection that is inside a dataset.
fn within(extent: &[u64], selection: &Selection) -> Selection {
    let mut inside = selection.clone();
    for (dim, &len) in extent.iter().enumerate() {
        let (start, stride) = (selection.start[dim], selection.stride[dim].max(1));
        let fit = if start < len { (len - 1 - start) / stride + 1 } else { 0 };
        inside.count[dim] = inside.count[dim].min(fit);
    }
    if inside.count.contains(&0) {
        inside.start.iter_mut().for_each(|start| *start = 0);
        inside.count.iter_mut().for_each(|count| *count = 0);
    }
    inside
}

/// The bytes of the selected elements, as stored.
fn bytes(dataset: &Dataset, selection: &Selection) -> Result<Vec<u8>> {
    let size = dataset.datatype().size as usize;
    let wanted = elements(selection)?.checked_mul(size);
    let wanted = wanted.ok_or_else(|| Error::new(Code::ENOMEM, "the values are larger than memory"))?;
    if wanted == 0 {
        return Ok(Vec::new());
    }
    // What is wrong with the dataset is told before memory is taken.
    let placed = dataset.raw()?;
    let mut bytes = zeros(wanted)?;
    let mut selection = selection.clone();
    selection.start.push(0);
    selection.count.push(size as u64);
    selection.stride.push(1);
    let _exact = read_array(&*placed.blob, &placed.array, &selection, Out::new(&mut bytes))?;
    Ok(bytes)
}

/// Values of a box at the origin of a larger one, the rest of which is `fill`.
fn spread(found: Values, fill: Values, inside: &[u64], count: &[u64]) -> Result<Values> {
    // The caller has seen that as many values can be counted.
    let total = count.iter().product::<u64>();
    let mut from = Vec::new();
    from.try_reserve_exact(total as usize)
        .map_err(|_| Error::new(Code::ENOMEM, format!("no memory for {total} values")))?;
    let mut next = 0;
    for number in 0..total {
        let mut rest = number;
        let here = (0..count.len()).rev().all(|dim| {
            let at = rest % count[dim];
            rest /= count[dim];
            at < inside[dim]
        });
        from.push(here.then(|| {
            next += 1;
            next - 1
        }));
    }
    macro_rules! same {
        ($($variant:ident),*) => {
            match (found, fill) {
                $((Values::$variant(found), Values::$variant(fill)) => {
                    let value = |at: &Option<usize>| at.map_or(&fill[0], |at| &found[at]).clone();
                    Ok(Values::$variant(from.iter().map(value).collect()))
                })*
                (Values::User(id, found), Values::User(_, fill)) => {
                    let value = |at: &Option<usize>| at.map_or(&fill[0], |at| &found[at]).clone();
                    Ok(Values::User(id, from.iter().map(value).collect()))
                }
                (found, _) => Err(Error::new(Code::EINTERNAL, format!("{} values to fill", each_values!(found, list => list.len())))),
            }
        };
    }
    same!(Byte, Char, Short, Int, Float, Double, Ubyte, Ushort, Uint, Int64, Uint64, String)
}
