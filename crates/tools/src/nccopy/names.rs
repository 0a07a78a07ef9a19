//! What HDF5 files of other programs hold and netCDF does not, made into what it does: names that netCDF does not allow, and
//! fill values of another type than their variable.
//!
//! Characters that are not allowed become `%` and two digits, as in URLs, behind an underscore where the name would begin
//! with them. The original name is kept in the attribute `_original_name` of a variable or a group; dimensions, types,
//! members and attributes have none of their own, so their owner keeps it in `_original_name.` and the new name.

use std::collections::HashSet;

use ferrocdf::model::{Class, Name};
use ferrocdf::{Atomic, DimId, Format, GroupId, Model, Owner, Result, Type, Values};

/// The attribute that keeps an original name.
const ORIGINAL: &str = "_original_name";
/// Bytes for a suffix that makes a name unique.
const SUFFIX: usize = 8;
/// The longest encoded name in bytes: `NC_MAX_NAME` less a suffix of its own, and less what the name of the attribute that
/// keeps the original name has more.
const LONGEST: usize = 256 - SUFFIX - (ORIGINAL.len() + 1 + SUFFIX);
/// The attribute that keeps a fill value that its variable cannot have.
const ORIGINAL_FILL: &str = "_original_FillValue";

/// Returns the model with names that netCDF allows and fill values that a file of `format` can hold, and a line on each change. Ids and
/// values stay.
pub fn legal(source: &Model, format: Format) -> Result<(Model, Vec<String>)> {
    let mut legal = Legal { model: source.clone(), format, told: vec![] };
    let groups: Vec<GroupId> = source.group_ids().collect();
    for &group in &groups {
        legal.attributes(Owner::Group(group))?;
        legal.types(group)?;
        legal.dims(group)?;
        for var in source.group(group).vars.clone() {
            legal.attributes(Owner::Var(var))?;
            legal.fill_value(var)?;
        }
        legal.vars(group)?;
    }
    // Paths in the lines above are the original ones.
    for &group in &groups {
        legal.groups(group)?;
    }
    Ok((legal.model, legal.told))
}

struct Legal {
    model: Model,
    /// The format of the copy.
    format: Format,
    told: Vec<String>,
}

impl Legal {
    /// Takes note of a new name.
    fn renamed(&mut self, owner: Owner, of: &str, place: &str, old: &Name, new: &Name) -> Result<()> {
        let old_shown = old.as_bytes().escape_ascii();
        self.told.push(format!(
            "{place}: the {of} \"{old_shown}\" has no name of netCDF, it is copied as \"{new}\""
        ));
        let is_owner = matches!(of, "variable" | "group");
        let attr = if is_owner { ORIGINAL.to_string() } else { format!("{ORIGINAL}.{new}") };
        let attr = self.unused_attr(owner, &attr);
        self.model.put_attr(owner, attr, Values::Char(old.as_bytes().to_vec()))
    }

    /// Returns a name that no attribute of the owner has: this one, or this one with a number behind it.
    fn unused_attr(&self, owner: Owner, name: &str) -> String {
        let with_number = (2..).map(|number| format!("{name}_{number}"));
        let mut candidates = std::iter::once(name.to_string()).chain(with_number);
        let is_unused = |candidate: &String| self.model.find_attr(owner, candidate.as_bytes()).is_none();
        candidates.find(is_unused).expect("numbers do not end")
    }

    fn place(&self, owner: Owner) -> String {
        match owner {
            Owner::Group(group) => self.model.group_path(group),
            Owner::Var(var) => self.model.var_path(var),
        }
    }

    fn attributes(&mut self, owner: Owner) -> Result<()> {
        let names: Vec<Name> = self.model.attrs(owner).iter().map(|attr| attr.name.clone()).collect();
        let place = self.place(owner);
        for (old, new) in new_names(&names) {
            self.model.rename_attr(owner, old.as_bytes(), new.clone())?;
            self.renamed(owner, "attribute", &place, &old, &new)?;
        }
        Ok(())
    }

