//! Filters of the copy, by variable: `-F` as in "HDF5 Filter Support" of the netCDF documentation.
//!
//! A specification names variables, `*` for all of them or some with `&` or `|` between, and after a comma the filters they
//! get, or `none`. It goes before the filters of the input, and before `-F none`.

use ferrocdf::model::Filter;
use ferrocdf::{Model, VarId};

/// What one `-F` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterSpec {
    /// Full names without the first slash; none for all variables.
    names: Option<Vec<String>>,
    /// None takes the filters of the input away.
    filters: Vec<Filter>,
}

impl FilterSpec {
    /// Reads a specification. `None` if it is none.
    pub fn parse(spec: &str) -> Option<FilterSpec> {
        let (names, filters) = spec.split_once(',')?;
        let names = match names.trim() {
            "*" => None,
            list => {
                let names: Vec<String> = list
                    .split(['&', '|'])
                    .map(|name| name.trim().trim_start_matches('/').to_string())
                    .collect();
                Some(names).filter(|names| names.iter().all(|name| !name.is_empty()))?.into()
            }
        };
        let filters = match filters.trim() {
            none if none.eq_ignore_ascii_case("none") => vec![],
            list => ferrocdf_cdl::parse::filters(list)?,
        };
        Some(FilterSpec { names, filters })
    }

    /// The filters that a variable gets; `None` if this is not about it.
    pub fn of(&self, model: &Model, var: VarId) -> Option<&[Filter]> {
        let path = model.var_path(var);
        let named = |names: &Vec<String>| names.iter().any(|name| name == path.trim_start_matches('/'));
        self.names.as_ref().is_none_or(named).then_some(&self.filters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specifications_of_the_manual() {
        let filter = |id, params: &[u32]| Filter { id, params: params.to_vec() };
        let spec = |names: Option<&[&str]>, filters: &[Filter]| {
            let names = names.map(|names| names.iter().map(ToString::to_string).collect());
            Some(FilterSpec { names, filters: filters.to_vec() })
        };
        assert_eq!(FilterSpec::parse("var,307,9"), spec(Some(&["var"]), &[filter(307, &[9])]));
        assert_eq!(FilterSpec::parse("*,1,4"), spec(None, &[filter(1, &[4])]));
        let pipeline = [filter(307, &[9]), filter(4, &[32, 32])];
        assert_eq!(FilterSpec::parse("v1&/g/v2,307,9|4,32,32"), spec(Some(&["v1", "g/v2"]), &pipeline));
        assert_eq!(FilterSpec::parse("v1|v2,none"), spec(Some(&["v1", "v2"]), &[]));
        for wrong in ["var", ",307", "v1&,307", "var,", "var,bzip2"] {
            assert_eq!(FilterSpec::parse(wrong), None, "{wrong}");
        }
    }
}
