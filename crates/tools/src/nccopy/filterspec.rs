//! Filters of the copy, by variable: `-F` as in "HDF5 Filter Support" of the netCDF documentation.
//!
//! A specification names variables, `*` for all of them or some with `&` or `|` between, and after a comma the filters they
//! get, or `none`. It goes before the filters of the input, and before `-F none`. A backslash takes the character behind
//! it into a name.

use ferrocdf::spec::{List, Spec, Syntax};
use ferrocdf::{Model, VarId};

/// What one `-F` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterSpec {
    /// Full names without the first slash; none for all variables.
    names: Option<Vec<String>>,
    /// None takes the filters of the input away.
    filters: Vec<Spec>,
}

/// How a specification looks.
const FORM: &str = "it is \"variable,filter\" or \"variable,none\", with & between several variables, * for all, and | \
                    between several filters";

impl FilterSpec {
    /// Reads a specification, or says what is wrong with it.
    pub fn parse(spec: &str) -> Result<FilterSpec, String> {
        let (names, filters) = names_before_comma(spec).ok_or(FORM)?;
        let filters = match filters.trim() {
            "" => return Err(FORM.to_string()),
            none if none.eq_ignore_ascii_case("none") => vec![],
            list => {
                List::parse(list.as_bytes(), Syntax::Strict).map_err(|error| error.what.to_string())?.specs
            }
        };
        if names == ["*"] {
            return Ok(FilterSpec { names: None, filters });
        }
        let names: Vec<String> =
            names.iter().map(|name| name.trim().trim_start_matches('/').to_string()).collect();
        if names.iter().any(String::is_empty) {
            return Err(FORM.to_string());
        }
        Ok(FilterSpec { names: Some(names), filters })
    }

    /// A specification for the variable of a path.
    pub fn of_variable(path: &str, filters: Vec<Spec>) -> FilterSpec {
        FilterSpec { names: Some(vec![path.trim_start_matches('/').to_string()]), filters }
    }

    /// The filters that a variable gets; `None` if this is not about it.
    pub fn of(&self, model: &Model, var: VarId) -> Option<&[Spec]> {
        let path = model.var_path(var);
        let named = |names: &Vec<String>| names.iter().any(|name| is_path(name, &path));
        self.names.as_ref().is_none_or(named).then_some(&self.filters)
    }

    /// The names that no variable has.
    pub fn strangers(&self, model: &Model) -> Vec<&str> {
        let is_there = |name: &&String| model.var_ids().any(|var| is_path(name, &model.var_path(var)));
        let names = self.names.iter().flatten();
        names.filter(|name| !is_there(name)).map(String::as_str).collect()
    }
}

/// Whether a name, without the first slash, is that of the variable with this path.
fn is_path(name: &str, path: &str) -> bool {
    name == path.trim_start_matches('/')
}

/// The names up to the first comma, and what is behind it.
fn names_before_comma(spec: &str) -> Option<(Vec<String>, &str)> {
    let mut names = vec![String::new()];
    let mut letters = spec.char_indices();
    while let Some((at, letter)) = letters.next() {
        let letter = match letter {
            ',' => return Some((names, &spec[at + 1..])),
            '&' | '|' => {
                names.push(String::new());
                continue;
            }
            '\\' => letters.next()?.1,
            other => other,
        };
        names.last_mut()?.push(letter);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specifications_of_the_manual() {
        let filter = |id: u32, params: &[u32]| Spec { id: id.into(), params: params.to_vec() };
        let spec = |names: Option<&[&str]>, filters: &[Spec]| {
            let names = names.map(|names| names.iter().map(ToString::to_string).collect());
            Ok(FilterSpec { names, filters: filters.to_vec() })
        };
        assert_eq!(FilterSpec::parse("var,307,9"), spec(Some(&["var"]), &[filter(307, &[9])]));
        assert_eq!(FilterSpec::parse("*,1,4"), spec(None, &[filter(1, &[4])]));
        let pipeline = [filter(307, &[9]), filter(4, &[32, 32])];
        assert_eq!(FilterSpec::parse("v1&/g/v2,307,9|4,32,32"), spec(Some(&["v1", "g/v2"]), &pipeline));
        assert_eq!(FilterSpec::parse("v1|v2,none"), spec(Some(&["v1", "v2"]), &[]));
        assert_eq!(FilterSpec::parse("*,zstd,3"), spec(None, &[filter(32015, &[3])]));
        assert_eq!(FilterSpec::parse(r"a\,b\&c,1,2"), spec(Some(&["a,b&c"]), &[filter(1, &[2])]));
        for wrong in ["var", ",307", "v1&,307", "var,", r"v\"] {
            assert_eq!(FilterSpec::parse(wrong), Err(FORM.to_string()), "{wrong}");
        }
        let error = FilterSpec::parse("var,1,4x").unwrap_err();
        assert!(error.starts_with("filters \"1,4x\": character 4 ('x'): "), "{error}");
    }
}
