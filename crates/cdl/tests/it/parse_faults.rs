//! Texts that are wrong, or made to do harm.

use ferrocdf_cdl::parse::ParseFailure;

use super::parse::read_as;

fn messages(text: &str) -> Vec<String> {
    let (read, outcome) = read_as(text.as_bytes(), None);
    assert_eq!(outcome, Err(ParseFailure::Text), "{text}");
    assert!(read.model.is_none(), "{text}");
    read.messages
}

#[test]
fn messages_are_those_of_the_reference() {
    let at = |line: u32, what: &str| vec![format!("ncgen: t.cdl line {line}: {what}")];
    let in_data = |data: &str| {
        format!("netcdf a {{ dimensions: x = 2;\nvariables: int v(x); string s;\ndata: {data} }}")
    };
    for (text, expected) in [
        (
            "netcdf a { dimensions: x = 2 variables: }",
            at(1, "syntax error, unexpected VARIABLES, expecting ';'"),
        ),
        (&in_data("v = 1,,2;"), at(3, "syntax error, unexpected ','")),
        (&in_data("v = \"abc ;"), at(3, "syntax error, unexpected invalid token, expecting ';'")),
        (&in_data("v = {1};"), at(3, "Expected primitive found {..}")),
        (
            &in_data("v = NIL;"),
            at(3, "NIL data can only be assigned to variables or attributes of type string"),
        ),
        (&in_data("v = nix;"), at(3, "Undefined enum constant: nix")),
        (&in_data("w = 1;"), vec!["Undefined name (line 3): w".to_string()]),
        (&in_data("v = f(1);"), vec!["Unknown function name: f".to_string()]),
        ("netcdf a {\n\n", at(3, "syntax error, unexpected end of file, expecting GROUP or '}'")),
        ("netcdf a {} x", at(1, "syntax error, unexpected IDENT, expecting end of file")),
        ("netcdf a { dimensions: x = 2; x = 3; }", at(1, "Duplicate dimension declaration for x")),
        ("netcdf a { variables: int v; int v; }", at(1, "Duplicate variable declaration for v")),
        (
            "netcdf a { variables: int v(y); }",
            vec!["Undefined or forward referenced dimension: y".to_string()],
        ),
        ("netcdf a { :a = \"x\", 1; }", at(1, "Non-simple list of values for untyped attribute: /a")),
        ("netcdf a { int :a = ; }", at(1, "Empty datalist can only be assigned to attributes of type char")),
        ("netcdf a { char :a = 1; }", at(1, "Encountered non-string and non-char constant in datalist")),
        ("netcdf a { :a = _; }", vec!["Attribute data may not contain fill values (i.e. _ ): a".to_string()]),
        ("netcdf a { :_Format = \"x\"; }", vec!["_Format: illegal value: x".to_string()]),
        ("netcdf a { :a = \"\\0z\"; }", {
            let mut both = at(1, "Bad octal constant: \\0z");
            both.extend(at(1, "syntax error, unexpected end of file, expecting ';'"));
            both
        }),
        ("netcdf a { dimensions: u = UNLIMITED; n = 2; variables: int v(n, u); }", {
            at(1, "Variable: /v: UNLIMITED must be in first dimension only")
        }),
    ] {
        assert_eq!(messages(text), expected, "{text}");
    }
}

const RICH: &str = r#"netcdf rich { // a comment
types: byte enum e { a = 1, b = 2 }; opaque(2) o; compound c { int i; float f(2); e k; }; c(*) l;
dimensions: x = 2; t = UNLIMITED; u = UNLIMITED;
variables: int v(t, x); v:units = "m\n\101"; v:_FillValue = 1; char s(x); string z; c w; l q; int m(t, u);
  v:_ChunkSizes = 1, 2; v:_Filter = "1,2"; /* block */ :g = 1b, 2us; double :h = NaN, 0x12;
data: v = 1, 2, _; s = "a", 'b'; z = NIL; w = {1, {2, 3}, a}; q = {{1, {2}, b}}; m = {1}, {2, 3};
group: g { dimensions: y = 3; variables: /o r(y); data: r = 0x01; group: h { :a = "\"x"; } } }
"#;

#[test]
fn a_text_cut_anywhere_fails_with_a_line() {
    let (_, whole) = read_as(RICH.as_bytes(), None);
    assert!(whole.is_ok());
    for len in 0..RICH.trim_end().len() {
        let (read, outcome) = read_as(&RICH.as_bytes()[..len], None);
        assert_eq!(outcome, Err(ParseFailure::Text), "{len}");
        let last = read.messages.last().expect("a message");
        assert!(last.contains(" line ") || last.starts_with("Undefined"), "{len}: {last}");
    }
}

#[test]
fn a_text_with_any_byte_changed_does_not_panic() {
    let mut state = 1u64;
    for at in 0..RICH.len() {
        for _ in 0..4 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let mut text = RICH.as_bytes().to_vec();
            text[at] = (state >> 56) as u8;
            let (read, outcome) = read_as(&text, None);
            assert!(outcome.is_ok() || outcome != Err(ParseFailure::Text) || !read.messages.is_empty());
        }
    }
}

#[test]
fn depth_and_size_are_limited() {
    let braces = format!("netcdf a {{ types: int(*) l; variables: l v; data: v = {}", "{".repeat(100_000));
    assert!(messages(&braces)[0].contains("data is nested too deeply"));
    let groups: String = (0..100_000).map(|n| format!("group: g{n} {{ ")).collect();
    assert!(messages(&format!("netcdf a {{ {groups}"))[0].contains("groups are nested too deeply"));
    let mut types = "int(*) t0; ".to_string();
    for n in 1..10_000 {
        types.push_str(&format!("t{}(*) t{n}; ", n - 1));
    }
    assert!(messages(&format!("netcdf a {{ types: {types}"))[0].contains("nested too deeply"));
    let mut types = "compound t0 { int a; }; ".to_string();
    for n in 1..100 {
        types.push_str(&format!("compound t{n} {{ t{p} a; t{p} b; }}; ", p = n - 1));
    }
    assert!(messages(&format!("netcdf a {{ types: {types}"))[0].contains("too large"));
    let huge = "netcdf a { types: compound c { int a(2000000000, 2000000000); }; }";
    assert!(messages(huge)[0].contains("too large"));
    let many = "netcdf a { :_Format = \"nc4\"; dimensions: n = 2000000000; u = UNLIMITED; variables: int v(n, u); data: v = {1}; }";
    assert!(messages(many)[0].contains("too many values"));
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let noise: Vec<u8> = (0..100_000u32).map(|n| (n.wrapping_mul(2654435761) >> 24) as u8).collect();
    let (read, outcome) = read_as(&noise, None);
    assert_eq!(outcome, Err(ParseFailure::Text));
    assert!(read.messages[0].contains("line 1: syntax error"));
}
