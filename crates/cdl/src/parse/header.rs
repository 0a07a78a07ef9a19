//! Declarations as they were read, before the format is known.
//!
//! Whether a declaration is allowed depends on the format, and the format may be named after everything else. So
//! declarations are kept here and become a model when data is to be written. Positions in these lists are the ids in
//! the model, for both are in the order of the text.

use std::collections::HashMap;

use ferrocdf_model::{Atomic, DimId, GroupId, Owner, Storage, Type, TypeId, VarId};

use super::constant::Item;

type IdsByName<Id> = HashMap<Vec<u8>, Id>;

/// A group and what is visible in it.
#[derive(Default)]
pub(super) struct GroupDecl {
    pub name: Vec<u8>,
    pub parent: Option<GroupId>,
    pub groups: IdsByName<GroupId>,
    pub dims: IdsByName<DimId>,
    pub types: IdsByName<TypeId>,
    pub vars: IdsByName<VarId>,
}

/// A dimension; `len` is `None` for an unlimited one.
pub(super) struct DimDecl {
    pub name: Vec<u8>,
    pub group: GroupId,
    pub len: Option<u64>,
}

/// What a user-defined type is.
pub(super) enum ClassDecl {
    Enum { base: Atomic, members: Vec<(Vec<u8>, i128)> },
    Opaque(usize),
    Vlen(Type),
    Compound(Vec<FieldDecl>),
}

/// A field of a compound type.
pub(super) struct FieldDecl {
    pub name: Vec<u8>,
    pub ty: Type,
    pub shape: Vec<usize>,
}

/// A user-defined type, with what one value needs.
pub(super) struct TypeDecl {
    pub name: Vec<u8>,
    pub group: GroupId,
    pub class: ClassDecl,
    /// Bytes in memory and their alignment, as a C structure.
    pub size: usize,
    pub align: usize,
    /// Atomic values in one value.
    pub leaves: u64,
    /// Types inside types.
    pub depth: u32,
}

/// A variable.
pub(super) struct VarDecl {
    pub name: Vec<u8>,
    pub group: GroupId,
    pub ty: Type,
    pub dims: Vec<DimId>,
    pub storage: Storage,
    /// Its `_Codecs`.
    pub codecs: Option<String>,
    /// Its `_FillValue`.
    pub fill: Option<Item>,
    pub line: u32,
}

/// An attribute; the type is `None` if it is to be found from the values.
pub(super) struct AttrDecl {
    pub owner: Owner,
    pub name: Vec<u8>,
    pub ty: Option<Type>,
    pub items: Vec<Item>,
    pub line: u32,
}

/// The type of an attribute that is declared behind it, in a group further down: `ncdump` writes such where a type has no
/// name in the file.
pub(super) struct LateType {
    /// The attribute's position.
    pub attr: usize,
    /// The groups that the type is in, and its name.
    pub names: Vec<Vec<u8>>,
    pub line: u32,
}

/// All declarations.
#[derive(Default)]
pub(super) struct Header {
    pub groups: Vec<GroupDecl>,
    pub dims: Vec<DimDecl>,
    pub types: Vec<TypeDecl>,
    pub vars: Vec<VarDecl>,
    pub attrs: Vec<AttrDecl>,
    pub late: Vec<LateType>,
}

/// A name as it is written: alone, or with the groups it is in.
#[derive(Clone, Debug)]
pub(super) struct Path {
    /// The group a full path leads to; `None` for a name alone.
    pub group: Option<GroupId>,
    pub name: Vec<u8>,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Thing {
    Var(VarId),
    Type(Type),
}

impl Header {
    pub fn group(&self, id: GroupId) -> &GroupDecl {
        &self.groups[id.index()]
    }

    pub fn group_mut(&mut self, id: GroupId) -> &mut GroupDecl {
        &mut self.groups[id.index()]
    }

    pub fn var(&self, id: VarId) -> &VarDecl {
        &self.vars[id.index()]
    }

