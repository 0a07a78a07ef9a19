//! Comparing the definitions of two datasets.

use std::collections::HashMap;

use ferrocdf_model::{Attr, Class, GroupId, Model, Owner, Type, Values, VarId};

use super::compare::is_same;

/// Finds the first definition of `a` that `b` has not, or has otherwise: a group, its dimensions, one of the variables `vars`, its type, its
/// dimensions, or an attribute of these. Returns its name for a message, such as `attribute title of /`. Attributes that `b` alone has are
/// no difference.
pub fn find_definition_difference(a: &Model, b: &Model, vars: &[VarId]) -> Option<String> {
    let groups: HashMap<String, GroupId> = b.group_ids().map(|group| (b.group_path(group), group)).collect();
    let mut owners = vec![];
    for group in a.group_ids() {
        let path = a.group_path(group);
        let Some(&other) = groups.get(&path) else { return Some(format!("{path} is missing")) };
        if dimensions(a, group) != dimensions(b, other) {
            return Some(format!("the dimensions of {path}"));
        }
        owners.push((path, Owner::Group(group), Owner::Group(other)));
    }
    for &var in vars {
        let path = a.var_path(var);
        let Some(other) = b.find_var_at(path.as_bytes()) else { return Some(format!("{path} is missing")) };
        if !is_same_type((a, a.var(var).ty), (b, b.var(other).ty)) {
            return Some(format!("the type of {path}"));
        }
        if dimension_paths(a, var) != dimension_paths(b, other) {
            return Some(format!("the list of dimensions of {path}"));
        }
        owners.push((path, Owner::Var(var), Owner::Var(other)));
    }
    owners.into_iter().find_map(|(path, owner, other)| {
        let has = |attr: &Attr| {
            let found = b.attrs(other).iter().find(|found| found.name == attr.name);
            found.is_some_and(|found| is_same_value((a, &attr.value), (b, &found.value)))
        };
        let missing = a.attrs(owner).iter().find(|attr| !has(attr))?;
        Some(format!("attribute {} of {path}", missing.name))
    })
}

/// Returns names and lengths of the dimensions of a group, in the order of their names, and whether they are unlimited.
fn dimensions(model: &Model, group: GroupId) -> Vec<(&[u8], u64, bool)> {
    let own = model.dims().iter().filter(|dim| dim.group == group);
    let mut found: Vec<_> = own.map(|dim| (dim.name.as_bytes(), dim.len, dim.unlimited)).collect();
    found.sort_unstable();
    found
}

/// Returns the dimensions of a variable: the paths of their groups, and their names.
fn dimension_paths(model: &Model, var: VarId) -> Vec<(String, &[u8])> {
    let dims = model.var(var).dims.iter().map(|&dim| model.dim(dim));
    dims.map(|dim| (model.group_path(dim.group), dim.name.as_bytes())).collect()
}

/// True if values of attributes have the same type and the same bits.
fn is_same_value((a, value): (&Model, &Values), (b, other): (&Model, &Values)) -> bool {
    is_same_type((a, value.ty()), (b, other.ty())) && is_same(value, other)
}

/// True if types of two datasets have the same names and the same structure.
pub(crate) fn is_same_type((model, ty): (&Model, Type), (other_model, other): (&Model, Type)) -> bool {
    let (Type::User(id), Type::User(other_id)) = (ty, other) else { return ty == other };
    let (one, two) = (model.user_type(id), other_model.user_type(other_id));
    let is_same = |ty, other| is_same_type((model, ty), (other_model, other));
    one.name == two.name
        && match (&one.class, &two.class) {
            (Class::Vlen(base), Class::Vlen(other)) => is_same(*base, *other),
            (Class::Compound { size, fields }, Class::Compound { size: other_size, fields: others }) => {
                size == other_size
                    && fields.len() == others.len()
                    && fields.iter().zip(others).all(|(field, other)| {
                        (&field.name, field.offset, &field.shape) == (&other.name, other.offset, &other.shape)
                            && is_same(field.ty, other.ty)
                    })
            }
            (class, other) => class == other,
        }
}
