//! Data and plugins that would take far more memory than a chunk may have. Each file is printed by a process of its own,
//! which says how much memory it had at most.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use ferrocdf::plugins;
use ferrocdf_compat::python::script;

use crate::compiled::{compile_hostile, id_of};

/// Names what the process that this test starts is to print, and the folder of its plugins.
const FILE: &str = "FERROCDF_TEST_PRINTS";
const PLUGINS: &str = "FERROCDF_TEST_PLUGINS";

/// The most bytes that printing a file of chunks of 1 MiB may take, with all of this program.
const MOST: u64 = 64 << 20;

/// Ways of `hostile.c` that take or make more than there can be.
const GREEDY: [&str; 4] = ["GROWS", "LIES", "ASKS", "ASKS_MORE"];

/// What a process printed and had.
#[derive(Debug)]
struct Printed {
    code: i32,
    said: String,
    peak: u64,
}

/// Not a test but what the tests here start.
#[test]
fn prints() {
    let Some(file) = env::var_os(FILE) else { return };
    if let Some(folder) = env::var_os(PLUGINS) {
        plugins::path::set(vec![folder.into()]);
    }
    let args = ["ncdump".into(), OsString::from("-v"), "v".into(), file];
    let (mut out, mut err) = (std::io::sink(), vec![]);
    let code = ferrocdf_tools::ncdump::main(args, &mut out, &mut err);
    let said = String::from_utf8_lossy(&err).replace('\n', " ");
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux says it there");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("it is always there");
    println!("\nprinted {code} {} {said}", peak.trim().trim_end_matches(" kB"));
}

fn print(file: &Path, folder: Option<&Path>) -> Printed {
    let mut command = Command::new(env::current_exe().expect("this program has a path"));
    command.args(["bombs::prints", "--exact", "--nocapture"]).env(FILE, file);
    if let Some(folder) = folder {
        command.env(PLUGINS, folder);
    }
    let output = command.output().expect("this program starts again");
    let out = String::from_utf8_lossy(&output.stdout);
    let line = out.lines().find_map(|line| line.strip_prefix("printed "));
    let line = line.unwrap_or_else(|| panic!("{}: {out} {output:?}", file.display()));
    let mut parts = line.splitn(3, ' ');
    let mut number = || parts.next().and_then(|part| part.parse::<u64>().ok()).expect("a number");
    let (code, peak) = (number() as i32, number() * 1024);
    Printed { code, peak, said: parts.next().unwrap_or_default().to_string() }
}

#[test]
fn chunks_that_lie_are_errors_in_little_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    for way in GREEDY {
        compile_hostile(way, folder.path());
    }
    // What a plugin takes to make of a hundred bytes as much as a huge chunk may have cannot be called too much.
    let sorts = |way: &&str| ["long", "huge"].into_iter().take(if way.starts_with("ASKS") { 1 } else { 2 });
    let plugins = GREEDY.iter().flat_map(|way| sorts(way).map(|sort| format!("{sort}:{}", id_of(way))));
    let output = script("bombs.py").arg(folder.path()).args(plugins).output().expect("a Python that starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let listed = String::from_utf8(output.stdout).expect("text");
    let (mut count, mut wrong) = (0, vec![]);
    for line in listed.lines() {
        let [sort, filter, path] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let printed = print(Path::new(path), Some(folder.path()));
        println!("{} KiB, {sort} {path}: {}", printed.peak >> 10, printed.said);
        let names = [path, "/v: ", &format!("filter {filter}")];
        let is_named = names.iter().all(|name| printed.said.contains(name));
        let is_told = if sort == "taken" { printed.code == 0 } else { printed.code == 1 && is_named };
        if !is_told || printed.peak > MOST {
            wrong.push(format!("{sort} {filter}: {printed:?}"));
        }
        count += 1;
    }
    assert!(count > 40, "{count} files");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}
