//! Random datasets, made by the reference's `ncgen`: every way of printing them gives the same bytes.

use std::fmt::Write;

use ferrocdf_store::testing::Rng;

use crate::ncdump_tool::{assert_same, generate, ours, reference};

const CLASSIC: [&str; 6] = ["byte", "char", "short", "int", "float", "double"];
const CDF5: [&str; 11] =
    ["byte", "char", "short", "int", "float", "double", "ubyte", "ushort", "uint", "int64", "uint64"];

fn value(rng: &mut Rng, ty: &str, suffix: bool) -> String {
    let bits = rng.number() >> (rng.number() % 64);
    let (text, tail) = match ty {
        "byte" => ((bits as i8).to_string(), "b"),
        "short" => ((bits as i16).to_string(), "s"),
        "int" => ((bits as i32).to_string(), ""),
        "ubyte" => ((bits as u8).to_string(), "UB"),
        "ushort" => ((bits as u16).to_string(), "US"),
        "uint" => ((bits as u32).to_string(), "U"),
        "int64" => (((bits >> 1) as i64).to_string(), "LL"),
        "uint64" => (bits.to_string(), "ULL"),
        "float" => match rng.index(12) {
            0 => ("NaN".into(), "f"),
            1 => (rng.pick(&["Infinity", "-Infinity"]).into(), "f"),
            2 => (format!("{:e}", f32::from_bits((bits as u32) & 0x7EFF_FFFF)), "f"),
            3 => (format!("{}.", (bits % 100_000_000)), "f"),
            _ => (format!("{:.3}", (bits as i32) as f64 / 1000.0), "f"),
        },
        _ => match rng.index(12) {
            0 => ("NaN".into(), ""),
            1 => (rng.pick(&["Infinity", "-Infinity"]).into(), ""),
            // Of at most 80 digits: the reference cuts what a `C_format` makes of a number at 99 characters.
            2 => (format!("{:e}", rng.number() as f64 * 10f64.powi(rng.index(150) as i32 - 90)), ""),
            3 => (format!("{}.", (bits % 1_000_000_000_000_000)), ""),
            _ => (format!("{:.4}", (bits as i64) as f64 / 10000.0), ""),
        },
    };
    text + if suffix { tail } else { "" }
}

fn text(rng: &mut Rng, most: usize) -> String {
    let count = rng.index(most + 1);
    let pieces =
        ["a", "Bc", " ", "\\n", "\\t", "\\\"", "\\\\", "\\'", "é", "\\001", "\\000", "x", "\\177", "y7"];
    (0..count).map(|_| rng.pick(&pieces)).collect()
}

