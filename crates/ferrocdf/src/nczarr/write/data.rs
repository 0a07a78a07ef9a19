//! Elements: those of a fixed size through the engine, others one by one.

use std::sync::PoisonError;

use ferrocdf_array::{In, Kind, Layout, RangeCheck, Selection, Stored};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_model::{Model, Value, Values, VarId};
use ferrocdf_store::MemoryBlob;
use ferrocdf_zarr::{ArrayMetadata, DataType, FillValue, Json, without_zeros};

use super::{Data, NcZarrWriter, VariableNode};
use crate::driver::Written;
use crate::elements::elements;
use crate::nczarr::{base_of_enum, encode, of_variable, values};
use crate::quantize;

/// Returns the text of elements that were never written.
pub(super) fn fill_text(metadata: &ArrayMetadata) -> Vec<u8> {
    match &metadata.fill_value {
        FillValue::Value(Json::String(text)) => text.clone().into_bytes(),
        FillValue::Value(number @ Json::Number(_)) => number.to_string().into_bytes(),
        FillValue::Bytes(bytes) => without_zeros(bytes).to_vec(),
        FillValue::Value(_) | FillValue::Undefined => vec![],
    }
}

fn not_as_many(count: usize, selection: &Selection) -> Error {
    let what = format!("{count} values for a selection of {} elements", selection.elements().unwrap_or(0));
    Error::new(Code::EEDGE, what)
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
            Stored::native(kind),
            &mut fill,
        );
        let (range_check, bytes) = quantize::apply(how, kind, &selection.count, &fill, input)?;
        let _exact = ferrocdf_array::write(&MemoryBlob::default(), &array, selection, In::raw(kind, &bytes))?;
        Ok(Some(Written { range_check, is_relocated: false }))
    }

    /// Writes values of a user-defined type.
    pub(super) fn write_nested(
        &mut self,
        model: &Model,
        var: VarId,
        selection: &Selection,
        values: &[Value],
    ) -> Result<Written> {
        let (node, ty) = (&self.variables[var.index()], model.var(var).ty);
        if elements(selection)? != values.len() {
            return Err(not_as_many(values.len(), selection));
        }
        let mut element = node.metadata.element.clone();
        let is_enum = base_of_enum(model, ty).is_some();
        if is_enum {
            // The engine takes numbers in the byte order of the machine.
            element.order = Stored::native(Kind::U8).order;
        }
        let mut bytes = values.iter().map(|value| encode::bytes(model, ty, &element, value));
        match &*node.data(self, model, var)? {
            Data::Elements(elements) => {
                let bytes = bytes.map(|bytes| bytes.map(Into::into)).collect::<Result<_>>()?;
                elements.lock().unwrap_or_else(PoisonError::into_inner).write(selection, bytes)?;
            }
            Data::Array(array) => {
                let mut stored = vec![];
                bytes.try_for_each(|bytes| bytes.map(|bytes| stored.extend(bytes)))?;
                let array = of_variable(array.clone(), model, var);
                let selection = match is_enum {
                    true => selection.clone(),
                    false => values::bytes_of(selection, &element),
                };
                let input = In::raw(array.stored.kind, &stored);
                let _exact = ferrocdf_array::write(&MemoryBlob::default(), &array, &selection, input)?;
            }
        }
        Ok(Written { range_check: RangeCheck::InRange, is_relocated: false })
    }

    /// Writes text, or values of a user-defined type.
    pub(super) fn write_each(
        &mut self,
        model: &Model,
        var: VarId,
        selection: &Selection,
        values: &Values,
    ) -> Result<Written> {
        let (ty, given) = (model.var(var).ty, values.ty());
        if let (Values::User(_, values), true) = (values, given == ty) {
            return self.write_nested(model, var, selection, values);
        }
        let Values::String(strings) = values else {
            let (is, expected) = (model.type_name(given), model.type_name(ty));
            return Err(Error::new(
                Code::EBADTYPE,
                format!("values of type {is} for one of type {expected}"),
            ));
        };
        if elements(selection)? != strings.len() {
            return Err(not_as_many(strings.len(), selection));
        }
        let longest = strings.iter().flatten().map(Vec::len).max().unwrap_or(0);
        let node = &mut self.variables[var.index()];
        if let Some((size, described)) = node.widened(longest) {
            let (version, codecs) = (self.version, &self.reader.codecs);
            let data = node.data.get_mut().unwrap_or_else(PoisonError::into_inner);
            let can_widen = match data.as_deref() {
                Some(Data::Elements(elements)) => {
                    elements.lock().unwrap_or_else(PoisonError::into_inner).widen(size)
                }
                _ => true,
            };
            if can_widen {
                node.document = described.metadata(version, codecs)?;
                node.metadata.element = described.element.clone();
                node.metadata.fill_value = described.fill_value.clone();
                node.described = Some(described);
            }
        }
        let node = &self.variables[var.index()];
        let Data::Elements(elements) = &*node.data(self, model, var)? else {
            return Err(Error::new(Code::EBADTYPE, "the variable holds no text"));
        };
        let element = &node.metadata.element;
        let bytes =
            |string: &Option<Vec<u8>>| encode::text(element, string.as_deref().unwrap_or_default()).into();
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
