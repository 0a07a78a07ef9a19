//! The objects of a grid, swath or point in the file: its Vgroup holds Vgroups of fields, of tables and of attributes.
//!
//! Fields are found through the Vgroups, not by the names of datasets: two grids may have fields of one name.

use std::collections::{HashMap, HashSet, VecDeque};

use ferrocdf_bytes::{Error, Result};
use ferrocdf_hdf4::{File, Vdata, Vgroup, tags};
use ferrocdf_model::{Attr, VarId};

use super::tables::legal;
use crate::hdf4::{DatasetVar, values};

/// The kinds of HDF-EOS2 objects, which are classes of Vgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ObjectKind {
    Grid,
    Swath,
    Point,
}

impl ObjectKind {
    fn of(class: &[u8]) -> Option<ObjectKind> {
        match class {
            b"GRID" => Some(ObjectKind::Grid),
            b"SWATH" => Some(ObjectKind::Swath),
            b"POINT" => Some(ObjectKind::Point),
            _ => None,
        }
    }
}

/// The storage of a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Member {
    /// A scientific dataset: a variable of the HDF4 driver.
    Dataset(VarId),
    /// A table: fields of one dimension, and those of points.
    Table(Vdata),
}

/// The objects of a grid, swath or point.
#[derive(Debug, Default)]
pub(super) struct Members {
    /// Fields by their names, in the order of the file.
    fields: HashMap<Vec<u8>, VecDeque<Member>>,
    /// Attributes.
    pub attributes: Vec<Attr>,
}

impl Members {
    /// Takes the field of a name out.
    pub fn take(&mut self, name: &[u8]) -> Option<Member> {
        self.fields.get_mut(name)?.pop_front()
    }

    fn insert(&mut self, name: Vec<u8>, member: Member) {
        self.fields.entry(name).or_default().push_back(member);
    }

    /// Takes the tables out whose names begin with `prefix`, in the order of their names.
    pub fn take_tables(&mut self, prefix: &[u8]) -> Vec<Vdata> {
        let mut names: Vec<_> = self.fields.keys().filter(|name| name.starts_with(prefix)).cloned().collect();
        names.sort();
        let members = names.iter().filter_map(|name| self.fields.remove(name)).flatten();
        members
            .filter_map(|member| if let Member::Table(table) = member { Some(table) } else { None })
            .collect()
    }
}

/// The grids, swaths and points of a file, by kind and name.
#[derive(Default)]
pub(super) struct Objects {
    found: HashMap<(ObjectKind, Vec<u8>), VecDeque<Members>>,
    /// The tables that hold attributes.
    pub attributes: HashSet<u16>,
    /// A line for each object that cannot be read.
    pub skipped: Vec<String>,
}

/// A Vgroup inside the Vgroup of an object, and what its members are.
enum ObjectPart {
    Fields,
    Attributes,
}

impl Objects {
    /// Reads the Vgroups of all objects, and the tables in them.
    ///
    /// # Errors
    /// Those of the source of the bytes: what it refuses is not to be taken for something that cannot be read.
    pub fn read(file: &File, dataset_vars: &[DatasetVar]) -> Result<Objects> {
        let mut objects = Objects::default();
        let mut vgroups: HashMap<u16, Vgroup> = HashMap::new();
        for (reference, found) in file.vgroups() {
            match found {
                Ok(vgroup) => drop(vgroups.insert(reference, vgroup)),
                Err(error) if error.is_of_source() => return Err(error),
                // It is one of the HDF4 driver's reasons already.
                Err(_) => {}
            }
        }
        let mut tops: Vec<&Vgroup> = vgroups.values().collect();
        tops.sort_by_key(|vgroup| vgroup.reference);
        // The tables of all objects are read together: a slow source is waited for once.
        let mut wanted: Vec<(usize, ObjectPart, u16)> = vec![];
        let mut found: Vec<(ObjectKind, &Vgroup, Members)> = vec![];
        let by_reference: HashMap<u16, &DatasetVar> =
            dataset_vars.iter().map(|set| (set.reference, set)).collect();
        for (kind, top) in tops.into_iter().filter_map(|top| Some((ObjectKind::of(&top.class)?, top))) {
            let (at, mut members) = (found.len(), Members::default());
            wanted.extend(top.members_of(tags::VH).map(|table| (at, ObjectPart::Fields, table)));
            for part in top.members_of(tags::VG).filter_map(|reference| vgroups.get(&reference)) {
                let has_attributes = part.name.ends_with(b" Attributes");
                for &(tag, reference) in &part.members {
                    match tag {
                        tags::NDG | tags::SDG => {
                            if let Some(set) = by_reference.get(&reference) {
                                members.insert(set.name.clone(), Member::Dataset(set.var));
                            }
                        }
                        tags::VH if has_attributes => wanted.push((at, ObjectPart::Attributes, reference)),
                        tags::VH => wanted.push((at, ObjectPart::Fields, reference)),
                        _ => {}
                    }
                }
            }
            found.push((kind, top, members));
        }
        let tables = file.for_each(&wanted, |(_, part, reference)| {
            let table = file.vdata(*reference)?;
            let bytes = match part {
                ObjectPart::Attributes => table.values(file, 0)?,
                ObjectPart::Fields => vec![],
            };
            Ok::<_, Error>((table, bytes))
        });
        for ((at, part, _), table) in wanted.into_iter().zip(tables) {
            let members = &mut found[at].2;
            match (table, part) {
                (Err(error), _) if error.is_of_source() => return Err(error),
                (Err(error), _) => objects.skipped.push(error.to_string()),
                (Ok((table, _)), ObjectPart::Fields) => {
                    members.insert(table.name.clone(), Member::Table(table))
                }
                (Ok((table, bytes)), ObjectPart::Attributes) => {
                    objects.attributes.insert(table.reference);
                    let number = table.fields.first().map(|field| field.number);
                    members
                        .attributes
                        .extend(number.map(|number| Attr::new(legal(&table.name), values(number, &bytes))));
                }
            }
        }
        for (kind, top, members) in found {
            objects.found.entry((kind, top.name.clone())).or_default().push_back(members);
        }
        Ok(objects)
    }

    /// Takes the members of an object out; an object without a Vgroup has none.
    pub fn take(&mut self, kind: ObjectKind, name: &[u8]) -> Members {
        let found = self.found.get_mut(&(kind, name.to_vec()));
        found.and_then(VecDeque::pop_front).unwrap_or_default()
    }
}