    fn types(&mut self, group: GroupId) -> Result<()> {
        let (place, owner) = (self.place(Owner::Group(group)), Owner::Group(group));
        for id in self.model.group(group).types.clone() {
            let mut class = self.model.user_type(id).class.clone();
            let mut names: Vec<&mut Name> = match &mut class {
                Class::Compound { fields, .. } => fields.iter_mut().map(|field| &mut field.name).collect(),
                Class::Enum { members, .. } => members.iter_mut().map(|(name, _)| name).collect(),
                Class::Opaque(_) | Class::Vlen(_) => vec![],
            };
            let old_names: Vec<Name> = names.iter().map(|name| (*name).clone()).collect();
            for (old, new) in new_names(&old_names) {
                if let Some(name) = names.iter_mut().find(|name| ***name == old) {
                    **name = new.clone();
                }
                self.renamed(owner, "member of a type", &place, &old, &new)?;
            }
            self.model.user_type_mut(id).class = class;
        }
        let ids = self.model.group(group).types.clone();
        let names: Vec<Name> = ids.iter().map(|&id| self.model.user_type(id).name.clone()).collect();
        for (old, new) in new_names(&names) {
            if let Some(&id) = ids.iter().find(|&&id| self.model.user_type(id).name == old) {
                self.model.rename_type(id, new.clone())?;
            }
            self.renamed(owner, "type", &place, &old, &new)?;
        }
        Ok(())
    }

    fn dims(&mut self, group: GroupId) -> Result<()> {
        let (place, owner) = (self.place(Owner::Group(group)), Owner::Group(group));
        let ids: Vec<DimId> = self.model.group(group).dims.clone();
        let names: Vec<Name> = ids.iter().map(|&id| self.model.dim(id).name.clone()).collect();
        for (old, new) in new_names(&names) {
            if let Some(&id) = ids.iter().find(|&&id| self.model.dim(id).name == old) {
                self.model.rename_dim(id, new.clone())?;
            }
            self.renamed(owner, "dimension", &place, &old, &new)?;
        }
        Ok(())
    }

    fn vars(&mut self, group: GroupId) -> Result<()> {
        let place = self.place(Owner::Group(group));
        let ids = self.model.group(group).vars.clone();
        let names: Vec<Name> = ids.iter().map(|&id| self.model.var(id).name.clone()).collect();
        for (old, new) in new_names(&names) {
            if let Some(&id) = ids.iter().find(|&&id| self.model.var(id).name == old) {
                self.model.rename_var(id, new.clone())?;
                self.renamed(Owner::Var(id), "variable", &place, &old, &new)?;
            }
        }
        Ok(())
    }

    /// Renames the groups in a group.
    fn groups(&mut self, group: GroupId) -> Result<()> {
        let place = self.place(Owner::Group(group));
        let ids = self.model.group(group).groups.clone();
        let names: Vec<Name> = ids.iter().map(|&id| self.model.group(id).name.clone()).collect();
        for (old, new) in new_names(&names) {
            if let Some(&id) = ids.iter().find(|&&id| self.model.group(id).name == old) {
                self.model.rename_group(id, new.as_bytes())?;
                self.renamed(Owner::Group(id), "group", &place, &old, &new)?;
            }
        }
        Ok(())
    }

    /// Gives a fill value the type of its variable, or another name. In classic files it may have any type that they hold.
    fn fill_value(&mut self, var: ferrocdf::VarId) -> Result<()> {
        let (owner, ty) = (Owner::Var(var), self.model.var(var).ty);
        let Some(fill) = self.model.find_attr(owner, b"_FillValue").map(|attr| attr.value.clone()) else {
            return Ok(());
        };
        let is_held = matches!(fill.ty(), Type::Atomic(atomic) if self.format.holds(atomic));
        if (fill.ty() == ty && fill.len() == 1) || (self.format.has_cdf_model() && is_held) {
            return Ok(());
        }
        let (place, was) = (self.place(owner), self.model.type_name(fill.ty()).to_string());
        let converted = match ty {
            Type::Atomic(ty) => converted(&fill, ty),
            Type::User(_) => None,
        };
        match converted {
            Some(value) => {
                self.model.put_attr(owner, "_FillValue", value)?;
                let ty = self.model.type_name(ty);
                self.told.push(format!("{place}: its _FillValue is converted from {was} to {ty}"));
            }
            None => {
                let name = self.unused_attr(owner, ORIGINAL_FILL);
                self.model.rename_attr(owner, b"_FillValue", Name::new(&name)?)?;
                let why = "is no value of the variable's type";
                self.told.push(format!("{place}: its _FillValue, {was}, {why}: it is copied as {name}"));
            }
        }
        Ok(())
    }
}

