//! Errors in the data of a variable.

use ferrocdf_bytes::{Code, Error};
use ferrocdf_model::{Container, Model, VarId};

/// Names the variable in an error of its data. A chunk of Zarr that cannot be decoded is an error of its filters: `NC_EFILTER`, not
/// `NC_EHDFERR`, the code of the engine.
pub(crate) fn in_variable(error: Error, model: &Model, var: VarId) -> Error {
    let error = error.at_path(model.var_path(var));
    match (model.format().container(), error.code) {
        (Container::ZarrV2 | Container::ZarrV3, Code::EHDFERR) => error.with_code(Code::EFILTER),
        _ => error,
    }
}