/// CDL text of a random dataset.
fn dataset(rng: &mut Rng, types: &[&str]) -> String {
    let mut cdl = "netcdf random {\ndimensions:\n".to_string();
    let dims = 1 + rng.index(4);
    let lens: Vec<usize> = (0..dims).map(|_| [1, 2, 3, 5, 7, 20, 60][rng.index(7)]).collect();
    let names = ["x", "y\\ z", "längd", "d-1", "data\\,w"];
    for (at, len) in lens.iter().enumerate() {
        writeln!(cdl, "{} = {len} ;", names[at]).unwrap();
    }
    let records = rng.index(4);
    cdl += "t = UNLIMITED ;\nvariables:\n";
    let mut data = String::new();
    for var in 0..1 + rng.index(8) {
        let ty = rng.pick(types);
        let name = match rng.index(6) {
            0 => format!("group{var}"),
            1 => format!("v{var}\\ \\(b\\)"),
            2 => format!("{}{var}", rng.pick(&["temperature_at_the_surface", "ü"])),
            _ => format!("v{var}"),
        };
        let mut shape: Vec<(usize, &str)> = vec![];
        if rng.index(3) == 0 {
            shape.push((records, "t"));
        }
        for _ in 0..rng.index(3) {
            let at = rng.index(dims);
            shape.push((lens[at], names[at]));
        }
        let list: Vec<&str> = shape.iter().map(|(_, name)| *name).collect();
        let list = if list.is_empty() { String::new() } else { format!("({})", list.join(", ")) };
        writeln!(cdl, "{ty} {name}{list} ;").unwrap();
        // Numbers that are no dates print what memory held in the reference.
        let is_time = ty != "char" && rng.index(3) == 0;
        for attr in 0..if is_time { 0 } else { rng.index(4) } {
            let ty = rng.pick(types);
            let values = match ty {
                "char" => format!("\"{}\"", text(rng, 12)),
                _ => (0..1 + rng.index(6)).map(|_| value(rng, ty, true)).collect::<Vec<_>>().join(", "),
            };
            writeln!(cdl, "{name}:att{attr} = {values} ;").unwrap();
        }
        if ty != "char" && !is_time && rng.index(4) == 0 {
            writeln!(cdl, "{name}:_FillValue = {} ;", value(rng, ty, true)).unwrap();
        }
        if is_time {
            let unit = rng.pick(&[
                "days", "hours", "seconds", "minutes", "months", "years", "weeks", "season", "furlongs",
            ]);
            let base = rng.pick(&[
                "2000-1-1",
                "1582-10-14 12:30",
                "1850-01-31T06:00:00.5Z",
                "1-1-1 00:00:0.0",
                "1979",
            ]);
            writeln!(cdl, "{name}:units = \"{unit} since {base}\" ;").unwrap();
            let calendar = rng.pick(&[
                "standard",
                "gregorian",
                "proleptic_gregorian",
                "noleap",
                "all_leap",
                "360_day",
                "julian",
                "366_DAY",
                "other",
            ]);
            writeln!(cdl, "{name}:calendar = \"{calendar}\" ;").unwrap();
            let range: Vec<_> = (0..1 + rng.index(9)).map(|_| format!("{}.", rng.index(5000))).collect();
            writeln!(cdl, "{name}:range = {} ;", range.join(", ")).unwrap();
        }
        if rng.index(5) == 0 && (ty == "float" || ty == "double") {
            let format = rng.pick(&["%8.2f", "%.3e", "%g", "%.12g", "%+.1f"]);
            writeln!(cdl, "{name}:C_format = \"{format}\" ;").unwrap();
        }
        let count: usize = shape.iter().map(|(len, _)| len).product();
        if count > 0 && rng.index(8) > 0 {
            let values: Vec<String> = match ty {
                "char" => {
                    // A piece for each row, no longer than it.
                    let row = shape.last().map_or(1, |(len, _)| *len);
                    (0..count / row)
                        .map(|_| {
                            let whole: String = (0..row)
                                .map(|_| rng.pick(&["a", "b", "\\n", "\\\\", " ", "\\000", "\\351", "\\t"]))
                                .collect();
                            format!("\"{whole}\"")
                        })
                        .collect()
                }
                _ => (0..count)
                    .map(|_| match rng.index(10) {
                        0 => "_".to_string(),
                        1..4 => format!("{}", rng.index(100)),
                        _ => value(rng, ty, false),
                    })
                    .collect(),
            };
            writeln!(data, "{name} = {} ;", values.join(", ")).unwrap();
        }
    }
    for attr in 0..rng.index(3) {
        writeln!(cdl, ":global{attr} = \"{}\" ;", text(rng, 20)).unwrap();
    }
    cdl + "data:\n" + &data + "}\n"
}

const WAYS: [&[&str]; 16] = [
    &[],
    &["-h"],
    &["-c"],
    &["-b", "c"],
    &["-b", "f"],
    &["-f", "c"],
    &["-p", "9,17"],
    &["-d", "4,11"],
    &["-l", "40"],
    &["-l", "200", "-b", "f"],
    &["-n", "other.name"],
    &["-b", "c", "-f", "f", "-c"],
    &["-k"],
    &["-K"],
    &["-x"],
    &["-t", "-h"],
];

#[test]
fn random_datasets() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = Rng::new(0x0D15_EA5E_1234_5678);
    for round in 0..120 {
        let (kind, types) = [("-3", &CLASSIC[..]), ("-6", &CLASSIC), ("-5", &CDF5)][round % 3];
        let (cdl, path) = (folder.path().join("r.cdl"), folder.path().join(format!("r{round}.nc")));
        std::fs::write(&cdl, dataset(&mut rng, types)).unwrap();
        generate(kind, &cdl, &path);
        let file = path.to_str().unwrap();
        for way in WAYS {
            let args = [way, &[file]].concat();
            let mut theirs = reference(&args);
            if way.contains(&"-x") || way.contains(&"-t") {
                // There the reference warns about what is not wrong with the output, and prints 64-bit integers of
                // NcML by way of double precision.
                theirs.err.clear();
                if kind == "-5" && way.contains(&"-x") {
                    continue;
                }
            }
            assert_same(&args, &theirs, &ours(&args));
        }
        if kind != "-5" {
            let args = ["-s", file];
            assert_same(&args, &reference(&args), &ours(&args));
        }
    }
}