    fn and_parents(&self, group: GroupId) -> impl Iterator<Item = GroupId> {
        std::iter::successors(Some(group), |&id| self.group(id).parent)
    }

    /// The dimension a path names: exactly there, or from `here` upwards.
    pub fn find_dim(&self, here: GroupId, path: &Path) -> Option<DimId> {
        match path.group {
            Some(group) => self.group(group).dims.get(&path.name).copied(),
            None => self.and_parents(here).find_map(|group| self.group(group).dims.get(&path.name).copied()),
        }
    }

    /// The variable or else the type a path names. Variables are looked for in the group itself, types in the group,
    /// its parents, and then in all groups if the name is there only once.
    pub fn find_thing(&self, here: GroupId, path: &Path) -> Option<Thing> {
        let exact = path.group.unwrap_or(here);
        if let Some(&var) = self.group(exact).vars.get(&path.name) {
            return Some(Thing::Var(var));
        }
        let ty = match path.group {
            Some(group) => self.group(group).types.get(&path.name).copied(),
            None => {
                if let Some(atomic) = atomic_named(&path.name) {
                    return Some(Thing::Type(Type::Atomic(atomic)));
                }
                self.and_parents(here)
                    .find_map(|group| self.group(group).types.get(&path.name).copied())
                    .or_else(|| self.only_type(&path.name))
            }
        };
        ty.map(|id| Thing::Type(Type::User(id)))
    }

    fn only_type(&self, name: &[u8]) -> Option<TypeId> {
        let mut found = self.groups.iter().filter_map(|group| group.types.get(name).copied());
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }

    /// The group a full path of names leads to, or the name that is missing.
    pub fn walk<'n>(&self, names: &'n [Vec<u8>]) -> Result<GroupId, &'n [u8]> {
        names.iter().try_fold(GroupId::ROOT, |group, name| {
            self.group(group).groups.get(name).copied().ok_or(name.as_slice())
        })
    }

    /// Whether a full path leads to a variable or a type that was declared.
    pub fn is_declared(&self, names: &[Vec<u8>]) -> bool {
        let Some((name, groups)) = names.split_last() else { return false };
        let group = self.walk(groups).ok().map(|id| self.group(id));
        group.is_some_and(|group| group.vars.contains_key(name) || group.types.contains_key(name))
    }

    /// Names joined by slashes, as messages show them.
    pub fn full_name(&self, group: GroupId, name: &[u8]) -> String {
        let mut parts: Vec<_> =
            self.and_parents(group).map(|id| String::from_utf8_lossy(&self.group(id).name)).collect();
        parts.pop();
        let groups: String = parts.iter().rev().map(|part| format!("/{part}")).collect();
        format!("{groups}/{}", String::from_utf8_lossy(name))
    }

    /// The name of a type in CDL.
    pub fn type_name(&self, ty: Type) -> String {
        match ty {
            Type::Atomic(atomic) => atomic.cdl_name().to_string(),
            Type::User(id) => String::from_utf8_lossy(&self.types[id.index()].name).into_owned(),
        }
    }

    /// Size and alignment in memory, number of atomic values, and depth of one value of a type.
    pub fn measure(&self, ty: Type) -> (usize, usize, u64, u32) {
        match ty {
            Type::Atomic(atomic) => (atomic.size(), atomic.size(), 1, 0),
            Type::User(id) => {
                let decl = &self.types[id.index()];
                (decl.size, decl.align, decl.leaves, decl.depth)
            }
        }
    }
}

/// The atomic type of this name, with the aliases of CDL that are not keywords everywhere.
pub(super) fn atomic_named(name: &[u8]) -> Option<Atomic> {
    match name {
        b"ulong" | b"uinteger" => Some(Atomic::Uint),
        _ => Atomic::ALL.into_iter().find(|atomic| atomic.cdl_name().as_bytes() == name),
    }
}
