//! Printing of virtual attributes, which describe the storage of a dataset.

use ferrocdf_codec::spec;
use ferrocdf_model::{
    Atomic, Attr, Chunking, Class, DataModel, Endian, Filter, GroupId, Owner, Type, Values, VarId,
};

use super::escape::c_text;
use super::{PrintFailure, Printer};

/// Filters that have a virtual attribute of their own.
const OWN_FORM: [u32; 3] = [Filter::DEFLATE, Filter::SHUFFLE, Filter::FLETCHER32];

impl Printer<'_> {
    fn special(&mut self, owner: &[u8], attr: &str, value: impl AsRef<[u8]>) -> Result<(), PrintFailure> {
        self.indent();
        self.out.put("\t\t");
        self.name(owner)?;
        self.out.put(format!(":{attr} = "));
        self.out.put(value);
        self.out.put(" ;\n");
        Ok(())
    }

    /// Prints the virtual attributes of a variable. Classic files have no choice of storage: CDF-1 and CDF-2 have no
    /// such attributes, CDF-5 has the one that `ncdump` prints (before it fails if the type has a byte order).
    pub(super) fn special_attrs(&mut self, id: VarId) -> Result<(), PrintFailure> {
        let var = self.model.var(id);
        let (owner, storage) = (var.name.as_bytes(), &var.storage);
        match self.model.format().data_model() {
            DataModel::Data64 => return self.special(owner, "_Storage", "\"contiguous\""),
            DataModel::Classic | DataModel::Offset64 => return Ok(()),
            DataModel::Netcdf4 | DataModel::Netcdf4Classic => {}
        }
        let word = match &storage.chunking {
            Some(Chunking::Contiguous) => "contiguous",
            Some(Chunking::Compact) => "compact",
            Some(Chunking::Chunked(_)) => "chunked",
            None => "unknown",
        };
        // A scalar of a Zarr store is one chunk, without a shape to print; `ncgen` accepts no chunks for scalars.
        let is_one_chunk = matches!(&storage.chunking, Some(Chunking::Chunked(sizes)) if sizes.is_empty());
        if !is_one_chunk {
            self.special(owner, "_Storage", format!("\"{word}\""))?;
        }
        if let Some(Chunking::Chunked(sizes)) = &storage.chunking
            && !is_one_chunk
        {
            let sizes: Vec<_> = sizes.iter().map(u64::to_string).collect();
            self.special(owner, "_ChunkSizes", sizes.join(", "))?;
        }
        if let Some(sizes) = &storage.shards {
            let sizes: Vec<_> = sizes.iter().map(u64::to_string).collect();
            self.special(owner, "_ShardSizes", sizes.join(", "))?;
        }
        let one_form = self.options.filters_in_one_form;
        if !one_form {
            if storage.filter(Filter::FLETCHER32).is_some() {
                self.special(owner, "_Fletcher32", "\"true\"")?;
            }
            if storage.filter(Filter::SHUFFLE).is_some() {
                self.special(owner, "_Shuffle", "\"true\"")?;
            }
            if let Some(params) = storage.filter(Filter::DEFLATE) {
                let level = params.first().copied().unwrap_or(0);
                self.special(owner, "_DeflateLevel", level.to_string())?;
            }
        }
        let filters = storage.filters.iter().filter(|filter| one_form || !OWN_FORM.contains(&filter.id));
        let filters = spec::print(filters.map(|filter| (filter.id, &*filter.params)));
        if !filters.is_empty() {
            self.special(owner, "_Filter", format!("\"{filters}\""))?;
        }
        for attr in self.source.hidden(Owner::Var(id)) {
            if let (true, Values::Char(json)) = (attr.name == "_Codecs", &attr.value) {
                let mut text = vec![b'"'];
                for &byte in c_text(json) {
                    match byte {
                        b'"' => text.extend_from_slice(b"\\\""),
                        _ if byte.is_ascii_control() => {
                            text.extend_from_slice(format!("\\%{byte:02x}").as_bytes());
                        }
                        _ => text.push(byte),
                    }
                }
                text.push(b'"');
                self.special(owner, "_Codecs", text)?;
            }
        }
        match storage.endian {
            Some(endian) if self.has_byte_order(var.ty) => {
                let word = if endian == Endian::Little { "\"little\"" } else { "\"big\"" };
                self.special(owner, "_Endianness", word)?;
            }
            _ => {}
        }
        if storage.no_fill {
            self.special(owner, "_NoFill", "\"true\"")?;
        }
        Ok(())
    }

    fn has_byte_order(&self, ty: Type) -> bool {
        match ty {
            Type::Atomic(atomic) => atomic.size() > 1,
            Type::User(id) => match self.model.user_type(id).class {
                Class::Compound { size, .. } | Class::Opaque(size) => size > 1,
                Class::Vlen(_) => true,
                Class::Enum { base, .. } => base != Atomic::Byte && base != Atomic::Ubyte,
            },
        }
    }

    /// Prints the virtual attributes of the dataset.
    pub(super) fn special_global_attrs(&mut self) -> Result<(), PrintFailure> {
        let mut hidden = self.source.hidden(Owner::Group(GroupId::ROOT));
        if let Some(stored) = self.model.find_attr(Owner::Group(GroupId::ROOT), b"_NCProperties") {
            hidden.insert(0, stored.clone());
        }
        for Attr { name, value, .. } in &hidden {
            if *name == "_NCProperties" && self.options.no_provenance {
                continue;
            }
            let text = match value {
                Values::Char(text) => [b"\"", c_text(text), b"\""].concat(),
                Values::Int(numbers) => match numbers[..] {
                    [number] => number.to_string().into_bytes(),
                    _ => continue,
                },
                _ => continue,
            };
            self.special(b"", &name.to_str(), text)?;
        }
        let format = format!("\"{}\"", self.model.format().kind_name());
        self.special(b"", "_Format", format)
    }
}