/// Special attributes of CDF-5: the reference prints those of variables without a byte order, and stops at others.
#[test]
fn special_attributes_of_cdf5() {
    let folder = tempfile::tempdir().unwrap();
    let [cdl, path, again] = ["a.cdl", "a.nc", "again.nc"].map(|name| folder.path().join(name));
    let file = path.to_str().unwrap();
    let text = |last: &str| {
        format!(
            "netcdf a {{ dimensions: t = UNLIMITED; variables: byte b(t); b:a = 1; ubyte u; char c; {last} data: b = 1, 2; u = 200; }}"
        )
    };
    std::fs::write(&cdl, text("")).unwrap();
    generate("-5", &cdl, &path);
    for way in [&["-s"][..], &["-s", "-h"], &["-s", "-F"], &["-s", "-x"]] {
        let args = [way, &[file]].concat();
        assert_same(&args, &reference(&args), &ours(&args));
    }
    // Ours goes on, and what it prints can be read.
    std::fs::write(&cdl, text("int i; i:a = 2;")).unwrap();
    generate("-5", &cdl, &path);
    let (theirs, mine) = (reference(&["-s", file]), ours(&["-s", file]));
    assert_eq!((theirs.code, mine.code), (Some(1), Some(0)));
    assert!(theirs.err.starts_with(b"NetCDF: Attempting netcdf-4 operation"));
    assert!(mine.out.starts_with(&theirs.out) && theirs.out.ends_with(b"i:_Storage = \"contiguous\" ;\n"));
    let args = ["ncgen", "-o", again.to_str().unwrap()].map(std::ffi::OsString::from);
    let mut said = vec![];
    let program = ferrocdf_tools::ncgen::Program::Ncgen;
    let code = ferrocdf_tools::ncgen::run(program, args, &mut &mine.out[..], &mut vec![], &mut said);
    assert_eq!((code, said), (0, vec![]));
    assert_eq!(std::fs::read(again).unwrap(), std::fs::read(path).unwrap());
}

/// Times in all calendars and units, from before the calendars were made to after they will be of use.
#[test]
fn random_times() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = Rng::new(0x00C0_FFEE_0000_0001);
    let calendars = [
        "standard",
        "gregorian",
        "proleptic_gregorian",
        "noleap",
        "365_day",
        "all_leap",
        "366_day",
        "360_day",
        "julian",
        "",
    ];
    let bases = [
        "2000-1-1",
        "1582-10-15",
        "1582-10-4 23:59:59.9",
        "1-1-1 0:0:0",
        "-4713-1-1",
        "1970-01-31T12:34:56",
        "1900-2-29 6",
        "1979",
        "0000-07-15 00:00:00 -6:00",
    ];
    for unit in ["sec", "minutes", "hr", "day", "weeks", "month", "seasons", "yr"] {
        let mut cdl = "netcdf times {\ndimensions: n = 200 ;\nvariables:\n".to_string();
        let mut data = "data:\n".to_string();
        for (at, calendar) in calendars.iter().enumerate() {
            for (base_at, base) in bases.iter().enumerate() {
                let name = format!("t{at}_{base_at}");
                writeln!(cdl, "double {name}(n) ;\n{name}:units = \"{unit} since {base}\" ;").unwrap();
                writeln!(cdl, "{name}:calendar = \"{calendar}\" ;\n{name}:few = 0.5, -100. ;").unwrap();
                let scale = match unit {
                    "sec" => 3e9,
                    "minutes" => 1e8,
                    "hr" => 1e6,
                    "day" => 400_000.0,
                    "weeks" => 50_000.0,
                    _ => 3000.0,
                };
                let values: Vec<String> = (0..200)
                    .map(|at| {
                        let number = (rng.number() as i64 as f64) / (i64::MAX as f64) * scale;
                        match at % 4 {
                            0 => format!("{:.0}.", number.trunc()),
                            1 => format!("{:.2}", number),
                            2 => format!("{:e}", number / 1000.0),
                            _ => format!("{:e}", number),
                        }
                    })
                    .collect();
                writeln!(data, "{name} = {} ;", values.join(", ")).unwrap();
            }
        }
        let (path, file) = (folder.path().join("t.cdl"), folder.path().join("t.nc"));
        std::fs::write(&path, cdl + &data + "}\n").unwrap();
        generate("-3", &path, &file);
        let file = file.to_str().unwrap();
        for option in ["-t", "-i"] {
            let mut theirs = reference(&[option, file]);
            theirs.err.clear();
            assert_same(&[option, file], &theirs, &ours(&[option, file]));
        }
    }
}
