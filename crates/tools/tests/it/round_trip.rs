//! Text that `ncdump` and `ferrocdf dump` print, made into a file by `ncgen` and printed again.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use ferrocdf_tools::ncgen::Program;

/// Names that are words of CDL, or are no names of netCDF, in every place, as the reference's `ncdump` prints them.
const TEXT: &str = r#"netcdf names {
types:
  compound int {
    int string ;
    double double ;
    byte _ ;
  }; // int
  byte enum enum {opaque = 0, NaN = 1, NIL = 2, .x = 3, a/b = 4, c\%0ac = 5, 
      data = 6} ;
  int(*) compound ;
dimensions:
	char = 2 ;
	unlimited = UNLIMITED ; // (1 currently)
	.dim = 1 ;
	data = 1 ;
	\-- = 1 ;
variables:
	int string(char) ;
		string:/units = "m" ;
		string:%a = 1 ;
		string string:double = "a" ;
		string:\-5 = 1. ;
	double data(.dim) ;
		data :types = 1s ;
	char group(data) ;
		group :_FillValue = "x" ;
	/int opaque(unlimited) ;
	/enum NaN(char, char) ;
		/enum NaN:nil = data ;
	/compound dimensions ;
	float netcdf ;
		netcdf:netcdf = NaNf ;
	uint64 @uint64 ;
	int .silo(\--) ;
	int \(n\,gamma\) ;

// global attributes:
		:compound = 1 ;
		string :float = "a", "b" ;
		:\// = 5 ;
		/int :at = {1, 2, 3} ;
data:

 string = 1, 2 ;

 data = 1.5 ;

 group = "y" ;

 opaque = {1, 2, 3} ;

 NaN =
  opaque, \NaN,
  \NIL, a/b ;

 dimensions = {1, 2} ;

 netcdf = 1 ;

 @uint64 = 1 ;

 .silo = 3 ;

 \(n\,gamma\) = 4 ;

group: \#refs\# {
  dimensions:
  	.dim = 3 ;
  variables:
  	/int string(.dim, /.dim) ;

  group: \1st {
    types:
      opaque(2) types ;
    variables:
    	/\#refs\#/\1st/types group ;
    data:

     group = 0XAB01 ;
    } // group \1st
  } // group \#refs\#
}
"#;

/// The same for a classic file, with names that classic files may hold.
const CLASSIC: &str = r#"netcdf names {
dimensions:
	char = 2 ;
	UNLIMITED = UNLIMITED ; // (1 currently)
variables:
	int double(char) ;
		double:int = 1 ;
	float data(UNLIMITED) ;
		data :opaque = "x" ;
	short int64 ;

// global attributes:
		:a\%b = 1 ;
		:c\%07 = 2 ;
data:

 double = 1, 2 ;

 data = 1.5 ;

 int64 = 3 ;
}
"#;

fn ncgen(kind: &str, text: &[u8], file: &Path) {
    let (mut out, mut errors) = (vec![], vec![]);
    let args = ["ncgen", "-k", kind, "-o"].map(OsString::from).into_iter().chain([file.into()]);
    let code = ferrocdf_tools::ncgen::run(Program::Ncgen, args, &mut &*text, &mut out, &mut errors);
    assert_eq!((code, String::from_utf8(errors).unwrap()), (0, String::new()));
}

/// What a dump prints of a file.
fn printed(program: &[&str], file: &Path) -> String {
    let run = Command::new(program[0]).args(&program[1..]).args(["-n", "names"]).arg(file).output().unwrap();
    assert_eq!(String::from_utf8(run.stderr).unwrap(), "");
    String::from_utf8(run.stdout).unwrap()
}

const NCDUMP: &[&str] = &[env!("CARGO_BIN_EXE_ncdump")];
const DUMP: &[&str] = &[env!("CARGO_BIN_EXE_ferrocdf"), "dump"];

/// Makes files of a text, of what `ncdump` prints of the first and of what `ferrocdf dump` prints: all are printed alike.
/// Returns the texts of both.
fn all_round(kind: &str, text: &str) -> [String; 2] {
    let folder = tempfile::tempdir().unwrap();
    let files = ["given.nc", "printed.nc", "escaped.nc"].map(|name| folder.path().join(name));
    ncgen(kind, text.as_bytes(), &files[0]);
    let [shown, escaped] = [NCDUMP, DUMP].map(|program| printed(program, &files[0]));
    for (text, file) in [(&shown, &files[1]), (&escaped, &files[2])] {
        ncgen(kind, text.as_bytes(), file);
        assert_eq!(printed(NCDUMP, file), shown);
        assert_eq!(printed(DUMP, file), escaped);
    }
    [shown, escaped]
}

#[test]
fn names_that_are_words_of_cdl_or_no_names_of_netcdf_come_round() {
    let [shown, escaped] = all_round("nc4", TEXT);
    for line in ["\tint string(char) ;", "\tint .silo(\\--) ;", "\t\t:\\// = 5 ;", "  opaque, \\NaN,"] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    for line in
        ["\tint \\string(\\char) ;", "\tint \\.silo(\\--) ;", "\t\tgroup :_FillValue", " \\data = 1.5 ;"]
    {
        assert!(escaped.contains(&line.replace("group :", "\\group :")), "{line}: {escaped}");
    }
}

#[test]
fn names_that_are_words_of_cdl_come_round_in_classic_files() {
    let [shown, escaped] = all_round("classic", CLASSIC);
    assert!(shown.contains("\t\t:c%07 = 2 ;") && escaped.contains("\t\t:c%07 = 2 ;"), "{shown}");
    assert!(shown.contains("\t\t:a%b = 1 ;") && escaped.contains("\t\t:a\\%b = 1 ;"), "{shown}");
    assert!(escaped.contains("\tshort \\int64 ;"), "{escaped}");
}