/// The names of one kind in one place that netCDF does not allow, each with the name that it gets.
fn new_names(names: &[Name]) -> Vec<(Name, Name)> {
    let mut taken: HashSet<Vec<u8>> = HashSet::new();
    let (good, bad): (Vec<&Name>, Vec<&Name>) =
        names.iter().partition(|name| Name::new(name.as_bytes()).is_ok());
    taken.extend(good.into_iter().map(|name| name.as_bytes().to_vec()));
    let mut new = vec![];
    for name in bad {
        let encoded = encoded(name.as_bytes());
        let mut candidates = (2..).map(|number| format!("{encoded}_{number}"));
        let mut candidate = encoded.clone();
        while !taken.insert(candidate.clone().into_bytes()) {
            candidate = candidates.next().expect("numbers do not end");
        }
        new.push((name.clone(), Name::stored(candidate.as_bytes())));
    }
    new
}

/// A name with `%` and two digits for each byte that is not allowed where it stands.
fn encoded(name: &[u8]) -> String {
    let mut made = String::new();
    let starts = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || !letter.is_ascii();
    let put = |bytes: &[u8], made: &mut String| {
        bytes.iter().for_each(|byte| made.push_str(&format!("%{byte:02X}")));
    };
    for chunk in name.utf8_chunks() {
        for letter in chunk.valid().chars() {
            if made.is_empty() && !starts(letter) {
                made.push('_');
                put(letter.to_string().as_bytes(), &mut made);
            } else if letter == '/' || letter.is_ascii_control() {
                put(letter.to_string().as_bytes(), &mut made);
            } else {
                made.push(letter);
            }
        }
        if made.is_empty() {
            made.push('_');
        }
        put(chunk.invalid(), &mut made);
    }
    if made.ends_with(' ') {
        made.pop();
        made.push_str("%20");
    }
    if made.is_empty() {
        made.push('_');
    }
    let mut end = made.len().min(LONGEST);
    while !made.is_char_boundary(end) {
        end -= 1;
    }
    made.truncate(end);
    made
}

