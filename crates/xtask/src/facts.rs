//! What the C library offers, as `netcdf_meta.h` says it, and templates that say it again.

use std::collections::BTreeMap;

/// The macros of `netcdf_meta.h`.
pub struct Facts {
    macros: BTreeMap<String, String>,
}

/// What a program needs beside the static library: what the Rust standard library needs.
const STATIC_LIBS: &str = "-lgcc_eh -lgcc -lutil -lrt -lpthread -lm -ldl -lc";

/// The names under which `nc-config` lists filters, and the macro that says that a filter is there.
const FILTERS: &[(&str, &str)] =
    &[("deflate", "HDF5"), ("bz2", "BZ2"), ("szip", "SZIP_WRITE"), ("blosc", "BLOSC"), ("zstd", "ZSTD")];

impl Facts {
    /// Reads the text of the header.
    pub fn read(header: &str) -> Result<Facts, String> {
        let mut macros = BTreeMap::new();
        for line in header.lines() {
            let mut words = line.split_whitespace();
            if let (Some("#define"), Some(name), Some(value)) = (words.next(), words.next(), words.next()) {
                macros.insert(name.to_string(), value.trim_matches('"').to_string());
            }
        }
        let facts = Facts { macros };
        let parts = ["MAJOR", "MINOR", "PATCH"].map(|part| facts.value(part));
        let [Some(major), Some(minor), Some(patch)] = parts else {
            return Err("netcdf_meta.h does not say which version it is of".into());
        };
        let version = facts.value("VERSION");
        if version.as_deref() != Some(&format!("{major}.{minor}.{patch}")) {
            return Err(format!("netcdf_meta.h gives {major}.{minor}.{patch} and NC_VERSION {version:?}"));
        }
        Ok(facts)
    }

    /// Whether the library has something: the macro `NC_HAS_...` is 1.
    pub fn has(&self, what: &str) -> bool {
        self.macros.get(&format!("NC_HAS_{what}")).is_some_and(|value| value == "1")
    }

    /// The value that a template asks for by name.
    pub fn value(&self, name: &str) -> Option<String> {
        let number = |name: &str| self.macros.get(name).cloned();
        match name {
            "VERSION" => number("NC_VERSION"),
            "MAJOR" | "MINOR" | "PATCH" => number(&format!("NC_VERSION_{name}")),
            "DISPATCH_VERSION" => number("NC_DISPATCH_VERSION"),
            "FERROCDF_VERSION" => Some(env!("CARGO_PKG_VERSION").to_string()),
            "POINTER_BYTES" => Some(size_of::<usize>().to_string()),
            "STATIC_LIBS" => Some(STATIC_LIBS.to_string()),
            "STD_FILTERS" => {
                let there: Vec<&str> =
                    FILTERS.iter().filter(|(_, what)| self.has(what)).map(|(name, _)| *name).collect();
                Some(there.join(" "))
            }
            _ => {
                let what = name.strip_prefix("HAS_")?;
                self.macros.contains_key(&format!("NC_{name}")).then(|| yes_or_no(self.has(what)))
            }
        }
    }
}

fn yes_or_no(is: bool) -> String {
    if is { "yes" } else { "no" }.to_string()
}

/// Puts values in the place of each `@NAME@`; a name that has none is an error. Other `@` stand for themselves.
pub fn fill(template: &str, value: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('@') {
        filled += before;
        rest = after;
        match after.split_once('@') {
            Some((name, behind)) if is_name(name) => {
                filled += &value(name).ok_or(format!("nothing is called @{name}@"))?;
                rest = behind;
            }
            _ => filled.push('@'),
        }
    }
    Ok(filled + rest)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "#define NC_VERSION_MAJOR 4\n#define NC_VERSION_MINOR 10\n#define NC_VERSION_PATCH 1\n\
                          #define NC_VERSION       \"4.10.1\"\n#define NC_HAS_HDF5 1 /* yes */\n#define NC_HAS_ZSTD 0\n";

    #[test]
    fn templates_are_filled() {
        let facts = Facts::read(HEADER).unwrap();
        let filled =
            fill("v@VERSION@ hdf5=@HAS_HDF5@ zstd=@HAS_ZSTD@ [@STD_FILTERS@]", |name| facts.value(name));
        assert_eq!(filled.unwrap(), "v4.10.1 hdf5=yes zstd=no [deflate]");
    }

    #[test]
    fn a_template_that_asks_for_nothing_known_is_refused() {
        let facts = Facts::read(HEADER).unwrap();
        for template in ["@HAS_NOTHING@", "\"$@\" @NOTHING@"] {
            assert!(fill(template, |name| facts.value(name)).is_err(), "{template}");
        }
        assert_eq!(fill("me@here \"$@\"", |name| facts.value(name)).unwrap(), "me@here \"$@\"");
    }

    #[test]
    fn the_version_is_the_sum_of_its_parts() {
        let why = Facts::read(&HEADER.replace("PATCH 1", "PATCH 2")).err().unwrap();
        assert!(why.contains("4.10.2"), "{why}");
    }
}
