//! Checks of datasets that are to be joined: that the numbers of a variable mean the same in all of them.

use ferrocdf_bytes::{Code, Error, Result, errno};
use ferrocdf_model::{Class, Model, Owner, Type, Values, VarId, each_numbers};

use super::attribute_values::{numbers, text};
use super::times::{TimeConversion, TimeUnits};
use crate::copy::{find_difference_by, is_equal, is_same_type};
use crate::{File, Location, OpenOptions};

/// Attributes that say what the numbers of a variable mean, and have one value for all of them.
const MEANINGS: [&str; 24] = [
    "_FillValue",
    "_Unsigned",
    "add_offset",
    "axis",
    "calendar",
    "cell_methods",
    "compress",
    "flag_masks",
    "flag_meanings",
    "flag_values",
    "formula_terms",
    "grid_mapping",
    "leap_month",
    "leap_year",
    "missing_value",
    "month_lengths",
    "positive",
    "scale_factor",
    "standard_name",
    "units",
    "units_metadata",
    "valid_max",
    "valid_min",
    "valid_range",
];

/// Attributes of a variable that describes a map projection. All others of such a variable say what it means as well.
const GRID_MAPPINGS: [&str; 2] = ["grid_mapping_name", "crs_wkt"];

/// Bytes that are compared at a time.
const COMPARED: usize = 8 << 20;

/// A dataset that is joined with others.
pub(crate) struct JoinedDataset {
    /// The name of the dataset, for messages.
    pub(crate) name: String,
    pub(crate) file: File,
}

impl JoinedDataset {
    pub(crate) fn open(location: &Location, options: &OpenOptions) -> Result<JoinedDataset> {
        let file = File::open_location(location, options)?;
        Ok(JoinedDataset { name: location.name().display().to_string(), file })
    }

    /// Returns the variable of a path.
    pub(crate) fn variable(&self, path: &str) -> Result<VarId> {
        let found = self.file.model().find_var_at(path.as_bytes());
        found.ok_or_else(|| self.refused(path, "it is not there"))
    }

    /// # Errors
    /// The reason why a variable, a group or a type is missing.
    pub(crate) fn check_complete(&self) -> Result<()> {
        self.file.lost().map_or(Ok(()), |error| Err(error.at(&self.name)))
    }

    /// # Errors
    /// A source of a virtual dataset that lacks elements, which a copy would have as fill values for good.
    pub(crate) fn check_sources(&self, var: VarId) -> Result<()> {
        self.file.check_sources([var]).map_err(|error| {
            let error = error.at(&self.name);
            match error.code {
                errno::NOENT => {
                    let what =
                        format!("{}; `ferrocdf join --fill-missing` copies them as fill values", error.what);
                    error.with_words(what)
                }
                _ => error,
            }
        })
    }

    /// # Errors
    /// The reason why the data of a variable cannot be read.
    pub(crate) fn check_readable(&self, var: VarId) -> Result<()> {
        self.file.unreadable_data(var).map_or(Ok(()), |error| Err(error.at(&self.name)))
    }

    /// Returns the error of a dataset that cannot be joined because of a variable.
    pub(crate) fn refused(&self, path: &str, why: impl std::fmt::Display) -> Error {
        refused(format!("{}: {path}: {why}", self.name))
    }
}

/// Returns the error of datasets that cannot be joined.
pub(crate) fn refused(what: impl Into<String>) -> Error {
    Error::new(Code::EINVAL, what.into())
}

/// Checks that a variable of a dataset has the type, the dimensions, the lengths and the meaning that it has in the first one. `along` is the
/// dimension that may have another length.
pub(crate) fn check_variable(
    along: Option<usize>,
    ours: (&JoinedDataset, VarId),
    theirs: (&JoinedDataset, VarId),
) -> Result<()> {
    compare_variable(along, ours, theirs, false).map(drop)
}

