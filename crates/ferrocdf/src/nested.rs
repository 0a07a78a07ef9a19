//! Nested values in memory: flat bytes, and what hangs from them.
//!
//! A value of any type has a fixed number of bytes in memory (`Model::size_of`): numbers and text as this machine has them, fields at the
//! offsets of their compound, opaque bytes, enumerations as numbers of their base type. A string or a list has a *slot* there of
//! `Atomic::String` or `Class::Vlen` size. Only the slots differ between languages: C has pointers to memory of `malloc`, others
//! references to objects. [`lay_out`] writes the flat bytes and hands each slot to a [`NestedWriter`]; [`gather`] reads them and asks a
//! [`NestedReader`] what a slot stands for. Neither makes a copy in between.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_model::{Atomic, Class, Field, Model, Type, TypeId, Value, Values, each_numbers};

/// Makes what hangs from slots. `'m` is the life of the memory of lists.
pub trait NestedWriter<'m> {
    /// Makes a string and stores a reference to it in the slot. A missing string leaves the slot zero and is not asked for.
    fn put_string(&mut self, slot: &mut [u8], text: &[u8]) -> Result<()>;

    /// Makes memory for `len` elements of `size` bytes, all zero, and stores a reference to it in the slot. It is filled
    /// afterwards. An empty list leaves the slot zero and is not asked for.
    fn put_list(&mut self, slot: &mut [u8], len: usize, size: usize) -> Result<&'m mut [u8]>;
}

/// Finds what hangs from slots.
pub trait NestedReader {
    /// Returns the string of a slot; `None` if it is missing.
    fn string(&self, slot: &[u8]) -> Result<Option<&[u8]>>;

    /// Returns the elements of the list of a slot, of `size` bytes each.
    fn list(&self, slot: &[u8], size: usize) -> Result<&[u8]>;
}

/// Writes values into memory for just them.
///
/// # Errors
/// `NC_EBADTYPE` for values that are not of their type, and for memory of another size; what the writer fails with. Slots that were not
/// reached are zero then.
pub fn lay_out<'m>(
    model: &Model,
    values: &Values,
    into: &mut [u8],
    writer: &mut impl NestedWriter<'m>,
) -> Result<()> {
    into.fill(0);
    Layout { model, writer }.values(values, into)
}

/// Reads the values of a type that memory holds.
///
/// # Errors
/// `NC_EBADTYPE` for a field outside its compound, `NC_ENOMEM` if there is not enough memory, and what the reader fails with.
pub fn gather(model: &Model, ty: Type, from: &[u8], reader: &impl NestedReader) -> Result<Values> {
    match ty {
        Type::Atomic(Atomic::String) => {
            let slots = from.chunks_exact(Atomic::String.size());
            let strings = slots.map(|slot| Ok(reader.string(slot)?.map(<[u8]>::to_vec)));
            strings.collect::<Result<_>>().map(Values::String)
        }
        Type::Atomic(atomic) => {
            let mut values = zeros(atomic, from.len() / atomic.size())?;
            bytes_mut(&mut values).copy_from_slice(from);
            Ok(values)
        }
        Type::User(id) => {
            let each = from.chunks_exact(model.size_of(ty).max(1));
            let list = each.map(|value| gather_one(model, id, value, reader)).collect::<Result<_>>()?;
            Ok(Values::User(id, list))
        }
    }
}

fn gather_one(model: &Model, id: TypeId, from: &[u8], reader: &impl NestedReader) -> Result<Value> {
    Ok(match &model.user_type(id).class {
        Class::Compound { fields, .. } => {
            let values = fields.iter().map(|field| gather_field(model, field, from, reader));
            Value::Compound(values.collect::<Result<_>>()?)
        }
        Class::Vlen(base) => {
            let elements = reader.list(from, model.size_of(*base))?;
            Value::Vlen(match gather(model, *base, elements, reader)? {
                Values::User(_, values) => values,
                values => vec![Value::Atomic(values)],
            })
        }
        Class::Opaque(_) => Value::Opaque(from.to_vec()),
        Class::Enum { base, .. } => Value::Enum(integer(*base, from)?),
    })
}

