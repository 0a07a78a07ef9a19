//! Declarations of the text, before the format is known.
//!
//! The format decides whether a declaration is allowed, and may be stated after all declarations. So declarations are
//! kept here, and become a model when data is written. Indexes into these lists equal the ids in the model, since both
//! follow the order of the text.

use std::collections::HashMap;

use ferrocdf_model::{Atomic, DimId, GroupId, Owner, Storage, Type, TypeId, VarId};

use super::constant::Item;

type IdsByName<Id> = HashMap<Vec<u8>, Id>;

/// Group with the ids of its members by name.
#[derive(Default)]
pub(super) struct GroupDecl {
    pub name: Vec<u8>,
    pub parent: Option<GroupId>,
    pub groups: IdsByName<GroupId>,
    pub dims: IdsByName<DimId>,
    pub types: IdsByName<TypeId>,
    pub vars: IdsByName<VarId>,
}

/// Dimension; `len` is `None` if it is unlimited.
pub(super) struct DimDecl {
    pub name: Vec<u8>,
    pub group: GroupId,
    pub len: Option<u64>,
}

/// Class of a user-defined type.
pub(super) enum ClassDecl {
    Enum { base: Atomic, members: Vec<(Vec<u8>, i128)> },
    Opaque(usize),
    Vlen(Type),
    Compound(Vec<FieldDecl>),
}

/// Field of a compound type.
pub(super) struct FieldDecl {
    pub name: Vec<u8>,
    pub ty: Type,
    pub shape: Vec<usize>,
}

/// User-defined type, with the size of one value.
pub(super) struct TypeDecl {
    pub name: Vec<u8>,
    pub group: GroupId,
    pub class: ClassDecl,
    /// Size and alignment in memory, as of a C structure.
    pub size: usize,
    pub align: usize,
    /// Number of atomic values in one value.
    pub leaves: u64,
    /// Nesting depth of types.
    pub depth: u32,
}

/// Variable.
pub(super) struct VarDecl {
    pub name: Vec<u8>,
    pub group: GroupId,
    pub ty: Type,
    pub dims: Vec<DimId>,
    pub storage: Storage,
    /// Text of the attribute `_Codecs`.
    pub codecs: Option<String>,
    /// Value of the attribute `_FillValue`.
    pub fill: Option<Item>,
    pub line: u32,
}

/// Attribute; the type is `None` if it is inferred from the values.
pub(super) struct AttrDecl {
    pub owner: Owner,
    pub name: Vec<u8>,
    pub ty: Option<Type>,
    pub items: Vec<Item>,
    pub line: u32,
}

/// Attribute whose type is declared after it, in a nested group: `ncdump` prints one if the file has a type without a
/// name.
pub(super) struct LateType {
    /// Index of the attribute.
    pub attr: usize,
    /// Groups that contain the type, and its name.
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

/// Name as written: alone, or as a full path.
#[derive(Clone, Debug)]
pub(super) struct Path {
    /// Group of a full path; `None` for a name alone.
    pub group: Option<GroupId>,
    pub name: Vec<u8>,
}

/// Object to which a name refers.
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

    /// Finds the dimension of a full path, or of a name in `here` and its parents.
    pub fn find_dim(&self, here: GroupId, path: &Path) -> Option<DimId> {
        match path.group {
            Some(group) => self.group(group).dims.get(&path.name).copied(),
            None => self.and_parents(here).find_map(|group| self.group(group).dims.get(&path.name).copied()),
        }
    }

    /// Finds a variable, or else a type. A name alone is searched among the variables of the group, then among the
    /// types of the group and its parents, then among the types of all groups if only one has that name.
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

    /// Returns the group of a full path, or the first name that does not exist.
    pub fn walk<'n>(&self, names: &'n [Vec<u8>]) -> Result<GroupId, &'n [u8]> {
        names.iter().try_fold(GroupId::ROOT, |group, name| {
            self.group(group).groups.get(name).copied().ok_or(name.as_slice())
        })
    }

    /// True if a variable or type with this full path is declared.
    pub fn is_declared(&self, names: &[Vec<u8>]) -> bool {
        let Some((name, groups)) = names.split_last() else { return false };
        let group = self.walk(groups).ok().map(|id| self.group(id));
        group.is_some_and(|group| group.vars.contains_key(name) || group.types.contains_key(name))
    }

    /// Returns a full path as messages show it.
    pub fn full_name(&self, group: GroupId, name: &[u8]) -> String {
        let mut parts: Vec<_> =
            self.and_parents(group).map(|id| String::from_utf8_lossy(&self.group(id).name)).collect();
        parts.pop();
        let groups: String = parts.iter().rev().map(|part| format!("/{part}")).collect();
        format!("{groups}/{}", String::from_utf8_lossy(name))
    }

    /// Returns the name of a type in CDL.
    pub fn type_name(&self, ty: Type) -> String {
        match ty {
            Type::Atomic(atomic) => atomic.cdl_name().to_string(),
            Type::User(id) => String::from_utf8_lossy(&self.types[id.index()].name).into_owned(),
        }
    }

    /// Returns the size and alignment in memory, the number of atomic values, and the nesting depth of one value of a
    /// type.
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

/// Returns the atomic type of this name, including aliases that are not keywords in all places.
pub(super) fn atomic_named(name: &[u8]) -> Option<Atomic> {
    match name {
        b"ulong" | b"uinteger" => Some(Atomic::Uint),
        _ => Atomic::ALL.into_iter().find(|atomic| atomic.cdl_name().as_bytes() == name),
    }
}