#[test]
fn names_that_ncdump_refuses_are_printed_by_ferrocdf_dump() {
    let folder = tempfile::tempdir().unwrap();
    let [file, copy] = ["blank.nc", "copy.nc"].map(|name| folder.path().join(name));
    let text = "netcdf names {\nvariables:\n\tint \\ format ;\n\tint \\%07a ;\ndata:\n\n \\ format = 1 ;\n\n \\%07a = 2 ;\n}\n";
    ncgen("nc4", text.as_bytes(), &file);
    let escaped = printed(DUMP, &file);
    assert!(escaped.ends_with(&text[text.find("variables").unwrap()..]), "{escaped}");
    ncgen("nc4", escaped.as_bytes(), &copy);
    assert_eq!(printed(DUMP, &copy), escaped);
    let run = Command::new(NCDUMP[0]).arg(&file).output().unwrap();
    assert!(!run.status.success());
    assert!(String::from_utf8_lossy(&run.stderr).contains("name begins with space or control-character"));
}

#[test]
fn names_that_are_not_netcdf_names_are_refused_in_classic_files() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.nc");
    for name in [".silo", "\\(n\\,gamma\\)", "\\ format"] {
        let text = format!("netcdf a {{ variables: int {name} ; }}");
        let args = ["ncgen", "-3", "-o"].map(OsString::from).into_iter().chain([file.clone().into()]);
        let mut errors = vec![];
        let code =
            ferrocdf_tools::ncgen::run(Program::Ncgen, args, &mut text.as_bytes(), &mut vec![], &mut errors);
        let said = String::from_utf8(errors).unwrap();
        assert!(code == 1 && said.contains("does not start with a letter"), "{said}");
    }
}

#[test]
fn special_attributes_of_a_variable_named_as_a_section_come_round() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["given.nc", "again.nc"].map(|name| folder.path().join(name));
    let text = "netcdf names { dimensions: x = 4 ; variables: int data(x) ; data :_ChunkSizes = 2 ; data :units = \"m\" ; \
                data: data = 1, 2, 3, 4 ; }";
    ncgen("nc4", text.as_bytes(), &files[0]);
    let special = [NCDUMP[0], "-s"];
    let shown = printed(&special, &files[0]);
    assert!(
        shown.contains("\t\tdata:_ChunkSizes = 2 ;") && shown.contains("data:\n\n data = 1, 2, 3, 4 ;"),
        "{shown}"
    );
    ncgen("nc4", shown.as_bytes(), &files[1]);
    assert_eq!(printed(&special, &files[1]), shown);
}

#[test]
fn values_of_an_enumeration_that_no_member_has_come_round() {
    let text = "netcdf names { types: byte enum e { a = 1, b = 2 } ; variables: e v ; data: v = -9 ; }";
    let [shown, _] = all_round("nc4", text);
    assert!(shown.contains("\n v = -9 ;"), "{shown}");
    let text = text.replace("-9", "300");
    let mut errors = vec![];
    let args = ["ncgen", "-4", "-o", "/dev/null"].map(OsString::from);
    let code =
        ferrocdf_tools::ncgen::run(Program::Ncgen, args, &mut text.as_bytes(), &mut vec![], &mut errors);
    let said = String::from_utf8(errors).unwrap();
    assert!(code == 1 && said.contains("not consistent with the expected type"), "{said}");
}

#[test]
fn a_word_of_cdl_is_no_name_behind_a_type_that_ncdump_does_not_print() {
    let text = "netcdf a { dimensions: string = 17 ; variables: int string ; int string:x = 17 ; }";
    for (kind, code) in [("-4", 1), ("-3", 0)] {
        let folder = tempfile::tempdir().unwrap();
        let args = ["ncgen", kind, "-o"].map(OsString::from).into_iter();
        let args = args.chain([folder.path().join("a.nc").into()]);
        let mut errors = vec![];
        let done =
            ferrocdf_tools::ncgen::run(Program::Ncgen, args, &mut text.as_bytes(), &mut vec![], &mut errors);
        assert_eq!(done, code, "{kind}: {}", String::from_utf8_lossy(&errors));
    }
}

#[test]
fn names_of_special_attributes_are_escaped_where_they_are_other_names() {
    let text = "netcdf names {
types:
  compound \\_ChunkSizes {
    int \\_Filter ;
  }; // \\_ChunkSizes
  int enum \\_Format {\\_Endianness = 1} ;
dimensions:
\t\\_Storage = 1 ;
variables:
\tint \\_FillValue(\\_Storage) ;
\t\t\\_FillValue:_FillValue = 5 ;
\t\t\\_FillValue:units = \"m\" ;
\t\t\\_FillValue:\\_NoFill = 1 ;
\t\\_ChunkSizes c ;
\t\\_Format e ;
data:

 \\_FillValue = 3 ;

 c = {1} ;

 e = \\_Endianness ;

group: \\_NCProperties {
  variables:
  \tint v(\\_Storage) ;
  data:

   v = 2 ;
  } // group \\_NCProperties
}
";
    let folder = tempfile::tempdir().unwrap();
    let [file, copy] = ["a.nc", "b.nc"].map(|name| folder.path().join(name));
    ncgen("nc4", text.as_bytes(), &file);
    let shown = printed(DUMP, &file);
    for line in [
        "\tint \\_FillValue(\\_Storage) ;",
        "\t\t\\_FillValue:_FillValue = 5 ;",
        "\t\t\\_FillValue:\\_NoFill = 1 ;",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    ncgen("nc4", shown.as_bytes(), &copy);
    assert_eq!(printed(DUMP, &copy), shown);
}
