//! Values of enumerations by their names.

use std::collections::HashMap;

use ferrocdf_bytes::{Code, Result};
use ferrocdf_model::{Name, Type, Value};

use super::paths::missing;
use super::{Variable, VariableMut};
use crate::Extents;

impl Variable<'_> {
    /// Reads values of an enumeration as their names; `None` for a value without a name.
    ///
    /// # Errors
    /// `NC_EBADTYPE` for a variable of another type.
    pub fn get_member_names<E: Into<Extents>>(&self, extents: E) -> Result<Vec<Option<String>>> {
        let names: HashMap<i128, String> = self.with_members(|members| {
            Ok(members.iter().map(|(name, value)| (*value, name.to_string())).collect())
        })?;
        let name = |value: &Value| match value {
            Value::Enum(number) => names.get(number).cloned(),
            _ => None,
        };
        Ok(self.get_user_values(extents)?.iter().map(name).collect())
    }

    /// Looks at names and values of the members of the type, which must be an enumeration.
    fn with_members<R>(&self, look: impl FnOnce(&[(Name, i128)]) -> Result<R>) -> Result<R> {
        let looked = self.file().look(|model| {
            let members = match model.var(self.id()).ty {
                Type::User(id) => model.user_type(id).class.members(),
                Type::Atomic(_) => &[],
            };
            (!members.is_empty()).then(|| look(members))
        });
        match looked {
            Some(found) => found.map_err(|error| self.located(error)),
            None => Err(self.error(Code::EBADTYPE, "its type is no enumeration")),
        }
    }
}

impl VariableMut<'_> {
    /// Writes values of an enumeration by their names, last dimension fastest.
    ///
    /// ```
    /// # fn main() -> ferrocdf::Result<()> {
    /// # let file = ferrocdf::FileMut::in_memory(&ferrocdf::CreateOptions::default())?;
    /// let sky = file.add_enum_type("sky", &[("clear", 0i8), ("cloudy", 1)])?;
    /// file.add_dimension("day", 3)?;
    /// let skies = file.add_variable_of(sky, "skies", &["day"])?;
    /// skies.put_member_names(&["cloudy", "clear", "cloudy"], ..)?;
    /// assert_eq!(skies.get_member_names(1..)?, [Some("clear".to_string()), Some("cloudy".to_string())]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NC_EINVAL` for a name that no value has, with the names that there are; `NC_EBADTYPE` for a variable of another type; `NC_EEDGE` if
    /// there are not as many names as the extents ask for.
    pub fn put_member_names<S: AsRef<str>, E: Into<Extents>>(&self, names: &[S], extents: E) -> Result<()> {
        let values: Vec<Value> = self.with_members(|members| {
            let values: HashMap<&[u8], i128> =
                members.iter().map(|(name, value)| (name.as_bytes(), *value)).collect();
            let value = |name: &S| match values.get(Name::wanted(name.as_ref().as_bytes()).as_ref()) {
                Some(&value) => Ok(Value::Enum(value)),
                None => {
                    let there = members.iter().map(|(name, _)| name);
                    Err(missing(Code::EINVAL, "member", name.as_ref(), Some(there)))
                }
            };
            names.iter().map(value).collect()
        })?;
        self.put_user_values(&values, extents)
    }
}
