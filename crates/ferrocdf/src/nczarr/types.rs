//! From data types of Zarr to types of netCDF. Types that netCDF has no atomic one for are user-defined, in the root group.

use ferrocdf_model::{Atomic, Class, Field, GroupId, Model, Name, Type, UserType};
use ferrocdf_zarr::DataType;

use super::name;

/// Returns the atomic type with the values of a data type; `None` if there is none.
pub(super) fn atomic(data_type: &DataType) -> Option<Atomic> {
    Some(match data_type {
        DataType::Integer { size: 1, signed: true } => Atomic::Byte,
        DataType::Integer { size: 2, signed: true } => Atomic::Short,
        DataType::Integer { size: 4, signed: true } => Atomic::Int,
        DataType::Integer { signed: true, .. } | DataType::DateTime(_) | DataType::TimeDelta(_) => {
            Atomic::Int64
        }
        DataType::Integer { size: 1, .. } => Atomic::Ubyte,
        DataType::Integer { size: 2, .. } => Atomic::Ushort,
        DataType::Integer { size: 4, .. } => Atomic::Uint,
        DataType::Integer { .. } => Atomic::Uint64,
        DataType::Float(8) => Atomic::Double,
        DataType::Float(_) => Atomic::Float,
        DataType::FixedBytes(_) | DataType::FixedText(_) | DataType::String | DataType::Json => {
            Atomic::String
        }
        DataType::Bool
        | DataType::Complex(_)
        | DataType::Raw(_)
        | DataType::Struct(_)
        | DataType::Bytes
        | DataType::List(_) => return None,
    })
}

/// Returns the type of a variable with elements of a data type. Adds it to the model if it is user-defined and not there yet;
/// `owner` is the name of the variable, after which structures are named.
pub(super) fn type_of(model: &mut Model, data_type: &DataType, owner: &str) -> Type {
    if let Some(atomic) = atomic(data_type) {
        return atomic.into();
    }
    let (type_name, class) = match data_type {
        DataType::Bool => {
            let members = vec![(name("FALSE"), 0), (name("TRUE"), 1)];
            ("_bool_t".to_string(), Class::Enum { base: Atomic::Ubyte, members })
        }
        DataType::Complex(size) => {
            let (size, part) = (usize::from(*size), if *size == 4 { Atomic::Float } else { Atomic::Double });
            let field =
                |of: &str, offset| Field { name: name(of), offset, ty: part.into(), shape: vec![], chars: 1 };
            let fields = vec![field("r", 0), field("i", size)];
            (format!("_Complex{}_t", 16 * size), Class::Compound { size: 2 * size, fields })
        }
        DataType::Raw(size) => (format!("_Raw{}_t", 8 * size), Class::Opaque(*size)),
        DataType::Bytes => ("_Bytes_t".to_string(), Class::Vlen(Atomic::Ubyte.into())),
        DataType::List(of) => {
            let of = atomic(&of.data_type).unwrap_or(Atomic::Ubyte);
            (format!("_List_{of}_t"), Class::Vlen(of.into()))
        }
        DataType::Struct(fields) => {
            let mut offset = 0usize;
            let mut members = vec![];
            for field in fields {
                let of = format!("{owner}_{}", field.name);
                let is_char = matches!(field.element.data_type, DataType::FixedBytes(_));
                let ty =
                    if is_char { Atomic::Char.into() } else { type_of(model, &field.element.data_type, &of) };
                let mut shape = field.shape.clone();
                if let DataType::FixedBytes(len) = field.element.data_type {
                    shape.push(len);
                }
                let size = model.size_of(ty);
                let align = size.clamp(1, 8).next_power_of_two();
                offset = offset.next_multiple_of(align);
                members.push(Field { name: name(&field.name), offset, ty, shape: shape.clone(), chars: 1 });
                offset += size * shape.iter().product::<usize>();
            }
            (format!("_{owner}_t"), Class::Compound { size: offset.next_multiple_of(8), fields: members })
        }
        // The atomic ones are done.
        _ => return Atomic::Ubyte.into(),
    };
    let named: Name = name(&type_name);
    let same =
        |ty: &UserType| ty.class == class && (ty.name == named || matches!(class, Class::Compound { .. }));
    if let Some(at) = model.types().iter().position(|ty| same(ty) && ty.group == GroupId::ROOT) {
        return Type::User(ferrocdf_model::TypeId(at as u32));
    }
    // Variables of one name in different groups may have different structures.
    let taken = |name: &Name| model.types().iter().any(|ty| ty.name == *name);
    let mut free = named.clone();
    for number in 2.. {
        if !taken(&free) {
            break;
        }
        free = name(&format!("{type_name}{number}"));
    }
    Type::User(model.push_type(UserType { name: free, group: GroupId::ROOT, class }))
}