fn gather_field(model: &Model, field: &Field, from: &[u8], reader: &impl NestedReader) -> Result<Value> {
    let bytes = place(model, field).and_then(|place| from.get(place)).ok_or_else(|| outside(field))?;
    Ok(match gather(model, field.ty, bytes, reader)? {
        Values::User(_, mut list) if field.shape.is_empty() => list.pop().ok_or_else(mismatch)?,
        Values::User(_, list) => Value::Array(list),
        values => Value::Atomic(values),
    })
}

/// Returns the number of values of a field; for text of fixed length that of its bytes.
pub fn elements_of(field: &Field) -> usize {
    field.shape.iter().product::<usize>().saturating_mul(field.chars)
}

/// Returns where a field lies in its compound.
fn place(model: &Model, field: &Field) -> Option<std::ops::Range<usize>> {
    let size = model.size_of(field.ty).checked_mul(elements_of(field))?;
    Some(field.offset..field.offset.checked_add(size)?)
}

fn outside(field: &Field) -> Error {
    Error::new(Code::EBADTYPE, format!("field \"{}\" lies outside its type", field.name))
}

fn mismatch() -> Error {
    Error::new(Code::EBADTYPE, "a value is not of the type that it should have")
}

struct Layout<'a, W> {
    model: &'a Model,
    writer: &'a mut W,
}

impl<'m, W: NestedWriter<'m>> Layout<'_, W> {
    fn values(&mut self, values: &Values, into: &mut [u8]) -> Result<()> {
        match values {
            Values::User(id, list) => self.each(*id, list, into),
            Values::String(strings) => {
                for (string, slot) in strings.iter().zip(pieces(into, Atomic::String.size(), strings.len())?)
                {
                    if let Some(text) = string {
                        self.writer.put_string(slot, text)?;
                    }
                }
                Ok(())
            }
            numbers => {
                let bytes = bytes(numbers);
                if bytes.len() != into.len() {
                    return Err(mismatch());
                }
                into.copy_from_slice(bytes);
                Ok(())
            }
        }
    }

    fn each(&mut self, id: TypeId, values: &[Value], into: &mut [u8]) -> Result<()> {
        let pieces = pieces(into, self.model.size_of(Type::User(id)), values.len())?;
        values.iter().zip(pieces).try_for_each(|(value, into)| self.one(id, value, into))
    }

    fn one(&mut self, id: TypeId, value: &Value, into: &mut [u8]) -> Result<()> {
        match (&self.model.user_type(id).class, value) {
            (Class::Compound { fields, .. }, Value::Compound(values)) if fields.len() == values.len() => {
                fields.iter().zip(values).try_for_each(|(field, value)| self.field(field, value, into))
            }
            (Class::Vlen(base), Value::Vlen(values)) => self.list(*base, values, into),
            (Class::Opaque(_), Value::Opaque(bytes)) if bytes.len() == into.len() => {
                into.copy_from_slice(bytes);
                Ok(())
            }
            (Class::Enum { .. }, Value::Enum(number)) => {
                let (low, high, size) = (number.to_le_bytes(), number.to_be_bytes(), into.len());
                let bytes =
                    if cfg!(target_endian = "big") { &high[high.len() - size..] } else { &low[..size] };
                into.copy_from_slice(bytes);
                Ok(())
            }
            _ => Err(mismatch()),
        }
    }

    fn field(&mut self, field: &Field, value: &Value, into: &mut [u8]) -> Result<()> {
        let into =
            place(self.model, field).and_then(|place| into.get_mut(place)).ok_or_else(|| outside(field))?;
        match (field.ty, value) {
            (Type::Atomic(atomic), Value::Atomic(values)) if values.atomic() == Some(atomic) => {
                self.values(values, into)
            }
            (Type::User(id), Value::Array(values)) => self.each(id, values, into),
            (Type::User(id), value) if elements_of(field) == 1 => self.one(id, value, into),
            _ => Err(mismatch()),
        }
    }

    fn list(&mut self, base: Type, values: &[Value], slot: &mut [u8]) -> Result<()> {
        let len = match (base, values) {
            (Type::User(_), values) => values.len(),
            (Type::Atomic(atomic), [Value::Atomic(values)]) if values.atomic() == Some(atomic) => {
                values.len()
            }
            (Type::Atomic(_), []) => 0,
            _ => return Err(mismatch()),
        };
        if len == 0 {
            return Ok(());
        }
        let elements = self.writer.put_list(slot, len, self.model.size_of(base))?;
        match (base, values) {
            (Type::User(id), values) => self.each(id, values, elements),
            (Type::Atomic(_), [Value::Atomic(values)]) => self.values(values, elements),
            (Type::Atomic(_), _) => Err(mismatch()),
        }
    }
}

