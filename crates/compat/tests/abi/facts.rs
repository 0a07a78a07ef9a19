//! Values of all macros and enumerators, sizes of all types, places of all fields: as the reference has them.

use std::collections::BTreeMap;
use std::process::Command;

use crate::declared::Declared;
use crate::headers::Headers;
use crate::{run, source, text};

/// What differs from the installed reference, 4.9.0, because ours are of 4.10.1.
const SINCE_4_9_0: &[(&str, &str)] = &[
    ("NC4_LAST_ERROR", "two codes are new"),
    ("NC_FORMAT_ALL", "eight more formats can be brought along"),
    ("NC_QUANTIZE_MAX_FLOAT_NSD", "seven digits do not fit a float"),
    ("NC_VERSION", "the version"),
    ("NC_VERSION_MINOR", "the version"),
    ("NC_VERSION_PATCH", "the version"),
    ("ncvarcpy", "stands for a function that does not exist"),
];

/// What differs from the newest release.
const LEFT_OUT: &[(&str, &str)] = &[("ncvarcpy", "stands for a function that does not exist")];

/// What the code in the reference's `netcdf_json.h` and `netcdf_vutils.h` needs for itself.
const THEIR_OWN: &[&str] = &[
    "CASE",
    "JSON_WORD",
    "NCJBREAKPOINT",
    "NCJTHROW",
    "NCJ_COLON",
    "NCJ_COMMA",
    "NCJ_DEFAULTALLOC",
    "NCJ_EOF",
    "NCJ_ESCAPE",
    "NCJ_LBRACE",
    "NCJ_LBRACKET",
    "NCJ_QUOTE",
    "NCJ_RBRACE",
    "NCJ_RBRACKET",
    "NCJ_TAG_FALSE",
    "NCJ_TAG_NULL",
    "NCJ_TAG_TRUE",
    "NCJ_TRACE",
    "OPTEXPORT",
    "OPTSTATIC",
    "nulldup",
    "nullfree",
    "vssetlength",
];

/// Names that are nobody's business: the above, and guards against including twice.
fn is_private(name: &str) -> bool {
    let structs = ["NCJbuf", "NCJparser"];
    let of = name.split('.').next().unwrap_or(name);
    let guard = name.ends_with("_H") && !name.starts_with("NC_");
    guard || name == "_NETCDF_" || THEIR_OWN.contains(&name) || structs.contains(&of)
}

/// What a build offers is its own affair.
fn is_of_the_build(name: &str) -> bool {
    name.starts_with("NC_HAS_")
}

/// Asks headers for all that others declare: one line for each name.
fn facts(of: &Headers, asked: &Declared) -> BTreeMap<String, String> {
    let own = of.declared();
    let mut facts = BTreeMap::new();
    let mut program = String::new();
    for (name, body) in &asked.macros {
        match own.macros.get(name) {
            None => drop(facts.insert(name.clone(), "is not defined".to_string())),
            Some(_) if is_value(&asked.macros, body) => program += &format!("VALUE({name})\n"),
            Some(body) => drop(facts.insert(name.clone(), format!("stands for {body}"))),
        }
    }
    for name in &asked.calls {
        let is = if own.calls.contains(name) { "takes arguments" } else { "is not defined" };
        facts.insert(name.clone(), is.to_string());
    }
    asked.enumerators.iter().for_each(|name| program += &format!("VALUE({name})\n"));
    asked.types.iter().for_each(|name| program += &format!("SIZE({name})\n"));
    for (name, fields) in &asked.structs {
        program += &format!("SIZE({name})\n");
        fields.iter().for_each(|field| program += &format!("FIELD({name}, {field})\n"));
    }
    for line in compiled(of, &program).lines() {
        let (name, fact) = line.split_once('\t').expect("a name and a fact");
        facts.insert(name.to_string(), fact.to_string());
    }
    facts.retain(|name, _| !is_private(name));
    facts
}

/// Whether what a macro stands for is an expression: a constant, or another macro that is one.
fn is_value(macros: &BTreeMap<String, String>, body: &str) -> bool {
    let starts = |c: char| c.is_ascii_digit() || c == '(' || c == '"' || c == '-';
    body.starts_with(starts) || macros.get(body).is_some_and(|body| is_value(macros, body))
}

/// What the program prints.
fn compiled(of: &Headers, names: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("subject.h"), of.includes()).unwrap();
    std::fs::write(folder.path().join("names.inc"), names).unwrap();
    let program = folder.path().join("facts");
    run(of.cc().arg("-w").arg("-I").arg(folder.path()).arg("-o").arg(&program).arg(source("facts.c")));
    run(&mut Command::new(&program))
}

/// Compares, but for what is listed; a listed name that does not differ is an error too.
fn assert_same(theirs: &BTreeMap<String, String>, ours: &BTreeMap<String, String>, listed: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (name, their) in theirs.iter().filter(|(name, _)| !is_of_the_build(name)) {
        let our = ours.get(name).map_or("nothing", String::as_str);
        let is_listed = listed.iter().any(|(listed, _)| listed == name);
        if (their == our) == is_listed {
            wrong += &format!("{name}: the reference has `{their}`, ours `{our}`; listed: {is_listed}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn values_and_layouts_are_those_of_the_installed_headers() {
    let asked = Headers::installed().declared();
    let theirs = facts(&Headers::installed(), &asked);
    assert!(theirs.len() > 400, "only {} names were found", theirs.len());
    assert_same(&theirs, &facts(&Headers::ours_as_installed(), &asked), SINCE_4_9_0);
}

#[test]
fn values_and_layouts_are_those_of_the_newest_headers() {
    let newest: BTreeMap<String, String> = text("crates/capi/package/newest-facts.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(": "))
        .map(|(name, fact)| (name.to_string(), fact.to_string()))
        .collect();
    assert!(newest.len() > 530, "only {} names were found", newest.len());
    let ours = Headers::ours();
    assert_same(&newest, &facts(&ours, &ours.declared()), LEFT_OUT);
}

/// Writes `newest-facts.txt` from the headers in the folder that `FERROCDF_NEWEST_HEADERS` names.
#[test]
#[ignore = "needs the headers of a release that is not packaged here"]
fn derive_newest_facts() {
    let folder = std::env::var_os("FERROCDF_NEWEST_HEADERS").expect("FERROCDF_NEWEST_HEADERS names a folder");
    let newest = Headers::all_in(folder.as_ref());
    let declared = newest.declared();
    let ours = Headers::ours().declared();
    let mut file =
        String::from("# Values, layouts and signatures of netCDF-C 4.10.1, as its headers give them.\n");
    for (name, fact) in facts(&newest, &declared).iter().filter(|(name, _)| !is_of_the_build(name)) {
        file += &format!("{name}: {fact}\n");
    }
    // What the reference's inline functions call among themselves is not in ours.
    for (name, signature) in &declared.functions {
        if signature.starts_with("extern") || ours.functions.contains_key(name) {
            file += &format!("{signature};\n");
        }
    }
    std::fs::write(crate::root().join("crates/capi/package/newest-facts.txt"), file).unwrap();
}
