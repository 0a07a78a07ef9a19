//! Elements: numbers through the engine, text one by one.

use std::sync::PoisonError;

use ferrocdf_array::{In, Layout, RangeCheck, Selection};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_model::{Model, Type, Values, VarId};
use ferrocdf_store::MemoryBlob;
use ferrocdf_zarr::{ArrayMetadata, DataType, FillValue, Json, without_zeros};

use super::attributes::text;
use super::{Data, NcZarrWriter, VariableNode};
use crate::driver::Written;
use crate::elements::elements;
use crate::quantize;

/// Returns the text of elements that were never written.
pub(super) fn fill_text(metadata: &ArrayMetadata) -> Vec<u8> {
    match &metadata.fill_value {
        FillValue::Value(Json::String(text)) => text.clone().into_bytes(),
        FillValue::Bytes(bytes) => without_zeros(bytes).to_vec(),
        FillValue::Value(_) | FillValue::Undefined => vec![],
    }
}

impl NcZarrWriter {
    /// Writes numbers that are rounded before; `None` if those of this variable are not.
    pub(super) fn write_rounded(
        &self,
        model: &Model,
        var: VarId,
        selection: &Selection,
        input: In<'_>,
    ) -> Result<Option<Written>> {
        let node = &self.variables[var.index()];
        let Some(how) = node.quantize else { return Ok(None) };
        let Data::Array(array) = &*node.data(self, model, var)? else { return Ok(None) };
        let mut array = array.clone();
        array.shape = model.shape(var);
        let Layout::Chunked(chunks) = &array.layout else { return Ok(None) };
        let kind = array.stored.kind;
        let mut fill = vec![0; kind.size()];
        let _exact = ferrocdf_array::convert(
            ferrocdf_array::ConversionRules::Cast,
            array.stored,
            &chunks.fill,
            ferrocdf_array::Stored::native(kind),
            &mut fill,
        );
        let (range_check, bytes) = quantize::apply(how, kind, &selection.count, &fill, input)?;
        let _exact = ferrocdf_array::write(&MemoryBlob::default(), &array, selection, In::raw(kind, &bytes))?;
        Ok(Some(Written { range_check, is_relocated: false }))
    }

    /// Writes text.
    pub(super) fn write_text(
        &mut self,
        model: &Model,
        var: VarId,
        selection: &Selection,
        values: &Values,
    ) -> Result<Written> {
        let (ty, given) = (model.var(var).ty, values.ty());
        if let Type::User(_) = ty {
            let what =
                format!("values of the user-defined type {} are not written to Zarr", model.type_name(ty));
            return Err(Error::new(Code::ENOTBUILT, what));
        }
        let Values::String(strings) = values else {
            let (is, shall) = (model.type_name(given), model.type_name(ty));
            return Err(Error::new(Code::EBADTYPE, format!("values of type {is} for one of type {shall}")));
        };
        if elements(selection)? != strings.len() {
            let what =
                format!("{} values for a selection of {} elements", strings.len(), elements(selection)?);
            return Err(Error::new(Code::EEDGE, what));
        }
        let longest = strings.iter().flatten().map(Vec::len).max().unwrap_or(0);
        let node = &mut self.variables[var.index()];
        if let Some((size, described)) = node.widened(longest) {
            let version = self.version;
            let data = node.data.get_mut().unwrap_or_else(PoisonError::into_inner);
            let can_widen = match data.as_deref() {
                Some(Data::Elements(elements)) => {
                    elements.lock().unwrap_or_else(PoisonError::into_inner).widen(size)
                }
                _ => true,
            };
            if can_widen {
                node.document = described.metadata(version)?;
                node.metadata.element = described.element.clone();
                node.metadata.fill_value = described.fill_value.clone();
                node.described = Some(described);
            }
        }
        let node = &self.variables[var.index()];
        let Data::Elements(elements) = &*node.data(self, model, var)? else {
            return Err(Error::new(Code::EBADTYPE, "the variable holds no text"));
        };
        // JSON metadata and readers of text want UTF-8; bytes of a fixed number may be any.
        let is_utf8 = node.metadata.element.data_type == DataType::String;
        let bytes = |string: &Option<Vec<u8>>| {
            let bytes = string.as_deref().unwrap_or_default();
            if is_utf8 { text(bytes).into_bytes().into() } else { bytes.into() }
        };
        let strings = strings.iter().map(bytes).collect();
        elements.lock().unwrap_or_else(PoisonError::into_inner).write(selection, strings)?;
        Ok(Written { range_check: RangeCheck::InRange, is_relocated: false })
    }
}

impl VariableNode {
    /// Returns the description of an array that was made by this writer with room for text of so many bytes, and that number rounded
    /// up; `None` if it has room for it.
    fn widened(&self, longest: usize) -> Option<(usize, ferrocdf_zarr::NewArray)> {
        let described = self.described.as_ref()?;
        match described.element.data_type {
            DataType::FixedBytes(size) if size < longest => {
                let size = longest.next_power_of_two();
                let mut described = described.clone();
                described.element.data_type = DataType::FixedBytes(size);
                if let FillValue::Bytes(fill) = &mut described.fill_value {
                    fill.resize(size, 0);
                }
                Some((size, described))
            }
            _ => None,
        }
    }
}
