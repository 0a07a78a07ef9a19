//! Floating-point text against the C library's `printf`, for millions of values.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use ferrocdf::{Atomic, Format, GroupId, Model, Owner, Result, Values, VarId};
use ferrocdf_cdl::print::{PrintOptions, PrintSource, print_cdl};
use ferrocdf_store::testing::Rng;

/// Prints the doubles, or with a second argument the ints, on its standard input in a format, a line each.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
    static char line[1 << 14];
    double number;
    while (fread(&number, sizeof number, 1, stdin) == 1) {
        if (argc > 2) snprintf(line, sizeof line, argv[1], (int) number);
        else snprintf(line, sizeof line, argv[1], number);
        puts(line);
    }
    return 0;
}
"#;

fn program() -> &'static PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("ncdump_numbers");
        let source = path.with_extension("c");
        std::fs::write(&source, PROGRAM).unwrap();
        let run = Command::new("cc").args(["-O1", "-w", "-o"]).arg(&path).arg(&source).status();
        assert!(run.expect("a C compiler must be installed").success());
        path
    })
}

fn c_lines(format: &str, as_int: bool, numbers: &[f64]) -> Vec<String> {
    let mut command = Command::new(program());
    command.arg(format).args(as_int.then_some("int"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
    let writer = std::thread::spawn(move || input.write_all(&bytes).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_string).collect()
}

struct Row {
    model: Model,
    values: Values,
}

impl PrintSource for Row {
    fn model(&self) -> &Model {
        &self.model
    }
    fn read(&self, _: VarId, start: &[u64], count: &[u64]) -> Result<Values> {
        let range = start[0] as usize..(start[0] + count[0]) as usize;
        Ok(match &self.values {
            Values::Double(list) => list[range].to_vec().into(),
            Values::Float(list) => list[range].to_vec().into(),
            Values::Int(list) => list[range].to_vec().into(),
            _ => unreachable!("the tests use no other type"),
        })
    }
}

/// The values as the printer prints them, through a variable with this `C_format` if there is one.
fn our_lines(values: Values, c_format: Option<&str>, options: &PrintOptions) -> Vec<String> {
    let mut model = Model::new(Format::CLASSIC);
    let (atomic, len) = (values.atomic().unwrap(), values.len() as u64);
    let dim = model.def_dim(GroupId::ROOT, "n", Some(len)).unwrap();
    let var = model.def_var(GroupId::ROOT, "v", atomic.into(), &[dim]).unwrap();
    if let Some(format) = c_format {
        model.put_attr(Owner::Var(var), "C_format", format.into()).unwrap();
    }
    // No value tested is this one.
    let never = match atomic {
        Atomic::Double => Values::from(f64::NAN),
        Atomic::Float => Values::from(f32::NAN),
        _ => Values::from(i32::MIN),
    };
    model.put_attr(Owner::Var(var), "_FillValue", never).unwrap();
    // Each value behind the first on a line of its own.
    let options = PrintOptions { line_length: 10, ..options.clone() };
    let mut text = vec![];
    print_cdl(&Row { model, values }, &options, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let (_, data) = text.split_once("data:\n\n v = ").unwrap();
    let data = data.strip_suffix(" ;\n}\n").unwrap();
    data.split(", ").map(|value| value.strip_prefix("\n    ").unwrap_or(value).to_string()).collect()
}

/// Finite numbers of all sizes, many of them on or next to a boundary of rounding.
fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed);
    let mut list = vec![0.0, -0.0, f64::MAX, f64::MIN_POSITIVE, 5e-324, 1e23, 9007199254740993.0];
    list.extend((-308..=308).map(|exponent| format!("1e{exponent}").parse::<f64>().unwrap()));
    while list.len() < count {
        let (a, b) = (rng.number(), rng.number());
        let short = (a % 10u64.pow((b % 18) as u32 + 1)) as f64;
        let scale = 10f64.powi((b >> 8) as i32 % 40 - 20);
        let number = match b >> 60 {
            0..4 => f64::from_bits(a),
            4..7 => f64::from(f32::from_bits(a as u32)),
            7..9 => short * scale,
            9..12 => (short + 0.5) * scale,
            12 => short + 0.5,
            13 => short,
            14 => (a as i64 as f64) / 64.0,
            _ => (a % 1_000_000) as f64 / 1000.0,
        };
        for number in [number, f64::from_bits(number.to_bits() ^ 1)] {
            if number.is_finite() {
                list.push(number);
            }
        }
    }
    list.truncate(count);
    list
}

fn assert_same(format: &str, theirs: &[String], mine: &[String]) {
    assert_eq!(theirs.len(), mine.len(), "{format}");
    for (their, my) in theirs.iter().zip(mine) {
        assert_eq!(their, my, "{format}");
    }
}

#[test]
fn doubles_with_all_numbers_of_digits() {
    for digits in 1..=20 {
        let numbers = numbers(150_000, (digits as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let format = format!("%.{digits}g");
        let options = PrintOptions { double_digits: digits, ..PrintOptions::default() };
        let mine = our_lines(numbers.clone().into(), None, &options);
        assert_same(&format, &c_lines(&format, false, &numbers), &mine);
    }
}

#[test]
fn floats_with_all_numbers_of_digits() {
    let mut rng = Rng::new(0xF10A_7500_0000_0001);
    for digits in 1..=12 {
        let mut list: Vec<f32> =
            numbers(60_000, digits as u64).into_iter().map(|number| number as f32).collect();
        list.extend((0..90_000).map(|_| f32::from_bits(rng.number() as u32)));
        list.retain(|number| number.is_finite());
        let format = format!("%.{digits}g");
        let options = PrintOptions { float_digits: digits, ..PrintOptions::default() };
        let theirs =
            c_lines(&format, false, &list.iter().map(|&number| f64::from(number)).collect::<Vec<_>>());
        assert_same(&format, &theirs, &our_lines(list.into(), None, &options));
    }
}

#[test]
fn formats_of_floating_point_numbers() {
    for format in [
        "%f",
        "%.0f",
        "%8.3f",
        "%-12.2f|",
        "%012.4f",
        "%+.1f",
        "% .3f",
        "%#.0f",
        "%e",
        "%.0e",
        "%#.0e",
        "%15.8E",
        "%.17e",
        "%g",
        "%#g",
        "%G",
        "%.0g",
        "%#.3g",
        "%010.4g",
        "%-10g|",
        "%+G",
        "%.12g",
        "%lf",
        "%Lg%%",
        "value %.3f m/s",
    ] {
        // `%L` reads a long double in C: what the number is must be said without it there.
        let c_format = format.replace('L', "");
        let numbers: Vec<f64> =
            numbers(20_000, 77).into_iter().filter(|number| number.abs() < 1e60).collect();
        let mine = our_lines(numbers.clone().into(), Some(format), &PrintOptions::default());
        assert_same(format, &c_lines(&c_format, false, &numbers), &mine);
    }
}

#[test]
fn formats_of_integers() {
    let mut rng = Rng::new(0x1234_5678_9ABC_DEF1);
    let list: Vec<i32> = (0..20_000).map(|_| (rng.number() as i32) >> (rng.number() % 32)).collect();
    let list: Vec<i32> = list.into_iter().filter(|&number| number != i32::MIN).collect();
    let numbers: Vec<f64> = list.iter().map(|&number| f64::from(number)).collect();
    for format in [
        "%d", "%5d", "%-5d|", "%05i", "%+d", "% d", "%.4d", "%8.4d", "%x", "%#x", "%X", "%o", "%#o", "%u",
        "%hhd", "%hu", "%.0d", "%08x",
    ] {
        let mine = our_lines(list.clone().into(), Some(format), &PrintOptions::default());
        assert_same(format, &c_lines(format, true, &numbers), &mine);
    }
}