/// One number in another type, if that holds it: rounded where it is a real.
fn converted(values: &Values, to: Atomic) -> Option<Values> {
    macro_rules! number {
        ($($variant:ident $through:ident),*) => {
            match values {
                $(Values::$variant(list) => match list[..] {
                    [number] => Number::$through(number.into()),
                    _ => return None,
                },)*
                Values::Char(_) | Values::String(_) | Values::User(..) => return None,
            }
        };
    }
    enum Number {
        Integer(i128),
        Real(f64),
    }
    let number = number!(
        Byte Integer, Ubyte Integer, Short Integer, Ushort Integer, Int Integer, Uint Integer, Int64 Integer,
        Uint64 Integer, Float Real, Double Real
    );
    let real = match number {
        Number::Integer(number) => number as f64,
        Number::Real(number) => number,
    };
    let integer = match number {
        Number::Integer(number) => Some(number),
        Number::Real(number) => Some(number as i128).filter(|&whole| whole as f64 == number),
    };
    Some(match to {
        Atomic::Byte => Values::Byte(vec![integer?.try_into().ok()?]),
        Atomic::Ubyte => Values::Ubyte(vec![integer?.try_into().ok()?]),
        Atomic::Short => Values::Short(vec![integer?.try_into().ok()?]),
        Atomic::Ushort => Values::Ushort(vec![integer?.try_into().ok()?]),
        Atomic::Int => Values::Int(vec![integer?.try_into().ok()?]),
        Atomic::Uint => Values::Uint(vec![integer?.try_into().ok()?]),
        Atomic::Int64 => Values::Int64(vec![integer?.try_into().ok()?]),
        Atomic::Uint64 => Values::Uint64(vec![integer?.try_into().ok()?]),
        Atomic::Float => match real as f32 {
            rounded if rounded.is_finite() || !real.is_finite() => Values::Float(vec![rounded]),
            _ => return None,
        },
        Atomic::Double => Values::Double(vec![real]),
        Atomic::Char | Atomic::String => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_names_are_names_of_netcdf() {
        for (name, wanted) in [
            (&b".silo"[..], "_%2Esilo"),
            (b"#refs#", "_%23refs#"),
            (b"(n,gamma)", "_%28n,gamma)"),
            (b" format", "_%20format"),
            (b"a/b", "a%2Fb"),
            (b"a\n ", "a%0A%20"),
            (b"gr\xf6\xdfe", "gr%F6%DFe"),
            (b"\xff", "_%FF"),
            (b" ", "_%20"),
        ] {
            assert_eq!(encoded(name), wanted);
            assert!(Name::new(wanted).is_ok(), "{wanted}");
        }
        let long = encoded("ä/".repeat(200).as_bytes());
        assert!(long.len() <= LONGEST && Name::new(&long).is_ok());
    }

    #[test]
    fn new_names_are_unique() {
        let names = [&b"a%2Fb"[..], b"a/b", b"a%2Fb_2", b"fine"].map(Name::stored);
        let new: Vec<String> = new_names(&names).iter().map(|(_, new)| new.to_string()).collect();
        assert_eq!(new, ["a%2Fb_3"]);
    }

    #[test]
    fn long_names_and_attributes_that_keep_other_names_are_no_obstacle() {
        let mut model = Model::new(Format::NETCDF4);
        let owner = Owner::Group(GroupId::ROOT);
        let long = |letter: &str| format!("{letter}/").repeat(200);
        for name in [ORIGINAL, &long("a"), &long("b")] {
            let attr = ferrocdf::Attr::new(Name::stored(name.as_bytes()), Values::Int(vec![1]));
            model.push_attr(owner, attr);
        }
        let dim = ferrocdf::model::Dim {
            name: Name::stored(long("d").as_bytes()),
            group: GroupId::ROOT,
            len: 1,
            unlimited: false,
        };
        model.push_dim(dim);
        let (legal, told) = legal(&model, Format::NETCDF4).unwrap();
        assert_eq!(told.len(), 3);
        let attrs = legal.attrs(owner);
        assert!(attrs.iter().all(|attr| Name::new(attr.name.as_bytes()).is_ok()), "{attrs:?}");
        let there = legal.find_attr(owner, ORIGINAL.as_bytes()).unwrap();
        assert_eq!(there.value, Values::Int(vec![1]), "the attribute that was there stays");
        for letter in ["a", "b", "d"] {
            let kept = Values::Char(long(letter).into_bytes());
            assert_eq!(attrs.iter().filter(|attr| attr.value == kept).count(), 1, "{letter}");
        }
    }

    #[test]
    fn fill_values_are_converted_where_they_fit() {
        assert_eq!(converted(&Values::Byte(vec![-1]), Atomic::Ubyte), None);
        assert_eq!(converted(&Values::Double(vec![2.5]), Atomic::Int), None);
        assert_eq!(converted(&Values::Double(vec![-2.0]), Atomic::Int64), Some(Values::Int64(vec![-2])));
        assert_eq!(converted(&Values::Double(vec![0.1]), Atomic::Float), Some(Values::Float(vec![0.1])));
        assert_eq!(converted(&Values::Double(vec![1e300]), Atomic::Float), None);
        assert_eq!(converted(&Values::Ushort(vec![100]), Atomic::Uint), Some(Values::Uint(vec![100])));
        assert_eq!(converted(&Values::Int(vec![1, 2]), Atomic::Int), None);
        assert_eq!(converted(&Values::Char(b"1".to_vec()), Atomic::Int), None);
    }
}