/// Checks what [`check_variable`] does, but that times may have other units, if `converts`. Returns their conversion.
pub(crate) fn compare_variable(
    along: Option<usize>,
    (first, var): (&JoinedDataset, VarId),
    (other, their_var): (&JoinedDataset, VarId),
    converts: bool,
) -> Result<Option<TimeConversion>> {
    let (model, theirs) = (first.file.model(), other.file.model());
    let differs = |what: &str, theirs: String, ours: String, advice: &str| {
        let why = format!("{what} is {theirs}, but {ours} in {}{advice}", first.name);
        Err(other.refused(&model.var_path(var), why))
    };
    let (ty, their_ty) = (model.var(var).ty, theirs.var(their_var).ty);
    if !is_same_type((&model, ty), (&theirs, their_ty)) {
        let (name, their_name) = (model.type_name(ty), theirs.type_name(their_ty));
        if name == their_name {
            let [ours, theirs] = [(&*model, ty), (&*theirs, their_ty)].map(members);
            return differs(&format!("the definition of its type {name}"), theirs, ours, "");
        }
        return differs("type", their_name, name, "");
    }
    let names = |model: &Model, var: VarId| -> Vec<String> {
        model.var(var).dims.iter().map(|&dim| model.dim(dim).name.to_string()).collect()
    };
    let (ours, others) = (names(&model, var), names(&theirs, their_var));
    if ours != others {
        return differs("list of dimensions", format!("{others:?}"), format!("{ours:?}"), "");
    }
    let (shape, their_shape) = (model.shape(var), theirs.shape(their_var));
    if (0..shape.len()).any(|dim| Some(dim) != along && shape[dim] != their_shape[dim]) {
        return differs("shape", format!("{their_shape:?}"), format!("{shape:?}"), "");
    }
    for (member, owner) in [(first, Owner::Var(var)), (other, Owner::Var(their_var))] {
        if let Some(failure) = member.file.model().attrs(owner).failure() {
            return Err(failure.clone().at(&member.name));
        }
    }
    let times = TimeUnits::of(&model, var).zip(TimeUnits::of(&theirs, their_var));
    let is_same_time = times.is_some_and(|(ours, theirs)| ours == theirs);
    let is_same_calendar = times.is_some_and(|(ours, theirs)| ours.has_calendar_of(&theirs));
    let conversion = times.and_then(|(ours, theirs)| theirs.conversion_to(&ours));
    let conversion = conversion.filter(|_| converts && along.is_some() && !is_same_time);
    if let Some(name) = conversion.and_then(|_| in_units(&model, var)) {
        let why = format!(
            "its times have other units than in {}, and its {name} as well: they are not converted",
            first.name
        );
        return Err(other.refused(&model.var_path(var), why));
    }
    let all: Vec<String> =
        [(&*model, var), (&*theirs, their_var)].into_iter().flat_map(names_of_mapping).collect();
    for name in MEANINGS.into_iter().chain(all.iter().map(String::as_str)) {
        let ours = model.find_attr(Owner::Var(var), name.as_bytes()).map(|attr| &attr.value);
        let others = theirs.find_attr(Owner::Var(their_var), name.as_bytes()).map(|attr| &attr.value);
        let means_same = match (ours, others) {
            _ if name == "units" && (is_same_time || conversion.is_some()) => true,
            _ if name == "calendar" && is_same_calendar => true,
            (Some(ours), Some(others)) => means_same(ours, others),
            (None, None) => true,
            (Some(one), None) | (None, Some(one)) => {
                is_neutral(name, one, [(&model, var), (&theirs, their_var)])
            }
        };
        if !means_same {
            let (their_value, our_value) = (shown(others), shown(ours));
            let advice = match name == "units" && is_same_calendar {
                true => "; `ferrocdf join --convert-times` converts times to the units of the first file",
                false => "",
            };
            if their_value != our_value {
                return differs(name, their_value, our_value, advice);
            }
            let typed = |model: &Model, value: Option<&Values>, shown: String| {
                let ty = value.map(|value| model.type_name(value.ty()));
                ty.map_or(shown.clone(), |ty| format!("{shown} ({ty})"))
            };
            return differs(
                name,
                typed(&theirs, others, their_value),
                typed(&model, ours, our_value),
                advice,
            );
        }
    }
    Ok(conversion)
}

/// Attributes whose numbers are in the units of the variable, or without which its numbers are not in them.
const IN_UNITS: [&str; 5] = ["add_offset", "scale_factor", "valid_max", "valid_min", "valid_range"];