/// Splits memory into `count` pieces of a size. Fails if it has another number of bytes.
fn pieces(into: &mut [u8], size: usize, count: usize) -> Result<impl Iterator<Item = &mut [u8]>> {
    match size.checked_mul(count) {
        Some(bytes) if bytes == into.len() && size > 0 => Ok(into.chunks_exact_mut(size)),
        _ => Err(mismatch()),
    }
}

/// Returns `count` zeros of an atomic type, or bytes of text.
///
/// # Errors
/// `NC_ENOMEM` if there is not enough memory.
pub fn zeros(atomic: Atomic, count: usize) -> Result<Values> {
    fn resize<T: Default + Clone>(list: &mut Vec<T>, count: usize) -> Result<()> {
        if list.try_reserve_exact(count).is_err() {
            return Err(Error::new(Code::ENOMEM, format!("no memory for {count} values")));
        }
        list.resize(count, T::default());
        Ok(())
    }
    let mut values = Values::empty(atomic);
    match &mut values {
        Values::Char(text) => resize(text, count)?,
        numbers => each_numbers!(numbers, list => resize(list, count)?, _ => {}),
    }
    Ok(values)
}

/// Returns the bytes of numbers or text as this machine has them; none of other values.
pub fn bytes(values: &Values) -> &[u8] {
    match values {
        Values::Char(text) => text,
        numbers => each_numbers!(numbers, list => bytemuck::cast_slice(list), _ => &[]),
    }
}

/// Returns the bytes of numbers or text, to be changed; none of other values.
pub fn bytes_mut(values: &mut Values) -> &mut [u8] {
    match values {
        Values::Char(text) => text,
        numbers => each_numbers!(numbers, list => bytemuck::cast_slice_mut(list), _ => &mut []),
    }
}

/// Returns the integer that bytes of memory are.
///
/// # Errors
/// `NC_EINVAL` for another number of bytes than the type has, `NC_EBADTYPE` for a type that is no integer.
pub fn integer(atomic: Atomic, from: &[u8]) -> Result<i128> {
    /// Reads the number for each pair of a netCDF type and its Rust type.
    macro_rules! number {
        ($($atomic:ident $number:ty),*) => {
            match atomic {
                $(Atomic::$atomic => from.try_into().map(|bytes| <$number>::from_ne_bytes(bytes).into()),)*
                _ => return Err(Error::new(Code::EBADTYPE, format!("{atomic} is no integer"))),
            }
        };
    }
    let number = number!(Byte i8, Ubyte u8, Short i16, Ushort u16, Int i32, Uint u32, Int64 i64, Uint64 u64);
    number
        .map_err(|_| Error::new(Code::EINVAL, format!("{} bytes are no value of type {atomic}", from.len())))
}

#[cfg(test)]
mod tests {
    use ferrocdf_model::{Format, GroupId, Name, UserType};

    use super::*;

    /// Numbers what hangs from slots, and stores the number (from 1 on) in the slot.
    #[derive(Default)]
    struct Numbered {
        texts: Vec<Vec<u8>>,
        lists: Vec<(usize, usize)>,
    }

    impl NestedWriter<'static> for Numbered {
        fn put_string(&mut self, slot: &mut [u8], text: &[u8]) -> Result<()> {
            self.texts.push(text.to_vec());
            slot[0] = self.texts.len() as u8;
            Ok(())
        }

