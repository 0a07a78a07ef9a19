//! Points: tables whose fields become variables.

use std::sync::Arc;

use ferrocdf_model::{Attrs, GroupId, Storage, Var};

use super::super::members::{Member, ObjectKind};
use super::super::structure::Point;
use super::super::tables::legal;
use super::{Builder, Source};
use crate::hdf4::atomic;

/// Name of the dimension of the records of a table.
const RECORDS: &[u8] = b"record";

/// Name of the table in which the HDF-EOS2 library notes which levels it wrote.
const LEVEL_WRITTEN: &[u8] = b"LevelWritten";

impl Builder<'_> {
    pub(super) fn add_point(&mut self, point: &Point) {
        let mut members = self.objects.take(ObjectKind::Point, &point.name);
        let group = self.add_group(GroupId::ROOT, &point.name);
        self.add_attributes(group, std::mem::take(&mut members.attributes));
        if let Some(Member::Table(table)) = members.take(LEVEL_WRITTEN) {
            self.view.tables.insert(table.reference);
        }
        for level in &point.levels {
            let Some(Member::Table(table)) = members.take(&level.name) else {
                let (path, name) = (self.view.model.group_path(group), level.name.escape_ascii());
                self.view.skipped.push(format!("{path}/{name}: StructMetadata has it, the file does not"));
                continue;
            };
            let table = Arc::new(table);
            let group = self.add_group(group, &level.name);
            let records = self.dim(group, RECORDS, table.records, false);
            for (at, field) in table.fields.iter().enumerate() {
                let name = self.unique(group, legal(&field.name));
                let mut dims = vec![records];
                if field.order != 1 {
                    let values = [name.as_bytes(), b"_values"].concat();
                    dims.push(self.dim(group, &values, field.order, false));
                }
                let ty = atomic(field.number).into();
                let var = Var { name, group, ty, dims, attrs: Attrs::default(), storage: Storage::default() };
                self.push(var, Source::Table { table: table.clone(), field: at });
            }
        }
    }
}