/// Returns an attribute of a variable for which a conversion of its numbers is not enough.
fn in_units(model: &Model, var: VarId) -> Option<&'static str> {
    IN_UNITS.into_iter().find(|name| model.find_attr(Owner::Var(var), name.as_bytes()).is_some())
}

/// True if an attribute that one of two variables has changes nothing, neither the unpacked numbers nor their type: a factor of 1 and an offset of 0. The
/// type of unpacked numbers is that of the attributes.
fn is_neutral(name: &str, value: &Values, vars: [(&Model, VarId); 2]) -> bool {
    let (neutral, partner) = match name {
        "scale_factor" => (1.0, "add_offset"),
        "add_offset" => (0.0, "scale_factor"),
        _ => return false,
    };
    let has_type = |(model, var): (&Model, VarId)| {
        let partner = model.find_attr(Owner::Var(var), partner.as_bytes()).map(|attr| attr.value.ty());
        partner.unwrap_or(model.var(var).ty) == value.ty()
    };
    numbers(value).is_some_and(|list| matches!(list[..], [(number, _)] if number == neutral))
        && vars.into_iter().all(has_type)
}

/// Returns what a user-defined type consists of, for a message.
fn members((model, ty): (&Model, Type)) -> String {
    let Type::User(id) = ty else { return model.type_name(ty) };
    match &model.user_type(id).class {
        Class::Enum { base, members } => {
            let members = members.iter().map(|(name, value)| format!("{name} = {value}"));
            format!("{} {{{}}}", base.cdl_name(), members.collect::<Vec<_>>().join(", "))
        }
        Class::Compound { fields, .. } => {
            let fields = fields.iter().map(|field| {
                let lens: Vec<String> = field.shape.iter().map(|len| format!("({len})")).collect();
                format!(
                    "{} {}{} at byte {}",
                    model.type_name(field.ty),
                    field.name,
                    lens.concat(),
                    field.offset
                )
            });
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Class::Vlen(base) => format!("a list of {}", model.type_name(*base)),
        Class::Opaque(size) => format!("{size} bytes"),
    }
}

/// Returns the names of all attributes of a variable that describes a map projection; none of others.
fn names_of_mapping((model, var): (&Model, VarId)) -> Vec<String> {
    let attrs = model.attrs(Owner::Var(var));
    let names: Vec<String> = attrs.iter().map(|attr| attr.name.to_string()).collect();
    if names.iter().any(|name| GRID_MAPPINGS.contains(&name.as_str())) { names } else { vec![] }
}

/// Checks that a variable has the same values in a dataset and in the first one.
pub(crate) fn check_values(
    (first, var): (&JoinedDataset, VarId),
    (other, their_var): (&JoinedDataset, VarId),
) -> Result<()> {
    match find_difference_by(is_equal, (&first.file, &other.file), &[(var, their_var)], COMPARED)? {
        None => Ok(()),
        Some(_) => {
            let why = format!("other values than in {}", first.name);
            Err(other.refused(&first.file.model().var_path(var), why))
        }
    }
}

/// True if values of an attribute are the same text, whatever its type is, or the same numbers, whatever theirs are.
fn means_same(a: &Values, b: &Values) -> bool {
    if let (Some(a), Some(b)) = (text(a), text(b)) {
        return a == b;
    }
    match (numbers(a), numbers(b)) {
        (Some(a), Some(b)) if a.len() == b.len() => a
            .iter()
            .zip(&b)
            .all(|((a, whole_a), (b, whole_b))| (a == b || a.is_nan() && b.is_nan()) && whole_a == whole_b),
        _ => is_equal(a, b),
    }
}

/// Returns the value of an attribute for a message.
fn shown(value: Option<&Values>) -> String {
    let text = |bytes: &[u8]| format!("{:?}", String::from_utf8_lossy(bytes));
    match value {
        None => "missing".to_string(),
        Some(Values::Char(bytes)) => text(bytes),
        Some(Values::String(texts)) => {
            let texts = texts.iter().map(|bytes| text(bytes.as_deref().unwrap_or_default()));
            texts.collect::<Vec<_>>().join(", ")
        }
        Some(values) => each_numbers!(values, list => {
            list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        }, _ => format!("{values:?}")),
    }
}