        fn put_list(&mut self, slot: &mut [u8], len: usize, size: usize) -> Result<&'static mut [u8]> {
            self.lists.push((len, size));
            slot[0] = self.lists.len() as u8;
            Ok(Box::leak(vec![0; len * size].into_boxed_slice()))
        }
    }

    /// Finds texts and lists by the numbers in slots.
    struct Found(Vec<Vec<u8>>, Vec<Vec<u8>>);

    impl NestedReader for Found {
        fn string(&self, slot: &[u8]) -> Result<Option<&[u8]>> {
            Ok(usize::from(slot[0]).checked_sub(1).map(|at| &self.0[at][..]))
        }

        fn list(&self, slot: &[u8], _size: usize) -> Result<&[u8]> {
            Ok(usize::from(slot[0]).checked_sub(1).map_or(&[], |at| &self.1[at]))
        }
    }

    /// A compound of a string, two lists of bytes and an enumeration of short numbers.
    fn model() -> (Model, TypeId) {
        let mut model = Model::new(Format::NETCDF4);
        let mut add = |name: &str, class: Class| {
            let ty = UserType { name: Name::new(name).unwrap(), group: GroupId::ROOT, class };
            model.def_type(ty).unwrap()
        };
        let bytes = add("bytes", Class::Vlen(Atomic::Ubyte.into()));
        let colour = add("colour", Class::Enum { base: Atomic::Short, members: vec![] });
        let field = |name: &str, offset, ty, shape: &[usize]| Field {
            name: Name::new(name).unwrap(),
            offset,
            ty,
            shape: shape.to_vec(),
            chars: 1,
        };
        let fields = vec![
            field("s", 0, Atomic::String.into(), &[]),
            field("l", 8, Type::User(bytes), &[2]),
            field("c", 40, Type::User(colour), &[]),
        ];
        let mixed = add("mixed", Class::Compound { size: 48, fields });
        (model, mixed)
    }

    fn values(mixed: TypeId, last: Value) -> Values {
        let list = Value::Vlen(vec![Value::Atomic(Values::Ubyte(vec![1, 2, 3]))]);
        let empty = Value::Vlen(vec![Value::Atomic(Values::Ubyte(vec![]))]);
        let text = Value::Atomic(Values::String(vec![Some(b"ab".to_vec())]));
        Values::User(mixed, vec![Value::Compound(vec![text, Value::Array(vec![list, empty]), last])])
    }

    #[test]
    fn slots_are_handed_to_the_writer_and_found_by_the_reader() {
        let (model, mixed) = model();
        let (values, mut into, mut writer) = (values(mixed, Value::Enum(-2)), [7; 48], Numbered::default());
        lay_out(&model, &values, &mut into, &mut writer).unwrap();
        assert_eq!((writer.texts, writer.lists), (vec![b"ab".to_vec()], vec![(3, 1)]));
        assert_eq!((into[0], into[8], into[24]), (1, 1, 0));
        assert_eq!(into[40..42], (-2i16).to_ne_bytes());
        assert_eq!(into[42..], [0; 6]);
        let found = Found(vec![b"ab".to_vec()], vec![vec![1, 2, 3]]);
        assert_eq!(gather(&model, Type::User(mixed), &into, &found).unwrap(), values);
    }

    #[test]
    fn values_of_another_type_and_memory_of_another_size_are_refused() {
        let (model, mixed) = model();
        for last in [Value::Opaque(vec![1]), Value::Vlen(vec![]), Value::Atomic(Values::Short(vec![1]))] {
            let done = lay_out(&model, &values(mixed, last), &mut [0; 48], &mut Numbered::default());
            assert_eq!(done.unwrap_err().code, Code::EBADTYPE);
        }
        let good = values(mixed, Value::Enum(1));
        let done = lay_out(&model, &good, &mut [0; 47], &mut Numbered::default());
        assert_eq!(done.unwrap_err().code, Code::EBADTYPE);
    }
}
