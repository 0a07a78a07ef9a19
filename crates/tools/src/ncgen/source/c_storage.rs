//! How variables of netCDF-4 files are stored, in programs in C.

use std::io;

use ferrocdf::VarId;
use ferrocdf::model::{Chunking, Endian, Filter};

use super::c::C;
use super::listed;

/// Filters that have functions of their own.
const OWN: [u32; 3] = [Filter::SHUFFLE, Filter::DEFLATE, Filter::FLETCHER32];

impl C<'_> {
    /// The filters of a variable that are defined by number, each with its place among them.
    fn numbered_filters(&self, var: VarId) -> impl Iterator<Item = (usize, &Filter)> {
        let filters = self.dataset.model.var(var).storage.filters.iter();
        filters.filter(|filter| !OWN.contains(&filter.id)).enumerate()
    }

    /// Declares sizes of chunks and parameters of filters.
    pub(super) fn declare_storage(&mut self) -> io::Result<()> {
        let mut lines = vec![];
        for var in self.dataset.model.var_ids() {
            if let Some(Chunking::Chunked(sizes)) = &self.dataset.model.var(var).storage.chunking
                && !sizes.is_empty()
            {
                let (name, rank) = (self.var(var), sizes.len());
                let sizes = listed(sizes.iter().copied(), ", ");
                lines.push(format!("static size_t {name}_chunksizes[{rank}] = {{{sizes}}} ;"));
            }
        }
        for var in self.dataset.model.var_ids() {
            for (at, filter) in self.numbered_filters(var).filter(|(_, filter)| !filter.params.is_empty()) {
                let params: Vec<_> = filter.params.iter().map(|param| format!("{param}U")).collect();
                let (name, count, params) = (self.var(var), params.len(), params.join(", "));
                let start = format!("static unsigned int {name}_{at}_filterparams[{count}]");
                lines.push(format!("{start} = {{{params}}} ;"));
            }
        }
        if self.has_groups() {
            writeln!(self.out)?;
        }
        lines.iter().try_for_each(|line| writeln!(self.out, "{line}"))
    }

    /// The calls that say how a variable is stored.
    pub(super) fn storage(&mut self, var: VarId) -> io::Result<()> {
        let (name, decl) = (self.var(var), self.dataset.model.var(var));
        let storage = &decl.storage;
        // What filters do not depend on comes before the first of those that are defined by number, as in the reference.
        let (mut calls, mut rest) = (vec![], vec![]);
        match &storage.chunking {
            Some(Chunking::Contiguous) => calls.push("chunking(@, NC_CONTIGUOUS, NULL)".to_string()),
            Some(Chunking::Compact) => calls.push("chunking(@, NC_COMPACT, NULL)".to_string()),
            Some(Chunking::Chunked(sizes)) if sizes.is_empty() => {
                calls.push("chunking(@, NC_CHUNKED, NULL)".to_string());
            }
            Some(Chunking::Chunked(_)) => calls.push(format!("chunking(@, NC_CHUNKED, {name}_chunksizes)")),
            None => {}
        }
        let shuffle = storage.filter(Filter::SHUFFLE).is_some();
        let level = storage.filter(Filter::DEFLATE).map(|params| params.first().copied().unwrap_or(0));
        let mut is_deflate_told = false;
        match storage.endian {
            Some(Endian::Little) => rest.push("endian(@, NC_ENDIAN_LITTLE)".to_string()),
            Some(Endian::Big) => rest.push("endian(@, NC_ENDIAN_BIG)".to_string()),
            _ => {}
        }
        // The library refuses this for strings, and cannot write lists then.
        if storage.no_fill && self.dataset.model.is_flat(decl.ty) {
            rest.push("fill(@, NC_NOFILL, NULL)".to_string());
        }
        let mut numbered = self.numbered_filters(var);
        for filter in &storage.filters {
            match filter.id {
                Filter::FLETCHER32 => calls.push("fletcher32(@, 1)".to_string()),
                Filter::SHUFFLE | Filter::DEFLATE if is_deflate_told => {}
                Filter::SHUFFLE | Filter::DEFLATE => {
                    is_deflate_told = true;
                    let order = if shuffle { "NC_SHUFFLE" } else { "NC_NOSHUFFLE" };
                    let (on, level) = (u32::from(level.is_some()), level.unwrap_or(0));
                    calls.push(format!("deflate(@, {order}, {on}, {level})"));
                }
                id => {
                    calls.append(&mut rest);
                    let at = numbered.next().map_or(0, |(at, _)| at);
                    let params = match filter.params.len() {
                        0 => "0, NULL".to_string(),
                        count => format!("{count}, {name}_{at}_filterparams"),
                    };
                    calls.push(format!("filter(@, {id}, {params})"));
                }
            }
        }
        drop(numbered);
        calls.append(&mut rest);
        let variable = format!("{}, {name}_id", self.group(decl.group));
        for call in calls {
            writeln!(self.out, "    stat = nc_def_var_{};", call.replacen('@', &variable, 1))?;
            self.check()?;
        }
        Ok(())
    }
}
